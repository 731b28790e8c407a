/* released.c - files that released versions wrote, which every later version
 * must read.
 *
 * tests/released/VERSION/ has, as hex text, the file that this version saved
 * for each stable kind and for each format of other systems, with the keys
 * "key-0" … "key-99", planned for as many at 1 % with seed 7. Some more have
 * labels, another hash function or another form of keys. A line of its `table`
 * states the answers that the version gave:
 *
 *      FILE KIND ITEMS CAPACITY BYTES GEOMETRY FILL RATE DISTINCT FORM FORMAT
 *      PRESENT ABSENT
 *
 * GEOMETRY is four numbers. FORM is the form of keys, and FORMAT the one that
 * the bytes are recognised as, or "-". PRESENT is a checksum of what bly_count
 * and bly_get return for the keys. ABSENT is for the keys "absent-0" …
 * "absent-999": how many are found, and a checksum of which. FILL, RATE and
 * DISTINCT come from the C library's functions and are compared as numbers. A
 * file that is not recognised may later be. Everything else must be the same,
 * as must the bytes when the filter is saved again. These folders never change;
 * golden.c has the images of all choices, which may change while a kind is
 * experimental.
 *
 *      test_released --write FOLDER    makes the files and the table of this
 *                                      version (tools/make/released)
 */
#include "test.h"

#include <dirent.h>
#include <inttypes.h>

#include "bloomery/foreign.h"
#include "bloomery/nested.h"
#include "hex.h"

enum {
    KEYS = 100, ABSENT = 1000, SEED = 7, TEXT = 64, SPEC = 128, PATH = 1024,
    ROOM = 512, FIELDS = 4, COLUMNS = 17
};

static const char FOLDER[] = TEST_SOURCE_DIR "/tests/released";

/* The folders there. tools/make/released makes them. */
static const char *const versions[] = { "0.9" };

static const char SECRET[] = "sixteen secret b";

/* The block of bip158, whose files do not hold it. */
static const char BIP158[] = "bip158:block=00010203040506070809"
                             "0a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/* Choices with a format of their own, beside the default of each kind. */
static const char *const choices[] = {
    "standard:index=double", "standard:index=enhanced", "standard:index=seeds",
    "standard:index=step", "standard:index=triple", "rehash:by=tabulation",
    "counting:rule=least", "cuckoo:sorted=yes", "quotient:repeats=yes",
    "golomb:repeats=yes", "fuse:bits=7", "ribbon:bits=7",
    "ribbon:form=homogeneous", "approximator:parts=2", "twin:of=blocked",
    "scalable:of=blocked", "scalable:of=cuckoo", "compressed:of=partitioned",
    "layered:of=split", "attenuated:of=blocked", "cascade:of=xor",
    BIP158,
};

/* Hash functions and forms of keys, for "standard". */
static const char *const variants[] = {
    "xxh64", "murmur2", "murmur3", "fnv1a", "siphash", "text", "number",
    "int64", "domain",
};

/* A line of a table. */
typedef struct {
    char     file[TEXT], kind[SPEC];
    uint64_t items, capacity, bytes, geometry[FIELDS];
    double   fill, rate, distinct;
    char     form[BLY_FORM_TEXT], format[TEXT];
    uint64_t present, found, absent;
} answers;

static const char PRINTED[] = "%s %s %" PRIu64 " %" PRIu64 " %" PRIu64
    " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
    " %.17g %.17g %.17g %s %s %016" PRIx64 " %" PRIu64 " %016" PRIx64 "\n";
static const char READ[] = "%63s %127s %" SCNu64 " %" SCNu64 " %" SCNu64
    " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
    " %lf %lf %lf %63s %63s %" SCNx64 " %" SCNu64 " %" SCNx64;

static void join(char path[PATH], const char *folder, const char *name)
{
    assert_true(snprintf(path, PATH, "%s/%s", folder, name) < PATH);
}

/* Makes a key of a form. Numbers are 0 … for "key", and -1 … for others. */
static bly_key make_key(char room[ROOM], uint64_t form, const char *stem, int i)
{
    bool nests = bly_form_nests(form);
    int length = snprintf(room, TEXT, "%s-%d%s", stem, i, nests ? ".test" : "");
    bly_value value = { .type = BLY_WRITTEN, .data = room,
                        .length = (size_t)length };
    bly_key key;
    if (form == BLY_KEYS_NUMBER || form == BLY_KEYS_INT64)
        value = (bly_value){ .type = BLY_INTEGER,
                             .integer = strcmp(stem, "key") == 0 ? i : -1 - i };
    assert_true(bly_form_room(form, value.length) <= ROOM - TEXT);
    assert_status((nests ? bly_nested_key : bly_form_key)(&key, form, &value,
                                                          room + TEXT), BLY_OK);
    return key;
}

static bool contains(const bly_filter *filter, uint64_t form, bly_key key)
{
    uint16_t level = BLY_NESTED_NONE;
    if (!bly_form_nests(form))
        return bly_contains(filter, key.data, key.length);
    bly_nested_find(filter, form, &key, 1, &level);
    return level != BLY_NESTED_NONE;
}

static void mix(uint64_t *sum, uint64_t value)
{
    *sum = (*sum ^ value) * UINT64_C(0x100000001B3);
}

/* Asks a filter all that a line of the table states, except for its format. */
static void ask(answers *out, const bly_filter *filter)
{
    const uint64_t start = UINT64_C(0xCBF29CE484222325);
    uint64_t form = bly_form_of(filter);
    char room[ROOM];
    bly_info_t info;
    *out = (answers){ .present = start, .absent = start };
    assert_status(bly_info(&info, filter), BLY_OK);
    bly_form_write(out->form, form);
    out->items = info.items;
    out->capacity = info.capacity;
    out->bytes = info.bytes;
    memcpy(out->geometry, info.geometry, sizeof out->geometry);
    out->fill = info.fill;
    out->rate = info.rate;
    out->distinct = info.distinct;
    for (int i = 0; i < KEYS; i++) {
        bly_key key = make_key(room, form, "key", i);
        uint64_t label = UINT64_MAX;
        if (!contains(filter, form, key))
            fail_msg("%s: key-%d is not found", bly_kind_of(filter), i);
        mix(&out->present, bly_count(filter, key.data, key.length));
        bly_get(filter, key.data, key.length, &label);
        mix(&out->present, label);
    }
    for (int i = 0; i < ABSENT; i++) {
        bly_key key = make_key(room, form, "absent", i);
        bool found = contains(filter, form, key);
        out->found += found;
        mix(&out->absent, found);
    }
}

/* Returns the bytes that bly_save writes, to be freed. */
static uint8_t *saved(const bly_filter *filter, size_t *bytes)
{
    size_t room;
    assert_non_null(bly_image(filter, &room));
    uint8_t *copy = malloc(room);
    assert_non_null(copy);
    assert_status(bly_pack_as(filter, NULL, copy, room, bytes), BLY_OK);
    return copy;
}

static const char *recognise(const uint8_t *file, size_t bytes)
{
    const char *format = bly_recognise(file, bytes, bytes);
    return format != NULL ? format : "-";
}

/* Opens what was saved; the numbers that a file does not hold are then gone. A
 * file that is not recognised names no kind, so the table does. */
static bly_filter *opened(const char *kind, const uint8_t *file, size_t bytes)
{
    bly_filter *filter = NULL;
    bly_header header;
    bly_options options = { 0 };
    if (strcmp(recognise(file, bytes), "-") == 0)
        options.format = kind;
    if (bly_peek(&header, file, bytes) == BLY_OK
        && strcmp(header.hash, "siphash") == 0)
        options.secret = SECRET;
    bly_status status = bly_unpack(&filter, file, bytes, &options);
    if (status != BLY_OK)
        fail_msg("%s: %s (%s)", kind, bly_why(), bly_strerror(status));
    return filter;
}

/* ---- Writing ------------------------------------------------------------- */

/* Builds a filter. The variant is "labels", a hash function, a form of keys or
 * "". Returns NULL for a format that is only read. */
static bly_filter *build(const char *kind, const char *variant)
{
    static char room[KEYS][ROOM];
    unsigned char marker[2];
    bly_key keys[KEYS + 1];
    uint64_t labels[KEYS + 1];
    size_t n = KEYS;
    const bly_kind_info *info = bly_kind_find(kind);
    bool own = info == NULL || strcmp(info->family, "foreign") != 0;
    bool labelled = strcmp(variant, "labels") == 0;
    bly_filter *filter = NULL;
    bool siphash = strcmp(variant, "siphash") == 0;
    bly_spec spec = { .capacity = n, .rate = own ? 0.01 : 0,
                      .seed = own && !siphash ? SEED : 0,
                      .secret = siphash ? SECRET : NULL };
    bly_plan_t plan = { 0 };
    char sized[SPEC * 2];
    if (bly_form_read(&spec.form, variant) != BLY_OK && !labelled)
        spec.hash = variant;
    snprintf(sized, sizeof sized, "%s", kind);
    /* A scheme without a rate gets the size planned for the standard one. */
    if (own && bly_plan(&plan, kind, &spec) != BLY_OK) {
        assert_status(bly_plan(&plan, "standard", &spec), BLY_OK);
        snprintf(sized, sizeof sized, "%s,m=%" PRIu64 ",k=%" PRIu64, kind,
                 plan.geometry[0], plan.geometry[1]);
    }
    for (size_t i = 0; i < n; i++) {
        keys[i] = make_key(room[i], spec.form, "key", (int)i);
        labels[i] = plan.label_least + i % 2;
    }
    if (bly_form_nests(spec.form))
        keys[n++] = bly_nested_marker(marker, bly_nested_level(spec.form,
                                                               keys[0]));
    bly_status status = bly_build(&filter, sized, &spec, &(bly_keys){
        .n = n, .keys = keys, .labels = labelled ? labels : NULL });
    if (own || status != BLY_EUNSUPPORTED)
        assert_said(status, BLY_OK);
    return filter;
}

static bool write_one(const char *folder, FILE *table, const char *kind,
                      const char *variant)
{
    char path[PATH], name[TEXT], comment[SPEC * 2];
    bly_filter *filter = build(kind, variant);
    answers a;
    size_t bytes;
    if (filter == NULL)
        return true;
    uint8_t *file = saved(filter, &bytes);
    bly_free(filter);
    filter = opened(kind, file, bytes);
    ask(&a, filter);
    snprintf(name, sizeof name, "%.50s%s%s.hex", kind,
             *variant != '\0' ? "-" : "", variant);
    for (char *c = name; *c != '\0'; c++)
        if (*c == ':' || *c == '=' || *c == ',')
            *c = '-';
    join(path, folder, name);
    snprintf(comment, sizeof comment, "%s: key-0 .. key-%d, written by %s",
             kind, KEYS - 1, bly_version());
    bool good = hex_write(path, comment, file, bytes);
    fprintf(table, PRINTED, name, kind, a.items, a.capacity, a.bytes,
            a.geometry[0], a.geometry[1], a.geometry[2], a.geometry[3], a.fill,
            a.rate, a.distinct, a.form, recognise(file, bytes), a.present,
            a.found, a.absent);
    free(file);
    bly_free(filter);
    return good;
}

static bool write_all(const char *folder)
{
    char path[PATH];
    join(path, folder, "table");
    FILE *table = fopen(path, "w");
    bool good = table != NULL;
    size_t n;
    const bly_kind_info *const *kinds = bly_kinds(&n);
    for (size_t i = 0; good && i < n; i++)
        if (strcmp(kinds[i]->tier, "experimental") != 0)
            good = write_one(folder, table, kinds[i]->name, "")
                   && ((kinds[i]->can & BLY_CAN_LABEL) == 0
                       || write_one(folder, table, kinds[i]->name, "labels"));
    const bly_format_info *const *formats = bly_formats(&n);
    for (size_t i = 0; good && i < n; i++)
        if (strcmp(formats[i]->kind->name, "bip158") != 0)
            good = write_one(folder, table, formats[i]->kind->name, "");
    for (size_t i = 0; good && i < sizeof choices / sizeof *choices; i++)
        good = write_one(folder, table, choices[i], "");
    for (size_t i = 0; good && i < sizeof variants / sizeof *variants; i++)
        good = write_one(folder, table, "standard", variants[i]);
    return table != NULL && fclose(table) == 0 && good;
}

/* ---- Reading ------------------------------------------------------------- */

/* Compares numbers, which may be infinite. */
static void compare_numbers(double now, double then)
{
    if (now != then)
        assert_close(now, then, 1e-9);
}

static void compare_answers(const answers *now, const answers *then)
{
    if (now->items != then->items || now->capacity != then->capacity
        || now->bytes != then->bytes
        || memcmp(now->geometry, then->geometry, sizeof now->geometry) != 0
        || strcmp(now->form, then->form) != 0)
        fail_msg("%s: bly_info states other facts than the table", then->file);
    if (now->present != then->present)
        fail_msg("%s: counts or labels of its keys are others", then->file);
    if (now->found != then->found || now->absent != then->absent)
        fail_msg("%s: %" PRIu64 " absent keys are found, %" PRIu64 " were, or "
                 "they are others", then->file, now->found, then->found);
    compare_numbers(now->fill, then->fill);
    compare_numbers(now->rate, then->rate);
    compare_numbers(now->distinct, then->distinct);
}

static void check_file(const char *folder, const answers *then)
{
    char path[PATH];
    uint8_t *file;
    size_t bytes, again_bytes;
    answers now;
    join(path, folder, then->file);
    if (!hex_read(path, &file, &bytes))
        fail_msg("%s: missing or damaged: check it out again", path);
    if (strcmp(then->format, "-") != 0
        && strcmp(recognise(file, bytes), then->format) != 0)
        fail_msg("%s: it is no longer recognised", path);
    bly_filter *filter = opened(then->kind, file, bytes);
    ask(&now, filter);
    compare_answers(&now, then);
    uint8_t *again = saved(filter, &again_bytes);
    if (again_bytes != bytes || memcmp(again, file, bytes) != 0)
        fail_msg("%s: saved again, it has other bytes", path);
    free(again);
    free(file);
    bly_free(filter);
}

static size_t count_entries(const char *path)
{
    DIR *folder = opendir(path);
    size_t n = 0;
    if (folder == NULL)
        fail_msg("%s: cannot be read", path);
    for (const struct dirent *d; (d = readdir(folder)) != NULL; )
        n += d->d_name[0] != '.';
    closedir(folder);
    return n;
}

/* Checks all files of one version: those of its table, and no others. */
static void check_version(const char *folder)
{
    char path[PATH], line[PATH];
    size_t n = 0;
    answers a;
    join(path, folder, "table");
    FILE *table = fopen(path, "r");
    if (table == NULL)
        fail_msg("%s: cannot be read", path);
    for (; fgets(line, sizeof line, table) != NULL; n++) {
        int read = sscanf(line, READ, a.file, a.kind, &a.items, &a.capacity,
                          &a.bytes, &a.geometry[0], &a.geometry[1],
                          &a.geometry[2], &a.geometry[3], &a.fill, &a.rate,
                          &a.distinct, a.form, a.format, &a.present, &a.found,
                          &a.absent);
        if (read != COLUMNS)
            fail_msg("%s: line %zu is damaged", path, n + 1);
        check_file(folder, &a);
    }
    fclose(table);
    if (n == 0 || count_entries(folder) != n + 1)
        fail_msg("%s has %zu lines, but not as many files", path, n);
}

static void test_files_of_all_releases_are_read(void **state)
{
    (void)state;
    char path[PATH];
    size_t n = sizeof versions / sizeof *versions;
    for (size_t i = 0; i < n; i++) {
        join(path, FOLDER, versions[i]);
        check_version(path);
    }
    if (count_entries(FOLDER) != n)
        fail_msg("%s: a folder is not in the list of tests/released.c", FOLDER);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_of_all_releases_are_read),
    };
    if (argc == 3 && strcmp(argv[1], "--write") == 0) {
        if (write_all(argv[2]))
            return 0;
        fprintf(stderr, "released: cannot write to %s\n", argv[2]);
        return 2;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
