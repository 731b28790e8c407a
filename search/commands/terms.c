/* terms.c - bytes of a document -> its terms, hashed.
 *
 *      trigrams    three bytes in a line, A to Z as a to z
 *      words       runs of letters, digits and _, A to Z as a to z
 *      fields      runs of bytes that are no blanks
 *      lines       whole lines
 *      kmers=21    21 bases in a row, or what stands on the other strand:
 *                  see kmers.c
 *      json-field=NAME, column=NAME    values: see values.c
 *
 * Terms of a question come from the same function. Of words, bytes from 0x80
 * on are letters, but for what is punctuation in UTF-8: U+00A0 to U+00BF,
 * U+2000 to U+207F and U+3000 to U+303F, known by their bytes wherever they
 * are. Each run of ASCII within a word is one, too, as writing that sets no
 * blanks has them; and addresses of the internet and of machines, and UUIDs,
 * which are several words, are one more as a whole.
 */
#include "search/commands/search.h"
#include "frame/numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    TERMS_JOINED = 6,                   /* words of a machine's address     */
    TERMS_ALL = 1 << 24                 /* trigrams that there are          */
};

/* ==== Rules ============================================================= */

static const struct { const char *name; double rate; uint32_t probes; }
terms_rules[TERMS_RULES] = {
    [TERMS_TRIGRAMS] = { "trigrams", 0.3, 1 },
    [TERMS_WORDS]    = { "words", 0.01, 0 },
    [TERMS_FIELDS]   = { "fields", 0.01, 0 },
    [TERMS_LINES]    = { "lines", 0.01, 0 },
    [TERMS_KMERS]    = { "kmers", 0.3, 1 },
    [TERMS_MEMBERS]  = { "json-field", 0.0001, 0 },
    [TERMS_COLUMNS]  = { "column", 0.0001, 0 },
};

const char *terms_name(terms_rule rule)
{
    return terms_rules[rule].name;
}

double terms_rate(terms_rule rule)
{
    return terms_rules[rule].rate;
}

uint32_t terms_probes(terms_rule rule)
{
    return terms_rules[rule].probes;
}

const char *terms_read(const char *text, terms_rule *rule, unsigned *k)
{
    const char *number = strchr(text, '=');
    uint64_t length = TERMS_KMER;

    *rule = TERMS_TRIGRAMS;
    if (number != NULL && strncmp(text, "kmers=", 6) == 0) {
        *rule = TERMS_KMERS;
        if (numbers_number(number + 1, &length) != NULL || length > TERMS_KMER)
            return "has no length of 1 to 31: give kmers=31";
    } else {
        while (*rule < TERMS_RULES && strcmp(text, terms_name(*rule)) != 0)
            (*rule)++;
        if (*rule == TERMS_RULES)
            return "is not a rule: give trigrams, words, fields, lines, "
                   "kmers=31, json-field=NAME or column=NAME";
    }
    *k = (unsigned)length;
    return NULL;
}

/* ==== Words ============================================================= */

typedef enum { TERMS_NONE, TERMS_ASCII, TERMS_HIGH } terms_class;

static terms_class terms_class_of(unsigned char c)
{
    return c >= 0x80 ? TERMS_HIGH
         : (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'
           || (c >= 'A' && c <= 'Z') ? TERMS_ASCII : TERMS_NONE;
}

/* Returns the number of bytes here that separate words. */
static size_t terms_between(const unsigned char *at, const unsigned char *end,
                            const unsigned char classes[256])
{
    size_t left = (size_t)(end - at);

    if (classes[*at] != TERMS_HIGH)
        return classes[*at] == TERMS_NONE;
    if (*at == 0xC2)
        return left > 1 && at[1] >= 0xA0 && at[1] <= 0xBF ? 2 : 0;
    return left > 2 && at[2] >= 0x80 && at[2] <= 0xBF
        && ((*at == 0xE2 && (at[1] == 0x80 || at[1] == 0x81))
            || (*at == 0xE3 && at[1] == 0x80)) ? 3 : 0;
}

/* The last words, latest first, and the separators before them if these are
 * single bytes. In a word with non-ASCII letters, its leading ASCII run ends at
 * `head`, and its trailing one begins at `tail`.
 */
typedef struct {
    const unsigned char *start, *head, *tail, *end;
    unsigned char before;
} terms_word;

typedef struct { terms_word words[TERMS_JOINED]; } terms_joined;

static bool terms_digits(const unsigned char *at, const unsigned char *end,
                         bool hex)
{
    for (; at < end; at++)
        if (!(*at >= '0' && *at <= '9') && !(hex && *at >= 'a' && *at <= 'f'))
            return false;
    return true;
}

/* Returns whether the last n words are joined by this byte, with these lengths,
 * latest first (0: 1 to 3), and digits; they are then an additional word. */
static bool terms_join(terms *t, const terms_joined *j, unsigned char by,
                       const char *lengths, bool hex)
{
    size_t n = strlen(lengths);
    const unsigned char *from = j->words[n - 1].tail;

    for (size_t i = 0; i < n; i++) {
        const terms_word *word = &j->words[i];
        const unsigned char *at = i + 1 < n ? word->start : word->tail;
        const unsigned char *end = i == 0 ? word->head : word->end;
        size_t length = (size_t)(end - at), wanted = (size_t)(lengths[i] - '0');

        if ((i + 1 < n && word->before != by)
            || (wanted == 0 ? length == 0 || length > 3 : length != wanted)
            || !terms_digits(at, end, hex))
            return true;
    }
    return waiting_push(t, from, (size_t)(j->words[0].head - from));
}

static bool terms_join_all(terms *t, const terms_joined *j)
{
    switch (j->words[0].before) {
    case '.':
        return terms_join(t, j, '.', "0000", false);
    case ':':
        return terms_join(t, j, ':', "222222", true);
    case '-':
        return terms_join(t, j, '-', "222222", true)
            && terms_join(t, j, '-', "<4448", true);   /* '<' is '0' + 12 */
    default:
        return true;
    }
}

static terms_word terms_word_of(const unsigned char *start,
                                const unsigned char *end, bool ascii)
{
    terms_word word = { start, end, start, end, 0 };

    if (!ascii) {
        for (word.head = start; word.head < end && *word.head < 0x80; )
            word.head++;
        for (word.tail = end; word.tail > start && word.tail[-1] < 0x80; )
            word.tail--;
    }
    return word;
}

/* Finds the ASCII runs that are a part of a word. */
static bool terms_within(terms *t, const unsigned char *from,
                         const unsigned char *end)
{
    const unsigned char *start;

    while (from < end) {
        while (from < end && *from >= 0x80)
            from++;
        for (start = from; from < end && *from < 0x80; )
            from++;
        if (from > start && !waiting_push(t, start, (size_t)(from - start)))
            return false;
    }
    return true;
}

static bool terms_words(terms *t, const unsigned char *text, size_t n,
                        const unsigned char classes[256])
{
    const unsigned char *at = text, *end = text + n, *start, *last = NULL;
    terms_joined joined = { .words = { { .before = 0 } } };

    for (;; last = at) {
        unsigned all = 0;
        size_t between;

        while (at < end && (between = terms_between(at, end, classes)) > 0)
            at += between;
        if (at == end)
            return true;
        for (start = at; at < end && terms_between(at, end, classes) == 0; at++)
            all |= classes[*at];
        memmove(joined.words + 1, joined.words,
                (TERMS_JOINED - 1) * sizeof *joined.words);
        joined.words[0] = terms_word_of(start, at, all == TERMS_ASCII);
        if (last != NULL && start == last + 1)
            joined.words[0].before = *last;
        if (!waiting_push(t, start, (size_t)(at - start))
            || (all == (TERMS_ASCII | TERMS_HIGH)
                && !terms_within(t, start, at))
            || (!t->apart && !terms_join_all(t, &joined)))
            return false;
    }
}

static bool terms_find_words(terms *t, unsigned char *text, size_t n)
{
    unsigned char classes[256];

    for (unsigned i = 0; i < 256; i++)
        classes[i] = (unsigned char)terms_class_of((unsigned char)i);
    forms_fold(text, text, n);
    return terms_words(t, text, n, classes) && waiting_flush(t);
}

/* ==== Lines and fields ================================================== */

static bool terms_find_lines(terms *t, const unsigned char *text, size_t n)
{
    const unsigned char *end = text + n, *newline;

    for (; text < end; text = newline + 1) {
        newline = memchr(text, '\n', (size_t)(end - text));
        newline = newline != NULL ? newline : end;
        if (!waiting_push(t, text, (size_t)(newline - text)))
            return false;
    }
    return waiting_flush(t);
}

static bool terms_blank(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool terms_find_fields(terms *t, const unsigned char *text, size_t n)
{
    const unsigned char *end = text + n, *start;

    while (text < end) {
        while (text < end && terms_blank(*text))
            text++;
        for (start = text; text < end && !terms_blank(*text); )
            text++;
        if (text > start && !waiting_push(t, start, (size_t)(text - start)))
            return false;
    }
    return waiting_flush(t);
}

/* ==== Trigrams ========================================================== */

/* Sets the bits of the text's trigrams, and lists them. Returns their number.
 */
static size_t terms_list_trigrams(terms *t, const unsigned char *text, size_t n)
{
    uint32_t window = 0;
    size_t found = 0, run = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t *word, bit;

        run = text[i] == '\n' || text[i] == '\0' ? 0 : run + 1;
        window = (window << 8 | text[i]) % TERMS_ALL;
        if (run < 3)
            continue;
        word = &t->seen[window / 64];
        bit = (uint64_t)1 << window % 64;
        t->trigrams[found] = window;
        found += (*word & bit) == 0;
        *word |= bit;
    }
    return found;
}

/* Hashes a part of the list, and clears its bits. */
static void terms_hash_trigrams(terms *t, const uint32_t *some, size_t n)
{
    unsigned char bytes[3 * TERMS_WAITING];

    for (size_t i = 0; i < n; i++) {
        bytes[3 * i] = (unsigned char)(some[i] >> 16);
        bytes[3 * i + 1] = (unsigned char)(some[i] >> 8);
        bytes[3 * i + 2] = (unsigned char)some[i];
        t->seen[some[i] / 64] = 0;
    }
    bly_hash_many(t->hashes + t->n, NULL, NULL,
                  &(bly_keys){ .n = n, .data = bytes, .width = 3 });
    t->n += n;
}

static bool terms_find_trigrams(terms *t, unsigned char *text, size_t n)
{
    size_t room = (n < TERMS_ALL ? n : TERMS_ALL) + 1, found;

    if (room > t->trigram_room) {
        if (!bytes_grow(&t->trigrams, room, sizeof *t->trigrams))
            return false;
        t->trigram_room = room;
    }
    forms_fold(text, text, n);
    found = terms_list_trigrams(t, text, n);
    if (!multiset_room(t, found))
        return false;
    for (size_t i = 0, some; i < found; i += some) {
        some = found - i < TERMS_WAITING ? found - i : TERMS_WAITING;
        terms_hash_trigrams(t, t->trigrams + i, some);
    }
    return true;
}

/* ==== All of them ======================================================= */

bool terms_open(terms *t, terms_rule rule, unsigned k)
{
    *t = (terms){ .rule = rule, .k = k };
    t->sequences.least = 1;
    if (rule == TERMS_TRIGRAMS)
        t->seen = calloc(TERMS_ALL / 64, sizeof *t->seen);
    return waiting_open(t)
        && (rule != TERMS_TRIGRAMS || t->seen != NULL);
}

void terms_close(terms *t)
{
    free(t->hashes);
    waiting_close(t);
    free(t->seen);
    free(t->trigrams);
    bytes_free(&t->sequences.name);
    bly_free(t->sequences.once);
    free(t->values.terms);
}

bool terms_find(terms *t, unsigned char *text, size_t n)
{
    waiting_clear(t);
    switch (t->rule) {
    case TERMS_TRIGRAMS:
        return terms_find_trigrams(t, text, n);
    case TERMS_KMERS:
        return kmers_all(t, text, n);
    default:
        return t->rule == TERMS_WORDS ? terms_find_words(t, text, n)
             : t->rule == TERMS_LINES ? terms_find_lines(t, text, n)
                                      : terms_find_fields(t, text, n);
    }
}

int terms_file(terms *t, text_reader *text, const char *path)
{
    if (terms_named(t->rule))
        values_begin(t, text, path);
    return text_open(text, path);
}

int terms_next(terms *t, text_reader *text, settings_part *part, int *error)
{
    text_block block;

    if (t->rule == TERMS_KMERS)
        return kmers_next(t, text, part, error);
    if (!text_next(text, &block, error))
        return 0;
    *part = (settings_part){ text->stamp, block.offset, block.n, block.lines,
                             block.binary, block.whole, false };
    if (terms_named(t->rule))
        *error = values_find(t, text, &block);
    else if (!terms_find(t, block.bytes, block.n))
        *error = ENOMEM;
    return *error == 0;
}
