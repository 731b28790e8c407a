/* goodwin.c - signatures of documents as rows of bits, compared with lists of
 * the documents of each term [Goodwin et al. 2017; Zobel, Moffat &
 * Ramamohanarao 1998].
 *
 * See lab.h and essay.html beside this file.
 *
 * An index with one probe gives rarer terms more rows: a term with r rows is r
 * keys. Lists store the gaps between document numbers.
 */
#include "lab.h"

#include <stdlib.h>
#include <string.h>

/* Series of keys. */
enum { GOODWIN_MEMBERS = 1, GOODWIN_STRANGERS, GOODWIN_DRAWN, GOODWIN_TERMS,
       GOODWIN_QUESTIONS };

static double goodwin_uniform(uint64_t i)
{
    return ((double)(lab_key(GOODWIN_DRAWN, i) >> 11) + 0.5) * 0x1p-53;
}

/* ---- Noise -------------------------------------------------------------- */

enum { GOODWIN_FULL = 512,              /* keys that fill a group's columns  */
       GOODWIN_ROWS = 8, GOODWIN_SIGNAL = 10, GOODWIN_RAREST = 5 };

/* The lowest noise that can be measured. */
static const double goodwin_least = 1e-5;

static bly_index *goodwin_full(const lab *l, double density, unsigned rows,
                               uint64_t documents)
{
    bly_index_spec spec = { .rate = pow(density, rows), .probes = rows };
    bly_index_maker *maker = lab_index(l, &spec);
    uint64_t keys[GOODWIN_FULL];
    for (uint64_t i = 0; i < documents; i++) {
        lab_keys(keys, GOODWIN_FULL, GOODWIN_MEMBERS, i * GOODWIN_FULL);
        lab_index_add(maker, i, keys, GOODWIN_FULL);
    }
    return lab_index_open(l, maker);
}

/* Returns the share of documents that a strange term names. */
static lab_measure goodwin_noise(const lab *l, double density, unsigned rows)
{
    uint64_t documents = lab_pick(l, 50, 1000, 4000);
    size_t asked = lab_pick(l, 20, 1000, 10000);
    bly_index *index = goodwin_full(l, density, rows, documents);
    uint64_t *row = lab_allocate(lab_index_words(documents) * sizeof *row);
    double *share = lab_allocate(asked * sizeof *share);
    for (size_t i = 0; i < asked; i++) {
        uint64_t key = lab_key(GOODWIN_STRANGERS, i);
        share[i] = (double)lab_index_ask(row, index, &key, 1)
                 / (double)documents;
    }
    lab_measure noise = lab_shares(share, asked, documents);
    free(share);
    free(row);
    bly_index_free(index);
    return noise;
}

/* Returns the rows of a term that a share of all documents have. */
static unsigned goodwin_rows(double share, double density)
{
    double rows = log(share / GOODWIN_SIGNAL) / log(density);
    return (unsigned)fmax(1, ceil(rows - 1e-9));
}

/* Prints the rows queried, and their signal. */
static void goodwin_signal(lab *l, unsigned rows, lab_measure noise)
{
    double share = pow(10, 1 - (double)rows), others = 1 - share;
    char what[128];
    snprintf(what, sizeof what, "of a term in a share %.3g of documents %u "
             "rows of density 0.1 name ten for each one that is wrong", share,
             rows);
    lab_says(l, what, goodwin_rows(share, 0.1) == rows
             && noise.low * others * GOODWIN_SIGNAL <= share,
             "%u rows, %.4g (%.4g … %.4g) for each", goodwin_rows(share, 0.1),
             share / others / noise.value, share / others / noise.high,
             share / others / noise.low);
}

static void goodwin_figure_noise(lab *l)
{
    static const double densities[] = { 0.1, 0.2, 0.5 };
    unsigned cases = 0, reached = 0;
    lab_figure(l, "noise", "density,rows,formula,measured,low,high");
    for (size_t i = 0; i < sizeof densities / sizeof *densities; i++)
        for (unsigned rows = 1; rows <= GOODWIN_ROWS; rows++) {
            double formula = pow(densities[i], rows);
            if (formula < goodwin_least * (1 - 1e-9))
                break;
            lab_measure m = goodwin_noise(l, densities[i], rows);
            lab_row(l, "%g,%u,%.6g,%.6g,%.6g,%.6g", densities[i], rows,
                    formula, m.value > 0 ? m.value : (double)NAN, m.low,
                    m.high);
            cases++;
            reached += m.low <= formula && formula <= m.high;
            if (i == 0 && rows > 1 && rows < GOODWIN_RAREST)
                goodwin_signal(l, rows, m);
        }
    lab_says(l, "noise is the density to the power of the rows",
             reached == cases, "%u of %u intervals reach it", reached, cases);
}

/* ---- Documents ---------------------------------------------------------- */

/* Terms of each document, and documents of each term, both sorted. */
typedef struct {
    uint32_t  documents, vocabulary;
    uint64_t  postings;
    uint64_t *begin;            /* of a document's terms, and its end        */
    uint32_t *terms;
    uint64_t *at;               /* where a term's list begins, and its end   */
    uint32_t *lists;
} goodwin_texts;

enum { GOODWIN_MEDIAN = 200, GOODWIN_WORDS = 20000 };

/* Deviation of the logarithm of document lengths. */
static const double goodwin_spread = 0.7;

static const double goodwin_pi = 3.14159265358979323846;

/* Returns the number of words, with repeats, of document i. */
static uint64_t goodwin_length(uint32_t i)
{
    double u = goodwin_uniform(2 * (uint64_t)i);
    double angle = 2 * goodwin_pi * goodwin_uniform(2 * (uint64_t)i + 1);
    double words = GOODWIN_MEDIAN
                 * exp(goodwin_spread * sqrt(-2 * log(u)) * cos(angle));
    return (uint64_t)fmin(fmax(words, 1), GOODWIN_WORDS);
}

/* Draws a term: the r-th has a chance of about 1 / r [Zipf]. */
static uint32_t goodwin_term(uint32_t vocabulary, uint32_t i, uint64_t word)
{
    double u = goodwin_uniform((uint64_t)(i + 1) << 20 | word);
    return (uint32_t)(exp(u * log((double)vocabulary + 1)) - 1);
}

/* Writes the distinct terms of document i. `seen` has the last document of each
 * term, plus 1. */
static uint64_t goodwin_write(const goodwin_texts *t, uint32_t i,
                              uint32_t *terms, uint32_t *seen)
{
    uint64_t n = 0, length = goodwin_length(i);
    for (uint64_t word = 0; word < length; word++) {
        uint32_t term = goodwin_term(t->vocabulary, i, word);
        if (term < t->vocabulary && seen[term] != i + 1) {
            seen[term] = i + 1;
            terms[n++] = term;
        }
    }
    return n;
}

/* Builds the lists from the documents. */
static void goodwin_invert(goodwin_texts *t)
{
    t->at = calloc(t->vocabulary + 2, sizeof *t->at);
    if (t->at == NULL)
        lab_stop("memory", "not enough; try QUICK=1");
    t->lists = lab_allocate(t->postings * sizeof *t->lists);
    for (uint64_t i = 0; i < t->postings; i++)
        t->at[t->terms[i] + 2]++;
    for (uint32_t term = 0; term < t->vocabulary; term++)
        t->at[term + 2] += t->at[term + 1];
    for (uint32_t i = 0; i < t->documents; i++)
        for (uint64_t j = t->begin[i]; j < t->begin[i + 1]; j++)
            t->lists[t->at[t->terms[j] + 1]++] = i;
}

static goodwin_texts goodwin_read(uint32_t documents, uint32_t vocabulary)
{
    goodwin_texts t = { .documents = documents, .vocabulary = vocabulary };
    uint64_t words = 0;
    for (uint32_t i = 0; i < documents; i++)
        words += goodwin_length(i);
    t.begin = lab_allocate((documents + 1) * sizeof *t.begin);
    t.terms = lab_allocate(words * sizeof *t.terms);
    uint32_t *seen = calloc(vocabulary, sizeof *seen);
    if (seen == NULL)
        lab_stop("memory", "not enough; try QUICK=1");
    for (uint32_t i = 0; i < documents; i++) {
        t.begin[i] = t.postings;
        t.postings += goodwin_write(&t, i, t.terms + t.postings, seen);
    }
    t.begin[documents] = t.postings;
    free(seen);
    goodwin_invert(&t);
    return t;
}

static void goodwin_forget(goodwin_texts *t)
{
    free(t->begin);
    free(t->terms);
    free(t->at);
    free(t->lists);
}

/* Returns how many documents have a term. */
static uint64_t goodwin_have(const goodwin_texts *t, uint32_t term)
{
    return t->at[term + 1] - t->at[term];
}

/* ---- Lists -------------------------------------------------------------- */

/* Returns the length of Golomb's code of a gap, for m: the quotient in unary,
 * the remainder in as few bits as needed [Golomb 1966]. */
static uint64_t goodwin_golomb_bits(uint64_t gap, uint64_t m)
{
    unsigned wide = 0;
    while (UINT64_C(1) << wide < m)
        wide++;
    uint64_t rest = (gap - 1) % m, shorter = (UINT64_C(1) << wide) - m;
    return (gap - 1) / m + 1 + wide - (wide > 0 && rest < shorter);
}

static unsigned goodwin_bytes_of(uint64_t gap)
{
    unsigned bytes = 1;
    for (; gap >= 128; gap >>= 7)
        bytes++;
    return bytes;
}

/* The bits of all lists in each encoding; the last is the information in a
 * list: which of the documents they are. */
typedef struct { double golomb, bytes, words, least, terms; } goodwin_sizes;

/* A term is looked up by 64 bits, and its list begins at one of 2^32 bytes. */
enum { GOODWIN_ENTRY = 96 };

static void goodwin_size_list(goodwin_sizes *s, const goodwin_texts *t,
                              uint32_t term)
{
    uint64_t n = goodwin_have(t, term), last = 0;
    uint64_t m = (uint64_t)ceil(log(2) * t->documents / (double)n);
    for (uint64_t i = t->at[term]; i < t->at[term + 1]; i++) {
        uint64_t gap = t->lists[i] + 1 - last;
        last = t->lists[i] + 1;
        s->golomb += (double)goodwin_golomb_bits(gap, m);
        s->bytes += 8 * goodwin_bytes_of(gap);
    }
    s->words += 32 * (double)n;
    s->least += lab_choose(t->documents, (double)n);
    s->terms += GOODWIN_ENTRY;
}

static goodwin_sizes goodwin_size(const goodwin_texts *t)
{
    goodwin_sizes s = { 0 };
    for (uint32_t term = 0; term < t->vocabulary; term++)
        if (goodwin_have(t, term) > 0)
            goodwin_size_list(&s, t, term);
    return s;
}

/* ---- Signatures --------------------------------------------------------- */

enum { GOODWIN_KEYS = 1 << 18, GOODWIN_MOST_ROWS = 16 };

/* An index of the documents: by default with terms as keys, or with more rows
 * for rarer terms. */
typedef struct {
    bly_index *index;
    bool       rows;
    uint64_t  *numbers;         /* of each document in it                    */
} goodwin_side;

static const double goodwin_density = 0.1, goodwin_rate = 0.01;

/* Returns the keys of a term. */
static size_t goodwin_keys(const goodwin_texts *t, bool rows, uint32_t term,
                           uint64_t *keys)
{
    double share = (double)goodwin_have(t, term) / t->documents;
    unsigned n = rows ? goodwin_rows(share, goodwin_density) : 1;
    lab_keys(keys, n, GOODWIN_TERMS, (uint64_t)term * GOODWIN_MOST_ROWS);
    return n;
}

static void goodwin_add(bly_index_maker *maker, const goodwin_texts *t,
                        bool rows, uint32_t i, uint64_t *keys)
{
    size_t n = 0;
    for (uint64_t j = t->begin[i]; j < t->begin[i + 1]; j++)
        n += goodwin_keys(t, rows, t->terms[j], keys + n);
    lab_index_add(maker, i, keys, n);
}

static goodwin_side goodwin_sign(const lab *l, const goodwin_texts *t,
                                 bool rows)
{
    bly_index_spec spec = { .rate = rows ? goodwin_density : goodwin_rate,
                            .probes = rows };
    goodwin_side side = { .rows = rows };
    bly_index_maker *maker = lab_index(l, &spec);
    uint64_t *keys = lab_allocate(GOODWIN_KEYS * sizeof *keys);
    for (uint32_t i = 0; i < t->documents; i++)
        goodwin_add(maker, t, rows, i, keys);
    free(keys);
    side.index = lab_index_open(l, maker);
    side.numbers = lab_allocate(t->documents * sizeof *side.numbers);
    for (uint64_t i = 0; i < t->documents; i++)
        side.numbers[lab_index_name(side.index, i)] = i;
    return side;
}

static void goodwin_unsign(goodwin_side *side)
{
    bly_index_free(side->index);
    free(side->numbers);
}

/* Returns the bits of its rows per term of a document. */
static double goodwin_bits(const goodwin_side *side, const goodwin_texts *t)
{
    bly_index_stat_t stat;
    bly_index_stat(&stat, side->index);
    return (double)stat.row_bytes * 8 / (double)t->postings;
}

/* Returns those bits for an index that is not built. */
static double goodwin_planned(const goodwin_texts *t, double rate,
                              uint32_t probes)
{
    bly_index_spec spec = { .rate = rate, .probes = probes };
    double bits = 0;
    for (uint32_t i = 0; i < t->documents; i++)
        bits += (double)bly_index_bits(&spec, t->begin[i + 1] - t->begin[i]);
    return bits / (double)t->postings;
}

/* ---- Bytes -------------------------------------------------------------- */

/* Returns the bits if all terms have as many rows as the rarest needs. */
static double goodwin_all_rows(const goodwin_texts *t)
{
    unsigned most = goodwin_rows(1.0 / t->documents, goodwin_density);
    return goodwin_planned(t, pow(goodwin_density, most), most);
}

static void goodwin_claims_bytes(lab *l, const goodwin_texts *t,
                                 goodwin_sizes s, double ours, double rows)
{
    double lists = (s.golomb + s.terms) / (double)t->postings;
    double bytes = (s.bytes + s.terms) / (double)t->postings;
    lab_says(l, "inverted files take less space than signatures [Zobel et al.]",
             lists < rows, "%.2f bits a term of a document with Golomb's code "
             "and 12 bytes a list (%.2f as bytes); rows with a signal to noise "
             "of ten %.2f", lists, bytes, rows);
    lab_says(l, "ours: and less than signatures of which one of a hundred "
                "documents is named wrongly", lists < ours,
             "%.2f bits against %.2f, without the 12 bytes %.2f", lists, ours,
             s.golomb / (double)t->postings);
    double all = goodwin_all_rows(t);
    lab_says(l, "rows by how rare a term is take less space than as many for "
                "all", rows < all, "%.2f bits against %.2f", rows, all);
    double at = 0;
    for (double p = 0.5; p > 1e-6 && at == 0; p /= 1.02)
        if (goodwin_planned(t, p, 0) > lists)
            at = p;
    lab_says(l, "ours: signatures of which one of ten documents is named "
                "wrongly are smaller than lists", at > 0 && at < 0.1,
             "they are as large where one of %.3g is", 1 / at);
}

static void goodwin_figure_bytes(lab *l, const goodwin_texts *t,
                                 const goodwin_side *ours,
                                 const goodwin_side *rows)
{
    goodwin_sizes s = goodwin_size(t);
    double n = (double)t->postings;
    lab_figure(l, "bytes", "rate,best probes,one probe,golomb,bytes,words,"
                           "least,rows,golomb with terms");
    for (int i = 1; i <= 20; i++) {
        double rate = exp2(-i * 0.5);
        lab_row(l, "%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g", rate,
                goodwin_planned(t, rate, 0), goodwin_planned(t, rate, 1),
                s.golomb / n, s.bytes / n, s.words / n, s.least / n,
                goodwin_bits(rows, t), (s.golomb + s.terms) / n);
    }
    goodwin_claims_bytes(l, t, s, goodwin_bits(ours, t),
                         goodwin_bits(rows, t));
}

/* ---- Queries ------------------------------------------------------------ */

enum { GOODWIN_ASKED = 3, GOODWIN_BANDS = 18, GOODWIN_ROUNDS = 7,
       GOODWIN_SIDES = 4 };

/* Terms, rarest first. */
typedef struct { uint32_t terms[GOODWIN_ASKED]; } goodwin_question;

/* All sides of the comparison, and room for their answers. */
typedef struct {
    const goodwin_texts *texts;
    const goodwin_side  *ours, *rows;
    uint8_t             *coded;         /* gaps in bytes                     */
    uint64_t            *coded_at;
    uint64_t            *row;
    uint32_t            *found;
} goodwin_desk;

static void goodwin_code(goodwin_desk *d)
{
    const goodwin_texts *t = d->texts;
    d->coded = lab_allocate(5 * t->postings);
    d->coded_at = lab_allocate((t->vocabulary + 1) * sizeof *d->coded_at);
    uint64_t at = 0;
    for (uint32_t term = 0; term < t->vocabulary; term++) {
        uint32_t last = 0;
        d->coded_at[term] = at;
        for (uint64_t i = t->at[term]; i < t->at[term + 1]; i++) {
            uint32_t gap = t->lists[i] + 1 - last;
            last = t->lists[i] + 1;
            for (; gap >= 128; gap >>= 7)
                d->coded[at++] = (uint8_t)(gap | 128);
            d->coded[at++] = (uint8_t)gap;
        }
    }
    d->coded_at[t->vocabulary] = at;
}

/* Decodes the next document of a list, starting from the last one. */
static const uint8_t *goodwin_next(const uint8_t *at, uint32_t *document)
{
    uint32_t gap = *at & 127;
    for (unsigned shift = 7; *at++ >= 128; shift += 7)
        gap |= (uint32_t)(*at & 127) << shift;
    *document += gap;
    return at;
}

/* Keeps those of n documents that are also in a coded list. */
static uint64_t goodwin_meet_coded(const goodwin_desk *d, uint32_t term,
                                   uint32_t *found, uint64_t n)
{
    const uint8_t *at = d->coded + d->coded_at[term];
    const uint8_t *end = d->coded + d->coded_at[term + 1];
    uint32_t document = UINT32_MAX;
    uint64_t kept = 0, i = 0;
    while (i < n && at < end) {
        at = goodwin_next(at, &document);
        while (i < n && found[i] < document)
            i++;
        if (i < n && found[i] == document)
            found[kept++] = found[i++];
    }
    return kept;
}

static uint64_t goodwin_ask_coded(const goodwin_desk *d,
                                  const goodwin_question *q)
{
    const uint8_t *at = d->coded + d->coded_at[q->terms[0]];
    const uint8_t *end = d->coded + d->coded_at[q->terms[0] + 1];
    uint32_t document = UINT32_MAX;
    uint64_t n = 0;
    while (at < end) {
        at = goodwin_next(at, &document);
        d->found[n++] = document;
    }
    for (unsigned i = 1; i < GOODWIN_ASKED; i++)
        n = goodwin_meet_coded(d, q->terms[i], d->found, n);
    return n;
}

/* Returns the first place of a list, from `at` on, not below a document: in
 * doubling steps, then by halving. */
static uint64_t goodwin_gallop(const uint32_t *list, uint64_t at, uint64_t n,
                               uint32_t document)
{
    uint64_t step = 1;
    while (at + step < n && list[at + step] < document) {
        at += step;
        step *= 2;
    }
    uint64_t end = at + step < n ? at + step : n;
    while (at < end) {
        uint64_t middle = at + (end - at) / 2;
        if (list[middle] < document)
            at = middle + 1;
        else
            end = middle;
    }
    return at;
}

static uint64_t goodwin_ask_words(const goodwin_desk *d,
                                  const goodwin_question *q)
{
    const goodwin_texts *t = d->texts;
    uint64_t n = goodwin_have(t, q->terms[0]);
    memcpy(d->found, t->lists + t->at[q->terms[0]], n * sizeof *d->found);
    for (unsigned i = 1; i < GOODWIN_ASKED; i++) {
        const uint32_t *list = t->lists + t->at[q->terms[i]];
        uint64_t all = goodwin_have(t, q->terms[i]), at = 0, kept = 0;
        for (uint64_t j = 0; j < n && at < all; j++) {
            at = goodwin_gallop(list, at, all, d->found[j]);
            if (at < all && list[at] == d->found[j])
                d->found[kept++] = d->found[j];
        }
        n = kept;
    }
    return n;
}

static uint64_t goodwin_ask_side(const goodwin_desk *d,
                                 const goodwin_side *side,
                                 const goodwin_question *q)
{
    uint64_t keys[GOODWIN_ASKED * GOODWIN_MOST_ROWS];
    size_t n = 0;
    for (unsigned i = 0; i < GOODWIN_ASKED; i++)
        n += goodwin_keys(d->texts, side->rows, q->terms[i], keys + n);
    return lab_index_ask(d->row, side->index, keys, n);
}

static uint64_t goodwin_ask(const goodwin_desk *d, unsigned side,
                            const goodwin_question *q)
{
    switch (side) {
    case 0:  return goodwin_ask_side(d, d->ours, q);
    case 1:  return goodwin_ask_side(d, d->rows, q);
    case 2:  return goodwin_ask_coded(d, q);
    default: return goodwin_ask_words(d, q);
    }
}

/* Returns whether all sides name the lists' documents, and all lists agree. */
static bool goodwin_agree(const goodwin_desk *d, const goodwin_question *q)
{
    const goodwin_side *sides[] = { d->ours, d->rows };
    uint64_t n = goodwin_ask_words(d, q);
    for (unsigned side = 0; side < 2; side++) {
        goodwin_ask_side(d, sides[side], q);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t at = sides[side]->numbers[d->found[i]];
            if (!(d->row[at / 64] >> at % 64 & 1))
                return false;
        }
    }
    return goodwin_ask_coded(d, q) == n && n > 0;
}

/* Draws the i-th query: different terms of a document. */
static bool goodwin_draw(const goodwin_texts *t, uint64_t i,
                         goodwin_question *q)
{
    uint64_t draw = i * (GOODWIN_ASKED + 1);
    uint64_t document = lab_key(GOODWIN_QUESTIONS, draw) % t->documents;
    uint64_t n = t->begin[document + 1] - t->begin[document];
    for (unsigned j = 0; j < GOODWIN_ASKED && n > 0; j++)
        q->terms[j] = t->terms[t->begin[document]
                               + lab_key(GOODWIN_QUESTIONS, draw + j + 1) % n];
    for (unsigned j = 1; j < GOODWIN_ASKED; j++)
        for (unsigned k = j; k > 0 && goodwin_have(t, q->terms[k])
                                    < goodwin_have(t, q->terms[k - 1]); k--) {
            uint32_t other = q->terms[k];
            q->terms[k] = q->terms[k - 1];
            q->terms[k - 1] = other;
        }
    return n > 0 && q->terms[0] != q->terms[1] && q->terms[1] != q->terms[2];
}

/* Returns nanoseconds per query, the median of rounds. */
static lab_measure goodwin_time(const goodwin_desk *d, unsigned side,
                                const goodwin_question *q, size_t n)
{
    double times[GOODWIN_ROUNDS];
    for (unsigned i = 0; i < GOODWIN_ROUNDS; i++) {
        double start = lab_clock();
        for (size_t j = 0; j < n; j++)
            lab_sink += goodwin_ask(d, side, &q[j]);
        times[i] = (lab_clock() - start) / (double)n;
    }
    return lab_median(times, GOODWIN_ROUNDS);
}

/* Returns the share of all documents that a side names for these queries. */
static double goodwin_named(const goodwin_desk *d, unsigned side,
                            const goodwin_question *q, size_t n)
{
    uint64_t named = 0;
    for (size_t i = 0; i < n; i++)
        named += goodwin_ask(d, side, &q[i]);
    return (double)named / (double)n / d->texts->documents;
}

/* Queries grouped by the documents of their rarest term: powers of two. */
typedef struct {
    goodwin_question *of[GOODWIN_BANDS], *mixed;
    size_t            n[GOODWIN_BANDS], mixed_n, most;
    bool              agree;
} goodwin_bands;

static void goodwin_ask_for(goodwin_bands *b, const goodwin_desk *d,
                            uint64_t tries)
{
    for (uint64_t i = 0; i < tries; i++) {
        goodwin_question q;
        if (!goodwin_draw(d->texts, i, &q))
            continue;
        unsigned band = 0;
        while (goodwin_have(d->texts, q.terms[0]) >> (band + 1) > 0)
            band++;
        if (b->mixed_n < b->most) {
            b->mixed[b->mixed_n++] = q;
            b->agree = b->agree && goodwin_agree(d, &q);
        }
        if (band < GOODWIN_BANDS && b->n[band] < b->most)
            b->of[band][b->n[band]++] = q;
    }
}

static goodwin_bands goodwin_draw_all(const lab *l, const goodwin_desk *d)
{
    goodwin_bands b = { .most = lab_pick(l, 5, 100, 1000), .agree = true };
    b.mixed = lab_allocate(b.most * sizeof *b.mixed);
    for (unsigned i = 0; i < GOODWIN_BANDS; i++)
        b.of[i] = lab_allocate(b.most * sizeof *b.of[i]);
    goodwin_ask_for(&b, d, lab_pick(l, 1000, 100000, 1000000));
    return b;
}

/* Returns the share from which rows of bits are faster than gap lists, and
 * remain so. Called for each band, from rare to frequent terms. */
static double goodwin_crossing(double crossing, double share, double rows,
                               double lists)
{
    if (rows >= lists)
        return NAN;
    return isnan(crossing) ? share : crossing;
}

static void goodwin_claims_time(lab *l, const goodwin_desk *d,
                                const goodwin_bands *b, double crossing)
{
    lab_measure t[GOODWIN_SIDES];
    for (unsigned side = 0; side < GOODWIN_SIDES; side++)
        t[side] = goodwin_time(d, side, b->mixed, b->mixed_n);
    double rows = fmin(t[0].value, t[1].value);
    double lists = fmin(t[2].value, t[3].value);
    lab_says(l, "rows of bits cost less time than an inverted file", rows
             < lists, "three terms of a document: %.3g μs with 1 %%, %.3g with "
             "a signal to noise of ten; lists of gaps %.3g, of whole numbers "
             "%.3g", t[0].value / 1e3, t[1].value / 1e3, t[2].value / 1e3,
             t[3].value / 1e3);
    lab_says(l, "inverted files answer typical questions in less time [Zobel "
                "et al.]", lists < rows, "%.3g times as fast", rows / lists);
    lab_says(l, "ours: where all terms are frequent, rows of bits are faster "
                "than lists of gaps", !isnan(crossing),
             "from %.2g of all documents on, for the rarest of three",
             crossing);
    double real = goodwin_named(d, 3, b->mixed, b->mixed_n);
    lab_says(l, "ours: no document is lost, and rows by how rare a term is "
                "name at most a tenth more", b->agree
             && goodwin_named(d, 1, b->mixed, b->mixed_n) <= 1.1 * real,
             "%.4g times what there is; with 1 %% %.4g times",
             goodwin_named(d, 1, b->mixed, b->mixed_n) / real,
             goodwin_named(d, 0, b->mixed, b->mixed_n) / real);
}

static void goodwin_figure_time(lab *l, const goodwin_desk *d)
{
    goodwin_bands b = goodwin_draw_all(l, d);
    double crossing = NAN;
    lab_figure(l, "time", "share,ours,low,high,rows,low,high,gaps,low,high,"
                          "words,low,high,questions");
    for (unsigned band = 0; band < GOODWIN_BANDS; band++) {
        lab_measure t[GOODWIN_SIDES];
        if (b.n[band] < b.most)
            continue;
        for (unsigned side = 0; side < GOODWIN_SIDES; side++)
            t[side] = goodwin_time(d, side, b.of[band], b.n[band]);
        double share = exp2(band + 0.5) / d->texts->documents;
        crossing = goodwin_crossing(crossing, share,
                                    fmin(t[0].value, t[1].value), t[2].value);
        lab_row(l, "%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,"
                   "%.6g,%.6g,%zu", share, t[0].value, t[0].low, t[0].high,
                t[1].value, t[1].low, t[1].high, t[2].value, t[2].low,
                t[2].high, t[3].value, t[3].low, t[3].high, b.n[band]);
    }
    goodwin_claims_time(l, d, &b, crossing);
    for (unsigned i = 0; i < GOODWIN_BANDS; i++)
        free(b.of[i]);
    free(b.mixed);
}

/* ---- Documents, as rows and as lists ----------------------------------- */

static void goodwin_figures(lab *l)
{
    goodwin_texts t = goodwin_read(
        (uint32_t)lab_pick(l, 500, 10000, 100000),
        (uint32_t)lab_pick(l, 10000, 200000, 1000000));
    goodwin_side ours = goodwin_sign(l, &t, false);
    goodwin_side rows = goodwin_sign(l, &t, true);
    goodwin_figure_bytes(l, &t, &ours, &rows);
    goodwin_desk d = { .texts = &t, .ours = &ours, .rows = &rows };
    d.row = lab_allocate(lab_index_words(t.documents) * sizeof *d.row);
    d.found = lab_allocate(t.documents * sizeof *d.found);
    goodwin_code(&d);
    goodwin_figure_time(l, &d);
    free(d.row);
    free(d.found);
    free(d.coded);
    free(d.coded_at);
    goodwin_unsign(&ours);
    goodwin_unsign(&rows);
    goodwin_forget(&t);
}

int main(int argc, char **argv)
{
    lab l = lab_open(argc, argv);
    goodwin_figure_noise(&l);
    goodwin_figures(&l);
    return lab_close(&l);
}
