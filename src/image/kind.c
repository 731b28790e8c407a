/* kind.c - functions that several kinds put into one slot, or call from it.
 */
#include "image/kind_foreign.h"

#include <string.h>

#include "base/sizes.h"
#include "base/task.h"
#include "bits/bits.h"
#include "maths/shape.h"

kind_spec kind_spec_plain(const bly_kind *kind, uint64_t capacity,
                          double rate)
{
    kind_spec spec = { .capacity = capacity, .rate = rate };
    const kind_option *options = kind->options;
    for (size_t i = 0; options != NULL && options[i].name != NULL; i++)
        spec.option[i] = options[i].standard;
    return spec;
}

bool kind_spec_give(kind_spec *spec, const bly_kind *kind, const char *name,
                    uint64_t value)
{
    const kind_option *option = kind->options;
    for (size_t i = 0; option != NULL && option[i].name != NULL; i++)
        if (strcmp(option[i].name, name) == 0
            && (option[i].choices != NULL || (value >= option[i].least
                                              && value <= option[i].most))) {
            spec->option[i] = value;
            return true;
        }
    return false;
}

bly_status kind_unite_bits(void *into, const void *other)
{
    bits_or(image_payload_mut(into), image_payload(other),
            image_payload_bytes(into));
    return BLY_OK;
}

void kind_intersect_bits(void *into, const void *other)
{
    bits_and(image_payload_mut(into), image_payload(other),
             image_payload_bytes(into));
}

bly_status kind_no_capacity(void)
{
    return status_fail(BLY_EPARAM, "the capacity is missing: give the number "
                       "of keys that the filter should hold "
                       "(bly_spec.capacity)");
}

bly_status kind_too_big(const kind_spec *spec, const char *limit)
{
    return status_fail(BLY_ETOOBIG, "%llu keys at a rate of %.3g need more "
                       "than %s, the limit of this kind: use fewer keys, a "
                       "higher rate or another kind",
                       (unsigned long long)spec->capacity, spec->rate, limit);
}

bly_status kind_divides(uint64_t times, uint64_t of, const char *what)
{
    if (times >= 1 && of % times == 0)
        return BLY_OK;
    return status_fail(BLY_EPARAM, "a filter of %llu %s cannot be folded by "
                       "%llu: give a number that divides it, or plan filters "
                       "to fold with an m= that has many divisors",
                       (unsigned long long)of, what, (unsigned long long)times);
}

void kind_fold_blocks(void *into, const void *image, size_t bytes)
{
    uint8_t *to = image_payload_mut(into);
    const uint8_t *from = image_payload(image);
    size_t small = image_payload_bytes(into);
    size_t times = image_payload_bytes(image) / small;
    TASK_EACH(block, small / bytes)
        for (size_t i = 0; i < times; i++, from += bytes)
            for (size_t j = 0; j < bytes; j++)
                to[block * bytes + j] |= from[j];
}

void kind_fold_bits(void *into, const void *image, uint64_t small,
                    uint64_t large)
{
    uint8_t *to = image_payload_mut(into);
    const uint8_t *from = image_payload(image);
    uint64_t times = large / small, at = 0;
    TASK_EACH(bit, small)
        for (uint64_t i = 0; i < times; i++, at++)
            if (bits_test(from, at))
                bits_set(to, bit);
}

bly_status kind_plan_bytes(bly_plan_t *plan, uint64_t payload)
{
    uint64_t bytes;
    if (!sizes_add(&bytes, payload, IMAGE_HEADER) || bytes > INT64_MAX)
        return status_fail(BLY_ETOOBIG, "the filter would take %.3g bytes, "
                           "more than a file can have: use fewer keys or a "
                           "higher rate", (double)payload);
    plan->bytes = bytes;
    return BLY_OK;
}

bly_status kind_bad_geometry(const void *image)
{
    return status_fail(BLY_ECORRUPT, "the header's geometry (%llu, %llu, %llu, "
                       "%llu) is not that of a filter of kind %.16s and %llu "
                       "bytes", (unsigned long long)image_geometry(image, 0),
                       (unsigned long long)image_geometry(image, 1),
                       (unsigned long long)image_geometry(image, 2),
                       (unsigned long long)image_geometry(image, 3),
                       (const char *)image + IMAGE_KIND,
                       (unsigned long long)image_u64(image, IMAGE_BYTES));
}

bly_status kind_row_size(uint64_t *m, uint32_t *k, uint64_t *n,
                         const kind_spec *spec, const kind_row *row)
{
    uint64_t m_option = spec->option[KIND_ROW_M];
    uint64_t k_option = spec->option[KIND_ROW_K];

    *n = spec->capacity;
    if (*n == 0 && m_option == KIND_CHOOSE)
        return kind_no_capacity();
    if (k_option != KIND_CHOOSE)
        *k = (uint32_t)k_option;
    else if (m_option != KIND_CHOOSE && *n != 0)
        *k = shape_row_probes_for(m_option, (double)*n, row->k_most);
    else
        *k = shape_row_probes(spec->rate, row->k_most);

    *m = m_option;
    if (*n == 0) {
        shape s = { .blocks = 1, .lanes = 1, .bits = *m, .probes = *k };
        *n = shape_capacity(&s, spec->rate);
    }
    if (m_option == KIND_CHOOSE
        && !shape_row_bits(m, (double)*n, spec->rate, *k, row->m_most))
        return kind_too_big(spec, row->limit);
    return BLY_OK;
}

bly_status kind_check_reach(const kind_foreign *foreign,
                            const uint64_t *geometry, uint64_t bytes)
{
    return foreign->reach(geometry) <= bytes ? BLY_OK
         : status_fail(BLY_ECORRUPT, "read as a file of %s, but its header "
                       "changed while it was opened: open it when its writer "
                       "has ended", foreign->writer);
}

bly_status kind_check_foreign(const void *image, const kind_foreign *foreign)
{
    kind_found found = { .capacity = 0 };
    bly_status status = foreign->read(&found, image_payload(image),
                                      image_payload_bytes(image));
    if (status != BLY_OK)
        return status;
    for (size_t i = 0; i < IMAGE_GEOMETRY_FIELDS; i++)
        if (found.geometry[i] != image_geometry(image, i)
            && (foreign->fields >> i & 1) == 0)
            return kind_bad_geometry(image);
    return kind_check_reach(foreign, found.geometry,
                            image_payload_bytes(image));
}

bool kind_whole_contains(const void *image, uint64_t hash)
{
    (void)image;
    (void)hash;
    return true;
}

void kind_whole_contains_many(const void *image, const uint64_t *hashes,
                              size_t n, bool *present)
{
    (void)image;
    (void)hashes;
    memset(present, true, n * sizeof *present);
}

bly_status kind_whole_add(void *image, uint64_t hash)
{
    (void)hash;
    return status_fail(BLY_EUNSUPPORTED, "a filter of kind %.16s hashes whole "
                       "keys: give it keys, not hashes",
                       (const char *)image + IMAGE_KIND);
}
