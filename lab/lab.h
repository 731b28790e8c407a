/* lab.h- the framework of the lab's experiments.
 *
 * Each folder of lab/ covers one paper: a program that measures, its essay, and
 * a plot for each figure:
 *
 *     lab/PAPER/PAPER.c       writes FIGURE.csv and FIGURE.claims to a folder
 *     lab/PAPER/essay.html    what the paper is and what its figures show;
 *                             a line "@figure FIGURE" where a figure belongs,
 *                             and behind the heading a line for each paper,
 *                             "@paper doi.org/… TITLE", or "@paper - WHY NOT"
 *     lab/PAPER/FIGURE.gp     the plot, for gnuplot, after lab/style.gp
 *     lab/PAPER/ranks         only of a program that runs under MPI: as how
 *                             many processes
 *
 * tools/make/lab runs them, in the order of lab/papers, and compiles the
 * report.
 *
 * STATISTICS
 *
 * All keys and seeds are fixed: runs give the same numbers, except times. A
 * rate is the mean over several filters with different keys, and its interval
 * comes from the spread between filters, because the answers of one filter
 * depend on each other. (A filter so large that another would hardly differ
 * needs only itself and lab_wilson.) Intervals are two-sided with 99.9 %
 * confidence, so that none of a hundred claims should fail by chance. Times are
 * medians of rounds, with their quartiles, in the program's own processor time,
 * which a busy machine disturbs less.
 *
 * CLAIMS
 *
 * A claim compares the paper's result with the measurement, and the program
 * computes a verdict: a statement "holds" or "does not hold"; a number "holds"
 * if the interval reaches it, within its printed precision, and otherwise
 * "differs". (A wide interval thus holds easily: a full run is the sharper
 * test.) A size is exactly what was built or planned, without an interval.
 */
#ifndef LAB_H
#define LAB_H

#include <bloomery.h>
#include <bloomery/index.h>

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- A run ------------------------------------------------------------- */

/* The amount of work: just enough to run; two minutes for all papers; an
 * hour. */
typedef enum { LAB_TINY, LAB_QUICK, LAB_FULL } lab_effort;

typedef struct {
    const char *folder;
    lab_effort  effort;
    FILE       *csv, *claims;
} lab;

/* Parses the arguments "FOLDER tiny|quick|full"; exits with 2 and a message if
 * they are wrong. */
lab lab_open(int argc, char **argv);

/* Returns the number for the effort. */
uint64_t lab_pick(const lab *l, uint64_t tiny, uint64_t quick, uint64_t full);

/* Begins a figure: later rows and claims go to its files. `columns` is the
 * first line of the CSV. */
void lab_figure(lab *l, const char *name, const char *columns);

/* Writes a row of the figure, like printf, and a newline. */
void lab_row(lab *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Closes all files; returns main's status. */
int lab_close(lab *l);

/* Prints an error in one line, and exits with 2. */
void lab_stop(const char *doing, const char *why)
    __attribute__((noreturn));

/* Allocates, or exits. */
void *lab_allocate(size_t bytes);

/* ---- Numbers with intervals -------------------------------------------- */

typedef struct { double value, low, high; } lab_measure;

/* The half width of an interval in standard deviations of a normal
 * distribution. */
extern const double lab_z;

/* Returns a share of independent trials, at least one [Wilson 1927]. */
lab_measure lab_wilson(uint64_t hits, uint64_t trials);

/* Returns the mean of some numbers, by Student's distribution. A single number
 * has an infinite interval. */
lab_measure lab_mean(const double *x, size_t n);

/* Returns the mean of filters' shares of `trials` trials each. Its interval is
 * that of the mean, but at least as wide as for independent trials, as filters
 * with hardly any hits look alike, and stays within 0 to 1. */
lab_measure lab_shares(const double *share, size_t n, uint64_t trials);

/* Returns the median of at least one number, with the quartiles. Sorts x. */
lab_measure lab_median(double *x, size_t n);

/* A line through at least three points, by least squares: its slope with
 * interval, intercept, and explained share of the variance. */
typedef struct { lab_measure slope; double begin, r2; } lab_line;
lab_line lab_fit(const double *x, const double *y, size_t n);

/* ---- Claims ------------------------------------------------------------ */

/* Adds a statement of the paper, whether it holds here, and the measurement
 * (like printf). */
void lab_says(lab *l, const char *statement, bool holds,
              const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Adds a number reported by the paper, precise to `within`. An infinite
 * interval matches nothing. */
void lab_number(lab *l, const char *what, double reported, double within,
                lab_measure measured);

/* Adds a size, which is the same in each run and has no interval. */
void lab_size(lab *l, const char *what, double reported, double within,
              double value);

/* ---- Keys and filters -------------------------------------------------- */

/* Returns the i-th key of a series, as a hash: unique while series < 2^24 and i
 * < 2^40. */
uint64_t lab_key(uint64_t series, uint64_t i);
void lab_keys(uint64_t *keys, size_t n, uint64_t series, uint64_t from);

/* Draws n of the first `of` keys of a series at random; another `from` draws
 * others, so that a query does not find its keys cached by the last one. */
void lab_draw(uint64_t *keys, size_t n, uint64_t series, uint64_t of,
              uint64_t from);

/* Returns a new filter; its kind and options like printf. */
bly_filter *lab_new(uint64_t capacity, double rate, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns a filter of the first n keys of a series. */
bly_filter *lab_build(uint64_t n, double rate, uint64_t series,
                      const char *kind);

/* Adds keys [from, from + n) of a series. */
void lab_fill(bly_filter *f, uint64_t series, uint64_t from, uint64_t n);

/* Counts the strangers, n of a series, that the filter accepts. */
uint64_t lab_hits(const bly_filter *f, uint64_t series, uint64_t n);

/* Returns the rate of filters of this kind that hold n keys: the mean over
 * `filters`, with `asked` strangers each. Also for kinds that are only
 * built. */
lab_measure lab_rate(const char *kind, double rate, uint64_t n,
                     unsigned filters, uint64_t asked);

/* ---- Indexes of documents ---------------------------------------------- */

/* Begins an index. Documents are named by numbers below 2^32 and added in this
 * order, which groups keep. */
bly_index_maker *lab_index(const lab *l, const bly_index_spec *spec);
void lab_index_add(bly_index_maker *maker, uint64_t name,
                   const uint64_t *hashes, size_t n);

/* Writes it and opens it, leaving no file behind. */
bly_index *lab_index_open(const lab *l, bly_index_maker *maker);

/* Returns the name of the index's i-th document. */
uint64_t lab_index_name(const bly_index *index, uint64_t i);

/* Sets in `row` the documents with all n keys; returns how many. */
uint64_t lab_index_ask(uint64_t *row, const bly_index *index,
                       const uint64_t *hashes, size_t n);

/* Returns the words of a row of n documents. */
size_t lab_index_words(uint64_t n);

/* Counts the set bits. */
uint64_t lab_ones(const uint64_t *words, size_t n);

/* ---- Formulas ---------------------------------------------------------- */

/* Returns the classic rate of m bits, n keys, k probes. */
double lab_classic(double m, double n, double k);

/* Returns the bits of information in an event of chance p. */
double lab_entropy(double p);

/* Returns log2 of n over k. */
double lab_choose(double n, double k);

/* ---- Time -------------------------------------------------------------- */

/* Returns nanoseconds of this program's processor time, all threads
 * together. */
double lab_clock(void);

/* Returns nanoseconds per lookup of n keys, in one batch or singly. Singly, the
 * processor may begin the next key early, if its guesses are right. */
double lab_look(const bly_filter *f, const uint64_t *keys, size_t n,
                bool batch);

/* Answers go here, so that the compiler keeps the queries. */
extern volatile uint64_t lab_sink;

#endif /* LAB_H */
