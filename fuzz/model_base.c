/* model_base.c - parts of the instructions of the machine of model.h: findings,
 * operands, the law, drawing keys and labels, and files.
 */
#include "machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "forge.h"
#include "views.h"

/* ---- Findings ---------------------------------------------------------- */

static void model_note(model *m, const char *what)
{
    model_report *r = m->report;
    if (r->first[0] == '\0')
        snprintf(r->first, sizeof r->first,
                 "%s, step %" PRIu64 " (%s): %s [last error: %s]",
                 r->kind, r->steps, m->verb, what, bly_why());
}

void model_expect(model *m, bool good, const char *what)
{
    if (good)
        return;
    m->report->mismatches++;
    model_note(m, what);
}

void model_found(model *m, bool found, const char *by)
{
    m->report->asked++;
    if (found)
        return;
    m->report->lost++;
    model_note(m, by);
}

bool model_can(const model *m, uint64_t ability)
{
    if (ability == BLY_CAN_REMOVE && strstr(m->report->kind, "rule=least"))
        return false;                   /* not with this rule */
    return ((m->a.filter != NULL ? bly_can(m->a.filter) : m->kind->can)
            & ability) != 0;
}

/* ---- Operands ---------------------------------------------------------- */

uint8_t model_u8(model *m)
{
    return m->at < m->end ? *m->at++ : 0;
}

uint32_t model_u16(model *m)
{
    uint32_t low = model_u8(m);
    return low | (uint32_t)model_u8(m) << 8;
}

uint64_t model_u64(model *m)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; i++)
        value |= (uint64_t)model_u8(m) << (8 * i);
    return value;
}

/* Returns number i of a pseudorandom stream of hashes. */
uint64_t model_mix(uint64_t i)
{
    uint64_t v = (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    v = (v ^ v >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    v = (v ^ v >> 27) * UINT64_C(0x94D049BB133111EB);
    return v ^ v >> 31;
}

/* ---- The law ----------------------------------------------------------- */

/* Some kinds forget by design. */
bool model_keeps(const model *m)
{
    return !model_can(m, BLY_CAN_FORGET) && !m->lossy;
}

void model_viewed(model *m, const bly_filter *filter, size_t n)
{
    views_view view;
    if (!views_plain.of(&view, filter))
        return;
    for (size_t i = 0; i < n; i++)
        model_expect(m, views_plain.contains(&view, m->hash[i])
                        == bly_contains_hash(filter, m->hash[i]),
                     "a view says otherwise than contains_hash");
}

static void model_law_chunk(model *m, const bly_filter *filter,
                            const exact_entry *entry, size_t n)
{
    for (size_t i = 0; i < n; i++)
        m->hash[i] = entry[i].hash;
    bly_contains_hashes(filter, m->hash, n, m->answer);
    bly_count_hashes(filter, m->hash, n, m->count);
    model_viewed(m, filter, n);
    for (size_t i = 0; i < n; i++) {
        if (entry[i].count == 0)
            continue;
        model_found(m, m->answer[i], "contains_many lost a key");
        model_found(m, bly_contains_hash(filter, entry[i].hash),
                    "contains_hash lost a key");
        model_expect(m, m->count[i] >= entry[i].count,
                     "count is below the true number");
        model_expect(m, bly_count_hash(filter, entry[i].hash) == m->count[i],
                     "count and count_many disagree");
    }
}

/* Checks that every key of the set is found in the filter. */
void model_law(model *m, const bly_filter *filter, const exact *set)
{
    m->work -= (long)set->used;
    for (size_t i = 0; model_keeps(m) && i < set->used; i += MODEL_BATCH) {
        size_t n = set->used - i < MODEL_BATCH ? set->used - i : MODEL_BATCH;
        model_law_chunk(m, filter, set->entry + i, n);
    }
}

/* ---- Making filters ---------------------------------------------------- */

/* Makes an empty filter of this program's plan, or one of a hundred keys if the
 * kind must be built. */
bool model_fresh(model *m, model_side *side)
{
    exact_clear(side->set);
    if (m->empty != NULL)
        return bly_copy(&side->filter, m->empty, NULL) == BLY_OK;
    uint64_t from = model_u16(m);
    for (size_t i = 0; i < 100; i++) {
        m->hash[i] = model_mix(from + i);
        exact_add(side->set, m->hash[i], 1);
    }
    return bly_build(&side->filter, m->report->kind, &m->spec,
                     &(bly_keys){ .n = 100, .hashes = m->hash })
           == BLY_OK;
}

/* ---- Keys and labels --------------------------------------------------- */

/* Draws `n` hashes into m->hash; every eighth is a key of A. */
void model_draw_hashes(model *m, uint64_t from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        exact_entry *known = i % 8 == 7 ? exact_pick(m->a.set, from + i)
                                        : NULL;
        m->hash[i] = known != NULL ? known->hash : model_mix(from + i);
    }
}

/* Returns key i: 0 .. 39 bytes, some of them NUL. */
bly_key model_draw_key(uint8_t text[MODEL_KEY], uint64_t i)
{
    for (size_t j = 0; j < MODEL_KEY; j++)
        text[j] = (uint8_t)(model_mix(i) >> (j % 8 * 8)) ^ (uint8_t)j;
    return (bly_key){ .data = text, .length = (size_t)(i % MODEL_KEY) };
}

void model_draw_keys(model *m, uint64_t from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        m->key[i] = model_draw_key(m->text[i], from + i);
        m->hash[i] = bly_hash(m->a.filter, m->key[i].data, m->key[i].length);
    }
}

/* Returns the size of a batch: short ones are frequent. */
size_t model_batch(model *m)
{
    size_t n = model_u8(m);
    if (n >= 240)
        n = model_u16(m) % (MODEL_BATCH + 1);
    m->work -= (long)n;
    return n;
}

void model_draw_labels(model *m, uint64_t *labels, size_t n)
{
    bly_info_t stat;
    if (n > 0)
        bly_info(&stat, m->a.filter);
    for (size_t i = 0; i < n; i++) {
        uint64_t span = stat.label_most - stat.label_least;
        uint64_t any = model_u8(m) * UINT64_C(0x0101010101010101);
        labels[i] = stat.label_least
                  + (span == UINT64_MAX ? any : any % (span + 1));
    }
}

/* ---- Statuses of verbs ------------------------------------------------- */

/* Returns whether the filter is full: or, if it grows, has reached the memory
 * limit of the machine; or, for integers, a key is out of range. */
bool model_full(const model *m, bly_status status)
{
    return status == BLY_EFULL
        || (status == BLY_EPARAM && strcmp(m->kind->name, "egh") == 0)
        || (model_can(m, BLY_CAN_GROW)
            && (status == BLY_ENOMEM || status == BLY_ETOOBIG));
}

uint64_t model_items(const model *m)
{
    bly_info_t stat;
    bly_info(&stat, m->a.filter);
    return stat.items;
}

/* Puts the first of m->hash, as many as the filter accepted, into the set. */
void model_added_many(model *m, size_t n, uint64_t items,
                      bly_status status)
{
    if (!model_can(m, BLY_CAN_ADD)) {
        model_expect(m, status == BLY_EUNSUPPORTED || n == 0,
                     "a kind that cannot add did");
        return;
    }
    model_expect(m, status == BLY_OK || model_full(m, status)
                    || (status == BLY_EREMOVED && m->lossy),
                 "a batch was refused");
    if (status != BLY_OK) {
        bly_info_t stat;
        bly_info(&stat, m->a.filter);
        n = stat.items_exact ? (size_t)(stat.items - items) : 0;
        if (!stat.items_exact)
            m->over = true;             /* unknown which ones are in */
    }
    for (size_t i = 0; i < n; i++)
        exact_add(m->a.set, m->hash[i], 1);
}

/* Checks the status of removing a key that is present. */
void model_removed(model *m, bly_status status)
{
    bly_info_t stat;
    bly_info(&stat, m->a.filter);
    m->lossy |= stat.lost > 0;
    model_expect(m, status == BLY_OK || status == BLY_EUNSAFE
                    || (status == BLY_EABSENT && m->lossy),
                 "a key that is there cannot be removed");
}

/* Filters of a kind that packs its keys may differ in size, which is noticed
 * before the kind's abilities are. */
bool model_refused(bly_status status)
{
    return status == BLY_EUNSUPPORTED || status == BLY_EMISMATCH;
}

bool model_apart(const model *m, bly_status status)
{
    return m->resized && status == BLY_EMISMATCH;
}

/* ---- Two handles ------------------------------------------------------- */

/* Checks that two handles agree in bytes and answers. */
void model_same(model *m, const bly_filter *x, const bly_filter *y)
{
    size_t x_bytes, y_bytes;
    const void *x_image = bly_image(x, &x_bytes);
    const void *y_image = bly_image(y, &y_bytes);
    model_expect(m, x_bytes == y_bytes
                    && memcmp(x_image, y_image, x_bytes) == 0,
                 "the images differ");
    model_draw_hashes(m, m->report->steps, 64);
    for (size_t i = 0; i < 64; i++)
        model_expect(m, bly_contains_hash(x, m->hash[i])
                        == bly_contains_hash(y, m->hash[i]),
                     "the answers differ");
    model_viewed(m, x, 64);
    model_viewed(m, y, 64);
}

/* Replaces a filter by another. */
void model_replace(bly_filter **old, bly_filter *fresh)
{
    bly_free(*old);
    *old = fresh;
}

/* Returns whether two filters have the same payload. */
bool model_same_payload(const bly_filter *x, const bly_filter *y)
{
    size_t x_bytes, y_bytes;
    const uint8_t *x_image = bly_image(x, &x_bytes);
    const uint8_t *y_image = bly_image(y, &y_bytes);
    return x_bytes == y_bytes
        && memcmp(x_image + FORGE_HEADER, y_image + FORGE_HEADER,
                  x_bytes - FORGE_HEADER) == 0;
}

/* ---- Files ------------------------------------------------------------- */

bool model_file(const model *m, char path[MODEL_PATH])
{
    const char *folder = getenv("TMPDIR");
    if (!(m->flags & MODEL_FILES))
        return false;
    if (folder == NULL)
        folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : P_tmpdir;
    snprintf(path, MODEL_PATH, "%s/bloomery-model-XXXXXX", folder);
    int file = mkstemp(path);
    if (file < 0)
        return false;
    close(file);
    return true;
}

bool model_saved(model *m, char path[MODEL_PATH])
{
    if (!model_file(m, path))
        return false;
    model_expect(m, bly_save(m->a.filter, path) == BLY_OK,
                 "a filter cannot be saved");
    return true;
}

/* Opens the file and compares. A has no memory limit, and may have grown beyond
 * the machine's allocator. */
void model_reopen(model *m, const char *path, int flags)
{
    bly_filter *opened = NULL;
    size_t bytes;
    bly_status status = bly_open(&opened, path, flags, &m->options);
    bly_image(m->a.filter, &bytes);
    model_expect(m, status == BLY_OK
                        || (status == BLY_ENOMEM && bytes > MODEL_IMAGE),
                 "a saved filter cannot be opened");
    if (opened == NULL)
        return;
    model_same(m, m->a.filter, opened);
    model_law(m, opened, m->a.set);
    if (flags & (BLY_MAP | BLY_WRITE))
        bly_free(opened);
    else
        model_replace(&m->a.filter, opened);
}

/* ---- Instructions that others end with --------------------------------- */

void model_op_swap(model *m)
{
    model_side a = m->a;
    m->a = m->b;
    m->b = a;
}

void model_op_stat(model *m)
{
    bly_info_t s;
    size_t bytes;
    const exact *set = m->a.set;
    model_expect(m, bly_info(&s, m->a.filter) == BLY_OK, "stat failed");
    bly_image(m->a.filter, &bytes);
    model_expect(m, s.bytes == bytes, "stat's size is not the image's");
    model_expect(m, s.fill >= 0 && s.fill <= 1, "fill is not in [0, 1]");
    model_expect(m, s.rate >= 0 && s.rate <= 1, "rate is not in [0, 1]");
    model_expect(m, s.planned_rate >= 0 && s.planned_rate <= 1,
                 "planned rate is not in [0, 1]");
    model_expect(m, s.distinct >= 0 && s.distinct_sd >= 0,
                 "the estimate of keys is negative or no number");
    model_expect(m, strcmp(s.kind, m->kind->name) == 0
                    && (s.seed == m->spec.seed || m->spec.secret != NULL),
                 "stat names another filter");
    model_expect(m, s.items_exact || !set->plain,
                 "the number of adds is forgotten");
    model_expect(m, !s.items_exact || !set->adds_known
                    || s.items == set->adds, "items is not the adds");
}
