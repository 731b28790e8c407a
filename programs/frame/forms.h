/* forms.h - chooses the form by which keys are made from lines. */
#ifndef FRAME_FORMS_H
#define FRAME_FORMS_H

#include "frame/report.h"
#include "frame/tables.h"

#include <bloomery/nested.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cli_how cli_how;

/* Reads the name of a class, BLY_KEYS_…. Returns an error as numbers.h does. */
const char *forms_read(const char *text, uint64_t *out);

/* Returns whether keys of the class are text, which options can change. */
bool forms_is_text(uint64_t class);

/* The value of `as` without --as. */
#define FORMS_UNSAID UINT64_MAX

/* Returns the text of a form, for messages. */
cli_text forms_name(uint64_t form);

/* Chooses the form for a new filter, or without a filter, from the options. */
void forms_choose(cli_how *how);

/* Refuses keys that lie within others, for a command that would miss what they
 * lie within. `where` is an option or a file. Returns CLI_ERROR. */
int forms_no_nesting(const char *where, uint64_t form);

/* Verifies that keys of the form can be made. CLI_GO, or CLI_ERROR if the
 * library was built without a dependency of the form. */
int forms_can(uint64_t form);

/* Chooses the form for querying or changing the filter in the file `path`,
 * whose keys have `form`: that form or, if it is not stated, the form from the
 * options. CLI_GO; CLI_ERROR if an option contradicts the form. */
int forms_follow(cli_how *how, uint64_t form, const char *path);

/* Merges the form of the file `other` into *into, the form of the file `path`.
 * With `assume`, a form that is not stated counts as the other one. CLI_GO;
 * CLI_ERROR if the forms differ. */
int forms_join(uint64_t *into, const char *path, uint64_t form,
               const char *other, bool assume);

#define CLI_ASSUME_OPTION(settings, assume)                                   \
    { 0, "assume-form", NULL, CLI_FLAG, offsetof(settings, assume), false,    \
      "Assume that filters that do not state the form of their keys have "    \
      "the form of the others. Without it, they can be used only together.",  \
      .group = CLI_KEYS }

/* Returns what to check if lines cannot be read by the form. */
const char *forms_advice(uint64_t form);

/* Returns whether the form changes the bytes of a text. */
bool forms_changes(uint64_t form);

/* Returns the most bytes of a key per byte of its line and line ending. */
size_t forms_times(uint64_t form);

/* Makes the key of a written value, at `to` or in place. The data of the result
 * is NULL if the value cannot be read by the form. */
bly_key forms_key(uint64_t form, bly_key written, unsigned char *to);

/* Copies n bytes, and changes A to Z into a to z. `to` may be `from`. */
void forms_fold(unsigned char *to, const unsigned char *from, size_t n);

/* Stores a number as 8 bytes, the lowest first, and loads it. */
void forms_store(unsigned char to[8], uint64_t value);
uint64_t forms_load(const unsigned char from[8]);

#endif
