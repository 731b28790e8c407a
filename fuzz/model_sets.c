/* model_sets.c - instructions of the machine of model.h: filters made from
 * others, in other sizes, unions, and lists of their keys.
 */
#include "machine.h"

#include <stdlib.h>
#include <string.h>

#include "bloomery/parts.h"
#include "bloomery/sketch.h"
#include "forge.h"

/* ---- Made in other ways ------------------------------------------------ */

/* Makes this filter from a plan of its own. */
static bly_status model_new_planned(model *m, bly_filter **fresh)
{
    bly_plan_t plan;
    if (bly_plan(&plan, m->report->kind, &m->spec) != BLY_OK)
        return BLY_EUNSUPPORTED;
    return bly_new_planned(fresh, &plan, &m->spec);
}

/* Uses memory outside the limit of the machine's allocator. */
static bly_status model_new_sparse(model *m, bly_filter **fresh)
{
    bly_spec spec = m->spec;
    bly_plan_t plan;
    spec.flags |= BLY_SPARSE;
    if (bly_plan(&plan, m->report->kind, &m->spec) != BLY_OK
        || plan.bytes > MODEL_IMAGE)
        return BLY_ENOMEM;
    return bly_new(fresh, m->report->kind, &spec);
}

/* Builds from some non-empty, different keys, which become the set. */
static bly_status model_new_built(model *m, bly_filter **fresh)
{
    size_t n = MODEL_KEY - 1;
    model_draw_keys(m, MODEL_KEY * m->report->steps + 1, n);
    bly_status status
        = bly_build(fresh, m->report->kind, &m->spec,
                    &(bly_keys){ .n = n, .keys = m->key });
    if (status != BLY_OK)
        return status;
    exact_clear(m->a.set);
    for (size_t i = 0; i < n; i++)
        exact_add(m->a.set, m->hash[i], 1);
    return BLY_OK;
}

/* Returns whether get may return `label` for a key built with `wanted`. If keys
 * can be added, a better one is allowed. */
static bool model_labelled_so(const model *m, const bly_filter *f,
                              uint64_t hash, uint64_t wanted)
{
    uint64_t label = 0;
    if (model_can(m, BLY_CAN_SEPARATE))
        return bly_contains_hash(f, hash) == (wanted == 1);
    return bly_get_hash(f, hash, &label)
        && (label == wanted || model_can(m, BLY_CAN_ADD));
}

/* Builds hashes with labels or, for a kind that separates, members and
 * others. */
static bly_status model_new_labelled(model *m, bly_filter **fresh)
{
    size_t n = MODEL_KEY;
    bool separates = model_can(m, BLY_CAN_SEPARATE);
    uint64_t labels[MODEL_KEY], from = model_u16(m);
    model_draw_labels(m, labels, n);
    for (size_t i = 0; i < n; i++) {
        m->hash[i] = model_mix(from + i);
        labels[i] = separates ? model_u8(m) % 2 : labels[i];
    }
    bly_status status = bly_build(fresh, m->report->kind, &m->spec,
                                  &(bly_keys){ .n = n, .hashes = m->hash,
                                               .labels = labels });
    if (status != BLY_OK)
        return status;
    model_expect(m, separates || model_can(m, BLY_CAN_LABEL),
                 "a kind that cannot label was built with labels");
    exact_clear(m->a.set);
    for (size_t i = 0; i < n; i++) {
        model_expect(m, model_labelled_so(m, *fresh, m->hash[i], labels[i]),
                     "a key was built with another label than is found");
        if (!separates || labels[i] == 1)
            exact_add(m->a.set, m->hash[i], 1);
    }
    return BLY_OK;
}

void model_op_renew_by(model *m)
{
    uint8_t how = model_u8(m) % 5;
    bly_filter *fresh = NULL;
    if (how > 0 && !(m->flags & MODEL_BUILD))
        return;                         /* planning is slow */
    bly_status status
        = how == 0 ? bly_like(&fresh, m->a.filter, &m->options)
        : how == 1 ? model_new_planned(m, &fresh)
        : how == 2 ? model_new_sparse(m, &fresh)
        : how == 3 ? model_new_built(m, &fresh) : model_new_labelled(m, &fresh);
    model_expect(m, status == BLY_OK || status == BLY_EUNSUPPORTED
                    || status == BLY_ENOMEM || status == BLY_EPARAM
                    || status == BLY_EFULL, "odd status of a new filter");
    if (fresh == NULL)
        return;
    if (how < 3) {
        exact_clear(m->a.set);
        model_expect(m, !bly_contains_hash(fresh, model_mix(how)),
                     "an empty filter found something");
    }
    m->resized |= how != 0;             /* or A had grown, and no longer has */
    model_replace(&m->a.filter, fresh);
}

/* Resizes A, or leaves it unchanged. */
void model_op_resize_here(model *m)
{
    uint8_t how = model_u8(m);
    bly_filter *before = NULL;
    bly_info_t stat;
    bly_info(&stat, m->a.filter);
    if (!model_can(m, BLY_CAN_RESIZE) || stat.bytes > MODEL_IMAGE / 8
        || bly_copy(&before, m->a.filter, &m->options) != BLY_OK)
        return;
    uint64_t times = 1 + how % 8;
    bly_status status
        = bly_resize(m->a.filter, how < 128 ? stat.capacity * times
                                            : stat.capacity / times);
    if (status == BLY_OK) {
        m->resized = true;
        model_law(m, m->a.filter, m->a.set);
    } else {
        model_same(m, m->a.filter, before);
    }
    bly_free(before);
}

/* ---- Sets -------------------------------------------------------------- */

/* At a distance B's keys may be left out, but A keeps its own. */
void model_op_unite_at(model *m)
{
    uint64_t label;
    model_draw_labels(m, &label, 1);
    exact *set = m->a.set;
    bly_status status = bly_unite_at(m->a.filter, m->b.filter, label);
    if (!model_can(m, BLY_CAN_UNITE_AT)) {
        model_expect(m, model_refused(status),
                     "a kind that cannot unite at a label did");
        return;
    }
    model_expect(m, status == BLY_OK || model_apart(m, status),
                 "twins cannot be united at a label");
    if (status != BLY_OK)
        return;
    set->adds_known = set->pure = set->plain = false;
}

/* A list, compared with the sets. */
typedef struct {
    model    *m;
    exact    *left, *right;             /* `right` may be NULL               */
    uint64_t  listed;
} model_listing;

static bool model_visit_key(void *context, const bly_listed *one)
{
    model_listing *l = context;
    exact_entry *left = exact_find(l->left, one->hash);
    exact_entry *right = l->right != NULL ? exact_find(l->right, one->hash)
                                          : NULL;
    l->listed++;
    model_expect(l->m, one->side == 1 ? left != NULL && right == NULL
                                      : left == NULL && right != NULL,
                 "a key is listed that is not there, or on the other side");
    return true;
}

/* Returns whether each key in the set occurs once; *n is their number. */
static bool model_once(const exact *set, uint64_t *n)
{
    *n = 0;
    for (size_t i = 0; i < set->used; i++) {
        *n += set->entry[i].count > 0;
        if (set->entry[i].count > 1)
            return false;
    }
    return set->pure;
}

/* Counts the keys in both. */
static uint64_t model_common(const exact *a, exact *b)
{
    uint64_t n = 0;
    for (size_t i = 0; i < a->used; i++)
        n += a->entry[i].count > 0
          && exact_find(b, a->entry[i].hash) != NULL;
    return n;
}

void model_op_list_keys(model *m)
{
    model_listing l = { .m = m, .left = m->a.set };
    uint64_t n;
    bool once = model_once(m->a.set, &n), can = model_can(m, BLY_CAN_LIST_KEYS);
    if (can && !once)
        return;
    bly_status status = bly_list_keys(m->a.filter, model_visit_key, &l);
    model_expect(m, can ? status == BLY_OK || status == BLY_EFULL
                          || status == BLY_ENOMEM
                        : status == BLY_EUNSUPPORTED, "odd status of list");
    model_expect(m, l.listed == (status == BLY_OK ? n : 0),
                 "not all keys are listed, or some of a list that failed");
}

void model_op_subtract(model *m)
{
    model_listing l = { .m = m, .left = m->a.set, .right = m->b.set };
    uint64_t a, b;
    bly_filter *rest = NULL;
    bool once = model_once(m->a.set, &a) && model_once(m->b.set, &b);
    if (bly_copy(&rest, m->a.filter, &m->options) != BLY_OK)
        return;
    bly_status status = bly_subtract(rest, m->b.filter);
    if (!model_can(m, BLY_CAN_SUBTRACT)) {
        model_expect(m, model_refused(status),
                     "a kind that cannot subtract did");
        model_same(m, rest, m->a.filter);
    } else {
        model_expect(m, status == BLY_OK || model_apart(m, status),
                     "twins cannot be subtracted");
        if (status == BLY_OK && once
            && bly_list_keys(rest, model_visit_key, &l) == BLY_OK)
            model_expect(m, l.listed
                            == a + b - 2 * model_common(m->a.set, m->b.set),
                         "the difference is not listed whole");
    }
    bly_free(rest);
}

/* ---- Fingerprints, labels ---------------------------------------------- */

typedef struct {
    model      *m;
    size_t      n;
    unsigned    bits[EXACT_KEYS];
    exact_entry entry[EXACT_KEYS];
} model_fingerprints;

static bool model_visit_fingerprint(void *context, uint64_t hash,
                                    unsigned bits, uint64_t count)
{
    model_fingerprints *f = context;
    bool alike = !model_can(f->m, BLY_CAN_GROW);
    model_expect(f->m, !alike || f->n == 0 || hash > f->entry[f->n - 1].hash,
                 "fingerprints do not rise");
    model_expect(f->m, !alike || f->n == 0 || bits == f->bits[0],
                 "fingerprints of unlike sizes");
    if (f->n == EXACT_KEYS)
        return true;
    f->bits[f->n] = bits;
    f->entry[f->n++] = (exact_entry){ .hash = hash, .count = count };
    return true;
}

/* Returns whether fingerprints that begin a key's hash were listed as often as
 * the key. */
static bool model_listed_in_parts(const model_fingerprints *f,
                                  const exact_entry *key)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < f->n; i++)
        if (f->bits[i] == 0
            || (f->entry[i].hash ^ key->hash) >> (64 - f->bits[i]) == 0)
            sum += f->entry[i].count;
    return sum >= key->count;
}

/* Returns whether a key's fingerprint was listed as often as the key. Fewer
 * than twice 2^(64 - bits) share it. */
static bool model_listed(const model_fingerprints *f, const exact_entry *key)
{
    size_t low = 0, high = f->n;
    if (model_can(f->m, BLY_CAN_GROW))
        return model_listed_in_parts(f, key);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->entry[middle].hash <= key->hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && f->entry[low - 1].count >= key->count
        && (f->bits[0] <= 1 || (key->hash - f->entry[low - 1].hash)
                            >> (64 - f->bits[0]) < 2);
}

void model_op_list_fingerprints(model *m)
{
    model_fingerprints *f = malloc(sizeof *f);
    if (f == NULL)
        return;
    f->m = m;
    f->n = 0;
    bly_status status
        = bly_list_fingerprints(m->a.filter, model_visit_fingerprint, f);
    model_expect(m, status == (model_can(m, BLY_CAN_FINGERPRINTS) ? BLY_OK
                                                          : BLY_EUNSUPPORTED),
                 "odd status of a list of fingerprints");
    const exact *set = m->a.set;
    for (size_t i = 0; status == BLY_OK && model_keeps(m) && i < set->used; i++)
        if (set->entry[i].count > 0)
            model_found(m, model_listed(f, &set->entry[i]),
                        "the list of fingerprints lost a key");
    free(f);
}

static bool model_visit_label(void *context, const bly_label_t *label)
{
    model *m = context;
    model_expect(m, label->fill >= 0 && label->fill <= 1 && label->rate >= 0
                    && label->rate <= 1 && label->mistaken >= 0
                    && label->mistaken <= 1, "a share is not in [0, 1]");
    return true;
}

void model_op_list_labels(model *m)
{
    bly_status status = bly_list_labels(m->a.filter, model_visit_label, m);
    model_expect(m, status == BLY_OK || status == BLY_EUNSUPPORTED,
                 "the labels cannot be listed");
}

/* ---- The header, and where a key is ------------------------------------ */

/* A filter opens only with its own secret, or, without one, with none. */
static void model_other_secret(model *m, const void *image, size_t bytes)
{
    static const uint8_t wrong[BLY_SECRET_BYTES] = "another secret!";
    const bly_options with = { .secret = wrong }, without = { .secret = NULL };
    bly_filter *opened = NULL;
    model_expect(m, bly_wrap(&opened, image, bytes, &with) == BLY_ESECRET,
                 "a wrong secret opens a filter");
    model_expect(m, m->spec.secret == NULL
                    || bly_wrap(&opened, image, bytes, &without) == BLY_ESECRET,
                 "a filter with a secret is opened without");
    bly_free(opened);
}

void model_op_peek(model *m)
{
    bly_header h;
    bly_info_t s;
    size_t bytes;
    const void *image = bly_image(m->a.filter, &bytes);
    bool grows = model_can(m, BLY_CAN_GROW);    /* stat reports its growth   */
    bly_info(&s, m->a.filter);
    model_expect(m, bly_peek(&h, image, BLY_HEADER_BYTES) == BLY_OK,
                 "the library's own header is refused");
    model_expect(m, h.bytes == bytes
                    && (grows || h.capacity == s.capacity)
                    && h.seed == s.seed && strcmp(h.kind, s.kind) == 0
                    && strcmp(h.hash, s.hash) == 0 && h.known && h.sealed
                    && !h.packed && (!s.items_exact || h.items == s.items)
                    && memcmp(h.geometry, s.geometry, sizeof h.geometry) == 0,
                 "the header says something else than stat");
    model_expect(m, (bly_can(m->a.filter) & m->kind->can) == m->kind->can
                    && strcmp(bly_kind_of(m->a.filter), s.kind) == 0,
                 "the filter is of another kind");
    model_other_secret(m, image, bytes);
}

/* An add changes only the header and the key's part of the image. */
static void model_changed_part(model *m, bly_filter *copy, uint64_t hash)
{
    uint64_t place = 0;
    size_t part = 0, bytes, after_bytes;
    model_expect(m, bly_places(copy, &hash, 1, &place, &part) == BLY_OK,
                 "a local kind does not tell a key's place");
    const uint8_t *before = bly_raw(m->a.filter, &bytes);
    bly_status status = bly_add_hash(copy, hash);
    const uint8_t *after = bly_raw(copy, &after_bytes);
    bool within = bytes == after_bytes && place >= FORGE_HEADER
               && part <= bytes && place <= bytes - part;
    size_t from = within ? (size_t)place : 0;
    model_expect(m, status >= 0 && within,
                 "a key's place is not in the image");
    if (within)
        model_expect(m, memcmp(before + FORGE_HEADER, after + FORGE_HEADER,
                               from - FORGE_HEADER) == 0
                        && memcmp(before + from + part, after + from + part,
                                  bytes - from - part) == 0,
                     "an add changed more than the key's place");
}

void model_op_places(model *m)
{
    uint64_t hash = model_u64(m), place = 7;
    size_t part = 7;
    bly_filter *copy = NULL;
    if (!model_can(m, BLY_CAN_LOCAL)) {
        model_expect(m, bly_places(m->a.filter, &hash, 1, &place, &part)
                        == BLY_EUNSUPPORTED && place == 7 && part == 7,
                     "a kind that is not local told a place");
        return;
    }
    if (bly_copy(&copy, m->a.filter, &m->options) == BLY_OK)
        model_changed_part(m, copy, hash);
    bly_free(copy);
}

/* Forgets the number of adds, or restores it if known. */
void model_op_set_items(model *m)
{
    exact *set = m->a.set;
    bool known = set->adds_known && model_u8(m) % 2 == 0;
    model_expect(m, bly_set_items(m->a.filter, known ? set->adds : UINT64_MAX)
                    == BLY_OK, "the number of adds cannot be told");
    set->plain = set->plain && known;
    model_op_stat(m);
}
