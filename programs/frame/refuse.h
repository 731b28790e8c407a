/* refuse.h - reports why a file could not be read, and what to do about it. */
#ifndef FRAME_REFUSE_H
#define FRAME_REFUSE_H

#include "frame/lines.h"
#include "frame/report.h"

/* Report why a file, or the file of a chunk, could not be read; `error` is an
 * errno or a source_error. Return CLI_ERROR. */
int refuse_file(const char *path, int error);
int refuse_chunk(const cli_chunk *chunk);

/* Keeps a message in the chunk until its turn. Returns the chunk's error. */
int refuse_later(cli_chunk *chunk, const char *format, ...) CLI_PRINTF(2, 3);

/* A path in quotes, cut so that a message has room for the rest. */
typedef struct { char text[260]; } cli_short_path;
cli_short_path refuse_path(const char *path);

#endif
