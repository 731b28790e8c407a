/* lines.c - prints lines that look like web addresses, for timing commands.
 *
 *      lines repeats N     N lines of 56 bytes, half of them seen before
 *      lines half N        N lines, every second of them one of `repeats N`,
 *                          in random order, the others never
 *
 * Line i of `repeats` is the address of number i or, with chance 1/2, that of
 * an earlier number; the same N gives the same lines.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

enum { LINES_LENGTH = 56, LINES_BUFFERED = 16384 };

static const char lines_head[] = "https://w00.example.org/articles/";
static const char lines_tail[] = ".shtml\n";

_Static_assert(sizeof lines_head - 1 + 16 + sizeof lines_tail - 1
               == LINES_LENGTH, "a line has 56 bytes");

static void lines_hex(char *out, uint64_t value, unsigned digits)
{
    for (unsigned i = digits; i > 0; i--, value >>= 4)
        out[i - 1] = "0123456789abcdef"[value & 15];
}

static void lines_write(char out[LINES_LENGTH], uint64_t number)
{
    const size_t head = sizeof lines_head - 1;
    uint64_t name = bench_hash(number);
    memcpy(out, lines_head, head);
    lines_hex(out + 9, name >> 32, 2);
    lines_hex(out + head, name, 16);
    memcpy(out + head + 16, lines_tail, sizeof lines_tail - 1);
}

/* Returns the number in line i of `repeats`. */
static uint64_t lines_repeat(uint64_t i)
{
    uint64_t draw = bench_hash(~i);
    while (i > 0 && (draw & 1)) {       /* an earlier line's number          */
        i = (draw >> 1) % i;
        draw = bench_hash(~i);
    }
    return i;
}

static uint64_t lines_half(uint64_t i, uint64_t n)
{
    uint64_t draw = bench_hash((UINT64_C(1) << 41) + i);
    return i % 2 == 0 ? lines_repeat(draw % n) : (UINT64_C(1) << 40) + i;
}

int main(int argc, char **argv)
{
    uint64_t n = argc == 3 ? (uint64_t)strtod(argv[2], NULL) : 0;
    bool half = argc == 3 && strcmp(argv[1], "half") == 0;
    if (n == 0 || (!half && strcmp(argv[1], "repeats") != 0)) {
        fputs("usage: lines repeats|half N\n", stderr);
        return 2;
    }
    char *buffer = bench_allocate((size_t)LINES_BUFFERED * LINES_LENGTH);
    for (uint64_t i = 0, k = 0; i < n; i += k) {
        for (k = 0; k < LINES_BUFFERED && i + k < n; k++)
            lines_write(buffer + k * LINES_LENGTH,
                        half ? lines_half(i + k, n) : lines_repeat(i + k));
        if (fwrite(buffer, LINES_LENGTH, (size_t)k, stdout) != k)
            bench_stop("lines", "cannot write");
    }
    free(buffer);
    return fflush(stdout) == 0 ? 0 : 2;
}
