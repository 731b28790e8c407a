/* sparse.c - an image of which few bits are set, as lists of them.
 *
 * WHAT IT IS
 *
 * A filter of a P-th of the keys that it has room for has few bits set. Where a
 * share p of the bits is, their places take p (log2(1/p) + 1.47) bits for each
 * bit of the image, as Golomb-coded gaps: less than the image for p below 3/8,
 * and a filter of half a rank's keys is at 0.29.
 *
 * THE PICTURE
 *
 *      image      | 512 KiB       | 512 KiB       | 512 KiB       | rest |
 *      message    length of the image, 8 bytes, and for each of them
 *                 | n | list of n bytes | 0 | as it is | n | list of n bytes …
 *
 * n has four bytes; all numbers begin with the lowest byte. Each piece is sent
 * in the shorter form, so that headers, and parts that are full, do no harm.
 * Nothing of a kind is known here: what is read is what was sent, bit by bit.
 *
 * MATHS
 *
 * With the divisor M a gap, whose length g has chance p (1 - p)^g, takes 1 /
 * (1 - (1 - p)^M) bits for the quotient, and those of the remainder, of M
 * values, of which the first ones have one bit less where M is no power of two.
 *
 * COST
 *
 * What is saved in bandwidth is paid in time. A bit that is set took 75 to 400
 * ns, on a busy machine, to be found, coded, read and set again; the fewer
 * there are, the more zeros lie between them. So a second of work saved 4 MB
 * where a seventh of the bits was set, 70 to 100 MB at 1 in 100, and 300 to 470
 * at 1 in 1000, and a faster network sends the image sooner. Which of them is
 * short is for the user to say: images are sent as they are unless lists are
 * asked for.
 *
 *   [Sanders 2013]  Sanders, Schlag & Mueller, Communication efficient
 *                   algorithms for fundamental big data problems, IEEE Big
 *                   Data: filters replicated as compressed lists
 */
#include "mpi/cluster.h"

#include <bloomery/gaps.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPARSE_PIECE = 1 << 19 };

static void sparse_put(job_bytes *to, uint64_t number, unsigned bytes)
{
    unsigned char *into = exchange_extend(to, bytes);

    for (unsigned i = 0; i < bytes; i++)
        into[i] = (unsigned char)(number >> 8 * i);
}

/* Reads the next number of a message; ends the job if there is none. */
static uint64_t sparse_get(const job_bytes *from, size_t *at, unsigned bytes)
{
    uint64_t number = 0;

    if (from->n - *at < bytes)
        job_give_up("a filter arrived damaged: the machines or their network "
                    "are faulty");
    for (unsigned i = 0; i < bytes; i++)
        number |= (uint64_t)from->bytes[*at + i] << 8 * i;
    *at += bytes;
    return number;
}

/* ==== To lists ========================================================== */

/* Returns eight of n bytes, from index i on; bytes beyond the end count as 0.
 */
static uint64_t sparse_word(const unsigned char *bytes, size_t i, size_t n)
{
    uint64_t word = 0;

    if (n - i >= sizeof word)
        memcpy(&word, bytes + i, sizeof word);  /* one instruction */
    else
        memcpy(&word, bytes + i, n - i);
    return word;
}

uint64_t sparse_count(const void *image, size_t n)
{
    uint64_t count = 0;

    for (size_t i = 0; i < n; i += 8)
        count += (uint64_t)__builtin_popcountll(sparse_word(image, i, n));
    return count;
}

/* Lists the positions of the set bits in order. */
static void sparse_places(uint64_t *places, const unsigned char *bytes,
                          size_t n)
{
    for (size_t i = 0; i < n; i += 8) {
        if (sparse_word(bytes, i, n) == 0)
            continue;                   /* the common case if lists are worth
                                           while */
        for (size_t j = i; j < n && j < i + 8; j++)
            for (unsigned byte = bytes[j]; byte != 0; byte &= byte - 1)
                *places++ = 8 * j + (unsigned)__builtin_ctz(byte);
    }
}

static void sparse_pack_piece(job_bytes *to, const unsigned char *bytes,
                              size_t n, uint64_t *places)
{
    uint64_t count = sparse_count(bytes, n), range = 8 * (uint64_t)n;
    size_t length = to->n, room, used = 0;

    sparse_put(to, 0, 4);
    if (count <= range / 8 * 3) {
        unsigned char *into;

        room = bly_gaps_room(count, range, 0);
        into = exchange_extend(to, room);
        sparse_places(places, bytes, n);
        if (bly_gaps_pack(into, room, &used, places, (size_t)count, range, 0)
            < 0)
            job_give_up(filter_why());
        to->n = length;
        sparse_put(to, used, 4);
    }
    if (used > 0 && used < n) {
        exchange_extend(to, used);
        return;
    }
    to->n = length;
    sparse_put(to, 0, 4);
    memcpy(exchange_extend(to, n), bytes, n);
}

void sparse_pack(job_bytes *to, const void *image, size_t n)
{
    uint64_t *places = job_memory(NULL, (size_t)SPARSE_PIECE * 3
                                        * sizeof *places);
    const unsigned char *bytes = image;

    to->n = 0;
    sparse_put(to, n, 8);
    for (size_t at = 0; at < n; at += SPARSE_PIECE)
        sparse_pack_piece(to, bytes + at,
                          n - at < SPARSE_PIECE ? n - at : SPARSE_PIECE,
                          places);
    free(places);
}

/* ==== And back ========================================================== */

/* Decodes a list of n bytes into zeroed bytes. */
static void sparse_unpack_list(unsigned char *into, size_t bytes,
                               const unsigned char *list, size_t n)
{
    bly_gaps gaps;
    uint64_t place;

    if (bly_gaps_open(&gaps, list, n, 8 * (uint64_t)bytes) < 0)
        job_give_up(filter_why());
    while (bly_gaps_next(&gaps, &place))
        into[place / 8] |= (unsigned char)(1 << place % 8);
    if (bly_gaps_end(&gaps) < 0)
        job_give_up(filter_why());
}

void sparse_unpack(job_bytes *image, const job_bytes *from)
{
    size_t at = 0, n = (size_t)sparse_get(from, &at, 8);

    image->n = 0;
    memset(exchange_extend(image, n), 0, n);
    for (size_t to = 0; to < n; to += SPARSE_PIECE) {
        size_t piece = n - to < SPARSE_PIECE ? n - to : SPARSE_PIECE;
        size_t length = (size_t)sparse_get(from, &at, 4);
        size_t bytes = length > 0 ? length : piece;

        if (from->n - at < bytes)
            job_give_up("a filter arrived damaged: the machines or their "
                        "network are faulty");
        if (length > 0)
            sparse_unpack_list(image->bytes + to, piece, from->bytes + at,
                               length);
        else
            memcpy(image->bytes + to, from->bytes + at, piece);
        at += bytes;
    }
}

/* ==== By formula ======================================================== */

double sparse_share(double p)
{
    uint64_t divisor = bly_gaps_divisor((uint64_t)(p * 0x1p40),
                                        UINT64_C(1) << 40);
    double m = (double)divisor, none = 1 - p, shorter, bits;

    if (!(p > 0))
        return 0;
    bits = ceil(log2(m));
    shorter = exp2(bits) - m;           /* remainders one bit shorter        */
    bits -= (1 - pow(none, shorter)) / (1 - pow(none, m)) * (shorter > 0);
    return fmin(1, p * (1 / (1 - pow(none, m)) + bits));
}
