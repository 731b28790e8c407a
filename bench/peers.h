/* peers.h - what a library for comparison provides, in C or C++.
 */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include <stddef.h>
#include <stdint.h>

/* Keys are 8 bytes, in an array. */
typedef struct {
    const char *name;
    const char *(*version)(void);
    void    *(*make)(uint64_t keys, double rate);       /* or NULL */
    void     (*free)(void *filter);
    uint64_t (*bytes)(const void *filter);
    void     (*add)(void *filter, const uint64_t *keys, size_t n);
    uint64_t (*ask)(void *filter, const uint64_t *keys, size_t n);
} bench_peer;

/* Each is there if its library was when the benchmark was compiled. */
extern const bench_peer peers_libbloom, peers_boost, peers_boost_batch;

#endif /* BENCH_PEERS_H */
