/* mistakes.h - finds input that the options probably misread. */
#ifndef FRAME_MISTAKES_H
#define FRAME_MISTAKES_H

#include "frame/lines.h"

#include <stdbool.h>

/* Checks the first lines of a file: sets chunk->mistake. */
void mistakes_look(const cli_lines *lines, cli_chunk *chunk);

/* Prints a note about chunk->mistake, once for each kind. Not thread-safe. */
void mistakes_note(const cli_chunk *chunk);

/* Returns whether the chunk is from a CSV file with columns in quotes, but
 * options cut it at each separator. chunk->why is then the error message. */
bool mistakes_are_columns(const cli_lines *lines, cli_chunk *chunk);

#endif
