/* reader.h - an index that is open. */
#ifndef BLY_INDEX_READER_H
#define BLY_INDEX_READER_H

#include "search/library/layout.h"

struct bly_index {
    const uint8_t *bytes;
    size_t         n;
    bool           mapped;
    bly_allocator  allocator;
    uint64_t       documents, groups, widest;   /* documents of a group      */
    uint32_t       probes, extra;
    layout_list    list;                /* behind it are the sums …          */
    uint64_t       pages;               /* … of so many pages of rows        */
    uint8_t       *known;               /* a bit for each: its sum is right  */
};

/* A group of the index. */
typedef struct {
    const uint8_t *bits;
    uint64_t       rows, documents, most;
    uint64_t       page;                /* its first                         */
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
        .page = image_u64(at, LAYOUT_GROUP_PAGE),
    };
}

static inline bool reader_dropped(const bly_index *index, uint64_t i)
{
    return index->bytes[index->list.dropped + i / 8] >> i % 8 & 1;
}

/* Returns whether the pages of these n bytes of a group's rows are undamaged.
 * Each page is checked when first read. */
bool reader_holds(const bly_index *index, const reader_group *group,
                  uint64_t from, uint64_t n);

/* Returns BLY_ECORRUPT with a message about damaged rows. */
bly_status reader_damaged_rows(void);

/* Checks all pages of a group, whether or not they were checked before. */
bly_status reader_check_rows(const bly_index *index, const reader_group *group);

/* Checks an untrusted index; fills in all fields but those of the file. */
bly_status reader_check(bly_index *index);

#endif /* BLY_INDEX_READER_H */
