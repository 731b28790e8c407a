/* image.c - the common header: every field is stored at its place in
 * little-endian order, and nothing but a complete, sealed, valid image is
 * accepted. Damage is tried at every byte with every value, and at every
 * length; forged headers carry a correct checksum.
 */
#include "test.h"

#include <ctype.h>

#include "bits/hash.h"
#include "image/image.h"

enum { PAYLOAD = 77, BYTES = IMAGE_HEADER + PAYLOAD };

static const uint64_t SEED = UINT64_C(0x1122334455667788);

/* Makes a sealed image with some payload. */
static void make(uint8_t image[BYTES])
{
    bly_plan_t plan = {
        .kind = "standard", .capacity = 1000, .bytes = BYTES, .rate = 0.0123,
        .geometry = { 616, 7, UINT64_C(0xFEDCBA9876543210), UINT64_MAX },
    };
    memset(image, 0, BYTES);
    for (int i = 0; i < PAYLOAD; i++)
        image[IMAGE_HEADER + i] = (uint8_t)test_random(1, (uint64_t)i);
    image_format(image, &plan, 3, SEED, "xxh64");
    image_set_u64(image, IMAGE_ITEMS, 42);
    image_seal(image);
}

/* Checks that bly_why() returns one readable line. */
static void check_why(void)
{
    const char *why = bly_why();
    size_t length = strlen(why);
    assert_in_range(length, 10, 511);
    for (size_t i = 0; i < length; i++)
        assert_false(iscntrl((unsigned char)why[i]));
}

static void assert_refused(bly_status got, bly_status wanted)
{
    assert_said(got, wanted);
    check_why();
}

/* Recomputes the checksum of a changed header. */
static void forge(uint8_t *image)
{
    image_set_u64(image, IMAGE_HEADER_SUM,
                  hash_xxh3(image, IMAGE_HEADER_SUM, 0));
}

/* ---- Fields ------------------------------------------------------------ */

static void test_numbers_are_little_endian_anywhere(void **state)
{
    (void)state;
    static const uint8_t eight[] = { 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22,
                                     0xF1 };
    for (size_t at = 0; at < 9; at++) {
        uint8_t memory[20];
        memset(memory, 0xAA, sizeof memory);
        image_set_u64(memory, at, UINT64_C(0xF122334455667788));
        assert_memory_equal(memory + at, eight, 8);
        assert_int_equal(image_u64(memory, at), UINT64_C(0xF122334455667788));
        image_set_u32(memory, at, 0xF1667788);
        assert_int_equal(image_u32(memory, at), 0xF1667788);
        assert_memory_equal(memory + at, eight, 3);
        assert_int_equal(memory[at + 3], 0xF1);
        assert_memory_equal(memory + at + 4, eight + 4, 4);
        for (size_t i = 0; i < sizeof memory; i++)
            assert_true((i >= at && i < at + 8) || memory[i] == 0xAA);
    }
}

static void test_doubles_keep_their_bits(void **state)
{
    (void)state;
    static const double values[] = { 0, 1, 0.01, -3.5e300, 4.9e-324 };
    uint8_t memory[9] = { 0 };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        image_set_f64(memory, 1, values[i]);
        assert_true(image_f64(memory, 1) == values[i]);
    }
    image_set_f64(memory, 1, 1);
    assert_int_equal(memory[8], 0x3F);
    assert_int_equal(memory[7], 0xF0);
    image_set_f64(memory, 1, (double)NAN);
    assert_true(isnan(image_f64(memory, 1)));
}

static void test_every_field_round_trips(void **state)
{
    (void)state;
    uint8_t image[BYTES];
    make(image);
    assert_memory_equal(image, "bloomery", 8);
    assert_memory_equal(image + 8, "standard\0\0\0\0\0\0\0\0", 16);
    assert_int_equal(image_u16(image, 24), 1);
    assert_int_equal(image_u16(image, 26), 0);
    assert_int_equal(image_u32(image, 28), 3);
    assert_int_equal(image_u64(image, 32), BYTES);
    assert_int_equal(image_u64(image, 40), 42);
    assert_int_equal(image_u64(image, 48), 1000);
    assert_true(image_f64(image, 56) == 0.0123);
    assert_int_equal(image_u64(image, 64), SEED);
    assert_memory_equal(image + 72, "xxh64\0\0", 8);
    assert_int_equal(image_geometry(image, 0), 616);
    assert_int_equal(image_u64(image, 80), 616);
    assert_int_equal(image_geometry(image, 1), 7);
    assert_int_equal(image_geometry(image, 2), UINT64_C(0xFEDCBA9876543210));
    assert_int_equal(image_geometry(image, 3), UINT64_MAX);
    assert_int_equal(image_u64(image, 112), hash_xxh3(image + 128, PAYLOAD, 0));
    assert_int_equal(image_u64(image, 120), hash_xxh3(image, 120, 0));
    assert_ptr_equal(image_payload(image), image + 128);
    assert_ptr_equal(image_payload_mut(image), image + 128);
    assert_int_equal(image_payload_bytes(image), PAYLOAD);
}

static void test_format_leaves_sums_and_payload_alone(void **state)
{
    (void)state;
    uint8_t image[BYTES];
    bly_plan_t plan = { .kind = "sixteen-letters!", .capacity = 1,
                        .bytes = BYTES, .rate = 0.5 };
    memset(image, 0, sizeof image);
    memset(image + IMAGE_HEADER, 0x5A, PAYLOAD);
    image_format(image, &plan, 1, 0, "identity");
    assert_memory_equal(image + IMAGE_KIND, "sixteen-letters!", 16);
    assert_memory_equal(image + IMAGE_HASH, "identity", 8);
    assert_int_equal(image_u64(image, IMAGE_ITEMS), 0);
    assert_int_equal(image_u64(image, IMAGE_PAYLOAD_SUM), 0);
    assert_int_equal(image_u64(image, IMAGE_HEADER_SUM), 0);
    for (int i = IMAGE_HEADER; i < BYTES; i++)
        assert_int_equal(image[i], 0x5A);
    image_seal(image);
    assert_status(image_check_header(image, BYTES), BLY_OK);
    assert_status(image_check_payload(image), BLY_OK);
}

/* ---- Sealing ----------------------------------------------------------- */

static void test_seal_and_unseal(void **state)
{
    (void)state;
    uint8_t image[BYTES], sealed[BYTES];
    make(image);
    memcpy(sealed, image, BYTES);
    assert_status(image_check_header(image, BYTES), BLY_OK);
    assert_status(image_check_sealed(image), BLY_OK);
    assert_status(image_check_payload(image), BLY_OK);

    image_unseal(image);
    assert_int_equal(image_u64(image, IMAGE_PAYLOAD_SUM), 0);
    assert_status(image_check_header(image, BYTES), BLY_OK);
    assert_refused(image_check_sealed(image), BLY_EUNSEALED);
    assert_refused(image_check_payload(image), BLY_EUNSEALED);

    image_seal(image);
    assert_memory_equal(image, sealed, BYTES);
}

static void test_every_flipped_bit_of_the_payload_is_seen(void **state)
{
    (void)state;
    uint8_t image[BYTES];
    make(image);
    for (size_t bit = 0; bit < 8 * PAYLOAD; bit++) {
        image[IMAGE_HEADER + bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_status(image_check_header(image, BYTES), BLY_OK);
        assert_refused(image_check_payload(image), BLY_ECORRUPT);
        image[IMAGE_HEADER + bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_status(image_check_payload(image), BLY_OK);
}

/* ---- Damage ------------------------------------------------------------ */

/* Returns the status that reports damage at this byte. */
static bly_status damage_at(size_t at)
{
    return at < IMAGE_KIND ? BLY_EFORMAT
         : at >= IMAGE_FORMAT && at < IMAGE_FORM ? BLY_EVERSION
         : BLY_ECORRUPT;
}

static void test_every_changed_byte_of_the_header_is_seen(void **state)
{
    (void)state;
    uint8_t image[BYTES];
    make(image);
    for (size_t at = 0; at < IMAGE_HEADER; at++)
        for (unsigned change = 1; change < 256; change++) {
            image[at] ^= (uint8_t)change;
            assert_refused(image_check_header(image, BYTES), damage_at(at));
            image[at] ^= (uint8_t)change;
        }
    assert_status(image_check_header(image, BYTES), BLY_OK);
}

/* Checks a copy that ends where its memory ends, by both functions. */
static void check_cut(const uint8_t *image, size_t bytes, bly_status wanted)
{
    uint8_t *copy = malloc(bytes > 0 ? bytes : 1);
    assert_non_null(copy);
    memcpy(copy, image, bytes);
    assert_refused(image_check_header(copy, bytes), wanted);
    assert_refused(bly_check(copy, bytes, NULL), wanted);
    free(copy);
}

static void test_every_truncation_is_seen(void **state)
{
    (void)state;
    uint8_t image[BYTES + 100] = { 0 };
    make(image);
    for (size_t bytes = 0; bytes < IMAGE_KIND; bytes++)
        check_cut(image, bytes, BLY_EFORMAT);
    for (size_t bytes = IMAGE_KIND; bytes < BYTES; bytes++)
        check_cut(image, bytes, BLY_ECORRUPT);
    for (size_t bytes = BYTES + 1; bytes <= sizeof image; bytes++)
        check_cut(image, bytes, BLY_ECORRUPT);
    assert_status(image_check_header(image, BYTES), BLY_OK);
}

static void test_what_is_no_image_at_all(void **state)
{
    (void)state;
    uint8_t noise[BYTES] = { 0 };
    check_cut(noise, BYTES, BLY_EFORMAT);
    memcpy(noise, "Bloomery", 8);
    check_cut(noise, BYTES, BLY_EFORMAT);
    memcpy(noise, "bloomery", 8);       /* format version 0 */
    check_cut(noise, BYTES, BLY_EVERSION);
    image_set_u16(noise, IMAGE_FORMAT, IMAGE_FORMAT_NOW);
    check_cut(noise, BYTES, BLY_ECORRUPT);
}

/* An image may lie at any address. */
static void test_alignment_does_not_matter(void **state)
{
    (void)state;
    for (size_t at = 0; at < 9; at++) {
        uint8_t memory[BYTES + 9];
        make(memory + at);
        assert_status(image_check_header(memory + at, BYTES), BLY_OK);
        assert_status(image_check_payload(memory + at), BLY_OK);
    }
}

/* ---- Forgery ----------------------------------------------------------- */

static bly_status status_with_rate(double rate)
{
    uint8_t image[BYTES];
    make(image);
    image_set_f64(image, IMAGE_RATE, rate);
    forge(image);
    return image_check_header(image, BYTES);
}

static void test_forged_rates(void **state)
{
    (void)state;
    static const double bad[] = { -0.0, -1, 2, 1.0000000000000002, -1e-300,
                                  1e300 };
    static const double good[] = { 1, 0.5, 1e-19, 4.9e-324, 0 };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_refused(status_with_rate(bad[i]), BLY_ECORRUPT);
    assert_refused(status_with_rate((double)NAN), BLY_ECORRUPT);
    assert_refused(status_with_rate(-(double)NAN), BLY_ECORRUPT);
    assert_refused(status_with_rate((double)INFINITY), BLY_ECORRUPT);
    assert_refused(status_with_rate(-(double)INFINITY), BLY_ECORRUPT);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_status(status_with_rate(good[i]), BLY_OK);
}

static bly_status status_with_u64(size_t at, uint64_t v, uint64_t bytes)
{
    uint8_t image[BYTES];
    make(image);
    image_set_u64(image, at, v);
    forge(image);
    return image_check_header(image, bytes);
}

static void test_forged_numbers(void **state)
{
    (void)state;
    assert_refused(status_with_u64(IMAGE_CAPACITY, 0, BYTES), BLY_ECORRUPT);
    assert_status(status_with_u64(IMAGE_CAPACITY, 1, BYTES), BLY_OK);
    assert_status(status_with_u64(IMAGE_CAPACITY, UINT64_MAX, BYTES), BLY_OK);
    assert_status(status_with_u64(IMAGE_ITEMS, IMAGE_ITEMS_UNKNOWN, BYTES),
                  BLY_OK);
    static const uint64_t sizes[] = { 0, 1, 127, 128, BYTES - 1, BYTES + 1,
                                      UINT64_MAX };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        assert_refused(status_with_u64(IMAGE_BYTES, sizes[i], BYTES),
                       BLY_ECORRUPT);
    /* a header alone is a valid size; sizes beyond any file are not, and what
     * cannot be addressed here may be valid elsewhere */
    assert_status(status_with_u64(IMAGE_BYTES, UINT64_C(1) << 40,
                                  UINT64_C(1) << 40),
                  sizeof(size_t) > 4 ? BLY_OK : BLY_ETOOBIG);
    assert_status(status_with_u64(IMAGE_BYTES, IMAGE_HEADER, IMAGE_HEADER),
                  BLY_OK);
    assert_refused(status_with_u64(IMAGE_BYTES, UINT64_MAX, UINT64_MAX),
                   BLY_ECORRUPT);
    assert_refused(status_with_u64(IMAGE_BYTES, UINT64_C(1) << 63,
                                   UINT64_C(1) << 63), BLY_ECORRUPT);
}

static void test_forged_versions(void **state)
{
    (void)state;
    static const uint32_t others[] = { 0, 2, 3, 256, UINT16_MAX };
    uint8_t image[BYTES];
    make(image);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        image_set_u16(image, IMAGE_FORMAT, others[i]);
        assert_refused(image_check_header(image, BYTES), BLY_EVERSION);
        forge(image);
        assert_refused(image_check_header(image, BYTES), BLY_EVERSION);
    }
}

/* A form is a class, or text with changes: all others are refused. */
static void test_forged_forms(void **state)
{
    (void)state;
    uint8_t image[BYTES];
    uint64_t forms = 0;
    make(image);
    for (uint64_t form = 0; form <= UINT16_MAX; form++) {
        bool text = (form & 15) == 2 || (form & 15) == 8;
        bool known = text ? form < 2048 : form < 13;
        image_set_u16(image, IMAGE_FORM, form);
        forge(image);
        assert_int_equal(image_is_form(form), known);
        if (known)
            assert_status(image_check_header(image, BYTES), BLY_OK);
        else
            assert_refused(image_check_header(image, BYTES), BLY_EVERSION);
        forms += known;
    }
    assert_int_equal(forms, 11 + 2 * 128);
    assert_false(image_is_form(UINT64_C(0x10002)));
}

static bly_status status_with_hash(const char name[8])
{
    uint8_t image[BYTES];
    make(image);
    memcpy(image + IMAGE_HASH, name, 8);
    forge(image);
    return image_check_header(image, BYTES);
}

static void test_forged_hash_names(void **state)
{
    (void)state;
    assert_refused(status_with_hash("sha256\0"), BLY_EHASH);
    assert_refused(status_with_hash("\0\0\0\0\0\0\0"), BLY_EHASH);
    assert_refused(status_with_hash("xxh3\0xx"), BLY_EHASH);
    assert_refused(status_with_hash("XXH3\0\0\0"), BLY_EHASH);
    assert_refused(status_with_hash("\n\r\t\x1B\x7F\n\n"), BLY_EHASH);
    assert_refused(status_with_hash("%s%n%s%"), BLY_EHASH);
    for (const hash_info *h = hash_list; h->name != NULL; h++) {
        char name[HASH_NAME + 1] = { 0 };
        memcpy(name, h->name, strlen(h->name));
        assert_status(status_with_hash(name), BLY_OK);
    }
}

/* ---- A real filter ----------------------------------------------------- */

/* Through the public interface: bly_check accepts no changed byte and no forged
 * payload checksum. */
static void test_bly_check_sees_every_changed_byte(void **state)
{
    (void)state;
    bly_filter *filter = NULL;
    bly_spec want = { .capacity = 50, .rate = 0.01 };
    size_t bytes = 0;
    assert_status(bly_new(&filter, "standard", &want), BLY_OK);
    assert_status(bly_add(filter, "key", 3), BLY_OK);
    const void *original = bly_image(filter, &bytes);
    uint8_t *image = malloc(bytes);
    assert_non_null(image);
    memcpy(image, original, bytes);
    bly_free(filter);

    assert_status(bly_check(image, bytes, NULL), BLY_OK);
    for (size_t at = 0; at < bytes; at++)
        for (unsigned change = 1; change < 256; change++) {
            image[at] ^= (uint8_t)change;
            assert_refused(bly_check(image, bytes, NULL), damage_at(at));
            image[at] ^= (uint8_t)change;
        }
    image_set_u64(image, IMAGE_PAYLOAD_SUM, 1);
    forge(image);
    assert_refused(bly_check(image, bytes, NULL), BLY_ECORRUPT);
    image_unseal(image);
    assert_refused(bly_check(image, bytes, NULL), BLY_EUNSEALED);
    image_seal(image);
    assert_status(bly_check(image, bytes, NULL), BLY_OK);
    free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_little_endian_anywhere),
        cmocka_unit_test(test_doubles_keep_their_bits),
        cmocka_unit_test(test_every_field_round_trips),
        cmocka_unit_test(test_format_leaves_sums_and_payload_alone),
        cmocka_unit_test(test_seal_and_unseal),
        cmocka_unit_test(test_every_flipped_bit_of_the_payload_is_seen),
        cmocka_unit_test(test_every_changed_byte_of_the_header_is_seen),
        cmocka_unit_test(test_every_truncation_is_seen),
        cmocka_unit_test(test_what_is_no_image_at_all),
        cmocka_unit_test(test_alignment_does_not_matter),
        cmocka_unit_test(test_forged_rates),
        cmocka_unit_test(test_forged_numbers),
        cmocka_unit_test(test_forged_versions),
        cmocka_unit_test(test_forged_forms),
        cmocka_unit_test(test_forged_hash_names),
        cmocka_unit_test(test_bly_check_sees_every_changed_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
