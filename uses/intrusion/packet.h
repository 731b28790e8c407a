/* packet.h - finds the payload of a packet, behind its headers. Anything
 * unknown counts as payload, so that nothing is skipped.
 */
#ifndef PACKET_H
#define PACKET_H

#include <pcap/dlt.h>
#include <stdbool.h>
#include <stddef.h>

static size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

static unsigned two_bytes(const unsigned char *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

/* Returns where a frame's contents begin, behind VLAN tags, and whether they
 * are IP. */
static size_t behind_frame(int link, const unsigned char *p, size_t n, bool *ip)
{
    size_t at = link == DLT_EN10MB ? 14 : link == DLT_LINUX_SLL ? 16
              : link == DLT_LINUX_SLL2 ? 20 : link == DLT_NULL ? 4 : 0;
    *ip = link == DLT_RAW || link == DLT_IPV4 || link == DLT_IPV6 ||
          link == DLT_NULL;
    if (at < 14 || n < at)
        return at_most(at, n);
    unsigned what = two_bytes(link == DLT_LINUX_SLL2 ? p : p + at - 2);
    for (; (what == 0x8100 || what == 0x88a8) && n >= at + 4; at += 4)
        what = two_bytes(p + at + 2);
    *ip = what == 0x0800 || what == 0x86dd;
    return at;
}

/* Returns where TCP's or UDP's payload begins in an IP packet. *n becomes the
 * end by IP, which excludes the frame's padding. */
static size_t behind_ip(const unsigned char *p, size_t *n)
{
    unsigned version = *n < 20 ? 0 : p[0] >> 4;
    size_t at = version == 4 ? (p[0] & 15U) * 4 : 40;
    if ((version != 4 && version != 6) || at < 20 || *n < at)
        return 0;
    size_t all = version == 4 ? two_bytes(p + 2) : at + two_bytes(p + 4);
    unsigned protocol = version == 4 ? p[9] : p[6];
    *n = at_most(*n, all > at ? all : *n);
    if (version == 4 && (two_bytes(p + 6) & 0x1fff) != 0)
        return at;                      /* not the first fragment            */
    return protocol == 6 && *n >= at + 20
         ? at_most(at + (p[at + 12] >> 4) * 4U, *n)
         : protocol == 17 && *n >= at + 8 ? at + 8 : at;
}

#endif
