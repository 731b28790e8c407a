/* packer.h - compresses what is written to a file. */
#ifndef FRAME_PACKER_H
#define FRAME_PACKER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_packer cli_packer;

/* Writes bytes. Returns false after an error. */
typedef bool packer_sink(const char *bytes, size_t n);

/* Returns whether a file of this name is to be compressed: .gz or .zst. */
bool packer_serves(const char *path);

/* Returns a packer for the format that the name of a file ends with, or NULL if
 * memory is short. */
cli_packer *packer_new(const char *path);

/* Compresses bytes; or all that is left, and the end of the format. Return
 * false after an error of the sink or for lack of memory. */
bool packer_put(cli_packer *packer, const char *bytes, size_t n,
                packer_sink *sink);
bool packer_end(cli_packer *packer, packer_sink *sink);

void packer_free(cli_packer *packer);

#endif
