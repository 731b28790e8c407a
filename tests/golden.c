/* golden.c - images that must never change, and reference numbers.
 *
 * tests/golden/ holds, as hex text, an image for each kind and each of its
 * choices (each index scheme of `standard`) with the keys "key-0" … "key-99",
 * planned for 100 keys at 1 % with seed 7. The library must still make the same
 * bytes, and find the keys in the old ones. A new kind needs a file, and a kind
 * whose payload version changes a new one:
 *
 *      test_golden --write     makes all the files of tests/golden anew, and
 *                              prints the worked examples of docs/format
 *
 * and git shows the changes. The planned rate in the header comes from the C
 * library's log, exp and pow, whose last bit may vary. It is compared as a
 * number, and the checksums that cover it (of the header, of images inside the
 * image, and of the outer payload) are left out; everything else is compared
 * byte for byte.
 *
 * A kind that packs has a second file, packed-KIND.hex, with the packed form.
 *
 * The rest compares `split` with independent results: golden words computed
 * from the definition, and a filter written by Parquet's own writer.
 */
#include "test.h"

#include <inttypes.h>
#include <xxhash.h>

#include "hex.h"

enum {
    KEYS = 100, SEED = 7,
    HEADER = 128, RATE = 56, RATE_END = 64, PAYLOAD_SUM = 112, HEADER_SUM = 120,
    TEXT = 64, PATH = 1024
};

static const char FOLDER[] = TEST_SOURCE_DIR "/tests/golden";

/* ---- The images -------------------------------------------------------- */

/* Writes key i, "key-0" … "key-99"; returns its length. */
static size_t draw_key(char text[TEXT], int i)
{
    return (size_t)snprintf(text, TEXT, "key-%d", i);
}

/* Marks a packed form in a kind's name. */
static const char PACKED[] = "packed ";

/* Returns fewer keys for a kind whose size rises with the square of their
 * number. */
static int count_keys(const char *kind)
{
    return strncmp(kind, "egh", 3) == 0 ? KEYS / 10 : KEYS;
}

/* A scheme without a rate gets the size planned for the standard one. */
static void give_size(char string[TEXT * 2], const char *kind,
                      const bly_spec *spec)
{
    bly_plan_t plan;
    bool sized = bly_plan(&plan, kind, spec) == BLY_OK;
    snprintf(string, TEXT * 2, "%s", kind);
    if (sized)
        return;
    if (strcmp(kind, "rehash:key=whole") == 0) {
        snprintf(string, TEXT * 2, "%s,by=xxh64", kind);
        return;
    }
    assert_true(strncmp(kind, "standard:index=", 15) == 0
                || strcmp(kind, "rehash:by=murmur2") == 0);
    assert_status(bly_plan(&plan, "standard", spec), BLY_OK);
    snprintf(string, TEXT * 2, "%s,m=%" PRIu64 ",k=%" PRIu64, kind,
             plan.geometry[0], plan.geometry[1]);
}

static bly_filter *make_golden(const char *kind)
{
    if (strncmp(kind, PACKED, strlen(PACKED)) == 0)
        kind += strlen(PACKED);
    int n = count_keys(kind);
    uint64_t hashes[KEYS];
    char text[KEYS][TEXT], sized[TEXT * 2];
    bly_key keys[KEYS];
    bly_filter *filter = NULL;
    bly_spec spec = { .capacity = (uint64_t)n, .rate = 0.01, .seed = SEED };
    for (int i = 0; i < n; i++) {
        keys[i] = (bly_key){ text[i], draw_key(text[i], i) };
        hashes[i] = XXH3_64bits_withSeed(text[i], keys[i].length, SEED);
    }
    give_size(sized, kind, &spec);
    bly_status status = strstr(sized, "key=whole") != NULL
        ? bly_build(&filter, sized, &spec,
                    &(bly_keys){ .n = (size_t)n, .keys = keys })
        : bly_build(&filter, sized, &spec,
                    &(bly_keys){ .n = (size_t)n, .hashes = hashes });
    assert_said(status, BLY_OK);
    return filter;
}

/* "standard:index=step" is in standard-index-step.hex. */
static void golden_path(char path[PATH], const char *kind)
{
    snprintf(path, PATH, "%s/%s.hex", FOLDER, kind);
    for (char *c = path + strlen(FOLDER); *c != '\0'; c++)
        if (*c == ':' || *c == '=' || *c == ' ' || *c == ',')
            *c = '-';
}

/* Returns the bytes of a filter or its packed form, to be freed. */
static uint8_t *golden_bytes(const char *kind, const bly_filter *filter,
                             size_t *bytes)
{
    const void *image = bly_image(filter, bytes);
    uint8_t *copy = malloc(*bytes);
    assert_non_null(copy);
    if (strncmp(kind, PACKED, strlen(PACKED)) != 0)
        memcpy(copy, image, *bytes);
    else
        assert_status(bly_pack(filter, copy, *bytes, bytes), BLY_OK);
    return copy;
}

/* Calls `visit` with each kind, and with each word of its options except the
 * defaults. */
static void each_choice(const bly_kind_info *kind, const bly_option_info *o,
                        void (*visit)(const char *kind))
{
    char range[256], string[TEXT * 2];
    snprintf(range, sizeof range, "%s", o->range);
    for (char *word = strtok(range, " |"); word != NULL;
         word = strtok(NULL, " |")) {
        snprintf(string, sizeof string, "%s:%s=%s", kind->name, o->name, word);
        if (strcmp(word, o->standard) != 0)
            visit(string);
    }
}

static bool packs(const bly_kind_info *kind)
{
    return (kind->can & BLY_CAN_PACK) != 0;
}

/* Numeric choices with a format of their own. A ribbon of whole bits has the
 * bytes that all ribbons had before shares of a bit, and so has a "fuse". */
static const char *const golden_numbers[] = {
    "approximator:parts=2", "egh:bits=3", "fuse:bits=7", "ribbon:bits=7",
    "ribbon:form=homogeneous,bits=7",
};

static void each_golden(void (*visit)(const char *kind))
{
    char packed[TEXT];
    for (size_t i = 0; i < sizeof golden_numbers / sizeof *golden_numbers; i++)
        visit(golden_numbers[i]);
    size_t n;
    const bly_kind_info *const *kinds = bly_kinds(&n);
    for (size_t i = 0; i < n; i++) {
        visit(kinds[i]->name);
        snprintf(packed, sizeof packed, "%s%s", PACKED, kinds[i]->name);
        if (packs(kinds[i]))
            visit(packed);
        const bly_option_info *const *o = kinds[i]->options;
        for (; *o != NULL; o++)
            if (strchr((*o)->range, '|') != NULL)
                each_choice(kinds[i], *o, visit);
    }
}

static void write_golden(const char *kind)
{
    char path[PATH], comment[TEXT * 4];
    size_t bytes;
    bly_filter *filter = make_golden(kind);
    uint8_t *image = golden_bytes(kind, filter, &bytes);
    golden_path(path, kind);
    snprintf(comment, sizeof comment, "%s: key-0 .. key-%d, planned for %d "
             "keys at 0.01, seed 7 (test_golden --write)", kind,
             count_keys(kind) - 1, count_keys(kind));
    if (!hex_write(path, comment, image, bytes)) {
        fprintf(stderr, "golden: %s: cannot write\n", path);
        exit(2);
    }
    free(image);
    bly_free(filter);
}

/* ---- Old images and new ------------------------------------------------ */

static void read_golden(const char *kind, uint8_t **image, size_t *bytes)
{
    char path[PATH];
    golden_path(path, kind);
    if (!hex_read(path, image, bytes))
        fail_msg("%s: no golden image; a new kind needs one: "
                 "test_golden --write", path);
}

static void assert_same_bytes(const char *kind, const uint8_t *now,
                              const uint8_t *then, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (now[i] != then[i])
            fail_msg("%s: byte %zu is %02x and was %02x", kind, i, now[i],
                     then[i]);
}

static double image_rate(const uint8_t *image)
{
    uint64_t bits = 0;
    double rate;
    for (size_t i = 8; i-- > 0; )
        bits = bits << 8 | image[RATE + i];
    memcpy(&rate, &bits, sizeof rate);
    return rate;
}

/* Returns the first image at a multiple of 64 from `at` on, or `end`. */
static size_t next_image(const uint8_t *bytes, size_t at, size_t end)
{
    at = (at + 63) / 64 * 64;
    while (at < end && (end - at < HEADER
                        || memcmp(bytes + at, "bloomery", 8) != 0))
        at += 64;
    return at < end ? at : end;
}

/* Compares an image up to the next one inside it, or its end. */
static void compare_image(const char *kind, const uint8_t *now,
                          const uint8_t *then, size_t at, size_t end,
                          bool holds_images)
{
    size_t sum = holds_images ? PAYLOAD_SUM : HEADER_SUM;
    assert_same_bytes(kind, now, then, at, at + RATE);
    assert_same_bytes(kind, now, then, at + RATE_END, at + sum);
    assert_same_bytes(kind, now, then, at + HEADER, end);
    assert_close(image_rate(now + at), image_rate(then + at), 1e-9);
}

static void compare_golden(const char *kind)
{
    uint8_t *then;
    size_t then_bytes, bytes;
    read_golden(kind, &then, &then_bytes);
    bly_filter *filter = make_golden(kind);
    uint8_t *now = golden_bytes(kind, filter, &bytes);

    assert_int_equal(bytes, then_bytes);
    for (size_t at = 0, next; at < bytes; at = next) {
        next = next_image(then, at + HEADER, bytes);
        compare_image(kind, now, then, at, next, at == 0 && next < bytes);
    }
    free(now);
    bly_free(filter);
    free(then);
}

static void find_golden(const char *kind)
{
    uint8_t *image;
    size_t bytes;
    char text[TEXT];
    bly_filter *filter = NULL;
    bly_info_t stat;
    int n = count_keys(kind);
    read_golden(kind, &image, &bytes);
    assert_status(bly_check(image, bytes, NULL), BLY_OK);
    assert_status(bly_unpack(&filter, image, bytes, NULL), BLY_OK);
    for (int i = 0; i < n; i++)
        assert_true(bly_contains(filter, text, draw_key(text, i)));
    bly_info(&stat, filter);
    assert_int_equal(stat.items, n);
    assert_int_equal(stat.seed, SEED);
    assert_string_equal(stat.hash, "xxh3");
    bly_free(filter);
    free(image);
}

/* Adding key by key gives the same filter as adding a batch. */
static void add_golden(const char *kind)
{
    int n = count_keys(kind);
    bly_spec spec = { .capacity = (uint64_t)n, .rate = 0.01, .seed = SEED };
    bly_filter *built = make_golden(kind), *added = NULL;
    char text[TEXT];
    size_t bytes;
    bly_status status = BLY_EUNSUPPORTED;
    if (strncmp(kind, PACKED, strlen(PACKED)) != 0) {
        char sized[TEXT * 2];
        give_size(sized, kind, &spec);
        status = bly_new(&added, sized, &spec);
    }
    for (int i = 0; status == BLY_OK && i < n; i++)
        assert_true(bly_add(added, text, draw_key(text, i)) >= 0);
    if (status == BLY_OK) {
        const uint8_t *image = bly_image(built, &bytes);
        assert_same_bytes(kind, bly_image(added, NULL), image, 0, bytes);
    }
    bly_free(built);
    bly_free(added);
}

static void test_images_are_what_they_were(void **state)
{
    (void)state;
    each_golden(compare_golden);
}

static void test_old_images_hold_their_keys(void **state)
{
    (void)state;
    each_golden(find_golden);
}

static void test_key_by_key_is_the_same(void **state)
{
    (void)state;
    each_golden(add_golden);
}

/* ---- The worked examples of docs/format ----------------------------- */

enum { BITS = 24 };

/* The places of the bits set by adding "swordfish", hashed by xxh3 with seed 0,
 * `times` times to a filter planned for `capacity` keys and, unless `grown` is
 * 0, resized to that many; -1 ends the list. A frozen filter is built from it
 * instead. */
static const struct {
    const char *kind;
    uint64_t    capacity, grown, times;
    int         bits[BITS];
} examples[] = {
    { "standard:m=100,k=3", 10, 0, 1, { 5, 46, 65, -1 } },
    { "standard:m=100,k=3,index=seeds", 10, 0, 1, { 57, 63, 66, -1 } },
    { "standard:m=100,k=3,index=double", 10, 0, 1, { 30, 66, 94, -1 } },
    { "standard:m=100,k=3,index=enhanced", 10, 0, 1, { 30, 66, 95, -1 } },
    { "standard:m=100,k=3,index=triple", 10, 0, 1, { 30, 51, 66, -1 } },
    { "standard:m=100,k=3,index=step", 10, 0, 1, { 30, 66, 93, -1 } },
    { "partitioned:m=96,k=3", 10, 0, 1, { 14, 53, 65, -1 } },
    { "blocked:m=1024,k=3", 10, 0, 1, { 12, 112, 251, -1 } },
    { "split:m=1024", 10, 0, 1,
      { 6, 59, 91, 118, 141, 161, 216, 255, -1 } },
    { "counting:m=100,k=3", 10, 0, 1, { 20, 184, 260, -1 } },
    { "variable:m=100,k=3", 10, 0, 1,
      { 30, 32, 277, 278, 390, 391, 392, -1 } },
    { "dleft", 75, 600, 1, { 968, 984, 1000, 1032, -1 } },
    { "deletable:m=100,k=3", 10, 0, 1, { 5, 46, 65, -1 } },
    { "deletable:m=100,k=3", 10, 0, 2, { 5, 46, 65, 105, 115, 120, -1 } },
    { "floom:m=100,k=3", 10, 0, 1, { 5, 46, 65, 1257, -1 } },
    { "rehash:m=100,k=3", 10, 0, 1, { 11, 16, 47, -1 } },
    { "rehash:m=100,k=3,by=tabulation", 10, 0, 1, { 12, 44, 93, -1 } },
    { "cuckoo:f=12", 10, 0, 1, { 336, 346, 347, -1 } },
    { "cuckoo:f=12,sorted=yes", 10, 0, 1, { 310, 311, 344, -1 } },
    { "cuckoo:f=12,sorted=yes", 10, 20, 1, { 618, 619, 652, -1 } },
    { "quotient", 50, 0, 1,
      { 5, 69, 166, 168, 169, 171, 1040, -1 } },
    { "quotient", 50, 0, 5,
      { 5, 73, 166, 168, 169, 171, 172, 174, 175, 177, 178, 180, 181, 183, 184,
        186, 187, 189, 191, 1040, 1042, -1 } },
    { "golomb", 50, 0, 1, { 2, 3, 12, 13, 25, 28, 29, 31, -1 } },
    { "golomb", 50, 0, 5, { 3, 4, 13, 14, 25, 26, 29, 40, 41, 43, -1 } },
    { "expandable", 50, 0, 1,
      { 64, 130, 131, 132, 133, 257, 258, 265, 267, 272, 516, 580, 688, 690,
        691, 692, 693, 695, 697, 2064, -1 } },
    { "xor", 10, 0, 10, { 554, 557, 558, -1 } },
    { "fuse:bits=7", 10, 0, 10, { 554, 557, 558, -1 } },
    { "fuse", 10, 0, 10, { 553, 556, 557, -1 } },
    { "bloomier:bits=8", 10, 0, 10, { 597, 600, 601, 607, 609, 611, -1 } },
    { "gcs", 1, 0, 1, { 67, 513, 514, 516, 576, -1 } },
    { "stable:m=100,k=3,max=15", 10, 0, 1,
      { 0, 532, 533, 534, 535, 696, 697, 698, 699, 772, 773, 774, 775, -1 } },
    { "approximator:m=100,k=3", 10, 0, 1,
      { 41, 43, 45, 369, 371, 373, 521, 523, 525, -1 } },
    { "approximator:m=100,k=3,parts=8", 10, 0, 1,
      { 40, 41, 43, 45, 368, 369, 371, 373, 520, 521, 523, 525, -1 } },
    { "spatial:m=100,k=3,areas=50", 10, 0, 1,
      { 31, 33, 35, 277, 279, 281, 391, 393, 395, -1 } },
};

enum { EXAMPLES = sizeof examples / sizeof *examples };

/* Writes the places of the set bits of example i, then -1. */
static void make_example(size_t i, int bits[BITS])
{
    bly_filter *filter = NULL;
    bly_spec spec = { .capacity = examples[i].capacity, .rate = 0.01 };
    size_t bytes, seen = 0;
    bly_status status = bly_new(&filter, examples[i].kind, &spec);
    if (status == BLY_EUNSUPPORTED) {           /* the kind can only be built */
        uint64_t hashes[BITS];
        for (uint64_t j = 0; j < examples[i].times; j++)
            hashes[j] = XXH3_64bits("swordfish", 9);
        status = bly_build(&filter, examples[i].kind, &spec,
                           &(bly_keys){ .n = examples[i].times,
                                        .hashes = hashes });
    }
    assert_said(status, BLY_OK);
    if (examples[i].grown != 0)
        assert_status(bly_resize(filter, examples[i].grown), BLY_OK);
    for (uint64_t j = 0; j < examples[i].times; j++)
        bly_add(filter, "swordfish", 9);        /* not to a frozen one */
    bly_put(filter, "swordfish", 9, 0x2a);      /* if it carries labels */
    const uint8_t *image = bly_image(filter, &bytes);
    for (size_t at = 0; at < (bytes - HEADER) * 8 && seen < BITS - 1; at++)
        if (image[HEADER + at / 8] >> at % 8 & 1)
            bits[seen++] = (int)at;
    bits[seen] = -1;
    bly_free(filter);
}

static void test_examples_of_the_specification(void **state)
{
    (void)state;
    for (size_t i = 0; i < EXAMPLES; i++) {
        int bits[BITS];
        make_example(i, bits);
        for (size_t j = 0; examples[i].bits[j] >= 0 || bits[j] >= 0; j++)
            if (bits[j] != examples[i].bits[j])
                fail_msg("%s: bit %d, and the specification says %d",
                         examples[i].kind, bits[j], examples[i].bits[j]);
    }
}

/* Prints the table above with correct values, to be copied there and into
 * docs/format. */
static void print_examples(void)
{
    for (size_t i = 0; i < EXAMPLES; i++) {
        int bits[BITS];
        make_example(i, bits);
        printf("    { \"%s\", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", { ",
               examples[i].kind, examples[i].capacity, examples[i].grown,
               examples[i].times);
        for (size_t j = 0; bits[j] >= 0; j++)
            printf("%d, ", bits[j]);
        puts("-1 } },");
    }
}

/* ---- Other people's numbers -------------------------------------------- */

static bly_filter *make_split(const char *kind)
{
    bly_filter *filter = NULL;
    bly_spec spec = { .hash = "xxh64" };
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

static const uint8_t *payload_of(const bly_filter *filter, size_t *n)
{
    const uint8_t *image = bly_image(filter, n);
    *n -= HEADER;
    return image + HEADER;
}

/* Hashes of the literature through the public interface. */
static void test_hashes_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *name, *key;
        size_t      length;
        uint64_t    hash;
    } known[] = {
        { "xxh64", "hello", 5, UINT64_C(0x26c7827d889f6da3) },
        { "xxh64", "world", 5, UINT64_C(0xe778fbfe66ee51ef) },
        { "xxh64", "Bloom", 5, UINT64_C(0xbeaa3a87a853e483) },
        { "xxh64", "\0\0\0\0\0\0\0", 8, UINT64_C(0x34c96acdcadb1bbb) },
        { "xxh64", "\1\0\0\0\0\0\0", 8, UINT64_C(0x9f29cb17a2a49995) },
        { "xxh64", "\2\0\0\0\0\0\0", 8, UINT64_C(0xeac73e4044e82db0) },
        { "murmur3", "", 0, 0 },
        { "murmur3", "abc", 3, UINT64_C(0xb4963f3f3fad7867) },
        { "murmur3", "hello", 5, UINT64_C(0xcbd8a7b341bd9b02) },
        { "identity", "\1\2", 2, 0x0201 },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        bly_filter *filter = NULL;
        bly_spec spec = { .capacity = 1, .hash = known[i].name };
        assert_status(bly_new(&filter, "standard", &spec), BLY_OK);
        assert_int_equal(bly_hash(filter, known[i].key, known[i].length),
                         known[i].hash);
        bly_free(filter);
    }
}

/* Four blocks and three words, computed by hand from the definition. */
static void test_split_golden_words(void **state)
{
    (void)state;
    static const uint32_t words[32] = {
        0x00100000, 0x00000200, 0x00000400, 0x00000080,
        0x00000200, 0x80000000, 0x10000000, 0x08000000,
        0, 0, 0, 0, 0, 0, 0, 0,
        0x10000000, 0x00000020, 0x00000100, 0x00040000,
        0x80000000, 0x00000004, 0x00001000, 0x00000002,
        0x00200000, 0x02000000, 0x00000010, 0x00000020,
        0x00000020, 0x00800000, 0x00200000, 0x00010000,
    };
    bly_filter *filter = make_split("split:m=1024");
    bly_add(filter, "hello", 5);
    bly_add(filter, "world", 5);
    bly_add(filter, "Bloom", 5);
    size_t n;
    const uint8_t *payload = payload_of(filter, &n);
    assert_int_equal(n, sizeof words);
    for (size_t i = 0; i < 32; i++) {
        uint32_t word = 0;
        for (size_t j = 4; j-- > 0; )
            word = word << 8 | payload[4 * i + j];
        assert_int_equal(word, words[i]);
    }
    bly_free(filter);
}

/* "0" … "999" in forty blocks, and the false positives among a million
 * others. */
static void test_split_golden_thousand(void **state)
{
    (void)state;
    bly_filter *filter = make_split("split:m=10240");
    char text[TEXT];
    unsigned hits = 0, set = 0;
    for (int i = 0; i < 1000; i++)
        bly_add(filter, text, (size_t)snprintf(text, TEXT, "%d", i));
    for (int i = 1000; i < 1001000; i++)
        hits += bly_contains(filter, text,
                             (size_t)snprintf(text, TEXT, "%d", i));
    size_t n;
    const uint8_t *payload = payload_of(filter, &n);
    uint64_t digest = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < n; i++) {
        digest = (digest ^ payload[i]) * UINT64_C(0x100000001B3);
        for (int bit = 0; bit < 8; bit++)
            set += payload[i] >> bit & 1;
    }
    assert_int_equal(n, 1280);
    assert_int_equal(set, 5550);
    assert_int_equal(digest, UINT64_C(0x544f0a6ea2a86d18));
    assert_int_equal(hits, 11010);
    bly_free(filter);
}

/* A file from the Parquet project's test data: a header in Thrift's compact
 * coding (field 1, numBytes, a zigzag varint: 15 80 10, 1024 bytes; fields 2,
 * 3, 4, each a union whose first member, an empty struct, is set: block,
 * xxhash, uncompressed: 1c 1c 00 00; and a final 00), followed by the bits of
 * the keys "hello", "parquet", "bloom", "filter". */
static void test_split_is_parquet(void **state)
{
    (void)state;
    static const uint8_t header[16] = {
        0x15, 0x80, 0x10, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c,
        0, 0, 0,
    };
    static const char *const keys[] = { "hello", "parquet", "bloom", "filter" };
    uint8_t theirs[sizeof header + 1024 + 1];
    FILE *file = fopen(TEST_SOURCE_DIR "/../shared/data/parquet/"
                       "bloom_filter.xxhash.bin", "rb");
    if (file == NULL)
        skip();
    size_t read = fread(theirs, 1, sizeof theirs, file);
    fclose(file);
    assert_int_equal(read, sizeof header + 1024);
    assert_memory_equal(theirs, header, sizeof header);

    bly_filter *filter = make_split("split:m=8192");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        bly_add(filter, keys[i], strlen(keys[i]));
    size_t n;
    const uint8_t *payload = payload_of(filter, &n);
    assert_int_equal(n, 1024);
    assert_memory_equal(payload, theirs + sizeof header, n);
    bly_free(filter);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_images_are_what_they_were),
        cmocka_unit_test(test_old_images_hold_their_keys),
        cmocka_unit_test(test_key_by_key_is_the_same),
        cmocka_unit_test(test_examples_of_the_specification),
        cmocka_unit_test(test_hashes_by_name),
        cmocka_unit_test(test_split_golden_words),
        cmocka_unit_test(test_split_golden_thousand),
        cmocka_unit_test(test_split_is_parquet),
    };
    if (argc == 2 && strcmp(argv[1], "--write") == 0) {
        each_golden(write_golden);
        print_examples();
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
