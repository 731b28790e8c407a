/* reader.h - an index that is open.
 *
 * Floor 6.
 */
#ifndef BLY_INDEX_READER_H
#define BLY_INDEX_READER_H

#include "index/layout.h"

struct bly_index {
    const uint8_t *bytes;
    size_t         n;
    bool           mapped;
    bly_allocator  allocator;
    uint64_t       documents, groups, widest;   /* documents of a group      */
    uint32_t       probes, extra;
    layout_list    list;
};

/* A group of it. */
typedef struct {
    const uint8_t *bits;
    uint64_t       rows, documents, most;
} reader_group;

static inline const uint8_t *reader_group_at(const bly_index *index, uint64_t i)
{
    return index->bytes + index->list.groups + i * LAYOUT_GROUP;
}

static inline reader_group reader_group_of(const bly_index *index, uint64_t i)
{
    const uint8_t *at = reader_group_at(index, i);
    return (reader_group){
        .bits = index->bytes + image_u64(at, LAYOUT_GROUP_OFFSET),
        .rows = image_u64(at, LAYOUT_GROUP_ROWS),
        .documents = image_u64(at, LAYOUT_GROUP_DOCUMENTS),
        .most = image_u64(at, LAYOUT_GROUP_MOST),
    };
}

static inline bool reader_dropped(const bly_index *index, uint64_t i)
{
    return index->bytes[index->list.dropped + i / 8] >> i % 8 & 1;
}

/* Is this an index? Trusts nothing; fills in all but what the file is. */
bly_status reader_check(bly_index *index);

#endif /* BLY_INDEX_READER_H */
