/* look.c - reading a filter's properties without opening it, noticing changed
 * files, making filters from plans alone, and reserved fields.
 */
#include "test.h"
#include "bloomery/advice.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "forge.h"
#include "hex.h"
#include "verbs/each.h"

static char look_path[64];

static int look_setup(void **state)
{
    (void)state;
    snprintf(look_path, sizeof look_path, "verbs-look-%ld.bly",
             (long)getpid());
    return 0;
}

static void look_write(const void *bytes, size_t n)
{
    FILE *file = fopen(look_path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

/* ---- Headers ------------------------------------------------------------ */

static bly_status look_peek_both(bly_header *h, const uint8_t *image, size_t n)
{
    bly_header by_file;
    memset(&by_file, 0x77, sizeof by_file);
    look_write(image, n);
    bly_status status = bly_peek(h, image, n);
    assert_status(bly_peek_file(&by_file, look_path), status);
    if (status == BLY_OK)
        assert_memory_equal(&by_file, h, sizeof by_file);
    else
        assert_int_equal(by_file.bytes, UINT64_C(0x7777777777777777));
    unlink(look_path);
    return status;
}

/* Compares a header with the bytes, by docs/format. */
static void look_same(const bly_header *h, const uint8_t *image)
{
    static const bly_header none;
    uint64_t rate;
    memcpy(&rate, &h->rate, sizeof rate);
    assert_int_equal(rate, forge_u64(image, FORGE_RATE));
    assert_int_equal(h->bytes, forge_u64(image, FORGE_BYTES));
    assert_int_equal(h->items, forge_u64(image, FORGE_ITEMS));
    assert_int_equal(h->capacity, forge_u64(image, FORGE_CAPACITY));
    assert_int_equal(h->seed, forge_u64(image, FORGE_SEED));
    assert_int_equal(h->version, image[FORGE_VERSION]);
    assert_memory_equal(h->kind, image + FORGE_KIND, 16);
    assert_memory_equal(h->hash, image + FORGE_HASH, 8);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(h->geometry[i],
                         forge_u64(image, FORGE_GEOMETRY + 8 * i));
    assert_memory_equal(h->reserved, none.reserved, sizeof none.reserved);
    assert_false(h->zero);
}

static void look_image(const char *kind, uint8_t *image, size_t bytes,
                       bool packed)
{
    bly_header h;
    uint8_t whole[BLY_HEADER_BYTES];
    each_status(kind, look_peek_both(&h, image, bytes), BLY_OK);
    look_same(&h, image);
    each_true(kind, h.known && h.sealed && h.packed == packed);
    memcpy(whole, image, sizeof whole);
    each_status(kind, look_peek_both(&h, whole, sizeof whole), BLY_OK);
    each_true(kind, h.packed == packed);

    memset(&h, 0x66, sizeof h);
    each_status(kind, look_peek_both(&h, whole, sizeof whole - 1),
                BLY_ECORRUPT);
    each_status(kind, look_peek_both(&h, whole, 7), BLY_EFORMAT);
    each_status(kind, look_peek_both(&h, whole, 0), BLY_EFORMAT);
    each_true(kind, h.bytes == UINT64_C(0x6666666666666666));

    forge_set_u64(whole, FORGE_PAYLOAD_SUM, 0);
    forge_seal_header(whole);
    each_status(kind, look_peek_both(&h, whole, sizeof whole), BLY_OK);
    each_true(kind, !h.sealed && h.known);
    whole[FORGE_KIND + 15] = 'x';
    forge_seal_header(whole);
    each_status(kind, look_peek_both(&h, whole, sizeof whole), BLY_OK);
    each_true(kind, !h.known && !h.packed);
    memcpy(whole, image, sizeof whole);
    whole[FORGE_VERSION] = (uint8_t)(whole[FORGE_VERSION] + 1);
    forge_seal_header(whole);
    each_status(kind, look_peek_both(&h, whole, sizeof whole), BLY_OK);
    each_true(kind, !h.known && h.version == whole[FORGE_VERSION]);
    memcpy(whole, image, sizeof whole);
    whole[FORGE_FORM] = 0x52;
    forge_seal_header(whole);
    each_status(kind, look_peek_both(&h, whole, sizeof whole), BLY_OK);
    each_true(kind, h.known && h.form == 0x52);
    whole[FORGE_FORM] = 0x51;
    forge_seal_header(whole);
    each_status(kind, look_peek_both(&h, whole, sizeof whole), BLY_EVERSION);
}

/* A changed byte of the header is detected, wherever it is. */
static void look_damaged(const char *kind, const uint8_t *image)
{
    uint8_t bad[BLY_HEADER_BYTES];
    bly_header h;
    for (size_t at = 0; at < sizeof bad; at++) {
        memcpy(bad, image, sizeof bad);
        bad[at] ^= 0x10;
        bly_status wanted = at < FORGE_KIND ? BLY_EFORMAT
                          : at >= FORGE_FORMAT && at < FORGE_FORM
                          ? BLY_EVERSION : BLY_ECORRUPT;
        each_status(kind, bly_peek(&h, bad, sizeof bad), wanted);
    }
}

static void look_visit_golden(const char *kind, const bly_kind_info *info)
{
    char path[512];
    for (int packed = 0; packed <= ((info->can & BLY_CAN_PACK) != 0);
         packed++) {
        uint8_t *image;
        size_t bytes;
        int at = snprintf(path, sizeof path, "%s/tests/golden/%s",
                          TEST_SOURCE_DIR, packed ? "packed-" : "");
        snprintf(path + at, sizeof path - (size_t)at, "%.*s.hex",
                 (int)strcspn(kind, ","), kind);
        for (char *c = path + at; *c != '\0'; c++)
            if (*c == ':' || *c == '=')
                *c = '-';
        if (packed && strchr(kind, ':') != NULL)
            continue;
        assert_true(hex_read(path, &image, &bytes));
        look_image(kind, image, bytes, packed != 0);
        look_damaged(kind, image);
        free(image);
    }
}

static void test_golden_headers(void **state)
{
    (void)state;
    each_choice(look_visit_golden);
}

/* Looking at a future kind is not an error, and keeps the last error. */
static void test_unknown_kind_is_no_error(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = 10 };
    bly_filter *filter = each_built("standard", &spec, 1, 5);
    uint8_t header[BLY_HEADER_BYTES];
    char before[1024];
    bly_header h;
    bly_plan_t plan;
    memcpy(header, bly_image(filter, NULL), sizeof header);
    memcpy(header + FORGE_KIND, "tomorrows\0\0\0\0\0\0", 16);
    forge_seal_header(header);
    assert_status(bly_plan(&plan, "nonsense", &spec), BLY_EKIND);
    snprintf(before, sizeof before, "%s", bly_why());
    assert_int_equal(bly_peek(&h, header, sizeof header), BLY_OK);
    assert_false(h.known);
    assert_string_equal(h.kind, "tomorrows");
    assert_string_equal(bly_why(), before);
    bly_free(filter);
}

/* The header of a filter is that of its image, before and after changes, and
 * knows the adds that the image does not state yet. */
static bool look_visit_filter(const bly_kind_info *kind)
{
    bly_spec spec = { .capacity = 100, .seed = 7 };
    bly_filter *filter = NULL;
    bly_header now, header;
    if (bly_new(&filter, kind->name, &spec) < 0)
        return false;
    for (uint64_t i = 0; i < 3; i++) {
        size_t bytes;
        bly_header_of(&now, filter);
        assert_int_equal(now.items, i);
        const void *image = bly_image(filter, &bytes);
        each_status(kind->name, bly_peek(&header, image, bytes), BLY_OK);
        bly_header_of(&now, filter);
        assert_memory_equal(&now, &header, sizeof now);
        assert_true(now.sealed);
        each_status(kind->name, bly_add(filter, &i, sizeof i), BLY_OK);
        bly_header_of(&now, filter);
        assert_false(now.sealed);
    }
    bly_free(filter);
    return true;
}

static void test_headers_of_filters(void **state)
{
    (void)state;
    size_t n, tried = 0;
    const bly_kind_info *const *kinds = bly_kinds(&n);
    for (size_t i = 0; i < n; i++)
        if ((kinds[i]->can & BLY_CAN_ADD) != 0
            && (kinds[i]->can & BLY_CAN_SEPARATE) == 0)
            tried += look_visit_filter(kinds[i]);
    assert_true(tried > 10);
}

static void test_no_such_file(void **state)
{
    (void)state;
    bly_header h = { .bytes = 5 };
    assert_status(bly_peek_file(&h, "no-such-file.bly"), BLY_EIO);
    assert_status(bly_peek_file(&h, "."), BLY_EIO);
    assert_int_equal(h.bytes, 5);
}

/* ---- Replaced ----------------------------------------------------------- */

static bly_filter *look_saved(int flags)
{
    bly_spec spec = { .capacity = 100 };
    bly_filter *filter = each_built("standard", &spec, 1, 50), *opened = NULL;
    assert_status(bly_save(filter, look_path), BLY_OK);
    bly_free(filter);
    assert_status(bly_open(&opened, look_path, flags, NULL), BLY_OK);
    return opened;
}

static bool look_replaced(const bly_filter *filter)
{
    bool replaced = true;
    assert_status(bly_replaced(&replaced, filter, look_path), BLY_OK);
    return replaced;
}

/* Sets another time, however quickly the test runs. */
static void look_touch(time_t seconds)
{
    struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };
    assert_int_equal(utimensat(AT_FDCWD, look_path, times, 0), 0);
}

static void test_replaced(void **state)
{
    (void)state;
    static const int flags[] = { 0, BLY_MAP, BLY_MAP | BLY_VERIFY,
                                 BLY_MAP | BLY_WRITE };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        bly_filter *filter = look_saved(flags[i]);
        assert_false(look_replaced(filter));
        bly_filter *newer = look_saved(0);          /* saved over */
        assert_true(look_replaced(filter));
        assert_false(look_replaced(newer));
        bly_free(filter);
        bly_free(newer);

        filter = look_saved(flags[i]);
        unlink(look_path);
        bool untouched = true;
        assert_status(bly_replaced(&untouched, filter, look_path), BLY_EIO);
        assert_true(untouched);
        bly_free(filter);
    }
}

/* Second, file and size are equal: only the nanoseconds differ. */
static void test_written_within_a_second(void **state)
{
    (void)state;
    bly_filter *filter = look_saved(0), *same = NULL;
    look_touch(1000000000);
    assert_status(bly_open(&same, look_path, 0, NULL), BLY_OK);
    struct timespec times[2] = { { .tv_sec = 1000000000, .tv_nsec = 1000000 },
                                 { .tv_sec = 1000000000, .tv_nsec = 1000000 } };
    assert_false(look_replaced(same));
    assert_int_equal(utimensat(AT_FDCWD, look_path, times, 0), 0);
    assert_true(look_replaced(same));
    bly_free(filter);
    bly_free(same);
    unlink(look_path);
}

static void test_written_in_place(void **state)
{
    (void)state;
    for (int map = 0; map <= BLY_MAP; map += BLY_MAP) {
        bly_filter *filter = look_saved(map);
        look_touch(1000000000);
        assert_true(look_replaced(filter));
        bly_free(filter);
        filter = look_saved(map);
        assert_int_equal(truncate(look_path, 100000), 0);
        assert_true(look_replaced(filter));
        bly_free(filter);
    }
    unlink(look_path);
}

/* Our own writes do not count as a replacement. */
static void test_written_by_us(void **state)
{
    (void)state;
    bly_filter *filter = look_saved(BLY_MAP | BLY_WRITE);
    look_touch(1000000000);
    assert_status(bly_add(filter, "new", 3), BLY_OK);
    assert_false(look_replaced(filter));
    assert_status(bly_seal(filter), BLY_OK);
    assert_false(look_replaced(filter));
    bly_free(filter);
    unlink(look_path);
}

static void test_of_no_file(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = 100 };
    bly_filter *made = each_built("standard", &spec, 1, 50);
    bly_filter *other = NULL;
    bool untouched = true;
    size_t bytes;
    const void *image = bly_image(made, &bytes);
    look_write("", 0);
    assert_status(bly_replaced(&untouched, made, look_path), BLY_EUNSUPPORTED);
    assert_status(bly_wrap(&other, image, bytes, NULL), BLY_OK);
    assert_status(bly_replaced(&untouched, other, look_path),
                  BLY_EUNSUPPORTED);
    bly_free(other);
    assert_status(bly_unpack(&other, image, bytes, NULL), BLY_OK);
    assert_status(bly_replaced(&untouched, other, look_path),
                  BLY_EUNSUPPORTED);
    bly_free(other);
    bly_free(made);
    other = look_saved(0);
    assert_status(bly_copy(&made, other, NULL), BLY_OK);
    assert_status(bly_replaced(&untouched, made, look_path), BLY_EUNSUPPORTED);
    assert_true(untouched);
    bly_free(made);
    bly_free(other);
    unlink(look_path);
}

/* Paged files behave alike. */
static void look_visit_paged(const char *kind, const bly_kind_info *info)
{
    if ((info->can & BLY_CAN_PAGE) == 0)
        return;
    bly_spec spec = { .capacity = 100 };
    bly_filter *filter = each_built(kind, &spec, 1, 50), *opened = NULL;
    each_status(kind, bly_save(filter, look_path), BLY_OK);
    each_status(kind, bly_open(&opened, look_path, BLY_PAGED, NULL), BLY_OK);
    each_true(kind, !look_replaced(opened));
    each_status(kind, bly_save(filter, look_path), BLY_OK);
    each_true(kind, look_replaced(opened));
    bly_free(opened);
    each_status(kind, bly_open(&opened, look_path, BLY_PAGED | BLY_WRITE,
                               NULL), BLY_OK);
    each_status(kind, bly_add(opened, "new", 3), BLY_OK);
    each_status(kind, bly_seal(opened), BLY_OK);
    each_true(kind, !look_replaced(opened));
    bly_free(opened);
    bly_free(filter);
    unlink(look_path);
}

static void test_replaced_paged(void **state)
{
    (void)state;
    each_kind(look_visit_paged);
}

/* Rewrites the file with a later time at every allocation. */
static void *look_disturb(void *context, size_t alignment, size_t bytes)
{
    struct timespec times[2] = { { .tv_sec = 0 }, { .tv_sec = 0 } };
    void *memory = NULL;
    times[1].tv_sec = ++*(time_t *)context;
    if (utimensat(AT_FDCWD, look_path, times, 0) != 0
        || posix_memalign(&memory, alignment, bytes) != 0)
        return NULL;
    return memory;
}

static void look_give_back(void *context, void *memory, size_t bytes)
{
    (void)context, (void)bytes;
    free(memory);
}

/* A file that is written after its header was read counts as replaced. */
static void test_replaced_while_opening(void **state)
{
    (void)state;
    time_t now = 1000;
    const bly_allocator memory = { look_disturb, look_give_back, &now };
    const bly_options options = { .allocator = &memory };
    static const int flags[] = { 0, BLY_MAP, BLY_PAGED };
    bly_spec spec = { .capacity = 100 };
    bly_filter *filter = each_built("buffered", &spec, 1, 50), *opened = NULL;
    for (size_t i = 0; i < 3; i++) {
        assert_status(bly_save(filter, look_path), BLY_OK);
        assert_status(bly_open(&opened, look_path, flags[i], &options),
                      BLY_OK);
        assert_true(look_replaced(opened));
        bly_free(opened);
    }
    bly_free(filter);
    unlink(look_path);
}

/* ---- From a plan -------------------------------------------------------- */

static unsigned look_planned;           /* kinds for which a plan suffices */

static void look_visit_plan(const char *kind, const bly_kind_info *info)
{
    static const double rates[] = { 0.3, 0.01, 1e-6 };
    bool can = true;
    for (size_t r = 0; r < 3; r++) {
        bly_spec spec = { .capacity = each_room(kind, 1000),
                          .rate = rates[r], .seed = 11, .hash = "xxh64" };
        bly_spec hashing = { .seed = 11, .hash = "xxh64" };
        bly_plan_t plan;
        bly_filter *made = NULL, *planned = NULL;
        each_status(kind, bly_plan(&plan, kind, &spec), BLY_OK);
        bly_status status = bly_new_planned(&planned, &plan, &hashing);
        can = status == BLY_OK;
        each_true(kind, can || status == BLY_EUNSUPPORTED);
        if (!can) {
            each_true(kind, planned == NULL);
            continue;
        }
        each_true(kind, each_adds(info));
        each_status(kind, bly_new(&made, kind, &spec), BLY_OK);
        each_true(kind, each_same(made, planned));
        each_status(kind, bly_add(planned, "x", 1), BLY_OK);
        each_status(kind, bly_add(made, "x", 1), BLY_OK);
        each_true(kind, each_same(made, planned));
        bly_free(made);
        bly_free(planned);
    }
    look_planned += can;
}

static void test_planned_is_new(void **state)
{
    (void)state;
    look_planned = 0;
    each_choice(look_visit_plan);
    assert_true(look_planned >= 8);     /* not refused by all */
}

/* ---- Plans are kept ----------------------------------------------------- */

/* Returns the status of bly_new or, for a kind that is only built, of
 * bly_build. */
static bly_status look_make(const char *kind, const bly_kind_info *info,
                            const bly_spec *spec)
{
    bly_filter *filter = NULL;
    uint64_t one = 5, label = 1;
    bool separates = (info->can & BLY_CAN_SEPARATE) != 0;
    bly_keys keys = { .n = 1, .hashes = &one,
                      .labels = separates ? &label : NULL };
    bly_status status = each_adds(info) ? bly_new(&filter, kind, spec)
                      : bly_build(&filter, kind, spec, &keys);
    bly_free(filter);
    return status;
}

static void look_visit_refused(const char *kind, const bly_kind_info *info)
{
    static const char *const hashes[] = {
        "xxh3", "xxh64", "murmur2", "murmur3", "fnv1a", "siphash", "identity",
        "decimal", "none",
    };
    for (size_t i = 0; i < sizeof hashes / sizeof *hashes; i++)
        for (uint64_t capacity = 0; capacity < 100; capacity += 50) {
            bly_spec spec = { .capacity = capacity, .hash = hashes[i] };
            bly_plan_t plan;
            if (strcmp(hashes[i], "siphash") == 0)
                spec.secret = "sixteen of bytes";
            bly_status planned = bly_plan(&plan, kind, &spec);
            if (capacity > 0 || each_adds(info))
                each_status(kind, look_make(kind, info, &spec), planned);
        }
}

/* Over kinds, choices and hash functions: exactly what can be made can be
 * planned. */
static void test_plan_refuses_what_new_does(void **state)
{
    (void)state;
    each_choice(look_visit_refused);
}

static void test_planned_null_spec(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = 100 };
    bly_plan_t plan;
    bly_filter *made = NULL, *planned = NULL;
    assert_status(bly_plan(&plan, "blocked", &spec), BLY_OK);
    assert_status(bly_new(&made, "blocked", &spec), BLY_OK);
    assert_status(bly_new_planned(&planned, &plan, NULL), BLY_OK);
    assert_true(each_same(made, planned));
    bly_free(made);
    bly_free(planned);
}

/* Has no memory for a forged plan's request. */
static void *look_allocate(void *context, size_t alignment, size_t bytes)
{
    void *memory = NULL;
    (void)context;
    if (bytes > (size_t)4 << 20)
        return NULL;
    return posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}

static void look_release(void *context, void *memory, size_t bytes)
{
    (void)context, (void)bytes;
    free(memory);
}

static const bly_allocator look_memory = { .allocate = look_allocate,
                                           .release = look_release };

/* Returns a forger's number: 0, the maximum, or a neighbour of the old one. */
static uint64_t look_forged(uint64_t was, uint64_t random)
{
    switch (random % 8) {
    case 0: return 0;
    case 1: return UINT64_MAX;
    case 2: return was + 1;
    case 3: return was - 1;
    case 4: return was * 2;
    case 5: return random >> (random >> 8) % 64;
    case 6: return was ^ UINT64_C(1) << (random >> 8) % 64;
    default: return was;
    }
}

static void look_forge_rate(bly_plan_t *plan, uint64_t random)
{
    const double rates[] = { (double)NAN, -1, -0.0, 0, 1, 1.5,
                             (double)INFINITY, 0.5 };
    plan->rate = rates[random % 8];
}

static void look_forge_kind(bly_plan_t *plan, uint64_t random)
{
    static const char *const others[] = {
        "", "standard:k=3", "blocked:", "nonsense", "cuckoo", "egh",
        "buffered", "quotient", "standard,k=3", "scalable",
    };
    if (random % 4 == 0)
        memset(plan->kind, 'a' + (int)(random >> 8) % 26, sizeof plan->kind);
    else if (random % 4 == 1)
        memcpy(plan->kind, "standard:k=9,index=triple", sizeof plan->kind);
    else
        strcpy(plan->kind, others[(random >> 8) % 10]);
}

/* Changes one field or several, mostly geometry. */
static void look_forge(bly_plan_t *plan, uint64_t stream)
{
    uint64_t fields = 1 + test_random(stream, 0) % 3;
    for (uint64_t i = 1; i <= fields; i++) {
        uint64_t random = test_random(stream, i) >> 8;
        uint64_t field = test_random(stream, i) % 10;
        if (field < 4)
            plan->geometry[field] = look_forged(plan->geometry[field], random);
        else if (field < 7)
            plan->bytes = look_forged(plan->bytes, random);
        else if (field == 7)
            plan->capacity = look_forged(plan->capacity, random);
        else if (field == 8)
            look_forge_rate(plan, random);
        else
            look_forge_kind(plan, random);
    }
}

/* The result is a filter that others can open and programs can use. */
static void look_use(const bly_plan_t *plan, bly_filter *filter)
{
    size_t bytes;
    bly_info_t stat;
    for (uint64_t i = 0; i < 40; i++)
        if (bly_add_hash(filter, test_random(3, i)) >= 0
            && bly_kind_find(plan->kind)->can & BLY_CAN_CONTAINS)
            (void)bly_contains_hash(filter, test_random(3, i));
    assert_status(bly_info(&stat, filter), BLY_OK);
    assert_string_equal(stat.kind, plan->kind);
    const void *image = bly_image(filter, &bytes);
    assert_int_equal(bytes, plan->bytes);
    each_status(plan->kind, bly_check(image, bytes, NULL), BLY_OK);
}

static void test_forged_plans(void **state)
{
    (void)state;
    enum { FORGED = 20000, KINDS = 64, SIZES = 3 };
    static bly_plan_t sound[KINDS * SIZES];
    static const uint64_t sizes[SIZES] = { 1, 30, 300 };
    size_t plans = 0, kinds, made = 0, refused = 0;
    const bly_kind_info *const *kind = bly_kinds(&kinds);
    assert_true(kinds <= KINDS);
    for (size_t k = 0; k < kinds; k++)
        for (size_t s = 0; s < SIZES; s++) {
            bly_spec spec = { .capacity = each_room(kind[k]->name, sizes[s]) };
            assert_status(bly_plan(&sound[plans++], kind[k]->name, &spec),
                          BLY_OK);
        }
    bly_spec spec = { .allocator = &look_memory, .seed = 3 };
    for (uint64_t i = 0; i < FORGED; i++) {
        bly_plan_t plan = sound[i % plans];
        bly_filter *filter = NULL;
        look_forge(&plan, 1000 + i);
        bly_status status = bly_new_planned(&filter, &plan, &spec);
        assert_true((status == BLY_OK) == (filter != NULL));
        if (status == BLY_OK)
            look_use(&plan, filter);
        made += status == BLY_OK;
        refused += status == BLY_EPARAM;
        bly_free(filter);
    }
    assert_true(made > FORGED / 100 && refused > FORGED / 10);
}

/* ---- Reserved fields, missing specs ------------------------------------- */

static void look_spec_refused(const bly_spec *spec)
{
    bly_filter *untouched = (bly_filter *)look_path;
    bly_spec sound = { .capacity = 10 };
    bly_plan_t plan, real;
    uint64_t hash = 1;
    bly_keys keys = { .n = 1, .data = "a", .width = 1 };
    assert_status(bly_plan(&real, "standard", &sound), BLY_OK);
    for (const bly_kind_info *const *k = bly_kinds(NULL); *k != NULL; k++) {
        const char *kind = (*k)->name;
        each_status(kind, bly_plan(&plan, kind, spec), BLY_EPARAM);
        each_status(kind, bly_new(&untouched, kind, spec), BLY_EPARAM);
        each_status(kind, bly_build(&untouched, kind, spec,
                                    &(bly_keys){ .n = 1, .hashes = &hash }),
                    BLY_EPARAM);
        each_status(kind, bly_build(&untouched, kind, spec, &keys),
                    BLY_EPARAM);
        each_status(kind, bly_hash_many(&hash, kind, spec, &keys), BLY_EPARAM);
    }
    assert_status(bly_new_planned(&untouched, &real, spec), BLY_EPARAM);
    assert_ptr_equal(untouched, look_path);
}

static void test_reserved_of_specs(void **state)
{
    (void)state;
    for (size_t i = 0; i < 7; i++) {
        bly_spec spec = { .capacity = 10 };
        spec.reserved[i] = 1;
        look_spec_refused(&spec);
    }
}

static void look_options_refused(const bly_options *options)
{
    bly_spec spec = { .capacity = 10 };
    bly_filter *filter = each_built("standard", &spec, 1, 5);
    bly_filter *untouched = (bly_filter *)look_path;
    size_t bytes;
    const void *image = bly_image(filter, &bytes);
    assert_status(bly_save(filter, look_path), BLY_OK);
    assert_status(bly_open(&untouched, look_path, 0, options), BLY_EPARAM);
    assert_status(bly_open(&untouched, look_path, BLY_MAP, options),
                  BLY_EPARAM);
    assert_status(bly_open(&untouched, look_path, BLY_PAGED, options),
                  BLY_EPARAM);
    assert_status(bly_wrap(&untouched, image, bytes, options), BLY_EPARAM);
    assert_status(bly_unpack(&untouched, image, bytes, options), BLY_EPARAM);
    assert_status(bly_check(image, bytes, options), BLY_EPARAM);
    assert_status(bly_copy(&untouched, filter, options), BLY_EPARAM);
    assert_status(bly_like(&untouched, filter, options), BLY_EPARAM);
    assert_ptr_equal(untouched, look_path);
    unlink(look_path);
    bly_free(filter);
}

static void test_reserved_of_options(void **state)
{
    (void)state;
    look_options_refused(&(bly_options){ .zero = 1 });
    for (size_t i = 0; i < sizeof (bly_options){ .zero = 0 }.reserved / 8;
         i++) {
        bly_options options = { .zero = 0 };
        options.reserved[i] = 1;
        look_options_refused(&options);
    }
}

static void test_reserved_of_plans_and_needs(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = 10 };
    bly_filter *filter = NULL;
    bly_plan_t plan;
    for (size_t i = 0; i < sizeof plan.reserved / sizeof *plan.reserved; i++) {
        assert_status(bly_plan(&plan, "standard", &spec), BLY_OK);
        plan.reserved[i] = 1;
        assert_status(bly_new_planned(&filter, &plan, NULL), BLY_EPARAM);
    }
    assert_null(filter);
    bly_ranking *ranking = NULL;
    bly_need need = { .capacity = 1000 };
    assert_status(bly_advise(&ranking, &need), BLY_OK);
    bly_ranking_free(ranking);
    ranking = NULL;
    for (size_t i = 0; i < sizeof need.reserved / sizeof *need.reserved; i++) {
        need = (bly_need){ .capacity = 1000 };
        need.reserved[i] = 1;
        assert_status(bly_advise(&ranking, &need), BLY_EPARAM);
    }
    bly_costs costs = { .lines = 2, .reserved = { 1 } };
    need = (bly_need){ .capacity = 1000, .costs = &costs };
    assert_status(bly_advise(&ranking, &need), BLY_EPARAM);
    assert_non_null(strstr(bly_why(), "reserved"));
    assert_null(ranking);
}

/* A missing spec equals one of zeros: no capacity. Only a kind that grows may
 * need none. */
static void look_visit_no_spec(const char *kind, const bly_kind_info *info)
{
    static const bly_spec zeros;
    bly_filter *filter = (bly_filter *)look_path;
    bly_plan_t plan;
    uint64_t hash = 1;
    if ((info->can & BLY_CAN_GROW) != 0
        && bly_plan(&plan, kind, NULL) == BLY_OK)
        return;
    each_status(kind, bly_plan(&plan, kind, NULL), BLY_EPARAM);
    each_status(kind, bly_new(&filter, kind, NULL),
                bly_new(&filter, kind, &zeros));
    each_status(kind, bly_build(&filter, kind, NULL, &(bly_keys){ 0 }),
                BLY_EPARAM);
    each_true(kind, (char *)filter == look_path);
    each_status(kind, bly_build(&filter, kind, NULL,
                                &(bly_keys){ .n = 1, .hashes = &hash }),
                                             BLY_OK);
    if (info->can & BLY_CAN_CONTAINS)
        each_true(kind, bly_contains_hash(filter, 1));
    bly_free(filter);
}

static void test_no_spec(void **state)
{
    (void)state;
    each_kind(look_visit_no_spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_headers),
        cmocka_unit_test(test_unknown_kind_is_no_error),
        cmocka_unit_test(test_headers_of_filters),
        cmocka_unit_test(test_no_such_file),
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_written_within_a_second),
        cmocka_unit_test(test_written_in_place),
        cmocka_unit_test(test_written_by_us),
        cmocka_unit_test(test_of_no_file),
        cmocka_unit_test(test_replaced_paged),
        cmocka_unit_test(test_replaced_while_opening),
        cmocka_unit_test(test_planned_is_new),
        cmocka_unit_test(test_plan_refuses_what_new_does),
        cmocka_unit_test(test_planned_null_spec),
        cmocka_unit_test(test_forged_plans),
        cmocka_unit_test(test_reserved_of_specs),
        cmocka_unit_test(test_reserved_of_options),
        cmocka_unit_test(test_reserved_of_plans_and_needs),
        cmocka_unit_test(test_no_spec),
    };
    return cmocka_run_group_tests_name("look", tests, look_setup, NULL);
}
