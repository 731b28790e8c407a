/* members.h - the value of a member of a line that is a JSON object. */
#ifndef FRAME_MEMBERS_H
#define FRAME_MEMBERS_H

#include <bloomery.h>

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_how cli_how;

/* The result of looking for a line's key. An empty line is CLI_NO_OBJECT. */
typedef enum { CLI_MEMBER, CLI_NO_MEMBER, CLI_NO_OBJECT } cli_member;

enum { CLI_MEMBER_PADDING = 64 };

/* Returns what is wrong with the name of a member, as numbers.h does. */
const char *members_wrong(const char *name);

/* Loads the module that parses JSON. Returns false, after an error message, if
 * it is missing. */
bool members_open(void);

/* Makes the key that the text of a value stands for, unless it is an object or
 * an array. The key is in the text or in `room`, which is as large as the text
 * and may be at the same place. */
cli_member members_value(const char *text, size_t length, void *room,
                         bly_key *key);

/* Finds the member how->member of a line. The key is in the line or in `room`,
 * which is as large. CLI_MEMBER_PADDING bytes after the line must be
 * readable. */
cli_member members_key(const cli_how *how, const unsigned char *line,
                       size_t length, void *room, bly_key *key);

/* Returns the text of the value of how->member in a line where members_key has
 * found it, with its quotes. */
bly_key members_place(const cli_how *how, const unsigned char *line,
                      size_t length);

/* Returns whether the object on a line has a member of this name. */
bool members_named(const char *name, bly_key line);

/* Writes what to check in a line that lacks the member how->member, and the
 * members that it has. Returns false if it has none. */
bool members_advise(const cli_how *how, bly_key line, char *text, size_t room);

#endif
