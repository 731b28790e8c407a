/* fuzz_gaps.c - any bytes read as a list give rising numbers below the range,
 * at most as many as promised; and any list is read back as written.
 */
#include "targets.h"

#include <stdlib.h>

#include "bloomery/gaps.h"

enum { GAPS_MOST = 1 << 16 };

/* 1 .. 2^63 */
static uint64_t gaps_range(target_input *in)
{
    uint64_t range = target_take(in, 8) >> target_take(in, 1) % 64;
    range &= (UINT64_C(1) << 63) - 1;
    return range == 0 ? UINT64_C(1) << 63 : range;
}

static const char *gaps_any(const target_input *in, uint64_t range)
{
    bly_gaps list;
    uint64_t number, last = 0, n = 0;
    size_t bytes = target_left(in);
    if (bly_gaps_open(&list, in->at, bytes, range) != BLY_OK)
        return NULL;
    uint64_t promised = list.left;
    if (promised > 8 * (uint64_t)bytes)
        return "more numbers are promised than eight for each byte";
    while (bly_gaps_next(&list, &number)) {
        if (number >= range || (n > 0 && number <= last))
            return "a number does not rise, or is not below the range";
        last = number;
        n++;
    }
    if (n > promised)
        return "more numbers came than were promised";
    return bly_gaps_end(&list) == BLY_OK && n < promised
         ? "a list is called whole of which numbers are missing" : NULL;
}

static const char *gaps_read(const uint8_t *packed, size_t bytes,
                             const uint64_t *numbers, size_t n, uint64_t range)
{
    bly_gaps list;
    uint64_t number;
    if (bly_gaps_open(&list, packed, bytes, range) != BLY_OK || list.left != n)
        return "a list that was written is refused";
    for (size_t i = 0; i < n; i++)
        if (!bly_gaps_next(&list, &number) || number != numbers[i])
            return "another number is read than was written";
    return bly_gaps_next(&list, &number) || bly_gaps_end(&list) != BLY_OK
         ? "the end is not where it was written" : NULL;
}

/* Uses the bytes as gaps between numbers. */
static const char *gaps_own(target_input *in, uint64_t range)
{
    static uint64_t numbers[GAPS_MOST];
    uint64_t divisor = target_take(in, 8) >> target_take(in, 1) % 64;
    unsigned width = 1 + (unsigned)target_take(in, 1) % 8;
    uint64_t next = 0, gap;
    size_t n = 0, used;
    for (; n < GAPS_MOST && target_left(in) > 0; next++) {
        gap = target_take(in, width);
        if (gap >= range - next)
            break;
        numbers[n++] = next += gap;
        if (next + 1 == range)
            break;
    }
    divisor = divisor % range;
    size_t room = bly_gaps_room(n, range, divisor);
    uint8_t *packed = room < 1 << 24 ? malloc(room + 1) : NULL;
    const char *found = NULL;
    if (packed != NULL)
        found = bly_gaps_pack(packed, room, &used, numbers, n, range, divisor)
                == BLY_OK ? gaps_read(packed, used, numbers, n, range)
                          : "a list is refused that is in order";
    free(packed);
    return found;
}

const char *fuzz_gaps(const uint8_t *bytes, size_t n)
{
    target_input in = { bytes, bytes + n };
    uint64_t range = gaps_range(&in);
    const char *found = gaps_any(&in, range);
    return found == NULL ? gaps_own(&in, range) : found;
}
