/* shrink.h - makes a program of model.h that fails as short as it can, and
 * prints it to be read and kept.
 */
#ifndef BLY_FUZZ_SHRINK_H
#define BLY_FUZZ_SHRINK_H

#include "model.h"

/* Leave out instructions, one at a time, as long as the program fails; its
 * length then. The report is that of what is left. Flags as in model_run. */
size_t shrink_program(uint8_t *program, size_t n, unsigned flags,
                      model_report *report);

/* Print a program on stderr, as hex with an instruction a line; a comment says
 * what was found. `report` is that of its run. */
void shrink_print(const uint8_t *program, size_t n,
                  const model_report *report);

#endif /* BLY_FUZZ_SHRINK_H */
