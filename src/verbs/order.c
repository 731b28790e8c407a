/* order.c - turns a kind's name and a spec into a plan.
 */
#include "verbs/order.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "maths/maths.h"
#include "verbs/registry.h"

static const double ORDER_RATE = 0.01;          /* when none is asked for */

/* Relative differences in rate below this do not justify another bit per key.
 */
static const double ORDER_RATE_PART = 1.0 / (1 << 20);

const bly_spec *order_spec(const bly_spec *spec)
{
    static const bly_spec none;
    return spec != NULL ? spec : &none;
}

/* Returns the rate left for the kind once the chance that two keys share their
 * 64-bit hash is subtracted, where that matters. Other systems' sizes use the
 * rate as requested. */
static bly_status order_rate(double *left, const bly_spec *spec,
                             uint64_t capacity, bool foreign)
{
    double rate = spec->rate == 0 ? ORDER_RATE : spec->rate;
    if (!(rate > 0 && rate < 1))
        return status_fail(BLY_EPARAM, "a false-positive rate of %g is not "
                           "possible: give one between 0 and 1, such as "
                           "0.01", rate);
    double collision = foreign ? 0 : math_collision((double)capacity);
    if (rate <= collision)
        return status_fail(BLY_EPARAM, "a rate of %.3g is below %.3g, the "
                           "lowest that 64-bit hashes of so many keys can "
                           "have: use a higher rate", rate, collision);
    *left = collision < rate * ORDER_RATE_PART ? rate : rate - collision;
    return BLY_OK;
}

/* Returns whether the kind, or one inside it, places keys by the bits of their
 * hashes. */
static bool order_raw_hash(const order *o)
{
    return o->kind->raw_hash
        || (KIND_HAS(o->kind, hashing, raw_of)
            && o->kind->hashing->raw_of(&o->asked));
}

/* Uses another system's hash function for its keys. */
static bly_status order_foreign(const bly_kind *kind, const bly_spec *spec)
{
    if (kind->foreign == NULL
        || (spec->hash == NULL && spec->seed == 0 && spec->secret == NULL))
        return BLY_OK;
    return status_fail(spec->secret != NULL ? BLY_ESECRET : BLY_EHASH, "kind "
                       "%s hashes keys as its system does: leave the hash "
                       "function, the seed and the secret out", kind->name);
}

static bly_status order_hash_name(order *o, const char *name)
{
    bool integers = KIND_HAS(o->kind, hashing, integers)
                 && o->kind->hashing->integers(&o->asked);
    const hash_info *found = name == NULL
                           ? integers ? hash_find("decimal") : hash_list
                           : hash_find(name);
    if (found == NULL)
        return status_fail(BLY_EHASH, "unknown hash function '%.40s': choose "
                           "xxh3, xxh64, murmur2, murmur3, fnv1a, siphash, "
                           "identity or decimal", name);
    if (integers && !found->integer)
        return status_fail(BLY_EHASH,
                           "kind %s with a universe= has integers for keys, "
                           "which %s changes: choose decimal or identity",
                           o->kind->name, found->name);
    if (order_raw_hash(o) && found->weak)
        return status_fail(BLY_EHASH, "kind %s uses hashes unchanged, and the "
                           "high bits of %s are weak: choose xxh64 or xxh3%s",
                           o->kind->name, found->name,
                           o->kind->raw_hash ? "" : ", or another of=");
    o->hash = found;
    return BLY_OK;
}

static bly_status order_seed(order *o, const bly_spec *spec)
{
    o->seed = spec->seed;
    o->hasher = (kind_hasher){ o->hash->function, { .low = spec->seed } };
    if (!o->hash->keyed && spec->secret != NULL)
        return status_fail(BLY_ESECRET, "hash function %s takes no secret: "
                           "choose siphash, or leave the secret out",
                           o->hash->name);
    if (!o->hash->keyed)
        return BLY_OK;
    if (spec->secret == NULL)
        return status_fail(BLY_ESECRET, "hash function %s needs a secret of "
                           "%d bytes: give one, and keep it", o->hash->name,
                           BLY_SECRET_BYTES);
    if (spec->seed != 0)
        return status_fail(BLY_EPARAM, "hash function %s has a secret instead "
                           "of a seed: leave the seed 0, and use another "
                           "secret for other hashes", o->hash->name);
    o->hasher.seed = hash_secret(spec->secret);
    o->seed = hash_secret_mark(o->hasher.seed);
    return BLY_OK;
}

double order_collision(const bly_kind *kind, const hash_info *hash, double n)
{
    bool other = kind->foreign != NULL;
    return other || (KIND_HAS(kind, hashing, integers) && hash->integer)
         ? 0 : math_collision(n);
}

order order_like(const bly_filter *filter)
{
    return (order){
        .kind = filter->kind,
        .hash = hash_find_field(filter->image + IMAGE_HASH),
        .seed = image_u64(filter->image, IMAGE_SEED),
        .form = image_u16(filter->image, IMAGE_FORM),
    };
}

void order_finish(order *o)
{
    bly_plan_t *plan = &o->plan;
    double same = order_collision(o->kind, o->hash, (double)plan->capacity);
    strcpy(plan->kind, o->kind->name);
    plan->bits_per_key = 8 * (double)plan->bytes / (double)plan->capacity;
    plan->rate += (1 - plan->rate) * same;
    /* for few keys the formulas may exceed what is possible in 0 .. 1 */
    double most = sqrt(plan->rate * (1 - plan->rate));
    if (plan->rate_sd > most)
        plan->rate_sd = most;
}

/* Applies the keys, which may change what was requested. */
static bly_status order_keys(order *o, const kind_keys *keys)
{
    const bly_kind *kind = o->kind;
    o->items = keys->n;
    if (keys->labels == NULL)
        return BLY_OK;
    if (KIND_HAS(kind, building, separate))
        return kind->building->separate(&o->asked, &o->items, keys);
    return kind->labels != NULL ? BLY_OK
                                : handle_unsupported(kind, "store labels",
                                                     BLY_CAN_LABEL);
}

static bly_status order_reserved(const bly_spec *spec)
{
    const bly_spec *none = order_spec(NULL);
    if ((spec->flags & ~(BLY_SHARED | BLY_SPARSE)) != 0)
        return status_fail(BLY_EPARAM, "a spec's flags may be only BLY_SHARED "
                           "and BLY_SPARSE");
    if (memcmp(spec->reserved, none->reserved, sizeof none->reserved) != 0)
        return status_fail(BLY_EPARAM, "the spec has values in reserved "
                           "fields: set it to zero before you fill it in, or "
                           "link the library it was written for");
    return BLY_OK;
}

/* Uses the hash function of another system's kind, if it has 64 bits. */
static bly_status order_foreign_hasher(order *o)
{
    const kind_foreign *foreign = o->kind->foreign;
    uint64_t geometry[IMAGE_GEOMETRY_FIELDS] = { 0 };
    bly_status status = foreign->told != NULL
                      ? foreign->told(geometry, o->asked.option) : BLY_OK;
    if (status == BLY_OK && foreign->hasher != NULL)
        foreign->hasher(&o->hasher, geometry);
    return status;
}

bly_status order_begin(order *o, const char *kind, const bly_spec *given)
{
    const bly_spec *spec = order_spec(given);
    *o = (order){
        .asked = { .capacity = spec->capacity }, .flags = spec->flags,
        .plan = { .window = UINT64_MAX },
        .options = { .secret = spec->secret, .threads = spec->threads,
                     .progress = spec->progress,
                     .memory_limit = HANDLE_NO_LIMIT },
    };
    bly_status status = order_reserved(spec);
    if (status == BLY_OK)
        status = registry_parse(&o->kind, o->asked.option, kind);
    if (status == BLY_OK)
        status = order_foreign(o->kind, spec);
    if (status == BLY_OK)
        status = order_hash_name(o, spec->hash);
    if (status == BLY_OK)
        status = order_seed(o, spec);
    if (status == BLY_OK)
        status = bly_form_check(spec->form);
    if (status == BLY_OK && o->kind->foreign == NULL)
        o->form = spec->form;
    if (status == BLY_OK && o->kind->foreign != NULL)
        status = order_foreign_hasher(o);
    o->options.allocator = (spec->flags & BLY_SPARSE) != 0
                         ? system_sparse
                         : memory_allocator(spec->allocator, spec->threads);
    return status;
}

/* Plans the filter. A kind that grows may choose its own capacity, for which
 * the rate must be possible. */
static bly_status order_plan(order *o, const bly_spec *spec)
{
    bly_status status = o->kind->plan(&o->plan, &o->asked);
    if (status != BLY_OK || spec->capacity > 0 || o->kind->growing == NULL)
        return status;
    status = order_rate(&o->asked.rate, spec, o->plan.capacity,
                        o->kind->foreign != NULL);
    return status != BLY_OK ? status : o->kind->plan(&o->plan, &o->asked);
}

/* Can a filter of this kind be planned that has grown? */
static bly_status order_grows(const order *o)
{
    const kind_growing *growing = o->kind->growing;
    if (growing == NULL)
        return status_fail(BLY_EUNSUPPORTED, "kind %s does not grow by "
                           "itself: plan it for all its keys, or plan kind "
                           "expandable or scalable", o->kind->name);
    if (growing->grown == NULL)
        return status_fail(BLY_EUNSUPPORTED, "how kind %s grows is up to "
                           "another system: plan it for all its keys",
                           o->kind->name);
    return BLY_OK;
}

/* Makes the plan that of a filter which has grown. */
static bly_status order_grown(order *o, uint64_t keys)
{
    if (keys <= o->plan.capacity)
        return BLY_OK;
    bly_status status = o->kind->growing->grown(&o->plan, &o->asked, keys);
    o->plan.capacity = keys;
    return status;
}

bly_status order_make(order *o, const char *kind, const bly_spec *given,
                      const kind_keys *keys)
{
    return order_make_grown(o, kind, given, keys, 0);
}

bly_status order_make_grown(order *o, const char *kind, const bly_spec *given,
                            const kind_keys *keys, uint64_t grown)
{
    const bly_spec *spec = order_spec(given);
    bly_status status = order_begin(o, kind, spec);
    if (status == BLY_OK)
        status = order_rate(&o->asked.rate, spec, spec->capacity,
                            o->kind->foreign != NULL);
    if (status == BLY_OK && keys != NULL)
        status = order_keys(o, keys);
    if (status == BLY_OK && grown > spec->capacity)
        status = order_grows(o);
    if (status == BLY_OK)
        status = order_plan(o, spec);
    if (status == BLY_OK)
        status = order_grown(o, grown);
    if (status == BLY_OK)
        order_finish(o);
    if (status == BLY_OK) {
        uint8_t header[IMAGE_HEADER] = { 0 };
        order_format(o, header);
        o->plan.can = registry_can_here(o->kind, header);
    }
    return status;
}

void order_end(order *o)
{
    memory_wipe(&o->hasher, sizeof o->hasher);
}

void order_format(const order *o, void *image)
{
    image_format(image, &o->plan, o->kind->version, o->seed, o->hash->name);
    image_set_u16(image, IMAGE_FORM, o->form);
}

void *order_image(const order *o, const bly_allocator *allocator)
{
    void *image = memory_zeroed(allocator, o->plan.bytes);
    if (image != NULL)
        order_format(o, image);
    return image;
}

bly_status order_resized(order *o, void **image, const bly_filter *filter,
                         uint64_t capacity)
{
    const kind_resizing *resizing = o->kind->resizing;
    int most = capacity == 0 ? ORDER_TRIES_ADDING : ORDER_TRIES;
    for (int tries = 0; ; tries++) {
        bly_status status = task_status_or(
            resizing->plan(&o->plan, filter->image, capacity));
        if (status != BLY_OK)
            return status;
        order_finish(o);
        *image = order_image(o, &filter->allocator);
        if (*image == NULL)
            return handle_no_memory(o->plan.bytes);
        status = task_status_or(resizing->resize(*image, filter->image));
        if (status == BLY_OK)
            return BLY_OK;
        memory_release(&filter->allocator, *image, (size_t)o->plan.bytes);
        if (status != BLY_EFULL || tries == most)
            return status;
        capacity = order_more(o);
    }
}

uint64_t order_more(const order *o)
{
    uint64_t capacity = o->plan.capacity;
    return capacity > UINT64_MAX / 17 ? UINT64_MAX : capacity / 16 * 17 + 1;
}

bly_status bly_plan(bly_plan_t *out, const char *kind, const bly_spec *spec)
{
    return bly_plan_grown(out, kind, spec, 0);
}

bly_status bly_plan_grown(bly_plan_t *out, const char *kind,
                          const bly_spec *spec, uint64_t keys)
{
    order o;
    bly_status status = order_make_grown(&o, kind, spec, NULL, keys);
    if (status == BLY_OK)
        *out = o.plan;
    order_end(&o);
    return status;
}
