/* index.c - makes an index of documents and finds them by their keys.
 */
#include <bloomery.h>
#include <bloomery/index.h>

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

static void make(void)
{
    /* example: bly_index_end */
    static const char *const title[] = { "poem", "novel" };
    static const char words[] = "redseasky";    /* three bytes a word      */
    bly_keys keys = { .n = 3, .data = words, .width = 3 };
    bly_index_spec spec = { .rate = 0.01 };
    bly_index_maker *maker;
    uint64_t hashes[3];
    if (bly_index_begin(&maker, "words.index", &spec) < 0 ||
        bly_hash_many(hashes, NULL, NULL, &keys) < 0)
        errx(1, "%s", bly_why());
    for (size_t i = 0; i < 2; i++) {
        bly_document document = { .name = title[i], .length = 4 + i };
        if (bly_index_add(maker, &document, hashes + i, 2) < 0) {
            warnx("%s", bly_why());
            bly_index_abort(maker);
            exit(1);
        }
    }
    if (bly_index_end(maker) < 0)
        errx(1, "%s", bly_why());
    /* end */
}

static void take(bly_index_maker *maker, const bly_index *old)
{
    /* example */
    if (bly_index_take(maker, old, NULL, NULL) < 0 ||
        bly_index_end(maker) < 0)
        errx(1, "%s", bly_why());
    /* end */
}

/* example */
static bool print_name(void *context, uint64_t number,
                       const bly_document *document)
{
    unsigned *found = context;
    printf("%ju: %.*s\n", (uintmax_t)number, (int)document->length,
           document->name);
    ++*found;
    return true;
}

static unsigned print_documents(const bly_index *index, const bly_keys *keys)
{
    uint64_t hashes[3];                 /* one for each key                */
    unsigned found = 0;
    if (bly_index_hash(hashes, index, keys) < 0 ||
        bly_index_visit(index, hashes, keys->n, keys->n, print_name,
                        &found) < 0)
        errx(1, "%s", bly_why());
    return found;
}
/* end */

static unsigned which(const bly_index *index, const uint64_t *hash)
{
    unsigned found = 0;
    /* example */
    bly_index_stat_t is;
    bly_index_stat(&is, index);
    uint64_t *row = calloc((is.documents + 63) / 64, sizeof *row);
    if (row == NULL || bly_index_which(row, index, hash, 1, 1) < 0)
        errx(1, "%s", bly_why());
    for (uint64_t i = 0; i < is.documents; i++)
        found += row[i / 64] >> i % 64 & 1;
    free(row);
    /* end */
    return found;
}

static uint32_t count(const bly_index *index, const uint64_t *hash)
{
    /* example */
    bly_index_stat_t is;
    bly_index_stat(&is, index);
    uint32_t *counts = calloc(is.documents + 1, sizeof *counts);
    if (counts == NULL || bly_index_count(counts, index, hash, 1) < 0)
        errx(1, "%s", bly_why());
    uint32_t first = counts[0];         /* keys of document 0                */
    free(counts);
    /* end */
    return first;
}

static void names(const bly_index *index)
{
    /* example */
    bly_document document;
    if (bly_index_document(&document, index, 0) < 0)
        errx(1, "%s", bly_why());
    printf("document 0: %.*s, %ju keys\n", (int)document.length, document.name,
           (uintmax_t)document.keys);
    /* end */
    if (document.keys != 2)
        errx(1, "%ju keys", (uintmax_t)document.keys);
}

static bly_index *opened(void)
{
    /* example */
    bly_index *index;
    if (bly_index_open(&index, "words.index", NULL) < 0)
        errx(1, "%s", bly_why());
    if (bly_index_verify(index, NULL) < 0) {
        bly_index_free(index);
        errx(1, "%s", bly_why());
    }
    /* end */
    return index;
}

static void wrap(const void *bytes, size_t n)
{
    /* example */
    bly_index *index;
    if (bly_index_wrap(&index, bytes, n, NULL) < 0)
        errx(1, "%s", bly_why());
    /* end */
    names(index);
    bly_index_free(index);
}

static void bits(void)
{
    /* example */
    bly_index_spec spec = { .rate = 0.01 };
    printf("%ju bits for 1000 keys\n", (uintmax_t)bly_index_bits(&spec, 1000));
    /* end */
    if (bly_index_bits(&spec, 1000) < 9585)
        errx(1, "too few bits");
}

int main(void)
{
    static char bytes[1 << 16];
    bly_index_maker *maker;
    uint64_t hash;
    make();
    bits();
    bly_index *index = opened();
    names(index);
    bly_keys sea = { .n = 1, .data = "sea", .width = 3 };
    bly_keys red = { .n = 1, .data = "red", .width = 3 };
    if (print_documents(index, &sea) != 2 ||
        bly_index_hash(&hash, index, &red) < 0 ||
        which(index, &hash) != 1 || count(index, &hash) > 1)
        errx(1, "other documents were found");
    if (bly_index_begin(&maker, "copy.index", &(bly_index_spec){ 0 }) < 0)
        errx(1, "%s", bly_why());
    take(maker, index);
    FILE *file = fopen("copy.index", "rb");
    if (file == NULL)
        err(1, "copy.index");
    wrap(bytes, fread(bytes, 1, sizeof bytes, file));
    fclose(file);
    bly_index_free(index);
    remove("copy.index");
    remove("words.index");
}
