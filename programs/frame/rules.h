/* rules.h - options that exclude or need others. */
#ifndef FRAME_RULES_H
#define FRAME_RULES_H

#include "frame/tables.h"

#include <stdbool.h>
#include <stddef.h>

enum { RULES_MOST = 512 };      /* bytes of one list of options */

/* Returns whether two options exclude each other. */
bool rules_exclude(const cli_option *a, const cli_option *b);

/* Returns whether one of two options needs the other, or one of several. */
bool rules_need(const cli_option *one, const cli_option *other);

/* Appends "--a, --b or --c", with `last` before the last one: the options of
 * the command for which `related` is true beside `one`. */
void rules_list(const cli_command *command, const cli_option *one,
                bool related(const cli_option *, const cli_option *),
                const char *last, char *text, size_t room);

/* Writes the sentences "Excludes --a and --b. Needs --c or --d.", or "", of an
 * option of the command. */
void rules_text(const cli_command *command, const cli_option *option,
                char *text, size_t room);

#endif
