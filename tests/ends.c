/* ends.c - every kind at the limits of its parameters and its bytes: each
 * option at its minimum and maximum, alone and in pairs, with capacities from 0
 * to 2^64 - 1; images with a wrong bit in the geometry or at either end of the
 * payload, or with a geometry field of all zeros or ones, under correct
 * checksums; and batches with every choice.
 */
#include "test.h"

#include "base/cpu.h"
#include "image/image.h"
#include "verbs/each.h"
#include "verbs/registry.h"

/* ---- Plans -------------------------------------------------------------- */

static const bly_kind *ends_kind;

/* Returns how many values of an option are tried: all words, or the two ends of
 * a number. */
static size_t ends_values(const kind_option *option)
{
    size_t n = 0;
    if (option->choices == NULL)
        return 4;
    while (option->choices[n] != NULL)
        n++;
    return n;
}

/* Appends ",name=value" to a kind's name. */
static void ends_write(char name[EACH_NAME], const kind_option *option,
                       size_t value)
{
    size_t used = strlen(name);
    char mark = strchr(name, ':') == NULL ? ':' : ',';
    if (option->choices != NULL) {
        snprintf(name + used, EACH_NAME - used, "%c%s=%s", mark, option->name,
                 option->choices[value]);
        return;
    }
    const uint64_t numbers[] = {
        option->least, option->least + 1, option->most - 1, option->most,
    };
    snprintf(name + used, EACH_NAME - used, "%c%s=%llu", mark, option->name,
             (unsigned long long)numbers[value]);
}

/* Checks that every number of a plan is within its range. */
static void ends_planned(const char *name, const bly_spec *spec,
                         const bly_plan_t *plan)
{
    each_true(name, plan->bytes >= IMAGE_HEADER && plan->bytes <= PTRDIFF_MAX);
    each_true(name, plan->rate >= 0 && plan->rate <= 1);
    double most = sqrt(plan->rate * (1 - plan->rate));  /* in 0 .. 1 */
    each_true(name, plan->rate_sd >= 0 && plan->rate_sd <= most * (1 + 1e-9));
    each_true(name, plan->fill >= 0 && plan->fill <= 1);
    each_true(name, spec->capacity == 0 || plan->capacity == spec->capacity);
    each_true(name, strcmp(plan->kind, ends_kind->name) == 0);
    bool plain = strchr(name, ':') == NULL
              && !KIND_HAS(ends_kind, listing, keys);
    each_true(name, !plain || plan->rate <= spec->rate * (1 + 0x1p-20));
}

/* A small plan can be made into a valid filter. */
static void ends_made(const char *name, const bly_spec *spec)
{
    bly_filter *filter = NULL;
    size_t bytes;
    bly_status status = ends_kind->add != NULL
                      ? bly_new(&filter, name, spec)
                      : bly_build(&filter, name, spec, &(bly_keys){ 0 });
    each_true(name, status == BLY_OK || status == BLY_EPARAM);
    if (status != BLY_OK)
        return;
    const void *image = bly_image(filter, &bytes);
    each_status(name, bly_check(image, bytes, NULL), BLY_OK);
    bly_free(filter);
}

static void ends_plan(const char *name, const bly_spec *spec)
{
    bly_plan_t plan, before;
    memset(&plan, 0x5A, sizeof plan);
    before = plan;
    bly_status status = bly_plan(&plan, name, spec);
    if (status == BLY_OK) {
        ends_planned(name, spec, &plan);
        if (plan.bytes <= 1 << 14 && plan.scratch <= 1 << 16)
            ends_made(name, spec);
        return;
    }
    each_true(name, status == BLY_EPARAM || status == BLY_ETOOBIG
                    || status == BLY_EOPTION);
    each_true(name, bly_why()[0] != '\0');
    each_true(name, memcmp(&plan, &before, sizeof plan) == 0);
}

/* Tries one capacity and rate in `stride`, starting elsewhere for each name. */
static void ends_grid(const char *name, uint64_t stride)
{
    static const uint64_t capacities[] = {
        0, 1, 2, 100, UINT64_C(1) << 34, UINT64_C(1) << 45,
        UINT64_C(1) << 57, UINT64_C(1) << 61, UINT64_MAX,
    };
    static const double rates[] = { 0.01, 0.9, 1e-9, 1e-19 };
    static uint64_t turn;
    /* planning one walks a chain of cells for half a second */
    if (strcmp(ends_kind->name, "stable") == 0)
        stride *= 30;
    for (size_t c = 0; c < sizeof capacities / sizeof *capacities; c++)
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
            bly_spec spec = { .capacity = capacities[c], .rate = rates[r] };
            if (turn++ % stride == 0)
                ends_plan(name, &spec);
        }
}

/* Tries each value of this option with each value of later options. */
static void ends_pairs(const kind_option *option)
{
    for (size_t v = 0; v < ends_values(option); v++) {
        char one[EACH_NAME], two[EACH_NAME];
        snprintf(one, sizeof one, "%s", ends_kind->name);
        ends_write(one, option, v);
        ends_grid(one, test_work(1, 5, 9));
        for (const kind_option *other = option + 1; other->name != NULL;
             other++)
            for (size_t w = 0; w < ends_values(other); w++) {
                memcpy(two, one, sizeof two);
                ends_write(two, other, w);
                ends_grid(two, test_work(5, 37, 97));
            }
    }
}

static void test_options_at_their_ends(void **state)
{
    (void)state;
    for (size_t i = 0; registry_kinds[i] != NULL; i++) {
        ends_kind = registry_kinds[i];
        ends_grid(ends_kind->name, 1);
        const kind_option *option = ends_kind->options;
        for (; option != NULL && option->name != NULL; option++)
            ends_pairs(option);
    }
}

/* ---- Forged images ------------------------------------------------------ */

/* Whatever a forged image claims, all verbs stay inside it and end. */
static void ends_forged(const char *kind, const void *image, size_t bytes)
{
    enum { KEYS = 40 };
    bly_filter *forged = NULL, *copy = NULL;
    uint64_t hashes[KEYS];
    bool present[KEYS];
    bly_info_t stat;
    bly_overlap_t overlap;
    bly_status status = bly_wrap(&forged, image, bytes, NULL);
    each_true(kind, status == BLY_OK || status == BLY_ECORRUPT
                    || status == BLY_EUNSUPPORTED);
    bool sound = bly_check(image, bytes, NULL) == BLY_OK;
    each_true(kind, sound == (status != BLY_ECORRUPT));
    if (status != BLY_OK)
        return;
    each_status(kind, bly_copy(&copy, forged, NULL), BLY_OK);
    for (uint64_t i = 0; i < KEYS; i++)
        hashes[i] = test_random(9, i);
    bly_contains_hashes(forged, hashes, KEYS, present);
    for (size_t i = 0; i < KEYS; i++)
        each_true(kind, bly_contains_hash(forged, hashes[i]) == present[i]);
    bly_add_hashes(copy, hashes, KEYS, NULL, NULL);
    bly_add_hash(copy, hashes[0]);
    bly_remove_hash(copy, hashes[0]);
    bly_count_hash(copy, hashes[1]);
    bly_unite(copy, forged);
    bly_overlap(&overlap, copy, forged);
    bly_intersect(copy, forged);
    bly_info(&stat, copy);
    bly_free(copy);
    bly_free(forged);
}

/* Sets each possible number in the geometry to all zeros and all ones. */
static void ends_extremes(const char *kind, const uint8_t *image, size_t bytes)
{
    uint8_t *copy = malloc(bytes);
    assert_non_null(copy);
    for (size_t width = 1; width <= 8; width *= 2)
        for (size_t at = 0; at < 8 * IMAGE_GEOMETRY_FIELDS; at += width)
            for (int ones = 0; ones < 2; ones++) {
                memcpy(copy, image, bytes);
                memset(copy + IMAGE_GEOMETRY + at, ones ? 0xFF : 0, width);
                image_seal(copy);
                ends_forged(kind, copy, bytes);
            }
    free(copy);
}

/* Flips one bit at a time, from one byte to another, by steps. */
static void ends_flip(const char *kind, uint8_t *image, size_t bytes,
                      size_t from, size_t to, size_t step)
{
    uint8_t *copy = malloc(bytes);
    assert_non_null(copy);
    for (size_t bit = 8 * from; bit < 8 * to && bit < 8 * bytes; bit += step) {
        memcpy(copy, image, bytes);
        copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
        image_seal(copy);
        ends_forged(kind, copy, bytes);
    }
    free(copy);
}

static void ends_visit(const char *kind, const bly_kind_info *info)
{
    enum { GEOMETRY_END = IMAGE_GEOMETRY + 8 * IMAGE_GEOMETRY_FIELDS,
           PAGE = 4096 };
    uint64_t n = each_room(kind, 60);
    bly_spec spec = { .capacity = n };
    size_t bytes, step = test_work(1, 5, 19);
    (void)info;
    bly_filter *filter = each_built(kind, &spec, 1, n);
    const void *good = bly_image(filter, &bytes);
    uint8_t *image = malloc(bytes);
    assert_non_null(image);
    memcpy(image, good, bytes);
    bly_free(filter);
    ends_extremes(kind, image, bytes);
    ends_flip(kind, image, bytes, IMAGE_GEOMETRY, GEOMETRY_END,
              test_work(1, 1, 3));
    ends_flip(kind, image, bytes, IMAGE_HEADER, IMAGE_HEADER + 192, step);
    if (bytes > PAGE + 64)              /* payloads made of pages */
        ends_flip(kind, image, bytes, PAGE, PAGE + 64, step);
    if (bytes > IMAGE_HEADER + 192 + 64)
        ends_flip(kind, image, bytes, bytes - 64, bytes, step);
    free(image);
}

static void test_one_wrong_bit(void **state)
{
    (void)state;
    each_choice(ends_visit);
}

/* ---- Batches ------------------------------------------------------------ */

/* A batch of members and strangers is answered like single keys, at every
 * vector level. */
static void ends_batch(const char *kind, const bly_filter *filter)
{
    enum { ASKED = 1500 };
    static uint64_t hashes[ASKED];
    static bool present[ASKED];
    for (uint64_t i = 0; i < ASKED; i++)
        hashes[i] = test_random(2 + i % 2, i);
    for (cpu_level level = CPU_PORTABLE; level < CPU_LEVELS; level++) {
        if (cpu_limit(level) != level)
            continue;
        bly_contains_hashes(filter, hashes, ASKED, present);
        for (size_t i = 0; i < ASKED; i++)
            each_true(kind, present[i] == bly_contains_hash(filter, hashes[i]));
    }
}

/* No key, one, few and many, with short and long fingerprints. */
static void ends_visit_batches(const char *kind, const bly_kind_info *info)
{
    static const uint64_t numbers[] = { 0, 1, 40, 2500 };
    static const double rates[] = { 0.3, 1e-4 };
    if ((info->can & BLY_CAN_CONTAINS) == 0)
        return;
    for (size_t n = 0; n < 4; n++)
        for (size_t r = 0; r < 2; r++) {
            uint64_t keys = each_room(kind, numbers[n]);
            bly_spec spec = { .capacity = keys > 0 ? keys : 1,
                              .rate = rates[r] };
            bly_filter *filter = each_built(kind, &spec, 2, keys);
            ends_batch(kind, filter);
            bly_free(filter);
        }
}

static void test_batches_of_each_choice(void **state)
{
    (void)state;
    each_choice(ends_visit_batches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_at_their_ends),
        cmocka_unit_test(test_one_wrong_bit),
        cmocka_unit_test(test_batches_of_each_choice),
    };
    return cmocka_run_group_tests_name("ends", tests, NULL, NULL);
}
