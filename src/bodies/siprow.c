/* siprow.c - the numbers and sizes of rows of Rust's crate bloomfilter. */
#include "bodies/siprow.h"

#include <math.h>

enum { SIPROW_K_MAX = 65536 };

static const double SIPROW_LN2 = 0.69314718055994530942;

const rowfile_number siprow_numbers[] = {
    { "the version", 0, 1, false, ROWFILE_VERSION, 1, 1, 1, 0 },
    { "the number of bytes", SIPROW_AT_BYTES, 8, false, ROWFILE_M, 8,
      1, SIPROW_BYTES_MAX, 0 },
    { "the number of hash functions", SIPROW_AT_K, 4, false, ROWFILE_K, 1,
      1, SIPROW_K_MAX, 0 },
    { "the first key", 13, 8, false, SIPROW_SEED, 1, 0, UINT64_MAX, 0 },
    { "the first key", 21, 8, false, ROWFILE_OTHER, 1, 0, UINT64_MAX, 0 },
    { "the second key", 29, 8, false, ROWFILE_OTHER, 2, 0, UINT64_MAX, 0 },
    { "the second key", 37, 8, false, ROWFILE_OTHER, 3, 0, UINT64_MAX, 0 },
    { "the type of the items", 0, 0, false, ROWFILE_FOURTH, 1,
      HASH_RUST_STR, HASH_RUST_INT, 0 },
    { .name = NULL },
};

strides siprow_strides(const uint64_t *geometry)
{
    return (strides){ .m = geometry[ROWFILE_M],
                      .k = (uint32_t)geometry[ROWFILE_K],
                      .form = STRIDES_ALONE, .width = 64 };
}

void siprow_size(uint64_t *geometry, uint64_t n, double rate)
{
    double bytes = ceil((double)n * log(rate)
                        / (-8 * (SIPROW_LN2 * SIPROW_LN2)));
    geometry[ROWFILE_M] = rowfile_row_of(8 * bytes, 8);
    double k = round((double)geometry[ROWFILE_M] / (double)n * SIPROW_LN2);
    geometry[ROWFILE_K] = rowfile_whole(fmax(1, k));
}
