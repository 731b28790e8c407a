/* waiting.c - terms that wait to be hashed, many at once.
 *
 * A hash that occurred recently in the same text need not come again. A small
 * table, as large as a cache of the first level, remembers such hashes.
 */
#include "search/commands/search.h"

#include <stdlib.h>
#include <string.h>

enum { WAITING_RECENT = 1 << 12 };      /* 32 KiB                           */

bool waiting_open(terms *t)
{
    t->waiting = malloc(TERMS_WAITING * sizeof *t->waiting);
    t->recent = calloc(WAITING_RECENT, sizeof *t->recent);
    return t->waiting != NULL && t->recent != NULL;
}

void waiting_close(terms *t)
{
    free(t->waiting);
    free(t->recent);
}

void waiting_clear(terms *t)
{
    t->n = t->waits = 0;
    memset(t->recent, 0, WAITING_RECENT * sizeof *t->recent);
}

/* Hashes the pending terms that did not occur recently. 0 marks an empty slot
 * there, so that hash may be repeated. */
bool waiting_flush(terms *t)
{
    bly_keys keys = { .n = t->waits, .keys = t->waiting };
    uint64_t hashes[TERMS_WAITING], *recent;

    if (!multiset_room(t, t->waits))
        return false;
    bly_hash_many(hashes, NULL, NULL, &keys);
    for (size_t i = 0; i < t->waits; i++) {
        recent = &t->recent[hashes[i] % WAITING_RECENT];
        if (*recent != hashes[i] || hashes[i] == 0)
            t->hashes[t->n++] = hashes[i];
        *recent = hashes[i];
    }
    t->waits = 0;
    return true;
}

bool waiting_push(terms *t, const unsigned char *from, size_t n)
{
    t->waiting[t->waits++] = (bly_key){ from, n };
    return t->waits < TERMS_WAITING || waiting_flush(t);
}
