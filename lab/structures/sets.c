/* sets.c - sets that store their keys: see sets.h. */
#include "sets.h"

#include "lab.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#ifdef LAB_WITH_JUDY
#include <Judy.h>
#endif

static void sets_lacks_memory(void)
{
    lab_stop("memory", "not enough; try QUICK=1");
}

/* Copies the texts: key i is at begin[i] of the copy. */
static char *sets_text(const sets_keys *keys)
{
    size_t bytes = keys->begin[keys->n];
    return memcpy(lab_allocate(bytes), keys->text, bytes);
}

static int sets_order(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* ---- A list ------------------------------------------------------------- */

typedef struct sets_node {
    struct sets_node *next;
    char key[];
} sets_node;

typedef struct { sets_node *first; } sets_list;

static void *sets_list_build(const sets_keys *keys)
{
    sets_list *l = lab_allocate(sizeof *l);
    l->first = NULL;
    for (size_t i = 0; i < keys->n; i++) {
        size_t bytes = keys->begin[i + 1] - keys->begin[i];
        sets_node *node = lab_allocate(sizeof *node + bytes);
        memcpy(node->key, keys->text + keys->begin[i], bytes);
        node->next = l->first;
        l->first = node;
    }
    return l;
}

static bool sets_list_has(const void *set, char *key, size_t length)
{
    const sets_node *node = ((const sets_list *)set)->first;
    (void)length;
    while (node != NULL && strcmp(node->key, key) != 0)
        node = node->next;
    return node != NULL;
}

static void sets_list_drop(void *set)
{
    sets_list *l = set;
    while (l->first != NULL) {
        sets_node *next = l->first->next;
        free(l->first);
        l->first = next;
    }
    free(l);
}

/* ---- A sorted array ----------------------------------------------------- */

typedef struct {
    char  *text, **sorted;
    size_t n;
} sets_array;

static int sets_array_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void *sets_array_build(const sets_keys *keys)
{
    sets_array *a = lab_allocate(sizeof *a);
    *a = (sets_array){ sets_text(keys),
                       lab_allocate(keys->n * sizeof *a->sorted), keys->n };
    for (size_t i = 0; i < keys->n; i++)
        a->sorted[i] = a->text + keys->begin[i];
    qsort(a->sorted, a->n, sizeof *a->sorted, sets_array_order);
    return a;
}

static bool sets_array_has(const void *set, char *key, size_t length)
{
    const sets_array *a = set;
    (void)length;
    return bsearch(&key, a->sorted, a->n, sizeof *a->sorted, sets_array_order)
        != NULL;
}

static void sets_array_drop(void *set)
{
    sets_array *a = set;
    free(a->text);
    free(a->sorted);
    free(a);
}

/* ---- A balanced tree of the C library ----------------------------------- */

typedef struct {
    char *text;
    void *root;
} sets_tree;

static void *sets_tree_build(const sets_keys *keys)
{
    sets_tree *t = lab_allocate(sizeof *t);
    *t = (sets_tree){ sets_text(keys), NULL };
    for (size_t i = 0; i < keys->n; i++)
        if (tsearch(t->text + keys->begin[i], &t->root, sets_order) == NULL)
            sets_lacks_memory();
    return t;
}

static bool sets_tree_has(const void *set, char *key, size_t length)
{
    (void)length;
    return tfind(key, &((const sets_tree *)set)->root, sets_order) != NULL;
}

/* Frees nothing, as a node's key is part of the text. */
static void sets_keep(void *key)
{
    (void)key;
}

static void sets_tree_drop(void *set)
{
    sets_tree *t = set;
    tdestroy(t->root, sets_keep);
    free(t->text);
    free(t);
}

/* ---- A trie: a letter in a node, and three children --------------------- */

/* To a smaller letter, to the key's next one, to a larger one; 0 is no node. */
typedef struct {
    uint32_t less, next, more;
    char     letter;
    bool     ends;                      /* a key ends with this letter */
} sets_letter;

typedef struct {
    sets_letter *node;
    size_t       n, room;
} sets_trie;

static uint32_t sets_trie_new(sets_trie *t, char letter)
{
    if (t->n == t->room) {
        t->room *= 2;
        t->node = realloc(t->node, t->room * sizeof *t->node);
        if (t->node == NULL)
            sets_lacks_memory();
    }
    t->node[t->n] = (sets_letter){ .letter = letter };
    return (uint32_t)t->n++;
}

/* Returns the link to a node with this letter, existing or not: behind `at`, or
 * beside existing ones. */
static uint32_t *sets_trie_place(const sets_trie *t, uint32_t at, char letter)
{
    uint32_t *place = &t->node[at].next;
    while (*place != 0 && t->node[*place].letter != letter)
        place = letter < t->node[*place].letter ? &t->node[*place].less
                                                : &t->node[*place].more;
    return place;
}

/* A new node may move all others, so its place is looked up again. */
static void sets_trie_add(sets_trie *t, const char *key)
{
    uint32_t at = 0;
    for (; *key != '\0'; key++) {
        if (*sets_trie_place(t, at, *key) == 0) {
            uint32_t node = sets_trie_new(t, *key);
            *sets_trie_place(t, at, *key) = node;
            at = node;
        } else {
            at = *sets_trie_place(t, at, *key);
        }
    }
    t->node[at].ends = true;
}

static void *sets_trie_build(const sets_keys *keys)
{
    sets_trie *t = lab_allocate(sizeof *t);
    *t = (sets_trie){ lab_allocate(sizeof *t->node), 0, 1 };
    sets_trie_new(t, '\0');
    for (size_t i = 0; i < keys->n; i++)
        sets_trie_add(t, keys->text + keys->begin[i]);
    sets_letter *fits = realloc(t->node, t->n * sizeof *t->node);
    t->node = fits == NULL ? t->node : fits;
    return t;
}

static bool sets_trie_has(const void *set, char *key, size_t length)
{
    const sets_trie *t = set;
    uint32_t at = 0;
    (void)length;
    for (; *key != '\0'; key++) {
        at = *sets_trie_place(t, at, *key);
        if (at == 0)
            return false;
    }
    return t->node[at].ends;
}

static void sets_trie_drop(void *set)
{
    free(((sets_trie *)set)->node);
    free(set);
}

/* ---- The C library's hash table, four fifths full ----------------------- */

typedef struct {
    char *text;
    struct hsearch_data *data;
} sets_table;

static void *sets_table_build(const sets_keys *keys)
{
    sets_table *t = lab_allocate(sizeof *t);
    *t = (sets_table){ sets_text(keys), lab_allocate(sizeof *t->data) };
    memset(t->data, 0, sizeof *t->data);
    bool made = hcreate_r(keys->n + keys->n / 4, t->data) != 0;
    for (size_t i = 0; i < keys->n && made; i++) {
        ENTRY entry = { .key = t->text + keys->begin[i] }, *found;
        made = hsearch_r(entry, ENTER, &found, t->data) != 0;
    }
    if (!made)
        sets_lacks_memory();
    return t;
}

static bool sets_table_has(const void *set, char *key, size_t length)
{
    ENTRY entry = { .key = key }, *found;
    (void)length;
    return hsearch_r(entry, FIND, &found, ((const sets_table *)set)->data) != 0;
}

static void sets_table_drop(void *set)
{
    sets_table *t = set;
    hdestroy_r(t->data);
    free(t->data);
    free(t->text);
    free(t);
}

/* ---- A sparse hash table, at most a fourth full ------------------------- */

/* The hash is stored with the key, which is compared only if the hash is
 * equal. */
typedef struct { uint64_t hash; char *key; } sets_slot;

typedef struct {
    char       *text;
    sets_slot  *slot;
    size_t      mask;
    bly_filter *hash;                   /* its hash is that of filters */
} sets_sparse;

/* Returns the slot of a key, or the free one where it belongs. */
static sets_slot *sets_sparse_slot(const sets_sparse *t, uint64_t hash,
                                   const char *key)
{
    size_t at = (size_t)hash & t->mask;
    while (t->slot[at].key != NULL
           && (t->slot[at].hash != hash || strcmp(t->slot[at].key, key) != 0))
        at = (at + 1) & t->mask;
    return &t->slot[at];
}

static void *sets_sparse_build(const sets_keys *keys)
{
    sets_sparse *t = lab_allocate(sizeof *t);
    size_t slots = 4;
    while (slots < 4 * keys->n)
        slots *= 2;
    *t = (sets_sparse){ sets_text(keys), lab_allocate(slots * sizeof *t->slot),
                        slots - 1, lab_new(1, 0.5, "standard") };
    memset(t->slot, 0, slots * sizeof *t->slot);
    for (size_t i = 0; i < keys->n; i++) {
        char *key = t->text + keys->begin[i];
        uint64_t hash = bly_hash(t->hash, key, strlen(key));
        *sets_sparse_slot(t, hash, key) = (sets_slot){ hash, key };
    }
    return t;
}

static bool sets_sparse_has(const void *set, char *key, size_t length)
{
    const sets_sparse *t = set;
    return sets_sparse_slot(t, bly_hash(t->hash, key, length), key)->key
        != NULL;
}

static void sets_sparse_drop(void *set)
{
    sets_sparse *t = set;
    bly_free(t->hash);
    free(t->slot);
    free(t->text);
    free(t);
}

/* ---- Judy's array of texts ---------------------------------------------- */

#ifdef LAB_WITH_JUDY
typedef struct { void *array; } sets_judy;

static void *sets_judy_build(const sets_keys *keys)
{
    sets_judy *j = lab_allocate(sizeof *j);
    j->array = NULL;
    for (size_t i = 0; i < keys->n; i++) {
        const char *key = keys->text + keys->begin[i];
        void **value = JudySLIns(&j->array, (const uint8_t *)key, NULL);
        if (value == NULL || value == PPJERR)
            sets_lacks_memory();
        *value = j;                     /* anything but NULL */
    }
    return j;
}

static bool sets_judy_has(const void *set, char *key, size_t length)
{
    const sets_judy *j = set;
    (void)length;
    return JudySLGet(j->array, (const uint8_t *)key, NULL) != NULL;
}

static void sets_judy_drop(void *set)
{
    sets_judy *j = set;
    JudySLFreeArray(&j->array, NULL);
    free(j);
}
#else
#define sets_judy_build NULL
#define sets_judy_has NULL
#define sets_judy_drop NULL
#endif

const sets_kind sets_kinds[SETS_KINDS] = {
    [SETS_LIST] = { "list", sets_list_build, sets_list_has, sets_list_drop },
    [SETS_ARRAY] = { "sorted array", sets_array_build, sets_array_has,
                     sets_array_drop },
    [SETS_TREE] = { "tree", sets_tree_build, sets_tree_has, sets_tree_drop },
    [SETS_TRIE] = { "trie", sets_trie_build, sets_trie_has, sets_trie_drop },
    [SETS_TABLE] = { "hash table", sets_table_build, sets_table_has,
                     sets_table_drop },
    [SETS_SPARSE] = { "sparse hash table", sets_sparse_build, sets_sparse_has,
                      sets_sparse_drop },
    [SETS_JUDY] = { "Judy array", sets_judy_build, sets_judy_has,
                    sets_judy_drop },
};
