/* lab.h - what the experiments of the lab share.
 *
 * Floor 7: programs, through public headers only. Each folder of lab/ holds one
 * paper: a program that measures, its essay, and one plot for each figure:
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
 * tools/make/lab runs them, in the order of lab/papers, and gathers the report.
 *
 * STATISTICS
 *
 * All keys and seeds are fixed: a run gives the same numbers as the last one,
 * but for times. A rate is measured as the mean over several filters, each of
 * its own keys, and its interval is taken from how much the filters differ:
 * the answers of one filter are not independent of each other. (Of a filter so
 * large that the next one would hardly differ one is enough, and lab_wilson.)
 * Intervals are two-sided 99.9 % ones, as a report of a hundred claims must not
 * contain some that fail by chance. Times are medians of rounds, with their
 * quartiles; they are of the program's own processor time, so that a busy
 * machine does less harm.
 *
 * CLAIMS
 *
 * A claim is what the paper reports beside what was measured, and a verdict
 * that the program computes from both: a statement "holds" or "does not hold";
 * a number "holds" if the interval reaches it, give or take how precisely it is
 * printed, or else "differs". (So a wide interval holds easily: a full run is
 * the sharper test.) A size is what was built or planned, to the bit: it has
 * no interval.
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

/* How much work: just enough to see that the program runs; two minutes for all
 * papers together; an hour. */
typedef enum { LAB_TINY, LAB_QUICK, LAB_FULL } lab_effort;

typedef struct {
    const char *folder;
    lab_effort  effort;
    FILE       *csv, *claims;
} lab;

/* Take the arguments "FOLDER tiny|quick|full"; ends the program with 2 and one
 * line where they are wrong. */
lab lab_open(int argc, char **argv);

/* The number of three that belongs to the effort. */
uint64_t lab_pick(const lab *l, uint64_t tiny, uint64_t quick, uint64_t full);

/* Begin a figure: rows and claims go to its files from now on. `columns` is the
 * first line of the CSV. */
void lab_figure(lab *l, const char *name, const char *columns);

/* One row of the figure, as printf; the newline is added. */
void lab_row(lab *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Close all files; what main returns. */
int lab_close(lab *l);

/* Say what went wrong, in one line, and end the program with 2. */
void lab_stop(const char *doing, const char *why)
    __attribute__((noreturn));

/* malloc that does not fail. */
void *lab_allocate(size_t bytes);

/* ---- Numbers with what is known of them -------------------------------- */

typedef struct { double value, low, high; } lab_measure;

/* How many standard deviations of a normal distribution an interval reaches to
 * either side. */
extern const double lab_z;

/* A share of independent trials, at least one [Wilson 1927]. */
lab_measure lab_wilson(uint64_t hits, uint64_t trials);

/* The mean of some numbers, by Student's distribution. Of a single one nothing
 * is known: its interval is infinite. */
lab_measure lab_mean(const double *x, size_t n);

/* The mean of shares of so many trials each, of filters that differ. Its
 * interval is that of the mean, but never narrower than if all trials were
 * independent: where hardly anything was hit the filters look alike. Nor does
 * it leave 0 to 1. */
lab_measure lab_shares(const double *share, size_t n, uint64_t trials);

/* The median of at least one number, between the quartiles. Sorts x. */
lab_measure lab_median(double *x, size_t n);

/* The straight line through three points or more, by least squares: its slope
 * with interval, where it begins, and how much of the spread it explains. */
typedef struct { lab_measure slope; double begin, r2; } lab_line;
lab_line lab_fit(const double *x, const double *y, size_t n);

/* ---- Claims ------------------------------------------------------------ */

/* A statement of the paper, whether it holds here, and what was measured (as
 * printf). */
void lab_says(lab *l, const char *statement, bool holds,
              const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A number that the paper reports, precise to `within`. An infinite interval
 * reaches none. */
void lab_number(lab *l, const char *what, double reported, double within,
                lab_measure measured);

/* The same of a size, which is the same in each run and has no interval. */
void lab_size(lab *l, const char *what, double reported, double within,
              double value);

/* ---- Keys and filters -------------------------------------------------- */

/* The i-th key of a series, as a hash: different for different (series, i)
 * while series < 2^24 and i < 2^40. */
uint64_t lab_key(uint64_t series, uint64_t i);
void lab_keys(uint64_t *keys, size_t n, uint64_t series, uint64_t from);

/* n of the first `of` keys of a series, drawn at random: other ones for another
 * place `from`, so that a question need not meet what the last one fetched. */
void lab_draw(uint64_t *keys, size_t n, uint64_t series, uint64_t of,
              uint64_t from);

/* A new filter; its kind and options as printf. */
bly_filter *lab_new(uint64_t capacity, double rate, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A filter of the first n keys of a series. */
bly_filter *lab_build(uint64_t n, double rate, uint64_t series,
                      const char *kind);

/* Add keys [from, from + n) of a series. */
void lab_fill(bly_filter *f, uint64_t series, uint64_t from, uint64_t n);

/* How many of n keys of a series of strangers the filter says it has. */
uint64_t lab_hits(const bly_filter *f, uint64_t series, uint64_t n);

/* The rate of filters of this kind that hold n keys: mean over `filters` of
 * them, `asked` strangers each. Works for kinds that are built, too. */
lab_measure lab_rate(const char *kind, double rate, uint64_t n,
                     unsigned filters, uint64_t asked);

/* ---- Indexes of documents ---------------------------------------------- */

/* Begin an index. Documents are called by numbers below 2^32, and given in
 * their order: it is that of the documents of a group, too. */
bly_index_maker *lab_index(const lab *l, const bly_index_spec *spec);
void lab_index_add(bly_index_maker *maker, uint64_t name,
                   const uint64_t *hashes, size_t n);

/* Write it and open it; of its file nothing is left behind. */
bly_index *lab_index_open(const lab *l, bly_index_maker *maker);

/* What the index's i-th document is called. */
uint64_t lab_index_name(const bly_index *index, uint64_t i);

/* Which documents have all n keys: to `row`, and how many. */
uint64_t lab_index_ask(uint64_t *row, const bly_index *index,
                       const uint64_t *hashes, size_t n);

/* Words of a row of n documents. */
size_t lab_index_words(uint64_t n);

/* Bits that are set in so many words. */
uint64_t lab_ones(const uint64_t *words, size_t n);

/* ---- Formulas ---------------------------------------------------------- */

/* The classic formula of m bits, n keys, k probes. */
double lab_classic(double m, double n, double k);

/* Bits of information in a yes or no of chance p. */
double lab_entropy(double p);

/* log2 of n over k. */
double lab_choose(double n, double k);

/* ---- Time -------------------------------------------------------------- */

/* Nanoseconds of this program's processor time, all threads together. */
double lab_clock(void);

/* Nanoseconds a lookup of n keys, in one batch or one by one. One by one the
 * processor may begin with a key before the last is answered, as far as it
 * guesses right. */
double lab_look(const bly_filter *f, const uint64_t *keys, size_t n,
                bool batch);

/* Answers go here, that the compiler may not leave out the question. */
extern volatile uint64_t lab_sink;

#endif /* LAB_H */
