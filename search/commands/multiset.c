/* multiset.c - hashes of terms in an array. */
#include "search/commands/search.h"
#include "frame/sort.h"

#include <math.h>

bool multiset_room(terms *t, size_t more)
{
    size_t room = 2 * (t->n + more);

    if (t->room - t->n >= more)
        return true;
    if (!bytes_grow(&t->hashes, room, sizeof *t->hashes))
        return false;
    t->room = room;
    return true;
}

size_t multiset_sift(uint64_t *hashes, size_t n, size_t least, size_t most)
{
    size_t kept = 0;

    sort_words(hashes, n, 64, 0);
    for (size_t i = 0, same; i < n; i += same) {
        const uint64_t hash = hashes[i];

        for (same = 1; i + same < n && hashes[i + same] == hash; )
            same++;
        for (size_t j = 0; same >= least && j < same && j < most; j++)
            hashes[kept++] = hash;
    }
    return kept;
}

size_t multiset_share(double share, size_t n)
{
    return share < 0 ? n : (size_t)fmax(1, ceil(share * (double)n - 1e-9));
}
