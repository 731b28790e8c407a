/* twin.c - a filter of the keys added and one of the keys removed.
 *
 * WHAT IT IS
 *
 * Two filters side by side: A of the keys added, R of the keys removed. A key
 * is reported present if A has it and R does not. This allows removal with
 * twice the memory of one filter, where `counting` takes four times.
 *
 * WHEN TO USE IT
 *
 * Use it if removals are few and final, as for closed accounts or revoked
 * certificates, and if it does no harm to lose a present key now and then.
 * Build a new filter from the keys when R is nearly full.
 *
 * WHEN NOT TO
 *
 * - No key may be lost: a present key that R mistakes for a removed one is NOT
 *   FOUND. From the first removal on, that happens to each key with a
 *   probability equal to the rate of R. Use `counting`, `cuckoo` or `quotient`,
 *   which lose none.
 * - A removed key may return: adding it again is refused (BLY_EREMOVED). New
 *   keys are refused too, with a probability equal to the rate of R.
 * - Two filters must be united or compared: `counting` or `quotient`.
 *
 * COST
 *
 *      rate     bits per key    cache lines read: present    absent key
 *      1 %          19.2                  9                  2
 *      0.1 %        28.8                 12                  2
 *
 * THE PICTURE
 *
 *      payload  | image of A            | image of R            |
 *               | header, bits          | header, bits          |
 *
 *      contains x = A has x and R does not
 *
 * IMAGE
 *
 *      geometry 0   kind of A and R: 0 standard, 1 partitioned, 2 blocked
 *      geometry 1   where R begins, in bytes from the payload's start, a
 *                   multiple of 64
 *      geometry 2, 3  zero
 *      payload      A's image at 0, zeros up to geometry 1, R's image
 *
 *      Both are whole images (docs/format) with the outer hash and seed.
 *      Their payload checksums are 0, because the outer one covers them, and
 *      their items "unknown". Valid if and only if (1) the fields are in these
 *      ranges, (2) both inner headers are valid, of that kind, hash and seed
 *      and (3) both images end within the payload.
 *
 * MATHS
 *
 * With f_A and f_R the rates of the two filters as they are:
 *
 *      a key never added is found          f_A (1 - f_R)                  (1)
 *      a present key is not found          f_R                            (2)
 *      a removed key is found              0
 *
 * Both are planned for the requested rate: A for `capacity` keys, R for
 * `removals` (an option; by default as many as the capacity). bly_info reports
 * (2) as `lost`. A key can be removed only once: the second time it is absent.
 * A lookup queries R only if A has the key; a removal queries both and writes
 * R. Two twins cannot be united or compared: a key that was removed from one of
 * them is in the A of both.
 *
 * PAPERS
 *
 *  [Guo 2010]  The dynamic Bloom filters, IEEE TKDE 22(1): on removal by a
 *              second filter among others.
 */
#include "image/kind.h"

#include <math.h>

#include "base/sizes.h"
#include "image/inner.h"
#include "kinds/compound/parts.h"

enum {
    TWIN_VERSION = 1,
    TWIN_OF = 0, TWIN_REMOVED_AT = 1, TWIN_ZERO = 2, TWIN_ZERO_TOO = 3,
    TWIN_CHUNK = INNER_CHUNK            /* keys asked at a time              */
};

#define TWIN_PARTS(X) X(standard) X(partitioned) X(blocked)

static const char *const twin_names[] = { TWIN_PARTS(PARTS_NAME) NULL };
static const bly_kind *const twin_kinds[] = { TWIN_PARTS(PARTS_KIND) };
enum { TWIN_KINDS = sizeof twin_kinds / sizeof *twin_kinds };

enum { TWIN_OPTION_OF, TWIN_OPTION_REMOVALS };

static const kind_option twin_options[] = {
    [TWIN_OPTION_OF] = {
        .name = "of", .help = "kind of the two filters",
        .choices = twin_names, .standard = 0,
    },
    [TWIN_OPTION_REMOVALS] = {
        .name = "removals", .help = "keys that will be removed; the share of "
                                    "lost keys is then the rate",
        .least = 1, .most = UINT64_MAX / 2, .standard = KIND_CHOOSE,
    },
    { .name = NULL },
};

/* ---- The two inside ---------------------------------------------------- */

typedef struct {
    const bly_kind *kind;               /* of both                           */
    void *added, *removed;              /* images                            */
} twin_view;

static twin_view twin_look(const void *image)
{
    const bly_kind *kind = twin_kinds[image_geometry(image, TWIN_OF)];
    uint64_t at = image_geometry(image, TWIN_REMOVED_AT);
    return (twin_view){ kind, inner_at(image, 0, kind).image,
                        inner_at(image, at, kind).image };
}

/* ---- Plan -------------------------------------------------------------- */

typedef struct {
    const bly_kind *kind;
    kind_spec  spec[2];                 /* of A, of R                        */
    bly_plan_t plan[2];
    uint64_t   removed_at;
} twin_parts;

static bly_status twin_plan_parts(twin_parts *parts, const kind_spec *spec)
{
    const bly_kind *kind = twin_kinds[spec->option[TWIN_OPTION_OF]];
    parts->kind = kind;
    uint64_t removals = spec->option[TWIN_OPTION_REMOVALS];
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (removals == KIND_CHOOSE)
        removals = spec->capacity;
    bly_status status = inner_plan(&parts->plan[0], &parts->spec[0], kind,
                                   spec->capacity, spec->rate);
    if (status == BLY_OK)
        status = inner_plan(&parts->plan[1], &parts->spec[1], kind, removals,
                            spec->rate);
    if (status == BLY_OK
        && !inner_room(&parts->removed_at, parts->plan[0].bytes))
        status = kind_too_big(spec, "2^64 bytes");
    return status;
}

static bly_status twin_plan(bly_plan_t *plan, const kind_spec *spec)
{
    twin_parts parts;
    uint64_t bytes = 0;
    bly_status status = twin_plan_parts(&parts, spec);
    if (status == BLY_OK
        && !sizes_add(&bytes, parts.removed_at, parts.plan[1].bytes))
        status = kind_too_big(spec, "2^64 bytes");
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, bytes);
    if (status != BLY_OK)
        return status;

    const bly_plan_t *added = &parts.plan[0], *removed = &parts.plan[1];
    plan->capacity = added->capacity;
    plan->rate = added->rate;
    plan->rate_sd = added->rate_sd;
    plan->fill = added->fill;
    plan->probes = added->probes;
    plan->lines_present = added->lines_present + removed->lines_absent;
    plan->lines_absent = added->lines_absent;
    plan->lost = removed->rate;
    plan->geometry[TWIN_OF] = spec->option[TWIN_OPTION_OF];
    plan->geometry[TWIN_REMOVED_AT] = parts.removed_at;
    plan->geometry[TWIN_ZERO] = plan->geometry[TWIN_ZERO_TOO] = 0;
    return BLY_OK;
}

static bly_status twin_format(void *image, const kind_spec *spec)
{
    twin_parts parts;
    uint8_t *payload = image_payload_mut(image);
    bly_status status = twin_plan_parts(&parts, spec);
    if (status == BLY_OK)
        status = inner_format(payload, parts.kind, &parts.plan[0], image,
                              &parts.spec[0]);
    if (status == BLY_OK)
        status = inner_format(payload + parts.removed_at, parts.kind,
                              &parts.plan[1], image, &parts.spec[1]);
    return status;
}

/* ---- Check, contains, add, remove -------------------------------------- */

/* A must end before R begins, and R where the payload does. */
static bool twin_sound(const void *image)
{
    uint64_t of = image_geometry(image, TWIN_OF);
    uint64_t at = image_geometry(image, TWIN_REMOVED_AT), room;
    if (of >= TWIN_KINDS || image_geometry(image, TWIN_ZERO) != 0
        || image_geometry(image, TWIN_ZERO_TOO) != 0)
        return false;
    const bly_kind *kind = twin_kinds[of];
    if (!inner_check(image, 0, kind) || !inner_check(image, at, kind))
        return false;
    const uint8_t *payload = image_payload(image);
    return inner_room(&room, image_u64(payload, IMAGE_BYTES)) && room == at
        && at + image_u64(payload + at, IMAGE_BYTES)
           == image_payload_bytes(image);
}

static bly_status twin_check(const void *image)
{
    return twin_sound(image) ? BLY_OK : kind_bad_geometry(image);
}

static bool twin_contains(const void *image, uint64_t hash)
{
    twin_view v = twin_look(image);
    return v.kind->contains(v.added, hash)
        && !v.kind->contains(v.removed, hash);
}

static bly_status twin_refuse(void)
{
    return status_fail(BLY_EREMOVED, "the key was removed before, or looks "
                       "like one that was, and this kind cannot add such a key "
                       "again: rebuild the filter from the remaining keys");
}

static bly_status twin_add(void *image, uint64_t hash)
{
    twin_view v = twin_look(image);
    if (v.kind->contains(v.removed, hash))
        return twin_refuse();
    return v.kind->add(v.added, hash);
}

static bly_status twin_remove(void *image, uint64_t hash)
{
    twin_view v = twin_look(image);
    if (!v.kind->contains(v.added, hash)
        || v.kind->contains(v.removed, hash))
        return BLY_EABSENT;
    v.kind->add(v.removed, hash);
    return BLY_OK;
}

/* ---- Batches ----------------------------------------------------------- */

/* Looks up at most TWIN_CHUNK keys: all in A, and in R those that A has. */
static void twin_contains_some(const twin_view *v, const uint64_t *hashes,
                               size_t n, bool *present)
{
    uint64_t found[TWIN_CHUNK];
    uint16_t place[TWIN_CHUNK];
    bool removed[TWIN_CHUNK];
    size_t m = 0;
    v->kind->contains_many(v->added, hashes, n, present);
    for (size_t i = 0; i < n; i++) {
        found[m] = hashes[i];
        place[m] = (uint16_t)i;
        m += present[i];
    }
    v->kind->contains_many(v->removed, found, m, removed);
    for (size_t j = 0; j < m; j++)
        present[place[j]] = !removed[j];
}

static void twin_contains_many(const void *image, const uint64_t *hashes,
                               size_t n, bool *present)
{
    twin_view v = twin_look(image);
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < TWIN_CHUNK ? n - i : TWIN_CHUNK;
        twin_contains_some(&v, hashes + i, some, present + i);
    }
}

/* Adds keys. Adds change only A, so R is queried for a whole chunk beforehand.
 * */
static bly_status twin_add_many(void *image, const uint64_t *hashes, size_t n,
                                size_t *done)
{
    twin_view v = twin_look(image);
    bool removed[TWIN_CHUNK];
    for (*done = 0; *done < n; ) {
        size_t some = n - *done < TWIN_CHUNK ? n - *done : TWIN_CHUNK;
        size_t good = 0, added;
        v.kind->contains_many(v.removed, hashes + *done, some, removed);
        while (good < some && !removed[good])
            good++;
        v.kind->add_many(v.added, hashes + *done, good, &added);
        *done += good;
        if (good < some)
            return twin_refuse();
    }
    return BLY_OK;
}

/* Removes keys one after another, because a key may be in the batch twice.
 * Removals change only R. It was queried for all keys beforehand, so its lines
 * are in the cache. */
static void twin_remove_some(const twin_view *v, const uint64_t *hashes,
                             size_t n, bly_status *each)
{
    bool added[TWIN_CHUNK], removed[TWIN_CHUNK];
    v->kind->contains_many(v->added, hashes, n, added);
    v->kind->contains_many(v->removed, hashes, n, removed);
    for (size_t i = 0; i < n; i++) {
        bool there = added[i] && !removed[i]
                  && !v->kind->contains(v->removed, hashes[i]);
        each[i] = there ? BLY_OK : BLY_EABSENT;
        if (there)
            v->kind->add(v->removed, hashes[i]);
    }
}

static void twin_remove_many(void *image, const uint64_t *hashes, size_t n,
                             bly_status *each)
{
    twin_view v = twin_look(image);
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < TWIN_CHUNK ? n - i : TWIN_CHUNK;
        twin_remove_some(&v, hashes + i, some, each + i);
    }
}

/* ---- Look inside ------------------------------------------------------- */

/* Reports statistics. Except for A's false positives, R's keys are in A too, so
 * the number of keys is the difference. */
static void twin_stat(bly_info_t *out, const void *image)
{
    twin_view v = twin_look(image);
    bly_info_t added = { .bytes = 0 }, removed = { .bytes = 0 };
    v.kind->stat(&added, v.added);
    v.kind->stat(&removed, v.removed);
    out->fill = added.fill;
    out->probes = added.probes;
    out->rate = added.rate * (1 - removed.rate);
    out->lost = removed.rate;
    out->distinct = isinf(added.distinct) ? added.distinct
                  : fmax(0, added.distinct - removed.distinct);
    out->distinct_sd = isinf(added.distinct) || isinf(removed.distinct)
                     ? INFINITY
                     : hypot(added.distinct_sd, removed.distinct_sd);
}

const bly_kind bly_kind_twin = {
    .name    = "twin",
    .family  = "compound",
    .summary = "a filter of the keys added and one of the keys removed",
    .version = TWIN_VERSION,
    .options = twin_options,

    .plan   = twin_plan,
    .format = twin_format,
    .check  = twin_check,
    .stat   = twin_stat,

    .contains      = twin_contains,
    .contains_many = twin_contains_many,

    .add         = twin_add,
    .add_many    = twin_add_many,
    .remove      = twin_remove,
    .remove_many = twin_remove_many,
};
