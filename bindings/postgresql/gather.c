/* gather.c - the aggregates that make a filter of keys.
 *
 * Rows give keys, which wait until there are enough for a batch and are then
 * hashed: 8 bytes for each stay. At the end the filter is built of all hashes
 * at once, for only so every kind can be, and it is planned for as many as
 * came. Filters that keep whole keys (invertible:key=9) are built of the keys,
 * which all wait then.
 *
 * Workers gather parts, whose hashes go to the leader in one bytea.
 */
#include "datum.h"
#include "key.h"

#include <string.h>

enum {
    gather_batch       = 1024,          /* keys that wait, or their bytes    */
    gather_batch_bytes = 1 << 16,
    gather_small       = 100000         /* keys that fit into any value      */
};

typedef struct {
    char  *at;
    size_t used, room;                  /* bytes                             */
} heap;

/* The arguments after the key, or after the key and its label. */
typedef struct {
    datum_bytes kind, keys;
    double       rate;
    int64        items;                 /* 0: as many as come                */
} wanted;

typedef struct {
    MemoryContext room;
    wanted        asked;                /* whose texts are these:            */
    char         *kind;
    char         *keys;                 /* the form; "": the class decides   */
    uint64_t      form;
    bool          whole;                /* the filter wants keys, not hashes */
    bool          labelled;
    heap          bytes, ends;          /* keys that wait; offsets of ends   */
    heap          hashes;               /* of all earlier keys               */
    heap          labels;               /* of all keys                       */
} gathered;

/* ---- Room ---------------------------------------------------------------- */

/* Returns where to put n more bytes. */
static char *heap_room(gathered *g, heap *h, size_t n)
{
    if (n > h->room - h->used) {
        size_t room = Max(h->room + h->room / 2, h->used + n + 64);
        char *more = datum_more(g->room, h->at, h->used, room);
        if (more == NULL)
            ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY),
                            errmsg("out of memory for the keys of a filter"),
                            errdetail("%zu bytes were requested.", room)));
        h->at = more;
        h->room = room;
    }
    return h->at + h->used;
}

static void heap_add(gathered *g, heap *h, const void *bytes, size_t n)
{
    char *to = heap_room(g, h, n);
    if (n > 0)
        memcpy(to, bytes, n);
    h->used += n;
}

static void heap_add_number(gathered *g, heap *h, uint64_t number)
{
    heap_add(g, h, &number, sizeof number);
}

static size_t heap_numbers(const heap *h)
{
    return h->used / sizeof(uint64_t);
}

static uint64_t *heap_array(const heap *h)
{
    return (uint64_t *)(void *)h->at;
}

/* ---- A group of rows ----------------------------------------------------- */

/* Returns the number of pending keys: the first end is the beginning of the
   first key. */
static size_t gather_waiting(const gathered *g)
{
    return heap_numbers(&g->ends) - 1;
}

static size_t gather_all(const gathered *g)
{
    return heap_numbers(&g->hashes) + gather_waiting(g);
}

static bly_keys gather_keys(const gathered *g)
{
    return (bly_keys){ .n = gather_waiting(g), .data = g->bytes.at,
                       .offsets64 = heap_array(&g->ends) };
}

/* Hashes the pending keys. */
static void gather_hash(gathered *g)
{
    bly_spec spec = datum_spec(g->asked.items, g->asked.rate, NULL);
    bly_keys keys = gather_keys(g);
    size_t bytes = keys.n * sizeof(uint64_t);
    char *to;
    if (g->whole || keys.n == 0)
        return;
    to = heap_room(g, &g->hashes, bytes);
    datum_must(bly_hash_many((uint64_t *)(void *)to, g->kind, &spec, &keys));
    g->hashes.used += bytes;
    g->bytes.used = 0;
    g->ends.used = sizeof(uint64_t);
}

static void gather_key(gathered *g, const key *k)
{
    heap_add(g, &g->bytes, k->data, k->length);
    heap_add_number(g, &g->ends, g->bytes.used);
    if (gather_waiting(g) >= gather_batch
        || g->bytes.used >= gather_batch_bytes)
        gather_hash(g);
}

/* ---- Rows ---------------------------------------------------------------- */

/* Reads the arguments from the third on, or from the fourth if the third is a
   label. */
static wanted wanted_of(FunctionCallInfo fcinfo, int from)
{
    const char *kind = from > 2 ? "bloomier" : BLY_DEFAULT_KIND;
    wanted w = { .kind = { (const unsigned char *)kind, strlen(kind) } };
    if (PG_NARGS() > from && !PG_ARGISNULL(from))
        w.kind = datum_bytes_of(PG_GETARG_DATUM(from));
    if (PG_NARGS() > from + 1 && !PG_ARGISNULL(from + 1))
        w.rate = datum_rate(PG_GETARG_FLOAT8(from + 1));
    if (PG_NARGS() > from + 2 && !PG_ARGISNULL(from + 2))
        w.items = datum_items(PG_GETARG_INT64(from + 2));
    if (PG_NARGS() > from + 3 && !PG_ARGISNULL(from + 3))
        w.keys = datum_bytes_of(PG_GETARG_DATUM(from + 3));
    return w;
}

static char *gather_copy(MemoryContext room, datum_bytes text)
{
    char *copy = MemoryContextAllocZero(room, text.bytes + 1);
    if (text.bytes > 0)
        memcpy(copy, text.at, text.bytes);
    return copy;
}

static gathered *gather_new(MemoryContext room, const wanted *w)
{
    gathered *g = MemoryContextAllocZero(room, sizeof *g);
    g->room = room;
    g->kind = gather_copy(room, w->kind);
    g->keys = gather_copy(room, w->keys);
    g->asked = *w;
    g->asked.kind.at = (const unsigned char *)g->kind;
    g->asked.keys.at = (const unsigned char *)g->keys;
    heap_add_number(g, &g->ends, 0);
    return g;
}

/* Frees the keys. */
static void gather_free(gathered *g)
{
    if (g == NULL)
        return;
    pfree(g->kind);
    pfree(g->keys);
    pfree(g->ends.at);
    pfree(g);
}

static bool bytes_alike(datum_bytes a, datum_bytes b)
{
    return a.bytes == b.bytes
        && (a.bytes == 0 || memcmp(a.at, b.at, a.bytes) == 0);
}

static bool wanted_alike(const wanted *a, const wanted *b)
{
    return a->items == b->items
        && memcmp(&a->rate, &b->rate, sizeof a->rate) == 0
        && bytes_alike(a->kind, b->kind) && bytes_alike(a->keys, b->keys);
}

static void wanted_same(const gathered *g, const wanted *w)
{
    if (!wanted_alike(&g->asked, w))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("the rows request different filters: kind, "
                               "rate, items and keys must be the same in all "
                               "of them")));
}

/* Makes an empty filter to check the kind, and whether it needs whole keys. */
static bool kind_wants_keys(const gathered *g)
{
    MemoryContext room = AllocSetContextCreate(CurrentMemoryContext, "bloomery",
                                               ALLOCSET_SMALL_SIZES);
    datum_memory memory;
    bly_filter *empty = NULL;
    bly_spec spec = datum_spec(Max(g->asked.items, 1), g->asked.rate, NULL);
    bool wants;
    datum_fits(g->kind, &spec);
    datum_memory_of(&memory, room, FILTER_MOST);
    spec = datum_spec(1, g->asked.rate, &memory);
    datum_must(bly_build(&empty, g->kind, &spec, &(bly_keys){ 0 }));
    wants = (bly_can(empty) & BLY_CAN_WHOLE_KEYS) != 0;
    MemoryContextDelete(room);
    return wants;
}

/* State kept between the calls of a query: how to read keys, and an empty group
 * for recognising later groups with the same arguments. */
typedef struct {
    key_source source;
    gathered  *first;
} remembered;

static remembered *rows_remembered(FunctionCallInfo fcinfo)
{
    FmgrInfo *flinfo = fcinfo->flinfo;
    remembered *all = flinfo->fn_extra;
    if (all == NULL) {
        all = MemoryContextAllocZero(flinfo->fn_mcxt, sizeof *all);
        key_find(&all->source, fcinfo, 1, false, flinfo->fn_mcxt);
        flinfo->fn_extra = all;
    }
    return all;
}

/* Chooses the form: the class of the keys, unless `keys` names another. Files
 * of other systems cannot store one. */
static uint64_t kind_form(const gathered *g, const key_source *source)
{
    const bly_kind_info *kind = bly_kind_find(g->kind);
    if (g->keys[0] != '\0')
        return key_form(g->keys);
    return kind != NULL && strcmp(kind->family, "foreign") == 0
         ? BLY_KEYS_UNSTATED : source->class;
}

static void gather_kind(gathered *g, remembered *all, MemoryContext room)
{
    if (all->first == NULL
        || !wanted_alike(&all->first->asked, &g->asked)) {
        bool whole = kind_wants_keys(g);
        uint64_t form = kind_form(g, &all->source);
        gather_free(all->first);
        all->first = NULL;
        all->first = gather_new(room, &g->asked);
        all->first->whole = whole;
        all->first->form = form;
    }
    g->whole = all->first->whole;
    g->form = all->first->form;
}

static gathered *rows_state(FunctionCallInfo fcinfo, int from, remembered *all)
{
    MemoryContext room = datum_room(fcinfo);
    gathered *g = PG_ARGISNULL(0) ? NULL : (gathered *)PG_GETARG_POINTER(0);
    wanted w;
    if (g != NULL && PG_NARGS() <= from)
        return g;                       /* nothing that could differ         */
    w = wanted_of(fcinfo, from);
    if (g != NULL) {
        wanted_same(g, &w);
        return g;
    }
    g = gather_new(room, &w);
    gather_kind(g, all, fcinfo->flinfo->fn_mcxt);
    g->labelled = from > 2;
    return g;
}

/* Arguments: state, key[, kind[, rate[, items[, keys]]]]. */
PG_FUNCTION_INFO_V1(bloomery_gather);
Datum bloomery_gather(PG_FUNCTION_ARGS)
{
    remembered *all = rows_remembered(fcinfo);
    gathered *g = rows_state(fcinfo, 2, all);
    key k;
    if (!PG_ARGISNULL(1)) {
        key_read(&k, &all->source, g->form, PG_GETARG_DATUM(1));
        gather_key(g, &k);
    }
    PG_RETURN_POINTER(g);
}

/* Arguments: state, key, label[, kind[, rate[, items[, keys]]]]. */
PG_FUNCTION_INFO_V1(bloomery_gather_labels);
Datum bloomery_gather_labels(PG_FUNCTION_ARGS)
{
    remembered *all = rows_remembered(fcinfo);
    gathered *g = rows_state(fcinfo, 3, all);
    key k;
    if (PG_ARGISNULL(1))
        PG_RETURN_POINTER(g);
    if (PG_ARGISNULL(2))
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                        errmsg("a key's label is null: leave out such rows, or "
                               "give them a label")));
    key_read(&k, &all->source, g->form, PG_GETARG_DATUM(1));
    heap_add_number(g, &g->labels, (uint64_t)PG_GETARG_INT64(2));
    gather_key(g, &k);
    PG_RETURN_POINTER(g);
}

/* ---- Build --------------------------------------------------------------- */

static bly_filter *gather_build(gathered *g, const datum_memory *memory)
{
    bly_filter *filter = NULL;
    bly_keys keys = { 0 };
    size_t n = gather_all(g);
    int64 items = g->asked.items > 0 ? g->asked.items : (int64)Max(n, 1);
    bly_spec spec = datum_spec(items, g->asked.rate, memory);
    const uint64_t *labels = g->labelled ? heap_array(&g->labels) : NULL;
    spec.form = g->form;
    if (n > gather_small)
        datum_fits(g->kind, &spec);
    gather_hash(g);
    if (g->whole && n > 0) {
        keys = gather_keys(g);
    } else {
        keys.n = n;
        keys.hashes = heap_array(&g->hashes);
    }
    keys.labels = labels;
    datum_must(bly_build(&filter, g->kind, &spec, &keys));
    datum_must(bly_form_set(filter, g->form));      /* foreign kinds refuse */
    return filter;
}

PG_FUNCTION_INFO_V1(bloomery_build);
Datum bloomery_build(PG_FUNCTION_ARGS)
{
    MemoryContext room;
    datum_memory memory;
    Datum value;
    datum_room(fcinfo);
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    room = AllocSetContextCreate(CurrentMemoryContext, "bloomery",
                                 ALLOCSET_DEFAULT_SIZES);
    datum_memory_of(&memory, room, MaxAllocHugeSize);
    value = datum_value(gather_build((gathered *)PG_GETARG_POINTER(0),
                                     &memory));
    MemoryContextDelete(room);
    return value;
}

/* ---- Parts of workers ---------------------------------------------------- */

static void heap_join(gathered *g, heap *into, const heap *from)
{
    heap_add(g, into, from->at, from->used);
}

static void gather_join(gathered *g, gathered *from)
{
    size_t before, n;
    wanted_same(g, &from->asked);
    gather_hash(g);
    gather_hash(from);
    before = g->bytes.used;
    n = gather_waiting(from);
    heap_join(g, &g->bytes, &from->bytes);
    for (size_t i = 1; i <= n; i++)
        heap_add_number(g, &g->ends, before + heap_array(&from->ends)[i]);
    heap_join(g, &g->hashes, &from->hashes);
    heap_join(g, &g->labels, &from->labels);
}

PG_FUNCTION_INFO_V1(bloomery_gather_combine);
Datum bloomery_gather_combine(PG_FUNCTION_ARGS)
{
    MemoryContext room = datum_room(fcinfo);
    gathered *g = PG_ARGISNULL(0) ? NULL : (gathered *)PG_GETARG_POINTER(0);
    gathered *from = PG_ARGISNULL(1) ? NULL : (gathered *)PG_GETARG_POINTER(1);
    if (from == NULL && g == NULL)
        PG_RETURN_NULL();
    if (from == NULL)
        PG_RETURN_POINTER(g);
    if (g == NULL) {
        g = gather_new(room, &from->asked);
        g->whole = from->whole;
        g->form = from->form;
        g->labelled = from->labelled;
    }
    gather_join(g, from);
    PG_RETURN_POINTER(g);
}

/* The header of a serialised part, followed by the kind, the form's name, and
   the heaps. */
typedef struct {
    double   rate;
    int64    items;
    uint64_t form;
    uint64_t kind, keys, bytes, ends, hashes, labels;
    bool     whole, labelled;
    bool     zero[6];
} sent;

PG_FUNCTION_INFO_V1(bloomery_gather_send);
Datum bloomery_gather_send(PG_FUNCTION_ARGS)
{
    gathered *g = (gathered *)PG_GETARG_POINTER(0);
    uint64_t all;
    bytea *part;
    char *to;
    sent s;
    datum_room(fcinfo);
    gather_hash(g);
    s = (sent){ .rate = g->asked.rate, .items = g->asked.items, .form = g->form,
                .kind = g->asked.kind.bytes, .keys = g->asked.keys.bytes,
                .bytes = g->bytes.used, .ends = g->ends.used,
                .hashes = g->hashes.used, .labels = g->labels.used,
                .whole = g->whole, .labelled = g->labelled };
    all = sizeof s + s.kind + s.keys + s.bytes + s.ends + s.hashes + s.labels;
    if (all > FILTER_MOST)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("a worker gathered more than it can send: set "
                               "max_parallel_workers_per_gather = 0")));
    part = palloc(all + VARHDRSZ);
    SET_VARSIZE(part, all + VARHDRSZ);
    to = VARDATA(part);
#define PUT(from, n) (memcpy(to, from, n), to += (n))
    PUT(&s, sizeof s);
    PUT(g->kind, s.kind);
    PUT(g->keys, s.keys);
    if (s.bytes > 0)
        PUT(g->bytes.at, s.bytes);
    PUT(g->ends.at, s.ends);
    if (s.hashes > 0)
        PUT(g->hashes.at, s.hashes);
    if (s.labels > 0)
        PUT(g->labels.at, s.labels);
#undef PUT
    PG_RETURN_BYTEA_P(part);
}

/* Only called for our own workers: SQL has no values of type internal. */
PG_FUNCTION_INFO_V1(bloomery_gather_receive);
Datum bloomery_gather_receive(PG_FUNCTION_ARGS)
{
    datum_bytes part = datum_bytes_of(PG_GETARG_DATUM(0));
    const char *from = (const char *)part.at + sizeof(sent);
    gathered *g;
    wanted w;
    sent s;
    datum_room(fcinfo);
    memcpy(&s, part.at, sizeof s);
    w = (wanted){ { (const unsigned char *)from, s.kind },
                  { (const unsigned char *)from + s.kind, s.keys },
                  s.rate, s.items };
    g = gather_new(CurrentMemoryContext, &w);
    g->form = s.form;
    g->whole = s.whole;
    g->labelled = s.labelled;
    from += s.kind + s.keys;
    heap_add(g, &g->bytes, from, s.bytes);
    from += s.bytes;
    g->ends.used = 0;
    heap_add(g, &g->ends, from, s.ends);
    from += s.ends;
    heap_add(g, &g->hashes, from, s.hashes);
    from += s.hashes;
    heap_add(g, &g->labels, from, s.labels);
    PG_RETURN_POINTER(g);
}
