/* contents.c - what is inside files of other systems that carry filters.
 *
 * Floor 5.
 */
#include "formats/contents.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/sizes.h"
#include "image/image.h"

enum { CONTENTS_TAIL = 8, CONTENTS_FIRST = 16 };

uint64_t contents_magic(const uint8_t *tail, size_t n)
{
    return image_u64(tail, n - CONTENTS_TAIL);
}

const char *contents_recognise(const uint8_t *tail, size_t n)
{
    if (n < CONTENTS_TAIL)
        return NULL;
    const uint8_t *last = tail + n - strlen(FOOTER_MAGIC);
    uint64_t magic = contents_magic(tail, n);
    return memcmp(last, FOOTER_MAGIC, strlen(FOOTER_MAGIC)) == 0
        || memcmp(last, FOOTER_MAGIC_SECRET, strlen(FOOTER_MAGIC)) == 0
         ? "parquet"
         : magic == TABLE_MAGIC_LEVELDB ? "leveldb"
         : magic == TABLE_MAGIC_ROCKSDB ? "rocksdb" : NULL;
}

const char *bly_container_recognise(const void *tail, size_t n)
{
    return contents_recognise(tail, n);
}

bly_status contents_load(uint8_t **out, const contents_source *source,
                         uint64_t offset, uint64_t n)
{
    uint64_t end;
    if (!sizes_add(&end, offset, n) || end > source->bytes)
        return status_fail(BLY_ECORRUPT, "%" PRIu64 " bytes from byte %" PRIu64
                           " on do not lie in the file, which has %" PRIu64
                           ": it is damaged, or cut short: copy it anew", n,
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

static bool contents_grow(contents_list *list, const bly_allocator *from)
{
    size_t room = list->room == 0 ? CONTENTS_FIRST : 2 * list->room;
    bly_contained *more = memory_raw(from, room * sizeof *more);
    if (more == NULL)
        return false;
    if (list->is.n > 0)
        memcpy(more, list->filters, list->is.n * sizeof *more);
    memory_release(from, list->filters, list->room * sizeof *more);
    list->is.filters = list->filters = more;
    list->room = room;
    return true;
}

bly_status contents_add(contents_list *list, const bly_contained *one,
                        const contents_source *source)
{
    if (one->bytes > source->bytes - list->listed)
        return status_fail(BLY_ECORRUPT, "its filters are said to have more "
                           "bytes than the file, which has %" PRIu64 ": it is "
                           "damaged: copy it anew", source->bytes);
    if (list->is.n == list->room && !contents_grow(list, source->allocator))
        return status_fail(BLY_ENOMEM, "out of memory: the file has %zu "
                           "filters and more", list->is.n);
    list->filters[list->is.n++] = *one;
    list->listed += one->bytes;
    return BLY_OK;
}

void contents_release(contents_list *list, const bly_allocator *to)
{
    memory_release(to, list->filters, list->room * sizeof *list->filters);
    memory_release(to, list->names, list->names_room);
}

bly_status contents_find(contents_list *out, const contents_source *source)
{
    uint8_t tail[CONTENTS_TAIL];
    *out = (contents_list){ .room = 0 };
    if (source->bytes >= CONTENTS_TAIL) {
        bly_status status = source->read(source->context, tail, source->bytes
                                         - CONTENTS_TAIL, CONTENTS_TAIL);
        if (status != BLY_OK)
            return status;
        out->is.system = contents_recognise(tail, CONTENTS_TAIL);
    }
    if (out->is.system == NULL)
        return status_fail(BLY_EFORMAT, "no file that has filters inside: it "
                           "does not end as those of Parquet, LevelDB and "
                           "RocksDB do: name another, or copy it anew if it is "
                           "one");
    return out->is.system[0] == 'p' ? footer_find(out, source)
                                    : table_find(out, source);
}
