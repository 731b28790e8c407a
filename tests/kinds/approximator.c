/* approximator.c - tests specific to kind `approximator`: labels are never too
 * low and rarely too high, it is `standard` with numbers, and labels have
 * fields.
 */
#include "forged.h"

#include "image/image.h"
#include "bits/index.h"

static bly_filter *approximator_new(const char *kind, uint64_t capacity)
{
    bly_spec spec = { .capacity = capacity };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

static const uint8_t *approximator_row(const bly_filter *filter)
{
    return image_payload(bly_image(filter, NULL));
}

/* Reads cell i of a row, bit by bit. */
static uint64_t approximator_cell(const uint8_t *row, uint64_t i,
                                  uint32_t width)
{
    uint64_t cell = 0;
    for (uint64_t bit = (i + 1) * width; bit-- > i * width; )
        cell = cell << 1 | (row[bit / 8] >> bit % 8 & 1);
    return cell;
}

/* ---- The filter inside ------------------------------------------------- */

/* m, k and rate equal those of `standard`; it takes w times the bits. */
static void test_sizes_are_those_of_standard(void **state)
{
    (void)state;
    for (double rate = 0.9; rate > 1e-9; rate *= 0.21)
        for (uint64_t n = 1; n < 3000000; n = n * 6 + 1) {
            bly_spec spec = { .capacity = n, .rate = rate };
            bly_plan_t bits, cells;
            assert_status(bly_plan(&bits, "standard", &spec), BLY_OK);
            assert_status(bly_plan(&cells, "approximator", &spec), BLY_OK);
            assert_true(bits.geometry[0] == cells.geometry[0]);
            assert_true(bits.geometry[1] == cells.geometry[1]);
            assert_true(bits.rate == cells.rate);
            assert_int_equal(cells.bytes - IMAGE_HEADER, bits.geometry[0]);
        }
    bly_spec spec = { .capacity = 10000 };
    bly_plan_t plan;
    assert_status(bly_plan(&plan, "approximator:bits=64", &spec), BLY_OK);
    assert_true(plan.label_bits == 64 && plan.label_least == 1
                && plan.label_most == UINT64_MAX);
    assert_status(bly_plan(&plan, "approximator:bits=65", &spec),
                  BLY_EOPTION);
    assert_status(bly_plan(&plan, "approximator:bits=0", &spec), BLY_EOPTION);
}

/* Draws labels of `width` bits, among them the largest and the smallest. */
static uint64_t approximator_draw(uint32_t width, uint64_t i)
{
    uint64_t most = UINT64_MAX >> (64 - width);
    uint64_t any = test_random(2, i) & most;
    return i % 7 == 0 ? most : i % 7 == 1 || any == 0 ? 1 : any;
}

/* A cell is the largest label that a probe brought to it, for every width, in
 * rows of every length; it is above 0 exactly where standard's bit is set; and
 * get returns a key's smallest cell. */
static void approximator_is_its_cells(uint32_t width, uint64_t m)
{
    enum { K = 3, MOST = 200, KEYS = 40 };
    char kind[64];
    uint64_t wanted[MOST] = { 0 };
    snprintf(kind, sizeof kind, "approximator:m=%d,k=%d,bits=%u", (int)m, K,
             width);
    bly_filter *filter = approximator_new(kind, 10);
    snprintf(kind, sizeof kind, "standard:m=%d,k=%d", (int)m, K);
    bly_filter *bits = approximator_new(kind, 10);
    for (uint64_t key = 0; key < KEYS; key++) {
        uint64_t label = approximator_draw(width, key);
        uint64_t hash = test_random(3, key % 30), got = 0;
        index_walk walk;
        index_start(&walk, INDEX_POWER, hash, m);
        for (int i = 0; i < K; i++) {
            uint64_t *cell = &wanted[index_next(&walk, INDEX_POWER)];
            *cell = label > *cell ? label : *cell;
        }
        assert_true(bly_put_hash(filter, hash, label) >= 0);
        assert_true(bly_get_hash(filter, hash, &got) && got >= label);
        bly_add_hash(bits, hash);
    }
    const uint8_t *row = approximator_row(filter);
    for (uint64_t i = 0; i < m; i++) {
        assert_true(approximator_cell(row, i, width) == wanted[i]);
        assert_int_equal(wanted[i] > 0, bits_test(approximator_row(bits), i));
    }
    if (width == 1)
        assert_memory_equal(row, approximator_row(bits), (m + 7) / 8);
    bly_free(filter);
    bly_free(bits);
}

static void test_cells_are_the_largest_labels(void **state)
{
    (void)state;
    static const uint64_t rows[] = { 1, 2, 3, 7, 8, 9, 31, 64, 65, 97, 200 };
    for (uint32_t width = 1; width <= 64; width++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            approximator_is_its_cells(width, rows[i]);
}

/* With one bit it equals `standard`. */
static void test_one_bit_is_standard(void **state)
{
    (void)state;
    bly_filter *one = approximator_new("approximator:bits=1,m=9592,k=7", 1000);
    bly_filter *bits = approximator_new("standard:m=9592,k=7", 1000);
    for (uint64_t i = 0; i < 1500; i++) {
        uint64_t hash = test_random(1, i % 1200);
        bly_status status = bly_add_hash(bits, hash);
        assert_status(i % 2 ? bly_add_hash(one, hash)
                            : bly_put_hash(one, hash, 1), status);
    }
    assert_memory_equal(approximator_row(one), approximator_row(bits),
                        9592 / 8);
    bly_info_t a, b;
    bly_info(&a, one);
    bly_info(&b, bits);
    assert_true(a.fill == b.fill && a.distinct == b.distinct);
    assert_close(a.rate, b.rate, 1e-12);
    bly_free(one);
    bly_free(bits);
}

/* A layout that must not change, with cells of 3 and 12 bits. */
static void test_layout(void **state)
{
    (void)state;
    static const uint8_t three[] = { 0x00, 0x50, 0xA8, 0x00, 0x8A, 0x42 };
    bly_filter *filter = approximator_new("approximator:m=16,k=4,bits=3", 4);
    bly_put_hash(filter, 1, 5);
    bly_put_hash(filter, 0x0123456789ABCDEF, 2);
    assert_memory_equal(approximator_row(filter), three, sizeof three);
    bly_free(filter);
    filter = approximator_new("approximator:m=16,k=4,bits=12", 4);
    bly_put_hash(filter, 1, 0xABC);
    assert_int_equal(approximator_row(filter)[6], 0xBC);
    assert_int_equal(approximator_row(filter)[7], 0x0A);
    bly_free(filter);
}

/* ---- The error ---------------------------------------------------------- */

/* Keys with the labels 1 .. n in mixed order: how many are reported too high,
 * in all and in each quarter. Never too low. */
typedef struct { uint64_t all, quarter[4], strangers; } approximator_wrongs;

enum { WRONGS_N = 10000, WRONGS_STRANGERS = 100000 };

static void approximator_measure(approximator_wrongs *w, const char *kind,
                                 uint64_t stream)
{
    bly_filter *filter = approximator_new(kind, WRONGS_N);
    for (uint64_t i = 0; i < WRONGS_N; i++) {
        uint64_t label = i * 7919 % WRONGS_N + 1;       /* a permutation */
        assert_true(bly_put_hash(filter, test_random(stream, label), label)
                    >= 0);
    }
    for (uint64_t label = 1; label <= WRONGS_N; label++) {
        uint64_t got = 0;
        assert_true(bly_get_hash(filter, test_random(stream, label), &got));
        assert_true(got >= label);
        w->all += got > label;
        w->quarter[(label - 1) * 4 / WRONGS_N] += got > label;
    }
    for (uint64_t i = 0; i < WRONGS_STRANGERS; i++)
        w->strangers += bly_contains_hash(filter, test_random(stream + 1, i));
    bly_free(filter);
}

/* Returns (2) of the essay averaged over ranks `from` to `to`. */
static double approximator_wrong(double per_key, double k, double from,
                                 double to)
{
    enum { STEPS = 1000 };
    double sum = 0;
    for (int i = 0; i < STEPS; i++) {
        double t = from + (to - from) * (i + 0.5) / STEPS;
        sum += pow(1 - exp(-k * t / per_key), k);
    }
    return sum / STEPS;
}

/* The essay's table, and more from the catalogue. Filters differ like the k-th
 * power of the fill, by at most 2 % here. */
static void test_known_errors(void **state)
{
    (void)state;
    static const struct {
        uint64_t m, k;
        double   keys, strangers;       /* from the catalogue                */
    } rows[] = {
        { 4, 3, 0.0456, 0.1469 }, { 8, 5, 0.0045, 0.0217 },
        { 8, 6, 0.0041, 0.0216 }, { 10, 7, 0.00134, 0.0082 },
        { 16, 11, 0.00005, 0.00046 },
    };
    enum { FILTERS = 20 };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double m = (double)rows[r].m, k = (double)rows[r].k;
        approximator_wrongs w = { 0, { 0 }, 0 };
        char kind[64];
        snprintf(kind, sizeof kind, "approximator:m=%d,k=%d,bits=14",
                 (int)(rows[r].m * WRONGS_N), (int)rows[r].k);
        for (uint64_t f = 0; f < FILTERS; f++)
            approximator_measure(&w, kind, 100 * r + 2 * f + 10);
        double members = approximator_wrong(m, k, 0, 1);
        double foreign = pow(1 - exp(-k / m), k), sd = 0.02 / sqrt(FILTERS);
        assert_close(members, rows[r].keys, 0.03);
        assert_close(foreign, rows[r].strangers, 0.01);
        assert_within(w.all, FILTERS * WRONGS_N, members, sd * members);
        assert_within(w.strangers, (double)FILTERS * WRONGS_STRANGERS, foreign,
                      sd * foreign);
        for (int q = 0; q < 4; q++) {   /* the quarter of the smallest labels */
            double part = approximator_wrong(m, k, (3 - q) / 4.0,
                                             (4 - q) / 4.0);
            assert_within(w.quarter[q], FILTERS * WRONGS_N / 4, part,
                          sd * part);
        }
    }
}

/* ---- Putting ------------------------------------------------------------ */

/* Order and batches do not matter, puts never lower a label, and put reports
 * whether it changed anything. */
static void test_order_is_forgotten(void **state)
{
    (void)state;
    enum { N = 2000 };
    static uint64_t hashes[N], labels[N];
    for (uint64_t i = 0; i < N; i++) {
        hashes[i] = test_random(5, i % 1500);
        labels[i] = 1 + test_random(6, i) % 255;
    }
    bly_filter *up = approximator_new("approximator", 1000);
    bly_filter *down = approximator_new("approximator", 1000);
    assert_status(bly_put_hashes(up, hashes, labels, N, NULL), BLY_OK);
    for (uint64_t i = N; i-- > 0; ) {
        uint64_t before = 0, after = 0;
        bly_get_hash(down, hashes[i], &before);
        assert_status(bly_put_hash(down, hashes[i], labels[i]),
                      before >= labels[i] ? BLY_SEEN : BLY_OK);
        assert_true(bly_get_hash(down, hashes[i], &after));
        assert_true(after >= before && after >= labels[i]);
    }
    size_t bytes;
    const uint8_t *row = bly_image(up, &bytes);
    assert_memory_equal(row + IMAGE_HEADER, approximator_row(down),
                        bytes - IMAGE_HEADER);
    bly_free(up);
    bly_free(down);
}

static bool approximator_visit(void *context, const bly_label_t *label)
{
    (void)context, (void)label;
    return false;
}

static void test_wrong_labels_are_told(void **state)
{
    (void)state;
    bly_filter *filter = approximator_new("approximator", 10);
    assert_status(bly_put(filter, "x", 1, 0), BLY_EPARAM);
    assert_non_null(strstr(bly_why(), "label 0"));
    assert_non_null(strstr(bly_why(), "1 .. 255"));
    assert_status(bly_put(filter, "x", 1, 256), BLY_EPARAM);
    assert_non_null(strstr(bly_why(), "1 .. 255"));
    assert_false(bly_contains(filter, "x", 1));
    assert_status(bly_list_labels(filter, approximator_visit, NULL),
                  BLY_EUNSUPPORTED);
    bly_free(filter);
}

/* ---- Fields ------------------------------------------------------------- */

/* Returns the larger, or smaller, value of each of `parts` fields of `width`
 * bits. */
static uint64_t fields_of(uint64_t a, uint64_t b, uint32_t width,
                          uint32_t parts, bool larger)
{
    uint32_t part = width / parts;
    uint64_t all = UINT64_MAX >> (64 - part), out = 0;
    for (uint32_t p = 0; p < parts; p++) {
        uint64_t x = a >> p * part & all, y = b >> p * part & all;
        out |= ((x > y) == larger ? x : y) << p * part;
    }
    return out;
}

/* Draws a label with some fields 0. */
static uint64_t fields_draw(uint32_t width, uint64_t i)
{
    uint64_t most = UINT64_MAX >> (64 - width);
    uint64_t any = test_random(21, i) & test_random(22, i) & most;
    return i % 11 == 0 ? most : any == 0 ? 1 : any;
}

enum { FIELDS_K = 3, FIELDS_KEYS = 60, FIELDS_ASKED = 400 };

/* The expected cells of a filter with fields, and a twin with half of the
 * keys. */
typedef struct {
    uint32_t width, parts;
    uint64_t m, *cell, joined[FIELDS_KEYS];
} fields_model;

static uint64_t fields_meet(const fields_model *f, uint64_t hash)
{
    uint64_t least = UINT64_MAX >> (64 - f->width);
    index_walk walk;
    index_start(&walk, INDEX_POWER, hash, f->m);
    for (int i = 0; i < FIELDS_K; i++)
        least = fields_of(least, f->cell[index_next(&walk, INDEX_POWER)],
                          f->width, f->parts, false);
    return least;
}

static bly_status fields_put(fields_model *f, uint64_t key, uint64_t label)
{
    index_walk walk;
    bly_status said = BLY_SEEN;
    uint64_t *put = &f->joined[key];
    *put = fields_of(*put, label, f->width, f->parts, true);
    index_start(&walk, INDEX_POWER, test_random(20, key), f->m);
    for (int i = 0; i < FIELDS_K; i++) {
        uint64_t *cell = &f->cell[index_next(&walk, INDEX_POWER)];
        uint64_t now = fields_of(*cell, label, f->width, f->parts, true);
        said = now == *cell ? said : BLY_OK;
        *cell = now;
    }
    return said;
}

/* Looks up every key and some strangers, singly and in a batch. */
static void fields_ask(const bly_filter *filter, const fields_model *f)
{
    static uint64_t hashes[FIELDS_ASKED], labels[FIELDS_ASKED];
    static bool found[FIELDS_ASKED], there[FIELDS_ASKED];
    for (uint64_t i = 0; i < FIELDS_ASKED; i++)
        hashes[i] = test_random(20, i);
    bly_get_hashes(filter, hashes, FIELDS_ASKED, found, labels);
    bly_contains_hashes(filter, hashes, FIELDS_ASKED, there);
    for (uint64_t i = 0; i < FIELDS_ASKED; i++) {
        uint64_t wanted = fields_meet(f, hashes[i]), got = 0;
        assert_int_equal(bly_contains_hash(filter, hashes[i]), wanted > 0);
        assert_int_equal(bly_get_hash(filter, hashes[i], &got), wanted > 0);
        assert_true(got == wanted);
        assert_int_equal(found[i], wanted > 0);
        assert_int_equal(there[i], wanted > 0);
        assert_true(!found[i] || labels[i] == wanted);
        if (i < FIELDS_KEYS)            /* never too low */
            assert_true(fields_of(wanted, f->joined[i], f->width, f->parts,
                                  true) == wanted);
    }
}

static void fields_are_joins(uint32_t width, uint32_t parts, uint64_t m)
{
    static uint64_t cells[300];
    fields_model f = { .width = width, .parts = parts, .m = m, .cell = cells };
    char kind[80];
    memset(cells, 0, sizeof cells);
    snprintf(kind, sizeof kind, "approximator:m=%d,k=%d,bits=%u,parts=%u",
             (int)m, FIELDS_K, width, parts);
    bly_filter *filter = approximator_new(kind, 10);
    bly_filter *even = approximator_new(kind, 10);
    bly_filter *odd = approximator_new(kind, 10);
    for (uint64_t i = 0; i < FIELDS_KEYS * 3 / 2; i++) {
        uint64_t key = i % FIELDS_KEYS, label = fields_draw(width, i);
        uint64_t hash = test_random(20, key);
        bly_status said = fields_put(&f, key, label);
        assert_status(bly_put_hash(filter, hash, label), said);
        assert_status(bly_put_hashes(i % 2 ? odd : even, &hash, &label, 1,
                                     NULL),
                      BLY_OK);
    }
    const uint8_t *row = approximator_row(filter);
    for (uint64_t i = 0; i < m; i++)
        assert_true(approximator_cell(row, i, width) == cells[i]);
    fields_ask(filter, &f);
    assert_status(bly_unite(even, odd), BLY_OK);
    assert_memory_equal(approximator_row(even), row, (m * width + 7) / 8);
    bly_free(filter);
    bly_free(even);
    bly_free(odd);
}

static void test_fields_are_exact_joins(void **state)
{
    (void)state;
    static const uint64_t rows[] = { 1, 2, 5, 7, 8, 9, 56, 57, 64, 97, 300 };
    static const uint32_t widths[] = { 2, 4, 6, 8, 12, 24, 48, 58, 60, 62, 64 };
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (uint32_t parts = 1; parts <= widths[w]; parts++)
            for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                if (widths[w] % parts == 0)
                    fields_are_joins(widths[w], parts, rows[i]);
}

/* A single field gives the filter without fields; as many fields as bits give
 * as many Bloom filters in one. */
static void test_fields_of_one_bit_are_sets(void **state)
{
    (void)state;
    enum { N = 1000, M = 4000, K = 3 };
    bly_filter *chain = approximator_new("approximator:m=4000,k=3", N);
    bly_filter *one = approximator_new("approximator:m=4000,k=3,parts=1", N);
    bly_filter *sets = approximator_new("approximator:m=4000,k=3,parts=8", N);
    bly_filter *bits[8];
    for (int b = 0; b < 8; b++)
        bits[b] = approximator_new("standard:m=4000,k=3", N);
    for (uint64_t i = 0; i < N; i++) {
        uint64_t label = fields_draw(8, i), hash = test_random(23, i);
        bly_put_hash(chain, hash, label);
        bly_put_hash(one, hash, label);
        bly_put_hash(sets, hash, label);
        for (int b = 0; b < 8; b++)
            if (label >> b & 1)
                bly_add_hash(bits[b], hash);
    }
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t hash = test_random(23, i), got = 0, wanted = 0;
        for (int b = 0; b < 8; b++)
            wanted |= (uint64_t)bly_contains_hash(bits[b], hash) << b;
        bly_get_hash(sets, hash, &got);
        assert_true(got == wanted);
    }
    size_t bytes;
    const void *image = bly_image(chain, &bytes);
    assert_memory_equal(image, bly_image(one, NULL), bytes);
    bly_free(chain);
    bly_free(one);
    bly_free(sets);
    for (int b = 0; b < 8; b++)
        bly_free(bits[b]);
}

/* A key may be present through another field than that of label 1, which add
 * puts: add reports it as new and puts it. */
static void test_add_of_a_key_of_another_field(void **state)
{
    (void)state;
    bly_filter *f = approximator_new("approximator:m=64,k=3,bits=8,parts=8", 9);
    const uint64_t hash = test_random(24, 0);
    uint64_t label = 0;
    assert_status(bly_put_hash(f, hash, 4), BLY_OK);
    assert_status(bly_add_hash(f, hash), BLY_SEEN);
    assert_true(bly_get_hash(f, hash, &label));
    assert_int_equal(label, 5);
    assert_status(bly_add_hash(f, test_random(24, 1)), BLY_OK);
    bly_free(f);
}

/* An interval as two fields: the upper end, and the complement of the lower
 * one. The result contains every interval that was put. */
static void test_intervals(void **state)
{
    (void)state;
    enum { N = 1000 };
    static uint64_t least[N], most[N];
    bly_filter *filter = approximator_new("approximator:bits=32,parts=2", N);
    for (uint64_t i = 0; i < 3 * N; i++) {
        uint64_t low = test_random(24, i) % 60000, key = i % N;
        uint64_t high = low + test_random(25, i) % 5000;
        least[key] = i < N || low < least[key] ? low : least[key];
        most[key] = high > most[key] ? high : most[key];
        assert_true(bly_put_hash(filter, test_random(26, key),
                                 high | (0xFFFF - low) << 16) >= 0);
    }
    uint64_t exact = 0;
    for (uint64_t key = 0; key < N; key++) {
        uint64_t got = 0;
        assert_true(bly_get_hash(filter, test_random(26, key), &got));
        uint64_t low = 0xFFFF - (got >> 16), high = got & 0xFFFF;
        assert_true(low <= least[key] && high >= most[key]);
        exact += low == least[key] && high == most[key];
    }
    assert_true(exact > N * 95 / 100);
    bly_free(filter);
}

/* Each field has the errors of a chain by itself, (1) and (2), even if one
 * rises where the other falls. */
static void test_each_field_errs_as_a_chain(void **state)
{
    (void)state;
    enum { FILTERS = 20, N = WRONGS_N };
    uint64_t wrong[2] = { 0, 0 }, strangers = 0;
    for (uint64_t f = 0; f < FILTERS; f++) {
        bly_filter *filter = approximator_new("approximator:m=40000,k=3,"
                                              "bits=28,parts=2", N);
        for (uint64_t i = 1; i <= N; i++)
            bly_put_hash(filter, test_random(30 + 2 * f, i),
                         i | (N + 1 - i) << 14);
        for (uint64_t i = 1; i <= N; i++) {
            uint64_t got = 0;
            assert_true(bly_get_hash(filter, test_random(30 + 2 * f, i), &got));
            wrong[0] += (got & 0x3FFF) > i;
            wrong[1] += got >> 14 > N + 1 - i;
        }
        for (uint64_t i = 0; i < N; i++)
            strangers += bly_contains_hash(filter, test_random(31 + 2 * f, i));
        bly_free(filter);
    }
    double members = approximator_wrong(4, 3, 0, 1), sd = 0.02 / sqrt(FILTERS);
    double foreign = pow(1 - exp(-3 / 4.0), 3);
    for (int p = 0; p < 2; p++)
        assert_within(wrong[p], FILTERS * N, members, sd * members);
    assert_within(strangers, FILTERS * N, foreign, sd * foreign);
}

/* Keys with only one field each: a stranger whose cells mix both is not found,
 * and stat reports how often one is. */
static void test_a_meet_of_nothing_is_no_key(void **state)
{
    (void)state;
    enum { FILTERS = 20, N = 10000 };
    uint64_t chain = 0, found = 0;
    double said = 0;
    for (uint64_t f = 0; f < FILTERS; f++) {
        bly_filter *fields = approximator_new("approximator:m=40000,k=3,"
                                              "parts=2", N);
        bly_filter *one = approximator_new("approximator:m=40000,k=3", N);
        for (uint64_t i = 0; i < N; i++) {
            uint64_t hash = test_random(80 + 2 * f, i);
            bly_put_hash(fields, hash, i % 2 ? 0x07 : 0x70);
            bly_put_hash(one, hash, i % 2 ? 0x07 : 0x70);
            assert_true(bly_contains_hash(fields, hash));
        }
        for (uint64_t i = 0; i < N; i++) {
            found += bly_contains_hash(fields, test_random(81 + 2 * f, i));
            chain += bly_contains_hash(one, test_random(81 + 2 * f, i));
        }
        bly_info_t stat;
        assert_status(bly_info(&stat, fields), BLY_OK);
        said += stat.rate / FILTERS;
        bly_free(fields);
        bly_free(one);
    }
    double half = pow(1 - exp(-3 / 8.0), 3), both = 1 - (1 - half) * (1 - half);
    double all = pow(1 - exp(-3 / 4.0), 3), sd = 0.02 / sqrt(FILTERS);
    assert_within(found, FILTERS * N, both, sd * both);
    assert_within(chain, FILTERS * N, all, sd * all);
    assert_close(said, both, 0.03);
}

static void test_parts_divide_bits(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "approximator:parts=3", "approximator:bits=1,parts=2",
        "approximator:bits=63,parts=64", "approximator:bits=4,parts=8",
    };
    bly_spec spec = { .capacity = 10 };
    bly_plan_t plan;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_status(bly_plan(&plan, bad[i], &spec), BLY_EPARAM);
        assert_non_null(strstr(bly_why(), "let parts divide bits"));
    }
    assert_status(bly_plan(&plan, "approximator:parts=65", &spec), BLY_EOPTION);
    assert_status(bly_plan(&plan, "approximator:parts=0", &spec), BLY_EOPTION);
    assert_status(bly_plan(&plan, "approximator:bits=64,parts=64", &spec),
                  BLY_OK);
    assert_true(plan.label_bits == 64 && plan.label_most == UINT64_MAX);
    bly_plan_t chain;
    assert_status(bly_plan(&chain, "approximator:bits=64", &spec), BLY_OK);
    assert_true(chain.bytes == plan.bytes && chain.rate == plan.rate);
}

/* ---- Hostile bytes ------------------------------------------------------ */

/* Any payload under a correct header, in rows of every length: verbs stay
 * inside, and single and batch lookups agree. */
static void test_any_payload(void **state)
{
    (void)state;
    enum { N = 500 };
    static uint64_t hashes[N], labels[N];
    static bool found[N];
    for (uint32_t width = 1; width <= 64; width++)
        for (unsigned m = 8; m <= 24; m += 8) {
            char kind[64];
            snprintf(kind, sizeof kind, "approximator:m=%u,k=2,bits=%u,"
                     "parts=%u", m, width, m == 16 && width % 2 == 0 ? 2
                                           : m == 24 ? width : 1);
            forged_image f = forged_of(approximator_new(kind, 5), width + m);
            for (uint64_t i = 0; i < N; i++)
                hashes[i] = test_random(8, i);
            bly_get_hashes(f.copy, hashes, N, found, labels);
            for (uint64_t i = 0; i < N; i++) {
                uint64_t label = 0;
                assert_int_equal(bly_get_hash(f.copy, hashes[i], &label),
                                 found[i]);
                assert_true(!found[i] || label == labels[i]);
            }
            for (uint64_t i = 0; i < N; i++)
                bly_put_hash(f.copy, hashes[i], approximator_draw(width, i));
            assert_status(bly_unite(f.copy, f.wrapped), BLY_OK);
            forged_free(&f);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_are_those_of_standard),
        cmocka_unit_test(test_cells_are_the_largest_labels),
        cmocka_unit_test(test_one_bit_is_standard),
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_known_errors),
        cmocka_unit_test(test_order_is_forgotten),
        cmocka_unit_test(test_wrong_labels_are_told),
        cmocka_unit_test(test_fields_are_exact_joins),
        cmocka_unit_test(test_fields_of_one_bit_are_sets),
        cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_each_field_errs_as_a_chain),
        cmocka_unit_test(test_a_meet_of_nothing_is_no_key),
        cmocka_unit_test(test_add_of_a_key_of_another_field),
        cmocka_unit_test(test_parts_divide_bits),
        cmocka_unit_test(test_any_payload),
    };
    return cmocka_run_group_tests_name("approximator", tests, NULL, NULL);
}
