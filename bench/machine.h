/* machine.h - the origin of a run's numbers. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <bloomery.h>

#include <stdio.h>

/* Prints the processor, how the library uses it, its cores, the memory, the
 * library's version. */
void machine_print(const bly_processor_t *used);

/* Writes the same, with the compiler, the date, the commit, and the printed
 * column of each number, "median" or "least", in lines "# name: value", for
 * tools/bench/diff. */
void machine_write_head(FILE *csv, const bly_processor_t *used,
                        const char *commit, const char *statistic);

#endif /* BENCH_MACHINE_H */
