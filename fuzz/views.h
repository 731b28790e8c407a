/* views.h - the views of bloomery/inline.h, of whichever kind a filter is: for
 * tests and models that ask filters of any kind.
 */
#ifndef BLY_FUZZ_VIEWS_H
#define BLY_FUZZ_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "bloomery/inline.h"

typedef struct {
    enum {
        VIEWS_BLOCKED, VIEWS_SPLIT, VIEWS_STANDARD, VIEWS_FUSE, VIEWS_CUCKOO
    } kind;
    union {
        bly_inline_blocked  blocked;
        bly_inline_split    split;
        bly_inline_standard standard;
        bly_inline_fuse     fuse;
        bly_inline_cuckoo   cuckoo;
    } as;
} views_view;

/* The functions of the header as one compilation of views.c has them. */
typedef struct {
    /* False: the kind has no view. */
    bool (*of)(views_view *out, const bly_filter *filter);
    bool (*contains)(const views_view *view, uint64_t hash);
    /* Of kinds that can be added to by a view. */
    bly_status (*add)(const views_view *view, uint64_t hash);
} views_body;

extern const views_body views_plain;

/* The same without vectors and with those of one length, in tests/inline.c on
 * x86. */
extern const views_body views_portable, views_sse2, views_avx2, views_avx512;

#endif /* BLY_FUZZ_VIEWS_H */
