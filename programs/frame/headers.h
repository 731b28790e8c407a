/* headers.h - the first line of a file that names its columns. */
#ifndef FRAME_HEADERS_H
#define FRAME_HEADERS_H

#include "frame/lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Requires that all headers are like the first. */
void headers_alike(cli_lines *lines);

/* Requires that too, and has work_run print the first header after `words`,
 * such as "count\t". */
void headers_print(cli_lines *lines, const char *words);

/* Prints the header if it is due: before this chunk, or, if it is NULL, at the
 * end. Returns false if output has failed. */
bool headers_title(cli_lines *lines, const cli_chunk *chunk);

/* Removes the header from the first chunk of a file, and looks up the named
 * columns in it. Returns 0, or the error. */
int headers_take(cli_lines *lines, cli_chunk *chunk);

/* Returns the number of newlines in the text. */
uint64_t headers_newlines(const unsigned char *text, size_t n);

#endif
