/* shrink.c - shrinks a failing program, and prints it. */
#include "shrink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

/* Runs the program without the bytes from `from` to `to`, and drops them if it
 * still fails. `rest` has room for it. */
static bool shrink_drop(uint8_t *program, size_t *n, size_t from, size_t to,
                        unsigned flags, model_report *report, uint8_t *rest)
{
    static model_report tried;
    size_t left = *n - (to - from);
    memcpy(rest, program, from);
    memcpy(rest + from, program + to, *n - to);
    if (model_run(rest, left, flags, &tried))
        return false;
    memcpy(program, rest, left);
    *n = left;
    *report = tried;
    return true;
}

/* Makes one pass, from the end, so that the instructions before the dropped one
 * stay in place. Bytes behind the last one were never read. */
static bool shrink_pass(uint8_t *program, size_t *n, unsigned flags,
                        model_report *report, uint8_t *rest)
{
    bool shorter = false;
    size_t end = *n;
    for (size_t i = report->starts; i-- > 0;) {
        size_t start = report->start[i];
        if (start < end
            && shrink_drop(program, n, start, end, flags, report, rest))
            shorter = true;
        end = start;
    }
    return shorter;
}

size_t shrink_program(uint8_t *program, size_t n, unsigned flags,
                      model_report *report)
{
    uint8_t *rest = malloc(n + 1);
    if (rest != NULL && !model_run(program, n, flags, report))
        while (shrink_pass(program, &n, flags, report, rest))
            continue;
    free(rest);
    return n;
}

static void shrink_print_bytes(const uint8_t *program, size_t from, size_t to,
                               const char *what)
{
    for (size_t i = from; i < to; i++)
        fprintf(stderr, "%02x", program[i]);
    fprintf(stderr, "  # %s\n", what);
}

void shrink_print(const uint8_t *program, size_t n, const model_report *report)
{
    size_t end = report->starts > 0 ? report->start[0] : n;
    fprintf(stderr, "# %s\n", report->first);
    shrink_print_bytes(program, 0, end, report->kind);
    for (size_t i = 0; i + 1 < report->starts; i++) {
        end = report->start[i + 1];
        uint8_t op = program[report->start[i]];
        shrink_print_bytes(program, report->start[i], end,
                           model_ops[op % model_ops_count].name);
    }
    if (end < n)
        shrink_print_bytes(program, end, n, "not read, or too many to tell");
}
