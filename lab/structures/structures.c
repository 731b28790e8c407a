/* structures.c - filters compared with structures that store their keys: space,
 * time, and how both change as keys are added.
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

#include "sets.h"

#include <bloomery/parts.h>

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum { STRUCTURES_WORD = 80, STRUCTURES_MOST = 200000, STRUCTURES_FILTERS = 3,
       STRUCTURES_ALL = SETS_KINDS + STRUCTURES_FILTERS,
       STRUCTURES_STANDARD = SETS_KINDS, STRUCTURES_ROUNDS = 41,
       STRUCTURES_SIZES = 8, STRUCTURES_ASKED = 1 << 12,
       STRUCTURES_LISTED = 10000, STRUCTURES_STEPS = 1 << 21,
       STRUCTURES_PLACES = 1, STRUCTURES_TIMES = 100 };

static const char structures_words[] = "/usr/share/dict/american-english";
static const double structures_rate = 0.01;
static const char *const structures_filters[STRUCTURES_FILTERS] = {
    "standard", "blocked", "cuckoo",
};

/* ---- Keys --------------------------------------------------------------- */

/* The system's words, in order; none if not installed. */
typedef struct {
    char (*word)[STRUCTURES_WORD];
    size_t n;
} structures_list;

static structures_list structures_read(void)
{
    structures_list list = { lab_allocate(STRUCTURES_MOST
                                          * sizeof *list.word), 0 };
    FILE *file = fopen(structures_words, "r");
    while (file != NULL && list.n < STRUCTURES_MOST
           && fgets(list.word[list.n], STRUCTURES_WORD, file) != NULL) {
        list.word[list.n][strcspn(list.word[list.n], "\n")] = '\0';
        list.n++;
    }
    if (file != NULL)
        fclose(file);
    return list;
}

/* Writes key i: a word, followed by a number once the words are used up, or
 * just a number without words. A stranger is a key with a mark behind it that
 * no key has. */
static size_t structures_write(char *to, const structures_list *list, size_t i,
                               const char *mark)
{
    if (list->n == 0)
        return (size_t)sprintf(to, "%zu%s", 1000000 + i, mark);
    if (i < list->n)
        return (size_t)sprintf(to, "%s%s", list->word[i], mark);
    return (size_t)sprintf(to, "%s%zu%s", list->word[i % list->n],
                           i / list->n, mark);
}

/* Returns the i-th of n in mixed order; the multiplier is a prime. */
static size_t structures_place(size_t i, size_t n)
{
    return (size_t)((uint64_t)i * UINT64_C(2654435761) % n);
}

static sets_keys structures_keys(const structures_list *list, size_t n)
{
    sets_keys keys = { lab_allocate(n * (STRUCTURES_WORD + 24)),
                       lab_allocate((n + 1) * sizeof *keys.begin), n };
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        keys.begin[i] = used;
        used += structures_write(keys.text + used, list,
                                 structures_place(i, n), "") + 1;
    }
    keys.begin[n] = used;
    return keys;
}

static void structures_forget(sets_keys *keys)
{
    free(keys->text);
    free(keys->begin);
}

/* ---- A size ------------------------------------------------------------- */

/* The structures, then the filters. */
typedef struct {
    size_t n;
    void  *set[STRUCTURES_ALL];
    double bytes[STRUCTURES_ALL], alone;        /* a key */
    double time[STRUCTURES_ALL][2][STRUCTURES_ROUNDS];
    lab_measure middle[STRUCTURES_ALL][2];      /* members, strangers */
    lab_measure sparse[2];      /* sparse table's time, over the filter's */
} structures_size;

static const char *structures_name(size_t kind)
{
    return kind < SETS_KINDS ? sets_kinds[kind].name
                             : structures_filters[kind - SETS_KINDS];
}

static bool structures_is_there(size_t kind)
{
    return kind >= SETS_KINDS || sets_kinds[kind].build != NULL;
}

/* Returns the bytes allocated by the program, as reported by glibc. */
static double structures_memory(void)
{
    struct mallinfo2 now = mallinfo2();
    return (double)now.uordblks + (double)now.hblkhd;
}

/* Returns the bytes of a set that was just made. A large filter's memory is the
 * system's, unknown to glibc. */
static double structures_taken(size_t kind, const void *set, double before)
{
    double taken = structures_memory() - before;
    size_t image = 0;
    if (kind >= SETS_KINDS)
        bly_raw(set, &image);
    return taken < (double)image ? taken + (double)image : taken;
}

static void *structures_build(size_t kind, const sets_keys *keys)
{
    if (kind < SETS_KINDS)
        return sets_kinds[kind].build(keys);
    bly_filter *f = lab_new(keys->n, structures_rate, "%s",
                            structures_filters[kind - SETS_KINDS]);
    for (size_t i = 0; i < keys->n; i++) {
        const char *key = keys->text + keys->begin[i];
        if (bly_add(f, key, keys->begin[i + 1] - keys->begin[i] - 1) < 0)
            lab_stop("a key cannot be added", bly_why());
    }
    return f;
}

static void structures_drop(size_t kind, void *set)
{
    if (kind < SETS_KINDS)
        sets_kinds[kind].drop(set);
    else
        bly_free(set);
}

/* Queries for a round, as texts. */
typedef struct {
    char  *key[STRUCTURES_ASKED];
    size_t length[STRUCTURES_ASKED];
    char   text[STRUCTURES_ASKED][STRUCTURES_WORD + 24];
} structures_questions;

static void structures_draw(structures_questions *q, const structures_list *l,
                            size_t n, bool members, size_t from)
{
    for (size_t i = 0; i < STRUCTURES_ASKED; i++) {
        size_t key = (size_t)(lab_key(STRUCTURES_PLACES, from + i) % n);
        q->key[i] = q->text[i];
        q->length[i] = structures_write(q->text[i], l, key,
                                        members ? "" : "~");
    }
}

/* Returns ns per lookup, singly; a list, which is scanned, is queried less. */
static double structures_ask(size_t kind, const void *set,
                             structures_questions *q, size_t n)
{
    size_t asked = STRUCTURES_ASKED, most = STRUCTURES_STEPS / n + 1;
    uint64_t there = 0;
    if (kind == SETS_LIST && most < asked)
        asked = most;
    double start = lab_clock();
    if (kind < SETS_KINDS)
        for (size_t i = 0; i < asked; i++)
            there += sets_kinds[kind].has(set, q->key[i], q->length[i]);
    else
        for (size_t i = 0; i < asked; i++)
            there += bly_contains(set, q->key[i], q->length[i]);
    double taken = lab_clock() - start;
    lab_sink += there;
    return taken / (double)asked;
}

static void structures_round(structures_size *s, const structures_list *l,
                             size_t round)
{
    static structures_questions q;
    for (size_t kind = 0; kind < STRUCTURES_ALL; kind++)
        for (size_t who = 0; who < 2; who++) {
            size_t from = ((round * STRUCTURES_ALL + kind) * 2 + who)
                        * STRUCTURES_ASKED;
            if (s->set[kind] == NULL)
                continue;
            structures_draw(&q, l, s->n, who == 0, from);
            s->time[kind][who][round] = structures_ask(kind, s->set[kind], &q,
                                                       s->n);
        }
}

/* Computes ratios within each round, so that a disturbance affects both. */
static lab_measure structures_ratio(const structures_size *s, size_t who,
                                    size_t rounds)
{
    double ratio[STRUCTURES_ROUNDS];
    for (size_t r = 0; r < rounds; r++)
        ratio[r] = s->time[SETS_SPARSE][who][r]
                 / s->time[STRUCTURES_STANDARD][who][r];
    return lab_median(ratio, rounds);
}

/* Builds all of them from the same keys, and queries them in turn. A list that
 * is too long is measured for size only. */
static void structures_measure(structures_size *s, const structures_list *l,
                               size_t n, size_t rounds)
{
    sets_keys keys = structures_keys(l, n);
    s->n = n;
    s->alone = (double)keys.begin[n] / (double)n;
    for (size_t kind = 0; kind < STRUCTURES_ALL; kind++) {
        s->set[kind] = NULL;
        s->bytes[kind] = NAN;
        if (!structures_is_there(kind))
            continue;
        double before = structures_memory();
        s->set[kind] = structures_build(kind, &keys);
        s->bytes[kind] = structures_taken(kind, s->set[kind], before)
                       / (double)n;
        if (kind == SETS_LIST && n > STRUCTURES_LISTED) {
            structures_drop(kind, s->set[kind]);
            s->set[kind] = NULL;
        }
    }
    for (size_t round = 0; round < rounds; round++)
        structures_round(s, l, round);
    for (size_t who = 0; who < 2; who++)
        s->sparse[who] = structures_ratio(s, who, rounds);
    for (size_t kind = 0; kind < STRUCTURES_ALL; kind++)
        for (size_t who = 0; who < 2; who++) {
            s->middle[kind][who] = (lab_measure){ NAN, NAN, NAN };
            if (s->set[kind] != NULL)
                s->middle[kind][who] = lab_median(s->time[kind][who], rounds);
        }
    for (size_t kind = 0; kind < STRUCTURES_ALL; kind++)
        if (s->set[kind] != NULL)
            structures_drop(kind, s->set[kind]);
    structures_forget(&keys);
}

/* ---- Space -------------------------------------------------------------- */

/* "Far less" means a tenth. */
static void structures_space_claims(lab *l, const structures_size *last)
{
    const double *bytes = last->bytes;
    double filter = bytes[STRUCTURES_STANDARD];
    for (size_t kind = 0; kind < SETS_KINDS; kind++) {
        char what[96];
        if (!structures_is_there(kind))
            continue;
        snprintf(what, sizeof what, "a filter takes far less space than a %s",
                 structures_name(kind));
        lab_says(l, what, bytes[kind] >= 10 * filter,
                 "%.1f bytes a key, and %.2f in a filter of 1 %%: %.1f times "
                 "as many, to be ten, with %zu keys", bytes[kind], filter,
                 bytes[kind] / filter, last->n);
    }
    lab_says(l, "ours: far less than the keys alone, without any structure",
             last->alone >= 10 * filter,
             "%.1f bytes a key: %.1f times as many", last->alone,
             last->alone / filter);
}

static void structures_space(lab *l, const structures_size *s, size_t sizes)
{
    lab_figure(l, "space", structures_is_there(SETS_JUDY)
               ? "keys,list,sorted array,tree,trie,hash table,sparse hash "
                 "table,Judy array,standard,blocked,cuckoo,keys alone"
               : "keys,list,sorted array,tree,trie,hash table,sparse hash "
                 "table,no Judy array,standard,blocked,cuckoo,keys alone");
    for (size_t i = 0; i < sizes; i++) {
        const double *b = s[i].bytes;
        lab_row(l, "%zu,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g,%.5g",
                s[i].n, b[SETS_LIST], b[SETS_ARRAY], b[SETS_TREE], b[SETS_TRIE],
                b[SETS_TABLE], b[SETS_SPARSE], b[SETS_JUDY],
                b[STRUCTURES_STANDARD], b[STRUCTURES_STANDARD + 1],
                b[STRUCTURES_STANDARD + 2], s[i].alone);
    }
    structures_space_claims(l, &s[sizes - 1]);
}

/* ---- Time --------------------------------------------------------------- */

/* Reports the numbers of keys at which the table is certainly faster than the
 * filter. */
static void structures_sparse(lab *l, const structures_size *s, size_t sizes,
                              size_t who)
{
    char quicker[128] = "";
    size_t used = 0;
    lab_measure first = s[0].sparse[who], last = s[sizes - 1].sparse[who];
    for (size_t i = 0; i < sizes; i++)
        if (s[i].sparse[who].high < 1)
            used += (size_t)snprintf(quicker + used, sizeof quicker - used,
                                     " %zu", s[i].n);
    lab_says(l, who == 0 ? "a sparse hash table can be quicker than a filter: "
                           "a member"
                         : "a sparse hash table can be quicker than a filter: "
                           "a stranger", used > 0,
             "so with these numbers of keys:%s; %.2f (%.2f … %.2f) of its time "
             "with %zu, %.2f (%.2f … %.2f) with %zu",
             used > 0 ? quicker : " none", first.value, first.low, first.high,
             s[0].n, last.value, last.low, last.high, s[sizes - 1].n);
}

/* Reports structures whose lookup time grows with the keys by design, and the
 * filter. */
static void structures_grow(lab *l, const structures_size *s, size_t sizes)
{
    static const size_t kinds[] = { SETS_ARRAY, SETS_TREE, SETS_TABLE,
                                    STRUCTURES_STANDARD };
    double times[4];
    for (size_t i = 0; i < 4; i++)
        times[i] = s[sizes - 1].middle[kinds[i]][1].value
                 / s[0].middle[kinds[i]][1].value;
    lab_says(l, "ours: as keys come, a filter's lookups slow down less than "
                "those of sorted structures", times[3] < times[0]
             && times[3] < times[1], "strangers, %zu keys against %zu: sorted "
             "array %.1f times as long, tree %.1f, hash table %.1f, filter "
             "%.1f", s[sizes - 1].n, s[0].n, times[0], times[1], times[2],
             times[3]);
}

static void structures_time(lab *l, const structures_size *s, size_t sizes)
{
    lab_figure(l, "time", "keys,set,who,ns,low,high");
    for (size_t i = 0; i < sizes; i++)
        for (size_t kind = 0; kind < STRUCTURES_ALL; kind++)
            for (size_t who = 0; who < 2 && structures_is_there(kind); who++) {
                lab_measure m = s[i].middle[kind][who];
                lab_row(l, "%zu,%s,%zu,%.4g,%.4g,%.4g", s[i].n,
                        structures_name(kind), who, m.value, m.low, m.high);
            }
    structures_sparse(l, s, sizes, 0);
    structures_sparse(l, s, sizes, 1);
    structures_grow(l, s, sizes);
}

/* ---- Constant space and constant time ----------------------------------- */

/* The result of a hundred times the planned keys. */
typedef struct { double taken, grown; } structures_fate;

static structures_fate structures_overfill(const char *kind, uint64_t capacity)
{
    bly_filter *f = lab_new(capacity, structures_rate, "%s", kind);
    size_t before, after;
    uint64_t i = 0, all = STRUCTURES_TIMES * capacity;
    bly_raw(f, &before);
    while (i < all && bly_add_hash(f, lab_key(1, i)) >= 0)
        i++;
    bly_raw(f, &after);
    bly_free(f);
    return (structures_fate){ (double)i / (double)capacity,
                              (double)after / (double)before };
}

/* Returns whether keys can be added, none is lost, and answers are yes or
 * no. */
static bool structures_adds(const bly_kind_info *kind)
{
    return (kind->can & BLY_CAN_ADD) != 0 && strcmp(kind->family, "exact") != 0
        && (kind->can & (BLY_CAN_LABEL | BLY_CAN_SEPARATE | BLY_CAN_FORGET))
           == 0;
}

/* Names in a row, each after a blank. */
typedef struct { size_t n, used; char text[200]; } structures_names;

static void structures_call(structures_names *s, const char *name)
{
    size_t room = sizeof s->text - s->used;
    int length = snprintf(s->text + s->used, room, " %s", name);
    s->used += (size_t)length < room ? (size_t)length : 0;
    s->n++;
}

static void structures_constant(lab *l)
{
    size_t kinds;
    const bly_kind_info *const *kind = bly_kinds(&kinds);
    uint64_t capacity = lab_pick(l, 200, 10000, 100000);
    structures_names others = { .n = 0 }, full = { .n = 0 };
    double least = INFINITY, most = 0;
    lab_figure(l, "constant", "kind,taken,grown");
    for (size_t i = 0; i < kinds; i++) {
        if (!structures_adds(kind[i]))
            continue;
        structures_fate fate = structures_overfill(kind[i]->name, capacity);
        lab_row(l, "%s,%.5g,%.5g", kind[i]->name, fate.taken, fate.grown);
        if (fate.taken < STRUCTURES_TIMES) {
            structures_call(&full, kind[i]->name);
            least = fmin(least, fate.taken);
            most = fmax(most, fate.taken);
        } else if (fate.grown <= 1 && strcmp(kind[i]->name, "standard") != 0) {
            structures_call(&others, kind[i]->name);
        }
    }
    lab_says(l, "no other structure of constant space takes any number of keys "
                "in constant time (encyclopaedia)", others.n == 0,
             "%zu other kinds take %d times their keys in the bytes they began "
             "with:%s", others.n, STRUCTURES_TIMES, others.text);
    lab_says(l, "ours: tables of fingerprints do so until they are full",
             full.n > 0 && least >= 1, "%zu kinds refuse a key at some time, "
             "at %.2f to %.2f times as many as planned:%s", full.n, least,
             most, full.text);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    structures_size *s = lab_allocate(STRUCTURES_SIZES * sizeof *s);
    structures_list list = structures_read();
    size_t most = lab_pick(&l, 100, 1000000, 10000000), sizes = 0;
    size_t rounds = lab_pick(&l, 1, 11, STRUCTURES_ROUNDS);
    for (size_t n = 10; n <= most; n *= 10)
        structures_measure(&s[sizes++], &list, n, rounds);
    structures_space(&l, s, sizes);
    structures_time(&l, s, sizes);
    structures_constant(&l);
    free(list.word);
    free(s);
    return lab_close(&l);
}
