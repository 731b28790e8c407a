/* secret.c - filters whose keys are hashed with a secret: all verbs work with
 * it, none without it, and no image contains it.
 */
#include "test.h"
#include "bloomery/paged.h"
#include "bloomery/sketch.h"

#include <unistd.h>

#include "image/image.h"
#include "bits/hash.h"
#include "verbs/each.h"

enum { KEYS = 400, KEY = 12 };

static const uint8_t secret_right[BLY_SECRET_BYTES] = {
    0x9C, 0x21, 0xE4, 0x5B, 0x77, 0x0D, 0xB8, 0x3A,
    0xF1, 0x46, 0x82, 0xCD, 0x19, 0x6E, 0xA0, 0x53,
};
static const uint8_t secret_wrong[BLY_SECRET_BYTES] = {
    0x9C, 0x21, 0xE4, 0x5B, 0x77, 0x0D, 0xB8, 0x3A,
    0xF1, 0x46, 0x82, 0xCD, 0x19, 0x6E, 0xA0, 0x54,
};

static const bly_options secret_given = { .secret = secret_right };
static const bly_options secret_other = { .secret = secret_wrong };

static char     secret_text[2 * KEYS][KEY];
static bly_key  secret_key[2 * KEYS];
static char     secret_path[64];

static int secret_setup(void **state)
{
    (void)state;
    snprintf(secret_path, sizeof secret_path, "verbs-secret-%ld.bly",
             (long)getpid());
    for (size_t i = 0; i < 2 * KEYS; i++) {
        int length = snprintf(secret_text[i], KEY, "key %zu", i);
        secret_key[i] = (bly_key){ secret_text[i], (size_t)length };
    }
    return 0;
}

static bly_spec secret_spec(const char *kind, const void *secret)
{
    return (bly_spec){ .capacity = each_room(kind, KEYS), .rate = 0.01,
                       .hash = "siphash", .secret = secret };
}

static size_t secret_count(const char *kind)
{
    return (size_t)each_room(kind, KEYS);
}

/* Returns a filter with as many keys as fit, from number `from` on. */
static bly_filter *secret_built(const char *kind, const void *secret,
                                size_t from)
{
    bly_spec spec = secret_spec(kind, secret);
    bly_keys keys = { .n = secret_count(kind), .keys = secret_key + from };
    bly_filter *filter = NULL;
    each_status(kind, bly_build(&filter, kind, &spec, &keys),
                BLY_OK);
    return filter;
}

static void secret_knows(const char *kind, const bly_filter *filter,
                         size_t from)
{
    hash_seed seed = hash_secret(secret_right);
    bly_info_t stat;
    each_status(kind, bly_info(&stat, filter), BLY_OK);
    each_true(kind, strcmp(stat.hash, "siphash") == 0);
    each_true(kind, stat.seed == hash_secret_mark(seed));
    for (size_t i = from; i < from + secret_count(kind); i++) {
        const bly_key *key = &secret_key[i];
        uint64_t hash = hash_siphash(key->data, key->length, seed);
        each_true(kind, bly_hash(filter, key->data, key->length) == hash);
        if (stat.window >= KEYS)
            each_true(kind, bly_contains(filter, key->data, key->length)
                            && bly_contains_hash(filter, hash));
    }
}

/* ---- Creation ----------------------------------------------------------- */

static void secret_refused(const char *kind, const bly_spec *spec,
                           bly_status status)
{
    bly_filter *untouched = (bly_filter *)secret_path;
    bly_plan_t plan = { .bytes = 77 };
    uint64_t hashes[1] = { 5 };
    bly_keys keys = { .n = 1, .keys = secret_key };
    each_status(kind, bly_plan(&plan, kind, spec), status);
    each_true(kind, plan.bytes == 77);
    each_status(kind, bly_new(&untouched, kind, spec), status);
    each_status(kind, bly_build(&untouched, kind, spec,
                                &(bly_keys){ .n = 1, .hashes = hashes }),
                status);
    each_status(kind, bly_build(&untouched, kind, spec, &keys),
                status);
    each_status(kind, bly_hash_many(hashes, kind, spec, &keys), status);
    each_true(kind, hashes[0] == 5);
    bly_spec any = { .capacity = 10 };
    each_status(kind, bly_plan(&plan, kind, &any), BLY_OK);
    each_status(kind, bly_new_planned(&untouched, &plan, spec), status);
    each_true(kind, (char *)untouched == secret_path);
}

static void secret_visit_specs(const char *kind, const bly_kind_info *info)
{
    (void)info;
    bly_spec spec = { .capacity = 10, .hash = "siphash" };
    secret_refused(kind, &spec, BLY_ESECRET);
    spec = (bly_spec){ .capacity = 10, .secret = secret_right };
    secret_refused(kind, &spec, BLY_ESECRET);
    spec = (bly_spec){ .capacity = 10, .secret = secret_right,
                       .hash = "xxh64" };
    secret_refused(kind, &spec, BLY_ESECRET);
    spec = (bly_spec){ .capacity = 10, .secret = secret_right,
                       .hash = "siphash", .seed = 1 };
    secret_refused(kind, &spec, BLY_EPARAM);
}

static void test_specs(void **state)
{
    (void)state;
    each_choice(secret_visit_specs);
}

/* Integers are their own hashes there, without SipHash. */
static void test_integers_have_none(void **state)
{
    (void)state;
    bly_filter *filter = NULL;
    bly_spec spec = secret_spec("egh", secret_right);
    assert_status(bly_new(&filter, "egh:universe=1000", &spec), BLY_EHASH);
    spec = (bly_spec){ .capacity = 10, .secret = secret_right };
    assert_status(bly_new(&filter, "egh:universe=1000", &spec), BLY_ESECRET);
    assert_null(filter);
}

/* ---- Opening, in every way ---------------------------------------------- */

/* A way to open the bytes of a filter. */
typedef bly_status secret_take(bly_filter **out, const bly_options *options);

static const uint8_t *secret_image;     /* for those that need it */
static size_t secret_bytes;

static bly_status secret_wrap(bly_filter **out, const bly_options *options)
{
    return bly_wrap(out, secret_image, secret_bytes, options);
}

static bly_status secret_unpack(bly_filter **out, const bly_options *options)
{
    return bly_unpack(out, secret_image, secret_bytes, options);
}

static int secret_flags;

static bly_status secret_open(bly_filter **out, const bly_options *options)
{
    return bly_open(out, secret_path, secret_flags, options);
}

/* Opens with it, without it, and with another one. */
static void secret_taken(const char *kind, secret_take *take)
{
    bly_filter *filter = (bly_filter *)secret_path;
    each_status(kind, take(&filter, NULL), BLY_ESECRET);
    each_status(kind, take(&filter, &(bly_options){ .threads = 1 }),
                BLY_ESECRET);
    each_status(kind, take(&filter, &secret_other), BLY_ESECRET);
    each_true(kind, (char *)filter == secret_path);
    each_status(kind, take(&filter, &secret_given), BLY_OK);
    secret_knows(kind, filter, 0);
    bly_free(filter);
}

static void secret_file(const char *kind, const bly_kind_info *info,
                        const bly_filter *filter)
{
    int write = info->can & BLY_CAN_PACK ? 0 : BLY_MAP | BLY_WRITE;
    int share = info->can & BLY_CAN_SHARE ? BLY_SHARED : 0;
    const int flags[] = { 0, BLY_MAP, BLY_MAP | BLY_VERIFY, write, share,
                          write | share };
    each_status(kind, bly_save(filter, secret_path), BLY_OK);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        secret_flags = flags[i];
        secret_taken(kind, secret_open);
    }
    if (info->can & BLY_CAN_PAGE) {
        secret_flags = BLY_PAGED;
        secret_taken(kind, secret_open);
        secret_flags = BLY_PAGED | BLY_WRITE;
        secret_taken(kind, secret_open);
    }
    unlink(secret_path);
}

/* Looks for the 16 bytes, or 8 of them together. */
static void secret_is_not_in(const char *kind, const void *bytes, size_t n)
{
    each_true(kind, memmem(bytes, n, secret_right, 8) == NULL);
    each_true(kind, memmem(bytes, n, secret_right + 8, 8) == NULL);
}

static void secret_visit_bytes(const char *kind, const bly_kind_info *info)
{
    bly_filter *filter = secret_built(kind, secret_right, 0);
    secret_knows(kind, filter, 0);
    secret_image = bly_image(filter, &secret_bytes);
    each_status(kind, bly_check(secret_image, secret_bytes, NULL), BLY_OK);
    secret_is_not_in(kind, secret_image, secret_bytes);
    secret_taken(kind, secret_wrap);
    secret_taken(kind, secret_unpack);
    uint8_t *packed = malloc(secret_bytes);
    assert_non_null(packed);
    each_status(kind, bly_pack(filter, packed, secret_bytes, &secret_bytes),
                BLY_OK);
    each_status(kind, bly_check(packed, secret_bytes, NULL), BLY_OK);
    secret_is_not_in(kind, packed, secret_bytes);
    secret_image = packed;
    secret_taken(kind, secret_unpack);
    free(packed);
    secret_file(kind, info, filter);
    bly_free(filter);
}

static void test_bytes(void **state)
{
    (void)state;
    each_choice(secret_visit_bytes);
}

/* A caller who requires a secret is told if the filter has none. */
static void secret_visit_plain(const char *kind, const bly_kind_info *info)
{
    bly_spec spec = { .capacity = secret_count(kind) };
    bly_filter *plain = each_built(kind, &spec, 1, 5);
    bly_filter *untouched = (bly_filter *)secret_path;
    secret_image = bly_image(plain, &secret_bytes);
    each_status(kind, secret_wrap(&untouched, &secret_given), BLY_ESECRET);
    each_status(kind, secret_unpack(&untouched, &secret_given), BLY_ESECRET);
    each_status(kind, bly_save(plain, secret_path), BLY_OK);
    secret_flags = 0;
    each_status(kind, secret_open(&untouched, &secret_given), BLY_ESECRET);
    secret_flags = BLY_MAP;
    each_status(kind, secret_open(&untouched, &secret_given), BLY_ESECRET);
    secret_flags = BLY_PAGED;
    if (info->can & BLY_CAN_PAGE)
        each_status(kind, secret_open(&untouched, &secret_given), BLY_ESECRET);
    each_true(kind, (char *)untouched == secret_path);
    unlink(secret_path);
    bly_free(plain);
}

static void test_filters_without(void **state)
{
    (void)state;
    each_choice(secret_visit_plain);
}

/* The layout and size of an image do not depend on how keys are hashed. */
static void secret_visit_layout(const char *kind, const bly_kind_info *info)
{
    if (!each_adds(info))
        return;
    bly_spec spec = secret_spec(kind, secret_right);
    bly_spec plain = { .capacity = spec.capacity, .rate = spec.rate };
    bly_filter *a = NULL, *b = NULL;
    size_t a_bytes, b_bytes;
    each_status(kind, bly_new(&a, kind, &spec), BLY_OK);
    each_status(kind, bly_new(&b, kind, &plain), BLY_OK);
    const uint8_t *left = bly_image(a, &a_bytes);
    const uint8_t *right = bly_image(b, &b_bytes);
    each_true(kind, a_bytes == b_bytes);
    each_true(kind, memcmp(left, right, IMAGE_SEED) == 0);
    each_true(kind, memcmp(left + IMAGE_GEOMETRY, right + IMAGE_GEOMETRY,
                           IMAGE_PAYLOAD_SUM - IMAGE_GEOMETRY) == 0);
    bly_free(a);
    bly_free(b);
}

static void test_layout(void **state)
{
    (void)state;
    each_choice(secret_visit_layout);
}

/* ---- Derived from another ----------------------------------------------- */

static void secret_add(const char *kind, bly_filter *filter, size_t from,
                       size_t n)
{
    bly_keys keys = { .n = n, .keys = secret_key + from };
    each_status(kind, bly_add_many(filter, &keys, NULL, NULL), BLY_OK);
}

static void secret_visit_others(const char *kind, const bly_kind_info *info)
{
    bly_filter *filter = secret_built(kind, secret_right, 0);
    bly_filter *other = NULL;
    each_status(kind, bly_copy(&other, filter, NULL), BLY_OK);
    secret_knows(kind, other, 0);
    each_true(kind, each_same(filter, other));
    bly_free(other);
    other = NULL;
    bly_status status = bly_like(&other, filter, NULL);
    each_true(kind, status == BLY_OK || status == BLY_EUNSUPPORTED);
    if (status == BLY_OK && (info->can & BLY_CAN_UNITE) != 0)
        each_status(kind, bly_unite(other, filter), BLY_OK);
    else if (status == BLY_OK)
        secret_add(kind, other, 0, secret_count(kind));
    if (status == BLY_OK)
        secret_knows(kind, other, 0);
    bly_free(other);
    if (info->can & BLY_CAN_RESIZE) {
        status = bly_resize(filter, 3 * secret_count(kind));
        each_true(kind, status == BLY_OK || status == BLY_EPARAM);
        secret_knows(kind, filter, 0);
    }
    bly_free(filter);
}

static void test_others(void **state)
{
    (void)state;
    each_choice(secret_visit_others);
}

/* A filter planned for few keys has grown, and is reopened. */
static void secret_visit_grown(const char *kind, const bly_kind_info *info)
{
    if ((info->can & BLY_CAN_GROW) == 0)
        return;
    bly_spec spec = secret_spec(kind, secret_right);
    bly_filter *filter = NULL;
    spec.capacity = 10;
    each_status(kind, bly_new(&filter, kind, &spec), BLY_OK);
    secret_add(kind, filter, 0, KEYS);
    secret_knows(kind, filter, 0);
    secret_image = bly_image(filter, &secret_bytes);
    secret_is_not_in(kind, secret_image, secret_bytes);
    secret_taken(kind, secret_wrap);
    secret_taken(kind, secret_unpack);
    bly_free(filter);
}

static void test_grown(void **state)
{
    (void)state;
    each_choice(secret_visit_grown);
}

/* A file is not repaired without its secret. */
static void test_open_pages_wait_for_the_secret(void **state)
{
    (void)state;
    bly_filter *filter = secret_built("buffered", secret_right, 0);
    size_t bytes;
    uint8_t *image = (uint8_t *)(uintptr_t)bly_image(filter, &bytes);
    uint8_t *left = malloc(bytes);
    assert_non_null(left);
    image[bytes - 1] ^= 1;              /* left half-written by a dead writer */
    image_unseal(image);
    FILE *file = fopen(secret_path, "wb+");
    assert_non_null(file);
    assert_int_equal(fwrite(image, 1, bytes, file), bytes);
    assert_int_equal(fflush(file), 0);
    bly_filter *opened = NULL;
    assert_status(bly_open(&opened, secret_path, BLY_PAGED | BLY_WRITE, NULL),
                  BLY_ESECRET);
    assert_status(bly_open(&opened, secret_path, BLY_PAGED | BLY_WRITE,
                           &secret_other), BLY_ESECRET);
    assert_null(opened);
    rewind(file);
    assert_int_equal(fread(left, 1, bytes, file), bytes);
    assert_memory_equal(left, image, bytes);
    fclose(file);
    assert_status(bly_open(&opened, secret_path, BLY_PAGED | BLY_WRITE,
                           &secret_given), BLY_OK);
    secret_knows("buffered", opened, 0);
    bly_free(opened);
    bly_free(filter);
    free(left);
    unlink(secret_path);
}

static void test_paged(void **state)
{
    (void)state;
    bly_spec spec = secret_spec("buffered", secret_right);
    bly_filter *filter = NULL;
    unlink(secret_path);
    bly_spec bad = { .capacity = KEYS, .hash = "siphash" };
    assert_status(bly_create(&filter, secret_path, "buffered", &bad),
                  BLY_ESECRET);
    assert_null(filter);
    assert_int_equal(access(secret_path, F_OK), -1);
    assert_status(bly_create(&filter, secret_path, "buffered", &spec), BLY_OK);
    secret_add("buffered", filter, 0, KEYS);
    secret_knows("buffered", filter, 0);
    assert_status(bly_seal(filter), BLY_OK);
    bly_free(filter);
    secret_flags = BLY_PAGED | BLY_WRITE;
    secret_taken("buffered", secret_open);
    secret_flags = 0;
    secret_taken("buffered", secret_open);
    unlink(secret_path);
}

/* ---- Erasure ------------------------------------------------------------ */

/* Counts freed blocks that still contain half of the secret, or all. */
typedef struct { size_t given, with; } secret_memory;

static void *secret_allocate(void *context, size_t alignment, size_t bytes)
{
    void *memory = NULL;
    ((secret_memory *)context)->given++;
    return posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}

static void secret_give_back(void *context, void *memory, size_t bytes)
{
    secret_memory *m = context;
    m->given--;
    m->with += memmem(memory, bytes, secret_right, 8) != NULL
            || memmem(memory, bytes, secret_right + 8, 8) != NULL;
    free(memory);
}

static void test_wiped(void **state)
{
    (void)state;
    secret_memory m = { 0, 0 };
    const bly_allocator memory = { secret_allocate, secret_give_back, &m };
    const bly_options options = { .allocator = &memory,
                                  .secret = secret_right };
    static const int flags[] = { 0, BLY_MAP, BLY_PAGED, BLY_PAGED | BLY_WRITE };
    bly_spec spec = secret_spec("buffered", secret_right);
    bly_keys keys = { .n = KEYS, .keys = secret_key };
    bly_filter *filter = NULL, *other = NULL;
    spec.allocator = &memory;
    assert_status(bly_build(&filter, "buffered", &spec, &keys),
                  BLY_OK);
    assert_status(bly_save(filter, secret_path), BLY_OK);
    assert_status(bly_copy(&other, filter, &options), BLY_OK);
    bly_free(other);
    assert_status(bly_like(&other, filter, &options), BLY_OK);
    bly_free(other);
    bly_free(filter);
    for (size_t i = 0; i < 4; i++) {
        assert_status(bly_open(&other, secret_path, flags[i], &options),
                      BLY_OK);
        assert_true(bly_contains(other, secret_text[0],
                                 secret_key[0].length));
        bly_free(other);
    }
    assert_true(m.given == 0 && m.with == 0);
    unlink(secret_path);
}

/* ---- Pairs -------------------------------------------------------------- */

static void secret_no_pair(const char *kind, bly_filter *a, bly_filter *b)
{
    bly_overlap_t overlap;
    bly_filter *before = NULL;
    each_status(kind, bly_copy(&before, a, NULL), BLY_OK);
    each_status(kind, bly_unite(a, b), BLY_EMISMATCH);
    each_status(kind, bly_intersect(a, b), BLY_EMISMATCH);
    each_status(kind, bly_subtract(a, b), BLY_EMISMATCH);
    each_status(kind, bly_overlap(&overlap, a, b), BLY_EMISMATCH);
    each_status(kind, bly_unite_at(a, b, 1),
                bly_can(a) & BLY_CAN_UNITE_AT ? BLY_EMISMATCH
                                              : BLY_EUNSUPPORTED);
    each_true(kind, each_same(a, before));
    bly_free(before);
}

static void secret_visit_pairs(const char *kind, const bly_kind_info *info)
{
    bly_filter *a = secret_built(kind, secret_right, 0);
    bly_filter *b = secret_built(kind, secret_right, secret_count(kind) / 2);
    bly_filter *other = secret_built(kind, secret_wrong, 0);
    bly_spec spec = { .capacity = secret_count(kind) };
    bly_filter *plain = each_built(kind, &spec, 1, 5);
    bly_overlap_t overlap;
    secret_no_pair(kind, a, other);
    secret_no_pair(kind, a, plain);
    secret_no_pair(kind, plain, a);
    if (info->can & BLY_CAN_OVERLAP)
        each_status(kind, bly_overlap(&overlap, a, b), BLY_OK);
    if (info->can & BLY_CAN_INTERSECT) {
        bly_filter *both = NULL;
        each_status(kind, bly_copy(&both, a, NULL), BLY_OK);
        each_status(kind, bly_intersect(both, a), BLY_OK);
        secret_knows(kind, both, 0);
        bly_free(both);
    }
    if ((info->can & BLY_CAN_UNITE) && bly_unite(a, b) == BLY_OK) {
        secret_knows(kind, a, 0);
        secret_knows(kind, a, secret_count(kind) / 2);
    }
    bly_free(a);
    bly_free(b);
    bly_free(other);
    bly_free(plain);
}

static void test_pairs(void **state)
{
    (void)state;
    each_choice(secret_visit_pairs);
}

/* ---- Listing ------------------------------------------------------------ */

typedef struct { size_t first, second, strange; bool whole; } secret_listed;

static bool secret_visit_listed(void *context, const bly_listed *listed)
{
    secret_listed *l = context;
    hash_seed seed = hash_secret(secret_right);
    size_t found = KEYS;
    for (size_t i = 0; i < KEYS && found == KEYS; i++)
        if (hash_siphash(secret_key[i].data, secret_key[i].length, seed)
                == listed->hash)
            found = i;
    l->strange += found == KEYS;
    if (found < KEYS && l->whole)
        l->strange += listed->length != secret_key[found].length
                   || memcmp(listed->key, secret_key[found].data,
                             listed->length) != 0;
    l->first += listed->side > 0;
    l->second += listed->side < 0;
    return true;
}

/* Keys 0 .. 119 in one and 20 .. 149 in the other: 20 and 30 of them differ. */
static void secret_list(const char *kind)
{
    bly_spec spec = secret_spec(kind, secret_right);
    bly_filter *a = NULL, *b = NULL;
    secret_listed l = { .whole = strchr(kind, '=') != NULL };
    each_status(kind, bly_new(&a, kind, &spec), BLY_OK);
    each_status(kind, bly_new(&b, kind, &spec), BLY_OK);
    secret_add(kind, a, 0, 120);
    secret_add(kind, b, 20, 130);
    each_status(kind, bly_subtract(a, b), BLY_OK);
    each_status(kind, bly_list_keys(a, secret_visit_listed, &l), BLY_OK);
    each_true(kind, l.first == 20 && l.second == 30 && l.strange == 0);
    bly_free(a);
    bly_free(b);
}

static void secret_visit_lists(const char *kind, const bly_kind_info *info)
{
    if (info->can & BLY_CAN_SUBTRACT)
        secret_list(kind);
}

static void test_listed(void **state)
{
    (void)state;
    each_choice(secret_visit_lists);
    secret_list("invertible:key=12");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_specs),
        cmocka_unit_test(test_integers_have_none),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_filters_without),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_grown),
        cmocka_unit_test(test_paged),
        cmocka_unit_test(test_open_pages_wait_for_the_secret),
        cmocka_unit_test(test_wiped),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_listed),
    };
    return cmocka_run_group_tests_name("secret", tests, secret_setup, NULL);
}
