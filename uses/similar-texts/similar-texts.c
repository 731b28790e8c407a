/* similar-texts.c - finds texts that have much in common.
 *
 *   similar-texts [-t SCORE] TEXT TEXT...
 *
 * A text is cut behind a word of 7 letters or more, once 4 words are together:
 * the content decides, so that insertions move few other cuts. Each text
 * becomes a filter of its chunks, all with one plan. Prints A, B, the estimated
 * share of A's chunks that are in B, and its standard deviation, for all A and
 * B with a share of at least SCORE (0.7), the most similar first.
 *
 * Words are runs of letters, digits and bytes beyond ASCII; A to Z are a to z.
 */
#include <bloomery.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONG = 7,               /* letters of a word that ends a chunk           */
    LEAST = 4,              /* words in a chunk                              */
    CHUNK = 4096,           /* longest chunk, in bytes                       */
    BITS = 64,              /* of a filter, for each chunk of the longest
                               text: unrelated texts share 6 % of them       */
    PROBES = 4
};

typedef struct {
    const char *name;
    uint64_t   *hashes;     /* of its chunks                                 */
    size_t      n, room;
    bly_filter *filter;
} text;

typedef struct { const text *a, *b; bly_estimate score; } pair;

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "similar-texts: %s: %s\n", what, why);
    return 2;
}

/* ---- Texts --------------------------------------------------------------- */

static bool add_chunk(text *t, const char *chunk, size_t n)
{
    bly_key key = { chunk, n };
    bly_keys one = { .n = 1, .keys = &key };
    if (t->n == t->room) {
        size_t room = t->room * 2 + 256;
        uint64_t *more = realloc(t->hashes, room * sizeof *more);
        if (more == NULL)
            return false;
        t->hashes = more;
        t->room = room;
    }
    return bly_hash_many(&t->hashes[t->n++], NULL, NULL, &one) == BLY_OK;
}

/* Returns the byte as part of a word, or 0. */
static int letter(int c)
{
    if (c >= 'A' && c <= 'Z')
        return c | 0x20;
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c >= 0x80
         ? c : 0;
}

/* Separates the words of a chunk by single blanks. */
static bool read_chunks(text *t, FILE *file)
{
    char chunk[CHUNK];
    size_t n = 0, word = 0, words = 0;
    for (int c; (c = getc_unlocked(file)) != EOF; ) {
        int l = letter(c);
        if (l != 0 && n < CHUNK) {
            if (word == 0 && n > 0)
                chunk[n++] = ' ';
            if (n < CHUNK)
                chunk[n++] = (char)l;
            word++;
            continue;
        }
        words += word > 0;
        if (word >= LONG && words >= LEAST) {
            if (!add_chunk(t, chunk, n))
                return false;
            n = words = 0;
        }
        word = 0;
    }
    return (n == 0 || add_chunk(t, chunk, n)) && !ferror(file);
}

static int read_text(text *t)
{
    FILE *file = fopen(t->name, "r");
    if (file == NULL)
        return stop(t->name, strerror(errno));
    int failed = read_chunks(t, file) ? 0 : stop(t->name, "cannot be read");
    fclose(file);
    return failed;
}

/* ---- Pairs --------------------------------------------------------------- */

static int make_filters(text *texts, size_t n)
{
    char kind[64];
    size_t most = 1;
    for (size_t i = 0; i < n; i++)
        if (texts[i].n > most)
            most = texts[i].n;
    snprintf(kind, sizeof kind, "standard:m=%zu,k=%d", most * BITS, PROBES);
    for (size_t i = 0; i < n; i++) {
        text *t = &texts[i];
        bly_spec want = { .capacity = most };
        if (bly_build(&t->filter, kind, &want,
                      &(bly_keys){ .n = t->n, .hashes = t->hashes }) < 0)
            return stop(t->name, bly_why());
    }
    return 0;
}

static int most_similar(const void *one, const void *two)
{
    const pair *p = one, *q = two;
    if (p->score.value != q->score.value)
        return p->score.value < q->score.value ? 1 : -1;
    return p->a != q->a ? (p->a > q->a) - (p->a < q->a)
                        : (p->b > q->b) - (p->b < q->b);
}

/* Keeps a pair of A and B with their common share, of A or of B. */
static void keep(pair *pairs, size_t *n, const text *a, const text *b,
                 bly_estimate both, double of, double least)
{
    bly_estimate score = { both.value / of, both.sd / of };
    if (of > 0 && score.value >= least)
        pairs[(*n)++] = (pair){ a, b, score };
}

static int compare_all(const text *texts, size_t n, double least)
{
    size_t some = 0;
    pair *pairs = malloc(n * n * sizeof *pairs);
    if (pairs == NULL)
        return stop("memory", strerror(errno));
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            bly_overlap_t o;
            const text *a = &texts[i], *b = &texts[j];
            if (bly_overlap(&o, a->filter, b->filter) < 0)
                return stop(a->name, bly_why());
            keep(pairs, &some, a, b, o.both, o.a.value, least);
            keep(pairs, &some, b, a, o.both, o.b.value, least);
        }
    qsort(pairs, some, sizeof *pairs, most_similar);
    for (size_t i = 0; i < some; i++)
        printf("%s\t%s\t%.4f\t%.4f\n", pairs[i].a->name, pairs[i].b->name,
               pairs[i].score.value, pairs[i].score.sd);
    free(pairs);
    return 0;
}

int main(int argc, char **argv)
{
    int first = 1, failed = 0;
    double least = 0.7;
    char *end = "";
    if (argc > 2 && strcmp(argv[1], "-t") == 0) {
        least = strtod(argv[2], &end);
        first = 3;
    }
    if (argc < first + 2 || *end != '\0')
        return stop("usage", "similar-texts [-t SCORE] TEXT TEXT...");
    size_t n = (size_t)(argc - first);
    text *texts = calloc(n, sizeof *texts);
    if (texts == NULL)
        return stop("memory", strerror(errno));
    for (size_t i = 0; i < n && failed == 0; i++) {
        texts[i].name = argv[(size_t)first + i];
        failed = read_text(&texts[i]);
    }
    if (failed == 0)
        failed = make_filters(texts, n);
    if (failed == 0)
        failed = compare_all(texts, n, least);
    for (size_t i = 0; i < n; i++) {
        bly_free(texts[i].filter);
        free(texts[i].hashes);
    }
    free(texts);
    if ((fflush(stdout) | ferror(stdout)) != 0)
        return stop("standard output", strerror(errno));
    return failed;
}
