/* images.c - laws about images: saving, packing, copying and damage. */
#include "laws/laws.h"

#include <unistd.h>

/* Both filters give the same answers to 20,000 lookups. */
static void laws_same_answers(const bly_filter *a, const bly_filter *b)
{
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t hash = test_random(1, i);
        assert_int_equal(bly_contains_hash(a, hash),
                         bly_contains_hash(b, hash));
    }
}

#ifndef BLY_WITHOUT_SYSTEM
/* Opens a saved filter. A packed file cannot be changed in place. */
static void laws_round_trip(const bly_filter *filter, const char *path,
                            int flags)
{
    bly_filter *again = NULL;
    if (laws_kind->packing != NULL && (flags & BLY_WRITE)) {
        assert_status(bly_open(&again, path, flags, NULL), BLY_EUNSUPPORTED);
        assert_null(again);
        return;
    }
    assert_status(bly_open(&again, path, flags, NULL), BLY_OK);
    laws_same_answers(filter, again);
    assert_true(laws_same_bytes(filter, again));
    bly_free(again);
}

static void law_save_load_map(void **state)
{
    (void)state;
    bly_filter *filter = laws_of(3000, 0.02, 1, 3000);
    char path[64];
    snprintf(path, sizeof path, "laws-%ld.bly", (long)getpid());
    assert_status(bly_save(filter, path), BLY_OK);
    laws_round_trip(filter, path, 0);
    laws_round_trip(filter, path, BLY_MAP);
    laws_round_trip(filter, path, BLY_MAP | BLY_VERIFY);
    laws_round_trip(filter, path, BLY_MAP | BLY_WRITE);
    assert_int_equal(unlink(path), 0);
    bly_free(filter);
}
#endif

static void law_wrap(void **state)
{
    (void)state;
    bly_filter *filter = laws_of(3000, 0.02, 1, 3000);
    size_t bytes;
    const void *image = bly_image(filter, &bytes);
    for (size_t shift = 0; shift < 9; shift++) {
        uint8_t *room = malloc(bytes + shift);
        assert_non_null(room);
        memcpy(room + shift, image, bytes);
        bly_filter *borrowed = NULL;
        assert_status(bly_wrap(&borrowed, room + shift, bytes, NULL), BLY_OK);
        laws_same_answers(filter, borrowed);
        assert_status(bly_add_hash(borrowed, 1),
                      laws_frozen() ? BLY_EUNSUPPORTED : BLY_EREADONLY);
        bly_free(borrowed);
        free(room);
    }
    bly_free(filter);
}

/* Packing into memory takes as many bytes as bly_info reports; for a kind that
 * does not pack, the result is the image. Truncated and damaged bytes are
 * refused. */
static void law_packed_and_unpacked(void **state)
{
    (void)state;
    bly_filter *filter = laws_of(3000, 0.02, 1, 3000), *again = NULL;
    size_t bytes, used = 0;
    bly_info_t stat;
    bly_image(filter, &bytes);
    bly_info(&stat, filter);
    uint8_t *packed = malloc(bytes);
    assert_non_null(packed);
    assert_status(bly_pack(filter, packed, bytes - 1, &used), BLY_EPARAM);
    assert_status(bly_pack(filter, packed, bytes, &used), BLY_OK);
    assert_true(used <= bytes);
    if (laws_kind->packing == NULL) {
        assert_true(stat.packed == 0 && used == bytes);
        assert_memory_equal(packed, bly_image(filter, NULL), bytes);
    } else {
        assert_true(fabs((double)used - (double)stat.packed) <= 2);
        assert_status(bly_wrap(&again, packed, used, NULL), BLY_EUNSUPPORTED);
    }
    assert_status(bly_check(packed, used, NULL), BLY_OK);
    assert_status(bly_unpack(&again, packed, used, NULL), BLY_OK);
    laws_same_answers(filter, again);
    assert_true(laws_same_bytes(filter, again));
    bly_free(again);
    again = NULL;
    for (size_t cut = 0; cut < used; cut += 1 + cut / 9) {
        uint8_t *part = malloc(cut + 1);
        assert_non_null(part);
        memcpy(part, packed, cut);
        assert_true(bly_unpack(&again, part, cut, NULL) < 0);
        free(part);
    }
    for (size_t at = 0; at < used; at += at < IMAGE_HEADER ? 1 : 7) {
        packed[at] ^= 0x10;
        assert_true(bly_unpack(&again, packed, used, NULL) < 0);
        packed[at] ^= 0x10;
    }
    assert_null(again);
    free(packed);
    bly_free(filter);
}

/* A filter from bly_like has the same plan: filled with the same keys it has
 * the same bytes. */
static void law_like_is_the_same_plan(void **state)
{
    (void)state;
    LAWS_NEED_ADD();
    bly_filter *filter = laws_of(3000, 0.02, 1, 3000), *like = NULL;
    bly_status status = bly_like(&like, filter, NULL);
    if (KIND_HAS(laws_kind, combining, overlap) && laws_kind->growing == NULL)
        assert_said(status, BLY_OK);  /* to compare keys with a filter */
    if (status != BLY_EUNSUPPORTED) {
        assert_said(status, BLY_OK);
        assert_int_equal(laws_present(like, 1, 3000), 0);
        for (uint64_t i = 0; i < 3000; i++)
            assert_true(bly_add_hash(like, test_random(1, i)) >= 0);
        assert_true(laws_same_bytes(like, filter));
        bly_free(like);
    }
    bly_free(filter);
}

/* A cleared filter equals a new one, in the same memory. A filter that cannot
 * be cleared is unchanged. */
static void law_clear_takes_all_out(void **state)
{
    (void)state;
    LAWS_NEED_ADD();
    bly_filter *filter = laws_of(3000, 0.02, 1, 3000), *like = NULL;
    bly_filter *before = NULL;
    bly_status status = bly_like(&like, filter, NULL);
    assert_said(bly_copy(&before, filter, NULL), BLY_OK);
    assert_said(bly_clear(filter), status);
    if (status == BLY_OK) {
        bly_info_t stat;
        assert_true(laws_same_bytes(like, filter));
        assert_status(bly_info(&stat, filter), BLY_OK);
        assert_true(stat.items == 0 && stat.items_exact);
        for (uint64_t i = 0; i < 3000; i++)
            assert_true(bly_add_hash(filter, test_random(1, i)) >= 0);
    }
    assert_true(laws_same_bytes(before, filter));
    bly_free(before);
    bly_free(like);
    bly_free(filter);
}

static void law_build_and_copy(void **state)
{
    (void)state;
    static uint64_t hashes[2000];
    uint64_t n = laws_room(2000), different = n - n / 20;
    for (uint64_t i = 0; i < n; i++)
        hashes[i] = test_random(1, i % different);  /* some of them twice */
    static uint64_t before[2000];
    memcpy(before, hashes, sizeof before);
    bly_filter *built = NULL, *copy = NULL;
    assert_status(bly_build(&built, laws_kind->name, NULL,
                            &(bly_keys){ .n = n, .hashes = hashes }),
                  BLY_OK);
    assert_memory_equal(hashes, before, sizeof before);
    uint64_t found = laws_present(built, 1, different);
    assert_true(found == different || !laws_remembers(n));
    assert_status(bly_copy(&copy, built, NULL), BLY_OK);
    assert_true(laws_same_bytes(built, copy));
    bly_free(built);
    assert_int_equal(laws_present(copy, 1, different), found);
    bly_free(copy);
    if (!laws_unplanned())
        assert_status(bly_build(&built, laws_kind->name, NULL,
                                &(bly_keys){ .hashes = hashes }),
                      BLY_EPARAM);
}

/* Every truncation, and every change of a byte of the header, is refused by
 * each function that takes an image; damage to the payload by bly_check. */
static void law_damage_is_found(void **state)
{
    (void)state;
    uint64_t n = laws_exact() ? 12 : 200;       /* all of it, for each bit */
    bly_filter *filter = laws_of(n, 0.01, 1, n), *none = NULL;
    size_t bytes;
    const uint8_t *good = bly_image(filter, &bytes);
    uint8_t *image = malloc(bytes);
    assert_non_null(image);
    memcpy(image, good, bytes);
    assert_status(bly_check(image, bytes, NULL), BLY_OK);
    for (size_t cut = 0; cut < bytes; cut++) {
        uint8_t *part = malloc(cut + 1);
        assert_non_null(part);
        memcpy(part, image, cut);
        assert_true(bly_check(part, cut, NULL) < 0);
        assert_true(bly_wrap(&none, part, cut, NULL) < 0);
        free(part);
    }
    for (size_t at = 0; at < IMAGE_HEADER; at++)
        for (unsigned flip = 1; flip < 256; flip++) {
            image[at] ^= (uint8_t)flip;
            assert_true(bly_check(image, bytes, NULL) < 0);
            assert_true(bly_wrap(&none, image, bytes, NULL) < 0);
            image[at] ^= (uint8_t)flip;
        }
    for (size_t at = IMAGE_HEADER; at < bytes; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            image[at] ^= (uint8_t)(1u << bit);
            assert_status(bly_check(image, bytes, NULL), BLY_ECORRUPT);
            image[at] ^= (uint8_t)(1u << bit);
        }
    assert_null(none);
    assert_status(bly_check(image, bytes, NULL), BLY_OK);
    free(image);
    bly_free(filter);
}

/* A forged geometry with correct checksums may be accepted, but then every verb
 * stays inside the image (checked by the sanitizers). */
static void law_forged_geometry_stays_inside(void **state)
{
    (void)state;
    static const uint64_t values[] = {
        0, 1, 2, 7, 8, 31, 32, 33, 63, 64, 65, 255, 256, 511, 512, 1000,
        UINT64_C(1) << 31, (UINT64_C(1) << 32) + 1, UINT64_C(1) << 48,
        UINT64_C(1) << 60, UINT64_C(1) << 63, UINT64_MAX,
    };
    bly_filter *filter = laws_of(200, 0.01, 1, 200);
    size_t bytes;
    const void *good = bly_image(filter, &bytes);
    uint8_t *image = malloc(bytes);
    assert_non_null(image);
    for (size_t field = 0; field < IMAGE_GEOMETRY_FIELDS; field++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            memcpy(image, good, bytes);
            image_set_u64(image, IMAGE_GEOMETRY + 8 * field, values[v]);
            image_seal(image);
            bly_filter *forged = NULL, *copy = NULL;
            if (bly_wrap(&forged, image, bytes, NULL) != BLY_OK)
                continue;
            assert_status(bly_copy(&copy, forged, NULL), BLY_OK);
            laws_present(forged, 5, 2000);
            for (uint64_t i = 0; i < 2000; i++)
                bly_add_hash(copy, test_random(6, i));
            bly_info_t stat;
            bly_info(&stat, copy);
            bly_free(copy);
            bly_free(forged);
        }
    free(image);
    bly_free(filter);
}

/* In kinds that consist of bits only, the state does not depend on the order of
 * the keys. */
static void law_bits_forget_the_order(void **state)
{
    (void)state;
    if (strcmp(laws_kind->family, "sets") != 0
        || !KIND_HAS(laws_kind, combining, unite))
        skip();
    bly_filter *up = laws_new(1000, 0.01, 0, 0);
    bly_filter *down = laws_new(1000, 0.01, 0, 0);
    for (uint64_t i = 0; i < 1000; i++) {
        bly_add_hash(up, test_random(1, i));
        bly_add_hash(down, test_random(1, 999 - i));
    }
    assert_true(laws_same_bytes(up, down));
    bly_free(up);
    bly_free(down);
}

static const struct CMUnitTest images_laws[] = {
#ifndef BLY_WITHOUT_SYSTEM
    cmocka_unit_test(law_save_load_map),
#endif
    cmocka_unit_test(law_wrap),
    cmocka_unit_test(law_packed_and_unpacked),
    cmocka_unit_test(law_like_is_the_same_plan),
    cmocka_unit_test(law_clear_takes_all_out),
    cmocka_unit_test(law_build_and_copy),
    cmocka_unit_test(law_damage_is_found),
    cmocka_unit_test(law_forged_geometry_stays_inside),
    cmocka_unit_test(law_bits_forget_the_order),
};

const laws_group laws_images = LAWS_GROUP(images_laws);
