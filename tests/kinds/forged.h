/* forged.h - images with an arbitrary payload under correct headers and
 * checksums. Every verb must stay inside and end; the sanitizers watch.
 */
#ifndef BLY_TEST_FORGED_H
#define BLY_TEST_FORGED_H

#include "test.h"

#include "image/image.h"

enum { FORGED_ONES = 0 };               /* a stream of 0xFF only             */

typedef struct {
    uint8_t    *image;                  /* of exactly its size               */
    bly_filter *wrapped;                /* borrowed: read only               */
    bly_filter *copy;                   /* may be changed                    */
} forged_image;

/* Forges a filter, which is freed, with the bytes of a stream as payload. */
static inline forged_image forged_of(bly_filter *filter, uint64_t stream)
{
    forged_image f = { NULL, NULL, NULL };
    size_t bytes;
    const void *good = bly_image(filter, &bytes);
    f.image = malloc(bytes);
    assert_non_null(f.image);
    memcpy(f.image, good, bytes);
    for (size_t i = IMAGE_HEADER; i < bytes; i++)
        f.image[i] = stream == FORGED_ONES ? 0xFF
                                           : (uint8_t)test_random(stream, i);
    image_seal(f.image);
    assert_status(bly_wrap(&f.wrapped, f.image, bytes, NULL), BLY_OK);
    assert_status(bly_copy(&f.copy, f.wrapped, NULL), BLY_OK);
    bly_free(filter);
    return f;
}

static inline void forged_free(forged_image *f)
{
    bly_free(f->copy);
    bly_free(f->wrapped);
    free(f->image);
}

/* Changes the header of the image that begins `offset` bytes into the filter:
 * the whole is refused, except for numbers that are free under a correct
 * checksum. */
static inline void forged_inner_header(const bly_filter *filter, size_t offset)
{
    size_t bytes;
    const uint8_t *image = bly_image(filter, &bytes);
    uint8_t *forged = malloc(bytes);
    bly_filter *none = NULL;
    assert_non_null(forged);
    for (size_t i = 0; i < IMAGE_HEADER; i++) {
        memcpy(forged, image, bytes);
        forged[offset + i] ^= 0x41;
        image_seal(forged);
        assert_status(bly_wrap(&none, forged, bytes, NULL), BLY_ECORRUPT);
        if (i >= IMAGE_PAYLOAD_SUM)
            continue;
        image_unseal(forged + offset);          /* a sound checksum */
        image_seal(forged);
        bly_status status = bly_wrap(&none, forged, bytes, NULL);
        if (i >= IMAGE_ITEMS && i < IMAGE_SEED && status == BLY_OK)
            bly_free(none);
        else
            assert_int_equal(status, BLY_ECORRUPT);
    }
    free(forged);
}

#endif /* BLY_TEST_FORGED_H */
