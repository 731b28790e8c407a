/* spatial.c - tests specific to kind `spatial`: each area's errors against
 * published formulas, and that no key gets too low an area.
 */
#include "forged.h"

#include "bits/bits.h"
#include "image/image.h"

static bly_filter *spatial_new(const char *kind, uint64_t capacity)
{
    bly_spec spec = { .capacity = capacity };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

static const uint8_t *spatial_row(const bly_filter *filter)
{
    return image_payload(bly_image(filter, NULL));
}

/* ---- The formulas ------------------------------------------------------- */

enum { AREAS = 6, FILTERS = 40, STRANGERS = 100000 };

/* Areas 1 .. areas with size[1 .. areas] keys; the catalogue's numbers. */
typedef struct {
    uint64_t m, k, areas, size[AREAS];
    double   said[AREAS];               /* of strangers                      */
    double   mistaken, emersion;        /* of area 1                         */
} spatial_row_of;

static const spatial_row_of spatial_rows[] = {
    { 16384, 6, 4, { 0, 500, 500, 500, 500 },
      { 0, 0.013903, 0.004870, 0.000810, 0.000022 }, 0.005701, 0.5773 },
    { 8192, 4, 5, { 0, 1000, 500, 250, 125, 62 },
      { 0, 0.121792, 0.016811, 0.001306, 0.000057, 0.000001 }, 0.018174, 0 },
    { 65536, 8, 3, { 0, 4000, 2000, 1000 }, { 0, 0.011789, 0.000078 }, 0, 0 },
};

/* Returns the keys of an area and all above it. */
static double spatial_from(const spatial_row_of *r, uint64_t area)
{
    double keys = 0;
    for (; area <= r->areas; area++)
        keys += (double)r->size[area];
    return keys;
}

/* (1) of the essay. */
static double spatial_phi(const spatial_row_of *r, double keys)
{
    return -expm1((double)r->k * keys * log1p(-1 / (double)r->m));
}

static double spatial_mistaken(const spatial_row_of *r, uint64_t area)
{
    return pow(spatial_phi(r, spatial_from(r, area + 1)), (double)r->k);
}

static double spatial_said(const spatial_row_of *r, uint64_t area)
{
    return spatial_mistaken(r, area - 1) - spatial_mistaken(r, area);
}

/* Sums over the filters of a row. */
typedef struct {
    uint64_t said[AREAS], mistaken[AREAS], cells[AREAS];
    double   told_said[AREAS], told_mistaken[AREAS];    /* by each_label */
} spatial_sums;

static bool spatial_tell(void *context, const bly_label_t *label)
{
    spatial_sums *sums = context;
    sums->told_said[label->label] += label->rate / FILTERS;
    sums->told_mistaken[label->label] += label->mistaken / FILTERS;
    return true;
}

/* Fills in numbers of stream 16 f + a for area a; strangers are from 16 f.
 * Areas come in mixed order. */
static void spatial_fill(bly_filter *filter, const spatial_row_of *r,
                         uint64_t f)
{
    for (uint64_t i = 0; i < 4000; i++)
        for (uint64_t area = r->areas; area > 0; area--)
            if (i < r->size[area])
                assert_true(bly_put_hash(filter, test_random(16 * f + area, i),
                                         area) >= 0);
}

static void spatial_ask(spatial_sums *sums, const bly_filter *filter,
                        const spatial_row_of *r, uint64_t f)
{
    for (uint64_t area = 1; area <= r->areas; area++)
        for (uint64_t i = 0; i < r->size[area]; i++) {
            uint64_t got = 0;
            assert_true(bly_get_hash(filter, test_random(16 * f + area, i),
                                     &got));
            assert_true(got >= area && got <= r->areas);
            sums->mistaken[area] += got > area;
        }
    for (uint64_t i = 0; i < STRANGERS; i++) {
        uint64_t got = 0;
        bly_get_hash(filter, test_random(16 * f, i), &got);
        sums->said[got]++;
    }
}

/* A rate deviates between filters like the fill, times k; 4 % of the rate
 * exceeds that in each of these rows. */
static void spatial_compare(const spatial_row_of *r, const spatial_sums *sums)
{
    double total = 0;
    for (uint64_t area = 1; area <= r->areas; area++) {
        double said = spatial_said(r, area);
        double wrong = spatial_mistaken(r, area);
        assert_within(sums->said[area], (double)FILTERS * STRANGERS, said,
                      0.04 * said / sqrt(FILTERS));
        assert_within(sums->mistaken[area], FILTERS * r->size[area], wrong,
                      0.04 * wrong / sqrt(FILTERS));
        assert_true(fabs(sums->told_said[area] - said) <= 0.04 * said);
        assert_true(fabs(sums->told_mistaken[area] - wrong) <= 0.04 * wrong);
        if (r->said[area] > 1e-5)
            assert_close(said, r->said[area], 0.03);
        total += said;
    }
    assert_close(total, spatial_mistaken(r, 0), 1e-9);
    assert_int_equal(sums->mistaken[r->areas], 0);
    if (r->mistaken > 0)
        assert_close(spatial_mistaken(r, 1), r->mistaken, 1e-3);
    if (r->emersion > 0)
        assert_close(1 - spatial_phi(r, spatial_from(r, 2)), r->emersion, 1e-3);
}

static void test_known_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof spatial_rows / sizeof *spatial_rows; i++) {
        const spatial_row_of *r = &spatial_rows[i];
        spatial_sums sums = { .said = { 0 } };
        char kind[64];
        snprintf(kind, sizeof kind, "spatial:m=%d,k=%d,areas=%d", (int)r->m,
                 (int)r->k, (int)r->areas);
        for (uint64_t f = 0; f < FILTERS; f++) {
            bly_filter *filter = spatial_new(kind, 10000);
            spatial_fill(filter, r, 100 * i + f + 1);
            spatial_ask(&sums, filter, r, 100 * i + f + 1);
            assert_status(bly_list_labels(filter, spatial_tell, &sums), BLY_OK);
            bly_free(filter);
        }
        spatial_compare(r, &sums);
    }
}

/* Counts the cells that show an area, and so its emersion: the raised cells
 * that no higher area covers. */
static bool spatial_cells(void *context, const bly_label_t *label)
{
    ((double *)context)[label->label] += label->fill;
    return true;
}

static void test_emersion(void **state)
{
    (void)state;
    const spatial_row_of *r = &spatial_rows[0];
    static const double cells[] = { 0, 1582.7, 1900.8, 2282.7, 2741.4 };
    double fill[AREAS] = { 0 };
    for (uint64_t f = 0; f < FILTERS; f++) {
        bly_filter *filter = spatial_new("spatial:m=16384,k=6", 2000);
        spatial_fill(filter, r, f + 1);
        assert_status(bly_list_labels(filter, spatial_cells, fill), BLY_OK);
        bly_free(filter);
    }
    for (uint64_t area = 1; area <= r->areas; area++) {
        double own = spatial_phi(r, (double)r->size[area]);
        double shown = own * (1 - spatial_phi(r, spatial_from(r, area + 1)));
        assert_close(shown * 16384, cells[area], 1e-4);
        assert_within(fill[area] / FILTERS * 16384, 16384, shown, 0);
    }
}

/* ---- The filter inside -------------------------------------------------- */

/* A single area is `standard`, bit for bit; with more, the cells above 0
 * are. */
static void test_one_area_is_standard(void **state)
{
    (void)state;
    bly_filter *one = spatial_new("spatial:areas=1,m=9592,k=7", 1000);
    bly_filter *bits = spatial_new("standard:m=9592,k=7", 1000);
    bly_filter *bytes = spatial_new("spatial:areas=255,m=9592,k=7", 1000);
    for (uint64_t i = 0; i < 1000; i++) {
        bly_status status = bly_add_hash(bits, test_random(1, i));
        assert_status(bly_put_hash(one, test_random(1, i), 1), status);
        assert_true(bly_put_hash(bytes, test_random(1, i), 1 + i % 255) >= 0);
    }
    assert_memory_equal(spatial_row(one), spatial_row(bits), 9592 / 8);
    for (uint64_t i = 0; i < 9592; i++)
        assert_int_equal(spatial_row(bytes)[i] > 0,
                         bits_test(spatial_row(bits), i));
    assert_status(bly_put_hash(one, 1, 2), BLY_EPARAM);
    bly_free(one);
    bly_free(bits);
    bly_free(bytes);
}

/* The bits of a cell, and the largest and smallest numbers of areas. */
static void test_areas(void **state)
{
    (void)state;
    static const struct { unsigned areas, bits; } rows[] = {
        { 1, 1 }, { 2, 2 }, { 3, 2 }, { 4, 3 }, { 7, 3 }, { 8, 4 }, { 255, 8 },
        { 256, 9 }, { 65535, 16 },
    };
    bly_spec spec = { .capacity = 1000 };
    bly_plan_t plan;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char kind[64];
        snprintf(kind, sizeof kind, "spatial:areas=%u", rows[i].areas);
        assert_status(bly_plan(&plan, kind, &spec), BLY_OK);
        assert_int_equal(plan.label_bits, rows[i].bits);
        assert_int_equal(plan.label_most, rows[i].areas);
        assert_int_equal(plan.bytes - IMAGE_HEADER,
                         (plan.geometry[0] * rows[i].bits + 7) / 8);
    }
    assert_status(bly_plan(&plan, "spatial:areas=0", &spec), BLY_EOPTION);
    assert_status(bly_plan(&plan, "spatial:areas=65536", &spec), BLY_EOPTION);
}

/* A key in two areas is in the higher one, whichever came first; order does not
 * matter. */
static void test_order_is_forgotten(void **state)
{
    (void)state;
    bly_filter *up = spatial_new("spatial", 1000);
    bly_filter *down = spatial_new("spatial", 1000);
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t j = 999 - i;
        bly_put_hash(up, test_random(1, i % 800), 1 + i % 4);
        bly_put_hash(down, test_random(1, j % 800), 1 + j % 4);
    }
    size_t bytes;
    const uint8_t *row = bly_image(up, &bytes);
    assert_memory_equal(row + IMAGE_HEADER, spatial_row(down),
                        bytes - IMAGE_HEADER);
    bly_free(up);
    bly_free(down);
}

/* ---- Many areas, hostile bytes ------------------------------------------ */

typedef struct { uint64_t labels; double fill, rate; } spatial_told;

static bool spatial_sum(void *context, const bly_label_t *label)
{
    spatial_told *told = context;
    assert_true(label->label == ++told->labels);
    assert_true(label->rate >= 0 && label->mistaken <= 1);
    told->fill += label->fill;
    told->rate += label->rate;
    return true;
}

/* Any payload under a correct header, including cells above the last area:
 * labels are areas, and all of them are reported. */
static void spatial_forge(unsigned areas, uint64_t stream)
{
    char kind[64];
    snprintf(kind, sizeof kind, "spatial:areas=%u,m=1600,k=2", areas);
    forged_image f = forged_of(spatial_new(kind, 100), stream);
    spatial_told told = { 0, 0, 0 };
    bly_info_t stat;
    assert_status(bly_info(&stat, f.copy), BLY_OK);
    assert_status(bly_list_labels(f.copy, spatial_sum, &told), BLY_OK);
    assert_int_equal(told.labels, areas);
    assert_close(told.fill, stat.fill, 1e-9);
    assert_close(told.rate, stat.rate, 1e-9);
    for (uint64_t i = 0; i < 2000; i++) {
        uint64_t hash = test_random(9, i), got = 1, many = 1;
        bool found, one = bly_get_hash(f.copy, hash, &got);
        bly_get_hashes(f.copy, &hash, 1, &found, &many);
        assert_true(one == found && got == many);
        assert_in_range(got, 1, areas);
        if (i % 4 == 0)
            bly_put_hash(f.copy, hash, 1 + i % areas);
    }
    forged_free(&f);
}

static void test_any_payload(void **state)
{
    (void)state;
    static const unsigned areas[] = { 1, 2, 4, 5, 100, 4095, 4096, 4097, 9000,
                                      65535 };
    for (size_t i = 0; i < sizeof areas / sizeof *areas; i++) {
        spatial_forge(areas[i], i);
        spatial_forge(areas[i], FORGED_ONES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_errors),
        cmocka_unit_test(test_emersion),
        cmocka_unit_test(test_one_area_is_standard),
        cmocka_unit_test(test_areas),
        cmocka_unit_test(test_order_is_forgotten),
        cmocka_unit_test(test_any_payload),
    };
    return cmocka_run_group_tests_name("spatial", tests, NULL, NULL);
}
