/* textsearch.c - finds those of many short texts that have all given words, by
 * signatures that are rows of bits, with more rows for rarer words.
 *
 *   textsearch build INDEX TEXTS textsearch ask INDEX [-c] TEXTS QUERY...
 *   textsearch drop INDEX LINE...
 *
 * Each line of TEXTS is a document, and a word is a run of letters, digits and
 * bytes beyond ASCII. A word that a share a of all documents has gets enough
 * rows of density DENSITY to name at most a / SIGNAL of the documents wrongly.
 * `ask` prints the lines that have all words of a QUERY; with -c, how many were
 * read and how many had them. `drop` removes documents from the index.
 */
#define _POSIX_C_SOURCE 200809L         /* getline                           */
#include "words.h"

#include <bloomery/index.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIGNAL = 10, ROWS = 16, OFFSET = sizeof(long) };
static const double density = 0.1;

/* A word that is not one of the rarest. The first entry has the bytes of all
 * texts, and the rows of a rare word. */
typedef struct { uint64_t hash, rows; } known;
static uint64_t hashes[WORDS], keys[WORDS * ROWS];  /* of a text or query    */

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "textsearch: %s: %s\n", what, why);
    return 2;
}

/* ---- Rows ---------------------------------------------------------------- */

/* Returns the rows of a word that a share of all documents has. */
static uint64_t rows_for(double share)
{
    double rows = ceil(log(share / SIGNAL) / log(density) - 1e-9);
    return (uint64_t)fmin(fmax(rows, 1), ROWS);
}

/* Adds rows: each is a key with one probe. */
static size_t add_rows(size_t n, uint64_t hash, uint64_t rows)
{
    for (uint64_t i = 1; i <= rows; i++)
        keys[n++] = bly_mix64(hash + i);
    return n;
}

/* ---- Make ---------------------------------------------------------------- */

/* Counts the documents of each word; 0 documents: errno says why. */
static uint64_t count(FILE *texts)
{
    char *line = NULL;
    size_t room = 0;
    uint64_t documents = 0;
    for (ssize_t got; (got = getline(&line, &room, texts)) >= 0; ) {
        size_t n = find_words(hashes, line);
        errno = strlen(line) < (size_t)got ? EILSEQ : got > LONG ? EFBIG : 0;
        if (errno != 0)
            return free(line), 0;
        documents++;
        for (size_t i = 0; i < n; i++) {
            if (!make_room())           /* errno is set                      */
                return free(line), 0;
            counted *c = find(hashes[i]);
            used += c->documents == 0;
            *c = (counted){ hashes[i], c->documents + (c->last != documents),
                            documents };
        }
    }
    errno = ferror(texts) ? errno : ENODATA;        /* without documents     */
    free(line);
    return ferror(texts) ? 0 : documents;
}

static int add(bly_index_maker *maker, FILE *texts, uint64_t documents)
{
    char *line = NULL, name[32];
    size_t room = 0;
    bly_status status = BLY_OK;
    long offset = 0, number = 0, end = ftell(texts);
    fseek(texts, 0, SEEK_SET);          /* if it fails, nothing is read      */
    while (status == BLY_OK && getline(&line, &room, texts) >= 0) {
        bly_document document = { .name = name, .extra = &offset,
            .length = (size_t)snprintf(name, sizeof name, "%ld", ++number) };
        size_t n = find_words(hashes, line), all = 0;
        for (size_t i = 0; i < n; i++)
            all = add_rows(all, hashes[i], rows_for(
                (double)find(hashes[i])->documents / (double)documents));
        status = bly_index_add(maker, &document, keys, all);
        offset = ftell(texts);
    }
    free(line);
    return status < 0 ? stop("the index", bly_why()) : offset == end && end > 0
         ? 0 : stop("the texts", "they cannot be read twice, or change");
}

/* Makes the list of words: first the bytes of texts and the rows of rare
 * words. */
static known *make_about(size_t *bytes, uint64_t documents, FILE *texts)
{
    known *out = documents > 0 ? malloc((used + 1) * sizeof *out) : NULL;
    size_t n = 1;
    if (out == NULL)
        return NULL;
    out[0] = (known){ (uint64_t)ftell(texts), rows_for(1 / (double)documents) };
    for (counted *c = table; c < table + slots; c++) {
        uint64_t rows = rows_for((double)c->documents / (double)documents);
        if (c->documents > 0 && rows < out[0].rows)
            out[n++] = (known){ c->hash, rows };
    }
    *bytes = n * sizeof *out;
    return out;
}

/* Returns whether the file is not an index and would be lost; bly_why says
 * so. */
static bool is_other(const char *path)
{
    bly_index *old = NULL;
    bool other = access(path, F_OK) == 0
                 && bly_index_open(&old, path, NULL) < 0;
    return bly_index_free(old), other;
}

static int build(const char *path, const char *texts_path)
{
    if (is_other(path) || bly_keyed_draw(&keyed) < 0)
        return stop("the index", bly_why());
    FILE *texts = fopen(texts_path, "r");
    uint64_t documents = texts != NULL ? count(texts) : 0;
    bly_index_spec spec = { .rate = density, .probes = 1, .extra = OFFSET };
    known *about = make_about(&spec.about_bytes, documents, texts);
    if (about == NULL)
        return stop(texts_path, strerror(errno));
    bly_index_maker *maker = NULL;
    spec.about = about;
    int failed = bly_index_begin(&maker, path, &spec) < 0
               ? stop("the index", bly_why()) : add(maker, texts, documents);
    if (failed != 0)
        bly_index_abort(maker);
    else if (bly_index_end(maker) < 0)
        failed = stop("the index", bly_why());
    free(about), free(table), fclose(texts);
    return failed;
}

/* ---- Query --------------------------------------------------------------- */

static bly_index_stat_t is;             /* of the open index                 */
static known first;                     /* its entry about the texts         */
typedef struct { FILE *texts; size_t words, read, found; bool count; } question;

/* Checks whether the named document has all words. */
static bool look(void *context, uint64_t number, const bly_document *document)
{
    static uint64_t words[WORDS];
    question *q = context;
    char *line = NULL;
    size_t room = 0, has = 0, n = 0;
    long at = (long)number;
    memcpy(&at, document->extra, sizeof at);
    if (fseek(q->texts, at, SEEK_SET) == 0
        && getline(&line, &room, q->texts) >= 0)
        n = find_words(words, line);
    for (size_t i = 0, j; i < q->words; i++, has += j < n)
        for (j = 0; j < n && words[j] != hashes[i]; j++)
            ;
    q->read++;
    q->found += has == q->words;
    if (has == q->words && !q->count && line != NULL)
        printf("%.*s:%.*s\n", (int)document->length, document->name,
               (int)strcspn(line, "\n"), line);
    return free(line), true;
}

static bly_status ask(const bly_index *index, question *q, char *query)
{
    known one;
    size_t n = 0;
    q->words = find_words(hashes, query);
    q->read = q->found = 0;
    for (size_t i = 0; i < q->words && n < WORDS - ROWS; i++) {
        uint64_t rows = first.rows;
        for (size_t at = sizeof one; at < is.about_bytes; at += sizeof one) {
            memcpy(&one, (const char *)is.about + at, sizeof one);
            rows = one.hash == hashes[i] ? one.rows : rows;
        }
        n = add_rows(n, hashes[i], rows < ROWS ? rows : ROWS);
    }
    return bly_index_visit(index, keys, n, n, look, q);
}

static int ask_all(const bly_index *index, int n, char **args)
{
    question q = { .count = strcmp(args[0], "-c") == 0 };
    bly_status status = BLY_OK;
    q.texts = fopen(args[q.count], "r");
    if (q.texts == NULL)
        return stop(args[q.count], strerror(errno));
    if (fseek(q.texts, 0, SEEK_END) < 0 ||
        (uint64_t)ftell(q.texts) != first.hash)
        return fclose(q.texts), stop(args[q.count], "it is not as it was when "
                                     "the index was built: build anew");
    for (int i = 1 + q.count; i < n && status >= 0; i++) {
        status = ask(index, &q, args[i]);
        if (q.count && status >= 0)
            printf("%s\t%zu\t%zu\n", args[i], q.read, q.found);
    }
    fclose(q.texts);
    return status < 0 ? stop("the index", bly_why()) : 0;
}

static char **dropped;                  /* numbers of lines, up to NULL      */
static bool stays(void *index, uint64_t number)
{
    bly_document d = { .length = 0 };
    bool stay = bly_index_document(&d, index, number) == BLY_OK;
    for (char **one = dropped; *one != NULL && stay; one++)
        stay = strlen(*one) != d.length || memcmp(*one, d.name, d.length) != 0;
    return stay;
}

static int drop(bly_index *index, const char *path, char **lines, int n)
{
    bly_index_maker *maker = NULL;
    bly_index_spec spec = { .rate = is.rate, .probes = is.probes,
                            .extra = is.extra, .about = is.about,
                            .about_bytes = is.about_bytes };
    dropped = lines;
    for (uint64_t i = 0; i < is.documents; i++)
        n -= !stays(index, i);
    if (n != 0)
        return stop("drop", "one of these lines is not in the index: all stay");
    bly_status status = bly_index_begin(&maker, path, &spec);
    if (status == BLY_OK
        && (status = bly_index_take(maker, index, stays, index)) == BLY_OK)
        status = bly_index_end(maker);
    else
        bly_index_abort(maker);
    return status < 0 ? stop("the index", bly_why()) : 0;
}

int main(int argc, char **argv)
{
    bly_index *index = NULL;
    if (argc == 4 && strcmp(argv[1], "build") == 0)
        return build(argv[2], argv[3]);
    bool asks = argc > 4 && strcmp(argv[1], "ask") == 0;
    if (!asks && (argc < 4 || strcmp(argv[1], "drop") != 0))
        return stop("usage", "textsearch build INDEX TEXTS | ask INDEX [-c] "
                    "TEXTS QUERY... | drop INDEX LINE...");
    if (bly_index_open(&index, argv[2], NULL) < 0)
        return stop("the index", bly_why());
    bly_index_stat(&is, index);
    bool ours = is.extra == OFFSET && is.about_bytes >= sizeof first
                && is.about_bytes % sizeof first == 0;
    if (ours)
        memcpy(&first, is.about, sizeof first);
    int failed = !ours ? stop(argv[2], "an index of something else")
               : asks ? ask_all(index, argc - 3, argv + 3)
                      : drop(index, argv[2], argv + 3, argc - 3);
    bly_index_free(index);
    return (fflush(stdout) | ferror(stdout)) != 0
         ? stop("standard output", strerror(errno)) : failed;
}
