/* fuzz_member.c - any line, searched for any member (--json-field): a JSON
 * object by the grammar (strict.h) is recognised, and the value found lies in
 * the line or in the buffer. Does nothing without the module.
 */
#include "targets.h"

#include <stdlib.h>
#include <string.h>

#include "strict.h"
#include "frame/how.h"
#include "frame/members.h"

static bool member_ready(void)
{
    static enum { UNKNOWN, READY, MISSING } state;
    if (state == UNKNOWN)
        state = members_open() ? READY : MISSING;
    return state == READY;
}

static bool member_within(const void *from, size_t n, const bly_key *key)
{
    uintptr_t begin = (uintptr_t)from, at = (uintptr_t)key->data;
    return at >= begin && at - begin <= n && key->length <= n - (at - begin);
}

static bool member_object(const uint8_t *line, size_t n)
{
    size_t i = 0;
    while (i < n && memchr(" \t\r\n", line[i], 4) != NULL)
        i++;
    return i < n && line[i] == '{' && strict_json(line, n);
}

/* Returns whether the line is shallow enough for strict_json. */
static bool member_shallow(const uint8_t *line, size_t n)
{
    size_t brackets = 0;
    for (size_t i = 0; i < n; i++)
        brackets += line[i] == '[' || line[i] == '{';
    return brackets <= STRICT_DEEPEST;
}

static const char *member_find(const uint8_t *line, size_t n,
                               const char *name, void *room)
{
    const cli_how how = { .member = name };
    bly_key key = { NULL, 0 };
    cli_member found = members_key(&how, line, n, room, &key);
    if (found == CLI_NO_OBJECT && member_object(line, n))
        return "a JSON object is taken for none";
    if (found == CLI_MEMBER && member_shallow(line, n)
        && !member_object(line, n))
        return "a line that is not a JSON object has a key";
    return found == CLI_MEMBER && !member_within(line, n, &key)
           && !member_within(room, n, &key)
         ? "a value lies elsewhere than in the line" : NULL;
}

const char *fuzz_member(const uint8_t *bytes, size_t n)
{
    target_input in = { bytes, bytes + n };
    char name[33];
    size_t length = (size_t)target_take(&in, 1) % sizeof name, i = 0;
    for (; i < length; i++)
        name[i] = (char)target_take(&in, 1);
    name[i] = '\0';
    if (members_wrong(name) != NULL || !member_ready())
        return NULL;
    n = target_left(&in);
    uint8_t *line = calloc(1, n + CLI_MEMBER_PADDING), *room = malloc(n + 1);
    const char *found = NULL;
    if (line != NULL && room != NULL) {
        memcpy(line, in.at, n);
        found = member_find(line, n, name, room);
    }
    free(line);
    free(room);
    return found;
}
