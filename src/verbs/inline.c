/* inline.c - views of filters, for lookups compiled into programs.
 *
 * A kind fills its view, and bloomery/inline.h uses it. These functions check
 * that view and filter belong together.
 */
#include "bloomery/inline.h"

#include <string.h>

#include "base/status.h"
#include "verbs/handle.h"
#include "verbs/registry.h"

/* Fills a view, if the filter's kind has the view of `kind`. Kinds with the
 * same view share the function. */
static bly_status inline_fill(void *view, size_t bytes, const char *kind,
                              const bly_filter *filter)
{
    const bly_kind *wanted = registry_find(kind, strlen(kind));
    if (filter->kind->inlining == NULL)
        return status_fail(BLY_EUNSUPPORTED, "kind %s has no view (blocked, "
                           "split, standard, fuse, xor, cuckoo and counting "
                           "have): use bly_contains_hash",
                           filter->kind->name);
    if (wanted == NULL
        || filter->kind->inlining->view != wanted->inlining->view)
        return status_fail(BLY_EUNSUPPORTED, "the filter is of kind %s, but "
                           "the view is of kind %s: fill the view of the "
                           "filter's own kind, or use bly_contains_hash for "
                           "any kind", filter->kind->name, kind);
    memset(view, 0, bytes);
    wanted->inlining->view(view, filter->image);
    return BLY_OK;
}

bly_status bly_inline_blocked_of(bly_inline_blocked *view,
                                 const bly_filter *filter)
{
    return inline_fill(view, sizeof *view, "blocked", filter);
}

bly_status bly_inline_blocked_of_k(bly_inline_blocked *view,
                                   const bly_filter *filter, uint32_t k)
{
    bly_inline_blocked any;
    bly_status status = bly_inline_blocked_of(&any, filter);
    if (status == BLY_OK && any.k != k)
        status = status_fail(BLY_EUNSUPPORTED, "the filter has %u bits per "
                             "key, but the view is for %u: make the filter "
                             "with k=%u, or fill a view for any number "
                             "(bly_inline_blocked_of)", (unsigned)any.k,
                             (unsigned)k, (unsigned)k);
    if (status == BLY_OK)
        *view = any;
    return status;
}

bly_status bly_inline_split_of(bly_inline_split *view,
                               const bly_filter *filter)
{
    return inline_fill(view, sizeof *view, "split", filter);
}

bly_status bly_inline_standard_of(bly_inline_standard *view,
                                  const bly_filter *filter)
{
    return inline_fill(view, sizeof *view, "standard", filter);
}

bly_status bly_inline_fuse_of(bly_inline_fuse *view, const bly_filter *filter)
{
    return inline_fill(view, sizeof *view, "fuse", filter);
}

bly_status bly_inline_cuckoo_of(bly_inline_cuckoo *view,
                                const bly_filter *filter)
{
    return inline_fill(view, sizeof *view, "cuckoo", filter);
}

bly_status bly_inline_counting_of(bly_inline_counting *view,
                                  const bly_filter *filter)
{
    return inline_fill(view, sizeof *view, "counting", filter);
}

bly_status bly_inline_begin(bly_filter *filter)
{
    if (filter->kind->inlining == NULL || !filter->kind->inlining->adds)
        return status_fail(BLY_EUNSUPPORTED, "kind %s does not support adding "
                           "through a view: kinds that do are blocked, split "
                           "and standard", filter->kind->name);
    if (filter->sharing != NULL)
        return status_fail(BLY_EUNSUPPORTED, "a filter with BLY_SHARED does "
                           "not support adding through a view, which is for "
                           "one thread only: use bly_add_hash");
    return handle_begin(filter);
}

void bly_inline_end(bly_filter *filter, uint64_t added)
{
    handle_count_items(filter, added);
}
