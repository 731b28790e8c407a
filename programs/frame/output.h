/* output.h - standard output through one buffer, with no error lost. */
#ifndef FRAME_OUTPUT_H
#define FRAME_OUTPUT_H

#include "frame/report.h"

#include <stdbool.h>
#include <stddef.h>

/* Write to stdout. Return false after the first error and drop the data that
 * follows; output_finish reports the error. */
bool output_bytes(const void *data, size_t n);
bool output_text(const char *text);
bool output_format(const char *format, ...) CLI_PRINTF(1, 2);
bool output_flush(void);
bool output_failed(void);

/* Writes whole lines. If the last one lacks its terminator, *unended is set,
 * and the next call starts a new line. */
bool output_lines(const void *data, size_t n, char terminator, bool *unended);

/* Verifies that stdout is none of these inputs (stdin if n is 0): lines
 * appended to an input would be read again. CLI_GO or CLI_ERROR. */
int output_check_inputs(char *const *paths, size_t n);

/* Returns whether both names lead to the same file. */
bool output_same(const char *a, const char *b);

/* Makes a closed pipe an error of output until output_finish, so that it does
 * not end the program in the middle of its work. */
void output_start(void);

/* Redirects output to this file until output_close, which replaces the file
 * atomically; if `status` is CLI_ERROR, the file stays as it was. Devices and
 * pipes are written directly. "-" and NULL are standard output. output_open
 * returns CLI_GO or CLI_ERROR, output_close the status. */
int output_open(const char *path);
int output_close(int status);

/* Like output_open, and compresses the file if its name ends in .gz or .zst. */
int output_open_packed(const char *path);

/* Drops all output until output_close. */
void output_drop(void);

/* Redirects output to memory until output_kept. Returns false if memory is
 * short or output has failed. */
bool output_keep(void);

/* Returns the bytes since output_keep, from malloc, or NULL if memory was too
 * short. */
char *output_kept(size_t *n);

/* Flushes and closes stdout. Returns `status`, or CLI_ERROR if stdout failed.
 * If it is a pipe without a reader, the program dies of SIGPIPE, unless that
 * was ignored at the start. */
int output_finish(int status);

#endif
