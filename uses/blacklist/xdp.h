/* xdp.h - the parameters that attach.c gives to xdp.c in the kernel. */
#ifndef XDP_H
#define XDP_H

#include <linux/types.h>

enum { MOST_LENGTHS = 8, MOST_BITS = 64, LINE = 64 };

struct line { __u8 bytes[LINE]; };

struct about {
    __u64 lines;
    __u32 first, k;                     /* line 0 is this image line         */
    __u32 lengths[MOST_LENGTHS];        /* of networks; 0 ends the list      */
};

#endif
