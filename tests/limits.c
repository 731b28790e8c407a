/* limits.c - memory for untrusted files: the largest that each kind, format and
 * container can reach is refused by the limit before it is allocated, or stays
 * within a factor stated here.
 *
 * An allocator counts the memory. Files are forged: small images are changed
 * and resealed, as an enemy would.
 */
#include "image/image.h"

#include "bloomery/container.h"
#include "bloomery/foreign.h"
#include "bloomery/sketch.h"
#include "test.h"
#include "folder.h"

/* ---- Memory, counted ---------------------------------------------------- */

typedef struct { uint64_t held, most; } counted;

static void *counted_allocate(void *context, size_t alignment, size_t bytes)
{
    counted *c = context;
    void *memory = NULL;
    if (posix_memalign(&memory, alignment, bytes) != 0)
        return NULL;
    c->held += bytes;
    c->most = c->most > c->held ? c->most : c->held;
    return memory;
}

static void counted_release(void *context, void *memory, size_t bytes)
{
    counted *c = context;
    c->held -= bytes;
    free(memory);
}

/* A filter, and the count of its memory; `limit` as in bly_options. */
typedef struct {
    counted       memory;
    bly_allocator from;
    bly_options   how;
} limits;

static void limits_begin(limits *l, uint64_t limit)
{
    l->memory = (counted){ .held = 0 };
    l->from = (bly_allocator){ counted_allocate, counted_release, &l->memory };
    l->how = (bly_options){ .allocator = &l->from, .memory_limit = limit };
}

/* The size of a handle, whatever its filter. */
enum { HANDLE = 1024 };

/* ---- Packed images ------------------------------------------------------ */

enum { M_AT = IMAGE_GEOMETRY + 8, ENDS = 2 * IMAGE_HEADER };

/* Forges a packed filter without keys that unpacks to `bytes` bytes, in the
 * fewest bytes accepted. Returns *n of them, from malloc. */
static uint8_t *forge_packed(uint64_t bytes, size_t *n)
{
    const bly_spec spec = { .capacity = 1000 };
    bly_filter *filter = NULL;
    size_t room, used;
    assert_status(bly_new(&filter, "compressed", &spec), BLY_OK);
    (void)bly_image(filter, &room);
    uint64_t least = (bytes - ENDS + 8191) / 8192 - IMAGE_HEADER;
    *n = IMAGE_HEADER + (size_t)least;
    uint8_t *packed = calloc(*n > room ? *n : room, 1);
    assert_non_null(packed);
    assert_status(bly_pack(filter, packed, room, &used), BLY_OK);
    memset(packed + IMAGE_HEADER, 0, *n - IMAGE_HEADER);
    image_set_u64(packed, IMAGE_BYTES, *n);
    image_set_u64(packed, M_AT, 8 * (bytes - ENDS));
    image_seal(packed);
    bly_free(filter);
    return packed;
}

static void save(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

static void test_the_default_limit(void **state)
{
    (void)state;
    const uint64_t gib = UINT64_C(1) << 30, asked = 12345;
    uint64_t half = bly_memory_limit(NULL, UINT64_MAX);
    assert_true(half > 0 && half < UINT64_MAX);
    assert_true(bly_memory_limit(NULL, 0) == (gib < half ? gib : half));
    assert_true(bly_memory_limit(NULL, gib / 4) == (2 * gib < half ? 2 * gib
                                                                   : half));
    assert_true(bly_memory_limit(&(bly_options){ .threads = 0 }, 1)
                == bly_memory_limit(NULL, 1));
    assert_true(bly_memory_limit(&(bly_options){ .memory_limit = asked },
                                 UINT64_MAX) == asked);
}

/* By default large files may expand to eight times their size, and to half of
 * the memory. */
static void test_packed_beyond_the_default(void **state)
{
    (void)state;
    const uint64_t bytes = bly_memory_limit(NULL, 0) + (64 << 20);
    size_t n;
    uint8_t *packed = forge_packed(bytes, &n);
    bly_filter *filter = NULL;
    bly_header header;
    limits l;
    limits_begin(&l, 0);
    assert_true(bytes / n > 8000);
    assert_status(bly_peek(&header, packed, n), BLY_OK);
    assert_true(header.packed && header.unpacked == bytes);
    assert_status(bly_unpack(&filter, packed, n, &l.how), BLY_ELIMIT);
    assert_non_null(strstr(bly_why(), "memory_limit"));
    assert_int_equal(l.memory.most, 0);
    save("forged", packed, n);
    assert_status(bly_open(&filter, "forged", 0, &l.how), BLY_ELIMIT);
    assert_true(l.memory.most <= n + HANDLE);
    assert_int_equal(l.memory.held, 0);
    limits_begin(&l, 0);
    assert_status(bly_open(&filter, "forged", BLY_MAP, &l.how), BLY_ELIMIT);
    assert_status(bly_open(&filter, "forged", BLY_MAP | BLY_VERIFY, &l.how),
                  BLY_ELIMIT);
    assert_status(bly_wrap(&filter, packed, n, &l.how), BLY_EUNSUPPORTED);
    assert_status(bly_check(packed, n, &l.how), BLY_OK);
    assert_int_equal(l.memory.most, 0);
    free(packed);
}

/* A given limit is exact, and the message has both numbers. */
static void test_packed_at_the_limit(void **state)
{
    (void)state;
    const uint64_t bytes = 8 << 20;
    size_t n;
    uint8_t *packed = forge_packed(bytes, &n);
    bly_filter *filter = NULL;
    limits l;
    limits_begin(&l, bytes - 1);
    assert_status(bly_unpack(&filter, packed, n, &l.how), BLY_ELIMIT);
    assert_non_null(strstr(bly_why(), "8388608 bytes of memory are needed"));
    assert_non_null(strstr(bly_why(), "the limit is 8388607"));
    assert_int_equal(l.memory.most, 0);
    l.how.memory_limit = bytes;
    assert_status(bly_unpack(&filter, packed, n, &l.how), BLY_OK);
    assert_true(l.memory.most <= bytes + HANDLE);
    assert_false(bly_contains(filter, "a", 1));
    bly_free(filter);
    save("forged", packed, n);
    assert_status(bly_open(&filter, "forged", 0, &l.how), BLY_OK);
    assert_true(l.memory.most <= bytes + n + HANDLE);
    bly_free(filter);
    assert_int_equal(l.memory.held, 0);
    free(packed);
}

/* The header that the bindings' tests put before 262,016 zeros. */
static void test_packed_of_2_gib(void **state)
{
    (void)state;
    char line[2 * IMAGE_HEADER + 2], digits[3] = "";
    size_t n;
    uint8_t *packed = forge_packed(UINT64_C(2) << 30, &n);
    FILE *file = fopen(TEST_SOURCE_DIR "/tests/packed-2gib.hex", "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_int_equal(fclose(file), 0);
    assert_int_equal(n, IMAGE_HEADER + 262016);
    for (size_t i = 0; i < IMAGE_HEADER; i++) {
        snprintf(digits, sizeof digits, "%02x", packed[i]);
        assert_memory_equal(digits, line + 2 * i, 2);
    }
    free(packed);
}

/* A header that no image can have is reported, and safe to look at. */
static void test_packed_of_no_size(void **state)
{
    (void)state;
    size_t n;
    bly_header header;
    bly_filter *filter = NULL;
    uint8_t *packed = forge_packed(8 << 20, &n);
    image_set_u64(packed, M_AT, UINT64_MAX);
    image_seal(packed);
    assert_status(bly_peek(&header, packed, n), BLY_OK);
    assert_true(header.packed && header.unpacked == UINT64_MAX);
    assert_status(bly_unpack(&filter, packed, n, NULL), BLY_ECORRUPT);
    free(packed);
}

/* ---- Images as large as their files ------------------------------------- */

static bool stop_label(void *context, const bly_label_t *label)
{
    (void)context, (void)label;
    return true;
}

static bool visit_key(void *context, const bly_listed *listed)
{
    (void)context, (void)listed;
    return true;
}

/* Reading and querying any filter needs as much memory as it has, even with a
 * limit of one byte. */
static void takes_what_it_has(const char *kind, const uint8_t *bytes, size_t n)
{
    bly_filter *filter = NULL;
    bly_info_t stat;
    limits l;
    limits_begin(&l, 1);
    if (bly_unpack(&filter, bytes, n, &l.how) != BLY_OK)
        fail_msg("%s: %s", kind, bly_why());
    if (l.memory.most > n + IMAGE_HEADER + HANDLE)
        fail_msg("%s: %llu bytes for %zu", kind,
                 (unsigned long long)l.memory.most, n);
    (void)bly_contains(filter, "key", 3);
    assert_status(bly_info(&stat, filter), BLY_OK);
    (void)bly_list_labels(filter, stop_label, NULL);
    if (l.memory.most > n + IMAGE_HEADER + HANDLE)
        fail_msg("%s: %llu bytes to ask for %zu", kind,
                 (unsigned long long)l.memory.most, n);
    bly_free(filter);
    assert_int_equal(l.memory.held, 0);
}

static bly_filter *built(const char *kind)
{
    enum { N = 300 };
    const bly_spec spec = { .capacity = N, .rate = 0.02 };
    uint64_t hashes[N];
    bly_filter *filter = NULL;
    for (size_t i = 0; i < N; i++)
        hashes[i] = test_random(1, i);
    return bly_build(&filter, kind, &spec,
                     &(bly_keys){ .n = N, .hashes = hashes }) == BLY_OK ? filter
                                                                      : NULL;
}

static void test_every_kind_takes_what_it_has(void **state)
{
    (void)state;
    size_t n, seen = 0;
    const bly_kind_info *const *kinds = bly_kinds(&n);
    for (size_t i = 0; i < n; i++) {
        bly_filter *filter = built(kinds[i]->name);
        size_t bytes;
        if (filter == NULL)
            continue;
        const uint8_t *image = bly_image(filter, &bytes);
        takes_what_it_has(kinds[i]->name, image, bytes);
        bly_free(filter);
        seen++;
    }
    assert_true(seen >= n / 2);
}

/* A file of each format, as its own system writes it. */
static void test_every_format_takes_what_it_has(void **state)
{
    (void)state;
    size_t n, seen = 0;
    const bly_format_info *const *formats = bly_formats(&n);
    for (size_t i = 0; i < n; i++) {
        const char *name = formats[i]->kind->name;
        const bly_spec spec = { .capacity = 300 };
        bly_filter *filter = NULL;
        size_t bytes;
        if (bly_new(&filter, name, &spec) != BLY_OK)
            continue;
        const uint8_t *image = bly_image(filter, &bytes);
        if (formats[i]->recognised)
            takes_what_it_has(name, image + IMAGE_HEADER, bytes - IMAGE_HEADER);
        takes_what_it_has(name, image, bytes);
        bly_free(filter);
        seen++;
    }
    assert_true(seen >= n / 2);
}

/* ---- Verbs that take more ----------------------------------------------- */

/* Rereads a filter with a limit. */
static bly_filter *reread(bly_filter *filter, const limits *l)
{
    bly_filter *again = NULL;
    size_t bytes;
    const void *image = bly_image(filter, &bytes);
    assert_status(bly_unpack(&again, image, bytes, &l->how), BLY_OK);
    bly_free(filter);
    return again;
}

static bly_status fill(bly_filter *filter, uint64_t most)
{
    bly_status status = BLY_OK;
    for (uint64_t i = 0; status >= 0 && i < most; i++)
        status = bly_add(filter, &i, sizeof i);
    return status;
}

/* A filter that was read does not grow beyond the limit, and is left unchanged.
 * Filters made here, and copies, have no limit. */
static void test_growth(void **state)
{
    (void)state;
    static const char *const kinds[] = {
        "scalable:growth=16", "redisbloom:growth=32768",
        "rediscuckoo:expansion=32768", "valkey:expansion=32768",
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const bly_spec spec = { .capacity = 1000 };
        const uint64_t limit = 20000;
        bly_filter *filter = NULL, *copy = NULL;
        limits l;
        limits_begin(&l, limit);
        assert_status(bly_new(&filter, kinds[i], &spec), BLY_OK);
        filter = reread(filter, &l);
        assert_status(fill(filter, 5000), BLY_ELIMIT);
        assert_true(l.memory.most <= limit + HANDLE);
        assert_status(bly_copy(&copy, filter, NULL), BLY_OK);
        assert_status(fill(copy, 5000), BLY_ELIMIT);
        bly_free(copy);
        bly_free(filter);
        assert_int_equal(l.memory.held, 0);
    }
    const bly_spec spec = { .capacity = 1000 };
    bly_filter *filter = NULL, *copy = NULL;
    assert_status(bly_new(&filter, kinds[0], &spec), BLY_OK);
    assert_status(bly_copy(&copy, filter, NULL), BLY_OK);
    assert_true(fill(copy, 5000) >= 0);
    bly_free(copy);
    bly_free(filter);
}

/* A chain whose next link has 32768 times as many keys. */
static void test_growth_beyond_the_default(void **state)
{
    (void)state;
    const bly_spec spec = { .capacity = 100000 };
    bly_filter *filter = NULL;
    limits l;
    limits_begin(&l, 0);
    assert_status(bly_new(&filter, "redisbloom:growth=32768", &spec),
                  BLY_OK);
    filter = reread(filter, &l);
    assert_status(fill(filter, 200000), BLY_ELIMIT);
    assert_true(l.memory.most < 1 << 20);
    bly_free(filter);
}

/* Listing needs memory beside the filter. */
static void test_listing(void **state)
{
    (void)state;
    const bly_spec spec = { .capacity = 1000 };
    bly_filter *filter = NULL;
    limits l;
    limits_begin(&l, 1);
    assert_status(bly_new(&filter, "invertible", &spec), BLY_OK);
    filter = reread(filter, &l);
    assert_status(bly_list_keys(filter, visit_key, NULL), BLY_ELIMIT);
    bly_free(filter);
    limits_begin(&l, 1 << 20);
    assert_status(bly_new(&filter, "invertible", &spec), BLY_OK);
    filter = reread(filter, &l);
    assert_status(bly_list_keys(filter, visit_key, NULL), BLY_OK);
    size_t bytes;
    (void)bly_image(filter, &bytes);
    assert_true(l.memory.most <= 3 * bytes + HANDLE);
    bly_free(filter);
}

/* ---- Containers --------------------------------------------------------- */

/* Writes the footer of a Parquet file with one row group of `chunks` columns,
 * each just two bytes: "encrypted", and the end. */
static size_t forge_footer(uint8_t *into, uint32_t chunks)
{
    static const uint8_t begin[] = { 'P', 'A', 'R', '1', 0x49, 0x1C, 0x19,
                                     0xFC };
    size_t n = sizeof begin;
    memcpy(into, begin, n);
    for (uint32_t rest = chunks; ; rest >>= 7) {
        into[n++] = (uint8_t)(rest & 0x7F) | (rest >= 0x80 ? 0x80 : 0);
        if (rest < 0x80)
            break;
    }
    for (uint32_t i = 0; i < chunks; i++) {
        into[n++] = 0x81;
        into[n++] = 0;
    }
    into[n++] = 0;
    into[n++] = 0;
    image_set_u32(into, n, (uint32_t)n - 4);
    memcpy(into + n + 4, "PAR1", 4);
    return n + 8;
}

static void test_containers(void **state)
{
    (void)state;
    enum { CHUNKS = 10000, TIMES = 150 };
    uint8_t *file = malloc(2 * CHUNKS + 64);
    assert_non_null(file);
    size_t n = forge_footer(file, CHUNKS);
    bly_container *c = NULL;
    limits l;
    save("forged", file, n);
    limits_begin(&l, 0);
    assert_status(bly_container_open(&c, "forged", &l.how), BLY_OK);
    assert_int_equal(bly_container_contents(c)->n, CHUNKS);
    assert_true(l.memory.most > 50 * n && l.memory.most <= TIMES * n);
    bly_container_free(c);
    assert_int_equal(l.memory.held, 0);
    limits_begin(&l, 50 * n);
    assert_status(bly_container_open(&c, "forged", &l.how), BLY_ELIMIT);
    assert_true(l.memory.most <= 53 * n + HANDLE);
    assert_int_equal(l.memory.held, 0);
    free(file);
}

/* Writes the end of an ORC file behind n bytes, of which the last `footer` are
 * its footer. Returns the size of the file. */
static size_t forge_script(uint8_t *into, size_t n, size_t footer,
                           uint8_t codec)
{
    static const uint8_t block[] = { 0x18, 0x80, 0x80, 0x10 };      /* 2^18  */
    static const uint8_t magic[] = { 0x82, 0xF4, 0x03, 3, 'O', 'R', 'C' };
    size_t begin = n;
    into[n++] = 0x08;
    for (; footer >= 0x80; footer >>= 7)
        into[n++] = (uint8_t)(footer & 0x7F) | 0x80;
    into[n++] = (uint8_t)footer;
    into[n++] = 0x10;
    into[n++] = codec;
    memcpy(into + n, block, sizeof block);
    n += sizeof block;
    memcpy(into + n, magic, sizeof magic);
    n += sizeof magic;
    into[n] = (uint8_t)(n - begin);
    return n + 1;
}

/* Writes an ORC file of so many columns, two bytes each, and stripes, of which
 * every one lists all columns. */
static size_t forge_columns(uint8_t *into, uint32_t columns, uint32_t stripes)
{
    size_t n = 3 + 2 * (size_t)stripes, begin = n;
    memcpy(into, "ORC", 3);
    for (uint32_t i = 0; i < stripes; i++)
        memcpy(into + 3 + 2 * (size_t)i, "\x12", 2);    /* a stripe's footer */
    for (uint32_t i = 0; i < columns; i++, n += 2)
        memcpy(into + n, "\x22", 2);
    for (uint32_t i = 0; i < stripes; i++) {
        uint32_t at = 3 + 2 * i;
        const uint8_t said[] = {
            0x1A, 8, 0x08, (uint8_t)(at & 0x7F) | 0x80,
            (uint8_t)(at >> 7 & 0x7F) | 0x80, (uint8_t)(at >> 14),
            0x20, 2, 0x28, 1,
        };
        memcpy(into + n, said, sizeof said);
        n += sizeof said;
    }
    return forge_script(into, n, n - begin, 0);
}

/* Decompresses each block to as many columns as there is room for. */
static bly_status expand(void *context, const char *codec, const void *from,
                         size_t n, void *to, size_t room, size_t *used)
{
    uint8_t *out = to;
    (void)context;
    (void)codec;
    (void)from;
    (void)n;
    for (size_t i = 0; i < room; i++)
        out[i] = i % 2 == 0 ? 0x22 : 0;
    *used = room;
    return BLY_OK;
}

/* Opens the file of n bytes. Returns whether it was within the limit, which
 * counts all memory but the bytes of the file. */
static bool within(const uint8_t *file, size_t n, uint64_t limit)
{
    const bly_decompressor with = { expand, NULL };
    bly_container *c = NULL;
    limits l;
    save("forged", file, n);
    limits_begin(&l, limit);
    bly_status status = bly_container_open_with(&c, "forged", &with, &l.how);
    assert_true(status == BLY_OK || status == BLY_ELIMIT);
    bly_container_free(c);
    assert_true(l.memory.most <= limit + n + HANDLE);
    assert_int_equal(l.memory.held, 0);
    return status == BLY_OK;
}

/* Types, names, the list and what was decompressed count together. */
static void test_columns(void **state)
{
    enum { MOST = 600, BLOCKS = 40, LIMIT = 8 << 20 };
    static uint8_t file[16 * MOST];
    unsigned opened = 0;
    (void)state;
    for (uint32_t n = 10; n <= MOST; n += 10)
        opened += within(file, forge_columns(file, n, n), LIMIT);
    assert_true(opened > 0 && opened < MOST / 10);
    opened = 0;
    for (unsigned blocks = 1; blocks <= BLOCKS; blocks++) {
        size_t n = 3;
        memcpy(file, "ORC", n);
        for (unsigned i = 0; i < blocks; i++, n += 4)
            memcpy(file + n, "\2\0\0\1", 4);
        n = forge_script(file, n, n - 3, 1);
        opened += within(file, n, 16 * LIMIT);
    }
    assert_true(opened > 0 && opened < BLOCKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_default_limit),
        cmocka_unit_test(test_packed_beyond_the_default),
        cmocka_unit_test(test_packed_at_the_limit),
        cmocka_unit_test(test_packed_of_2_gib),
        cmocka_unit_test(test_packed_of_no_size),
        cmocka_unit_test(test_every_kind_takes_what_it_has),
        cmocka_unit_test(test_every_format_takes_what_it_has),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_growth_beyond_the_default),
        cmocka_unit_test(test_listing),
        cmocka_unit_test(test_containers),
        cmocka_unit_test(test_columns),
    };
    return cmocka_run_group_tests(tests, folder_enter, folder_leave);
}
