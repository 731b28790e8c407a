/* json.h - writes JSON. */
#ifndef FRAME_JSON_H
#define FRAME_JSON_H

#include "frame/bytes.h"

#include <bloomery/fields.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Appends a JSON string to `to`. Returns false if memory is short. */
bool json_quote(cli_bytes *to, const void *text, size_t n);

/* Write one document at a time to stdout. `key` is NULL inside an array and for
 * the outermost value. */
void json_open_object(const char *key);
void json_close_object(void);
void json_open_array(const char *key);
void json_close_array(void);
void json_string(const char *key, const char *text);    /* NULL -> null    */
void json_count(const char *key, uint64_t n);
void json_real(const char *key, double x);              /* NaN, inf -> null */
void json_bool(const char *key, bool yes);

/* Writes a field: a visitor for <bloomery/fields.h>. Its context is unused. */
bool json_field(void *unused, const bly_field *field);

/* Writes the range of the labels, unless `bits` is 0. */
void json_labels(uint32_t bits, uint64_t least, uint64_t most);

#endif
