/* sort.c - sorts 64-bit words in place.
 *
 * It is a radix sort from the highest digit down, with insertion sort for short
 * runs.
 *
 *  [McIlroy, Bostic & McIlroy 1993]  Engineering radix sort, Computing
 *              Systems 6(1).
 */
#include "frame/sort.h"

enum { SORT_FEW = 32, SORT_DIGIT = 8 };

static void sort_insert(uint64_t *words, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t word = words[i];
        size_t at = i;

        for (; at > 0 && words[at - 1] > word; at--)
            words[at] = words[at - 1];
        words[at] = word;
    }
}

/* Moves each word to the part of its digit, in cycles: the word that was at its
 * destination moves next [McIlroy, Bostic & McIlroy 1993]. */
static void sort_deal(uint64_t *words, unsigned shift, size_t *next,
                      const size_t *end)
{
    const uint64_t mask = (1 << SORT_DIGIT) - 1;

    for (size_t part = 0; part <= mask; part++)
        while (next[part] < end[part]) {
            uint64_t word = words[next[part]];
            uint64_t digit = word >> shift & mask;

            while (digit != part) {
                uint64_t other = words[next[digit]];

                words[next[digit]++] = word;
                word = other;
                digit = word >> shift & mask;
            }
            words[next[part]++] = word;
        }
}

void sort_words(uint64_t *words, size_t n, unsigned bits, unsigned least)
{
    size_t next[1 << SORT_DIGIT] = { 0 }, end[1 << SORT_DIGIT], sum = 0;

    if (n <= SORT_FEW) {
        sort_insert(words, n);
        return;
    }
    if (bits == least)
        return;
    bits -= SORT_DIGIT;
    for (size_t i = 0; i < n; i++)
        next[words[i] >> bits & ((1 << SORT_DIGIT) - 1)]++;
    for (size_t part = 0; part < 1 << SORT_DIGIT; part++) {
        size_t some = next[part];

        next[part] = sum;
        end[part] = sum += some;
    }
    sort_deal(words, bits, next, end);
    for (size_t part = 0, from = 0; part < 1 << SORT_DIGIT; part++) {
        sort_words(words + from, end[part] - from, bits, least);
        from = end[part];
    }
}
