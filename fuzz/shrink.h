/* shrink.h - shrinks a failing program of model.h, and prints it. */
#ifndef BLY_FUZZ_SHRINK_H
#define BLY_FUZZ_SHRINK_H

#include "model.h"

/* Drops instructions, one at a time, as long as the program fails; returns its
 * length. The report is that of the rest. Flags as in model_run. */
size_t shrink_program(uint8_t *program, size_t n, unsigned flags,
                      model_report *report);

/* Prints a program on stderr, as hex with an instruction per line and the
 * finding as a comment. `report` is that of its run. */
void shrink_print(const uint8_t *program, size_t n,
                  const model_report *report);

#endif /* BLY_FUZZ_SHRINK_H */
