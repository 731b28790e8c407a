/* laws.c - laws of every kind of family "foreign": a counterpart of
 * tests/laws.c for filters that hash whole keys and are stored in other
 * systems' files.
 *
 * tests/formats/NAME.c has the tests specific to a format.
 */
#include "test.h"
#include "folder.h"

#include <inttypes.h>

#include "bloomery/foreign.h"
#include "image/kind_foreign.h"
#include "verbs/registry.h"

enum { FEW = 200, ASKED = 20000 };

/* The format under test in this run of the group. */
static const bly_kind *laws_kind;

static const char laws_path[] = "filter";

/* Filters that a law tried. */
static size_t laws_tried;

/* Options of it, in a law that tries them; or "". */
static char laws_with[200];

/* Returns its name with the parameters that its files do not store. */
static const char *laws_spec(void)
{
    return laws_with[0] != '\0' ? laws_with
         : strcmp(laws_kind->name, "bip158") != 0 ? laws_kind->name
         : "bip158:block=000102030405060708090a0b0c0d0e0f"
           "101112131415161718191a1b1c1d1e1f";
}

/* Writes key i of a stream as text; returns its length. */
static size_t laws_key(char text[32], uint64_t stream, uint64_t i)
{
    return (size_t)snprintf(text, 32, "key-%" PRIu64 "-%" PRIu64, stream, i);
}

/* Returns n keys of a stream, to be freed. */
static bly_key *laws_keys(uint64_t stream, size_t n)
{
    bly_key *keys = malloc(n * (sizeof *keys + 32));
    assert_non_null(keys);
    char *text = (char *)(keys + n);
    for (size_t i = 0; i < n; i++, text += 32)
        keys[i] = (bly_key){ text, laws_key(text, stream, i) };
    return keys;
}

/* Returns a filter planned for `capacity` keys, with n keys of a stream. */
static bly_filter *laws_of(uint64_t capacity, uint64_t stream, size_t n)
{
    bly_spec spec = { .capacity = capacity };
    bly_key *keys = laws_keys(stream, n + 1);
    bly_keys all = { .n = n, .keys = keys };
    bly_filter *filter = NULL;
    assert_status(bly_build(&filter, laws_spec(), &spec, &all),
                  BLY_OK);
    free(keys);
    return filter;
}

static uint64_t laws_found(const bly_filter *filter, uint64_t stream, size_t n)
{
    bly_key *keys = laws_keys(stream, n);
    bool *present = malloc(n);
    uint64_t found = 0;
    assert_non_null(present);
    bly_keys all = { .n = n, .keys = keys };
    assert_status(bly_contains_many(filter, &all, present), BLY_OK);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(present[i], bly_contains(filter, keys[i].data,
                                                  keys[i].length));
        found += present[i];
    }
    free(present);
    free(keys);
    return found;
}

/* Returns a filter's file: the bytes behind its header. */
static const uint8_t *laws_file(const bly_filter *filter, size_t *bytes)
{
    const uint8_t *image = bly_image(filter, bytes);
    *bytes -= BLY_HEADER_BYTES;
    return image + BLY_HEADER_BYTES;
}

static bool laws_same(const bly_filter *a, const bly_filter *b)
{
    size_t a_bytes, b_bytes;
    const uint8_t *a_file = laws_file(a, &a_bytes);
    const uint8_t *b_file = laws_file(b, &b_bytes);
    return a_bytes == b_bytes && memcmp(a_file, b_file, a_bytes) == 0;
}

/* Returns options that name the format. */
static bly_options laws_options(void)
{
    return (bly_options){ .format = laws_spec() };
}

/* ---- Keys -------------------------------------------------------------- */

static void law_empty_knows_nothing(void **state)
{
    (void)state;
    bly_filter *filter = laws_of(FEW, 1, 0);
    /* one that is built from nothing has its rate all the same */
    assert_true(laws_found(filter, 2, 1000)
                <= (laws_kind->add != NULL ? 0 : 20));
    bly_free(filter);
}

static void law_no_false_negative(void **state)
{
    (void)state;
    for (size_t n = 1; n <= FEW; n = 3 * n + 1) {
        bly_filter *filter = laws_of(FEW, n, n);
        assert_int_equal(laws_found(filter, n, n), n);
        bly_free(filter);
    }
}

/* `info` explains each number of the geometry. */
static void law_numbers_have_names(void **state)
{
    (void)state;
    bly_filter *filter = laws_of(FEW, 3, FEW);
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    for (size_t i = 0; i < 4; i++)
        if (stat.geometry[i] != 0)
            assert_non_null(laws_kind->foreign->numbers[i].name);
    bly_free(filter);
}

/* `info` prints a line with each name, beside its own lines. */
static void law_names_are_apart(void **state)
{
    static const char *const lines[] = {
        "kind", "keys", "different", "form", "size", "could be", "packed",
        "attached", "probes", "fill", "rate", "lost", "window", "saturated",
        "labels", "hash", "geometry",
    };
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const char *name = laws_kind->foreign->numbers[i].name;
        for (size_t k = 0; name != NULL && k < sizeof lines / sizeof *lines;
             k++)
            assert_string_not_equal(name, lines[k]);
        for (size_t k = 0; name != NULL && k < i; k++)
            if (laws_kind->foreign->numbers[k].name != NULL)
                assert_string_not_equal(name,
                                        laws_kind->foreign->numbers[k].name);
    }
}

static void law_rate_is_the_plan(void **state)
{
    (void)state;
    TEST_STATISTICS();
    bly_filter *filter = laws_of(FEW, 3, FEW);
    bly_info_t stat;
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_true(stat.rate > 0 && stat.rate < 0.1);
    assert_within(laws_found(filter, 4, ASKED), ASKED, stat.rate, 0);
    bly_free(filter);
}

static void law_a_key_is_told_as_seen(void **state)
{
    (void)state;
    if (laws_kind->add == NULL)
        skip();
    bly_filter *filter = laws_of(FEW, 5, 1);
    char text[32];
    size_t length = laws_key(text, 5, 0);
    assert_status(bly_add(filter, text, length), BLY_SEEN);
    length = laws_key(text, 6, 0);
    assert_status(bly_add(filter, text, length), BLY_OK);
    assert_true(bly_contains(filter, text, length));
    bly_free(filter);
}

/* Keys of any length and bytes, including the empty key. */
static void law_any_bytes(void **state)
{
    (void)state;
    if (laws_kind->add == NULL)
        skip();
    uint8_t bytes[80];
    bly_filter *filter = laws_of(FEW, 7, 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)test_random(7, i);
    for (size_t length = 0; length <= sizeof bytes; length++)
        assert_true(bly_add(filter, bytes + (sizeof bytes - length), length)
                    >= 0);
    for (size_t length = 0; length <= sizeof bytes; length++)
        assert_true(bly_contains(filter, bytes + (sizeof bytes - length),
                                 length));
    bly_free(filter);
}

/* If a filter takes hashes, they are equal before and after it is made, by each
 * function that computes them. */
static void law_hashes_are_its_own(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = FEW };
    bly_filter *filter = laws_of(FEW, 8, FEW), *built = NULL;
    bly_key *keys = laws_keys(8, FEW);
    bly_keys all = { .n = FEW, .keys = keys };
    uint64_t hashes[FEW];
    assert_status(bly_hash_many(hashes, laws_spec(), &spec, &all), BLY_OK);
    for (size_t i = 0; i < FEW && !KIND_HAS(laws_kind, whole, contains); i++)
        assert_true(hashes[i] == bly_hash(filter, keys[i].data,
                                          keys[i].length));
    if (!KIND_HAS(laws_kind, whole, contains)) {
        assert_status(bly_build(&built, laws_spec(), &spec,
                                &(bly_keys){ .n = FEW, .hashes = hashes }),
                      BLY_OK);
        assert_true(laws_same(filter, built));
    }
    bly_free(built);
    bly_free(filter);
    free(keys);
}

/* A bare hash is never found, and adding it is refused. */
static void law_hashes_are_no_keys(void **state)
{
    (void)state;
    if (!KIND_HAS(laws_kind, whole, contains))
        skip();
    bly_filter *filter = laws_of(FEW, 8, 0);
    bool present = false;
    uint64_t hash = 1;
    assert_true(bly_contains_hash(filter, hash));
    bly_contains_hashes(filter, &hash, 1, &present);
    assert_true(present);
    assert_status(bly_add_hash(filter, hash), BLY_EUNSUPPORTED);
    assert_int_equal(laws_found(filter, 8, 100), 0);
    bly_free(filter);
}

static void law_no_hash_of_ones_own(void **state)
{
    (void)state;
    static const char secret[BLY_SECRET_BYTES];
    bly_filter *filter = NULL;
    bly_spec hash = { .capacity = FEW, .hash = "xxh64" };
    bly_spec seed = { .capacity = FEW, .seed = 1 };
    bly_spec keyed = { .capacity = FEW, .hash = "siphash", .secret = secret };
    assert_status(bly_new(&filter, laws_spec(), &hash), BLY_EHASH);
    assert_status(bly_new(&filter, laws_spec(), &seed), BLY_EHASH);
    assert_status(bly_new(&filter, laws_spec(), &keyed), BLY_ESECRET);
}

/* ---- Files ------------------------------------------------------------- */

static void laws_is(const bly_filter *filter, const bly_filter *opened)
{
    bly_info_t a, b;
    assert_true(laws_same(filter, opened));
    assert_int_equal(laws_found(opened, 9, FEW), FEW);
    assert_int_equal(laws_found(opened, 10, ASKED),
                     laws_found(filter, 10, ASKED));
    assert_status(bly_info(&a, filter), BLY_OK);
    assert_status(bly_info(&b, opened), BLY_OK);
    assert_true(a.rate == b.rate && a.fill == b.fill && a.bytes == b.bytes
                && memcmp(a.geometry, b.geometry, sizeof a.geometry) == 0);
    if (laws_kind->foreign->plans)
        assert_true(a.planned_rate == b.planned_rate
                    && a.capacity == b.capacity);
    assert_string_equal(bly_kind_of(opened), laws_kind->name);
}

static void law_a_file_is_the_filter(void **state)
{
    (void)state;
    static const int ways[] = { 0, BLY_MAP, BLY_MAP | BLY_VERIFY };
    bly_options options = laws_options();
    bly_filter *filter = laws_of(FEW, 9, FEW), *opened;
    assert_status(bly_save(filter, laws_path), BLY_OK);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        assert_status(bly_open(&opened, laws_path, ways[i], &options), BLY_OK);
        laws_is(filter, opened);
        bly_free(opened);
    }
    size_t bytes;
    const uint8_t *file = laws_file(filter, &bytes);
    assert_status(bly_unpack(&opened, file, bytes, &options), BLY_OK);
    laws_is(filter, opened);
    bly_free(opened);
    bly_free(filter);
}

/* An image records its own kind. */
static void law_an_image_is_the_filter(void **state)
{
    (void)state;
    bly_filter *filter = laws_of(FEW, 9, FEW), *opened;
    assert_status(bly_save_as(filter, laws_path, "bloomery"), BLY_OK);
    assert_status(bly_open(&opened, laws_path, BLY_MAP | BLY_VERIFY, NULL),
                  BLY_OK);
    laws_is(filter, opened);
    bly_free(opened);
    size_t bytes;
    const void *image = bly_image(filter, &bytes);
    assert_status(bly_check(image, bytes, NULL), BLY_OK);
    assert_status(bly_wrap(&opened, image, bytes, NULL), BLY_OK);
    laws_is(filter, opened);
    bly_free(opened);
    bly_free(filter);
}

static void law_what_tells_is_recognised(void **state)
{
    (void)state;
    bly_filter *filter = laws_of(FEW, 9, FEW), *opened;
    size_t bytes;
    const uint8_t *file = laws_file(filter, &bytes);
    const char *name = bly_recognise(file, bytes, bytes);
    if (laws_kind->foreign->looks != NULL) {
        assert_string_equal(name, laws_kind->name);
        assert_status(bly_save(filter, laws_path), BLY_OK);
        assert_status(bly_open(&opened, laws_path, 0, NULL), BLY_OK);
        laws_is(filter, opened);
        bly_free(opened);
    }
    bly_free(filter);
}

static void law_a_file_is_not_changed_in_place(void **state)
{
    (void)state;
    bly_options options = laws_options();
    bly_filter *filter = laws_of(FEW, 9, FEW), *opened = NULL;
    assert_status(bly_save(filter, laws_path), BLY_OK);
    assert_status(bly_open(&opened, laws_path, BLY_MAP | BLY_WRITE, &options),
                  BLY_EUNSUPPORTED);
    assert_status(bly_open(&opened, laws_path, BLY_MAP, &options), BLY_OK);
    assert_status(bly_add(opened, "x", 1), laws_kind->add != NULL
                                           ? BLY_EREADONLY : BLY_EUNSUPPORTED);
    bly_free(opened);
    bly_free(filter);
}

/* Saves over itself, with one more key. */
static void law_a_changed_filter_is_saved(void **state)
{
    (void)state;
    if (laws_kind->add == NULL)
        skip();
    bly_options options = laws_options();
    bly_filter *filter = laws_of(FEW + 1, 9, FEW), *opened;
    assert_status(bly_save(filter, laws_path), BLY_OK);
    bly_free(filter);
    assert_status(bly_open(&opened, laws_path, 0, &options), BLY_OK);
    assert_true(bly_add(opened, "one more", 8) >= 0);
    assert_status(bly_save(opened, laws_path), BLY_OK);
    bly_free(opened);
    assert_status(bly_open(&opened, laws_path, BLY_MAP, &options), BLY_OK);
    assert_true(bly_contains(opened, "one more", 8));
    assert_int_equal(laws_found(opened, 9, FEW), FEW);
    bly_free(opened);
}

/* In memory are the bytes of the file, in each format that it can have. */
static void law_packed_as_a_file(void **state)
{
    (void)state;
    bly_filter *filter = laws_of(FEW, 9, FEW);
    const char *formats[] = { "bloomery", laws_kind->name };
    size_t room, n = 0, bytes;
    assert_non_null(bly_image(filter, &room));
    uint8_t *packed = malloc(room);
    for (size_t i = 0; i < 2; i++) {
        assert_status(bly_pack_as(filter, formats[i], packed, room, &n),
                      BLY_OK);
        assert_status(bly_save_as(filter, laws_path, formats[i]), BLY_OK);
        assert_true(folder_file_is(laws_path, packed, n));
        bytes = 7;
        assert_status(bly_pack_as(filter, formats[i], packed, n - 1, &bytes),
                      BLY_EPARAM);
        assert_int_equal(bytes, 7);
    }
    free(packed);
    bly_free(filter);
}

/* A filter is saved as what it was opened as: the file of its system, or an
 * image; so are its copy and one that is made like it. */
static void law_saved_as_it_was_opened(void **state)
{
    (void)state;
    bly_options options = laws_options();
    bly_filter *filter = laws_of(FEW, 9, FEW);
    for (size_t i = 0; i < 2; i++) {
        const char *format = i == 0 ? laws_kind->name : "bloomery";
        size_t room, n = 0;
        bly_filter *all[3] = { NULL }, *again;
        assert_status(bly_save_as(filter, laws_path, format), BLY_OK);
        assert_status(bly_open(&all[0], laws_path, 0, i == 0 ? &options : NULL),
                      BLY_OK);
        assert_status(bly_copy(&all[1], all[0], NULL), BLY_OK);
        if (laws_kind->add != NULL && laws_kind->growing == NULL)
            assert_status(bly_like(&all[2], all[0], NULL), BLY_OK);
        assert_non_null(bly_image(all[0], &room));
        uint8_t *packed = malloc(room), *named = malloc(room);
        for (size_t f = 0; f < 3 && all[f] != NULL; f++) {
            size_t bytes = 0;
            assert_status(bly_pack_as(all[f], NULL, packed, room, &n), BLY_OK);
            assert_status(bly_pack_as(all[f], format, named, room, &bytes),
                          BLY_OK);
            assert_int_equal(n, bytes);
            assert_memory_equal(packed, named, n);
            assert_status(bly_save(all[f], "again"), BLY_OK);
            assert_true(folder_file_is("again", packed, n));
        }
        assert_status(bly_open(&again, "again", 0, i == 0 ? &options : NULL),
                      BLY_OK);
        bly_free(again);
        for (size_t f = 0; f < 3; f++)
            bly_free(all[f]);
        free(packed);
        free(named);
    }
    bly_free(filter);
}

static void law_other_formats_are_refused(void **state)
{
    (void)state;
    bly_filter *filter = laws_of(FEW, 9, FEW);
    assert_status(bly_save_as(filter, laws_path, "no such format"),
                  BLY_EPARAM);
    for (const bly_kind *const *k = registry_foreign; *k != NULL; k++)
        if (*k != laws_kind)
            assert_status(bly_save_as(filter, laws_path, (*k)->name),
                          BLY_EUNSUPPORTED);
    bly_free(filter);
}

/* ---- Options ----------------------------------------------------------- */

/* Returns how many values of an option are tried: all words, and of a number
 * its ends. */
static size_t laws_values(const kind_option *o)
{
    size_t n = 0;
    if (o->choices == NULL)
        return o->high != 0 ? 0 : 2;
    while (o->choices[n] != NULL)
        n++;
    return n;
}

/* Writes "name:option=value", or ",option=value" after others, to the end of
 * laws_with. */
static void laws_give(const kind_option *o, size_t value)
{
    size_t used = strlen(laws_with), room = sizeof laws_with - used;
    const char *name = used > 0 ? "" : laws_kind->name;
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, value == 0 ? o->least
                                                           : o->most);
    int more = snprintf(laws_with + used, room, "%s%c%s=%s", name,
                        used > 0 ? ',' : ':', o->name,
                        o->choices != NULL ? o->choices[value] : number);
    assert_true(more > 0 && (size_t)more < room);
}

/* Calls a law for each combination of the values of these options and those
 * after them. */
static void laws_each_option(const kind_option *o, void (*law)(void))
{
    size_t used = strlen(laws_with);
    if (o == NULL || o->name == NULL) {
        law();
        return;
    }
    laws_each_option(o + 1, law);
    for (size_t i = 0; i < laws_values(o); i++) {
        laws_give(o, i);
        laws_each_option(o + 1, law);
        laws_with[used] = '\0';
    }
}

static int laws_without_options(void **state)
{
    (void)state;
    laws_with[0] = '\0';
    return 0;
}

/* Returns whether laws_with gives an option that takes a number. */
static bool laws_with_number(void)
{
    char given[32];
    for (const kind_option *o = laws_kind->options; o->name != NULL; o++) {
        snprintf(given, sizeof given, "%s=", o->name);
        if (o->choices == NULL && strstr(laws_with, given) != NULL)
            return true;
    }
    return false;
}

/* Returns a filter with these options; NULL if a number of theirs does not suit
 * these keys. */
static bly_filter *laws_with_options(void)
{
    const bly_spec spec = { .capacity = FEW };
    bly_filter *filter = NULL;
    bly_key *keys = laws_keys(9, FEW);
    bly_keys all = { .n = FEW, .keys = keys };
    bly_status status = bly_build(&filter, laws_spec(), &spec, &all);
    free(keys);
    if (status != BLY_OK
        && ((status != BLY_EPARAM && status != BLY_EFULL)
            || !laws_with_number()))
        fail_msg("%s: %s", laws_spec(), bly_why());
    return filter;
}

static bly_filter *laws_open(const char *path, int flags,
                             const bly_options *options)
{
    bly_filter *opened = NULL;
    if (bly_open(&opened, path, flags, options) != BLY_OK)
        fail_msg("%s: %s", laws_spec(), bly_why());
    assert_int_equal(laws_found(opened, 9, FEW), FEW);
    return opened;
}

static void laws_makes_a_round_trip(void)
{
    static const int ways[] = { 0, BLY_MAP, BLY_MAP | BLY_VERIFY };
    bly_options options = laws_options();
    bly_filter *filter = laws_with_options();
    bly_info_t was, is;
    size_t bytes;
    if (filter == NULL)
        return;
    laws_tried++;
    assert_status(bly_info(&was, filter), BLY_OK);
    const uint8_t *file = laws_file(filter, &bytes);
    assert_status(bly_save(filter, "bare"), BLY_OK);
    bly_filter *bare = laws_open("bare", 0, &options);
    assert_status(bly_save_as(bare, laws_path, "bloomery"), BLY_OK);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        bly_filter *opened = laws_open(laws_path, ways[i], NULL);
        assert_status(bly_info(&is, opened), BLY_OK);
        assert_memory_equal(is.geometry, was.geometry, sizeof is.geometry);
        assert_status(bly_save_as(opened, "again", laws_kind->name), BLY_OK);
        assert_true(folder_file_is("again", file, bytes));
        bly_free(opened);
    }
    bly_free(bare);
    bly_free(filter);
}

/* Values of options survive the way from a bare file to an image and back. */
static void law_every_option_makes_a_round_trip(void **state)
{
    (void)state;
    laws_tried = 0;
    laws_each_option(laws_kind->options, laws_makes_a_round_trip);
    assert_true(laws_tried > 0);
}

/* Returns option number `at`, or NULL. Digits are two numbers, which have no
 * range, and of which one has no entry in the table. */
static const kind_option *laws_option(size_t at)
{
    static const kind_option digits = { .most = UINT64_MAX };
    const kind_option *o = laws_kind->options, *found = NULL;
    for (size_t i = 0; o[i].name != NULL; i++)
        if (o[i].high != 0 && (i == at || o[i].high == at))
            return &digits;
        else if (i == at)
            found = &o[i];
    return found;
}

/* Returns whether some options, of which those in front of number `at` are set,
 * make this geometry of that of a file. A number is one of the geometry, or its
 * least. */
static bool laws_told(const uint64_t *geometry, const kind_found *file,
                      uint64_t *option, size_t at)
{
    const kind_option *o = laws_option(at);
    kind_found told = *file;
    if (o == NULL)
        return laws_kind->foreign->told(told.geometry, option) == BLY_OK
            && memcmp(told.geometry, geometry, sizeof told.geometry) == 0;
    size_t n = o->choices != NULL ? laws_values(o) : IMAGE_GEOMETRY_FIELDS + 1;
    for (size_t i = 0; i < n; i++) {
        option[at] = o->choices != NULL ? i
                   : i < IMAGE_GEOMETRY_FIELDS ? geometry[i] : o->least;
        if ((o->choices != NULL
             || (option[at] >= o->least && option[at] <= o->most))
            && laws_told(geometry, file, option, at + 1))
            return true;
    }
    return false;
}

static void laws_checks_what_is_told(void)
{
    static const uint64_t values[] = {
        0, 1, 2, 3, 4, 7, 255, 256, 65536, UINT64_C(1) << 32,
        UINT64_C(1) << 63,
    };
    kind_found file = { .capacity = 0 };
    uint64_t geometry[IMAGE_GEOMETRY_FIELDS], option[KIND_OPTIONS] = { 0 };
    bly_filter *filter = laws_with_options();
    size_t n;
    if (filter == NULL)
        return;
    uint8_t *image = (uint8_t *)(uintptr_t)bly_image(filter, &n);
    assert_status(laws_kind->foreign->read(&file, image + BLY_HEADER_BYTES,
                                           n - BLY_HEADER_BYTES), BLY_OK);
    for (size_t f = 0; f < IMAGE_GEOMETRY_FIELDS; f++) {
        uint64_t was = image_geometry(image, f);
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            image_set_u64(image, IMAGE_GEOMETRY + 8 * f, values[v]);
            for (size_t i = 0; i < IMAGE_GEOMETRY_FIELDS; i++)
                geometry[i] = image_geometry(image, i);
            bool told = laws_told(geometry, &file, option, 0);
            laws_tried += told && values[v] != was;
            if ((laws_kind->check(image) == BLY_OK) != told)
                fail_msg("%s: number %zu is %" PRIu64 ": %s", laws_spec(), f,
                         values[v], told ? "refused" : "accepted");
        }
        image_set_u64(image, IMAGE_GEOMETRY + 8 * f, was);
    }
    bly_free(filter);
}

/* An image has what options could tell of its file, and nothing else. */
static void law_what_is_told_is_checked(void **state)
{
    (void)state;
    if (laws_kind->foreign->told == NULL)
        skip();
    laws_tried = 0;
    laws_each_option(laws_kind->options, laws_checks_what_is_told);
    assert_true(laws_tried > 0);
}

/* ---- Sets -------------------------------------------------------------- */

static void law_a_union_has_both(void **state)
{
    (void)state;
    bly_filter *a = laws_of(FEW, 11, FEW / 2), *b = laws_of(FEW, 12, FEW / 2);
    bly_overlap_t overlap;
    if (KIND_HAS(laws_kind, combining, overlap)) {
        assert_status(bly_overlap(&overlap, a, b), BLY_OK);
        assert_true(fabs(overlap.either.value - FEW) < FEW / 4);
    }
    if (KIND_HAS(laws_kind, combining, unite)) {
        assert_status(bly_unite(a, b), BLY_OK);
        assert_int_equal(laws_found(a, 11, FEW / 2), FEW / 2);
        assert_int_equal(laws_found(a, 12, FEW / 2), FEW / 2);
    }
    bly_free(a);
    bly_free(b);
}

static void law_copy_and_like(void **state)
{
    (void)state;
    bly_filter *filter = laws_of(FEW, 9, FEW), *copy, *like;
    assert_status(bly_copy(&copy, filter, NULL), BLY_OK);
    laws_is(filter, copy);
    bly_free(copy);
    if (laws_kind->add != NULL && laws_kind->growing == NULL) {
        bly_filter *empty = laws_of(FEW, 9, 0);
        assert_status(bly_like(&like, filter, NULL), BLY_OK);
        assert_true(laws_same(like, empty));
        bly_free(like);
        bly_free(empty);
    }
    bly_free(filter);
}

/* ---- Hostile files ----------------------------------------------------- */

/* Any bytes are refused with a message that names the format, or every verb
 * stays inside them (sanitizers see it: the library's copy ends where they
 * do). */
static void laws_try(const uint8_t *bytes, size_t n)
{
    bly_options options = laws_options();
    bly_filter *filter = NULL;
    bly_info_t stat;
    bly_overlap_t overlap;
    bly_status status = bly_unpack(&filter, bytes, n, &options);
    if (status != BLY_OK) {
        assert_true(status == BLY_ECORRUPT || status == BLY_EVERSION
                    || status == BLY_ETOOBIG);
        assert_non_null(strstr(bly_why(), "read as"));
        return;
    }
    (void)laws_found(filter, 13, (size_t)test_work(50, 12, 4));
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_true(stat.rate >= 0 && stat.rate <= 1);
    if (KIND_HAS(laws_kind, combining, overlap))
        assert_status(bly_overlap(&overlap, filter, filter), BLY_OK);
    if (KIND_HAS(laws_kind, combining, unite))
        assert_true(bly_unite(filter, filter) <= BLY_OK);
    if (laws_kind->add != NULL && bly_add(filter, "x", 1) >= 0)
        assert_true(bly_contains(filter, "x", 1));
    size_t bytes_now;
    const void *image = bly_image(filter, &bytes_now);
    assert_true(bytes_now == n + BLY_HEADER_BYTES
                || laws_kind->growing != NULL);
    assert_status(bly_check(image, bytes_now, NULL), BLY_OK);
    bly_free(filter);
}

static void law_every_truncation(void **state)
{
    (void)state;
    size_t n, step = test_work(1, 5, 17);
    bly_filter *filter = laws_of(FEW, 9, FEW);
    const uint8_t *file = laws_file(filter, &n);
    for (size_t end = 0; end < n; end += end < 300 ? 1 : step)
        laws_try(file, end);
    bly_free(filter);
}

static void law_every_damaged_byte(void **state)
{
    (void)state;
    size_t n, step = test_work(1, 5, 17);
    bly_filter *filter = laws_of(FEW, 9, FEW);
    const uint8_t *file = laws_file(filter, &n);
    uint8_t *copy = malloc(n);
    assert_non_null(copy);
    memcpy(copy, file, n);
    for (size_t i = 0; i < n; i += i < 300 || n - i < 300 ? 1 : step) {
        const uint8_t other[] = { file[i] ^ 1, file[i] ^ 0x80, 0, 0xFF };
        for (size_t j = 0; j < sizeof other; j++) {
            copy[i] = other[j];
            laws_try(copy, n);
        }
        copy[i] = file[i];
    }
    free(copy);
    bly_free(filter);
}

/* Extreme numbers of every width, in either byte order, at every place of the
 * first and last bytes. */
static void law_numbers_at_their_ends(void **state)
{
    (void)state;
    static const uint64_t ends[] = {
        0, 1, UINT64_C(1) << 31, UINT64_C(1) << 32, UINT64_C(1) << 63,
        UINT64_MAX, (UINT64_C(1) << 32) - 1, (UINT64_C(1) << 31) - 1,
        UINT64_C(1) << 60, UINT64_MAX / 8 + 1,
    };
    size_t n;
    bly_filter *filter = laws_of(FEW, 9, FEW);
    const uint8_t *file = laws_file(filter, &n);
    uint8_t *copy = malloc(n);
    assert_non_null(copy);
    for (size_t at = 0; at < n; at = at < 120 || n - at <= 40 ? at + 1 : n - 40)
        for (size_t e = 0; e < sizeof ends / sizeof *ends; e++)
            for (size_t width = 1; width <= 8; width *= 2)
                for (int big = 0; big < 2 && at + width <= n; big++) {
                    memcpy(copy, file, n);
                    for (size_t i = 0; i < width; i++)
                        copy[at + (big ? width - 1 - i : i)]
                            = (uint8_t)(ends[e] >> 8 * i);
                    laws_try(copy, n);
                }
    free(copy);
    bly_free(filter);
}

/* Arbitrary bytes, long and short. */
static void law_any_file(void **state)
{
    (void)state;
    uint8_t bytes[600];
    for (uint64_t i = 0; i < test_work(20000, 5000, 500); i++) {
        size_t n = (size_t)(test_random(14, i) % (sizeof bytes + 1));
        for (size_t j = 0; j < n; j++)
            bytes[j] = (uint8_t)test_random(15 + i, j);
        laws_try(bytes, n);
    }
}

/* The memory that verbs may access exists in every filter that opens. If a file
 * changes meanwhile, other numbers may ask for more than that, or less. */
static void law_reach(void **state)
{
    (void)state;
    static const uint64_t ends[] = {
        0, 1, 3, 64, 1000, 1 << 20, UINT64_C(1) << 32, UINT64_C(1) << 56,
        UINT64_MAX / 8, UINT64_MAX,
    };
    enum { ENDS = sizeof ends / sizeof *ends };
    size_t n;
    bly_filter *filter = laws_of(FEW, 9, FEW);
    uint8_t *image = (uint8_t *)(uintptr_t)bly_image(filter, &n);
    uint64_t was[IMAGE_GEOMETRY_FIELDS], geometry[IMAGE_GEOMETRY_FIELDS];
    for (size_t i = 0; i < IMAGE_GEOMETRY_FIELDS; i++)
        was[i] = image_geometry(image, i);
    assert_true(laws_kind->foreign->reach(was) <= n - BLY_HEADER_BYTES);
    for (size_t e = 0; e < ENDS * ENDS * ENDS; e++) {
        memcpy(geometry, was, sizeof was);
        geometry[0] = ends[e % ENDS];
        geometry[1 + e / ENDS % 2] = ends[e / ENDS % ENDS];
        geometry[3] = e / ENDS / ENDS < 2 ? was[3] : ends[e / ENDS / ENDS];
        if (laws_kind->foreign->reach(geometry) > n - BLY_HEADER_BYTES)
            continue;
        for (size_t i = 0; i < IMAGE_GEOMETRY_FIELDS; i++)
            image_set_u64(image, IMAGE_GEOMETRY + 8 * i, geometry[i]);
        (void)laws_kind->contains(image, 7);
        if (KIND_HAS(laws_kind, whole, contains))
            (void)laws_kind->whole->contains(image, 0, "key", 3);
    }
    for (size_t i = 0; i < IMAGE_GEOMETRY_FIELDS; i++)
        image_set_u64(image, IMAGE_GEOMETRY + 8 * i, was[i]);
    bly_free(filter);
}

/* ---- The listing ------------------------------------------------------- */

static void law_it_is_listed(void **state)
{
    (void)state;
    size_t n, found = 0;
    const bly_format_info *const *formats = bly_formats(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(formats[i]->kind->name, laws_kind->name) == 0) {
            found++;
            assert_true(strlen(formats[i]->writer) > 0);
            assert_int_equal(formats[i]->recognised,
                             laws_kind->foreign->looks != NULL);
            assert_string_equal(formats[i]->kind->family, "foreign");
        }
    assert_int_equal(found, 1);
    assert_null(formats[n]);
    assert_non_null(bly_kind_find(laws_kind->name));
}

/* Returns whether it needs a library that was left out of the build. */
static bool laws_not_built(void)
{
    bly_plan_t plan;
    bly_spec spec = { .capacity = FEW };
    bool not = bly_plan(&plan, laws_spec(), &spec) == BLY_EUNSUPPORTED;
    if (not)
        printf("skipped: %s\n", bly_why());
    return not;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(law_empty_knows_nothing),
        cmocka_unit_test(law_no_false_negative),
        cmocka_unit_test(law_numbers_have_names),
        cmocka_unit_test(law_names_are_apart),
        cmocka_unit_test(law_rate_is_the_plan),
        cmocka_unit_test(law_a_key_is_told_as_seen),
        cmocka_unit_test(law_any_bytes),
        cmocka_unit_test(law_hashes_are_its_own),
        cmocka_unit_test(law_hashes_are_no_keys),
        cmocka_unit_test(law_no_hash_of_ones_own),
        cmocka_unit_test(law_a_file_is_the_filter),
        cmocka_unit_test(law_an_image_is_the_filter),
        cmocka_unit_test(law_what_tells_is_recognised),
        cmocka_unit_test(law_a_file_is_not_changed_in_place),
        cmocka_unit_test(law_a_changed_filter_is_saved),
        cmocka_unit_test(law_packed_as_a_file),
        cmocka_unit_test(law_saved_as_it_was_opened),
        cmocka_unit_test(law_other_formats_are_refused),
        cmocka_unit_test_teardown(law_every_option_makes_a_round_trip,
                                  laws_without_options),
        cmocka_unit_test_teardown(law_what_is_told_is_checked,
                                  laws_without_options),
        cmocka_unit_test(law_a_union_has_both),
        cmocka_unit_test(law_copy_and_like),
        cmocka_unit_test(law_every_truncation),
        cmocka_unit_test(law_every_damaged_byte),
        cmocka_unit_test(law_numbers_at_their_ends),
        cmocka_unit_test(law_any_file),
        cmocka_unit_test(law_reach),
        cmocka_unit_test(law_it_is_listed),
    };
    int failed = 0;
    for (size_t i = 0; registry_foreign[i] != NULL; i++) {
        laws_kind = registry_foreign[i];
        if (!test_mine(argc, argv, i) || laws_not_built())
            continue;
        failed += cmocka_run_group_tests_name(laws_kind->name, tests,
                                              folder_enter, folder_leave);
    }
    return failed != 0;
}
