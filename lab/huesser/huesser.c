/* huesser.c - the rate of real words [Hüsser et al.].
 *
 * Floor 7: a program of the lab; see lab.h and essay.html beside this file.
 *
 * The words of one language go in; those of another, without the ones that
 * both have, are asked for. A filter of another seed is another trial. Where
 * a word list is not installed numbers take its place, and a claim says so.
 */
#include "lab.h"

#include <stdlib.h>
#include <string.h>

enum { HUESSER_WORD = 128, HUESSER_MADE = 300000, HUESSER_SEEDS = 100,
       HUESSER_MOST = 600000 };  /* words of a list */

static const char huesser_german[] = "/usr/share/dict/ngerman";
static const char huesser_american[] = "/usr/share/dict/american-english";

typedef struct {
    char    *text;              /* all words, each ended by NUL */
    bly_key *word;
    size_t   n;
    bool     made;              /* up, as there is no file */
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

/* The words of a file, each on its line; none if it cannot be read. */
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

/* A file of words, or else numbers with a letter before them. */
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

/* Leave out of `list` what is in `other`. */
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
    bly_contains_keys(f, &keys, present);
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
    if (bly_build_keys(&f, "standard", &spec, &keys, NULL) < 0)
        lab_stop("words", bly_why());
    *lost += in->n - huesser_yes(f, in);
    double yes = (double)huesser_yes(f, asked) / (double)asked->n;
    bly_free(f);
    return yes;
}

/* Where the words are from. */
static void huesser_source(lab *l, const huesser_list *in,
                           const huesser_list *asked)
{
    static const char *const made = "numbers with a letter before them, as a "
                                    "word list is not installed";
    lab_says(l, "ours: these are words of a language, not made up",
             !in->made && !asked->made, "in: %zu, %s%s; asked: %zu others, "
             "%s%s", in->n, in->made ? made : huesser_german,
             in->made ? " (package wngerman)" : "", asked->n,
             asked->made ? made : huesser_american,
             asked->made ? " (package wamerican)" : "");
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

/* What a positive answer is worth, of filters that err on 1 % of the strangers,
 * where a share of the questions is for members: the others are all that there
 * are, and of the members as many as make this share. */
static lab_measure huesser_right(lab *l, const huesser_list *in,
                                 const huesser_list *asked, double share)
{
    double right[HUESSER_SEEDS];
    size_t seeds = lab_pick(l, 2, 10, HUESSER_SEEDS);
    bly_keys keys = { .n = in->n, .keys = in->word };
    for (size_t seed = 0; seed < seeds; seed++) {
        bly_spec spec = { .capacity = in->n, .rate = 0.01, .seed = seed };
        bly_filter *f;
        if (bly_build_keys(&f, "standard", &spec, &keys, NULL) < 0)
            lab_stop("words", bly_why());
        double members = share / (1 - share) * (double)asked->n;
        huesser_list some = *in;
        some.n = members < (double)in->n ? (size_t)members : in->n;
        double yes = (double)huesser_yes(f, &some);
        right[seed] = yes / (yes + (double)huesser_yes(f, asked));
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

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    size_t most = lab_pick(&l, 2000, SIZE_MAX, SIZE_MAX);
    huesser_list in = huesser_list_of(huesser_german, 'a', most);
    huesser_list asked = huesser_list_of(huesser_american, 'b', most);
    huesser_without(&asked, &in);
    huesser_words(&l, &in, &asked);
    huesser_worth(&l, &in, &asked);
    huesser_free(&in);
    huesser_free(&asked);
    return lab_close(&l);
}
