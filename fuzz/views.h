/* views.h - the views of bloomery/inline.h, for tests and models that query
 * filters of any kind.
 */
#ifndef BLY_FUZZ_VIEWS_H
#define BLY_FUZZ_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "bloomery/inline.h"

typedef struct {
    enum {
        VIEWS_BLOCKED, VIEWS_SPLIT, VIEWS_STANDARD, VIEWS_FUSE, VIEWS_CUCKOO,
        VIEWS_COUNTING
    } kind;
    union {
        bly_inline_blocked  blocked;
        bly_inline_split    split;
        bly_inline_standard standard;
        bly_inline_fuse     fuse;
        bly_inline_cuckoo   cuckoo;
        bly_inline_counting counting;
    } as;
} views_view;

/* The header's functions in one compilation of views.c. */
typedef struct {
    /* Returns false if the kind has no view. */
    bool (*of)(views_view *out, const bly_filter *filter);
    bool (*contains)(const views_view *view, uint64_t hash);
    /* Only for kinds whose views can add. */
    bly_status (*add)(const views_view *view, uint64_t hash);
} views_body;

extern const views_body views_plain;

/* Compilations without vectors and with those of one length, in tests/inline.c
 * on x86. */
extern const views_body views_portable, views_sse2, views_avx2, views_avx512;

#endif /* BLY_FUZZ_VIEWS_H */
