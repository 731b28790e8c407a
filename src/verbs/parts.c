/* parts.c - support for programs that divide a filter among processes.
 *
 * bly_save_parts, which writes files, is in src/io/save.c.
 */
#include "bloomery/parts.h"

#include "base/status.h"
#include "verbs/handle.h"

bly_status bly_places(const bly_filter *filter, const uint64_t *hashes,
                      size_t n, uint64_t *places, size_t *bytes)
{
    const bly_kind *kind = filter->kind;
    if (kind->places != NULL) {
        kind->places(filter->image, hashes, n, places, bytes);
        return BLY_OK;
    }
    if (kind->pages == NULL)
        return status_fail(BLY_EUNSUPPORTED, "kind %s sets bits all over its "
                           "image for a key: choose one with the ability "
                           "\"local\", such as blocked", kind->name);
    *bytes = kind->pages->bytes(filter->image);
    kind->pages->place(filter->image, hashes, n, places);
    for (size_t i = 0; i < n; i++)
        places[i] = (places[i] + 1) * *bytes;
    return BLY_OK;
}

const void *bly_raw(const bly_filter *filter, size_t *bytes)
{
    if (handle_here(filter, "shown as one image") != BLY_OK)
        return NULL;
    if (bytes != NULL)
        *bytes = filter->bytes;
    return filter->image;
}

bly_status bly_set_items(bly_filter *filter, uint64_t items)
{
    bly_status status = handle_here(filter, "given a number of adds");
    if (status == BLY_OK)
        status = handle_begin(filter);
    if (status == BLY_OK)
        filter->items = items;
    return status;
}
