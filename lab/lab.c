/* lab.c - functions shared by the experiments of the lab: see lab.h. */
#include "lab.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LAB_BATCH = 4096, LAB_TEXT = 512 };

/* The last series, from which lab_draw takes places. */
enum { LAB_DRAWN = (1 << 24) - 1 };

/* Student's quantile is below LAB_WIDEST, and expanded from LAB_MANY on. */
enum { LAB_WIDEST = 1000, LAB_HALVINGS = 60, LAB_MANY = 60 };

/* A value this many times larger than its interval is shown with more than 4
 * digits, and with 9. */
enum { LAB_COARSE = 100, LAB_FINE = 10000000 };

static const double lab_pi = 3.14159265358979323846;

/* The confidence of intervals, and its quantile of the normal distribution. */
static const double lab_level = 0.999;
const double lab_z = 3.2905267;

volatile uint64_t lab_sink;

/* ---- A run ------------------------------------------------------------- */

void lab_stop(const char *doing, const char *why)
{
    fprintf(stderr, "lab: %s: %s\n", doing, why);
    exit(2);
}

void *lab_allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    if (memory == NULL && bytes > 0)
        lab_stop("memory", "not enough; try QUICK=1");
    return memory;
}

lab lab_open(int argc, char **argv)
{
    static const char *const names[] = { "tiny", "quick", "full" };
    if (argc == 3 && access(argv[1], W_OK) != 0)
        lab_stop(argv[1], strerror(errno));
    for (int i = LAB_TINY; argc == 3 && i <= LAB_FULL; i++)
        if (strcmp(argv[2], names[i]) == 0)
            return (lab){ .folder = argv[1], .effort = (lab_effort)i };
    lab_stop("usage", "PROGRAM FOLDER tiny|quick|full");
}

/* Prints like vsnprintf to LAB_TEXT bytes, but a truncated text is an error. */
static void lab_print(char *text, const char *format, va_list values)
    __attribute__((format(printf, 2, 0)));

static void lab_print(char *text, const char *format, va_list values)
{
    if (vsnprintf(text, LAB_TEXT, format, values) >= LAB_TEXT)
        lab_stop(format, "this becomes too long a text");
}

uint64_t lab_pick(const lab *l, uint64_t tiny, uint64_t quick, uint64_t full)
{
    return l->effort == LAB_TINY ? tiny : l->effort == LAB_QUICK ? quick : full;
}

static FILE *lab_file(const lab *l, const char *name, const char *ending)
{
    char path[LAB_TEXT];
    int length = snprintf(path, sizeof path, "%s/%s%s", l->folder, name,
                          ending);
    if (length >= LAB_TEXT)
        lab_stop(l->folder, "its name is too long");
    FILE *file = fopen(path, "w");
    if (file == NULL)
        lab_stop(path, strerror(errno));
    return file;
}

static void lab_done(FILE *file)
{
    if (file == NULL)
        return;
    bool bad = ferror(file) != 0;
    if (fclose(file) != 0 || bad)
        lab_stop("writing", "the system refused; is the disk full?");
}

void lab_figure(lab *l, const char *name, const char *columns)
{
    lab_close(l);
    l->csv = lab_file(l, name, ".csv");
    l->claims = lab_file(l, name, ".claims");
    fprintf(l->csv, "%s\n", columns);
}

void lab_row(lab *l, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vfprintf(l->csv, format, values);
    va_end(values);
    fputc('\n', l->csv);
}

int lab_close(lab *l)
{
    lab_done(l->csv);
    lab_done(l->claims);
    l->csv = l->claims = NULL;
    return 0;
}

/* ---- Numbers with intervals -------------------------------------------- */

lab_measure lab_wilson(uint64_t hits, uint64_t trials)
{
    double n = (double)trials, p = (double)hits / n, z2 = lab_z * lab_z;
    double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
    double half = lab_z / (1 + z2 / n)
                * sqrt(p * (1 - p) / n + z2 / (4 * n * n));
    return (lab_measure){ p, fmax(0, middle - half), fmin(1, middle + half) };
}

/* Returns the chance that Student's t with v degrees of freedom is within -t ..
 * t: a finite sum of powers of cos(angle), different for odd and even v
 * [Abramowitz & Stegun 1964, 26.7.3 and 26.7.4]. */
static double lab_within(double t, unsigned v)
{
    double angle = atan(t / sqrt(v)), c2 = cos(angle) * cos(angle);
    double term = v % 2 == 1 ? cos(angle) : 1, sum = v == 1 ? 0 : term;
    for (unsigned i = v % 2 == 1 ? 3 : 2; i + 2 <= v; i += 2) {
        term *= c2 * (i - 1) / i;
        sum += term;
    }
    return v % 2 == 1 ? 2 / lab_pi * (angle + sin(angle) * sum)
                      : sin(angle) * sum;
}

/* Returns Student's quantile for lab_z: by halving for few degrees of freedom,
 * by its expansion in 1 / v for many, where the next term is below 1e-5 of
 * it. */
static double lab_student(unsigned v)
{
    double z = lab_z, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    double low = z, high = LAB_WIDEST, n = v;
    if (v >= LAB_MANY)
        return z + (z3 + z) / (4 * n)
             + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n)
             + (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
    for (unsigned i = 0; i < LAB_HALVINGS; i++) {
        double middle = (low + high) / 2;
        *(lab_within(middle, v) < lab_level ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

lab_measure lab_mean(const double *x, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    double mean = sum / (double)n;
    if (n < 2)
        return (lab_measure){ mean, -INFINITY, INFINITY };
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    double half = lab_student((unsigned)n - 1)
                * sqrt(squares / ((double)n - 1) / (double)n);
    return (lab_measure){ mean, mean - half, mean + half };
}

lab_measure lab_shares(const double *share, size_t n, uint64_t trials)
{
    lab_measure mean = lab_mean(share, n);
    uint64_t all = trials * n;
    lab_measure pool = lab_wilson((uint64_t)(mean.value * (double)all + 0.5),
                                  all);
    return (lab_measure){ mean.value, fmax(0, fmin(mean.low, pool.low)),
                          fmin(1, fmax(mean.high, pool.high)) };
}

static int lab_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

lab_measure lab_median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, lab_order);
    return (lab_measure){ (x[(n - 1) / 2] + x[n / 2]) / 2, x[n / 4],
                          x[n - 1 - n / 4] };
}

lab_line lab_fit(const double *x, const double *y, size_t n)
{
    double mx = 0, my = 0, xx = 0, xy = 0, yy = 0;
    for (size_t i = 0; i < n; i++) {
        mx += x[i] / (double)n;
        my += y[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xx += (x[i] - mx) * (x[i] - mx);
        xy += (x[i] - mx) * (y[i] - my);
        yy += (y[i] - my) * (y[i] - my);
    }
    double slope = xy / xx, v = (double)n - 2;
    double rest = fmax(0, yy - slope * xy);
    double half = lab_student((unsigned)n - 2) * sqrt(rest / v / xx);
    return (lab_line){ { slope, slope - half, slope + half },
                       my - slope * mx, 1 - rest / yy };
}

/* ---- Claims ------------------------------------------------------------ */

static void lab_claim(lab *l, const char *reported, const char *measured,
                      const char *verdict)
{
    fprintf(l->claims, "%s\t%s\t%s\n", verdict, reported, measured);
}

void lab_says(lab *l, const char *statement, bool holds,
              const char *format, ...)
{
    char measured[LAB_TEXT];
    va_list values;
    va_start(values, format);
    lab_print(measured, format, values);
    va_end(values);
    lab_claim(l, statement, measured, holds ? "holds" : "does not hold");
}

/* Returns the digits that show an interval to its second digit, at least 4. */
static int lab_digits(lab_measure m)
{
    double parts = fabs(m.value) / (m.high - m.low);
    if (!(parts > LAB_COARSE))
        return 4;
    return parts < LAB_FINE ? (int)ceil(log10(parts)) + 2 : 9;
}

void lab_number(lab *l, const char *what, double reported, double within,
                lab_measure m)
{
    char left[LAB_TEXT], right[LAB_TEXT];
    snprintf(left, sizeof left, "%s: %.5g", what, reported);
    int digits = lab_digits(m);
    snprintf(right, sizeof right, "%.*g (%.*g … %.*g)", digits, m.value,
             digits, m.low, digits, m.high);
    bool reaches = isfinite(m.low) && m.low - within <= reported
                && isfinite(m.high) && reported <= m.high + within;
    lab_claim(l, left, right, reaches ? "holds" : "differs");
}

void lab_size(lab *l, const char *what, double reported, double within,
              double value)
{
    char left[LAB_TEXT], right[LAB_TEXT];
    snprintf(left, sizeof left, "%s: %.6g", what, reported);
    snprintf(right, sizeof right, "%.6g exactly", value);
    bool same = fabs(value - reported) <= within;
    lab_claim(l, left, right, same ? "holds" : "differs");
}

/* ---- Keys and filters -------------------------------------------------- */

uint64_t lab_key(uint64_t series, uint64_t i)
{
    uint64_t x = (series << 40 | i) + UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

void lab_keys(uint64_t *keys, size_t n, uint64_t series, uint64_t from)
{
    for (size_t i = 0; i < n; i++)
        keys[i] = lab_key(series, from + i);
}

void lab_draw(uint64_t *keys, size_t n, uint64_t series, uint64_t of,
              uint64_t from)
{
    for (size_t i = 0; i < n; i++)
        keys[i] = lab_key(series, lab_key(LAB_DRAWN, from + i) % of);
}

bly_filter *lab_new(uint64_t capacity, double rate, const char *format, ...)
{
    char kind[LAB_TEXT];
    va_list values;
    va_start(values, format);
    lab_print(kind, format, values);
    va_end(values);
    bly_filter *f;
    bly_spec spec = { .capacity = capacity, .rate = rate };
    if (bly_new(&f, kind, &spec) < 0)
        lab_stop(kind, bly_why());
    return f;
}

bly_filter *lab_build(uint64_t n, double rate, uint64_t series,
                      const char *kind)
{
    uint64_t *keys = lab_allocate(n * sizeof *keys);
    lab_keys(keys, n, series, 0);
    bly_filter *f;
    bly_spec spec = { .capacity = n, .rate = rate };
    if (bly_build(&f, kind, &spec, &(bly_keys){ .n = n, .hashes = keys }) < 0)
        lab_stop(kind, bly_why());
    free(keys);
    return f;
}

void lab_fill(bly_filter *f, uint64_t series, uint64_t from, uint64_t n)
{
    uint64_t keys[LAB_BATCH];
    for (uint64_t i = 0; i < n; i += LAB_BATCH) {
        size_t some = n - i < LAB_BATCH ? n - i : LAB_BATCH;
        lab_keys(keys, some, series, from + i);
        if (bly_add_hashes(f, keys, some, NULL, NULL) < 0)
            lab_stop("a key cannot be added", bly_why());
    }
}

uint64_t lab_hits(const bly_filter *f, uint64_t series, uint64_t n)
{
    uint64_t keys[LAB_BATCH], hits = 0;
    bool present[LAB_BATCH];
    for (uint64_t i = 0; i < n; i += LAB_BATCH) {
        size_t some = n - i < LAB_BATCH ? n - i : LAB_BATCH;
        lab_keys(keys, some, series, i);
        bly_contains_hashes(f, keys, some, present);
        for (size_t j = 0; j < some; j++)
            hits += present[j];
    }
    return hits;
}

lab_measure lab_rate(const char *kind, double rate, uint64_t n,
                     unsigned filters, uint64_t asked)
{
    double *rates = lab_allocate(filters * sizeof *rates);
    for (unsigned i = 0; i < filters; i++) {
        bly_filter *f = lab_build(n, rate, 2 * i, kind);
        rates[i] = (double)lab_hits(f, 2 * i + 1, asked) / (double)asked;
        bly_free(f);
    }
    lab_measure mean = lab_shares(rates, filters, asked);
    free(rates);
    return mean;
}

/* ---- Indexes of documents ---------------------------------------------- */

enum { LAB_NAME = 4 };

static void lab_index_path(char *path, const lab *l)
{
    if (snprintf(path, LAB_TEXT, "%s/index.blx", l->folder) >= LAB_TEXT)
        lab_stop(l->folder, "its name is too long");
}

bly_index_maker *lab_index(const lab *l, const bly_index_spec *spec)
{
    char path[LAB_TEXT];
    bly_index_maker *maker;
    lab_index_path(path, l);
    if (bly_index_begin(&maker, path, spec) < 0)
        lab_stop("an index", bly_why());
    return maker;
}

/* Sorted by first digits, as names are. */
void lab_index_add(bly_index_maker *maker, uint64_t name,
                   const uint64_t *hashes, size_t n)
{
    char digits[LAB_NAME];
    for (unsigned i = 0; i < LAB_NAME; i++)
        digits[i] = (char)(unsigned char)(name >> 8 * (LAB_NAME - 1 - i));
    bly_document document = { .name = digits, .length = LAB_NAME };
    if (bly_index_add(maker, &document, hashes, n) < 0)
        lab_stop("a document cannot be added", bly_why());
}

bly_index *lab_index_open(const lab *l, bly_index_maker *maker)
{
    char path[LAB_TEXT];
    bly_index *index;
    lab_index_path(path, l);
    if (bly_index_end(maker) < 0 || bly_index_open(&index, path, NULL) < 0)
        lab_stop(path, bly_why());
    remove(path);
    return index;
}

uint64_t lab_index_name(const bly_index *index, uint64_t i)
{
    bly_document document;
    uint64_t name = 0;
    if (bly_index_document(&document, index, i) < 0)
        lab_stop("a document", bly_why());
    for (size_t j = 0; j < document.length; j++)
        name = name << 8 | (unsigned char)document.name[j];
    return name;
}

size_t lab_index_words(uint64_t n)
{
    return (n + 63) / 64;
}

uint64_t lab_ones(const uint64_t *words, size_t n)
{
    uint64_t ones = 0;
    for (size_t i = 0; i < n; i++)
        ones += (uint64_t)__builtin_popcountll(words[i]);
    return ones;
}

uint64_t lab_index_ask(uint64_t *row, const bly_index *index,
                       const uint64_t *hashes, size_t n)
{
    bly_index_stat_t stat;
    bly_index_stat(&stat, index);
    if (bly_index_which(row, index, hashes, n, n) < 0)
        lab_stop("a question", bly_why());
    return lab_ones(row, lab_index_words(stat.documents));
}

/* ---- Formulas ---------------------------------------------------------- */

double lab_classic(double m, double n, double k)
{
    return pow(-expm1(k * n * log1p(-1 / m)), k);
}

double lab_entropy(double p)
{
    return p <= 0 || p >= 1 ? 0 : -p * log2(p) - (1 - p) * log2(1 - p);
}

double lab_choose(double n, double k)
{
    return (lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)) / log(2);
}

/* ---- Time -------------------------------------------------------------- */

double lab_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

double lab_look(const bly_filter *f, const uint64_t *keys, size_t n, bool batch)
{
    bool *present = lab_allocate(n);
    uint64_t members = 0;
    double start = lab_clock();
    if (batch)
        bly_contains_hashes(f, keys, n, present);
    else
        for (size_t i = 0; i < n; i++)
            members += bly_contains_hash(f, keys[i]);
    double taken = lab_clock() - start;
    lab_sink += members + (batch && present[n - 1]);
    free(present);
    return taken / (double)n;
}
