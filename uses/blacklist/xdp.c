/* xdp.c - the blacklist in the kernel: IPv4 packets from networks in a filter
 * are dropped before anything else sees them.
 *
 *   clang -O2 -g -target bpf -c xdp.c
 *
 * `image` is the file of a filter of kind "blocked", in pieces of 64 bytes: one
 * piece has all bits of a key, so a query is one lookup. docs/format/kinds
 * describes the computation; the machine is little-endian. The verifier wants a
 * visible end of each loop, each place in a packet compared with the packet's
 * end, and each place in a line below 64.
 */
#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>

#include "xdp.h"

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);             /* attach.c enlarges it              */
    __type(key, __u32);
    __type(value, struct line);
} image SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct about);
} about SEC(".maps");

/* XXH3 of five bytes, seed 0: an address, as in the packet, and a length. */
static __always_inline __u64 hash_of(__u32 address, __u32 length)
{
    __u64 last = address >> 8 | length << 24;
    __u64 h = (last + ((__u64)address << 32)) ^ 0xc73ab174c5ecd5a2;
    h ^= (h << 49 | h >> 15) ^ (h << 24 | h >> 40);
    h *= 0x9fb21c651e98df25;
    h ^= (h >> 35) + 5;
    h *= 0x9fb21c651e98df25;
    return h ^ h >> 28;
}

static __always_inline int is_there(const struct about *is, __u64 hash)
{
    __u64 state = (hash ^ hash >> 32) * 0xd1342543de82ef95;
    __u64 lines = is->lines;            /* below 2^32                        */
    __u32 at = is->first + (__u32)(((state >> 32) * lines +
                                    ((__u32)state * lines >> 32)) >> 32);
    const struct line *line = bpf_map_lookup_elem(&image, &at);
    __u32 g = (__u32)state, all = 1;
    if (line == NULL)
        return 0;
    for (__u32 i = 0; i < MOST_BITS && i < is->k; i++) {
        g *= 0x9e3779b9;
        all &= line->bytes[g >> 26] >> (g >> 23 & 7);
    }
    return all & 1;
}

SEC("xdp")
int blacklist(struct xdp_md *packet)
{
    const struct ethhdr *frame = (void *)(long)packet->data;
    const struct iphdr *ip = (void *)(frame + 1);
    __u32 zero = 0;
    const struct about *is = bpf_map_lookup_elem(&about, &zero);
    if ((long)(ip + 1) > (long)packet->data_end || is == NULL ||
        frame->h_proto != bpf_htons(ETH_P_IP))
        return XDP_PASS;
    for (__u32 i = 0; i < MOST_LENGTHS; i++) {
        __u32 length = is->lengths[i];
        if (length == 0)
            break;
        __u32 mask = bpf_htonl(0xffffffff << (32 - length & 31));
        if (is_there(is, hash_of(ip->saddr & mask, length)))
            return XDP_DROP;
    }
    return XDP_PASS;
}

char terms[] SEC("license") = "Dual MIT/GPL";
