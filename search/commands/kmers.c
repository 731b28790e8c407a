/* kmers.c - finds the k-mers of FASTA and FASTQ files.
 *
 *      >name of a record              @name of a record
 *      ACGTACGTAC                     ACGTACGTAC
 *      GTTA                           +
 *      >another one                   IIIIIIIIII
 *
 * The first byte of a file says which format it has; other files are refused. A
 * text that is asked for needs no header. A k-mer is k letters A, C, G and T in
 * a row within a record, or U for T, in upper or lower case. As a number it has
 * two bits for each base. The term is the smaller number of it and its reverse
 * complement.
 *
 * Bytes come in blocks that may end anywhere, so that neither a chromosome nor
 * its lines need to be in memory. The hashes do: whenever their array is full,
 * they are sorted and freed of repeats.
 *
 * RARE K-MERS
 *
 * A wrong base in a read makes k k-mers that occur nowhere else. To leave out
 * the k-mers that occur fewer than N times, a filter records those that have
 * occurred, and only a k-mer that is there already reaches the array. The array
 * keeps N - 1 of equal ones, and in the end a k-mer stays if it has as many. A
 * filter has no false negatives, so each k-mer that occurs N times stays. At
 * most the share KMERS_RATE of those that occur N - 1 times stay as well: each
 * is let through by mistake when it comes first. N = 2 takes about 2 bytes for
 * each different k-mer of the reads and 8 to 32 for each that stays.
 */
#include "search/commands/search.h"

#include <errno.h>
#include <string.h>

enum {
    KMERS_ROOM = 1 << 23,               /* hashes before they are sorted     */
    KMERS_EXPECTED = 1 << 20,           /* k-mers of a file; it may have more */
    KMERS_CR = 5
};
static const double KMERS_RATE = 0.01;

/* ==== Hashes ============================================================ */

/* Returns how many of equal hashes are of use. */
static size_t kmers_most(const terms *t)
{
    return t->sequences.least > 2 ? (size_t)t->sequences.least - 1 : 1;
}

/* Makes room for a batch, if possible by removing repeats. */
static bool kmers_room(terms *t)
{
    if (t->room - t->n >= KMERS_WAITING)
        return true;
    if (t->room >= KMERS_ROOM)
        t->n = multiset_sift(t->hashes, t->n, 1, kmers_most(t));
    return multiset_room(t, KMERS_WAITING + (t->n > t->room / 2
                                          ? t->room - t->n : 0));
}

/* Hashes the pending k-mers, and keeps those that may be frequent enough. */
static bool kmers_flush(terms *t)
{
    kmers_reader *r = &t->sequences;
    bly_keys keys = { .n = r->waits, .data = r->waiting, .width = 8 };
    bool seen[KMERS_WAITING];
    uint64_t *hashes;
    size_t kept = 0;

    if (!kmers_room(t))
        return false;
    hashes = t->hashes + t->n;
    bly_hash_many(hashes, NULL, NULL, &keys);
    if (r->least > 1
        && bly_add_hashes(r->once, hashes, r->waits, seen, NULL) < 0)
        return false;
    for (size_t i = 0; i < r->waits; i++)
        if (r->least == 1 || seen[i])
            hashes[kept++] = hashes[i];
    t->n += kept;
    r->waits = 0;
    return true;
}

/* ==== Bases ============================================================= */

/* 1 to 4 for A, C, G, and T or U. */
static const unsigned char kmers_bases[256] = {
    ['A'] = 1, ['C'] = 2, ['G'] = 3, ['T'] = 4, ['U'] = 4,
    ['a'] = 1, ['c'] = 2, ['g'] = 3, ['t'] = 4, ['u'] = 4, ['\r'] = KMERS_CR
};

/* Adds bases to both strands; the other one is read backwards. */
static bool kmers_add(terms *t, const unsigned char *at,
                      const unsigned char *end)
{
    kmers_reader *r = &t->sequences;
    const uint64_t mask = ((uint64_t)1 << 2 * t->k) - 1;

    for (; at < end; at++) {
        uint64_t base = kmers_bases[*at];

        if (base == KMERS_CR)
            continue;
        r->bases++;
        if (base == 0) {
            r->run = 0;
            continue;
        }
        r->strand = (r->strand << 2 | (base - 1)) & mask;
        r->other = r->other >> 2 | (4 - base) << 2 * (t->k - 1);
        if (++r->run < t->k)
            continue;
        forms_store(r->waiting + 8 * r->waits,
                    r->strand < r->other ? r->strand : r->other);
        if (++r->waits == KMERS_WAITING && !kmers_flush(t))
            return false;
    }
    return true;
}

/* ==== Lines ============================================================= */

static kmers_line kmers_wrong(kmers_reader *r, const char *why)
{
    r->broken = why;
    return KMERS_NONE;
}

static kmers_line kmers_fastq(kmers_reader *r, unsigned char first)
{
    switch (r->kind) {
    case KMERS_HEADER:
        return KMERS_BASES;
    case KMERS_BASES:
        return first == '+' ? KMERS_PLUS
             : kmers_wrong(r, "does not begin with '+': a record of FASTQ has "
                              "four lines");
    case KMERS_PLUS:
        return KMERS_QUALITY;
    default:
        return first == '@' ? KMERS_HEADER
             : first == '\n' || first == '\r' ? KMERS_NONE
             : kmers_wrong(r, "does not begin with '@': a record of FASTQ has "
                              "four lines");
    }
}

static kmers_line kmers_fasta(kmers_reader *r, unsigned char first)
{
    if (first == '>')
        return KMERS_HEADER;
    if (first == '\n' || first == '\r')
        return KMERS_NONE;
    if (first == '@' || first == '+')
        return kmers_wrong(r, "belongs to FASTQ, but the file does not begin "
                              "with '@'");
    return KMERS_BASES;
}

/* Begins a line, of which this is the first byte, or its newline. */
static void kmers_line_begin(kmers_reader *r, unsigned char first)
{
    r->line++;
    r->within = true;
    if (!r->known) {
        r->fastq = first == '@';
        r->known = first != '\n' && first != '\r';
        if (r->known && !r->fastq && first != '>' && !r->plain)
            r->broken = "begins with neither '>' (FASTA) nor '@' (FASTQ)";
    }
    r->kind = r->fastq ? kmers_fastq(r, first) : kmers_fasta(r, first);
    r->open |= r->kind != KMERS_NONE;
    if (r->kind != KMERS_HEADER)
        return;
    bytes_done(&r->name, bytes_waiting(&r->name));
    r->nameless = !r->named;
    r->bases = r->quality = 0;
    r->run = 0;
}

/* Reads a part of a header: the name ends at a blank. */
static bool kmers_name(kmers_reader *r, const unsigned char *at,
                       const unsigned char *end)
{
    const unsigned char *stop = at;

    while (stop < end && *stop > ' ')
        stop++;
    if (r->nameless)
        return true;
    r->nameless = stop < end;
    return bytes_put(&r->name, at, (size_t)(stop - at));
}

/* Reads a part of a line. */
static bool kmers_part(terms *t, const unsigned char *at,
                       const unsigned char *end)
{
    kmers_reader *r = &t->sequences;

    if (r->kind == KMERS_BASES)
        return kmers_add(t, at, end);
    if (r->kind == KMERS_HEADER)
        return kmers_name(r, at, end);
    for (; r->kind == KMERS_QUALITY && at < end; at++)
        r->quality += *at != '\r';
    return true;
}

/* ==== Records =========================================================== */

/* Ends the record. */
static kmers_result kmers_close(terms *t)
{
    kmers_reader *r = &t->sequences;

    if (r->fastq && r->bases != r->quality) {
        r->broken = "has a quality of another length than the sequence";
        return KMERS_BROKEN;
    }
    r->open = false;
    r->run = 0;
    return kmers_flush(t) ? KMERS_RECORD : KMERS_MEMORY;
}

bool kmers_begin(terms *t)
{
    kmers_reader *r = &t->sequences;
    const bly_spec spec = { .capacity = KMERS_EXPECTED, .rate = KMERS_RATE };

    t->n = 0;
    bytes_done(&r->name, bytes_waiting(&r->name));
    r->line = r->bases = r->quality = 0;
    r->waits = r->run = 0;
    r->broken = NULL;
    r->kind = KMERS_NONE;
    r->within = r->fastq = r->known = r->open = r->plain = false;
    bly_free(r->once);
    r->once = NULL;
    return r->least == 1
        || bly_new(&r->once, "scalable:of=blocked", &spec) >= 0;
}

kmers_result kmers_read(terms *t, const unsigned char **at,
                        const unsigned char *end)
{
    kmers_reader *r = &t->sequences;

    while (*at < end) {
        const unsigned char *newline = memchr(*at, '\n', (size_t)(end - *at));
        const unsigned char *stop = newline != NULL ? newline : end;

        if (!r->within) {
            if (!r->fastq && r->open && **at == '>')
                return kmers_close(t);
            kmers_line_begin(r, **at);
            *at += r->kind == KMERS_HEADER;     /* '>' or '@'               */
        }
        if (r->broken != NULL)
            return KMERS_BROKEN;
        if (!kmers_part(t, *at, stop))
            return KMERS_MEMORY;
        r->within = newline == NULL;
        *at = stop + !r->within;
        if (r->kind == KMERS_QUALITY && !r->within)
            return kmers_close(t);
    }
    return KMERS_MORE;
}

kmers_result kmers_end(terms *t)
{
    kmers_reader *r = &t->sequences;

    if (!r->open)
        return KMERS_MORE;
    /* The quality of an empty sequence may be an empty line, not begun yet. */
    if (r->fastq && r->kind != KMERS_QUALITY
        && !(r->kind == KMERS_PLUS && r->bases == 0)) {
        r->broken = "is the last, but a record of FASTQ has four lines";
        return KMERS_BROKEN;
    }
    return kmers_close(t);
}

int kmers_error(kmers_result result)
{
    return result == KMERS_BROKEN ? EBADMSG
         : result == KMERS_MEMORY ? ENOMEM : 0;
}

/* ==== Files and texts =================================================== */

/* Reads a block of a file. Returns 0 or an error. */
static int kmers_block(terms *t, const text_block *block)
{
    const unsigned char *at = block->bytes, *end = at + block->n;
    kmers_result result = KMERS_RECORD;

    while (result == KMERS_RECORD)
        result = kmers_read(t, &at, end);
    return kmers_error(result);
}

int kmers_next(terms *t, text_reader *text, settings_part *part, int *error)
{
    text_block block;

    *error = 0;
    if (text->begun)
        return 0;
    if (!kmers_begin(t))
        *error = ENOMEM;
    *part = (settings_part){ .stamp = text->stamp, .whole = true };
    while (*error == 0 && text_next(text, &block, error)) {
        part->length += block.n;
        part->binary |= block.binary;
        *error = kmers_block(t, &block);
    }
    if (*error == 0)
        *error = kmers_error(kmers_end(t));
    if (t->sequences.least > 2 || t->n > KMERS_ROOM)
        t->n = multiset_sift(t->hashes, t->n, kmers_most(t), 1);
    return *error == 0;
}

bool kmers_all(terms *t, const unsigned char *text, size_t n)
{
    const unsigned char *end = text + n;
    kmers_result result = kmers_begin(t) ? KMERS_RECORD : KMERS_MEMORY;

    t->sequences.plain = true;
    while (result == KMERS_RECORD)
        result = kmers_read(t, &text, end);
    if (result == KMERS_MORE)
        result = kmers_end(t);
    if (result == KMERS_BROKEN)
        t->n = 0;
    return result != KMERS_MEMORY;
}
