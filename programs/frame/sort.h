/* sort.h - sorts 64-bit words in place. */
#ifndef FRAME_SORT_H
#define FRAME_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Sorts by bits `bits` - 1 down to `least`, both multiples of 8. Higher bits
 * must be equal in all words. Words that differ only in lower bits end up in
 * any order. */
void sort_words(uint64_t *words, size_t n, unsigned bits, unsigned least);

#endif
