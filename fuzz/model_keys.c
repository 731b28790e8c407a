/* model_keys.c - instructions of the machine of model.h: whole keys, in each
 * form of bly_keys, and the results of batches for each key.
 */
#include "machine.h"
#include "views.h"

#include <string.h>

/* ---- The forms --------------------------------------------------------- */

/* Keys one behind the other, as in Arrow or an array in C. */
typedef struct {
    uint8_t  data[MODEL_BATCH * MODEL_KEY];
    uint32_t offsets32[MODEL_BATCH + 1];
    uint64_t offsets64[MODEL_BATCH + 1];
} model_laid;

static model_laid laid;

/* Lays out keys of one width: the 8 bytes of their hashes. */
static bly_keys model_lay_wide(model *m, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        memcpy(laid.data + 8 * i, &m->hash[i], 8);
        m->key[i] = (bly_key){ .data = laid.data + 8 * i, .length = 8 };
        m->hash[i] = bly_hash(m->a.filter, m->key[i].data, 8);
    }
    return (bly_keys){ .n = n, .data = laid.data, .width = 8 };
}

/* Lays out m->key in one of the four forms. */
static bly_keys model_lay(model *m, size_t n, uint8_t form)
{
    size_t end = 0;
    if (form % 4 == 0)
        return (bly_keys){ .n = n, .keys = m->key };
    if (form % 4 == 1)
        return model_lay_wide(m, n);
    for (size_t i = 0; i < n; i++) {
        laid.offsets32[i] = (uint32_t)end;
        laid.offsets64[i] = end;
        memcpy(laid.data + end, m->key[i].data, m->key[i].length);
        end += m->key[i].length;
    }
    laid.offsets32[n] = (uint32_t)end;
    laid.offsets64[n] = end;
    if (form % 4 == 2)
        return (bly_keys){ .n = n, .data = laid.data,
                           .offsets32 = laid.offsets32 };
    return (bly_keys){ .n = n, .data = laid.data,
                       .offsets64 = laid.offsets64 };
}

/* Draws a form, a first key and a number; the keys are also in m->key. */
static bly_keys model_draw_form(model *m)
{
    uint8_t form = model_u8(m);
    uint64_t from = model_u16(m);
    size_t n = model_batch(m);
    model_draw_keys(m, from, n);
    return model_lay(m, n, form);
}

/* ---- Ask --------------------------------------------------------------- */

static void model_ask_one(model *m, size_t i, bool found, uint64_t label)
{
    const bly_filter *f = m->a.filter;
    const bly_key *key = &m->key[i];
    uint64_t one = 7;
    model_expect(m, m->answer[i] == bly_contains(f, key->data, key->length),
                 "contains_keys is not contains");
    model_expect(m, m->count[i] == bly_count(f, key->data, key->length),
                 "count_keys is not count");
    model_expect(m, bly_get(f, key->data, key->length, &one) == found
                    && one == label, "get_keys is not get");
}

void model_op_ask_forms(model *m)
{
    bool found[MODEL_BATCH];
    uint64_t labels[MODEL_BATCH], hashes[MODEL_BATCH];
    bly_keys keys = model_draw_form(m);
    for (size_t i = 0; i < keys.n; i++)
        labels[i] = 7;
    bool fine = bly_contains_many(m->a.filter, &keys, m->answer) == BLY_OK
             && bly_count_many(m->a.filter, &keys, m->count) == BLY_OK
             && bly_get_many(m->a.filter, &keys, found, labels) == BLY_OK
             && bly_hash_many(hashes, m->report->kind, &m->spec, &keys)
                == BLY_OK;
    model_expect(m, fine, "keys that are well formed are refused");
    if (!fine)
        return;
    model_expect(m, memcmp(hashes, m->hash, keys.n * sizeof *hashes) == 0,
                 "hash_keys is not hash");
    for (size_t i = 0; i < keys.n; i++)
        model_ask_one(m, i, found[i], labels[i]);
}

/* ---- Add --------------------------------------------------------------- */

/* Adds keys to `f` one by one until one is refused; returns how many went
 * in. */
static size_t model_add_each(model *m, bly_filter *f, size_t n,
                             bly_status *last)
{
    size_t i = 0;
    *last = BLY_OK;
    for (; i < n; i++) {
        m->each[i] = bly_add(f, m->key[i].data, m->key[i].length);
        if (m->each[i] < 0) {
            *last = m->each[i];
            break;
        }
    }
    return i;
}

/* A batch equals single calls, including the result for each key. */
void model_op_add_forms(model *m)
{
    bly_keys keys = model_draw_form(m);
    bool seen[MODEL_BATCH];
    bly_filter *copy = NULL;
    bly_status last;
    size_t done = MODEL_BATCH + 1;
    if (!exact_room(m->a.set, keys.n)
        || bly_copy(&copy, m->a.filter, &m->options) != BLY_OK)
        return;
    size_t went = model_add_each(m, copy, keys.n, &last);
    bly_status status = bly_add_many(m->a.filter, &keys, seen, &done);
    if (!model_can(m, BLY_CAN_ADD))
        last = BLY_EUNSUPPORTED;
    /* Allocators may differ, and so the limits of growth. */
    bool full = model_full(m, status) || model_full(m, last);
    model_expect(m, status == last || full,
                 "the batch ends with another status than its keys");
    model_expect(m, done == went || full,
                 "the batch ends at another key than one by one");
    for (size_t i = 0; i < done && i < went; i++)
        model_expect(m, seen[i] == (m->each[i] == BLY_SEEN),
                     "the batch says otherwise whether a key was there");
    for (size_t i = 0; i < done && i < keys.n; i++)
        exact_add(m->a.set, m->hash[i], 1);
    bly_free(copy);
}

/* Filters that are not shared. */
static bool model_adds_by_view(const model *m)
{
    const char *kind = m->kind->name;
    return strcmp(kind, "blocked") == 0 || strcmp(kind, "split") == 0
        || strcmp(kind, "standard") == 0;
}

/* Adding through a view has the same effect as adding to a copy. */
void model_op_add_by_view(model *m)
{
    uint64_t from = model_u16(m), items = model_items(m);
    size_t n = model_batch(m);
    views_view view;
    bly_filter *copy = NULL;
    if (!exact_room(m->a.set, n))
        return;
    bly_status status = bly_inline_begin(m->a.filter);
    if (status != BLY_OK) {
        model_expect(m, status == BLY_EUNSUPPORTED
                        && (!model_adds_by_view(m)
                            || strstr(bly_why(), "BLY_SHARED") != NULL),
                     "adding by a view is refused");
        return;
    }
    bly_inline_end(m->a.filter, 0);
    bool ready = bly_copy(&copy, m->a.filter, &m->options) == BLY_OK
              && bly_inline_begin(m->a.filter) == BLY_OK
              && views_plain.of(&view, m->a.filter);
    model_expect(m, ready && model_adds_by_view(m), "it has no view");
    if (ready) {
        model_draw_hashes(m, from, n);
        for (size_t i = 0; i < n; i++)
            model_expect(m, views_plain.add(&view, m->hash[i])
                            == bly_add_hash(copy, m->hash[i]),
                         "adding by a view says otherwise than add_hash");
        bly_inline_end(m->a.filter, n);
        model_added_many(m, n, items, BLY_OK);
        model_same(m, m->a.filter, copy);
    }
    bly_free(copy);
}

/* ---- Remove ------------------------------------------------------------ */

/* Reduces m->key to drawn keys in the set, each as often as it may be removed;
 * returns how many. */
static size_t model_removable(model *m, size_t n)
{
    size_t picked = 0;
    for (size_t i = 0; i < n; i++) {
        exact_entry *entry = exact_find(m->a.set, m->hash[i]);
        if (entry == NULL)
            continue;
        exact_remove(m->a.set, entry);
        m->hash[picked] = m->hash[i];
        m->key[picked++] = m->key[i];
    }
    return picked;
}

void model_op_remove_keys(model *m)
{
    uint8_t form = model_u8(m);
    uint64_t from = model_u16(m);
    size_t n = model_batch(m);
    if (!model_can(m, BLY_CAN_REMOVE))
        return;
    model_draw_keys(m, from, n);
    n = model_removable(m, n);
    bly_keys keys = model_lay(m, n, form % 4 == 1 ? 0 : form);
    if (form < 128)
        bly_remove_many(m->a.filter, &keys, m->each);
    else
        for (size_t i = 0; i < n; i++)
            m->each[i] = bly_remove(m->a.filter, m->key[i].data,
                                    m->key[i].length);
    for (size_t i = 0; i < n; i++) {
        model_removed(m, m->each[i]);
        if (m->each[i] != BLY_OK)       /* back into the set */
            exact_add(m->a.set, m->hash[i], 1);
    }
}

/* ---- Labels ------------------------------------------------------------ */

/* Checks get after a put of `done` keys, in each of its forms. */
static void model_labelled(model *m, const bly_keys *keys, size_t done)
{
    bool found[MODEL_BATCH], again[MODEL_BATCH];
    uint64_t labels[MODEL_BATCH] = { 0 }, others[MODEL_BATCH] = { 0 };
    model_expect(m, bly_get_many(m->a.filter, keys, found, labels) == BLY_OK,
                 "keys that are well formed are refused");
    bly_get_hashes(m->a.filter, m->hash, keys->n, again, others);
    for (size_t i = 0; i < keys->n; i++) {
        model_expect(m, found[i] == again[i] && labels[i] == others[i],
                     "get_many is not get_keys");
        model_expect(m, found[i] || i >= done,
                     "a label just put is not there");
    }
}

void model_op_label_keys(model *m)
{
    bly_keys keys = model_draw_form(m);
    bool can = model_can(m, BLY_CAN_LABEL), adds = model_can(m, BLY_CAN_ADD);
    uint64_t labels[MODEL_BATCH];
    size_t done = MODEL_BATCH + 1;
    model_draw_labels(m, labels, can ? keys.n : 0);
    if (can && !exact_room(m->a.set, keys.n))
        return;
    bly_status status
        = bly_put_many(m->a.filter, &keys, can ? labels : m->count, &done);
    if (!can) {
        model_expect(m, status == BLY_EUNSUPPORTED && done == 0,
                     "a kind that cannot label did");
        return;
    }
    model_expect(m, status == BLY_OK || (status == BLY_EABSENT && !adds),
                 "odd status of put_keys");
    model_expect(m, done <= keys.n && (done == keys.n || status < 0),
                 "put_keys tells another number than it put");
    model_labelled(m, &keys, done);
    for (size_t i = 0; adds && i < done; i++)
        exact_add(m->a.set, m->hash[i], 1);
}
