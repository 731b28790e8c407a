/* strange.h - counts lines that have no readable key: they are not JSON
 * objects, or not of the form of the keys. */
#ifndef FRAME_STRANGE_H
#define FRAME_STRANGE_H

#include "frame/lines.h"

#include <stdbool.h>

/* Adds the strange lines of a chunk that has been split. Called once for each
 * chunk, in their order. */
void strange_tally(cli_lines *lines, const cli_chunk *chunk);

/* Prints how many lines of the input were strange, and names the first one. An
 * input that is read several times gets one note. If no line is a JSON object,
 * only records that, for report_none. */
void strange_note(const cli_lines *lines);

/* Returns whether such a note said that a line has no key of the form. */
bool strange_lost(void);

#endif
