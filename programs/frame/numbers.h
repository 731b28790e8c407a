/* numbers.h - numbers as people write them on a command line. */
#ifndef FRAME_NUMBERS_H
#define FRAME_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/* Read a value from text. Return NULL, or what is wrong with the text and what
 * to do about it: the end of a sentence that begins with the text. */
const char *numbers_items(const char *text, uint64_t *out);
const char *numbers_number(const char *text, uint64_t *out);
const char *numbers_lines(const char *text, uint64_t *out);
const char *numbers_rate(const char *text, double *out);
const char *numbers_share(const char *text, double *out);
const char *numbers_size(const char *text, uint64_t *out);
const char *numbers_seed(const char *text, uint64_t *out);
const char *numbers_byte(const char *text, int *out);

/* Reads a number from a file, whose text does not end in NUL. */
const char *numbers_label(const char *text, size_t length, uint64_t *out);

/* Writes 16 hexadecimal digits and a NUL. */
void numbers_hex(char text[17], uint64_t value);

#endif
