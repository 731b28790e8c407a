/* levels.c - collects the levels of keys that lie within others, such as names
 * of domains. Their markers are added to a filter after the keys.
 */
#include "filters/filters.h"

void levels_note(cli_levels *levels, uint64_t form, const bly_key *keys,
                 size_t n)
{
    for (size_t i = 0; i < n; i++)
        levels->any[bly_nested_level(form, keys[i])] = true;
}

void levels_unite(cli_levels *into, const cli_levels *other)
{
    for (size_t i = 0; i < BLY_NESTED_LEVELS; i++)
        into->any[i] |= other->any[i];
}

size_t levels_markers(cli_markers *out, const cli_levels *levels)
{
    size_t n = 0;

    for (unsigned i = 0; i < BLY_NESTED_LEVELS; i++)
        if (levels->any[i]) {
            out->keys[n] = bly_nested_marker(out->rooms[n], i);
            n++;
        }
    return n;
}
