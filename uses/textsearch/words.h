/* words.h - the words of a text, and the number of texts with each. */
#ifndef USES_TEXTSEARCH_WORDS_H
#define USES_TEXTSEARCH_WORDS_H

#include "fold.h"

#include <bloomery/keyed.h>

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { WORDS = 65536, LONG = 2 * WORDS };       /* of a text: its bytes      */

/* Returns how many bytes of a text are a word that begins here. */
static size_t word_length(const char *at)
{
    size_t n = 0;
    for (unsigned char c; isalnum(c = (unsigned char)at[n]) || c >= 0x80; n++)
        ;
    return n;
}

/* Computes the hashes of a text's words, ignoring case. */
static size_t find_words(uint64_t *out, const char *text)
{
    static bly_key words[WORDS];
    static char folded[FOLD_TIMES * LONG];
    size_t n = 0, used = 0;
    for (const char *at = text; *at != '\0' && n < WORDS; at += *at != '\0') {
        size_t length = word_length(at);
        if (length * FOLD_TIMES > sizeof folded - used)
            break;                      /* the text is longer than LONG      */
        if (length > 0) {
            size_t bytes = fold_word(folded + used, at, length);
            words[n++] = (bly_key){ folded + used, bytes };
            used += bytes;
        }
        at += length;
    }
    bly_keys all = { .n = n, .keys = words };
    return bly_hash_many(out, NULL, NULL, &all) < 0 ? 0 : n;
}

/* ---- Number of texts with each word -------------------------------------- */

typedef struct { uint64_t hash, documents, last; } counted;
static counted *table;                  /* a power of two in size            */
static uint64_t slots, used;
static bly_keyed keyed;                 /* texts are untrusted               */

static counted *find(uint64_t hash)
{
    uint64_t i = bly_keyed_number(&keyed, hash) & (slots - 1);
    while (table[i].documents > 0 && table[i].hash != hash)
        i = (i + 1) & (slots - 1);
    return &table[i];
}

static bool make_room(void)
{
    counted *old = table;
    uint64_t before = slots;
    if (used < slots / 2)
        return true;
    slots = slots > 0 ? 2 * slots : WORDS;
    if ((table = calloc(slots, sizeof *table)) == NULL)
        return free(old), false;
    for (uint64_t i = 0; i < before; i++)
        if (old[i].documents > 0)
            *find(old[i].hash) = old[i];
    return free(old), true;
}

#endif /* USES_TEXTSEARCH_WORDS_H */
