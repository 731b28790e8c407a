/* huesser.c - the rate of real words [Hüsser et al.].
 *
 * See lab.h and essay.html beside this file.
 *
 * English words are added; German words, except those in both languages, are
 * looked up. Each seed is a trial. If a word list is not installed, numbers
 * replace it, and a claim says so. The paper's own filter, in Java, computes
 * the index of a signed hash h as |h mod m|: that is measured as well.
 */
#include "lab.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { HUESSER_WORD = 128, HUESSER_MADE = 300000, HUESSER_SEEDS = 100,
       HUESSER_MOST = 600000,   /* words of a list */
       HUESSER_SIZES = 512 };   /* filters whose indexes are counted */

static const char huesser_german[] = "/usr/share/dict/ngerman";
static const char huesser_american[] = "/usr/share/dict/american-english";

typedef struct {
    char    *text;              /* all words, each ended by NUL */
    bly_key *word;
    size_t   n;
    bool     made;              /* invented, as the file is missing */
} huesser_list;

static const double huesser_rates[] = { 0.2, 0.1, 0.05, 0.02, 0.01, 0.005,
                                        0.001 };
enum { HUESSER_RATES = sizeof huesser_rates / sizeof *huesser_rates };

/* ---- Words ------------------------------------------------------------- */

static int huesser_order(const void *a, const void *b)
{
    return strcmp(((const bly_key *)a)->data, ((const bly_key *)b)->data);
}

static void huesser_take(huesser_list *list, const char *word, size_t *used)
{
    size_t length = strlen(word);
    memcpy(list->text + *used, word, length + 1);
    list->word[list->n++] = (bly_key){ list->text + *used, length };
    *used += length + 1;
}

/* Reads a file's words, one per line; none if it cannot be read. */
static void huesser_read(huesser_list *list, const char *path, size_t most,
                         size_t *used)
{
    char line[HUESSER_WORD];
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return;
    while (list->n < most && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        huesser_take(list, line, used);
    }
    fclose(file);
}

/* Returns a file's words, or else numbers with a letter in front. */
static huesser_list huesser_list_of(const char *path, char letter, size_t most)
{
    most = most < HUESSER_MOST ? most : HUESSER_MOST;
    huesser_list list = { .text = lab_allocate(most * HUESSER_WORD),
                          .word = lab_allocate(most * sizeof *list.word) };
    char line[HUESSER_WORD];
    size_t used = 0;
    huesser_read(&list, path, most, &used);
    list.made = list.n == 0;
    for (unsigned i = 0; list.made && i < HUESSER_MADE && i < most; i++) {
        snprintf(line, sizeof line, "%c%u", letter, i);
        huesser_take(&list, line, &used);
    }
    qsort(list.word, list.n, sizeof *list.word, huesser_order);
    return list;
}

/* Removes from `list` the words in `other`. */
static void huesser_without(huesser_list *list, const huesser_list *other)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->n; i++)
        if (bsearch(&list->word[i], other->word, other->n, sizeof *list->word,
                    huesser_order) == NULL)
            list->word[kept++] = list->word[i];
    list->n = kept;
}

static void huesser_free(huesser_list *list)
{
    free(list->text);
    free(list->word);
}

/* ---- Trials ------------------------------------------------------------ */

static size_t huesser_yes(const bly_filter *f, const huesser_list *list)
{
    bool *present = lab_allocate(list->n + 1);
    size_t yes = 0;
    bly_keys keys = { .n = list->n, .keys = list->word };
    bly_contains_many(f, &keys, present);
    for (size_t i = 0; i < list->n; i++)
        yes += present[i];
    free(present);
    return yes;
}

static double huesser_trial(const huesser_list *in, const huesser_list *asked,
                            double rate, uint64_t seed, size_t *lost)
{
    bly_spec spec = { .capacity = in->n, .rate = rate, .seed = seed };
    bly_keys keys = { .n = in->n, .keys = in->word };
    bly_filter *f;
    if (bly_build(&f, "standard", &spec, &keys) < 0)
        lab_stop("words", bly_why());
    *lost += in->n - huesser_yes(f, in);
    double yes = (double)huesser_yes(f, asked) / (double)asked->n;
    bly_free(f);
    return yes;
}

/* Reports the source of the words. */
static void huesser_source(lab *l, const huesser_list *in,
                           const huesser_list *asked)
{
    static const char *const made = "numbers with a letter before them, as a "
                                    "word list is not installed";
    lab_says(l, "ours: these are words of a language, not made up",
             !in->made && !asked->made, "in: %zu, %s%s; asked: %zu others, "
             "%s%s", in->n, in->made ? made : huesser_american,
             in->made ? " (package wamerican)" : "", asked->n,
             asked->made ? made : huesser_german,
             asked->made ? " (package wngerman)" : "");
}

static void huesser_words(lab *l, const huesser_list *in,
                          const huesser_list *asked)
{
    uint64_t seeds = lab_pick(l, 2, 10, HUESSER_SEEDS);
    size_t lost = 0;
    lab_figure(l, "words", "asked for,rate,low,high,planned");
    for (size_t i = 0; i < HUESSER_RATES; i++) {
        double rate[HUESSER_SEEDS];
        for (uint64_t seed = 0; seed < seeds; seed++)
            rate[seed] = huesser_trial(in, asked, huesser_rates[i], seed,
                                       &lost);
        lab_measure mean = lab_shares(rate, seeds, asked->n);
        bly_plan_t plan;
        bly_spec spec = { .capacity = in->n, .rate = huesser_rates[i] };
        bly_plan(&plan, "standard", &spec);
        lab_row(l, "%g,%.6g,%.6g,%.6g,%.6g", huesser_rates[i], mean.value,
                mean.low, mean.high, plan.rate);
        char what[64];
        snprintf(what, sizeof what, "measured rate where %g was preset",
                 huesser_rates[i]);
        lab_number(l, what, huesser_rates[i], 0.005 * huesser_rates[i], mean);
    }
    lab_says(l, "no word that is in is ever missed", lost == 0,
             "%zu missed of %zu words in %u filters", lost, in->n,
             (unsigned)seeds * HUESSER_RATES);
    huesser_source(l, in, asked);
}

/* Measures the share of correct positive answers, with filters of a 1 % rate,
 * if a share of the queries is for members. Uses as many queries as the two
 * lists allow for this share. */
static lab_measure huesser_right(lab *l, const huesser_list *in,
                                 const huesser_list *asked, double share)
{
    double right[HUESSER_SEEDS];
    size_t seeds = lab_pick(l, 2, 10, HUESSER_SEEDS);
    bly_keys keys = { .n = in->n, .keys = in->word };
    for (size_t seed = 0; seed < seeds; seed++) {
        bly_spec spec = { .capacity = in->n, .rate = 0.01, .seed = seed };
        bly_filter *f;
        if (bly_build(&f, "standard", &spec, &keys) < 0)
            lab_stop("words", bly_why());
        double questions = fmin((double)in->n / share,
                                (double)asked->n / (1 - share));
        huesser_list members = *in, strangers = *asked;
        members.n = (size_t)(share * questions);
        strangers.n = (size_t)((1 - share) * questions);
        double yes = (double)huesser_yes(f, &members);
        right[seed] = yes / (yes + (double)huesser_yes(f, &strangers));
        bly_free(f);
    }
    return lab_mean(right, seeds);
}

static void huesser_worth(lab *l, const huesser_list *in,
                          const huesser_list *asked)
{
    static const double shares[] = { 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1,
                                     0.3, 0.5 };
    lab_measure rare = { 0 }, half = { 0 };
    lab_figure(l, "worth", "share of members,right,low,high,Bayes");
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        lab_measure m = huesser_right(l, in, asked, shares[i]);
        lab_row(l, "%.6g,%.6g,%.6g,%.6g,%.6g", shares[i], m.value, m.low,
                m.high, shares[i] / (shares[i] + (1 - shares[i]) * 0.01));
        if (fabs(shares[i] - 0.01) < 1e-9)
            rare = m;
        half = m;
    }
    lab_says(l, "after a yes the word was seen with a chance close to the "
                "preset one", rare.high > 0.98 && half.high > 0.98,
             "preset to err with 0.01: the yes is right with a chance of %.3f "
             "(%.3f … %.3f) where half of the questions are for members, with "
             "%.3f (%.3f … %.3f) where one in a hundred is", half.value,
             half.low, half.high, rare.value, rare.low, rare.high);
}

/* ---- The index of a signed hash ---------------------------------------- */

/* Returns the paper's index of a signed hash: the remainder has the sign of the
 * hash, as in Java, and then loses it. */
static uint64_t huesser_fold(int64_t h, uint64_t m)
{
    int64_t rest = h % (int64_t)m;
    return (uint64_t)(rest < 0 ? -rest : rest);
}

/* Returns the difference between the most and the least frequent index if each
 * hash of 16 bits occurs once. */
static unsigned huesser_spread(uint64_t m)
{
    unsigned *count = calloc(m, sizeof *count), least = UINT_MAX, most = 0;
    if (count == NULL)
        lab_stop("indexes", "out of memory");
    for (int64_t h = INT16_MIN; h <= INT16_MAX; h++)
        count[huesser_fold(h, m)]++;
    for (size_t i = 0; i < m; i++) {
        least = count[i] < least ? count[i] : least;
        most = count[i] > most ? count[i] : most;
    }
    free(count);
    return most - least;
}

/* Sets the bits of the words, or returns how many words have all of theirs. */
static size_t huesser_bits(bool *bits, const bly_plan_t *plan, uint64_t seed,
                           const huesser_list *list, bool add)
{
    uint64_t *hashes = lab_allocate((list->n + 1) * sizeof *hashes);
    bly_keys keys = { .n = list->n, .keys = list->word };
    size_t found = 0;
    if (bly_hash_many(hashes, NULL, &(bly_spec){ .seed = seed }, &keys) < 0)
        lab_stop("words", bly_why());
    for (size_t i = 0; i < list->n; i++) {
        bool all = true;
        for (uint32_t j = 0; j < plan->probes && all; j++) {
            uint32_t hash = (uint32_t)bly_mix64(hashes[i] + j);
            bool *bit = &bits[huesser_fold((int32_t)hash, plan->geometry[0])];
            *bit = *bit || add;
            all = *bit;
        }
        found += all;
    }
    free(hashes);
    return found;
}

static void huesser_index(lab *l, const huesser_list *in,
                          const huesser_list *asked)
{
    uint64_t seeds = lab_pick(l, 2, 10, HUESSER_SEEDS);
    unsigned spread = 0;
    bool as_planned = true;
    lab_measure m = { 0 };
    bly_plan_t plan;
    lab_figure(l, "index", "asked for,rate,low,high,planned");
    for (size_t i = 0; i < HUESSER_RATES; i++) {
        double rate[HUESSER_SEEDS];
        bly_spec spec = { .capacity = in->n, .rate = huesser_rates[i] };
        bly_plan(&plan, "standard", &spec);
        for (uint64_t seed = 0; seed < seeds; seed++) {
            bool *bits = calloc(plan.geometry[0], sizeof *bits);
            if (bits == NULL)
                lab_stop("a filter", "out of memory");
            huesser_bits(bits, &plan, seed, in, true);
            rate[seed] = (double)huesser_bits(bits, &plan, seed, asked, false)
                       / (double)asked->n;
            free(bits);
        }
        m = lab_shares(rate, seeds, asked->n);
        lab_row(l, "%g,%.6g,%.6g,%.6g,%.6g", huesser_rates[i], m.value, m.low,
                m.high, plan.rate);
        as_planned = as_planned && m.low <= plan.rate && plan.rate <= m.high;
    }
    for (uint64_t size = 1; size <= HUESSER_SIZES; size++)
        spread = huesser_spread(size) > spread ? huesser_spread(size) : spread;
    lab_says(l, "ours: |h mod m| takes every index for as many hashes, give or "
                "take two", spread <= 2, "at most %u more for one index than "
             "for another, over all hashes of 16 bits and m = 1 … %u",
             spread, HUESSER_SIZES);
    lab_says(l, "ours: a filter with |h mod m| errs as one of unsigned hashes",
             as_planned, "the interval has the planned rate, for each of the "
             "rates; for the last one, %.6g … %.6g and %.6g", m.low, m.high,
             plan.rate);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    size_t most = lab_pick(&l, 2000, SIZE_MAX, SIZE_MAX);
    huesser_list in = huesser_list_of(huesser_american, 'a', most);
    huesser_list asked = huesser_list_of(huesser_german, 'b', most);
    huesser_without(&asked, &in);
    huesser_words(&l, &in, &asked);
    huesser_worth(&l, &in, &asked);
    huesser_index(&l, &in, &asked);
    huesser_free(&in);
    huesser_free(&asked);
    return lab_close(&l);
}
