/* machine.h - what the numbers of a run are of.
 *
 * Floor 8: a part of bench and of tune.
 */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <bloomery.h>

#include <stdio.h>

/* The processor, how the library uses it, its cores, the memory, the library's
 * version. */
void machine_print(const bly_processor_t *used);

/* The same and the compiler, the date, the commit, and which of a number's
 * columns, "median" or "least", is the one that was printed: in lines
 * "# name: value", for tools/bench/diff. */
void machine_write_head(FILE *csv, const bly_processor_t *used,
                        const char *commit, const char *statistic);

#endif /* BENCH_MACHINE_H */
