/* golomb.c - a counting Golomb-coded set: sorted values, only the gaps stored.
 *
 * WHAT IT IS
 *
 * Each key becomes one of R values, where R is about n / rate. The filter
 * stores the values in sorted order, as the gaps between them in Rice's code,
 * and how often each was added. It is `gcs` divided into pages with free room,
 * so that keys can be added, counted and removed. A change moves everything
 * that follows it in its page.
 *
 * WHEN TO USE IT
 *
 * Use it if keys are removed or counted and memory matters more than speed: it
 * is the smallest kind that can do so. Filters can be united, and resized
 * without the keys.
 *
 * WHEN NOT TO
 *
 * - Speed matters: a lookup takes about twenty times as long as with `cuckoo`,
 * and a change ten times as long as with `quotient`. Those two take
 *   half a bit to two bits more per key.
 * - Keys are never removed or counted and are all known: `gcs` is smaller, as
 *   it needs no free room, and `ribbon` is smaller still.
 * - Attackers choose the keys: hash them with `siphash` and a secret.
 *
 * COST
 *
 *      rate     bits per key    cache lines per lookup
 *      1 %           8.7              3.3
 *      0.1 %        12.3              3.5
 *
 * An add or a removal moves half a page on average, at most 64 KiB.
 *
 * THE PICTURE (a bucket of 64 values, k = 2: 3, 12 three times, 14 and 31)
 *
 *      value         3       12    12 three times    14       31
 *      gap           3        9          0            2       17
 *      quotient      0        2          0            0        4    gap / 2^k
 *      remainder     3        1          0            2        1    gap mod 2^k
 *
 *      bits of the bucket, first to last:
 *
 *      | 1 | 001 | 1 010 | 1 | 00001 |  1 0  | 0 1  | 0 0  | 1 0  | 1 1 |
 *        quotients: that many zeros,        remainders, k bits each, lowest bit
 *        then a one                         first, the last gap's in front
 *      ----->                                               <-----
 *
 *      Values differ, so no gap is 0. A coded 0 says that the value before it
 *      was added more than once. How much more, here 2 times, follows its
 *      quotient in Elias' gamma code: as many zeros as the number has bits
 *      below its highest, a one, and those bits, the lowest first.
 *
 * IMAGE
 *
 *      geometry 0   R, number of values, 1 .. 2^60
 *      geometry 1   w, bits 0 .. 7: a bucket has 2^w values, w <= 60; k, bits
 *                   8 .. 15, at most w and 44, and w - k at most 16
 *      geometry 2   B, bytes of a page, a multiple of 8, 8 .. 65536
 *      geometry 3   g, buckets of a page, 2 .. 65535
 *      payload      ceil(ceil(R / 2^w) / g) pages of B bytes, then 16 zero
 *                   bytes, so that every byte of a page is the first of 16
 *                   that can be read
 *
 *      a page       g numbers of e bits, where e is the least with 2^e > 8 B:
 *                   where each bucket's codes end, counted in bits from the
 *                   start of the first bucket's; then the codes of the
 *                   buckets, one after another; then zeros
 *
 *      Bit i of a page is bit (i mod 8) of byte i / 8, and numbers have their
 *      lowest bit first. Valid if and only if (1) the fields are in these
 *      ranges, (2) ceil(R / 2^w) is at most 2^48, (3) the g numbers fit into a
 *      page, and (4) the payload has that size. A filter's payload is also a
 *      pure function of its geometry and of the multiset of values in it: it
 *      shows neither the order of the adds nor the keys that were removed.
 *
 *      A key's value is the high half of hash * R, with the hash as it is. Its
 *      bucket is value / 2^w, whose page is that by g; the first gap of a
 *      bucket is the value less the bucket's first one.
 *
 * MATHS
 *
 * An absent key is found if its value is in the filter. With n keys that is,
 * exactly,
 *
 *      f = 1 - (1 - 1/R)^n, about n/R                                    (1)
 *
 * and R is the smallest number at which this is the requested rate. A value is
 * taken with this probability f, gaps are geometric, and Rice's code of one
 * takes
 *
 *      k + 1 + s / ((1 - f) (1 - s)) bits,  s = (1 - f)^(2^k)            (2)
 *
 * on average; the last gap of a bucket is left out. At the best k that is about
 * log2(1/f) + 1.47 .. 1.54 for small f. (`gcs` codes gaps less 1; the 0 that
 * this kind reserves for counts costs 2^-k bits per key.) Of n keys a share of
 * f/2 have the value of another key. That takes k + 2 bits, about as much as a
 * value of its own would, so it costs nothing. A key that is added c times
 * takes
 *
 *      k + 2 + 2 floor(log2(c - 1)) bits                                 (3)
 *
 * more than a key that is added once: 44 for a million times, at 1 %. A bucket
 * has between 48 and 96 keys when the filter is full, since w is a whole
 * number. Its entry takes e bits: 18 for pages of 16 to 32 KiB, which is 0.19
 * to 0.37 bits per key.
 *
 * A full page. The number of keys in a page is binomial: n keys come to it with
 * probability q, the share of R that it holds. By Bernstein's inequality, more
 * than
 *
 *      n q + L/3 + sqrt(L^2 / 9 + 2 L n q (1 - q))                       (4)
 *
 * come with a probability of at most e^-L. Given their number, only the
 * rounding of quotients varies the code's length: less than half a bit of
 * standard deviation per key, and one per bucket for the gap that is left out.
 * A page has room for (4) keys and sqrt(2L) of these standard deviations, where
 * e^-L is 10^-7 divided by the number of pages. So the probability that any
 * page is full before n different keys are in is below 10^-6, whatever n is; in
 * truth it is below 10^-8, as (4) is not sharp. A small filter has room for the
 * worst n keys.
 *
 * Repeats. If n adds are of keys that are added twice, there are half as many
 * gaps, whose quotients together are nearly as long as those of n, and as many
 * counts, of k + 2 bits by (3). That is
 *
 *      k + 1/2 + 1.44 + 3/4 bits per add                                 (5)
 *
 * instead of k + 1/2 + 1.44. Keys that are added more often take less per add,
 * except that for k < 2 keys added three times take up to a bit more than keys
 * added once. repeats=yes leaves room for that, and for the spread of keys that
 * are added in pairs: then n adds fit, whichever keys they are of.
 *
 *      requested      page=4    default   page=64    quotient    gcs
 *      10 %             5.50      5.32       5.26        6.08     4.78
 *      1 %              9.13      8.70       8.52        9.61     8.24
 *      0.1 %           13.15     12.32      12.07       12.76    11.56
 *      0.01 %          17.37     15.88      15.62       16.97    14.88
 *      10^-6           25.67     22.82      22.57       23.29    21.53
 *
 * These are the bits per key for 10^6 keys, everything included. By default a
 * page has about 16384 keys, and 16 to 64 KiB; (4) leaves a twentieth of it
 * free.
 *
 * ANOTHER SIZE
 *
 * Values stay what they are. Everything else follows from R and the new number
 * of keys, which may be larger or smaller. The rate is still n/R.
 *
 * A CHANGE
 *
 * A new value splits a gap in two. The remainders of the earlier gaps in the
 * bucket and all later buckets move up by the length of the new bits. The later
 * quotients and remainders of the bucket move by the length of the new
 * quotient. The ends in the page's head are raised, as many at a time as 57
 * bits hold. So a change moves half a page on average, 32 bytes at a time with
 * vectors. Uniting two filters moves a page once for each bucket that grows.
 *
 * HOSTILE KEYS
 *
 * An operation stays within one page, whatever the keys are. An attacker who
 * can compute the hash can crowd a page's 16 000 keys into one bucket. At 1e-9
 * a lookup then takes 7 us instead of 0.08, and an add or a removal 11 instead
 * of 0.8. `siphash` with a secret prevents this.
 *
 * PAPERS
 *
 *  [Putze 2009]    Cache-, hash- and space-efficient Bloom filters, by Putze,
 *                  Sanders and Singler, ACM JEA 14 (WEA 2007). The filter in
 *                  blocks, and that it "also supports counting filters with
 *                  insertion and deletion", which is all they say of it.
 *  [Golomb 1966]   Run-length encodings, IEEE Trans. Information Theory 12(3).
 *  [Rice 1971]     Rice & Plaunt, Adaptive variable-length coding for efficient
 *                  compression of spacecraft television data, IEEE Trans.
 *                  Communication Technology 19(6). Powers of two.
 *  [Elias 1975]    Universal codeword sets and representations of the integers,
 *                  IEEE Trans. Information Theory 21(2). Gamma.
 *  [Bernstein 1946] The theory of probabilities (in Russian). (4), as in
 *                  Boucheron, Lugosi & Massart, Concentration inequalities,
 *                  2013, section 2.8.
 */
#include "kinds/removable/golomb/golomb.h"

#include <math.h>

#include "maths/maths.h"

enum { GOLOMB_OPTION_PAGE, GOLOMB_OPTION_REPEATS };

static const char *const golomb_repeats[] = { "no", "yes", NULL };

enum { GOLOMB_KIB_MIN = 4, GOLOMB_KIB_MAX = 64,
       GOLOMB_KIB = 16, GOLOMB_PAGE_KEYS = 16384,   /* of a page, if not said:
                                           at least, and about               */
       GOLOMB_KEYS = 96 };              /* of a bucket, at most              */

static const kind_option golomb_options[] = {
    [GOLOMB_OPTION_PAGE] = {
        .name = "page", .help = "KiB of a page, at most: larger pages save "
                                "memory but slow changes",
        .least = GOLOMB_KIB_MIN, .most = GOLOMB_KIB_MAX,
        .standard = KIND_CHOOSE,
    },
    [GOLOMB_OPTION_REPEATS] = {
        .name = "repeats", .help = "yes: room for repeated adds as well, which "
                                   "are a bit longer",
        .choices = golomb_repeats, .standard = false,
    },
    { .name = NULL },
};

/* ---- Plan -------------------------------------------------------------- */

/* The layout of a filter of n keys. */
typedef struct {
    uint64_t n, range, total;           /* keys, values, buckets             */
    uint64_t pages, bytes, buckets;     /* and of each page                  */
    uint32_t width, k;
    bool     repeats;                   /* are there n adds, of any keys?    */
} golomb_size;

/* Returns the bits that repeats take if each value belongs to this many keys on
 * average, with a Poisson distribution. */
static double golomb_repeat_bits(double each, uint32_t k)
{
    double chance = each * exp(-each), sum = 0;
    for (uint64_t count = 2; count < 128; count++) {
        chance *= each / (double)count;
        sum += chance * (k + 2 + 2 * floor(log2((double)count - 1)));
    }
    return sum;
}

/* The mean bits of a bucket of `width` values that n of R keys have. A quotient
 * is the number of multiples of 2^k in the gap: the sum, over i from 1 on, of
 * the chance that the value is taken and the i 2^k - 1 before it are not, at
 * each place where there are so many. */
static double golomb_bucket_bits(double each, double width, uint32_t k)
{
    double taken = -expm1(-each), step = ldexp(1, (int)k);
    double steps = 0, left = taken * exp(-each * (step - 1));
    double free = exp(-each * step);
    for (double i = step; i < width && left * width > 1e-9; i += step) {
        steps += (width - i) * left;
        left *= free;
    }
    return width * taken * (k + 1) + steps
         + width * golomb_repeat_bits(each, k);
}

static uint32_t golomb_best_k(double each, uint32_t width)
{
    double values = ldexp(1, (int)width);
    uint32_t k = width > GOLOMB_STEPS_MAX ? width - GOLOMB_STEPS_MAX : 0;
    uint32_t most = width < GOLOMB_K_MAX ? width : GOLOMB_K_MAX;
    while (k < most && golomb_bucket_bits(each, values, k + 1)
                       < golomb_bucket_bits(each, values, k))
        k++;
    return k;
}

/* Bits of code that a page of so many buckets needs, by (4), or where keys come
 * twice (5), so that they come to it two at a time; no n adds need
 * more than the other number: each k + 2 bits, and all quotients together as
 * many as there are multiples of 2^k. */
static double golomb_page_bits(const golomb_size *s, uint64_t buckets)
{
    double n = (double)s->n, range = (double)s->range;
    double pages = ceil((double)s->total / (double)buckets);
    double bucket = fmin(ldexp(1, (int)s->width), range);
    double values = fmin(bucket * (double)buckets, range), q = values / range;
    double l = log(pages * 1e7), times = s->repeats ? 2 : 1, step = times * l;
    double keys = fmin(n, n * q + step / 3
                          + sqrt(step * step / 9 + 2 * step * n * q * (1 - q)));
    double more = s->repeats ? s->k < 2 ? 1 : 0.75 : 0;
    double mean = golomb_bucket_bits(keys / values, bucket, s->k)
                * values / bucket + more * keys;
    double sd = sqrt(keys / 4 + values / bucket);
    double worst = keys * (s->k + 2) + values / ldexp(1, (int)s->k) + 1;
    return fmin(mean + sqrt(2 * l) * sd + 64, worst);
}

/* Bytes of such a page with its ends; more than GOLOMB_PAGE_MAX: it cannot
 * be. */
static uint64_t golomb_page_bytes(const golomb_size *s, uint64_t buckets)
{
    double code = golomb_page_bits(s, buckets);
    if (!(code < 8.0 * GOLOMB_PAGE_MAX) || buckets > GOLOMB_BUCKETS_MAX)
        return UINT64_MAX;
    for (uint32_t entry = 4; ; entry++) {
        uint64_t bits = (uint64_t)code + 1 + buckets * entry;
        uint64_t bytes = (bits + 63) / 64 * 8;
        if (golomb_entry(8 * bytes) <= entry)
            return bytes;
    }
}

/* The most buckets for which a page need not be larger; 0: there are none. */
static uint64_t golomb_most_buckets(const golomb_size *s, uint64_t bytes)
{
    uint64_t low = GOLOMB_BUCKETS_MIN, high = GOLOMB_BUCKETS_MAX;
    if (s->total < high)
        high = s->total > low ? s->total : low;
    if (golomb_page_bytes(s, low) > bytes)
        return 0;
    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;
        if (golomb_page_bytes(s, middle) <= bytes)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Returns the default largest page, which leaves the same share of it free at
 * any rate. */
static uint64_t golomb_chosen_bytes(const golomb_size *s)
{
    double each = (double)s->n / (double)s->range;
    double values = ldexp(1, (int)s->width);
    double bits = golomb_bucket_bits(each, values, s->k) / (each * values);
    double kib = ceil(bits * GOLOMB_PAGE_KEYS / 8192);
    return (uint64_t)fmax(GOLOMB_KIB, fmin(kib, GOLOMB_KIB_MAX)) << 10;
}

/* All that follows from n, R and how large a page may be, which is chosen where
 * it is 0. */
static bool golomb_size_for(golomb_size *s, uint64_t n, uint64_t range,
                            uint64_t bytes, bool repeats)
{
    double each = (double)n / (double)range;
    int width = ilogb(GOLOMB_KEYS / each);
    *s = (golomb_size){ .n = n, .range = range, .repeats = repeats };
    s->width = width < 0 ? 0 : width > 60 ? 60 : (uint32_t)width;
    s->k = golomb_best_k(each, s->width);
    s->total = golomb_total(range, s->width);
    bytes = bytes != 0 ? bytes : golomb_chosen_bytes(s);
    uint64_t most = golomb_most_buckets(s, bytes);
    if (most == 0 || s->total > GOLOMB_TABLE_MAX)
        return false;
    s->pages = s->total / most + (s->total % most != 0);
    s->buckets = s->total / s->pages + (s->total % s->pages != 0);
    if (s->buckets < GOLOMB_BUCKETS_MIN)
        s->buckets = GOLOMB_BUCKETS_MIN;
    s->pages = s->total / s->buckets + (s->total % s->buckets != 0);
    s->bytes = golomb_page_bytes(s, s->buckets);
    return true;
}

static bly_status golomb_plan_of(bly_plan_t *plan, const golomb_size *s)
{
    uint64_t payload = s->pages * s->bytes + GOLOMB_TAIL;
    bly_status status = kind_plan_bytes(plan, payload);
    if (status != BLY_OK)
        return status;
    double range = (double)s->range, n = (double)s->n;
    double bucket = fmin(ldexp(1, (int)s->width), range);
    double bits = golomb_bucket_bits(n / range, bucket, s->k);
    uint64_t ends = s->buckets * golomb_entry(8 * s->bytes);
    plan->capacity = s->n;
    plan->rate = math_numbers_rate(range, n);
    plan->rate_sd = sqrt(math_set_variance(range, n)) / range;
    plan->fill = fmin(1, bits * (range / bucket) / (double)s->pages
                         / (double)(8 * s->bytes - ends));
    plan->probes = 1;
    plan->lines_present = plan->lines_absent
        = fmin(2 + bits / 512, ceil((double)plan->bytes / 64));
    plan->geometry[GOLOMB_RANGE] = s->range;
    plan->geometry[GOLOMB_SHAPE] = s->width | (uint64_t)s->k << 8;
    plan->geometry[GOLOMB_BYTES] = s->bytes;
    plan->geometry[GOLOMB_BUCKETS] = s->buckets;
    return BLY_OK;
}

static bly_status golomb_plan(bly_plan_t *plan, const kind_spec *spec)
{
    golomb_size size;
    uint64_t range, kib = spec->option[GOLOMB_OPTION_PAGE];
    uint64_t bytes = kib == KIND_CHOOSE ? 0 : kib << 10;
    if (spec->capacity == 0)
        return kind_no_capacity();
    if (spec->capacity > GOLOMB_RANGE_MAX / 4
        || !math_numbers_for(&range, spec->capacity, spec->rate,
                             GOLOMB_RANGE_MAX)
        || !golomb_size_for(&size, spec->capacity, range, bytes,
                            spec->option[GOLOMB_OPTION_REPEATS]))
        return kind_too_big(spec, "2^60 values");
    return golomb_plan_of(plan, &size);
}

/* ---- Check ------------------------------------------------------------- */

static bly_status golomb_check(const void *image)
{
    uint64_t range = image_geometry(image, GOLOMB_RANGE);
    uint64_t shape = image_geometry(image, GOLOMB_SHAPE);
    uint64_t bytes = image_geometry(image, GOLOMB_BYTES);
    uint64_t buckets = image_geometry(image, GOLOMB_BUCKETS);
    uint64_t payload = image_payload_bytes(image);
    uint64_t width = shape & 0xFF, k = shape >> 8;

    bool sound = range >= 1 && range <= GOLOMB_RANGE_MAX
              && width <= 60 && k <= width && k <= GOLOMB_K_MAX
              && width - k <= GOLOMB_STEPS_MAX
              && bytes >= 8 && bytes <= GOLOMB_PAGE_MAX && bytes % 8 == 0
              && buckets >= GOLOMB_BUCKETS_MIN && buckets <= GOLOMB_BUCKETS_MAX
              && buckets * golomb_entry(8 * bytes) <= 8 * bytes;
    if (sound) {
        uint64_t total = golomb_total(range, (uint32_t)width);
        uint64_t pages = total / buckets + (total % buckets != 0);
        sound = total <= GOLOMB_TABLE_MAX && payload == pages * bytes
                                                        + GOLOMB_TAIL;
    }
    return sound ? BLY_OK : kind_bad_geometry(image);
}

/* ---- Another size ------------------------------------------------------ */

/* Returns the largest page, which is not in the image: the present size,
 * rounded up to a power of two, or the default if there is only one page. */
static uint64_t golomb_page_now(const golomb_view *v)
{
    uint64_t bytes = GOLOMB_KIB_MIN << 10;
    while (bytes < v->stride)
        bytes *= 2;
    return v->count > 1 ? bytes : 0;
}

/* Returns whether the filter has room for repeated keys; the option is not in
 * the image. */
static bool golomb_has_room(const void *image, const golomb_view *v)
{
    golomb_size s;
    uint64_t n = image_u64(image, IMAGE_CAPACITY);
    return n <= 64 * v->range
        && golomb_size_for(&s, n, v->range, golomb_page_now(v), true)
        && s.pages * s.bytes <= v->count * v->stride;
}

static bly_status golomb_resize_plan(bly_plan_t *plan, const void *image,
                                     uint64_t capacity)
{
    golomb_view v = golomb_look(image), new = v;
    golomb_size s;
    if (capacity > 64 * v.range
        || !golomb_size_for(&s, capacity, v.range, golomb_page_now(&v),
                            golomb_has_room(image, &v)))
        return status_fail(BLY_EPARAM, "a filter of %llu values cannot hold "
                           "%llu keys: plan a filter that will grow with a "
                           "lower rate", (unsigned long long)v.range,
                           (unsigned long long)capacity);
    new.width = s.width;
    new.k = s.k;
    new.buckets = s.buckets;
    new.room = 8 * s.bytes - s.buckets * golomb_entry(8 * s.bytes);
    if (!golomb_fits(&new, &v))
        return status_fail(BLY_EFULL, "the filter holds more keys than pages "
                           "for %llu keys have room for: give a larger "
                           "capacity", (unsigned long long)capacity);
    return golomb_plan_of(plan, &s);
}

/* ---- Look inside ------------------------------------------------------- */

static void golomb_each(const void *image, bly_visit_fingerprint *visit,
                        void *context)
{
    golomb_view v = golomb_look(image);
    golomb_walk w = golomb_first(&v);
    unsigned bits = 0;
    while ((v.range - 1) >> bits > 0)
        bits++;
    while (golomb_next(&w)
           && visit(context, math_least_hash(w.value, v.range), bits, w.count))
        continue;
}

/* The share of the pages' bits that is in use. */
static double golomb_fill(const golomb_view *v)
{
    double used = 0;
    for (uint64_t i = 0; i < v->count; i++) {
        uint64_t bits = golomb_end(v, v->pages + i * v->stride,
                                   v->buckets - 1);
        used += (double)(bits < v->room ? bits : v->room);
    }
    return v->room > 0 ? used / (double)v->count / (double)v->room : 1;
}

/* Reports statistics. The number of keys is the one from which the number of
 * values is expected; its deviation is that of the number of collisions. */
static void golomb_stat(bly_info_t *out, const void *image)
{
    golomb_view v = golomb_look(image);
    golomb_walk w = golomb_first(&v);
    uint64_t some = 0;
    while (golomb_next(&w))
        some++;
    double range = (double)v.range;
    out->distinct = math_numbers_keys((double)some, range, &out->distinct_sd);
    out->fill = golomb_fill(&v);
    out->rate = (double)some / range;
    out->probes = 1;
}

static const kind_combining golomb_combining = {
    .unite   = golomb_unite,
    .overlap = golomb_overlap,
};

static const kind_listing golomb_listing = {
    .fingerprints = golomb_each,
};

static const kind_resizing golomb_resizing = {
    .plan   = golomb_resize_plan,
    .resize = golomb_resize,
};

const bly_kind bly_kind_golomb = {
    .name     = "golomb",
    .family   = "removable",
    .summary  = "a counting Golomb-coded set: the smallest that removes keys",
    .version  = GOLOMB_VERSION,
    .options  = golomb_options,
    .raw_hash = true,

    .plan  = golomb_plan,
    .check = golomb_check,
    .stat  = golomb_stat,

    .contains      = golomb_contains,
    .contains_many = golomb_contains_many,
    .contains_here = golomb_contains_here,

    .add         = golomb_add,
    .add_many    = golomb_add_many,
    .remove      = golomb_remove,
    .remove_many = golomb_remove_many,
    .count       = golomb_count,
    .count_many  = golomb_count_many,

    .combining = &golomb_combining,
    .listing   = &golomb_listing,
    .resizing  = &golomb_resizing,
};
