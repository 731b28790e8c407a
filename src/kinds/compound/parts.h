/* parts.h - the kinds that compound kinds are made of.
 *
 * Only this header names other kinds; the linker finds them. A compound kind
 * with an option `of` lists the kinds to choose from once, and derives from the
 * list both the words of the option and the kinds that they stand for:
 *
 *      #define TWIN_OF(X) X(standard) X(partitioned) X(blocked)
 *
 *      static const char *const twin_names[] = { TWIN_OF(PARTS_NAME) NULL };
 *      static const bly_kind *const twin_kinds[] = { TWIN_OF(PARTS_KIND) };
 *
 * The order of a list is part of the format: the geometry holds a place in it.
 */
#ifndef BLY_KINDS_COMPOUND_PARTS_H
#define BLY_KINDS_COMPOUND_PARTS_H

#include "image/kind.h"

extern const bly_kind bly_kind_standard, bly_kind_partitioned,
    bly_kind_blocked, bly_kind_split, bly_kind_compaction, bly_kind_floom,
    bly_kind_counting, bly_kind_variable, bly_kind_dleft, bly_kind_deletable,
    bly_kind_cuckoo, bly_kind_quotient, bly_kind_xor, bly_kind_fuse,
    bly_kind_ribbon, bly_kind_rehash, bly_kind_golomb, bly_kind_expandable;

#define PARTS_NAME(name) #name,
#define PARTS_KIND(name) &bly_kind_##name,

/* Kinds of nothing but bits: an empty payload is all zeros, an add never
 * fails, and it says BLY_SEEN, changing nothing, just where contains() says
 * yes. They have contains_many and add_each. */
#define PARTS_BITS(X) X(standard) X(partitioned) X(blocked) X(split)

/* Indexes in the list, and its length. */
enum { PARTS_STANDARD, PARTS_PARTITIONED, PARTS_BLOCKED, PARTS_SPLIT,
       PARTS_OF_BITS };

#endif /* BLY_KINDS_COMPOUND_PARTS_H */
