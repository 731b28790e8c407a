/* list.c - reads a JSON array of keys, one key at a time.
 *
 * A key is a string, which stands for its decoded bytes, or a number, true or
 * false, which stand for their text. null, objects and arrays are refused, so
 * nothing nests. Strings with escapes are decoded in place. Bytes that are not
 * valid UTF-8 are accepted as they are.
 */
#include "bloomery/serve/serve.h"
#include "frame/members.h"

#include <string.h>

/* Returns the next byte that is not blank; 0 at the end. */
static unsigned char list_peek(serve_list *l)
{
    while (l->at < l->end && (*l->at == ' ' || *l->at == '\t'
                              || *l->at == '\n' || *l->at == '\r'))
        l->at++;
    return l->at < l->end ? *l->at : 0;
}

/* Moves past the closing quote. JSON requires control bytes to be escaped. */
static void list_string(serve_list *l)
{
    for (l->at++; l->at < l->end && *l->at >= ' '; l->at++) {
        if (*l->at == '"') {
            l->at++;
            return;
        }
        if (*l->at == '\\' && l->at + 1 < l->end)
            l->at++;
    }
}

static void list_word(serve_list *l)
{
    while (l->at < l->end && strchr(" \t\n\r,]", *l->at) == NULL)
        l->at++;
}

static list_step list_key(serve_list *l, bly_key *key)
{
    unsigned char first = list_peek(l), *text = l->at;

    if (first == '"')
        list_string(l);
    else
        list_word(l);
    return l->at > text
        && members_value((const char *)text, (size_t)(l->at - text), text, key)
           == CLI_MEMBER ? LIST_KEY : LIST_WRONG;
}

/* Handles the closing bracket. */
static list_step list_close(serve_list *l)
{
    l->at++;
    list_peek(l);
    return l->at == l->end ? LIST_END : LIST_WRONG;
}

list_step list_next(serve_list *l, bly_key *key)
{
    if (list_peek(l) == ']' && l->begun)
        return list_close(l);
    if (list_peek(l) != (l->begun ? ',' : '['))
        return LIST_WRONG;
    l->at++;
    if (!l->begun && list_peek(l) == ']')
        return list_close(l);
    l->begun = true;
    return list_key(l, key);
}
