/* look.c - reports the facts about a filter, and what an image's header says.
 */
#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/status.h"
#include "verbs/order.h"
#include "verbs/registry.h"

const char *bly_version(void)
{
    return BLY_VERSION;
}

void bly_processor(bly_processor_t *out)
{
    *out = (bly_processor_t){
        .instructions = cpu_name(cpu_now()),
        .ahead = (uint32_t)cpu_ahead(UINT32_MAX, UINT32_MAX, CPU_FAR),
        .ahead_cached = (uint32_t)cpu_ahead(UINT32_MAX, UINT32_MAX, 0),
        .near_bytes = cpu_near(),
    };
}

const char *bly_kind_of(const bly_filter *filter)
{
    return filter->kind->name;
}

uint64_t bly_can(const bly_filter *filter)
{
    return registry_can_here(filter->kind, filter->image);
}

/* ---- A filter ---------------------------------------------------------- */

/* Rounds an estimate to a whole number. */
static uint64_t look_whole(double v)
{
    return v < 18446744073709549568.0 ? (uint64_t)(v + 0.5) : UINT64_MAX;
}

/* Fills in what the header and the handle know. */
static void look_begin(bly_info_t *s, const bly_filter *filter)
{
    const uint8_t *image = filter->image;
    *s = (bly_info_t){
        .seed = image_u64(image, IMAGE_SEED),
        .capacity = image_u64(image, IMAGE_CAPACITY),
        .bytes = filter->bytes,
        .planned_rate = image_f64(image, IMAGE_RATE),
        .form = image_u16(image, IMAGE_FORM),
        .window = UINT64_MAX,
        .items = platform_load64(&filter->items),
    };
    s->items_exact = s->items != IMAGE_ITEMS_UNKNOWN;
    strcpy(s->kind, filter->kind->name);
    memcpy(s->hash, image + IMAGE_HASH, HASH_NAME);
    for (size_t i = 0; i < IMAGE_GEOMETRY_FIELDS; i++)
        s->geometry[i] = image_geometry(image, i);
}

bly_status bly_info(bly_info_t *out, const bly_filter *filter)
{
    bly_info_t s;
    task t;
    look_begin(&s, filter);
    bly_status status = BLY_OK;
    task_begin(&t, &filter->progress, filter->bytes);
    if (filter->away != NULL)
        status = filter->away->stat(&s, filter);
    else
        filter->kind->stat(&s, filter->image);
    if (status == BLY_OK)
        status = task_status();
    (void)task_end(&t, status);
    if (status != BLY_OK)
        return status;
    s.bits_per_key = 8 * (double)s.bytes / (double)s.capacity;
    if (!s.items_exact)
        s.items = look_whole(s.distinct);
    if (isfinite(s.distinct))
        s.rate += (1 - s.rate)
                * order_collision(filter->kind,
                                  hash_find_field(filter->image + IMAGE_HASH),
                                  s.distinct);
    *out = s;
    return BLY_OK;
}

bly_status bly_list_labels(const bly_filter *filter, bly_visit_label *visit,
                           void *context)
{
    if (!KIND_HAS(filter->kind, labels, each))
        return handle_unsupported(filter->kind, "list its labels", 0);
    filter->kind->labels->each(filter->image, visit, context);
    return BLY_OK;
}

bly_status bly_list_fingerprints(const bly_filter *filter,
                                 bly_visit_fingerprint *visit, void *context)
{
    if (!KIND_HAS(filter->kind, listing, fingerprints))
        return handle_unsupported(filter->kind, "list fingerprints",
                                  BLY_CAN_FINGERPRINTS);
    filter->kind->listing->fingerprints(filter->image, visit, context);
    return BLY_OK;
}

/* ---- An image ---------------------------------------------------------- */

/* Finds whether this library knows the kind, and how it packs it; does not set
 * the message of bly_why(). */
static void look_known(bly_header *h, const void *image)
{
    status_kept before = status_keep();
    const bly_kind *kind;
    h->known = handle_find(&kind, image) == BLY_OK;
    if (h->known && kind->packing != NULL)
        h->unpacked = kind->packing->unpacked(image);
    h->packed = h->unpacked != 0;
    status_restore(&before);
}

/* Returns the fields of a header that do not change when keys are added or the
 * image is sealed. */
static bly_header look_header(const void *image)
{
    bly_header h = {
        .bytes = image_u64(image, IMAGE_BYTES),
        .capacity = image_u64(image, IMAGE_CAPACITY),
        .rate = image_f64(image, IMAGE_RATE),
        .seed = image_u64(image, IMAGE_SEED),
        .form = image_u16(image, IMAGE_FORM),
        .version = image_u32(image, IMAGE_VERSION),
    };
    memcpy(h.kind, (const char *)image + IMAGE_KIND, IMAGE_KIND_NAME);
    memcpy(h.hash, (const char *)image + IMAGE_HASH, HASH_NAME);
    for (size_t i = 0; i < IMAGE_GEOMETRY_FIELDS; i++)
        h.geometry[i] = image_geometry(image, i);
    return h;
}

bly_status bly_peek(bly_header *out, const void *image, size_t n)
{
    bly_status status = image_check_start(image, n);
    if (status != BLY_OK)
        return status;
    *out = look_header(image);
    out->items = image_u64(image, IMAGE_ITEMS);
    out->sealed = image_u64(image, IMAGE_PAYLOAD_SUM) != 0;
    look_known(out, image);
    return BLY_OK;
}

void bly_header_of(bly_header *out, const bly_filter *filter)
{
    *out = look_header(filter->image);
    out->bytes = filter->bytes;
    out->items = platform_load64(&filter->items);
    out->known = true;
    out->sealed = !platform_load_flag(&filter->changed) && !filter->unsure;
}
