/* policy.h - what RocksDB's filter policies make of a number of bits per key.
 *
 * NewBloomFilterPolicy(b) has n b bits for n keys, and a number of probes that
 * depends on b alone. NewRibbonFilterPolicy(b) makes a smaller filter with the
 * rate of that one. Its lines of 512 bits have 512/b keys on average. RocksDB
 * takes the mean of the rates of a line with one standard deviation more and
 * one less, each as if the keys of the line were spread evenly.
 */
#ifndef BLY_MATHS_POLICY_H
#define BLY_MATHS_POLICY_H

#include <stdint.h>

enum { POLICY_LINE = 512, POLICY_BITS_MOST = 100 };

/* Returns the probes for so many thousandths of a bit per key. */
uint64_t policy_probes(uint64_t thousandths);

/* Returns 1 / rate of a Ribbon filter for 1000 or more thousandths; beyond
 * POLICY_BITS_MOST bits it is the same. */
double policy_one_in(uint64_t thousandths);

#endif /* BLY_MATHS_POLICY_H */
