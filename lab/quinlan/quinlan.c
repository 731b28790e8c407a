/* quinlan.c - the filter before the index of an archive
 * [Quinlan & Dorward 2002].
 *
 * See lab.h and essay.html beside this file.
 */
#include "lab.h"

enum { QUINLAN_BITS = 1 << 18, QUINLAN_FEWEST = 2, QUINLAN_MOST = 12 };

/* The share of the bits that the probes of all blocks may have. */
static const double quinlan_load = .7;

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    unsigned filters = (unsigned)lab_pick(&l, 2, 20, 100);
    uint64_t asked = lab_pick(&l, 100, 100000, 1000000);
    unsigned near = 0, rows = 0;
    lab_figure(&l, "probes", "probes,blocks,reads,low,high,formula,planned");
    for (unsigned k = QUINLAN_FEWEST; k <= QUINLAN_MOST; k++, rows++) {
        uint64_t blocks = (uint64_t)(quinlan_load * QUINLAN_BITS / k);
        char kind[64];
        snprintf(kind, sizeof kind, "standard:m=%d,k=%u", QUINLAN_BITS, k);
        lab_measure reads = lab_rate(kind, 0, blocks, filters, asked);
        lab_row(&l, "%u,%.0f,%.6g,%.6g,%.6g,%.6g,%.6g", k, (double)blocks,
                reads.value, reads.low, reads.high,
                lab_classic(QUINLAN_BITS, (double)blocks, k),
                exp2(-(double)k));
        near += reads.low < exp2(.5 - k) && reads.high > exp2(-.5 - k);
    }
    lab_says(&l, "with k probes a block, together 0.7 of the bits, the rate is "
                 "about 2^-k", near == rows, "at %u of %u values of k no other "
             "power of two is nearer", near, rows);
    return lab_close(&l);
}
