/* inner.c - images within an image.
 */
#include "image/inner.h"

#include <math.h>
#include <string.h>

#include "base/sizes.h"
#include "bits/hash.h"

enum { INNER_ALIGNMENT = 64 };

bool inner_room(uint64_t *out, uint64_t bytes)
{
    return sizes_round_up(out, bytes, INNER_ALIGNMENT);
}

bly_status inner_plan_spec(bly_plan_t *plan, const bly_kind *kind,
                           const kind_spec *spec)
{
    *plan = (bly_plan_t){ .window = UINT64_MAX };
    bly_status status = kind->plan(plan, spec);
    strcpy(plan->kind, kind->name);
    return status;
}

bly_status inner_plan(bly_plan_t *plan, kind_spec *spec, const bly_kind *kind,
                      uint64_t capacity, double rate)
{
    *spec = kind_spec_plain(kind, capacity, rate);
    return inner_plan_spec(plan, kind, spec);
}

/* Plan the same image as `whole` for n keys; false where its bits cannot be
 * asked for, as where m counts something else. */
static bool inner_plan_same(bly_plan_t *plan, const bly_plan_t *whole,
                            const bly_kind *kind, uint64_t n, double rate)
{
    kind_spec spec = kind_spec_plain(kind, n, rate);
    kind_spec_give(&spec, kind, "k", whole->probes);
    return kind_spec_give(&spec, kind, "m", 8 * (whole->bytes - IMAGE_HEADER))
        && inner_plan_spec(plan, kind, &spec) == BLY_OK
        && plan->bytes == whole->bytes;
}

/* The mean rate of an image of this plan for n keys, while these come, or more:
 * that of each 16th at its last key. `most` where that cannot be told. */
static double inner_mean(const bly_plan_t *whole, const bly_kind *kind,
                         uint64_t n, double most)
{
    enum { STEPS = 16 };
    double mean = 0;
    for (uint64_t j = 0, from = 0; j < STEPS; j++) {
        uint64_t to = n / STEPS * (j + 1) + n % STEPS * (j + 1) / STEPS;
        bly_plan_t plan = { .rate = 0 };
        if (to > 1 && to > from
            && !inner_plan_same(&plan, whole, kind, to - 1, most))
            return most;
        mean += (double)(to - from) / (double)n * plan.rate;
        from = to;
    }
    return mean;
}

/* Another size has another mean, so that it is tried again, with a little more
 * each time; with the rate at the end for the mean there is room in any
 * case. */
bly_status inner_plan_fresh(bly_plan_t *plan, kind_spec *spec,
                            const bly_kind *kind, uint64_t fresh, double rate)
{
    enum { TRIES = 8 };
    uint64_t n = fresh, need = n;
    for (int i = 0; i <= TRIES; i++) {
        bly_status status = inner_plan(plan, spec, kind, n, rate);
        if (status != BLY_OK || i == TRIES)
            return status;
        double mean = i + 1 < TRIES ? inner_mean(plan, kind, n, rate) : rate;
        if (!sizes_from_double(&need, ceil((double)(fresh - 1) / (1 - mean)
                                           + 1 / (1 - rate))))
            return kind_too_big(spec, "2^64 keys");
        if (need <= n)
            return BLY_OK;
        if (!sizes_add(&n, need, need / 1024 * (uint64_t)i))
            return kind_too_big(spec, "2^64 keys");
    }
    return BLY_OK;
}

bly_status inner_format(void *at, const bly_kind *kind, const bly_plan_t *plan,
                        const void *outer, const kind_spec *spec)
{
    char hash[HASH_NAME + 1] = "";
    memcpy(hash, (const uint8_t *)outer + IMAGE_HASH, HASH_NAME);
    image_format(at, plan, kind->version, image_u64(outer, IMAGE_SEED), hash);
    image_set_u64(at, IMAGE_ITEMS, IMAGE_ITEMS_UNKNOWN);
    bly_status status = BLY_OK;
    if (kind->format != NULL)
        status = kind->format(at, spec);
    image_unseal(at);
    return status;
}

/* Are hash and seed of both the same? */
static bool inner_hashes_alike(const uint8_t *a, const uint8_t *b)
{
    return image_u64(a, IMAGE_SEED) == image_u64(b, IMAGE_SEED)
        && memcmp(a + IMAGE_HASH, b + IMAGE_HASH, HASH_NAME) == 0;
}

bool inner_check(const void *outer, uint64_t offset, const bly_kind *kind)
{
    uint64_t bytes = image_payload_bytes(outer);
    if (offset % INNER_ALIGNMENT != 0 || offset > bytes
        || bytes - offset < IMAGE_HEADER)
        return false;
    const uint8_t *at = image_payload(outer) + offset;
    uint64_t own = image_u64(at, IMAGE_BYTES);
    char name[IMAGE_KIND_NAME + 1] = "";
    strcpy(name, kind->name);
    return own <= bytes - offset
        && image_check_header(at, own) == BLY_OK
        && inner_hashes_alike(at, outer)
        && memcmp(name, at + IMAGE_KIND, IMAGE_KIND_NAME) == 0
        && image_u32(at, IMAGE_VERSION) == kind->version
        && kind->check(at) == BLY_OK;
}

bool inner_alike(const void *a, const void *b)
{
    const uint8_t *of_a = a, *of_b = b;
    return image_u64(a, IMAGE_BYTES) == image_u64(b, IMAGE_BYTES)
        && image_u32(a, IMAGE_VERSION) == image_u32(b, IMAGE_VERSION)
        && memcmp(of_a + IMAGE_GEOMETRY, of_b + IMAGE_GEOMETRY,
                  8 * IMAGE_GEOMETRY_FIELDS) == 0
        && memcmp(of_a + IMAGE_KIND, of_b + IMAGE_KIND, IMAGE_KIND_NAME) == 0;
}

inner inner_at(const void *outer, uint64_t offset, const bly_kind *kind)
{
    return (inner){ kind, (uint8_t *)(uintptr_t)image_payload(outer) + offset };
}

void inner_contains_many(const bly_kind *kind, const void *image,
                         const uint64_t *hashes, size_t n, bool *present)
{
    kind->contains_many(image, hashes, n, present);
}

void inner_rest_begin(inner_rest *rest, const uint64_t *hashes, size_t n,
                      const bool *found)
{
    rest->n = 0;
    for (size_t i = 0; i < n; i++) {
        rest->hash[rest->n] = hashes[i];
        rest->place[rest->n] = (uint16_t)i;
        rest->n += !found[i];
    }
}

void inner_rest_query(inner_rest *rest, const bly_kind *kind, const void *image,
                      bool *found)
{
    bool has[INNER_CHUNK];
    size_t left = 0;
    if (rest->n == 0)
        return;
    inner_contains_many(kind, image, rest->hash, rest->n, has);
    for (size_t i = 0; i < rest->n; i++) {
        found[rest->place[i]] = has[i];
        rest->hash[left] = rest->hash[i];
        rest->place[left] = rest->place[i];
        left += !has[i];
    }
    rest->n = left;
}

/* Where there is no batch, the lookups of one bring the lines near. */
bly_status inner_add_each(const bly_kind *kind, void *image,
                          const uint64_t *hashes, size_t n, bool *seen,
                          size_t *done)
{
    if (kind->add_each != NULL)
        return kind->add_each(image, hashes, n, seen, done);
    inner_contains_many(kind, image, hashes, n, seen);
    for (*done = 0; *done < n; ++*done) {
        bly_status status = kind->add(image, hashes[*done]);
        if (status < 0)
            return status;
        seen[*done] = status == BLY_SEEN;
    }
    return BLY_OK;
}
