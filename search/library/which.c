/* which.c - which documents of an index perhaps have these keys?
 *
 * Each group is asked by itself, and its documents are bits of the
 * answer from its first document on. The lines where rows begin are asked for
 * some rows ahead: a question out of cache costs about as many of them as it
 * has rows.
 */
#include "search/library/reader.h"

#include <string.h>

#include "base/memory.h"
#include "base/sizes.h"
#include "base/status.h"
#include "bodies/rows.h"
#include "search/library/bitcolumns.h"

enum { WHICH_AHEAD = 64 };              /* keys whose rows are on their way  */

/* The buffers of a query. */
typedef struct {
    const bly_index *index;
    const uint64_t  *hashes;
    size_t           n, least;
    uint64_t        *some;              /* documents that have all so far    */
    uint32_t        *counts;            /* number of keys for each of a group,
                                           or NULL                           */
    bool             damaged;           /* rows are not what was written     */
} which_job;

/* ---- Rows ---------------------------------------------------------------- */

/* Returns false if no documents are left, or the row is damaged. */
static bool which_and(which_job *job, const reader_group *group, uint64_t row)
{
    uint64_t bit = row * group->documents, any = 0, *some = job->some;
    uint64_t words = bitcolumns_words(group->documents);
    uint64_t last = bit + group->documents - 1;
    if (!reader_holds(job->index, group, bit / 8, last / 8 - bit / 8 + 1)) {
        job->damaged = true;
        return false;
    }
    for (uint64_t w = 0; w < words; w++) {
        some[w] &= bitcolumns_load(group->bits, bit + 64 * w);
        any |= some[w];
    }
    return any != 0;
}

static void which_all_of(uint64_t *some, uint64_t documents)
{
    uint64_t words = bitcolumns_words(documents);
    memset(some, 0xFF, (size_t)words * sizeof *some);
    if (documents % 64 != 0)
        some[words - 1] = (UINT64_C(1) << documents % 64) - 1;
}

static void which_bring(const which_job *job, const reader_group *group,
                        size_t from)
{
    size_t end = job->n - from < WHICH_AHEAD ? job->n : from + WHICH_AHEAD;
    for (size_t i = from; i < end; i++) {
        uint64_t state = layout_first(job->hashes[i]);
        for (uint32_t j = 0; j < job->index->probes; j++) {
            uint64_t row = layout_row(state, group->rows);
            platform_prefetch(group->bits + row * group->documents / 8);
            state = layout_next(state);
        }
    }
}

/* Finds the documents with this key among those left. */
static bool which_key(which_job *job, const reader_group *group,
                      uint64_t hash)
{
    uint64_t state = layout_first(hash);
    for (uint32_t j = 0; j < job->index->probes; j++) {
        if (!which_and(job, group, layout_row(state, group->rows)))
            return false;
        state = layout_next(state);
    }
    return true;
}

/* ---- A group ------------------------------------------------------------- */

static void which_all(which_job *job, const reader_group *group)
{
    which_all_of(job->some, group->documents);
    for (size_t i = 0; i < job->n; i++) {
        if (i % WHICH_AHEAD == 0)
            which_bring(job, group, i);
        if (!which_key(job, group, job->hashes[i]))
            return;
    }
}

static void which_count(const which_job *job, uint64_t documents)
{
    uint64_t words = bitcolumns_words(documents);
    for (uint64_t w = 0; w < words; w++)
        for (uint64_t left = job->some[w]; left != 0; left &= left - 1)
            job->counts[64 * w + platform_trailing_zeros(left)]++;
}

/* Counts the keys of each document of a group. */
static void which_tally(which_job *job, const reader_group *group)
{
    memset(job->counts, 0, (size_t)group->documents * sizeof *job->counts);
    for (size_t i = 0; i < job->n; i++) {
        if (i % WHICH_AHEAD == 0)
            which_bring(job, group, i);
        which_all_of(job->some, group->documents);
        if (which_key(job, group, job->hashes[i]))
            which_count(job, group->documents);
    }
}

static void which_least(which_job *job, const reader_group *group)
{
    which_tally(job, group);
    memset(job->some, 0, (size_t)bitcolumns_words(group->documents)
                         * sizeof *job->some);
    for (uint64_t d = 0; d < group->documents; d++)
        if (job->counts[d] >= job->least)
            job->some[d / 64] |= UINT64_C(1) << d % 64;
}

/* Writes a group's documents, which are numbered from `first` on. */
static void which_put(uint64_t *row, const uint64_t *some, uint64_t first,
                      uint64_t documents)
{
    uint64_t words = bitcolumns_words(documents);
    unsigned shift = first % 64;
    row += first / 64;
    for (uint64_t w = 0; w < words; w++) {
        row[w] |= some[w] << shift;
        if (shift != 0 && some[w] >> (64 - shift) != 0)
            row[w + 1] |= some[w] >> (64 - shift);
    }
}

static void which_drop(uint64_t *row, const bly_index *index)
{
    const uint8_t *dropped = index->bytes + index->list.dropped;
    uint64_t bytes = rows_bytes_of(index->documents);
    for (uint64_t i = 0; i < bytes; i++)
        row[i / 8] &= ~((uint64_t)dropped[i] << 8 * (i % 8));
}

static void which_groups(uint64_t *row, which_job *job)
{
    uint64_t first = 0;
    for (uint64_t i = 0; i < job->index->groups; i++) {
        reader_group group = reader_group_of(job->index, i);
        if (job->counts != NULL)
            which_least(job, &group);
        else
            which_all(job, &group);
        which_put(row, job->some, first, group.documents);
        first += group.documents;
    }
    which_drop(row, job->index);
}

bly_status bly_index_hash(uint64_t *hashes, const bly_index *index,
                          const bly_keys *keys)
{
    const uint8_t *bytes = index->bytes;
    const bly_spec by = { .hash = hash_find_field(bytes + LAYOUT_AT_HASH)->name,
                          .seed = image_u64(bytes, LAYOUT_AT_SEED) };
    return bly_hash_many(hashes, NULL, &by, keys);
}

bly_status bly_index_which(uint64_t *row, const bly_index *index,
                           const uint64_t *hashes, size_t n, size_t least)
{
    if (least > n || n > UINT32_MAX)
        return status_fail(BLY_EPARAM, "no document can have %zu of %zu keys: "
                           "require at most the number of keys, and at most "
                           "2^32 - 1", least, n);
    bool all = least == n || least == 0;
    which_job job = { .index = index, .hashes = hashes, .least = least,
                      .n = least == 0 ? 0 : n };
    uint64_t words = bitcolumns_words(index->widest);
    uint64_t bytes = words * sizeof *job.some + (all ? 0 : 64 * words
                                                 * sizeof *job.counts);
    memset(row, 0, (size_t)bitcolumns_words(index->documents) * sizeof *row);
    if (index->groups == 0)
        return BLY_OK;
    job.some = memory_raw(&index->allocator, bytes);
    if (job.some == NULL)
        return status_plain(BLY_ENOMEM);
    job.counts = all ? NULL : (uint32_t *)(void *)(job.some + words);
    which_groups(row, &job);
    memory_release(&index->allocator, job.some, (size_t)bytes);
    return job.damaged ? reader_damaged_rows() : BLY_OK;
}

bly_status bly_index_count(uint32_t *counts, const bly_index *index,
                           const uint64_t *hashes, size_t n)
{
    if (n > UINT32_MAX)
        return status_fail(BLY_EPARAM, "%zu keys are too many to count: give "
                           "at most 2^32 - 1", n);
    const uint8_t *dropped = index->bytes + index->list.dropped;
    which_job job = { .index = index, .hashes = hashes, .n = n };
    uint64_t bytes = bitcolumns_words(index->widest) * sizeof *job.some;
    job.counts = counts;
    job.some = index->groups > 0 ? memory_raw(&index->allocator, bytes) : NULL;
    if (index->groups > 0 && job.some == NULL)
        return status_plain(BLY_ENOMEM);
    for (uint64_t i = 0; i < index->groups; i++) {
        reader_group group = reader_group_of(index, i);
        which_tally(&job, &group);
        job.counts += group.documents;
    }
    for (uint64_t i = 0; i < index->documents; i++)
        if ((dropped[i / 8] >> i % 8 & 1) != 0)
            counts[i] = 0;
    memory_release(&index->allocator, job.some, (size_t)bytes);
    return job.damaged ? reader_damaged_rows() : BLY_OK;
}

static bool which_tell(const uint64_t *row, const bly_index *index,
                       bly_index_visitor *visit, void *context)
{
    bool any = false;
    bly_document document;
    uint64_t words = bitcolumns_words(index->documents);
    for (uint64_t w = 0; w < words; w++)
        for (uint64_t left = row[w]; left != 0; left &= left - 1) {
            uint64_t i = 64 * w + platform_trailing_zeros(left);
            (void)!bly_index_document(&document, index, i);
            any = true;
            if (!visit(context, i, &document))
                return any;
        }
    return any;
}

bly_status bly_index_visit(const bly_index *index, const uint64_t *hashes,
                           size_t n, size_t least, bly_index_visitor *visit,
                           void *context)
{
    uint64_t bytes =
        (bitcolumns_words(index->documents) + 1) * sizeof(uint64_t);
    uint64_t *row = memory_raw(&index->allocator, bytes);
    if (row == NULL)
        return status_plain(BLY_ENOMEM);
    bly_status status = bly_index_which(row, index, hashes, n, least);
    if (status == BLY_OK && which_tell(row, index, visit, context))
        status = BLY_SEEN;
    memory_release(&index->allocator, row, (size_t)bytes);
    return status;
}
