/* novelty.c - rates how new a list of numbers is, as a fly does with an odour.
 *
 *   novelty [-k KIND] [-n CELLS] [-d DELTA] [-l USUAL] [FILE]
 *
 * A line of FILE, or of standard input, is a list of non-negative numbers,
 * separated by commas or blanks. Each of 2000 cells adds up six of them, always
 * the same ones, and the 100 cells with the largest sums are the line's tag:
 * similar lines share many cells. The cells are the keys of a filter. Prints
 * each line's novelty, then adds its tag: the mean of DELTA ^ (how often a cell
 * of the tag was added), from 0, all were added, to 1. With -l, the lines of
 * USUAL are added instead, at the beginning.
 *
 * KIND is a filter that counts or not (counting:bits=8), for CELLS different
 * cells (2000); one that forgets, such as aging, finds long-gone lines new
 * again. With a DELTA of 0, the default, a line is not new the second time.
 */
#include <bloomery.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS = 2000, INPUTS = 6, TAG = 100 };

typedef struct { double sum; uint64_t number; } cell;

static bly_filter *filter;
static double delta;
static size_t width;                    /* numbers per line, or 0            */
static size_t (*inputs)[INPUTS];        /* of each cell                      */

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "novelty: %s: %s\n", what, why);
    return 2;
}

/* ---- Tags ---------------------------------------------------------------- */

static bool is_among(const size_t *some, size_t n, size_t one)
{
    while (n > 0 && some[n - 1] != one)
        n--;
    return n > 0;
}

/* Draws six different places, or all if fewer exist. */
static bool draw_inputs(void)
{
    uint64_t drawn = 0;
    size_t most = width < INPUTS ? width : INPUTS;
    inputs = calloc(CELLS, sizeof *inputs);
    for (size_t c = 0; inputs != NULL && c < CELLS; c++)
        for (size_t i = 0; i < INPUTS; ) {
            size_t at = (size_t)(bly_mix64(++drawn) % width);
            if (i >= most || !is_among(inputs[c], i, at))
                inputs[c][i++] = at;
        }
    return inputs != NULL;
}

/* Orders by larger sums, then by lower numbers. */
static int by_sum(const void *one, const void *two)
{
    const cell *a = one, *b = two;
    if (a->sum != b->sum)
        return a->sum < b->sum ? 1 : -1;
    return (a->number > b->number) - (a->number < b->number);
}

static void make_tag(uint64_t tag[TAG], const double *line)
{
    static cell cells[CELLS];
    for (size_t c = 0; c < CELLS; c++) {
        cells[c] = (cell){ 0, c };
        for (size_t i = 0; i < INPUTS; i++)
            cells[c].sum += line[inputs[c][i]];
    }
    qsort(cells, CELLS, sizeof *cells, by_sum);
    for (size_t i = 0; i < TAG; i++)
        tag[i] = bly_mix64(cells[i].number);
}

/* A kind that does not count treats a present cell as added any number of
 * times. */
static double novelty(const uint64_t tag[TAG])
{
    uint64_t times[TAG];
    double sum = 0;
    bly_count_hashes(filter, tag, TAG, times);
    for (size_t i = 0; i < TAG; i++)
        sum += pow(delta, (double)times[i]);
    return sum / TAG;
}

/* ---- Lines --------------------------------------------------------------- */

/* Returns how many numbers are in the text, or SIZE_MAX if anything else is. */
static size_t read_numbers(const char *text, double **numbers, size_t *room)
{
    size_t n = 0;
    for (;;) {
        char *end;
        text += strspn(text, ", \t\r\n");
        if (*text == '\0')
            return n;
        if (n == *room) {
            double *more = realloc(*numbers, (n * 2 + 64) * sizeof *more);
            if (more == NULL)
                return SIZE_MAX;
            *numbers = more;
            *room = n * 2 + 64;
        }
        double number = strtod(text, &end);
        if (end == text || !isfinite(number) || number < 0)
            return SIZE_MAX;
        (*numbers)[n++] = number;
        text = end;
    }
}

static int wrong_line(const char *name, unsigned long line, const char *why)
{
    char where[64];
    snprintf(where, sizeof where, "line %lu of '%.32s'", line, name);
    return stop(where, why);
}

static int read_lines(FILE *file, const char *name, bool asks, bool learns)
{
    char *text = NULL;
    double *numbers = NULL;
    size_t text_room = 0, room = 0;
    int failed = 0;
    uint64_t tag[TAG];
    for (unsigned long i = 1; failed == 0 &&
                              getline(&text, &text_room, file) >= 0; i++) {
        size_t n = read_numbers(text, &numbers, &room);
        if (n == SIZE_MAX || n == 0) {
            failed = wrong_line(name, i, "it has no numbers of 0 and more");
            break;
        }
        if (width == 0)
            width = n;
        if (n != width)
            failed = wrong_line(name, i, "not so many numbers as the first");
        else if (inputs == NULL && !draw_inputs())
            failed = stop("memory", strerror(errno));
        if (failed != 0)
            break;
        make_tag(tag, numbers);
        if (asks)
            printf("%.4f\t%s", novelty(tag), text);
        if (learns && bly_add_hashes(filter, tag, TAG, NULL, NULL) < 0)
            failed = stop("the filter", bly_why());
    }
    if (failed == 0 && ferror(file))
        failed = stop(name, strerror(errno));
    free(text);
    free(numbers);
    return failed;
}

static int read_file(const char *name, bool asks, bool learns)
{
    FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "r");
    if (file == NULL)
        return stop(name, strerror(errno));
    int failed = read_lines(file, name, asks, learns);
    if (file != stdin)
        fclose(file);
    return failed;
}

int main(int argc, char **argv)
{
    const char *kind = "counting:bits=8", *usual = NULL;
    bly_spec want = { .capacity = CELLS, .rate = 1e-7 };
    bool wrong = false;
    opterr = 0;
    int failed = 0;
    for (int o; (o = getopt(argc, argv, "k:n:d:l:")) != -1; ) {
        if (o == 'k')
            kind = optarg;
        else if (o == 'n')
            want.capacity = strtoull(optarg, NULL, 10);
        else if (o == 'd')
            delta = strtod(optarg, NULL);
        else if (o == 'l')
            usual = optarg;
        wrong |= o == '?';
    }
    if (wrong || optind + 1 < argc || !(delta >= 0 && delta < 1))
        return stop("usage", "novelty [-k KIND] [-n CELLS] [-d 0 .. 1] "
                             "[-l USUAL] [FILE]");
    if (bly_new(&filter, kind, &want) < 0)
        return stop(kind, bly_why());
    if (usual != NULL)
        failed = read_file(usual, false, true);
    if (failed == 0)
        failed = read_file(optind < argc ? argv[optind] : "-", true,
                           usual == NULL);
    bly_free(filter);
    free(inputs);
    if ((fflush(stdout) | ferror(stdout)) != 0)
        return stop("standard output", strerror(errno));
    return failed;
}
