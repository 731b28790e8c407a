/* views.c - the views of bloomery/inline.h, for a filter of any kind.
 *
 * VIEWS_BODY names the table of functions: tests/inline.c compiles this file
 * several times, for different processors.
 */
#include "views.h"

#include <string.h>

#ifndef VIEWS_BODY
#define VIEWS_BODY views_plain
#endif

static bool views_of(views_view *out, const bly_filter *filter)
{
    const char *kind = bly_kind_of(filter);
    bly_status status = BLY_EUNSUPPORTED;
    if (strcmp(kind, "blocked") == 0) {
        out->kind = VIEWS_BLOCKED;
        status = bly_inline_blocked_of(&out->as.blocked, filter);
    } else if (strcmp(kind, "split") == 0) {
        out->kind = VIEWS_SPLIT;
        status = bly_inline_split_of(&out->as.split, filter);
    } else if (strcmp(kind, "standard") == 0) {
        out->kind = VIEWS_STANDARD;
        status = bly_inline_standard_of(&out->as.standard, filter);
    } else if (strcmp(kind, "fuse") == 0 || strcmp(kind, "xor") == 0) {
        out->kind = VIEWS_FUSE;
        status = bly_inline_fuse_of(&out->as.fuse, filter);
    } else if (strcmp(kind, "cuckoo") == 0) {
        out->kind = VIEWS_CUCKOO;
        status = bly_inline_cuckoo_of(&out->as.cuckoo, filter);
    } else if (strcmp(kind, "counting") == 0) {
        out->kind = VIEWS_COUNTING;
        status = bly_inline_counting_of(&out->as.counting, filter);
    }
    return status == BLY_OK;
}

/* Some numbers of bits per key are constants, one for each loop. */
static bool views_blocked(const bly_inline_blocked *view, uint64_t hash)
{
    switch (view->k) {
    case 7:  return bly_inline_blocked_contains_k(view, hash, 7);
    case 12: return bly_inline_blocked_contains_k(view, hash, 12);
    case 20: return bly_inline_blocked_contains_k(view, hash, 20);
    default: return bly_inline_blocked_contains(view, hash);
    }
}

static bool views_contains(const views_view *view, uint64_t hash)
{
    switch (view->kind) {
    case VIEWS_BLOCKED:
        bly_inline_blocked_prefetch(&view->as.blocked, hash);
        return views_blocked(&view->as.blocked, hash);
    case VIEWS_SPLIT:
        bly_inline_split_prefetch(&view->as.split, hash);
        return bly_inline_split_contains(&view->as.split, hash);
    case VIEWS_STANDARD:
        bly_inline_standard_prefetch(&view->as.standard, hash);
        return bly_inline_standard_contains(&view->as.standard, hash);
    case VIEWS_FUSE:
        bly_inline_fuse_prefetch(&view->as.fuse, hash);
        return bly_inline_fuse_contains(&view->as.fuse, hash);
    case VIEWS_CUCKOO:
        bly_inline_cuckoo_prefetch(&view->as.cuckoo, hash);
        return bly_inline_cuckoo_contains(&view->as.cuckoo, hash);
    default:
        bly_inline_counting_prefetch(&view->as.counting, hash);
        return bly_inline_counting_contains(&view->as.counting, hash);
    }
}

static bly_status views_add(const views_view *view, uint64_t hash)
{
    switch (view->kind) {
    case VIEWS_BLOCKED:
        return bly_inline_blocked_add(&view->as.blocked, hash);
    case VIEWS_SPLIT:
        return bly_inline_split_add(&view->as.split, hash);
    case VIEWS_STANDARD:
        return bly_inline_standard_add(&view->as.standard, hash);
    default:
        return BLY_EUNSUPPORTED;
    }
}

const views_body VIEWS_BODY = { views_of, views_contains, views_add };
