/* many.c - finds the first of many fixed texts in a text.
 *
 * A window as long as the shortest of the texts moves over the input. Its last
 * three bytes tell how far it may move without missing a text: to the place
 * where they are in some text's window, or beyond them if they are in none. If
 * they are at the end of some windows, those texts are compared.
 *
 *      texts    needle, needy, noodle           window: 5 bytes, by 3
 *
 *      ... all the noodles are ...
 *         |all t|                       "l t": in none, move by 3
 *            | the |
 *
 * [Wu & Manber 1994] A fast algorithm for multi-pattern searching, University
 * of Arizona, TR-94-17.
 */
#include "search/commands/search.h"

#include <stdlib.h>
#include <string.h>

enum { MANY_BLOCK = 3, MANY_TABLE = 1 << 16, MANY_SHIFT = 255 };

typedef struct {
    const char *bytes;
    size_t      n;
    uint32_t    next;           /* next text with the same end of its
                                   window, plus 1                            */
} many_text;

struct many {
    unsigned char fold[256];
    size_t        window;
    unsigned char shift[MANY_TABLE];
    uint32_t      first[MANY_TABLE];    /* text, plus 1                      */
    many_text     texts[];              /* the longest first                 */
};

static uint32_t many_hash(const many *m, const unsigned char *at)
{
    uint32_t block = m->fold[at[0]] | (uint32_t)m->fold[at[1]] << 8
                   | (uint32_t)m->fold[at[2]] << 16;

    return block * UINT32_C(0x9E3779B1) >> 16;
}

/* Adds the i-th text: the places of its blocks in its window. */
static void many_add(many *m, uint32_t i)
{
    const unsigned char *at = (const unsigned char *)m->texts[i].bytes;
    size_t last = m->window - MANY_BLOCK;

    for (size_t j = 0; j <= last; j++) {
        unsigned char *shift = &m->shift[many_hash(m, at + j)];

        if (last - j < *shift)
            *shift = (unsigned char)(last - j);
    }
    m->texts[i].next = m->first[many_hash(m, at + last)];
    m->first[many_hash(m, at + last)] = i + 1;
}

many *many_open(const cli_operands *patterns, bool fold)
{
    size_t n = patterns->count, shortest = SIZE_MAX;
    many *m = NULL;

    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(patterns->names[i]);

        shortest = length < shortest ? length : shortest;
    }
    if (n >= MANY_LEAST && n < UINT32_MAX && shortest >= MANY_BLOCK)
        m = calloc(1, sizeof *m + n * sizeof *m->texts);
    if (m == NULL)
        return NULL;
    m->window = shortest < MANY_SHIFT ? shortest : MANY_SHIFT;
    memset(m->shift, (int)(m->window - MANY_BLOCK + 1), sizeof m->shift);
    for (unsigned c = 0; c < sizeof m->fold; c++)
        m->fold[c] = (unsigned char)(fold && c >= 'A' && c <= 'Z' ? c | 0x20
                                                                  : c);
    for (size_t i = n; i-- > 0; ) {     /* so that the longest is compared
                                           first                             */
        m->texts[i].bytes = patterns->names[i];
        m->texts[i].n = strlen(patterns->names[i]);
        many_add(m, (uint32_t)i);
    }
    return m;
}

static bool many_is(const many *m, const many_text *text,
                    const unsigned char *at)
{
    const unsigned char *bytes = (const unsigned char *)text->bytes;

    for (size_t i = 0; i < text->n; i++)
        if (m->fold[bytes[i]] != m->fold[at[i]])
            return false;
    return true;
}

bool many_find(const many *m, const unsigned char *text, size_t n,
               match_span *span)
{
    size_t at = span->end;

    while (at + m->window <= n) {
        uint32_t hash = many_hash(m, text + at + m->window - MANY_BLOCK);

        if (m->shift[hash] > 0) {
            at += m->shift[hash];
            continue;
        }
        for (uint32_t i = m->first[hash]; i > 0; i = m->texts[i - 1].next)
            if (m->texts[i - 1].n <= n - at
                && many_is(m, &m->texts[i - 1], text + at)) {
                *span = (match_span){ at, at + m->texts[i - 1].n };
                return true;
            }
        at++;
    }
    return false;
}
