/* measure.h - the size of the input, before it is read. */
#ifndef FRAME_MEASURE_H
#define FRAME_MEASURE_H

#include "frame/lines.h"

#include <stdint.h>

/* Returns CLI_OK if all of the input can be read twice, CLI_NONE if not, and
 * CLI_ERROR, after a message, if a file is missing or is a folder. *total is
 * the number of bytes, or 0 if it is unknown, as for compressed files. */
int measure_input(const cli_lines *lines, uint64_t *total);

/* Returns the bytes of the files that are compressed, before decompressing. */
uint64_t measure_compressed(const cli_lines *lines);

/* Returns the number of bytes for a progress bar, 0 if it is unknown, without a
 * message. */
uint64_t measure_progress(const cli_lines *lines);

#endif
