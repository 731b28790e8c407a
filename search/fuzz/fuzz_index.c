/* fuzz_index.c - any bytes taken for an index are refused, or are one of which
 * every document is told and every question is answered. As they come their
 * checksums hardly ever match, so they are tried with mended ones, too.
 */
#include "targets.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "bloomery.h"
#include "bloomery/index.h"

enum {
    INDEX_HEADER = 128, INDEX_AT_BYTES = 16, INDEX_AT_LIST = 64,
    INDEX_AT_LIST_SUM = 112, INDEX_AT_SUM = 120,
    INDEX_MOST = 1 << 20                /* documents that are asked for      */
};

static uint64_t index_number(const uint8_t *bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static void index_set(uint8_t *bytes, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
}

static const char *index_documents(const bly_index *index, size_t n,
                                   const bly_index_stat_t *stat)
{
    uint64_t names = 0;
    for (uint64_t i = 0; i < stat->documents; i++) {
        bly_document document;
        if (bly_index_document(&document, index, i) != BLY_OK)
            return "a document is not told";
        names += document.length;
        for (size_t j = 0; j < document.length; j++)
            target_did.operations += document.name[j] == 'a';
    }
    return names > n ? "the names are longer than the file" : NULL;
}

static const char *index_ask(const bly_index *index,
                             const bly_index_stat_t *stat)
{
    const uint64_t hashes[] = { 0, 3, UINT64_MAX, UINT64_C(1) << 63 };
    size_t words = (size_t)(stat->documents / 64 + 1);
    uint64_t *row = calloc(2 * words, sizeof *row), *some = row + words;
    const char *found = NULL;
    if (row == NULL)
        return NULL;
    if (bly_index_which(row, index, hashes, 4, 4) != BLY_OK
        || bly_index_which(some, index, hashes, 4, 1) != BLY_OK)
        found = "a question is not answered";
    for (size_t i = 0; i < words && found == NULL; i++)
        if ((row[i] & ~some[i]) != 0)
            found = "a document has all keys, but not one";
    target_did.answers += 2;
    free(row);
    return found;
}

static const char *index_look(const uint8_t *bytes, size_t n)
{
    bly_index *index = NULL;
    bly_index_stat_t stat;
    if (bly_index_wrap(&index, bytes, n, NULL) != BLY_OK)
        return *bly_why() != '\0' ? NULL : "it is refused without a word";
    bly_index_stat(&stat, index);
    const char *found = stat.documents > INDEX_MOST ? NULL
                      : index_documents(index, n, &stat);
    if (found == NULL && stat.documents <= INDEX_MOST)
        found = index_ask(index, &stat);
    (void)bly_index_verify(index, NULL);
    bly_index_free(index);
    target_did.images++;
    return found;
}

const char *fuzz_index(const uint8_t *bytes, size_t n)
{
    const char *found = index_look(bytes, n);
    if (found != NULL || n < INDEX_HEADER)
        return found;
    uint8_t *mended = malloc(n);
    if (mended == NULL)
        return NULL;
    memcpy(mended, bytes, n);
    index_set(mended + INDEX_AT_BYTES, n);
    uint64_t list = index_number(mended + INDEX_AT_LIST);
    if (list <= n)
        index_set(mended + INDEX_AT_LIST_SUM,
                  XXH3_64bits(mended + list, n - (size_t)list));
    index_set(mended + INDEX_AT_SUM, XXH3_64bits(mended, INDEX_AT_SUM));
    found = index_look(mended, n);
    free(mended);
    return found;
}
