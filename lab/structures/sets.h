/* sets.h - sets that store their keys, for comparison with filters.
 *
 * See lab.h, and essay.html beside this file. Each set has its own copies of
 * the keys, NUL-terminated texts: in one piece if possible, so that nothing is
 * larger than necessary.
 */
#ifndef SETS_H
#define SETS_H

#include <stdbool.h>
#include <stddef.h>

/* Texts, one after another in one piece of memory; where each begins, and where
 * the last one ends. */
typedef struct {
    char   *text;
    size_t *begin;
    size_t  n;
} sets_keys;

typedef struct {
    const char *name;
    void *(*build)(const sets_keys *keys);
    bool  (*has)(const void *set, char *key, size_t length);
    void  (*drop)(void *set);
} sets_kind;

/* The sets. The last one's build is NULL without Judy's arrays. */
enum { SETS_LIST, SETS_ARRAY, SETS_TREE, SETS_TRIE, SETS_TABLE, SETS_SPARSE,
       SETS_JUDY, SETS_KINDS };
extern const sets_kind sets_kinds[SETS_KINDS];

#endif /* SETS_H */
