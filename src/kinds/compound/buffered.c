/* buffered.c - a filter of pages, for a file larger than memory.
 *
 * WHAT IT IS
 *
 * Many `standard` filters, each one page of a file. A key's hash selects a
 * page, and all bits of the key lie in that page. So a lookup reads one page
 * from the disk instead of up to k, and adds can be collected in memory and
 * written page by page. BLY_PAGED works on the file in this way. In memory or
 * memory-mapped, it is a filter like any other.
 *
 * WHEN TO USE IT
 *
 * Use it if the filter does not fit into memory and is used in its file.
 * Filters of one plan can be united, intersected and compared.
 *
 * WHEN NOT TO
 *
 * - The filter fits into memory: `blocked` is faster and `standard` smaller.
 * - Keys must be removed: `cuckoo`, `quotient` or `counting`, in memory.
 *
 * COST
 *
 *      rate     bits per key    cache lines read: present    absent key
 *      1 %          10.0                  9                  4
 *      0.1 %        14.9                 12                  4
 *
 * On disk, a lookup reads one page. Adds to a page that are written together
 * cost one read and one write.
 *
 * THE PICTURE
 *
 *      file   | header, model, zeros | page 0 | page 1 | page 2 | …
 *                                                 |
 *      s, the hash, mixed ------------------------+
 *      high half of s * pages        | header | m bits, k of them the key's |
 *
 * IMAGE
 *
 *      geometry 0   bytes of a page: 4096, 8192, 16384, 32768 or 65536
 *      geometry 1   number of pages, 1 .. 2^44
 *      geometry 2   k, probes, 1 .. 64
 *      geometry 3   zero
 *      payload      the model: the 128-byte header of an empty page; zeros up
 *                   to one page from the start of the image; then the pages
 *
 *      A page is a whole image of kind `standard` with the outer hash and
 *      seed, m = 8 (bytes - 128) bits, index `power`, and "unknown" items. It
 *      has its own payload checksum, so that damage is noticed in the page
 *      where it is. A page without keys is all zeros, which can be a hole in
 *      the file. Every other page begins with the bytes of the model, except
 *      for the two checksums.
 *
 *      Valid if and only if (1) the fields are in these ranges, (2) the
 *      payload has the model and the pages and nothing more, (3) the model is
 *      the header described, (4) zeros follow it. A page that is neither zero
 *      nor begins with the model is damaged: it answers "perhaps" to every
 *      key, and nothing is added to it. A page with data behind a header of
 *      zeros was only half written the first time. In its file, where the
 *      whole page is read, it counts as damaged; in memory, where the header
 *      decides, it counts as empty.
 *
 * MATHS
 *
 * Keys fall on pages like balls into bins. With w_i the binomial probability of
 * i keys in a page and f_i the true rate of m bits with i keys,
 *
 *      F = sum w_i f_i                                    [Putze 2009]   (1)
 *
 * as for `blocked`. But a page holds thousands of keys, and its load differs
 * little from the mean. At 10 bits per key and k = 7, pages of 4096 bytes have
 * 0.26 % more false positives than one row of as many bits, and their headers
 * take 3 % of the space. f_i is smooth, so the sum is evaluated at every
 * quarter of the load's standard deviation. A page's header does not count
 * among its m bits.
 *
 * PROBES
 *
 * The page comes from a full mix of the hash, the bits in it from the spread
 * hash as in any `standard` filter (src/bits/index.h). The two functions of the
 * same 64 bits have nothing in common, and the measured rate agrees with (1). A
 * page with its keys is therefore exactly what `standard` would make of them.
 *
 * SPEED
 *
 * Measured with bench/paged.c on a busy virtual machine, with filters of 380
 * and 507 MiB and a quarter of that as simulated memory. Adding page by page
 * was 34 to 44 times as fast (0.36 to 2.1 million adds per second) as adding to
 * the same file mapped, and 4 to 4.7 times as fast with all of it in memory.
 * Batches of lookups, each a read from the disk, were 35 to 51 times as fast
 * (40 000 to 60 000 per second). Pages larger than 4096 bytes only suit disks
 * that read no less at a time. Sealing computes the checksum of every page that
 * has changed.
 *
 * PAPERS
 *
 *  [Canim 2010]  Buffered Bloom filters on solid state storage, ADMS. Pages,
 *                and writes collected by page.
 *  [Debnath 2011]  BloomFlash: Bloom filter on flash-based storage, ICDCS.
 *                Sub-filters of one flash page.
 *  [Putze 2009]  Cache-, hash- and space-efficient Bloom filters, ACM JEA 14
 *                (WEA 2007): (1).
 */
#include "image/abilities.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/platform.h"
#include "base/sizes.h"
#include "bits/bits.h"
#include "bits/hash.h"
#include "bits/index.h"
#include "bodies/rows.h"
#include "image/inner.h"
#include "kinds/compound/parts.h"
#include "maths/maths.h"
#include "maths/shape.h"

enum {
    BUFFERED_VERSION = 1,
    BUFFERED_PAGE = 0, BUFFERED_PAGES = 1, BUFFERED_K = 2, BUFFERED_ZERO = 3,
    BUFFERED_K_MAX = 64,
    BUFFERED_PAGE_LEAST = 4096,
    BUFFERED_AHEAD = 64                 /* keys of a batch taken together    */
};

#define BUFFERED_PAGES_MAX (UINT64_C(1) << 44)

enum { BUFFERED_OPTION_PAGE, BUFFERED_OPTION_K };

static const kind_option buffered_options[] = {
    [BUFFERED_OPTION_PAGE] = {
        .name = "page", .help = "bytes of a page (rounded up to a power of "
                                "two)",
        .least = BUFFERED_PAGE_LEAST, .most = KIND_PAGE_MOST,
        .standard = BUFFERED_PAGE_LEAST,
    },
    [BUFFERED_OPTION_K] = {
        .name = "k", .help = "probes: bits that a key sets in its page",
        .least = 1, .most = BUFFERED_K_MAX, .standard = KIND_CHOOSE,
    },
    { .name = NULL },
};

/* Options and geometry of a page, which is a kind with m and k where kind.h
 * puts them for a row. The index scheme follows them. */
enum { BUFFERED_INDEX = KIND_ROW_K + 1 };

static const bly_kind *const buffered_of = &bly_kind_standard;

/* ---- The rate ---------------------------------------------------------- */

typedef struct {
    uint64_t m;                         /* bits of a page                    */
    uint32_t k;
} buffered_row;

typedef struct { double weight, rate, square, cross; } buffered_sums;

/* The part of load i; the squares are wanted for the deviation only. */
static void buffered_sum(buffered_sums *sums, const buffered_row *row,
                         double i, double weight, bool squares)
{
    double rate = math_rate(row->m, i, row->k);
    sums->weight += weight;
    sums->rate += weight * rate;
    sums->cross += weight * rate * i;
    if (squares)
        sums->square += weight * math_rate(row->m, i, 2 * row->k);
}

/* Sums over binomial loads, from the mode outwards, each weight from its
 * neighbour, and scaled at the end by the total of those taken: every
 * `stride`th. */
static buffered_sums buffered_mix(const buffered_row *row, double n,
                                  double pages, bool squares)
{
    const double least = 1e-18;
    double odds = 1 / (pages - 1), mode = floor(n / pages);
    double stride = fmax(1, floor(sqrt(n / pages) / 4));
    buffered_sums sums = { 0 };

    double w = 1, turn = 0;
    for (double i = mode; w > least && i <= n; i++, turn++) {
        if (fmod(turn, stride) == 0)
            buffered_sum(&sums, row, i, w, squares);
        w *= (n - i) / (i + 1) * odds;
    }
    w = turn = 1;
    for (double i = mode; i > 0 && w > least; i--, turn++) {
        w *= i / ((n - i + 1) * odds);
        if (fmod(turn, stride) == 0)
            buffered_sum(&sums, row, i - 1, w, squares);
    }
    sums.rate /= sums.weight;
    sums.square /= sums.weight;
    sums.cross /= sums.weight;
    return sums;
}

static shape buffered_shape(const buffered_row *row, uint64_t pages)
{
    return (shape){ .blocks = pages, .lanes = 1, .bits = row->m,
                    .probes = row->k };
}

/* (1), and how much one filter's own rate differs from it: the variance of
 * maths/shape.h, formula 2. sd may be NULL. */
static double buffered_rate(const buffered_row *row, uint64_t n,
                            uint64_t pages, double *sd)
{
    shape one = buffered_shape(row, 1);
    if (pages == 1)
        return shape_rate(&one, n, sd);
    double keys = (double)n, blocks = (double)pages;
    buffered_sums f = buffered_mix(row, keys, blocks, sd != NULL);
    if (sd != NULL) {
        double load = keys / blocks, cross = f.cross - load * f.rate;
        double variance = f.square - f.rate * f.rate
                        - cross * cross / (load * (1 - 1 / blocks));
        *sd = variance > 0 ? sqrt(variance / blocks) : 0;
    }
    return f.rate;
}

/* ---- Plan -------------------------------------------------------------- */

/* The least number of pages whose rate is at most p; false if there are too
 * many. Equal loads would do with `even`; unequal ones need a little more. */
static bool buffered_enough(uint64_t *pages, const buffered_row *row,
                            uint64_t n, double p)
{
    if (buffered_rate(row, n, 1, NULL) <= p) {
        *pages = 1;
        return true;
    }
    double even = (double)n / math_capacity((double)row->m, row->k, p);
    if (!(even < (double)BUFFERED_PAGES_MAX))
        return false;
    uint64_t low = even > 1 ? (uint64_t)even : 1;
    while (low > 1 && buffered_rate(row, n, low, NULL) <= p)
        low -= low / 64 + 1;
    uint64_t high = low + 1;
    while (buffered_rate(row, n, high, NULL) > p) {
        low = high;
        high += high / 64 + 1;
    }
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (buffered_rate(row, n, middle, NULL) > p)
            low = middle;
        else
            high = middle;
    }
    *pages = high;
    return high <= BUFFERED_PAGES_MAX;
}

/* The k that needs the fewest pages, and among those that need as many the one
 * with the lowest rate: the best of one row of bits, or a neighbour. False:
 * none will do. */
static bool buffered_choose(buffered_row *row, uint64_t *pages, uint64_t n,
                            double p)
{
    uint32_t middle = shape_row_probes(p, BUFFERED_K_MAX), best = 0;
    double least = 2;
    for (uint32_t k = middle > 1 ? middle - 1 : 1;
         k <= middle + 1 && k <= BUFFERED_K_MAX; k++) {
        buffered_row tried = { row->m, k };
        uint64_t need = 0;
        if (!buffered_enough(&need, &tried, n, p)
            || (best != 0 && need > *pages))
            continue;
        double rate = buffered_rate(&tried, n, need, NULL);
        if (best == 0 || need < *pages || rate < least) {
            best = k;
            *pages = need;
            least = rate;
        }
    }
    row->k = best;
    return best != 0;
}

/* The plan of one page, which the model is formatted by. */
static bly_status buffered_plan_page(bly_plan_t *plan, kind_spec *asked,
                                     const buffered_row *row,
                                     uint64_t capacity)
{
    *asked = kind_spec_plain(buffered_of, capacity, 0.5);
    asked->option[KIND_ROW_M] = row->m;
    asked->option[KIND_ROW_K] = row->k;
    return inner_plan_spec(plan, buffered_of, asked);
}

static uint64_t buffered_page_asked(const kind_spec *spec)
{
    uint64_t page = BUFFERED_PAGE_LEAST;
    while (page < spec->option[BUFFERED_OPTION_PAGE])
        page *= 2;
    return page;
}

static bly_status buffered_size(buffered_row *row, uint64_t *pages,
                                const kind_spec *spec)
{
    uint64_t k = spec->option[BUFFERED_OPTION_K];
    if (spec->capacity == 0)
        return kind_no_capacity();
    row->m = 8 * (buffered_page_asked(spec) - IMAGE_HEADER);
    row->k = k == KIND_CHOOSE ? 0 : (uint32_t)k;
    bool found = row->k == 0
               ? buffered_choose(row, pages, spec->capacity, spec->rate)
               : buffered_enough(pages, row, spec->capacity, spec->rate);
    return found ? BLY_OK : kind_too_big(spec, "2^44 pages");
}

static bly_status buffered_plan(bly_plan_t *plan, const kind_spec *spec)
{
    uint64_t page = buffered_page_asked(spec), pages = 0, bytes = 0;
    buffered_row row;
    bly_status status = buffered_size(&row, &pages, spec);
    if (status == BLY_OK && !sizes_mul(&bytes, page, pages + 1))
        status = kind_too_big(spec, "2^64 bytes");
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, bytes - IMAGE_HEADER);
    if (status != BLY_OK)
        return status;

    shape s = buffered_shape(&row, pages);
    plan->capacity = spec->capacity;
    plan->rate = buffered_rate(&row, spec->capacity, pages, &plan->rate_sd);
    plan->fill = shape_fill(&s, (double)spec->capacity);
    plan->probes = row.k;
    plan->lines_present = 2 + row.k;
    plan->lines_absent = 2 + math_absent_probes(plan->fill, row.k);
    plan->geometry[BUFFERED_PAGE] = page;
    plan->geometry[BUFFERED_PAGES] = pages;
    plan->geometry[BUFFERED_K] = row.k;
    plan->geometry[BUFFERED_ZERO] = 0;
    return BLY_OK;
}

/* ---- Format, check ----------------------------------------------------- */

static size_t buffered_page_bytes(const void *image)
{
    return (size_t)image_geometry(image, BUFFERED_PAGE);
}

static uint64_t buffered_pages(const void *image)
{
    return image_geometry(image, BUFFERED_PAGES);
}

static const uint8_t *buffered_model(const void *image)
{
    return image_payload(image);
}

static buffered_row buffered_row_of(const void *image)
{
    return (buffered_row){
        .m = 8 * (uint64_t)(buffered_page_bytes(image) - IMAGE_HEADER),
        .k = (uint32_t)image_geometry(image, BUFFERED_K),
    };
}

/* The page's capacity is its share of the keys. */
static bly_status buffered_format(void *image, const kind_spec *spec)
{
    (void)spec;
    buffered_row row = buffered_row_of(image);
    uint64_t keys = image_u64(image, IMAGE_CAPACITY);
    bly_plan_t plan;
    kind_spec asked;
    bly_status status = buffered_plan_page(&plan, &asked, &row,
                                           (keys - 1) / buffered_pages(image)
                                           + 1);
    return status != BLY_OK ? status
         : inner_format(image_payload_mut(image), buffered_of, &plan, image,
                        &asked);
}

static void buffered_like(void *image, const void *other)
{
    memcpy(image_payload_mut(image), buffered_model(other), IMAGE_HEADER);
}

/* Returns whether the model is the header of an empty page. Its geometry is
 * checked before its kind's functions are called. Only the head of the image
 * need be in memory. */
static bool buffered_model_sound(const void *image)
{
    const uint8_t *model = buffered_model(image);
    buffered_row row = buffered_row_of(image);
    return image_u64(model, IMAGE_BYTES) == buffered_page_bytes(image)
        && image_geometry(model, KIND_ROW_M) == row.m
        && image_geometry(model, KIND_ROW_K) == row.k
        && image_geometry(model, BUFFERED_INDEX) == INDEX_POWER
        && image_u64(model, IMAGE_ITEMS) == IMAGE_ITEMS_UNKNOWN
        && image_u64(model, IMAGE_PAYLOAD_SUM) == 0
        && inner_check(image, 0, buffered_of);
}

static bool buffered_page_size(uint64_t page)
{
    return page >= BUFFERED_PAGE_LEAST && page <= KIND_PAGE_MOST
        && (page & (page - 1)) == 0;
}

/* Checks the head only. The pages are checked when they are used. */
static bly_status buffered_check(const void *image)
{
    uint64_t page = image_geometry(image, BUFFERED_PAGE);
    uint64_t pages = image_geometry(image, BUFFERED_PAGES);
    uint64_t k = image_geometry(image, BUFFERED_K);

    bool sound = buffered_page_size(page)
              && pages >= 1 && pages <= BUFFERED_PAGES_MAX
              && k >= 1 && k <= BUFFERED_K_MAX
              && image_geometry(image, BUFFERED_ZERO) == 0
              && image_u64(image, IMAGE_BYTES) == page * (pages + 1)
              && buffered_model_sound(image);
    if (!sound)
        return kind_bad_geometry(image);
    if (!bits_clear_from(image_payload(image), (size_t)page - IMAGE_HEADER,
                         8 * IMAGE_HEADER))
        return status_fail(BLY_ECORRUPT, "bytes between the model and the "
                           "pages are not zero");
    return BLY_OK;
}

/* ---- Pages ------------------------------------------------------------- */

static const uint8_t buffered_nothing[IMAGE_HEADER];

/* Is the page empty, broken, or else to be used, which is called open whether
 * it has a checksum or not: that is not looked at, because whoever only asks
 * may do so while others make the checksums. */
PLATFORM_INLINE kind_page buffered_use(const void *head, const uint8_t *page)
{
    if (memcmp(page, buffered_model(head), IMAGE_PAYLOAD_SUM) == 0)
        return KIND_PAGE_OPEN;
    return memcmp(page, buffered_nothing, IMAGE_HEADER) == 0
         ? KIND_PAGE_EMPTY : KIND_PAGE_BROKEN;
}

/* Returns the state of a page as kind_page defines it; a page with a checksum
 * counts as sealed. */
PLATFORM_INLINE kind_page buffered_state(const void *head, const uint8_t *page)
{
    kind_page use = buffered_use(head, page);
    return use == KIND_PAGE_OPEN && image_u64(page, IMAGE_PAYLOAD_SUM) != 0
         ? KIND_PAGE_SEALED : use;
}

/* Opens a page for adding; its header must equal the model. Returns false if it
 * is broken. */
PLATFORM_INLINE bool buffered_open(const void *head, uint8_t *page)
{
    kind_page state = buffered_state(head, page);
    if (state != KIND_PAGE_OPEN && state != KIND_PAGE_BROKEN)
        memcpy(page, buffered_model(head), IMAGE_HEADER);
    return state != KIND_PAGE_BROKEN;
}

/* Reads the whole page. If it has data behind a header of zeros, its first
 * write was interrupted. */
static kind_page buffered_look(const void *head, const void *page)
{
    kind_page state = buffered_state(head, page);
    if (state == KIND_PAGE_EMPTY
        && memcmp(page, (const uint8_t *)page + IMAGE_HEADER,
                  buffered_page_bytes(head) - IMAGE_HEADER) != 0)
        return KIND_PAGE_TORN;
    if (state == KIND_PAGE_SEALED
        && (image_check_header(page, buffered_page_bytes(head)) != BLY_OK
            || image_check_payload(page) != BLY_OK))
        return KIND_PAGE_TORN;
    return state;
}

static void buffered_page_contains(const void *head, const void *page,
                                   const uint64_t *hashes, size_t n,
                                   bool *present)
{
    kind_page state = buffered_use(head, page);
    if (state == KIND_PAGE_EMPTY || state == KIND_PAGE_BROKEN)
        memset(present, state == KIND_PAGE_BROKEN, n * sizeof *present);
    else
        buffered_of->contains_many(page, hashes, n, present);
}

static void buffered_page_add(const void *head, void *page,
                              const uint64_t *hashes, size_t n)
{
    size_t done;
    if (buffered_open(head, page))
        (void)buffered_of->add_many(page, hashes, n, &done);
}

static void buffered_page_add_each(const void *head, void *page,
                                   const uint64_t *hashes, size_t n,
                                   bool *seen)
{
    size_t done;
    if (buffered_open(head, page))
        (void)buffered_of->add_each(page, hashes, n, seen, &done);
    else
        memset(seen, true, n * sizeof *seen);
}

static void buffered_page_seal(const void *head, void *page)
{
    if (buffered_use(head, page) == KIND_PAGE_EMPTY)
        memcpy(page, buffered_model(head), IMAGE_HEADER);
    image_seal(page);
}

/* Pages as one filter: their mean rate and fill, and the sum of their keys,
 * which are different ones in different pages. (The variances are summed in
 * distinct_sd until the end.) */
static void buffered_page_stat(bly_info_t *sum, const void *head,
                               const void *page)
{
    bly_info_t one = { .bytes = 0 };
    kind_page state = buffered_use(head, page);
    if (state == KIND_PAGE_EMPTY)
        return;
    if (state == KIND_PAGE_BROKEN)
        one.fill = one.rate = 1, one.distinct = one.distinct_sd = INFINITY;
    else
        buffered_of->stat(&one, page);
    sum->fill += one.fill;
    sum->rate += one.rate;
    sum->distinct += one.distinct;
    sum->distinct_sd += one.distinct_sd * one.distinct_sd;
}

static void buffered_stat_end(bly_info_t *sum, const void *head)
{
    double pages = (double)buffered_pages(head);
    sum->fill /= pages;
    sum->rate /= pages;
    sum->distinct_sd = sqrt(sum->distinct_sd);
    sum->probes = (uint32_t)image_geometry(head, BUFFERED_K);
}

/* ---- Contains, add ----------------------------------------------------- */

PLATFORM_INLINE uint64_t buffered_place(uint64_t hash, uint64_t pages)
{
    return bits_range(hash_mix(hash), pages);
}

static void buffered_place_many(const void *head, const uint64_t *hashes,
                                size_t n, uint64_t *places)
{
    uint64_t pages = buffered_pages(head);
    for (size_t i = 0; i < n; i++)
        places[i] = buffered_place(hashes[i], pages);
}

/* Page i of a whole image. */
PLATFORM_INLINE const uint8_t *buffered_at(const void *image, uint64_t i)
{
    return (const uint8_t *)image + (i + 1) * buffered_page_bytes(image);
}

PLATFORM_INLINE uint8_t *buffered_at_mut(void *image, uint64_t i)
{
    return (uint8_t *)image + (i + 1) * buffered_page_bytes(image);
}

PLATFORM_INLINE bool buffered_query(const void *image, const uint8_t *page,
                                    uint64_t hash)
{
    kind_page state = buffered_use(image, page);
    return state == KIND_PAGE_BROKEN
        || (state != KIND_PAGE_EMPTY && buffered_of->contains(page, hash));
}

PLATFORM_INLINE bly_status buffered_put_in(void *image, uint8_t *page,
                                           uint64_t hash)
{
    return buffered_open(image, page) ? buffered_of->add(page, hash) : BLY_SEEN;
}

static bool buffered_contains(const void *image, uint64_t hash)
{
    uint64_t place = buffered_place(hash, buffered_pages(image));
    return buffered_query(image, buffered_at(image, place), hash);
}

static bly_status buffered_add(void *image, uint64_t hash)
{
    uint64_t place = buffered_place(hash, buffered_pages(image));
    return buffered_put_in(image, buffered_at_mut(image, place), hash);
}

/* Finds the pages of up to BUFFERED_AHEAD keys, and prefetches their
 * headers. */
static size_t buffered_some(const void *image, const uint64_t *hashes,
                            size_t n, uint64_t *places)
{
    size_t some = cpu_ahead(n, BUFFERED_AHEAD, image_payload_bytes(image));
    buffered_place_many(image, hashes, some, places);
    for (size_t i = 0; i < some; i++) {
        platform_prefetch(buffered_at(image, places[i]));
        platform_prefetch(buffered_at(image, places[i]) + 64);
    }
    return some;
}

static void buffered_contains_many(const void *image, const uint64_t *hashes,
                                   size_t n, bool *present)
{
    uint64_t places[BUFFERED_AHEAD];
    for (size_t at = 0, some; at < n; at += some) {
        some = buffered_some(image, hashes + at, n - at, places);
        for (size_t i = 0; i < some; i++)
            present[at + i] = buffered_query(image,
                                             buffered_at(image, places[i]),
                                             hashes[at + i]);
    }
}

static bly_status buffered_add_each(void *image, const uint64_t *hashes,
                                    size_t n, bool *seen, size_t *done)
{
    uint64_t places[BUFFERED_AHEAD];
    for (size_t at = 0, some; at < n; at += some) {
        some = buffered_some(image, hashes + at, n - at, places);
        for (size_t i = 0; i < some; i++) {
            uint8_t *page = buffered_at_mut(image, places[i]);
            bly_status is = buffered_put_in(image, page, hashes[at + i]);
            if (seen != NULL)
                seen[at + i] = is == BLY_SEEN;
        }
    }
    *done = n;
    return BLY_OK;
}

static bly_status buffered_add_many(void *image, const uint64_t *hashes,
                                    size_t n, size_t *done)
{
    return buffered_add_each(image, hashes, n, NULL, done);
}

/* ---- Sets of keys ------------------------------------------------------ */

/* Page by page, as the inner kind does it. A page is empty, or it is ready to
 * be used; broken ones stay as they are. */
static bly_status buffered_unite(void *into, const void *other)
{
    for (uint64_t i = 0; i < buffered_pages(into); i++) {
        const uint8_t *from = buffered_at(other, i);
        kind_page state = buffered_use(other, from);
        if (state != KIND_PAGE_EMPTY && state != KIND_PAGE_BROKEN
            && buffered_open(into, buffered_at_mut(into, i)))
            buffered_of->combining->unite(buffered_at_mut(into, i), from);
    }
    return BLY_OK;
}

static void buffered_intersect(void *into, const void *other)
{
    for (uint64_t i = 0; i < buffered_pages(into); i++) {
        uint8_t *to = buffered_at_mut(into, i);
        kind_page state = buffered_use(other, buffered_at(other, i));
        if (state == KIND_PAGE_BROKEN
            || buffered_use(into, to) == KIND_PAGE_EMPTY
            || !buffered_open(into, to))
            continue;
        if (state == KIND_PAGE_EMPTY)
            memset(to, 0, buffered_page_bytes(into));
        else
            buffered_of->combining->intersect(to, buffered_at(other, i));
    }
}

/* The estimates of one pair of pages: nothing to ask of an empty one. */
static void buffered_overlap_page(bly_overlap_t *out, const void *a,
                                  const void *b, uint64_t i)
{
    const uint8_t *pages[2] = { buffered_at(a, i), buffered_at(b, i) };
    kind_page states[2] = { buffered_use(a, pages[0]),
                            buffered_use(b, pages[1]) };
    bly_estimate none = { INFINITY, INFINITY };
    *out = (bly_overlap_t){ .a = { 0, 0 } };
    if (states[0] == KIND_PAGE_BROKEN || states[1] == KIND_PAGE_BROKEN) {
        out->a = out->b = out->either = none;
    } else if (states[0] != KIND_PAGE_EMPTY && states[1] != KIND_PAGE_EMPTY) {
        buffered_of->combining->overlap(out, pages[0], pages[1]);
    } else if (states[0] != states[1]) {
        bool first = states[0] != KIND_PAGE_EMPTY;
        buffered_of->combining->overlap(out, pages[!first], pages[!first]);
        out->differ = out->either;
        out->both = (bly_estimate){ 0, 0 };
        *(first ? &out->b : &out->a) = (bly_estimate){ 0, 0 };
    }
}

static void buffered_gather(shape_estimate *sum, bly_estimate one)
{
    sum->value += one.value;
    sum->sd += one.sd * one.sd;
}

/* Sums over pages, variances likewise. */
static void buffered_overlap(bly_overlap_t *out, const void *a, const void *b)
{
    shape_pair sum = { .a = { 0, 0 } };
    bly_overlap_t one;
    for (uint64_t i = 0; i < buffered_pages(a); i++) {
        buffered_overlap_page(&one, a, b, i);
        buffered_gather(&sum.a, one.a);
        buffered_gather(&sum.b, one.b);
        buffered_gather(&sum.either, one.either);
        buffered_gather(&sum.both, one.both);
        buffered_gather(&sum.differ, one.differ);
    }
    sum.a.sd = sqrt(sum.a.sd);
    sum.b.sd = sqrt(sum.b.sd);
    sum.either.sd = sqrt(sum.either.sd);
    sum.both.sd = sqrt(sum.both.sd);
    sum.differ.sd = sqrt(sum.differ.sd);
    shape_pair_end(&sum);
    rows_tell(out, &sum);
}

/* ---- Look inside, seal ------------------------------------------------- */

static void buffered_stat(bly_info_t *out, const void *image)
{
    bly_info_t sum = { .bytes = 0 };
    for (uint64_t i = 0; i < buffered_pages(image); i++)
        buffered_page_stat(&sum, image, buffered_at(image, i));
    buffered_stat_end(&sum, image);
    out->fill = sum.fill;
    out->rate = sum.rate;
    out->distinct = sum.distinct;
    out->distinct_sd = sum.distinct_sd;
    out->probes = sum.probes;
}

static void buffered_seal(void *image)
{
    for (uint64_t i = 0; i < buffered_pages(image); i++) {
        uint8_t *page = buffered_at_mut(image, i);
        if (buffered_state(image, page) == KIND_PAGE_OPEN)
            buffered_page_seal(image, page);
    }
}

static const kind_pages buffered_by_page = {
    .bytes    = buffered_page_bytes,
    .count    = buffered_pages,
    .place    = buffered_place_many,
    .look     = buffered_look,
    .contains = buffered_page_contains,
    .add      = buffered_page_add,
    .add_each = buffered_page_add_each,
    .seal     = buffered_page_seal,
    .stat     = buffered_page_stat,
    .stat_end = buffered_stat_end,
    .seal_all = buffered_seal,
};

static const kind_combining buffered_combining = {
    .unite     = buffered_unite,
    .intersect = buffered_intersect,
    .overlap   = buffered_overlap,
};

const bly_kind bly_kind_buffered = {
    .name    = "buffered",
    .family  = "compound",
    .summary = "a filter of pages, for a file larger than memory",
    .version = BUFFERED_VERSION,
    .options = buffered_options,

    .plan   = buffered_plan,
    .format = buffered_format,
    .like   = buffered_like,
    .check  = buffered_check,
    .stat   = buffered_stat,

    .contains      = buffered_contains,
    .contains_many = buffered_contains_many,

    .add      = buffered_add,
    .add_many = buffered_add_many,
    .add_each = buffered_add_each,

    .combining = &buffered_combining,
    .pages     = &buffered_by_page,
};
