/* others.c - bytes and times of filters beside trees, tables and lists, which
 * keep the keys themselves.
 *
 * Floor 7: a part of a program of the lab; see lab.h and essay.html beside this
 * file.
 */
#include "lecture/lecture.h"

#include <malloc.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* Bytes from malloc, with what it keeps beside them. */
static double lecture_heap(void)
{
    struct mallinfo2 now = mallinfo2();
    return (double)now.uordblks + (double)now.hblkhd;
}

enum { LECTURE_TEXT = 24, LECTURE_TIMED = 7 };

/* Key i as text, of 10 to 24 letters and digits, and another's. */
static void lecture_text(char text[LECTURE_TEXT], uint64_t series, uint64_t i)
{
    uint64_t a = lab_key(series, i), b = lab_key(series + 100, i);
    snprintf(text, LECTURE_TEXT, "%010llx%.*llx",
             (unsigned long long)(a >> 24), (int)(b % 12),
             (unsigned long long)b);
}

static char **lecture_words(uint64_t series, size_t n)
{
    char **words = lab_allocate(n * sizeof *words);
    for (size_t i = 0; i < n; i++) {
        char text[LECTURE_TEXT];
        lecture_text(text, series, i);
        words[i] = strdup(text);
        if (words[i] == NULL)
            lab_stop("words", "out of memory");
    }
    return words;
}

static int lecture_compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static int lecture_compare_places(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

typedef struct lecture_node { struct lecture_node *next; const char *word; }
    lecture_node;

/* What keeps keys, each in its turn of the same words. */
typedef struct {
    size_t              n;
    char              **word;
    void               *tree;
    struct hsearch_data table;
    lecture_node       *list;
    char              **sorted;
    bly_filter         *filter;
} lecture_kept;

typedef struct {
    const char *name;
    void (*make)(lecture_kept *k);
    bool (*find)(const lecture_kept *k, const char *word);
} lecture_way;

static void lecture_make_tree(lecture_kept *k)
{
    for (size_t i = 0; i < k->n; i++)
        if (tsearch(k->word[i], &k->tree, lecture_compare) == NULL)
            lab_stop("tree", "out of memory");
}

static bool lecture_find_tree(const lecture_kept *k, const char *word)
{
    return tfind(word, &k->tree, lecture_compare) != NULL;
}

/* As its page advises, with a fifth of the room free. */
static void lecture_make_table(lecture_kept *k)
{
    if (hcreate_r(k->n + k->n / 4 + 1, &k->table) == 0)
        lab_stop("table", "out of memory");
    for (size_t i = 0; i < k->n; i++) {
        ENTRY *put, one = { .key = k->word[i], .data = k->word[i] };
        hsearch_r(one, ENTER, &put, &k->table);
    }
}

static bool lecture_find_table(const lecture_kept *k, const char *word)
{
    ENTRY *found, one = { .key = (char *)(uintptr_t)word };
    struct hsearch_data table = k->table;
    return hsearch_r(one, FIND, &found, &table) != 0;
}

static void lecture_make_list(lecture_kept *k)
{
    for (size_t i = 0; i < k->n; i++) {
        lecture_node *node = lab_allocate(sizeof *node);
        *node = (lecture_node){ k->list, k->word[i] };
        k->list = node;
    }
}

static bool lecture_find_list(const lecture_kept *k, const char *word)
{
    const lecture_node *node = k->list;
    while (node != NULL && strcmp(node->word, word) != 0)
        node = node->next;
    return node != NULL;
}

static void lecture_make_sorted(lecture_kept *k)
{
    k->sorted = lab_allocate(k->n * sizeof *k->sorted);
    memcpy(k->sorted, k->word, k->n * sizeof *k->sorted);
    qsort(k->sorted, k->n, sizeof *k->sorted, lecture_compare_places);
}

static bool lecture_find_sorted(const lecture_kept *k, const char *word)
{
    return bsearch(&word, k->sorted, k->n, sizeof *k->sorted,
                   lecture_compare_places) != NULL;
}

static void lecture_make_filter(lecture_kept *k, const char *kind)
{
    bly_key *keys = lab_allocate(k->n * sizeof *keys);
    bly_spec spec = { .capacity = k->n, .rate = 0.01 };
    for (size_t i = 0; i < k->n; i++)
        keys[i] = (bly_key){ k->word[i], strlen(k->word[i]) };
    bly_keys all = { .n = k->n, .keys = keys };
    if (bly_build_keys(&k->filter, kind, &spec, &all, NULL) != BLY_OK)
        lab_stop(kind, bly_why());
    free(keys);
}

static void lecture_make_standard(lecture_kept *k)
{
    lecture_make_filter(k, "standard");
}

static void lecture_make_cuckoo(lecture_kept *k)
{
    lecture_make_filter(k, "cuckoo");
}

static void lecture_make_fuse(lecture_kept *k)
{
    lecture_make_filter(k, "fuse");
}

static bool lecture_find_filter(const lecture_kept *k, const char *word)
{
    return bly_contains(k->filter, word, strlen(word));
}

static const lecture_way lecture_ways[LECTURE_TIMED] = {
    { "list",            lecture_make_list,     lecture_find_list },
    { "red-black tree",  lecture_make_tree,     lecture_find_tree },
    { "hash table",      lecture_make_table,    lecture_find_table },
    { "sorted array",    lecture_make_sorted,   lecture_find_sorted },
    { "Bloom filter",    lecture_make_standard, lecture_find_filter },
    { "cuckoo filter",   lecture_make_cuckoo,   lecture_find_filter },
    { "binary fuse",     lecture_make_fuse,     lecture_find_filter },
};
enum { LECTURE_TREE = 1, LECTURE_TABLE, LECTURE_BLOOM = 4, LECTURE_CUCKOO };

/* ns a lookup, of members and strangers in turn; a list is asked less. */
static double lecture_time(const lecture_kept *k, const lecture_way *way,
                           char **strangers, size_t asked)
{
    uint64_t found = 0;
    double from = lab_clock();
    for (size_t i = 0; i < asked; i++) {
        uint64_t at = lab_key(9, i) % k->n;
        found += way->find(k, i % 2 ? k->word[at] : strangers[at]);
    }
    lab_sink += found;
    return (lab_clock() - from) / (double)asked;
}

/* Bytes a key of one way, the keys themselves apart, and its time. */
static double lecture_measure(lecture_kept *k, const lecture_way *way,
                              char **strangers, double *ns)
{
    size_t asked = way->find == lecture_find_list ? 200 : 200000, bytes = 0;
    double before = lecture_heap();
    way->make(k);
    double kept = lecture_heap() - before;
    if (k->filter != NULL) {
        bly_image(k->filter, &bytes);
        kept = (double)bytes;
    }
    *ns = lecture_time(k, way, strangers, asked);
    bly_free(k->filter);
    k->filter = NULL;
    return kept / (double)k->n;
}

static void lecture_free(lecture_kept *k, char **strangers)
{
    while (k->list != NULL) {
        lecture_node *next = k->list->next;
        free(k->list);
        k->list = next;
    }
    while (k->tree != NULL)
        tdelete(*(char **)k->tree, &k->tree, lecture_compare);
    hdestroy_r(&k->table);
    free(k->sorted);
    for (size_t i = 0; i < k->n; i++) {
        free(k->word[i]);
        free(strangers[i]);
    }
    free(k->word);
    free(strangers);
}

void lecture_others(lab *l)
{
    uint64_t most = lab_pick(l, 1000, 100000, 1000000), quick = 0;
    double bytes[LECTURE_TIMED] = { 0 }, ns[LECTURE_TIMED] = { 0 }, words = 0;
    lab_figure(l, "others", "keys,way,bytes a key,ns a lookup");
    for (uint64_t n = 10; n <= most; n *= 10) {
        double before = lecture_heap();
        lecture_kept k = { .n = n, .word = lecture_words(1, n) };
        words = (lecture_heap() - before) / (double)n;
        char **strangers = lecture_words(2, n);
        for (size_t w = 0; w < LECTURE_TIMED; w++) {
            bytes[w] = lecture_measure(&k, &lecture_ways[w], strangers, &ns[w]);
            lab_row(l, "%.0f,%s,%.4g,%.4g", (double)n, lecture_ways[w].name,
                    bytes[w], ns[w]);
        }
        if (ns[LECTURE_TABLE] <= ns[LECTURE_BLOOM])
            quick = n;
        lecture_free(&k, strangers);
    }
    lab_says(l, "every textbook: far less space than trees, hash tables and "
                "lists, which must keep the keys",
             10 * bytes[LECTURE_BLOOM] < bytes[LECTURE_TABLE] + words
             && 10 * bytes[LECTURE_BLOOM] < bytes[LECTURE_TREE] + words,
             "%.3g bytes a key; a red-black tree %.3g, a hash table %.3g, and "
             "%.3g for the key", bytes[LECTURE_BLOOM], bytes[LECTURE_TREE],
             bytes[LECTURE_TABLE], words);
    lab_says(l, "encyclopaedia: no other structure of constant space a key is "
                "asked in constant time", bytes[LECTURE_CUCKOO] > 4
             || ns[LECTURE_CUCKOO] > 4 * ns[LECTURE_BLOOM],
             "a cuckoo filter takes %.3g bytes a key and %.3g ns, whatever the "
             "keys are; a Bloom filter %.3g and %.3g", bytes[LECTURE_CUCKOO],
             ns[LECTURE_CUCKOO], bytes[LECTURE_BLOOM], ns[LECTURE_BLOOM]);
    lab_says(l, "a hash table with room may be quicker, for few keys",
             quick > 0, "the most keys at which glibc's is as quick as a Bloom "
             "filter: %.0f (%.3g ns and %.3g at %.0f)", (double)quick,
             ns[LECTURE_TABLE],
             ns[LECTURE_BLOOM], (double)most);
}
