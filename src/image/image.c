/* image.c - writing, sealing and checking the common header.
 */
#include "image/image.h"

#include <assert.h>
#include <stdio.h>

#include "base/sizes.h"
#include "base/status.h"
#include "base/task.h"
#include "bits/hash.h"

static const char IMAGE_MAGIC_TEXT[] = "bloomery";

static_assert(sizeof IMAGE_MAGIC_TEXT - 1 == IMAGE_KIND, "magic has 8 bytes");
static_assert(IMAGE_GEOMETRY + 8 * IMAGE_GEOMETRY_FIELDS == IMAGE_PAYLOAD_SUM,
              "the geometry ends where the checksums begin");
static_assert(IMAGE_HEADER % 64 == 0, "the payload begins on a cache line");

static void image_set_name(void *image, size_t at, size_t room,
                           const char *name)
{
    size_t length = strlen(name);
    assert(length <= room);
    memset((uint8_t *)image + at, 0, room);
    memcpy((uint8_t *)image + at, name, length);
}

bool image_is_form(uint64_t form)
{
    const uint64_t changes = BLY_FORM_CASE | BLY_FORM_TRIM | BLY_FORM_KEEP_CR
                           | BLY_FORM_JOIN;
    uint64_t class = form & BLY_FORM_CLASS;
    if (class != BLY_KEYS_TEXT && class != BLY_KEYS_UTF16)
        return form < BLY_KEYS_CLASSES;
    return (form & ~(changes | BLY_FORM_CLASS)) == 0;
}

void image_format(void *image, const bly_plan_t *plan, uint32_t version,
                  uint64_t seed, const char *hash)
{
    image_set_name(image, IMAGE_MAGIC, IMAGE_KIND, IMAGE_MAGIC_TEXT);
    image_set_name(image, IMAGE_KIND, IMAGE_KIND_NAME, plan->kind);
    image_set_u16(image, IMAGE_FORMAT, IMAGE_FORMAT_NOW);
    image_set_u16(image, IMAGE_FORM, BLY_KEYS_UNSTATED);
    image_set_u32(image, IMAGE_VERSION, version);
    image_set_u64(image, IMAGE_BYTES, plan->bytes);
    image_set_u64(image, IMAGE_ITEMS, 0);
    image_set_u64(image, IMAGE_CAPACITY, plan->capacity);
    image_set_f64(image, IMAGE_RATE, plan->rate);
    image_set_u64(image, IMAGE_SEED, seed);
    image_set_name(image, IMAGE_HASH, HASH_NAME, hash);
    for (size_t i = 0; i < IMAGE_GEOMETRY_FIELDS; i++)
        image_set_u64(image, IMAGE_GEOMETRY + 8 * i, plan->geometry[i]);
}

static uint64_t image_header_sum(const void *image)
{
    return hash_xxh3(image, IMAGE_HEADER_SUM, 0);
}

/* Sums in steps, so that the call can be cancelled; returns false then. */
static bool image_sum_in_steps(uint64_t *sum, const uint8_t *at, size_t bytes)
{
    hash_stream *stream = hash_stream_start();
    size_t n;
    if (stream == NULL)
        return false;
    for (; bytes > 0 && !task_cancelled(); at += n, bytes -= n) {
        n = bytes < TASK_BYTES ? bytes : TASK_BYTES;
        hash_stream_feed(stream, at, n);
        task_step(n);
    }
    *sum = hash_stream_end(stream);
    return bytes == 0;
}

/* Returns false if the call was cancelled meanwhile. */
static bool image_payload_sum(uint64_t *sum, const void *image)
{
    const uint8_t *payload = image_payload(image);
    size_t bytes = image_payload_bytes(image);
    bool in_steps = bytes > TASK_BYTES && task_share() != NULL;
    if (!in_steps || !image_sum_in_steps(sum, payload, bytes)) {
        if (in_steps && task_cancelled())
            return false;
        *sum = hash_xxh3(payload, bytes, 0);
    }
    *sum += *sum == 0;
    return true;
}

void image_seal_by(void *image, uint64_t sum)
{
    image_set_u64(image, IMAGE_PAYLOAD_SUM, sum == 0 ? 1 : sum);
    image_set_u64(image, IMAGE_HEADER_SUM, image_header_sum(image));
}

void image_seal(void *image)
{
    uint64_t sum;
    if (image_payload_sum(&sum, image))
        image_seal_by(image, sum);
}

void image_unseal(void *image)
{
    image_set_u64(image, IMAGE_PAYLOAD_SUM, 0);
    image_set_u64(image, IMAGE_HEADER_SUM, image_header_sum(image));
}

/* The fields' own ranges, once the checksum has said that they are as they
 * were written (or that somebody took the trouble to forge it). */
static bly_status image_check_fields(const void *image)
{
    double rate = image_f64(image, IMAGE_RATE);
    bool minus = image_u64(image, IMAGE_RATE) >> 63 != 0;
    if (minus || !(rate <= 1))
        return status_fail(BLY_ECORRUPT,
                           "the header's false-positive rate is not in [0, 1]");
    if (image_u64(image, IMAGE_CAPACITY) == 0)
        return status_fail(BLY_ECORRUPT, "the header's capacity is 0");
    const uint8_t *name = (const uint8_t *)image + IMAGE_HASH;
    if (hash_find_field(name) == NULL)
        return status_fail(BLY_EHASH, "the filter uses the hash function "
                           "'%.8s', which this version does not know: use the "
                           "library that wrote it",
                           (const char *)name);
    return BLY_OK;
}

bly_status image_check_start(const void *image, uint64_t bytes)
{
    if (bytes < IMAGE_KIND
        || memcmp(image, IMAGE_MAGIC_TEXT, IMAGE_KIND) != 0)
        return status_fail(BLY_EFORMAT, "not a Bloomery filter (it does not "
                           "begin with \"%s\"): name a file that Bloomery "
                           "wrote", IMAGE_MAGIC_TEXT);
    if (bytes < IMAGE_HEADER)
        return status_fail(BLY_ECORRUPT, "cut short: %llu bytes, less than the "
                           "header's 128: copy it again, or rebuild it",
                           (unsigned long long)bytes);
    uint32_t format = image_u16(image, IMAGE_FORMAT);
    uint32_t form = image_u16(image, IMAGE_FORM);
    if (format != IMAGE_FORMAT_NOW)
        return status_fail(BLY_EVERSION, "the filter has format version %u, "
                           "but this library reads %d: use the library that "
                           "wrote it, or rebuild it", format, IMAGE_FORMAT_NOW);
    if (image_u64(image, IMAGE_HEADER_SUM) != image_header_sum(image))
        return status_fail(BLY_ECORRUPT, "the header is damaged (its checksum "
                           "does not match): copy it again, or rebuild it");
    if (!image_is_form(form))
        return status_fail(BLY_EVERSION, "the filter's keys have the form "
                           "0x%04x, which this library does not know: use the "
                           "library that wrote it", form);
    return BLY_OK;
}

bly_status image_check_size(uint64_t bytes)
{
    if (sizes_fits(bytes))
        return BLY_OK;
    return status_fail(BLY_ETOOBIG, "the filter takes %.4g MiB, more than can "
                       "be addressed here: use a 64-bit system, or a filter "
                       "for fewer keys", (double)bytes / (1 << 20));
}

bly_status image_check_header(const void *image, uint64_t bytes)
{
    bly_status status = image_check_start(image, bytes);
    if (status != BLY_OK)
        return status;
    uint64_t told = image_u64(image, IMAGE_BYTES);
    if (told != bytes || told > INT64_MAX)      /* no file has so many */
        return status_fail(BLY_ECORRUPT,
                           "%s: it has %llu bytes, but its header says %llu: "
                           "copy it again, or rebuild it",
                           bytes < told ? "cut short" : "too long",
                           (unsigned long long)bytes, (unsigned long long)told);
    status = image_check_size(told);
    return status == BLY_OK ? image_check_fields(image) : status;
}

bly_status image_check_sealed(const void *image)
{
    if (image_u64(image, IMAGE_PAYLOAD_SUM) != 0)
        return BLY_OK;
    return status_fail(BLY_EUNSEALED, "the filter is open for writing, or its "
                       "writer ended without closing it: close it, or rebuild "
                       "it");
}

bly_status image_check_payload(const void *image)
{
    bly_status status = image_check_sealed(image);
    if (status != BLY_OK)
        return status;
    uint64_t sum;
    if (!image_payload_sum(&sum, image))
        return task_status();
    if (image_u64(image, IMAGE_PAYLOAD_SUM) != sum)
        return status_fail(BLY_ECORRUPT, "the payload is damaged (its checksum "
                           "does not match): rebuild the filter");
    return BLY_OK;
}
