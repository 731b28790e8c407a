/* gaps.c - packs and reads a list of numbers.
 */
#include <bloomery.h>
#include <bloomery/gaps.h>

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4, RANGE = 1000 };

static void *pack(const uint64_t *numbers, size_t *length)
{
    /* example */
    uint64_t divisor = bly_gaps_divisor(N, RANGE);
    size_t room = bly_gaps_room(N, RANGE, divisor), bytes;
    void *packed = malloc(room);
    if (packed == NULL ||
        bly_gaps_pack(packed, room, &bytes, numbers, N, RANGE, divisor) < 0)
        errx(1, "%s", bly_why());
    /* end */
    *length = bytes;
    return packed;
}

static uint64_t list(const void *packed, size_t bytes)
{
    uint64_t sum = 0;
    /* example */
    bly_gaps list;
    uint64_t number;
    if (bly_gaps_open(&list, packed, bytes, RANGE) < 0)
        errx(1, "%s", bly_why());
    while (bly_gaps_next(&list, &number))
        sum += number;
    if (bly_gaps_end(&list) < 0)
        errx(1, "%s", bly_why());
    /* end */
    return sum;
}

int main(void)
{
    static const uint64_t numbers[N] = { 3, 141, 592, 653 };
    size_t bytes;
    void *packed = pack(numbers, &bytes);
    if (list(packed, bytes) != 3 + 141 + 592 + 653)
        errx(1, "other numbers were read");
    free(packed);
}
