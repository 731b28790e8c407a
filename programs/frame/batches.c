/* batches.c - splits chunks into batches of lines and their keys.
 *
 * The ends of lines are found 64 bytes at a time, as bits of a word, if the
 * processor has SSE2, as every x86-64 does. No line is copied. Bytes are bytes
 * in every locale. The last line may lack its newline, and an empty line is the
 * empty key.
 */
#include "frame/batches.h"

#include "frame/keys.h"
#include "frame/members.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Finds the first `most` terminators in [0, n). Returns their number. */
static size_t batches_newlines(const unsigned char *text, size_t n,
                               int terminator, size_t *ends, size_t most)
{
    size_t found = 0, at = 0;
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi8((char)terminator);

    for (; at + 64 <= n && found + 64 <= most; at += 64) {
        uint64_t bits = 0;

        for (int part = 3; part >= 0; part--) {
            __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)
                                            (text + at) + part);
            bits = bits << 16
                 | (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted));
        }
        for (; bits != 0; bits &= bits - 1)
            ends[found++] = at + (size_t)__builtin_ctzll(bits);
    }
    if (at + 64 <= n)
        return found;
#endif
    while (at < n && found < most) {
        const unsigned char *hit = memchr(text + at, terminator, n - at);

        if (hit == NULL)
            break;
        ends[found++] = (size_t)(hit - text);
        at = (size_t)(hit - text) + 1;
    }
    return found;
}

/* Removes lines without a key from the batch. */
static void batches_drop_keyless(const cli_lines *l, cli_batch *b)
{
    size_t kept = 0;

    for (size_t i = 0; i < b->n; i++) {
        b->keys[kept] = b->keys[i];
        b->lines[kept] = b->lines[i];
        if (l->how.label.n > 0)
            b->labels[kept] = b->labels[i];
        kept += b->keys[i].data != NULL;
    }
    b->n = kept;
}

uint64_t batches_number(const cli_lines *l, const cli_chunk *c,
                        const void *bytes)
{
    const unsigned char *at = c->block, *end = bytes, *hit;
    uint64_t number = c->before + 1;

    if (forms_changes(l->how.form)
        && end >= c->block + keys_parts(&l->how, c->capacity))
        end = at + ((size_t)(end - at) - keys_parts(&l->how, c->capacity))
                 / forms_times(l->how.form);
    else if (keys_two_parts(&l->how) && end >= c->block + c->capacity)
        end -= c->capacity;
    for (; (hit = memchr(at, l->how.null ? '\0' : '\n', (size_t)(end - at)))
           != NULL; at = hit + 1)
        number++;
    return number;
}

/* Finds the ends of lines or of CSV records. Returns their number. */
static size_t batches_ends(const cli_lines *l, const cli_chunk *c,
                           const unsigned char *text, size_t n,
                           size_t *ends)
{
    enum { MOST = BATCHES_MOST - 1 };

    if (!c->quoted)
        return batches_newlines(text, n, l->how.null ? '\0' : '\n', ends, MOST);
    return c->stray ? records_ends(l->how.separator, text, n, ends, MOST)
                    : records_ends_even(text, n, ends, MOST);
}

/* Counts the lines of the batch whose keys are strange, and gives them the
 * length 0 of other missing keys. They are counted now because `query` moves
 * selected lines of earlier batches to the front of the chunk. */
static void batches_find_strange(const cli_lines *l, cli_chunk *c,
                                 cli_batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        bool strange = b->keys[i].data == NULL
                    && b->keys[i].length == KEYS_STRANGE;

        b->unread[i] = strange && l->how.member == NULL;
        b->unreads |= b->unread[i];
        if (!strange)
            continue;
        b->keys[i].length = 0;
        if (c->strange++ == 0)
            c->first_strange = c->lines - b->n + i + 1;
    }
}

/* Writes what to check in the first line of the chunk that lacks the member. */
static void batches_advise(const cli_lines *l, cli_chunk *c, const cli_batch *b)
{
    for (size_t i = 0; i < b->n && !c->advice; i++) {
        bly_key line = b->lines[i];

        line.length -= ((const char *)line.data)[line.length - 1]
                    == (l->how.null ? '\0' : '\n');
        if (b->keys[i].data == NULL && b->keys[i].length == 0)
            c->advice = members_advise(&l->how, line, c->why, sizeof c->why);
    }
}

/* Marks the lines that are skipped, and gives them the length 0 of other
 * missing keys. */
static void batches_find_skipped(cli_chunk *c, cli_batch *b)
{
    b->skips = true;
    for (size_t i = 0; i < b->n; i++) {
        b->skipped[i] = b->keys[i].data == NULL
                     && b->keys[i].length == KEYS_SKIPPED;
        b->lacking -= b->skipped[i];
        c->skipped += b->skipped[i];
        if (b->skipped[i])
            b->keys[i].length = 0;
    }
}

bool batches_split(const cli_lines *l, cli_chunk *c, size_t *at, cli_batch *b)
{
    const unsigned char *text = c->block + *at;
    size_t rest = c->length - *at, from = 0, ending = 1;

    if (*at == 0) {
        c->lines = c->skipped = c->strange = 0;
        c->returns = l->how.cut_cr && !l->how.csv && l->form != LINES_MEMBERS
                  && memchr(c->block, '\r', c->length) != NULL;
    }
    b->keyless = 0;
    b->skips = b->unreads = false;
    b->n = batches_ends(l, c, text, rest, b->ends);
    if (rest == 0)
        return false;
    if (b->n == 0) {                    /* the last line, without its end */
        b->ends[b->n++] = rest;
        ending = 0;
    }
    for (size_t i = 0; i < b->n; i++) {
        b->keys[i] = (bly_key){ text + from, b->ends[i] - from };
        b->lines[i] = (bly_key){ text + from, b->ends[i] - from + ending };
        from = b->ends[i] + ending;
    }
    c->lines += b->n;
    if (l->form != LINES_WHOLE || c->returns)
        b->keyless = keys_make(l, c, b->keys, b->labels, b->n);
    b->lacking = b->keyless;
    if (b->keyless > 0 && keys_skips(&l->how))
        batches_find_skipped(c, b);
    if (b->keyless > 0)
        batches_find_strange(l, c, b);
    if (b->keyless > 0 && l->form == LINES_MEMBERS && !c->advice)
        batches_advise(l, c, b);
    if (b->keyless > 0 && !l->keep)
        batches_drop_keyless(l, b);
    *at += from;
    return true;
}

uint64_t batches_counted(const cli_lines *l, const cli_batch *b)
{
    return l->how.csv ? 0 : b->n + (l->keep ? 0 : b->keyless);
}
