/* model.h - a machine whose programs are byte strings: each runs a filter and
 * an exact set side by side and reports where they disagree.
 *
 * In the spirit of SQLite's tester of its bit vectors: any bytes are a program,
 * so a fuzzer can write it, a test can draw it, and a failure is stored as a
 * line of hex. The machine has two filters, A and B, with one plan, and an
 * exact set of keys for each.
 *
 *      byte 0        kind, its place in bly_kinds()
 *      byte 1        capacity, of a table of sixteen (0: not given)
 *      byte 2        rate, of a table of eight
 *      byte 3        hash function, of a table, the last one with a secret;
 *                    128 or more: BLY_SHARED
 *      byte 4        seed, one of two
 *      then          for each option of the kind: a byte; if it is 192 or
 *                    more, the option is given, and the next byte chooses its
 *                    value
 *      then          instructions: a byte, modulo their number, and operands,
 *                    as the functions model_op_… read them
 *
 * Programs that end early continue with zeros. A plan can take milliseconds, so
 * tables are small, and the empty filters of the latest heads are kept between
 * runs, which limits the machine to one thread. The law, checked at the end and
 * whenever an instruction asks: every key of the exact set is found.
 */
#ifndef BLY_FUZZ_MODEL_H
#define BLY_FUZZ_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MODEL_FILES = 1,    /* `file` saves and opens; otherwise it does nothing */
    MODEL_BUILD = 2,    /* `rebuild` calls bly_build, which takes time       */
    MODEL_PLANT = 4     /* `plant` breaks the filter and ends the program:   */
};                      /* the law must then be found broken, or this test   */
                        /* tests nothing                                     */

enum { MODEL_STARTS = 1024 };   /* instructions whose places are kept        */

typedef struct {
    uint64_t lost;              /* keys of the exact set not found           */
    uint64_t mismatches;        /* any other disagreement                    */
    uint64_t steps;             /* instructions run                          */
    uint64_t asked;             /* queries for keys that are present         */
    bool     planted;           /* a fault was planted                       */
    char     kind[192];         /* "standard:index=double"                   */
    char     first[1024];       /* the first finding, in words; or ""        */
    size_t   starts;            /* places in `start`                         */
    size_t   start[MODEL_STARTS];   /* where each instruction begins, and the
                                   last one ends                             */
} model_report;

/* Run a program. True: nothing was found. Not thread-safe. */
bool model_run(const uint8_t *program, size_t n, unsigned flags,
               model_report *report);

#endif /* BLY_FUZZ_MODEL_H */
