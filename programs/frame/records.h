/* records.h - finds the ends of CSV records. */
#ifndef FRAME_RECORDS_H
#define FRAME_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The position of the next byte of CSV. */
typedef enum {
    RECORDS_START,              /* it begins a column                       */
    RECORDS_PLAIN,              /* outside quotes                           */
    RECORDS_QUOTED,             /* inside quotes                            */
    RECORDS_CLOSED,             /* after a closing quote                    */
    RECORDS_RETURN,             /* after a closing quote and a CR           */
    RECORDS_FAULT               /* after a closing quote and another byte   */
} records_state;

typedef struct {
    records_state state;
    int      separator;
    bool     quoted;            /* there was a quote                        */
    bool     stray;             /* and one within an unquoted column        */
    uint64_t lines;             /* newlines so far, those in quotes too     */
    uint64_t opened;            /* line of the last opening quote           */
} cli_records;

void records_begin(cli_records *records, int separator);

/* Scans more bytes. Returns how many of them are before the last end of a
 * record. Stops at a fault, which is in the line after records->lines. */
size_t records_scan(cli_records *records, const unsigned char *text, size_t n);

/* Finds the ends of records without a fault, as long as there is room for 64
 * more places. Returns their number. */
size_t records_ends(int separator, const unsigned char *text, size_t n,
                    size_t *ends, size_t most);

/* Finds them faster if each quote opens or closes a column or is doubled. */
size_t records_ends_even(const unsigned char *text, size_t n, size_t *ends,
                         size_t most);

#endif
