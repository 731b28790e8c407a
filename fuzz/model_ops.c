/* model_ops.c - the table of instructions of the machine of model.h, and the
 * first of them, one function each. model_keys.c, model_sets.c and model_ways.c
 * have the others.
 */
#include "machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "forge.h"

/* ---- Instructions: add ------------------------------------------------- */

static void model_added(model *m, uint64_t hash, bool before,
                        bly_status status)
{
    if (model_full(m, status) || !model_can(m, BLY_CAN_ADD)) {
        model_expect(m, model_full(m, status) || status == BLY_EUNSUPPORTED,
                     "a kind that cannot add did");
        model_expect(m, bly_contains_hash(m->a.filter, hash) == before,
                     "a refused add changed the filter");
        return;
    }
    if (status == BLY_EREMOVED && m->lossy)
        return;
    model_expect(m, status == (before ? BLY_SEEN : BLY_OK),
                 "add and contains disagree whether it was there");
    exact_add(m->a.set, hash, 1);
    if (model_keeps(m))
        model_found(m, bly_contains_hash(m->a.filter, hash),
                    "a key just added is not there");
}

static void model_op_add(model *m)
{
    uint8_t text[MODEL_KEY];
    bly_key key = model_draw_key(text, model_u16(m));
    uint64_t hash = bly_hash(m->a.filter, key.data, key.length);
    if (!exact_room(m->a.set, 1))
        return;
    bool before = bly_contains(m->a.filter, key.data, key.length);
    model_added(m, hash, before,
                bly_add(m->a.filter, key.data, key.length));
}

static void model_op_add_hash(model *m)
{
    uint64_t hash = model_u64(m);
    if (!exact_room(m->a.set, 1))
        return;
    bool before = bly_contains_hash(m->a.filter, hash);
    model_added(m, hash, before, bly_add_hash(m->a.filter, hash));
}

static void model_op_add_many(model *m)
{
    uint64_t from = model_u16(m), items = model_items(m);
    size_t n = model_batch(m);
    if (!exact_room(m->a.set, n))
        return;
    model_draw_hashes(m, from, n);
    model_added_many(m, n, items,
                     bly_add_hashes(m->a.filter, m->hash, n, NULL, NULL));
}

static void model_op_add_keys(model *m)
{
    uint64_t from = model_u16(m), items = model_items(m);
    size_t n = model_batch(m);
    if (!exact_room(m->a.set, n))
        return;
    model_draw_keys(m, from, n);
    model_added_many(m, n, items,
                     bly_add_many(m->a.filter,
                                  &(bly_keys){.n = n, .keys = m->key}, NULL,
                                  NULL));
}

/* ---- Instructions: query ----------------------------------------------- */

static void model_op_ask(model *m)
{
    const exact_entry *entry = exact_pick(m->a.set, model_u16(m));
    if (entry != NULL && model_keeps(m))
        model_found(m, bly_contains_hash(m->a.filter, entry->hash),
                    "a key is lost");
}

static void model_op_ask_many(model *m)
{
    uint64_t from = model_u16(m);
    size_t n = model_batch(m);
    model_draw_hashes(m, from, n);
    bly_contains_hashes(m->a.filter, m->hash, n, m->answer);
    for (size_t i = 0; i < n; i++)
        model_expect(m, m->answer[i]
                        == bly_contains_hash(m->a.filter, m->hash[i]),
                     "contains_many is not contains_hash");
    model_viewed(m, m->a.filter, n);
}

static void model_op_ask_keys(model *m)
{
    uint64_t from = model_u16(m);
    size_t n = model_batch(m);
    model_draw_keys(m, from, n);
    bly_contains_many(m->a.filter, &(bly_keys){.n = n, .keys = m->key},
                      m->answer);
    for (size_t i = 0; i < n; i++) {
        const bly_key *key = &m->key[i];
        bool one = bly_contains(m->a.filter, key->data, key->length);
        model_expect(m, m->answer[i] == one,
                     "contains_keys is not contains");
        model_expect(m, bly_contains_hash(m->a.filter, m->hash[i]) == one,
                     "contains_hash is not contains");
    }
}

static void model_op_count(model *m)
{
    uint64_t hash = model_mix(model_u16(m));
    uint64_t count = bly_count_hash(m->a.filter, hash);
    bool in = bly_contains_hash(m->a.filter, hash);
    model_expect(m, (count > 0) == in, "count and contains disagree");
    if (!model_can(m, BLY_CAN_COUNT))
        model_expect(m, count == 0 || count == UINT64_MAX,
                     "a kind that cannot count did");
}

static void model_op_law(model *m)
{
    model_law(m, m->a.filter, m->a.set);
}

/* ---- Instructions: remove, label --------------------------------------- */

static void model_op_remove(model *m)
{
    exact_entry *entry = exact_pick(m->a.set, model_u16(m));
    uint64_t hash = entry != NULL ? entry->hash : 1;
    if (!model_can(m, BLY_CAN_REMOVE)) {
        model_expect(m, bly_remove_hash(m->a.filter, hash)
                        == BLY_EUNSUPPORTED, "a kind that cannot remove did");
    } else if (entry != NULL) {
        bly_status status = bly_remove_hash(m->a.filter, hash);
        model_removed(m, status);
        if (status == BLY_OK)
            exact_remove(m->a.set, entry);
    }
}

/* Removes present keys, each at most as often as it is there: once more would
 * remove traces of another. */
static void model_op_remove_many(model *m)
{
    uint64_t from = model_u16(m);
    size_t n = model_batch(m), picked = 0;
    if (!model_can(m, BLY_CAN_REMOVE))
        return;
    for (size_t i = 0; i < n; i++) {
        exact_entry *entry = exact_pick(m->a.set, from + i / 2);
        if (entry == NULL)
            break;
        m->hash[picked++] = entry->hash;
        exact_remove(m->a.set, entry);
    }
    bly_remove_hashes(m->a.filter, m->hash, picked, m->each);
    for (size_t i = 0; i < picked; i++) {
        model_removed(m, m->each[i]);
        if (m->each[i] != BLY_OK)       /* back into the set */
            exact_add(m->a.set, m->hash[i], 1);
    }
}

/* A resized copy holds the same keys. */
static void model_op_resize(model *m)
{
    bly_filter *copy = NULL;
    uint64_t times = 1 + model_u8(m) % 8;
    bly_info_t stat;
    if (bly_copy(&copy, m->a.filter, NULL) != BLY_OK)
        return;
    bly_info(&stat, copy);
    bly_status status = stat.bytes < MODEL_IMAGE / 8
                      ? bly_resize(copy, stat.capacity * times) : BLY_EPARAM;
    model_expect(m, model_can(m, BLY_CAN_RESIZE)
                    ? status == BLY_OK || status == BLY_EPARAM
                      || status == BLY_EFULL || status == BLY_ENOMEM
                    : status == BLY_EUNSUPPORTED || status == BLY_EPARAM,
                 "odd status of resize");
    model_law(m, copy, m->a.set);
    bly_free(copy);
}

/* A folded copy holds the same keys, and perhaps more. */
static void model_op_fold(model *m)
{
    bly_filter *copy = NULL;
    uint64_t times = model_u8(m) % 16;
    if (bly_copy(&copy, m->a.filter, NULL) != BLY_OK)
        return;
    bly_status status = bly_fold(copy, times);
    model_expect(m, model_can(m, BLY_CAN_FOLD)
                    ? status == BLY_OK || status == BLY_EPARAM
                      || status == BLY_ENOMEM
                    : status == BLY_EUNSUPPORTED,
                 "odd status of fold");
    model_law(m, copy, m->a.set);
    bly_free(copy);
}

/* Clearing leaves an empty filter, or an unchanged one if it cannot be
 * cleared. */
static void model_op_clear(model *m)
{
    bly_status status = bly_clear(m->a.filter);
    model_expect(m, status == BLY_OK || status == BLY_EUNSUPPORTED
                    || status == BLY_ENOMEM, "odd status of clear");
    if (status != BLY_OK)
        return;
    exact_clear(m->a.set);
    model_expect(m, !bly_contains_hash(m->a.filter, model_mix(0)),
                 "a cleared filter found something");
}

static void model_op_remove_absent(model *m)
{
    uint64_t hash = model_u64(m);
    if (!model_can(m, BLY_CAN_REMOVE) || bly_contains_hash(m->a.filter, hash))
        return;
    bly_filter *before = NULL;
    bly_status copied = bly_copy(&before, m->a.filter, NULL);
    model_expect(m, bly_remove_hash(m->a.filter, hash) == BLY_EABSENT,
                 "an absent key was removed");
    if (copied == BLY_OK)
        model_same(m, m->a.filter, before);
    bly_free(before);
}

/* A put counts as an add if the kind has one; repeated, it changes nothing. */
static void model_op_put(model *m, uint64_t hash, uint64_t label)
{
    uint64_t got = 0, again = 0, was = 0;
    if (!exact_room(m->a.set, 1))
        return;
    bool before = bly_get_hash(m->a.filter, hash, &was);
    bly_status status = bly_put_hash(m->a.filter, hash, label);
    bool found = bly_get_hash(m->a.filter, hash, &got);
    model_expect(m, status == BLY_OK || status == BLY_SEEN,
                 "odd status of put");
    model_expect(m, found, "a label just put is not there");
    model_expect(m, status != BLY_SEEN || (before && got == was),
                 "a put that changed the label says that it changed nothing");
    model_expect(m,
                 bly_put_hashes(m->a.filter, &hash, &label, 1, NULL) == BLY_OK,
                 "a label cannot be put twice");
    model_expect(m, bly_get_hash(m->a.filter, hash, &again) && again == got,
                 "the same label again changed it");
    exact_add(m->a.set, hash, 2);
}

static void model_op_label(model *m)
{
    const exact_entry *entry = exact_pick(m->a.set, model_u16(m));
    uint64_t hash = entry != NULL ? entry->hash : 1, got = 7;
    uint64_t label;
    model_draw_labels(m, &label, 1);
    if (model_can(m, BLY_CAN_LABEL) && model_can(m, BLY_CAN_ADD)) {
        model_op_put(m, hash, label);
        return;
    }
    bly_status status = bly_put_hash(m->a.filter, hash, label);
    bool found = bly_get_hash(m->a.filter, hash, &got);
    if (!model_can(m, BLY_CAN_LABEL))
        model_expect(m, status == BLY_EUNSUPPORTED && !found && got == 7,
                     "a kind that cannot label did");
    else if (status >= 0)
        model_expect(m, found && got == label,
                     "a label just put is not there");
}

/* ---- Instructions: copies and images ----------------------------------- */

static void model_op_copy(model *m)
{
    bly_filter *copy = NULL;
    if (bly_copy(&copy, m->a.filter, NULL) != BLY_OK)
        return;
    model_same(m, m->a.filter, copy);
    model_replace(&m->a.filter, copy);
}

static void model_op_clone(model *m)
{
    bly_filter *copy = NULL;
    if (bly_copy(&copy, m->a.filter, NULL) != BLY_OK)
        return;
    model_replace(&m->b.filter, copy);
    exact_copy(m->b.set, m->a.set);
    m->work -= EXACT_SLOTS / 16;
}

static void model_op_renew(model *m)
{
    model_side fresh = { .set = m->a.set };
    if (model_fresh(m, &fresh))
        model_replace(&m->a.filter, fresh.filter);
    else
        m->over = true;                 /* the set is cleared: no way back */
}

void model_op_check(model *m)
{
    size_t bytes;
    const void *image = bly_image(m->a.filter, &bytes);
    model_expect(m, bly_check(image, bytes, NULL) == BLY_OK,
                 "check refuses the library's own image");
}

/* Borrows the image at an address that is not a multiple of 8, its end at the
 * end of a block. */
static void model_op_wrap(model *m)
{
    size_t bytes, off = 1 + model_u8(m) % 7;
    const void *image = bly_image(m->a.filter, &bytes);
    uint8_t *block = malloc(bytes + off);
    bly_filter *wrapped = NULL;
    if (block == NULL)
        return;
    memcpy(block + off, image, bytes);
    model_expect(m, bly_wrap(&wrapped, block + off, bytes, &m->options)
                    == BLY_OK, "wrap refuses the library's own image");
    if (wrapped != NULL) {
        model_same(m, m->a.filter, wrapped);
        model_law(m, wrapped, m->a.set);
        model_expect(m, bly_add_hash(wrapped, 1)
                        == (model_can(m, BLY_CAN_ADD) ? BLY_EREADONLY
                                                : BLY_EUNSUPPORTED),
                     "a borrowed image was changed");
    }
    bly_free(wrapped);
    free(block);
}

/* A filter built from the exact set, each key once, holds the same keys; if it
 * consists of bits only, it is equal. (Without a capacity bly_build plans for
 * the number of keys, and bly_new cannot.) */
static void model_op_rebuild(model *m)
{
    const exact *set = m->a.set;
    if (!(m->flags & MODEL_BUILD))
        return;
    uint64_t *hashes = malloc(set->used * sizeof *hashes + 1);
    exact *once = malloc(sizeof *once);
    bly_filter *built = NULL;
    size_t n = 0;
    if (once != NULL)
        exact_clear(once);
    for (size_t i = 0; hashes != NULL && once != NULL && i < set->used; i++)
        if (set->entry[i].count > 0) {
            exact_add(once, set->entry[i].hash, 1);
            hashes[n++] = set->entry[i].hash;
        }
    if (hashes != NULL && once != NULL
        && bly_build(&built, m->report->kind, &m->spec,
                     &(bly_keys){ .n = n, .hashes = hashes })
               == BLY_OK) {
        model_law(m, built, once);
        bool alike = set->pure && m->spec.capacity != 0 && !m->resized
                  && strcmp(m->kind->family, "sets") == 0;
        model_expect(m, !alike || model_same_payload(m->a.filter, built),
                     "building at once gives another filter");
    }
    bly_free(built);
    free(hashes);
    free(once);
}

/* ---- Instructions: files ----------------------------------------------- */

/* Adds a key to the file and to A. */
static void model_write_through(model *m, const char *path)
{
    uint64_t hash = model_u64(m);
    bly_filter *opened = NULL;
    if (!exact_room(m->a.set, 1) || !model_can(m, BLY_CAN_ADD)
        || model_can(m, BLY_CAN_PACK))        /* its files cannot be changed */
        return;
    model_expect(m,
                 bly_open(&opened, path, BLY_MAP | BLY_WRITE, &m->options)
                     == BLY_OK, "a saved filter cannot be mapped for writing");
    if (opened == NULL)
        return;
    bly_status there = bly_add_hash(opened, hash);
    bly_free(opened);
    if (there == BLY_EFULL && model_can(m, BLY_CAN_GROW))
        return;                         /* a mapped one cannot */
    bly_status here = bly_add_hash(m->a.filter, hash);
    model_expect(m, there == here, "mapped and in memory differ");
    if (here >= 0)
        exact_add(m->a.set, hash, 1);
}

static void model_op_file(model *m)
{
    static const int flags[] = { 0, BLY_MAP, BLY_MAP | BLY_VERIFY };
    char path[MODEL_PATH];
    uint8_t how = model_u8(m);
    if (!model_saved(m, path))
        return;
    if (how % 4 == 3)
        model_write_through(m, path);
    model_reopen(m, path, flags[how % 3]);
    unlink(path);
}

/* ---- Instructions: two filters ----------------------------------------- */

static void model_op_unite(model *m)
{
    if (!exact_room(m->a.set, m->b.set->used))
        return;
    m->work -= (long)m->b.set->used;
    bly_status status = bly_unite(m->a.filter, m->b.filter);
    if (!model_can(m, BLY_CAN_UNITE)) {
        model_expect(m, model_refused(status),
                     "a kind that cannot unite did");
    } else if (status != BLY_EFULL && !model_apart(m, status)) {
        model_expect(m, status == BLY_OK, "twins cannot be united");
        exact_unite(m->a.set, m->b.set);
    }
}

static void model_op_intersect(model *m)
{
    m->work -= (long)m->a.set->used;
    bly_status status = bly_intersect(m->a.filter, m->b.filter);
    if (!model_can(m, BLY_CAN_INTERSECT)) {
        model_expect(m, model_refused(status),
                     "a kind that cannot intersect did");
        return;
    }
    if (model_apart(m, status))
        return;
    model_expect(m, status == BLY_OK, "twins cannot be intersected");
    exact_intersect(m->a.set, m->b.set);
}

static bool model_sound(bly_estimate e)
{
    return e.value >= 0 && e.sd >= 0;   /* false for a nan */
}

static void model_op_overlap(model *m)
{
    bly_overlap_t o;
    bly_status status = bly_overlap(&o, m->a.filter, m->b.filter);
    if (!model_can(m, BLY_CAN_OVERLAP)) {
        model_expect(m, model_refused(status),
                     "a kind that cannot compare did");
        return;
    }
    if (model_apart(m, status))
        return;
    model_expect(m, status == BLY_OK, "twins cannot be compared");
    model_expect(m, model_sound(o.a) && model_sound(o.b)
                    && model_sound(o.either) && model_sound(o.differ),
                 "an estimate is negative or no number");
    model_expect(m, o.both.value <= o.either.value && o.both.sd >= 0
                    && (o.jaccard.value <= 1 || isinf(o.either.value))
                    && o.jaccard.sd >= 0,
                 "more in both than in either, or no number");
}

/* Returns the image of A with another seed, or NULL without memory. */
static uint8_t *model_stranger(const model *m, size_t *bytes)
{
    const void *image = bly_image(m->a.filter, bytes);
    uint8_t *other = malloc(*bytes);
    if (other != NULL) {
        memcpy(other, image, *bytes);
        forge_set_u64(other, FORGE_SEED, m->spec.seed + 1);
        forge_seal(other, *bytes);
    }
    return other;
}

/* Filters with different seeds do not combine. */
static void model_op_refuse(model *m)
{
    size_t bytes;
    bly_filter *stranger = NULL, *before = NULL;
    bly_overlap_t o;
    uint8_t *image = model_stranger(m, &bytes);
    if (image != NULL
        && bly_wrap(&stranger, image, bytes, &m->options) == BLY_OK
        && bly_copy(&before, m->a.filter, NULL) == BLY_OK) {
        model_expect(m, bly_unite(m->a.filter, stranger) < 0
                        && bly_intersect(m->a.filter, stranger) < 0
                        && bly_overlap(&o, m->a.filter, stranger) < 0,
                     "filters of different seeds were combined");
        model_same(m, m->a.filter, before);
    }
    bly_free(before);
    bly_free(stranger);
    free(image);
}

/* ---- The planted fault ------------------------------------------------- */

/* Returns whether this image has lost the key. */
static bool model_lost(const model *m, const uint8_t *image, size_t bytes,
                       uint64_t hash)
{
    bly_filter *wrapped = NULL;
    bool lost = bly_wrap(&wrapped, image, bytes, &m->options) == BLY_OK
             && !bly_contains_hash(wrapped, hash);
    bly_free(wrapped);
    return lost;
}

/* Clears one set bit of the payload, from some bit on and around, such that the
 * key is lost; the whole payload if no single bit does it. */
static void model_break(const model *m, uint8_t *image, size_t bytes,
                        uint64_t hash)
{
    uint8_t *payload = image + FORGE_HEADER;
    size_t bits = (bytes - FORGE_HEADER) * 8;
    uint64_t first = model_mix(hash);
    for (size_t i = 0; i < bits; i++) {
        size_t at = (size_t)(first + i) % bits;
        uint8_t old = payload[at / 8];
        payload[at / 8] = (uint8_t)(old & ~(1u << at % 8));
        if (payload[at / 8] != old && model_lost(m, image, bytes, hash))
            return;
        payload[at / 8] = old;
    }
    memset(payload, 0, bytes - FORGE_HEADER);
}

static void model_op_plant(model *m)
{
    const exact_entry *victim = exact_pick(m->a.set, model_u16(m));
    size_t bytes;
    if (!(m->flags & MODEL_PLANT) || victim == NULL || !model_keeps(m))
        return;
    const void *image = bly_image(m->a.filter, &bytes);
    uint8_t *broken = malloc(bytes);
    bly_filter *wrapped = NULL, *copy = NULL;
    if (broken == NULL)
        return;
    memcpy(broken, image, bytes);
    model_break(m, broken, bytes, victim->hash);
    forge_seal(broken, bytes);
    if (bly_wrap(&wrapped, broken, bytes, &m->options) == BLY_OK
        && bly_copy(&copy, wrapped, NULL) == BLY_OK) {
        model_replace(&m->a.filter, copy);
        m->report->planted = true;
        m->over = true;
    }
    bly_free(wrapped);
    free(broken);
}

/* ---- The table --------------------------------------------------------- */

/* An instruction's number is its place in this table: append only, or the
 * corpus changes its meaning. */
const model_op model_ops[] = {
    { "add",       model_op_add },
    { "add hash",  model_op_add_hash },
    { "add many",  model_op_add_many },
    { "add keys",  model_op_add_keys },
    { "ask",       model_op_ask },
    { "ask many",  model_op_ask_many },
    { "ask keys",  model_op_ask_keys },
    { "copy",      model_op_copy },
    { "swap",      model_op_swap },
    { "clone",     model_op_clone },
    { "wrap",      model_op_wrap },
    { "check",     model_op_check },
    { "unite",     model_op_unite },
    { "intersect", model_op_intersect },
    { "overlap",   model_op_overlap },
    { "stat",      model_op_stat },
    { "remove",    model_op_remove },
    { "remove absent", model_op_remove_absent },
    { "count",     model_op_count },
    { "label",     model_op_label },
    { "law",       model_op_law },
    { "file",      model_op_file },
    { "plant",     model_op_plant },
    { "renew",     model_op_renew },
    { "refuse",    model_op_refuse },
    { "rebuild",   model_op_rebuild },
    { "remove many", model_op_remove_many },
    { "resize",    model_op_resize },
    { "ask forms", model_op_ask_forms },
    { "add forms", model_op_add_forms },
    { "remove keys", model_op_remove_keys },
    { "label keys", model_op_label_keys },
    { "renew by",  model_op_renew_by },
    { "resize here", model_op_resize_here },
    { "unite at",  model_op_unite_at },
    { "subtract",  model_op_subtract },
    { "list keys", model_op_list_keys },
    { "list fingerprints", model_op_list_fingerprints },
    { "list labels", model_op_list_labels },
    { "peek",      model_op_peek },
    { "places",    model_op_places },
    { "set items", model_op_set_items },
    { "pack",      model_op_pack },
    { "parts",     model_op_parts },
    { "map write", model_op_map_write },
    { "page",      model_op_page },
    { "create",    model_op_create },
    { "handles",   model_op_handles },
    { "threads",   model_op_threads },
    { "add by view", model_op_add_by_view },
    { "fold",      model_op_fold },
    { "clear",     model_op_clear },
};

const size_t model_ops_count = sizeof model_ops / sizeof *model_ops;
