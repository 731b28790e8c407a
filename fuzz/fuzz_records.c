/* fuzz_records.c - the ends of CSV records, and their faults, are at the same
 * places whether bytes arrive singly, in pieces, or all at once, in blocks of
 * 64. (tests/programs/records.c has an independent parser.)
 */
#include "targets.h"

#include <string.h>
#include "frame/records.h"

enum { RECORDS_TEXT = 8192 };

static bool records_alike(const cli_records *a, const cli_records *b)
{
    if (a->state != b->state || a->lines != b->lines)
        return false;
    return a->state == RECORDS_FAULT
        || (a->quoted == b->quoted && a->stray == b->stray
            && (a->state != RECORDS_QUOTED || a->opened == b->opened));
}

/* Reads pieces of a fixed size, up to a fault; returns where the last record
 * ended. */
static size_t records_pieces(cli_records *r, int separator,
                             const unsigned char *text, size_t n, size_t piece)
{
    size_t last = 0;
    records_begin(r, separator);
    for (size_t at = 0; at < n && r->state != RECORDS_FAULT; at += piece) {
        size_t whole = records_scan(r, text + at,
                                    n - at < piece ? n - at : piece);
        last = whole > 0 ? at + whole : last;
    }
    return last;
}

/* For complete records without a fault: all ends, by blocks and byte by
 * byte. */
static const char *records_all_ends(int separator, const unsigned char *text,
                                    size_t n, bool stray)
{
    static size_t ends[RECORDS_TEXT + 64], even[RECORDS_TEXT + 64];
    size_t found = records_ends(separator, text, n, ends, RECORDS_TEXT + 64);
    size_t next = 0;
    cli_records r;
    records_begin(&r, separator);
    for (size_t i = 0; i < n; i++)
        if (records_scan(&r, text + i, 1) == 1
            && (next == found || ends[next++] != i))
            return "an end of a record is lost";
    if (next != found)
        return "there are more ends than records";
    if (!stray && (records_ends_even(text, n, even, RECORDS_TEXT + 64) != found
                   || memcmp(even, ends, found * sizeof *ends) != 0))
        return "records of even quotes end elsewhere";
    return NULL;
}

const char *fuzz_records(const uint8_t *bytes, size_t n)
{
    static const char separators[] = ",;\t|";
    target_input in = { bytes, bytes + n };
    int separator = separators[target_take(&in, 1) % 4];
    size_t piece = 1 + (size_t)target_take(&in, 1);
    size_t left = target_left(&in) < RECORDS_TEXT ? target_left(&in)
                                                  : RECORDS_TEXT;
    cli_records one, some, all;
    size_t last = records_pieces(&one, separator, in.at, left, 1);
    if (records_pieces(&some, separator, in.at, left, piece) != last
        || records_pieces(&all, separator, in.at, left, left + 1) != last)
        return "the last record ends elsewhere";
    if (!records_alike(&one, &some) || !records_alike(&one, &all))
        return "what the records have is told otherwise";
    return one.state == RECORDS_FAULT
         ? NULL : records_all_ends(separator, in.at, last, one.stray);
}
