/* keylist.c - many keys at once, however they lie in memory, as hashes. */
#include "verbs/keylist.h"

#include <math.h>
#include <string.h>

#include "base/sizes.h"
#include "base/status.h"
#include "bits/index.h"
#include "verbs/order.h"

static bool keys_rise32(const uint32_t *offsets, size_t n)
{
    bool rise = true;
    for (size_t i = 0; i < n; i++)
        rise &= offsets[i] <= offsets[i + 1];
    return rise;
}

static bool keys_rise64(const uint64_t *offsets, size_t n)
{
    bool rise = true;
    for (size_t i = 0; i < n; i++)
        rise &= offsets[i] <= offsets[i + 1];
    return rise && sizes_fits(offsets[n]);
}

/* Checks the offsets and the total size, which must be addressable. */
static bly_status keys_check_offsets(const bly_keys *keys, uint64_t *bytes)
{
    if (keys->n == 0)
        return BLY_OK;
    if ((keys->offsets32 != NULL && !keys_rise32(keys->offsets32, keys->n))
        || (keys->offsets64 != NULL && !keys_rise64(keys->offsets64, keys->n)))
        return status_fail(BLY_EPARAM, "the keys' offsets decrease: give n + 1 "
                           "of them, each at least as large as the one before");
    if (keys->offsets32 != NULL)
        *bytes = keys->offsets32[keys->n];
    if (keys->offsets64 != NULL)
        *bytes = keys->offsets64[keys->n];
    return BLY_OK;
}

/* Checks the fields of all layouts but their data. `forms` is the number of
 * layouts that are given. */
static bly_status keys_check_fields(const bly_keys *keys, int forms)
{
    if (keys->reserved[0] != 0 || keys->padded > (keys->width != 0))
        return status_fail(BLY_EPARAM, "the keys have values in reserved "
                           "fields, or an impossible padding: set a bly_keys "
                           "to zero before you fill it in, or link the library "
                           "it was written for");
    if (keys->n > 0 && forms != 1)
        return status_fail(BLY_EPARAM, "the keys are given in %s: give either "
                           "`keys`, or `data` with offsets32, offsets64 or "
                           "width, or `hashes`",
                           forms == 0 ? "no form" : "several forms");
    return BLY_OK;
}

static int keys_layouts(const bly_keys *keys)
{
    return (keys->keys != NULL) + (keys->offsets32 != NULL)
         + (keys->offsets64 != NULL) + (keys->width != 0);
}

static bly_status keys_check_data(const bly_keys *keys)
{
    uint64_t bytes = 0;
    if (keys->width != 0
        && (!sizes_mul(&bytes, keys->n, keys->width) || !sizes_fits(bytes)))
        return status_fail(BLY_EPARAM, "%zu keys of %zu bytes are more than "
                           "can be addressed", keys->n, keys->width);
    bly_status status = keys_check_offsets(keys, &bytes);
    if (status == BLY_OK && bytes > 0 && keys->data == NULL)
        status = status_fail(BLY_EPARAM, "the keys' data is missing: give the "
                             "%llu bytes that contain them",
                             (unsigned long long)bytes);
    return status;
}

bly_status keylist_check(const bly_keys *keys)
{
    if (keys->hashes != NULL || keys->labels != NULL)
        return status_fail(BLY_EPARAM, "only a build takes hashes and labels "
                           "in a bly_keys: give them as arguments of their "
                           "own");
    bly_status status = keys_check_fields(keys, keys_layouts(keys));
    return status == BLY_OK ? keys_check_data(keys) : status;
}

bly_status keylist_check_build(const bly_keys *keys)
{
    bly_status status = keys_check_fields(keys, keys_layouts(keys)
                                                + (keys->hashes != NULL));
    return status == BLY_OK ? keys_check_data(keys) : status;
}

/* Computes an address as a number, since adding to a NULL pointer, which empty
 * keys may have, is undefined. */
static const void *keys_byte(const bly_keys *keys, uint64_t at)
{
    return (const void *)((uintptr_t)keys->data + (uintptr_t)at);
}

bly_key keylist_at(const bly_keys *keys, size_t i)
{
    if (keys->keys != NULL)
        return keys->keys[i];
    if (keys->offsets32 != NULL)
        return (bly_key){ keys_byte(keys, keys->offsets32[i]),
                          keys->offsets32[i + 1] - keys->offsets32[i] };
    if (keys->offsets64 != NULL)
        return (bly_key){ keys_byte(keys, keys->offsets64[i]),
                          (size_t)(keys->offsets64[i + 1]
                                   - keys->offsets64[i]) };
    const uint8_t *key = keys_byte(keys, i * keys->width);
    size_t length = keys->width;
    if (keys->padded)
        while (length > 0 && key[length - 1] == 0)
            length--;
    return (bly_key){ key, length };
}

size_t keylist_hash(const kind_hasher *hasher, uint64_t hashes[KEYS_CHUNK],
                    const bly_keys *keys, size_t from)
{
    size_t chunk = keys->n - from < KEYS_CHUNK ? keys->n - from : KEYS_CHUNK;
    kind_hasher by = *hasher;
    for (size_t i = 0; i < chunk; i++) {
        bly_key key = keylist_at(keys, from + i);
        hashes[i] = by.function(key.data, key.length, by.seed);
    }
    return chunk;
}

void keylist_hash_all(const kind_hasher *hasher, uint64_t *hashes,
                      const bly_keys *keys)
{
    for (size_t i = 0, some; i < keys->n && !task_cancelled(); i += some) {
        some = keylist_hash(hasher, hashes + i, keys, i);
        task_step(some);
    }
}

/* ---- Without a filter --------------------------------------------------- */

uint64_t bly_mix64(uint64_t integer)
{
    return hash_mix(integer + INDEX_GOLDEN);
}

void bly_integer_key(unsigned char key[8], int64_t integer)
{
    image_set_u64(key, 0, (uint64_t)integer);
}

void bly_real_key(unsigned char key[8], double real)
{
    uint64_t bits = UINT64_C(0x7FF8) << 48;
    if (real >= -0x1p63 && real < 0x1p63 && real == floor(real)) {
        bly_integer_key(key, (int64_t)real);
        return;
    }
    if (!isnan(real))
        memcpy(&bits, &real, sizeof bits);
    image_set_u64(key, 0, bits);
}

uint64_t bly_hash(const bly_filter *filter, const void *key, size_t length)
{
    return filter->hasher.function(key, length, filter->hasher.seed);
}

bly_status bly_hash_many(uint64_t *hashes, const char *kind,
                         const bly_spec *spec, const bly_keys *keys)
{
    order o;
    bly_status status = keylist_check(keys);
    if (status == BLY_OK)
        status = order_begin(&o, kind != NULL ? kind : "standard", spec);
    task t;
    task_begin(&t, status == BLY_OK ? order_spec(spec)->progress : NULL,
               keys->n);
    if (status == BLY_OK) {
        keylist_hash_all(&o.hasher, hashes, keys);
        status = task_status();
    }
    order_end(&o);
    return task_end(&t, status);
}
