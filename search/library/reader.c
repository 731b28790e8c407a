/* reader.c - checks an index, and returns its documents.
 *
 * The header and the list are checked on opening. Rows are valid whatever their
 * bits, but a cleared bit would hide documents, so each page is checked when a
 * query first reads it. At least a group of the list follows the rows, so 64
 * bits can be read from where any row begins.
 */
#include "search/library/reader.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "base/sizes.h"
#include "base/status.h"
#include "base/task.h"

static bly_status reader_damaged(const char *what)
{
    return status_fail(BLY_ECORRUPT, "the index is damaged, or cut short: %s: "
                       "rebuild it", what);
}

static bly_status reader_check_header(const uint8_t *bytes, size_t n)
{
    if (n < sizeof LAYOUT_MAGIC - 1
        || memcmp(bytes, LAYOUT_MAGIC, sizeof LAYOUT_MAGIC - 1) != 0)
        return status_fail(BLY_EFORMAT, "not an index: it does not begin with "
                           "\"%s\": name another file", LAYOUT_MAGIC);
    if (n < LAYOUT_HEADER)
        return reader_damaged("it has no header");
    if (image_u32(bytes, LAYOUT_AT_VERSION) != LAYOUT_VERSION)
        return status_fail(BLY_EVERSION, "the index has version %" PRIu32 ", "
                           "but this version reads only version %d: rebuild it",
                           image_u32(bytes, LAYOUT_AT_VERSION), LAYOUT_VERSION);
    if (hash_xxh3(bytes, LAYOUT_AT_SUM, 0) != image_u64(bytes, LAYOUT_AT_SUM))
        return reader_damaged("the header's checksum does not match");
    if (image_u64(bytes, LAYOUT_AT_BYTES) != n)
        return reader_damaged("its length does not match its header");
    if (hash_find_field(bytes + LAYOUT_AT_HASH) == NULL)
        return status_fail(BLY_EHASH, "its keys are hashed by '%.8s', which is "
                           "unknown here: rebuild it",
                           (const char *)bytes + LAYOUT_AT_HASH);
    double rate = image_f64(bytes, LAYOUT_AT_RATE);
    uint32_t probes = image_u32(bytes, LAYOUT_AT_PROBES);
    return rate > 0 && rate < 1 && probes > 0 && probes <= LAYOUT_PROBES_MOST
        && image_u64(bytes, LAYOUT_AT_EXTRA) <= LAYOUT_EXTRA_MOST
         ? BLY_OK : reader_damaged("its numbers are out of range");
}

/* Checks that the list is complete. */
static bly_status reader_check_list(bly_index *index)
{
    const uint8_t *bytes = index->bytes;
    uint64_t at = image_u64(bytes, LAYOUT_AT_LIST);
    index->documents = image_u64(bytes, LAYOUT_AT_DOCUMENTS);
    index->groups = image_u64(bytes, LAYOUT_AT_GROUPS);
    index->probes = image_u32(bytes, LAYOUT_AT_PROBES);
    index->extra = (uint32_t)image_u64(bytes, LAYOUT_AT_EXTRA);
    if (at < LAYOUT_HEADER || at > index->n || at % LAYOUT_LINE != 0
        || !layout_list_of(&index->list, at, index->groups, index->documents,
                           index->extra, image_u64(bytes, LAYOUT_AT_NAMES),
                           image_u64(bytes, LAYOUT_AT_ABOUT))
        || index->list.end > index->n
        || (index->n - index->list.end) % LAYOUT_SUM != 0)
        return reader_damaged("the length of its list of documents is wrong");
    index->pages = (index->n - index->list.end) / LAYOUT_SUM;
    return hash_xxh3(bytes + at, index->n - (size_t)at, 0)
           == image_u64(bytes, LAYOUT_AT_LIST_SUM)
         ? BLY_OK : reader_damaged("the checksum of its list does not match");
}

static bly_status reader_check_groups(bly_index *index)
{
    uint64_t documents = 0, before = LAYOUT_HEADER, pages = 0;
    for (uint64_t i = 0; i < index->groups; i++) {
        const uint8_t *at = reader_group_at(index, i);
        uint64_t offset = image_u64(at, LAYOUT_GROUP_OFFSET), bytes;
        uint64_t d = image_u64(at, LAYOUT_GROUP_DOCUMENTS);
        uint64_t rows = image_u64(at, LAYOUT_GROUP_ROWS);
        uint64_t most = image_u64(at, LAYOUT_GROUP_MOST);
        if (offset < before || offset % LAYOUT_LINE != 0
            || offset > index->list.groups || rows == 0
            || rows > LAYOUT_ROWS_MOST || d == 0 || most == 0
            || layout_most(most) != most
            || !layout_bits(&bytes, rows, d)
            || bytes > index->list.groups - offset
            || image_u64(at, LAYOUT_GROUP_PAGE) != pages
            || image_u64(at, LAYOUT_GROUP_ZERO) != 0
            || !sizes_add(&documents, documents, d))
            return reader_damaged("a group of documents lies outside it");
        before = offset + bytes;
        pages += layout_pages(bytes);
        if (d > index->widest)
            index->widest = d;
    }
    return documents == index->documents && pages == index->pages ? BLY_OK
         : reader_damaged("the number of documents or checksums in its groups "
                          "is wrong");
}

static bly_status reader_check_documents(const bly_index *index)
{
    uint64_t before = 0, dropped = 0;
    for (uint64_t i = 0; i < index->documents; i++) {
        uint64_t end = image_u64(index->bytes + index->list.documents,
                                 i * LAYOUT_DOCUMENT + LAYOUT_DOCUMENT_END);
        if (end < before)
            return reader_damaged("a name ends before it begins");
        before = end;
        dropped += reader_dropped(index, i);
    }
    return before == image_u64(index->bytes, LAYOUT_AT_NAMES)
        && dropped == image_u64(index->bytes, LAYOUT_AT_DROPPED)
         ? BLY_OK : reader_damaged("the length of its names, or the number of "
                                   "removed documents, is wrong");
}

bly_status reader_check(bly_index *index)
{
    bly_status status = reader_check_header(index->bytes, index->n);
    if (status == BLY_OK)
        status = reader_check_list(index);
    if (status == BLY_OK)
        status = reader_check_groups(index);
    return status == BLY_OK ? reader_check_documents(index) : status;
}

/* ---- Rows --------------------------------------------------------------- */

bly_status reader_damaged_rows(void)
{
    return reader_damaged("a checksum of its rows does not match");
}

static bool reader_page_holds(const bly_index *index, const reader_group *group,
                              uint64_t page)
{
    const uint8_t *sums = index->bytes + index->list.end;
    uint64_t bytes = 0;
    layout_bits(&bytes, group->rows, group->documents);
    return layout_sum(group->bits, bytes, page)
        == image_u64(sums, (group->page + page) * LAYOUT_SUM);
}

bool reader_holds(const bly_index *index, const reader_group *group,
                  uint64_t from, uint64_t n)
{
    uint64_t last = (from + n - 1) / LAYOUT_PAGE;
    for (uint64_t page = from / LAYOUT_PAGE; page <= last; page++) {
        uint64_t at = group->page + page;
        uint8_t bit = (uint8_t)(1 << at % 8);
        if (platform_load8(&index->known[at / 8]) & bit)
            continue;
        if (!reader_page_holds(index, group, page))
            return false;
        platform_or8(&index->known[at / 8], bit);
    }
    return true;
}

bly_status reader_check_rows(const bly_index *index, const reader_group *group)
{
    uint64_t bytes = 0;
    layout_bits(&bytes, group->rows, group->documents);
    for (uint64_t page = 0; page < layout_pages(bytes); page++) {
        if (!reader_page_holds(index, group, page))
            return reader_damaged_rows();
        if (task_step(LAYOUT_PAGE))
            return task_status();
    }
    return BLY_OK;
}

bly_status bly_index_verify(const bly_index *index,
                            const bly_progress *progress)
{
    bly_status status = BLY_OK;
    task t;
    task_begin(&t, progress, index->n);
    for (uint64_t i = 0; i < index->groups && status == BLY_OK; i++) {
        reader_group group = reader_group_of(index, i);
        status = reader_check_rows(index, &group);
    }
    return task_end(&t, status);
}

/* ---- Results ------------------------------------------------------------ */

void bly_index_stat(bly_index_stat_t *out, const bly_index *index)
{
    const uint8_t *bytes = index->bytes;
    *out = (bly_index_stat_t){
        .documents = index->documents, .groups = index->groups,
        .dropped = image_u64(bytes, LAYOUT_AT_DROPPED),
        .keys = image_u64(bytes, LAYOUT_AT_KEYS),
        .bytes = index->n, .row_bytes = index->list.groups - LAYOUT_HEADER,
        .rate = image_f64(bytes, LAYOUT_AT_RATE), .probes = index->probes,
        .extra = index->extra,
        .hash = hash_find_field(bytes + LAYOUT_AT_HASH)->name,
        .seed = image_u64(bytes, LAYOUT_AT_SEED),
        .about = bytes + index->list.about,
        .about_bytes = image_u64(bytes, LAYOUT_AT_ABOUT),
    };
}

bly_status bly_index_document(bly_document *out, const bly_index *index,
                              uint64_t number)
{
    const uint8_t *list = index->bytes + index->list.documents;
    if (number >= index->documents)
        return status_fail(BLY_EPARAM, "there are %" PRIu64 " documents, "
                           "numbered from 0: give a smaller number",
                           index->documents);
    const uint8_t *at = list + number * LAYOUT_DOCUMENT;
    uint64_t end = image_u64(at, LAYOUT_DOCUMENT_END);
    uint64_t begin = number == 0 ? 0
                   : image_u64(at - LAYOUT_DOCUMENT, LAYOUT_DOCUMENT_END);
    *out = (bly_document){
        .name = (const char *)index->bytes + index->list.names + begin,
        .length = (size_t)(end - begin),
        .extra = index->bytes + index->list.extra + number * index->extra,
        .keys = image_u64(at, LAYOUT_DOCUMENT_KEYS),
        .dropped = reader_dropped(index, number),
    };
    return BLY_OK;
}
