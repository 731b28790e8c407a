/* module.h - the interface between members.c and simdjson.cpp, the module that
 * parses JSON. Both include it, so it is plain C. */
#ifndef FRAME_MODULE_H
#define FRAME_MODULE_H

#include <stddef.h>

/* The result of a search for a member. */
typedef enum {
    MEMBERS_FOUND,
    MEMBERS_NONE,               /* the object has no such member            */
    MEMBERS_BLANK,              /* the line has blanks only                 */
    MEMBERS_UNFIT,              /* the line is not a JSON object            */
    MEMBERS_NO_MEMORY
} members_status;

/* Bytes of a line, or of its members. */
typedef struct {
    const char *at;
    size_t      length;
} members_text;

/* Returns whether the text between the quotes of a name means this NAME or, if
 * `pointer` is set, this part of a JSON pointer. */
typedef int members_same(members_text quoted, members_text name, int pointer);

/* So many bytes after a line are readable, whatever they hold. */
enum { MEMBERS_PADDING = 64 };

/* The functions of the module. They are thread-safe. */
typedef struct {
    /* Finds the text of the member NAME of the line, as it stands there, if it
     * is not an object or an array. Of equal names the last one counts. */
    members_status (*find)(members_text line, members_text name,
                           members_same *same, members_text *value);

    /* Calls `each` with the names of the line's members, as they stand between
     * their quotes, until it returns 0. */
    void (*list)(members_text line, int (*each)(void *to, members_text quoted),
                 void *to);
} members_functions;

/* The module's members_functions, by a name that changes when this file does.
 */
#define MEMBERS_SYMBOL "bloomery_json_2"

#endif
