/* released.c - files that released versions wrote, which every later version
 * must read.
 *
 * tests/released/VERSION/ has, as hex text, the file that this version saved
 * for each stable kind and for each format of other systems, with the keys
 * "key-0" … "key-99" (fewer for `egh`), planned for as many at 1 % with seed 7.
 * A line of its `table` states the answers that the version gave:
 *
 *      FILE KIND ITEMS CAPACITY BYTES GEOMETRY FILL RATE DISTINCT ANSWERS
 *
 * GEOMETRY is four numbers, and ANSWERS is for the keys "absent-0" …
 * "absent-999": how many are found, and a checksum of which. FILL, RATE and
 * DISTINCT come from the C library's functions and are compared as numbers.
 * Everything else must be the same, as must the bytes when the filter is saved
 * again. These folders never change; golden.c has the images of all choices,
 * which may change while a kind is experimental.
 *
 *      test_released --write FOLDER    makes the files and the table of this
 *                                      version (tools/make/released)
 */
#include "test.h"

#include <dirent.h>
#include <inttypes.h>

#include "bloomery/foreign.h"
#include "hex.h"

enum {
    KEYS = 100, ABSENT = 1000, SEED = 7, TEXT = 64, SPEC = 128, PATH = 1024,
    FIELDS = 4
};

static const char FOLDER[] = TEST_SOURCE_DIR "/tests/released";

/* The block of bip158, whose files do not hold it. */
#define BLOCK "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

/* Choices with a format of their own, beside the default of each kind. */
static const char *const choices[] = {
    "standard:index=double", "standard:index=enhanced", "standard:index=seeds",
    "standard:index=step", "standard:index=triple", "rehash:by=tabulation",
    "counting:rule=least", "cuckoo:sorted=yes", "quotient:repeats=yes",
    "golomb:repeats=yes", "fuse:bits=7", "ribbon:bits=7",
    "ribbon:form=homogeneous", "approximator:parts=2", "twin:of=blocked",
    "scalable:of=blocked", "scalable:of=cuckoo", "compressed:of=partitioned",
    "layered:of=split", "attenuated:of=blocked", "cascade:of=xor",
    "bip158:block=" BLOCK,
};

/* A line of a table. */
typedef struct {
    char     file[TEXT], kind[SPEC];
    uint64_t items, capacity, bytes, geometry[FIELDS];
    double   fill, rate, distinct;
    uint64_t found, sum;
} answers;

static const char PRINTED[] = "%s %s %" PRIu64 " %" PRIu64 " %" PRIu64
    " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
    " %.17g %.17g %.17g %" PRIu64 " %016" PRIx64 "\n";
static const char READ[] = "%63s %127s %" SCNu64 " %" SCNu64 " %" SCNu64
    " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
    " %lf %lf %lf %" SCNu64 " %" SCNx64;

/* Returns fewer keys for a kind whose size rises with the square of their
 * number. */
static int count_keys(const char *kind)
{
    return strncmp(kind, "egh", 3) == 0 ? KEYS / 10 : KEYS;
}

static void join(char path[PATH], const char *folder, const char *name)
{
    assert_true(snprintf(path, PATH, "%s/%s", folder, name) < PATH);
}

/* Files of other systems name no kind, so the table does. */
static bly_options options_of(const char *kind)
{
    const bly_kind_info *info = bly_kind_find(kind);
    bool foreign = info != NULL && strcmp(info->family, "foreign") == 0;
    return (bly_options){ .format = foreign ? kind : NULL };
}

static int contains(const bly_filter *filter, const char *stem, int i)
{
    char text[TEXT];
    int length = snprintf(text, sizeof text, "%s-%d", stem, i);
    return bly_contains(filter, text, (size_t)length);
}

/* Asks a filter all that a line of the table states. */
static void ask(answers *out, const char *kind, const bly_filter *filter)
{
    bly_info_t info;
    *out = (answers){ .sum = UINT64_C(0xCBF29CE484222325) };
    assert_status(bly_info(&info, filter), BLY_OK);
    snprintf(out->kind, sizeof out->kind, "%s", kind);
    snprintf(out->file, sizeof out->file, "%.50s.hex", kind);
    for (char *c = out->file; *c != '\0'; c++)
        if (*c == ':' || *c == '=' || *c == ',')
            *c = '-';
    out->items = info.items;
    out->capacity = info.capacity;
    out->bytes = info.bytes;
    memcpy(out->geometry, info.geometry, sizeof out->geometry);
    out->fill = info.fill;
    out->rate = info.rate;
    out->distinct = info.distinct;
    for (int i = 0; i < ABSENT; i++) {
        uint64_t found = (uint64_t)contains(filter, "absent", i);
        out->found += found;
        out->sum = (out->sum ^ found) * UINT64_C(0x100000001B3);
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

/* Opens what was saved; the numbers that a file does not hold are then gone. */
static bly_filter *opened(const char *kind, const uint8_t *file, size_t bytes)
{
    bly_filter *filter = NULL;
    bly_options options = options_of(kind);
    bly_status status = bly_unpack(&filter, file, bytes, &options);
    if (status != BLY_OK)
        fail_msg("%s: %s (%s)", kind, bly_why(), bly_strerror(status));
    return filter;
}

/* ---- Writing ------------------------------------------------------------- */

/* Returns NULL for a format that is only read. */
static bly_filter *build(const char *kind)
{
    char text[KEYS][TEXT];
    bly_key keys[KEYS];
    int n = count_keys(kind);
    bool own = options_of(kind).format == NULL;
    bly_filter *filter = NULL;
    bly_spec spec = { .capacity = (uint64_t)n, .rate = own ? 0.01 : 0,
                      .seed = own ? SEED : 0 };
    bly_plan_t plan;
    char sized[SPEC * 2];
    for (int i = 0; i < n; i++)
        keys[i] = (bly_key){ text[i], (size_t)snprintf(text[i], TEXT, "key-%d",
                                                       i) };
    snprintf(sized, sizeof sized, "%s", kind);
    /* A scheme without a rate gets the size planned for the standard one. */
    if (own && bly_plan(&plan, kind, &spec) != BLY_OK) {
        assert_status(bly_plan(&plan, "standard", &spec), BLY_OK);
        snprintf(sized, sizeof sized, "%s,m=%" PRIu64 ",k=%" PRIu64, kind,
                 plan.geometry[0], plan.geometry[1]);
    }
    bly_status status = bly_build(&filter, sized, &spec,
                                  &(bly_keys){ .n = (size_t)n, .keys = keys });
    if (own || status != BLY_EUNSUPPORTED)
        assert_said(status, BLY_OK);
    return filter;
}

static bool write_one(const char *folder, FILE *table, const char *kind)
{
    char path[PATH], comment[SPEC * 2];
    bly_filter *filter = build(kind);
    answers a;
    size_t bytes;
    if (filter == NULL)
        return true;
    uint8_t *file = saved(filter, &bytes);
    bly_free(filter);
    filter = opened(kind, file, bytes);
    ask(&a, kind, filter);
    join(path, folder, a.file);
    snprintf(comment, sizeof comment, "%s: key-0 .. key-%d, written by %s",
             kind, count_keys(kind) - 1, bly_version());
    bool good = hex_write(path, comment, file, bytes);
    fprintf(table, PRINTED, a.file, a.kind, a.items, a.capacity, a.bytes,
            a.geometry[0], a.geometry[1], a.geometry[2], a.geometry[3], a.fill,
            a.rate, a.distinct, a.found, a.sum);
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
            good = write_one(folder, table, kinds[i]->name);
    const bly_format_info *const *formats = bly_formats(&n);
    for (size_t i = 0; good && i < n; i++)
        if (strcmp(formats[i]->kind->name, "bip158") != 0)
            good = write_one(folder, table, formats[i]->kind->name);
    for (size_t i = 0; good && i < sizeof choices / sizeof *choices; i++)
        good = write_one(folder, table, choices[i]);
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
        || memcmp(now->geometry, then->geometry, sizeof now->geometry) != 0)
        fail_msg("%s: bly_info states other numbers than the table",
                 then->file);
    if (now->found != then->found || now->sum != then->sum)
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
    bly_filter *filter = opened(then->kind, file, bytes);
    for (int i = 0; i < count_keys(then->kind); i++)
        if (!contains(filter, "key", i))
            fail_msg("%s: key-%d is not found", path, i);
    ask(&now, then->kind, filter);
    compare_answers(&now, then);
    uint8_t *again = saved(filter, &again_bytes);
    if (again_bytes != bytes || memcmp(again, file, bytes) != 0)
        fail_msg("%s: saved again, it has other bytes", path);
    free(again);
    free(file);
    bly_free(filter);
}

/* Checks all files of one version; returns their number. */
static size_t check_version(const char *folder)
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
                          &a.distinct, &a.found, &a.sum);
        if (read != 14)
            fail_msg("%s: line %zu is damaged", path, n + 1);
        check_file(folder, &a);
    }
    fclose(table);
    return n;
}

static void test_files_of_all_releases_are_read(void **state)
{
    (void)state;
    DIR *folder = opendir(FOLDER);
    char path[PATH];
    size_t files = 0;
    assert_non_null(folder);
    for (const struct dirent *d; (d = readdir(folder)) != NULL; ) {
        if (d->d_name[0] == '.')
            continue;
        join(path, FOLDER, d->d_name);
        files += check_version(path);
    }
    closedir(folder);
    assert_true(files > 0);
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
