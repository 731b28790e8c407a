/* compressed.c - tests specific to kind `compressed`: its paper's numbers, a
 * packed form that is minimal and lossless, and harmless hostile input.
 */
#include <unistd.h>

#include "test.h"

#include "bits/bits.h"
#include "image/image.h"
#include "maths/maths.h"

static bly_filter *compressed_of(const char *kind, uint64_t capacity,
                                 double rate, uint64_t n)
{
    bly_spec spec = { .capacity = capacity, .rate = rate };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    for (uint64_t i = 0; i < n; i++)
        assert_true(bly_add_hash(filter, test_random(1, i)) >= 0);
    return filter;
}

/* Returns the packed form, to be freed. */
static uint8_t *compressed_packed(const bly_filter *filter, size_t *used)
{
    size_t bytes;
    bly_image(filter, &bytes);
    uint8_t *packed = malloc(bytes);
    assert_non_null(packed);
    assert_status(bly_pack(filter, packed, bytes, used), BLY_OK);
    assert_true(used[0] <= bytes);
    return packed;
}

static void compressed_same(const bly_filter *a, const bly_filter *b)
{
    size_t a_bytes, b_bytes;
    const void *a_image = bly_image(a, &a_bytes);
    const void *b_image = bly_image(b, &b_bytes);
    assert_int_equal(a_bytes, b_bytes);
    assert_memory_equal(a_image, b_image, a_bytes);
}

/* Packs and unpacks; returns the packed size. */
static size_t compressed_round_trip(const bly_filter *filter)
{
    size_t used;
    bly_filter *again = NULL;
    uint8_t *packed = compressed_packed(filter, &used);
    assert_status(bly_check(packed, used, NULL), BLY_OK);
    assert_status(bly_unpack(&again, packed, used, NULL), BLY_OK);
    compressed_same(filter, again);
    bly_free(again);
    free(packed);
    return used;
}

/* ---- The literature ---------------------------------------------------- */

/* [Mitzenmacher 2002], tables 1 and 2: bits per key in memory and in transit,
 * probes, rate. (Their plain filters, the first of each three, are not coded: m
 * H(p) is slightly less than m.) */
static const struct {
    unsigned m, k;
    double   z, rate;
} compressed_table[] = {
    {  8,  6,  7.982, 0.021577 },
    { 14,  2,  7.923, 0.017721 },
    { 92,  1,  7.923, 0.010811 },
    { 16, 11, 16.000, 0.000459 },
    { 28,  4, 15.846, 0.000314 },
    { 48,  3, 15.829, 0.000222 },
};
enum { COMPRESSED_ROWS = sizeof compressed_table / sizeof *compressed_table };

static void compressed_row_kind(char kind[64], size_t row, uint64_t n)
{
    snprintf(kind, 64, "compressed:m=%llu,k=%u",
             (unsigned long long)(compressed_table[row].m * n),
             compressed_table[row].k);
}

/* The paper does not count a header. */
static double compressed_bits_a_key(uint64_t packed, uint64_t n)
{
    return 8 * (double)(packed - IMAGE_HEADER) / (double)n;
}

static void test_table_is_planned(void **state)
{
    (void)state;
    enum { N = 1000000 };
    for (size_t row = 0; row < COMPRESSED_ROWS; row++) {
        char kind[64];
        bly_spec spec = { .capacity = N };
        bly_plan_t plan;
        compressed_row_kind(kind, row, N);
        assert_status(bly_plan(&plan, kind, &spec), BLY_OK);
        assert_true(fabs(plan.rate - compressed_table[row].rate) < 1e-6);
        double z = compressed_bits_a_key(plan.packed, N);
        assert_true(fabs(z - compressed_table[row].z) < 0.001);
    }
}

static void test_table_is_measured(void **state)
{
    (void)state;
    TEST_STATISTICS();
    enum { N = 200000, ASKED = 4000000 };
    for (size_t row = 0; row < COMPRESSED_ROWS; row++) {
        char kind[64];
        bly_spec spec = { .capacity = N };
        bly_plan_t plan;
        compressed_row_kind(kind, row, N);
        assert_status(bly_plan(&plan, kind, &spec), BLY_OK);
        bly_filter *filter = compressed_of(kind, N, 0, N);
        size_t used = compressed_round_trip(filter);
        double z = compressed_bits_a_key(used, N);
        assert_close(z, compressed_table[row].z, 0.003);
        assert_close((double)used, (double)plan.packed, 0.003);
        uint64_t hits = 0;
        for (uint64_t i = 0; i < ASKED; i++)
            hits += bly_contains_hash(filter, test_random(2, i));
        assert_within(hits, ASKED, plan.rate, plan.rate_sd);
        bly_free(filter);
    }
}

/* ---- The plan ---------------------------------------------------------- */

/* Among all numbers of probes that the memory allows, up to a plain filter's,
 * the chosen one gives the smallest packed form. */
static void test_choice_is_best(void **state)
{
    (void)state;
    static const double rates[] = { 0.3, 0.1, 0.03, 0.01, 0.001, 1e-5, 1e-9 };
    static const unsigned memories[] = { 1, 12, 20, 60, 128, 1000, 20000 };
    static const char *const inside[] = { "standard", "partitioned" };
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
        for (size_t c = 0; c < 2 * sizeof memories / sizeof *memories; c++) {
            bly_spec spec = { .capacity = 30000, .rate = rates[r] };
            bly_plan_t plain, best, other;
            char kind[96];
            unsigned memory = memories[c / 2];
            assert_status(bly_plan(&plain, inside[c % 2], &spec), BLY_OK);
            snprintf(kind, sizeof kind, "compressed:of=%s,memory=%u",
                     inside[c % 2], memory);
            assert_status(bly_plan(&best, kind, &spec), BLY_OK);
            assert_true(best.rate <= rates[r] * (1 + 1e-6));
            assert_true(best.packed <= plain.bytes + 1);
            assert_true(best.bits_per_key <= memory + 0.1
                        || best.probes == plain.probes);
            for (unsigned k = 1; k <= plain.probes; k++) {
                snprintf(kind, sizeof kind, "compressed:of=%s,k=%u",
                         inside[c % 2], k);
                assert_status(bly_plan(&other, kind, &spec), BLY_OK);
                assert_true(other.packed >= best.packed
                            || other.bits_per_key > memory);
            }
        }
}

/* More memory never makes the packed form larger. A given m is used, with as
 * few probes as reach the rate. */
static void test_memory_helps(void **state)
{
    (void)state;
    bly_spec spec = { .capacity = 100000, .rate = 0.001 };
    bly_plan_t plan;
    uint64_t last = UINT64_MAX;
    for (unsigned memory = 1; memory < 3000; memory += 1 + memory / 4) {
        char kind[64];
        snprintf(kind, sizeof kind, "compressed:memory=%u", memory);
        assert_status(bly_plan(&plan, kind, &spec), BLY_OK);
        assert_true(plan.packed <= last);
        last = plan.packed;
    }
    assert_true(compressed_bits_a_key(last, 100000) < 11.41);
    assert_status(bly_plan(&plan, "compressed", &spec), BLY_OK);
    assert_true(plan.probes == 2 && plan.bits_per_key < 62.5);
    assert_true(fabs(compressed_bits_a_key(plan.packed, 100000) - 12.602)
                < 0.002);

    assert_status(bly_plan(&plan, "compressed:m=3000000", &spec), BLY_OK);
    assert_true(plan.geometry[1] == 3000000 && plan.probes == 3);
    assert_true(plan.rate <= 0.001 * (1 + 1e-6));
    assert_status(bly_plan(&plan, "compressed:m=1000000", &spec), BLY_OK);
    assert_int_equal(plan.probes, 7);   /* too few for the rate: its best */
    spec.capacity = 0;
    assert_status(bly_plan(&plan, "compressed:m=1000000", &spec), BLY_OK);
    assert_true(plan.rate <= 0.001 * (1 + 1e-6) && plan.capacity > 60000);
    assert_status(bly_plan(&plan, "standard", &spec), BLY_EPARAM);
    spec = (bly_spec){ .capacity = UINT64_C(1) << 50, .rate = 0.001 };
    assert_status(bly_plan(&plan, "compressed", &spec), BLY_ETOOBIG);
}

/* ---- The packed form --------------------------------------------------- */

static uint64_t compressed_set_bits(const bly_filter *filter, uint64_t *bits)
{
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    *bits = image_geometry(image, 1)
          * (image_geometry(image, 0) == 1 ? image_geometry(image, 2) : 1);
    return bits_count(image + 2 * IMAGE_HEADER, bytes - 2 * IMAGE_HEADER);
}

/* From empty to full, within 1 % and 128 bits of the entropy. */
static void test_every_density(void **state)
{
    (void)state;
    static const char *const kinds[] = {
        "compressed:m=10007,k=1", "compressed:m=100003,k=5",
        "compressed:m=1000001,k=64", "compressed:of=partitioned,m=80008,k=7",
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bly_filter *filter = compressed_of(kinds[i], 1000, 0, 0);
        uint64_t bits, set = 0, in = 0;
        for (uint64_t n = 0; ; n += 1 + n / 3) {
            for (; in < n; in++)
                bly_add_hash(filter, test_random(1, in));
            set = compressed_set_bits(filter, &bits);
            double share = (double)set / (double)bits;
            size_t used = compressed_round_trip(filter);
            bly_info_t stat;
            bly_info(&stat, filter);
            assert_true(8 * (double)(used - IMAGE_HEADER)
                        <= 1.01 * (double)bits * math_entropy(share) + 128);
            assert_true(fabs((double)used - (double)stat.packed) <= 2);
            assert_true(used <= IMAGE_HEADER + bits / 8 + 1);
            if (set == bits)
                break;
        }
        assert_int_equal(compressed_round_trip(filter), IMAGE_HEADER);
        bly_free(filter);
    }
}

static void test_every_small_size(void **state)
{
    (void)state;
    for (unsigned m = 1; m < 200; m++)
        for (unsigned n = 0; n < 40; n += 1 + n / 2) {
            char kind[64];
            snprintf(kind, sizeof kind, "compressed:m=%u,k=%u", m, 1 + m % 5);
            bly_filter *filter = compressed_of(kind, 10, 0, n);
            size_t used = compressed_round_trip(filter);
            assert_true(used <= IMAGE_HEADER + (m + 7) / 8);
            bly_free(filter);
        }
}

/* A byte unpacks to at most 8192: nearly empty large filters are padded to
 * that. */
static void test_swell_is_bounded(void **state)
{
    (void)state;
    const uint64_t m = UINT64_C(1) << 28;
    bly_filter *filter = compressed_of("compressed:m=268435456,k=1", 1000, 0,
                                       3);
    size_t used;
    uint8_t *packed = compressed_packed(filter, &used);
    bly_filter *again = NULL;
    assert_int_equal(used, m / 8 / 8192);
    assert_status(bly_unpack(&again, packed, used, NULL), BLY_OK);
    compressed_same(filter, again);
    bly_free(again);
    again = NULL;
    image_set_u64(packed, IMAGE_BYTES, used - 1);
    image_seal(packed);
    assert_status(bly_unpack(&again, packed, used - 1, NULL), BLY_ECORRUPT);
    assert_null(again);
    free(packed);
    bly_free(filter);
}

/* The worked example of docs/format/kinds. */
static void test_example_of_the_specification(void **state)
{
    (void)state;
    static const uint8_t code[] = { 0xd7, 0x3c, 0x25, 0x09 };
    bly_filter *filter = compressed_of("compressed:m=1000,k=3", 100, 0, 0);
    size_t used;
    assert_status(bly_add(filter, "swordfish", 9), BLY_OK);
    uint8_t *packed = compressed_packed(filter, &used);
    assert_int_equal(used, IMAGE_HEADER + sizeof code);
    assert_int_equal(image_geometry(packed, 3), 12884902);
    assert_memory_equal(packed + IMAGE_HEADER, code, sizeof code);
    free(packed);
    bly_free(filter);
}

/* ---- Hostile bytes ----------------------------------------------------- */

/* A packed image with changed numbers and matching checksums: refused, or a
 * valid filter. */
static void compressed_forged(uint8_t *packed, size_t used)
{
    bly_filter *again = NULL, *none = NULL;
    size_t bytes;
    image_seal(packed);
    bly_status status = bly_unpack(&again, packed, used, NULL);
    assert_int_equal(status, bly_check(packed, used, NULL));
    if (status != BLY_OK) {
        assert_true(status == BLY_ECORRUPT && again == NULL);
        return;
    }
    const void *image = bly_image(again, &bytes);
    assert_true(bytes <= 256 + 8192 * used);
    assert_status(bly_check(image, bytes, NULL), BLY_OK);
    for (uint64_t i = 0; i < 100; i++)
        assert_true(bly_add_hash(again, test_random(1, i)) >= 0);
    compressed_round_trip(again);
    bly_free(again);
    status = bly_wrap(&none, packed, used, NULL);
    if (status == BLY_OK)               /* its chance was set to 0 */
        bly_free(none);
    else
        assert_int_equal(status, BLY_EUNSUPPORTED);
}

static void test_forged_geometry(void **state)
{
    (void)state;
    static const uint64_t values[] = {
        0, 1, 2, 7, 8, 31, 32, 63, 64, 65, 1000, 1 << 20, UINT32_MAX - 1,
        UINT32_MAX, UINT64_C(1) << 31, (UINT64_C(1) << 32) + 1,
        UINT64_C(1) << 54, (UINT64_C(1) << 54) + 1, UINT64_C(1) << 58,
        UINT64_C(1) << 60, UINT64_C(1) << 63, UINT64_MAX,
    };
    enum { VALUES = sizeof values / sizeof *values };
    bly_filter *filter = compressed_of("compressed", 100, 0.01, 100);
    size_t used;
    uint8_t *packed = compressed_packed(filter, &used);
    uint8_t *forged = malloc(used);
    assert_non_null(forged);
    for (size_t field = 0; field < IMAGE_GEOMETRY_FIELDS; field++)
        for (size_t other = 0; other < IMAGE_GEOMETRY_FIELDS; other++)
            for (size_t v = 0; v < VALUES * VALUES; v++) {
                memcpy(forged, packed, used);
                image_set_u64(forged, IMAGE_GEOMETRY + 8 * field,
                              values[v / VALUES]);
                image_set_u64(forged, IMAGE_GEOMETRY + 8 * other,
                              values[v % VALUES]);
                compressed_forged(forged, used);
            }
    for (uint64_t i = 0; i < 500; i++) {
        memcpy(forged, packed, used);
        for (size_t at = IMAGE_HEADER; at < used; at++)
            forged[at] = i == 0 ? 0xFF : (uint8_t)test_random(i, at);
        compressed_forged(forged, used);
    }
    free(forged);
    free(packed);
    bly_free(filter);
}

/* The inner header must match the outer one. */
static void test_inner_header_is_checked(void **state)
{
    (void)state;
    bly_filter *filter = compressed_of("compressed", 50, 0.01, 50);
    bly_filter *none = NULL;
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    uint8_t *forged = malloc(bytes);
    assert_non_null(forged);
    for (size_t i = 0; i < IMAGE_HEADER; i++) {
        memcpy(forged, image, bytes);
        forged[IMAGE_HEADER + i] ^= 0x41;
        image_seal(forged);
        assert_status(bly_wrap(&none, forged, bytes, NULL), BLY_ECORRUPT);
        if (i >= IMAGE_PAYLOAD_SUM)
            continue;
        image_unseal(forged + IMAGE_HEADER);    /* a sound checksum */
        image_seal(forged);
        assert_status(bly_wrap(&none, forged, bytes, NULL), BLY_ECORRUPT);
    }
    free(forged);
    bly_free(filter);
}

/* ---- Files ------------------------------------------------------------- */

static void compressed_write(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

/* A saved file is packed and cannot be mapped, but opens; an unpacked image can
 * be mapped and changed. */
static void test_files(void **state)
{
    (void)state;
    bly_filter *filter = compressed_of("compressed", 5000, 0.01, 5000);
    bly_filter *opened = NULL;
    size_t bytes, used;
    const void *image = bly_image(filter, &bytes);
    uint8_t *packed = compressed_packed(filter, &used);
    char path[64];
    snprintf(path, sizeof path, "compressed-%ld.bly", (long)getpid());

    assert_status(bly_save(filter, path), BLY_OK);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    uint8_t *saved = malloc(used + 1);
    assert_non_null(saved);
    assert_int_equal(fread(saved, 1, used + 1, file), used);
    assert_memory_equal(saved, packed, used);
    fclose(file);
    assert_status(bly_open(&opened, path, BLY_MAP, NULL), BLY_OK);
    assert_status(bly_add_hash(opened, 1), BLY_EREADONLY);
    compressed_same(filter, opened);
    bly_free(opened);
    opened = NULL;
    assert_status(bly_open(&opened, path, BLY_MAP | BLY_WRITE, NULL),
                  BLY_EUNSUPPORTED);
    assert_non_null(strstr(bly_why(), path));
    assert_null(opened);
    saved[used - 1] ^= 1;               /* found without BLY_VERIFY too */
    compressed_write(path, saved, used);
    assert_status(bly_open(&opened, path, BLY_MAP, NULL), BLY_ECORRUPT);

    compressed_write(path, image, bytes);
    assert_status(bly_open(&opened, path, BLY_MAP | BLY_WRITE, NULL), BLY_OK);
    assert_true(bly_add_hash(opened, 1) >= 0);
    bly_free(opened);
    assert_status(bly_open(&opened, path, BLY_MAP, NULL), BLY_OK);
    assert_true(bly_contains_hash(opened, 1));
    bly_free(opened);
    assert_int_equal(unlink(path), 0);
    free(saved);
    free(packed);
    bly_free(filter);
}

static void *compressed_allocate(void *context, size_t alignment, size_t bytes)
{
    unsigned *left = context;
    return *left > 0 && (*left)-- > 0
         ? aligned_alloc(alignment, (bytes + alignment - 1) / alignment
                                    * alignment)
         : NULL;
}

static void compressed_release(void *context, void *memory, size_t bytes)
{
    (void)context, (void)bytes;
    free(memory);
}

/* If memory for packing is missing, saving reports it and keeps the old
 * file. */
static void test_no_memory_to_save(void **state)
{
    (void)state;
    unsigned left = 2;
    bly_allocator allocator = { compressed_allocate, compressed_release,
                                &left };
    bly_spec spec = { .capacity = 1000, .allocator = &allocator };
    bly_filter *filter = NULL, *opened = NULL;
    char path[64];
    snprintf(path, sizeof path, "compressed-%ld.bly", (long)getpid());
    assert_status(bly_new(&filter, "compressed", &spec), BLY_OK);
    left = 1;
    assert_status(bly_save(filter, path), BLY_OK);
    bly_add_hash(filter, 1);
    assert_status(bly_save(filter, path), BLY_ENOMEM);
    assert_non_null(strstr(bly_why(), path));
    assert_status(bly_open(&opened, path, 0, NULL), BLY_OK);
    assert_false(bly_contains_hash(opened, 1));
    bly_free(opened);
    bly_free(filter);
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_is_planned),
        cmocka_unit_test(test_table_is_measured),
        cmocka_unit_test(test_choice_is_best),
        cmocka_unit_test(test_memory_helps),
        cmocka_unit_test(test_every_density),
        cmocka_unit_test(test_every_small_size),
        cmocka_unit_test(test_swell_is_bounded),
        cmocka_unit_test(test_example_of_the_specification),
        cmocka_unit_test(test_forged_geometry),
        cmocka_unit_test(test_inner_header_is_checked),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_no_memory_to_save),
    };
    return cmocka_run_group_tests_name("compressed", tests, NULL, NULL);
}
