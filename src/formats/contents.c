/* contents.c - the list of the filters inside a file of another system, and
 * ranges of that file, for its readers (footer.c, stripes.c, table.c).
 */
#include "formats/contents.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/sizes.h"

enum { CONTENTS_FIRST = 16 };

bly_status contents_load(uint8_t **out, const contents_source *source,
                         uint64_t offset, uint64_t n)
{
    uint64_t end;
    if (!sizes_add(&end, offset, n) || end > source->bytes)
        return status_fail(BLY_ECORRUPT, "%" PRIu64 " bytes from byte %" PRIu64
                           " on lie outside the file, which has %" PRIu64 ": "
                           "it is damaged, or cut short: copy it again", n,
                           offset, source->bytes);
    *out = memory_raw(source->allocator, n);
    if (*out == NULL)
        return status_fail(BLY_ENOMEM, "out of memory: %" PRIu64 " bytes of "
                           "the file are needed", n);
    bly_status status = source->read(source->context, *out, offset, (size_t)n);
    if (status != BLY_OK)
        memory_release(source->allocator, *out, (size_t)n);
    return status;
}

static bly_status contents_grow(contents_list *list,
                                const contents_source *source)
{
    const bly_allocator *from = source->allocator;
    size_t room = list->room == 0 ? CONTENTS_FIRST : 2 * list->room;
    bly_contained *more;
    bly_status status = memory_allows(source->memory_limit, source->bytes,
                                      ((uint64_t)list->room + room)
                                      * sizeof *more + list->others);
    if (status != BLY_OK)
        return status;
    more = memory_raw(from, room * sizeof *more);
    if (more == NULL)
        return status_fail(BLY_ENOMEM, "out of memory: the file has more than "
                           "%zu filters", list->is.n);
    if (list->is.n > 0)
        memcpy(more, list->filters, list->is.n * sizeof *more);
    memory_release(from, list->filters, list->room * sizeof *more);
    list->is.filters = list->filters = more;
    list->room = room;
    return BLY_OK;
}

bly_status contents_add(contents_list *list, const bly_contained *one,
                        const contents_source *source)
{
    uint64_t more = one->part == 0 ? one->bytes : 0;
    if (more > source->bytes - list->listed)
        return status_fail(BLY_ECORRUPT, "its filters would have more bytes "
                           "than the file, which has %" PRIu64 ": it is "
                           "damaged: copy it again", source->bytes);
    bly_status status = list->is.n == list->room
                      ? contents_grow(list, source) : BLY_OK;
    if (status != BLY_OK)
        return status;
    list->filters[list->is.n++] = *one;
    list->listed += more;
    return BLY_OK;
}

void contents_release(contents_list *list, const bly_allocator *to)
{
    memory_release(to, list->filters, list->room * sizeof *list->filters);
    memory_release(to, list->names, list->names_room);
}
