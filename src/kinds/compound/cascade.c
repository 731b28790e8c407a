/* cascade.c - exact answers for all keys of a closed universe.
 *
 * WHAT IT IS
 *
 * A series of filters built from two lists: the members R, and all other keys
 * that will ever be looked up, S. Level 1 is a filter of R. Some keys of S pass
 * it by accident, and level 2 is a filter of these. Some of R pass level 2 by
 * accident, and level 3 is a filter of those; and so on, until no key passes
 * that should not. The answer is right for every key of R and S.
 *
 * WHEN TO USE IT
 *
 * Use it if all keys that will ever be looked up are known when the filter is
 * built, and the answers must be exact: revoked certificates among all
 * certificates, blocked accounts, recalled serial numbers.
 *
 * WHEN NOT TO
 *
 * - Other keys may be looked up: FOR A KEY THAT IS NEITHER IN R NOR IN S THE
 *   ANSWER MEANS NOTHING. Any other kind answers "certainly not" for most
 *   absent keys.
 * - Keys are added later: nothing in a cascade can be changed.
 * - False positives are acceptable: `ribbon` or `fuse`, which need no S.
 *
 * COST
 *
 *      others per member    bits per member    cache lines: member    other
 *      10                         6.4                 5.7              2.8
 *      100                        9.7                 6.5              3.5
 *      1000                      13.1                 7.0              4.0
 *
 * These are for a million members. A key of S is looked up in one level, rarely
 * in more, and a key of R in four levels on average.
 *
 * THE PICTURE
 *
 *      level    1       2       3       4       5
 *      holds    R       of S    of R    of S    of R
 *      keys     n       0.72 n  0.5 n   0.36 n  0.25 n   …  1
 *
 *      lookup   yes     no                              1 yes:  a member
 *               yes     yes     yes     no              3 yes:  a member
 *               yes     yes     no                      2 yes:  not
 *               no                                      0 yes:  not
 *
 *      contains x = the levels that say yes, from the first on, up to one that
 *                   says no or the last, are odd in number
 *
 * The first levels are whole filters of the kind `of`. Once the overhead of a
 * filter exceeds its gain, all further levels are *rows*: n / ln 2 bits, half
 * of them set, one bit per key.
 *
 * If R is larger than S, the two change places and all answers are negated: the
 * cascade is *inverted*.
 *
 * IMAGE
 *
 *      geometry 0   bits 0-7    kind of the first levels: 0 standard, 1 ribbon,
 *                               2 xor, 3 fuse
 *                   bits 8-15   1: inverted, else 0
 *                   bits 16-23  salt, 0 .. 15
 *                   bits 24-31  levels that are images, 0 .. 64
 *                   bits 32-39  levels that are rows, 0 .. 192
 *                   bits 40-63  zero
 *      geometry 1   members it was built of, repeats counted
 *      geometry 2   others it was built of; 0: it was built of members alone
 *      geometry 3   zero
 *      payload      the images, each at the first multiple of 64 after the end
 *                   of the one before, zeros up to there and after the last;
 *                   then the rows, each 4 bytes with its length in bytes,
 *                   1 .. 2^32 - 1, and its bits. Bit i of a row is bit
 *                   (i mod 8) of its byte i / 8
 *
 *      Images are whole (docs/format) with the outer hash and seed. Their
 *      payload checksums are 0, because the outer one covers them, and their
 *      items "unknown". In level l, a key of hash h has the state s_l, modulo
 *      2^64, C = 9E3779B97F4A7C15:
 *
 *            s_0 = h + salt C          s_l = mix(s_(l-1) + C)
 *
 *      An image takes that as the hash, a row of b bytes as bit floor(8 b s_l /
 *      2^64). Valid if and only if (1) the fields are in these ranges, (2) all
 *      inner headers are valid, of that kind, hash and seed and (3) the last
 *      level ends with the payload.
 *
 * MATHS
 *
 * Let there be n keys in the smaller list, N in the other, and levels of rate
 * p, 1/2, 1/2, …. The levels hold n, pN, n/2, pN/2, n/4, … keys: after the
 * first one, n + 2pN in all. In bits that is
 *
 *      bits = n b(p) + t (n + 2pN)                                        (1)
 *
 * where b(p) is the cost of a key in level 1, and t in the later ones. For
 * Bloom filters, b = 1.44 log2(1/p) and t = 1.44, and it is least for
 *
 *      p = n / (2 ln 2 N) = 0.72 n/N;   bits = n (1.44 log2(N/n) + 4.2)   (2)
 *
 * [Larisch 2017] takes 0.71. Here b and t are those of the plans of the kind
 * `of`, and p is the best of 17 powers of 2^(1/4) around (2), at most 1/2, or
 * the lowest rate of that kind. Telling R from S takes at least log2 binom(n +
 * N, n) bits, which is about n (log2(N/n) + 1.44). Measured, whole images, in
 * bits per key of R:
 *
 *      n, N               10^3, 10^5   10^4, 10^6   10^5, 10^7   10^6, 10^7
 *      (2)                     13.79        13.79        13.79         9.00
 *      of=standard             16.66        14.13        13.83         9.00
 *      of=fuse                 15.83        12.73        11.43         7.12
 *      of=ribbon               15.03        11.06         9.89         6.35
 *      at least                 8.09         8.09         8.09         4.83
 *
 * A key that is in neither list meets rates p, 1/2, 1/2, …. It is reported as a
 * member with probability
 *
 *      q_1, where q_l = f_l (1 - q_(l+1)); about 2/3 p                    (3)
 *
 * or 1 minus that if inverted; this is the rate that plan and bly_info report.
 * A filter built from members alone is one level of the requested rate;
 * otherwise the requested rate has no effect.
 *
 * PLAN
 *
 * The option `others` gives the number of keys in S; bly_build counts them. The
 * planned bytes are more than (1) by four standard deviations of the size of
 * every level. What is left over is given back.
 *
 * CONSTRUCTION
 *
 * S is queried once, against level 1, and only the keys that pass are kept. A
 * key in both lists passes every level. So if the levels do not end where they
 * should, the keys that are left are sorted and compared. If no key is in both,
 * everything is built again with another salt.
 *
 * PAPERS
 *
 *  [Larisch 2017]  CRLite: a scalable system for pushing all TLS revocations to
 *                  all browsers, IEEE S&P
 *  [Salikhov 2014]  Using cascading Bloom filters to improve the memory usage
 *                  for de Bruijn graphs, Algorithms for Molecular Biology 9
 *
 * Levels of other kinds than Bloom filters, and of one bit per key, are ours.
 */
#include "image/abilities.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/sizes.h"
#include "base/task.h"
#include "bits/bits.h"
#include "bits/hash.h"
#include "image/inner.h"
#include "kinds/compound/parts.h"
#include "bits/sort.h"

enum {
    CASCADE_VERSION = 1,
    CASCADE_SHAPE = 0, CASCADE_MEMBERS = 1, CASCADE_OTHERS = 2,
    CASCADE_ZERO = 3,                   /* of the geometry                   */
    CASCADE_INVERTED_AT = 8, CASCADE_SALT_AT = 16, CASCADE_IMAGES_AT = 24,
    CASCADE_ROWS_AT = 32, CASCADE_END_AT = 40,
    CASCADE_SALTS = 16, CASCADE_IMAGES = 64, CASCADE_ROWS = 192,
    CASCADE_LENGTH = 4,                 /* bytes, before a row               */
    CASCADE_LINE = 64
};

/* The distance between the states of a key, which no inner kind uses as a
 * step. */
#define CASCADE_STEP UINT64_C(0x9E3779B97F4A7C15)

#define CASCADE_PARTS(X) X(standard) X(ribbon) X(xor) X(fuse)

static const char *const cascade_names[] = { CASCADE_PARTS(PARTS_NAME) NULL };
static const bly_kind *const cascade_kinds[] = { CASCADE_PARTS(PARTS_KIND) };
enum { CASCADE_KINDS = sizeof cascade_kinds / sizeof *cascade_kinds,
       CASCADE_RIBBON = 1 };

enum { CASCADE_OPTION_OF, CASCADE_OPTION_OTHERS };

static const kind_option cascade_options[] = {
    [CASCADE_OPTION_OF] = {
        .name = "of", .help = "kind of the first levels",
        .choices = cascade_names, .standard = CASCADE_RIBBON,
    },
    [CASCADE_OPTION_OTHERS] = {
        .name = "others", .help = "number of keys that are not members, for a "
                                  "plan",
        .least = 1, .most = UINT64_C(1) << 56, .standard = KIND_CHOOSE,
    },
    { .name = NULL },
};

/* ---- Levels ------------------------------------------------------------ */

static uint64_t cascade_part(const void *image, unsigned at)
{
    return image_geometry(image, CASCADE_SHAPE) >> at & UINT8_MAX;
}

/* A level, and how many there are from it on: images first, then rows. */
typedef struct {
    const bly_kind *kind;
    const uint8_t  *at;
    uint64_t        images, rows;
} cascade_level;

static cascade_level cascade_first(const void *image)
{
    return (cascade_level){
        .kind = cascade_kinds[cascade_part(image, 0)],
        .at = image_payload(image),
        .images = cascade_part(image, CASCADE_IMAGES_AT),
        .rows = cascade_part(image, CASCADE_ROWS_AT),
    };
}

static bool cascade_more(const cascade_level *level)
{
    return level->images + level->rows > 0;
}

static uint64_t cascade_row_bytes(const cascade_level *level)
{
    return image_u32(level->at, 0);
}

static const uint8_t *cascade_row_bits(const cascade_level *level)
{
    return level->at + CASCADE_LENGTH;
}

static void cascade_next(cascade_level *level)
{
    uint64_t room = 0;
    if (level->images > 0) {
        inner_room(&room, image_u64(level->at, IMAGE_BYTES));
        level->images--;
    } else {
        room = CASCADE_LENGTH + cascade_row_bytes(level);
        level->rows--;
    }
    level->at += room;
}

/* The state of a key before the first level, and at the next one. */
PLATFORM_INLINE uint64_t cascade_start(uint64_t salt, uint64_t hash)
{
    return hash + salt * CASCADE_STEP;
}

PLATFORM_INLINE uint64_t cascade_step(uint64_t state)
{
    return hash_mix(state + CASCADE_STEP);
}

static bool cascade_level_has(const cascade_level *level, uint64_t state)
{
    if (level->images > 0)
        return level->kind->contains(level->at, state);
    return bits_test(cascade_row_bits(level),
                     bits_range(state, 8 * cascade_row_bytes(level)));
}

static void cascade_level_has_many(const cascade_level *level,
                                   const uint64_t *states, size_t n,
                                   bool *found)
{
    if (level->images > 0) {
        inner_contains_many(level->kind, level->at, states, n, found);
        return;
    }
    const uint8_t *row = cascade_row_bits(level);
    uint64_t bits = 8 * cascade_row_bytes(level);
    size_t ahead = cpu_ahead(n, n, bits / 8);
    for (size_t i = 0; i < ahead; i++)
        platform_prefetch(row + (bits_range(states[i], bits) >> 3));
    for (size_t i = 0; i < n; i++) {
        if (n - i > ahead)
            platform_prefetch(row + (bits_range(states[i + ahead], bits) >> 3));
        found[i] = bits_test(row, bits_range(states[i], bits));
    }
}

/* ---- Plan -------------------------------------------------------------- */

/* The sizes that follow from the numbers of keys. */
typedef struct {
    const bly_kind *kind;
    bool       inverted;
    uint64_t   include, exclude;        /* of level 1, and what it must not
                                           hold; 0: not known                */
    bly_plan_t first;
    kind_spec  first_spec;
} cascade_design;

/* A row for n keys: 8 ln 2 = 5.545 of them to a byte. */
static uint64_t cascade_row_for(uint64_t n)
{
    return n / 65536 * 11819 + (n % 65536 * 11819 >> 16) + 1;
}

/* The bytes of a level that is not the first, and whether it is an image. */
static uint64_t cascade_level_bytes(const bly_kind *kind, uint64_t n,
                                    bly_plan_t *plan, kind_spec *spec,
                                    bool *is_image)
{
    uint64_t row = CASCADE_LENGTH + cascade_row_for(n), room;
    *is_image = inner_plan(plan, spec, kind, n, 0.5) == BLY_OK
             && inner_room(&room, plan->bytes) && room < row;
    return *is_image ? room : row;
}

static uint64_t cascade_later_bytes(const bly_kind *kind, uint64_t n)
{
    bly_plan_t plan;
    kind_spec spec;
    bool is_image;
    return cascade_level_bytes(kind, n, &plan, &spec, &is_image);
}

/* 2^(-quarters / 4), the same on every machine. */
static double cascade_power(int quarters)
{
    static const double roots[] = { 1, 0.8408964152537145, 0.7071067811865476,
                                    0.5946035575013605 };
    return ldexp(roots[quarters % 4], -(quarters / 4));
}

/* Plans level 1 at a rate. A ribbon or a fuse filter has whole bits there, as
 * in the cascades of all versions, although it could have a share of a bit. */
static bly_status cascade_plan_first(bly_plan_t *plan, kind_spec *spec,
                                     const bly_kind *kind, uint64_t n,
                                     double rate)
{
    int exponent;
    frexp(rate, &exponent);
    if (kind == &bly_kind_fuse) {       /* bits that nearly suffice do        */
        frexp(rate * (1 + ldexp(1, -20)), &exponent);
        rate = ldexp(1, exponent - 1);
    }
    *spec = kind_spec_plain(kind, n, rate);
    if (kind == &bly_kind_ribbon)
        kind_spec_give(spec, kind, "bits", (uint64_t)(1 - exponent));
    return inner_plan_spec(plan, kind, spec);
}

/* A plan of level 1 at this rate, taken if it makes (1) less. */
static bly_status cascade_try(cascade_design *d, int quarters, double *least)
{
    double later = 8 * (double)cascade_later_bytes(d->kind, d->include)
                 / (double)d->include;
    bly_plan_t plan;
    kind_spec spec;
    bly_status status = cascade_plan_first(&plan, &spec, d->kind, d->include,
                                           cascade_power(quarters));
    if (status != BLY_OK)
        return status;
    double bits = 8 * (double)plan.bytes
                + 2 * later * plan.rate * (double)d->exclude;
    if (bits >= *least)
        return BLY_OK;
    *least = bits;
    d->first = plan;
    d->first_spec = spec;
    return BLY_OK;
}

/* The rate of level 1 that makes (1) least; where the kind has none so low, the
 * lowest that it has. */
static bly_status cascade_choose(cascade_design *d)
{
    enum { LEAST = 4, AROUND = 8 };     /* quarters of a bit                 */
    int near = (int)(4 * log2(1.386 * (double)d->exclude
                              / (double)d->include));
    int from = near > AROUND + LEAST ? near - AROUND : LEAST;
    double least = INFINITY;
    bly_status status = BLY_OK;
    for (int at = from; at <= near + AROUND; at++) {
        bly_status planned = cascade_try(d, at, &least);
        status = planned != BLY_OK ? planned : status;
    }
    for (int at = from - 1; at >= LEAST && isinf(least); at--)
        status = cascade_try(d, at, &least);
    return isfinite(least) ? BLY_OK : status;
}

static bly_status cascade_design_for(cascade_design *d, const kind_spec *spec)
{
    uint64_t n = spec->capacity, others = spec->option[CASCADE_OPTION_OTHERS];
    *d = (cascade_design){
        .kind = cascade_kinds[spec->option[CASCADE_OPTION_OF]], .include = n,
    };
    if (n == 0)
        return kind_no_capacity();
    if (others == KIND_CHOOSE)
        return cascade_plan_first(&d->first, &d->first_spec, d->kind, n,
                                  spec->rate);
    d->inverted = n > others;
    d->include = d->inverted ? others : n;
    d->exclude = d->inverted ? n : others;
    return cascade_choose(d);
}

/* Returns an upper bound of the keys that pass level 1: eight deviations more
 * than expected, plus some for few keys, whose rate is uncertain. */
static uint64_t cascade_passing(double rate, uint64_t others)
{
    double expected = rate * (double)others;
    return others == 0 ? 0 : (uint64_t)(expected + 8 * sqrt(expected)) + 64;
}

/* Bytes of all levels but the first, at most. */
static uint64_t cascade_tail_bytes(const cascade_design *d)
{
    enum { SPARE = 256 };               /* for the ends of rows              */
    double include = d->first.rate * (double)d->exclude;
    double exclude = (double)d->include;
    uint64_t bytes = d->exclude == 0 ? 0 : SPARE;
    while (d->exclude > 0 && include >= 1) {
        double next = exclude / 2;
        bytes += cascade_later_bytes(d->kind,
                     (uint64_t)(include + 4 * sqrt(include)) + 4);
        exclude = include;
        include = next;
    }
    return bytes;
}

/* Computes the scratch memory: for the inner builds, for the states of the keys
 * of level 1, and for the other keys that pass it. */
static bly_status cascade_scratch(uint64_t *bytes, const cascade_design *d)
{
    uint64_t inner_bytes = d->first.scratch, keys, states;
    uint64_t passing = cascade_passing(d->first.rate, d->exclude);
    bly_plan_t plan;
    kind_spec spec;
    if (passing > 0
        && inner_plan(&plan, &spec, d->kind, passing, 0.5) == BLY_OK
        && plan.scratch > inner_bytes)
        inner_bytes = plan.scratch;
    if (!sizes_round_up(&inner_bytes, inner_bytes, CASCADE_LINE)
        || !sizes_add(&keys, d->include, passing)
        || !sizes_mul(&states, keys, sizeof(uint64_t))
        || !sizes_add(bytes, inner_bytes, states))
        return status_fail(BLY_ETOOBIG, "building the cascade would take more "
                           "than 2^64 bytes: use fewer keys");
    return BLY_OK;
}

/* Predicts the cost of a lookup: a member goes through four levels on average.
 * */
static void cascade_plan_cost(bly_plan_t *plan, const cascade_design *d)
{
    enum { ROWS = 3 };
    bool tail = d->exclude > 0;
    double in = d->first.lines_present + (tail ? ROWS : 0);
    double out = d->first.lines_absent + (tail ? ROWS : 0) * d->first.rate;
    double rate = tail ? 2 * d->first.rate / 3 : d->first.rate;
    plan->rate = d->inverted ? 1 - rate : rate;
    plan->rate_sd = tail ? 2 * d->first.rate_sd / 3 : d->first.rate_sd;
    plan->fill = d->first.fill;
    plan->probes = d->first.probes;
    plan->lines_present = d->inverted ? out : in;
    plan->lines_absent = d->inverted ? in : out;
}

static bly_status cascade_plan(bly_plan_t *plan, const kind_spec *spec)
{
    cascade_design d;
    uint64_t room, payload = 0;
    bly_status status = cascade_design_for(&d, spec);
    if (status == BLY_OK
        && (!inner_room(&room, d.first.bytes)
            || !sizes_add(&payload, room, cascade_tail_bytes(&d))))
        status = kind_too_big(spec, "2^64 bytes");
    if (status == BLY_OK)
        status = kind_plan_bytes(plan, payload);
    if (status == BLY_OK)
        status = cascade_scratch(&plan->scratch, &d);
    if (status != BLY_OK)
        return status;

    cascade_plan_cost(plan, &d);
    plan->capacity = spec->capacity;
    plan->geometry[CASCADE_SHAPE] = spec->option[CASCADE_OPTION_OF]
                              | (uint64_t)d.inverted << CASCADE_INVERTED_AT;
    plan->geometry[CASCADE_MEMBERS] = spec->capacity;
    plan->geometry[CASCADE_OTHERS] = d.inverted ? d.include : d.exclude;
    plan->geometry[CASCADE_ZERO] = 0;
    return BLY_OK;
}

/* The first level is there before the keys are. */
static bly_status cascade_format(void *image, const kind_spec *spec)
{
    cascade_design d;
    bly_status status = cascade_design_for(&d, spec);
    if (status == BLY_OK)
        status = inner_format(image_payload_mut(image), d.kind, &d.first,
                              image, &d.first_spec);
    return status;
}

/* ---- Separate ---------------------------------------------------------- */

/* Label 1 is a member, 0 is none. Without members there is room for one;
 * without others it is as if none were known. */
static bly_status cascade_separate(kind_spec *spec, uint64_t *items,
                                   const kind_keys *keys)
{
    uint64_t members = 0;
    for (size_t i = 0; i < keys->n; i++) {
        if (keys->labels[i] > 1)
            return status_fail(BLY_EPARAM, "kind cascade has no label %llu: "
                               "use 1 for the members and 0 for all others",
                               (unsigned long long)keys->labels[i]);
        members += keys->labels[i];
    }
    uint64_t others = keys->n - members;
    if (keys->n > 0)
        spec->capacity = members > 0 ? members : 1;
    spec->option[CASCADE_OPTION_OTHERS] = others > 0 ? others : KIND_CHOOSE;
    *items = members;
    return BLY_OK;
}

/* ---- Build ------------------------------------------------------------- */

typedef struct {
    void            *image;
    const kind_keys *keys;
    kind_bench       bench;             /* for the inner builds              */
    uint64_t         salt, inverted;
    const bly_kind  *kind;
    /* The states, from the level before, that the next level must hold, and
     * those that it must not. */
    uint64_t *include, *exclude;
    size_t    includes, excludes;
    size_t    passing;                  /* room for those that pass level 1  */
    uint64_t  used, bytes;              /* of the payload                    */
    uint64_t  images, rows;             /* levels that are built             */
} cascade_work;

/* An empty payload, but for the header of the first level. */
static void cascade_begin(cascade_work *w, const kind_bench *bench,
                          const uint8_t first[IMAGE_HEADER])
{
    uint8_t *payload = image_payload_mut(w->image);
    size_t include = (size_t)image_u64(first, IMAGE_CAPACITY);
    uint64_t others = image_geometry(w->image, w->inverted ? CASCADE_MEMBERS
                                                           : CASCADE_OTHERS);
    memset(payload, 0, (size_t)w->bytes);
    memcpy(payload, first, IMAGE_HEADER);
    w->used = w->images = w->rows = 0;
    w->passing = (size_t)cascade_passing(image_f64(first, IMAGE_RATE), others);
    w->bench = *bench;
    w->bench.bytes -= (include + w->passing) * sizeof(uint64_t);
    w->include = (uint64_t *)(void *)((uint8_t *)bench->scratch
                                      + w->bench.bytes);
    w->exclude = w->include + include;
    w->includes = w->excludes = 0;
}

/* Fill the image `used` bytes into the payload, which has its header. */
static bly_status cascade_add(const bly_kind *kind, uint8_t *image,
                              const kind_keys *keys)
{
    bly_status status = BLY_OK;
    size_t done;
    for (size_t i = 0; status == BLY_OK && i < keys->n; i += done) {
        size_t some = keys->n - i < TASK_KEYS ? keys->n - i : TASK_KEYS;
        status = kind->add_many(image, keys->hashes + i, some, &done);
        if (task_step(some))
            break;
    }
    return status;
}

static bly_status cascade_fill_image(cascade_work *w)
{
    uint8_t *at = image_payload_mut(w->image) + w->used;
    kind_keys keys = { .hashes = w->include, .n = w->includes };
    bly_status status = BLY_OK;
    uint64_t room = 0;
    task_part whole = task_down();
    if (w->kind->building != NULL)
        status = w->kind->building->build(at, &keys, &w->bench);
    else
        status = cascade_add(w->kind, at, &keys);
    task_up(whole);
    image_unseal(at);
    inner_room(&room, image_u64(at, IMAGE_BYTES));
    w->used += room;
    w->images++;
    return status;
}

static void cascade_fill_row(cascade_work *w, uint64_t bytes)
{
    uint8_t *at = image_payload_mut(w->image) + w->used;
    image_set_u32(at, 0, (uint32_t)bytes);
    for (size_t i = 0; i < w->includes; i++)
        bits_set(at + CASCADE_LENGTH, bits_range(w->include[i], 8 * bytes));
    w->used += CASCADE_LENGTH + bytes;
    w->rows++;
}

/* Adds the smallest level that holds the current keys. After a row there are
 * only rows. */
static bly_status cascade_add_level(cascade_work *w, cascade_level *level)
{
    bly_plan_t plan;
    kind_spec spec;
    bool is_image;
    uint64_t bytes = cascade_level_bytes(w->kind, w->includes, &plan, &spec,
                                         &is_image);
    is_image = is_image && w->rows == 0 && w->images < CASCADE_IMAGES
            && plan.scratch <= w->bench.bytes;
    uint64_t row = cascade_row_for(w->includes);
    bytes = is_image ? bytes : CASCADE_LENGTH + row;
    if (bytes > w->bytes - w->used || row > UINT32_MAX
        || w->rows == CASCADE_ROWS)
        return BLY_EFULL;

    bly_status status = BLY_OK;
    uint8_t *at = image_payload_mut(w->image) + w->used;
    *level = (cascade_level){ .kind = w->kind, .at = at, .images = is_image,
                              .rows = !is_image };
    if (!is_image)
        cascade_fill_row(w, row);
    else
        status = inner_format(at, w->kind, &plan, w->image, &spec);
    return is_image && status == BLY_OK ? cascade_fill_image(w) : status;
}

static void cascade_step_all(uint64_t *states, size_t n)
{
    TASK_SPAN(i, 0, n)
        states[i] = cascade_step(states[i]);
}

/* Keeps the states that the level has, of n; returns their number. */
static size_t cascade_keep(const cascade_level *level, uint64_t *states,
                           size_t n)
{
    bool found[INNER_CHUNK];
    size_t kept = 0;
    for (size_t i = 0, some; i < n && !task_cancelled(); i += some) {
        some = n - i < INNER_CHUNK ? n - i : INNER_CHUNK;
        task_step(some);
        cascade_level_has_many(level, states + i, some, found);
        for (size_t j = 0; j < some; j++) {
            states[kept] = states[i + j];
            kept += found[j];
        }
    }
    return kept;
}

/* The states at level 1 of keys from number *next on that have the label, as
 * many as there is room for. */
static size_t cascade_take(const cascade_work *w, uint64_t label, size_t *next,
                           uint64_t *states, size_t room)
{
    const kind_keys *keys = w->keys;
    size_t n = 0;
    for (; *next < keys->n && n < room; ++*next) {
        if (*next % TASK_KEYS == 0 && task_step(0))
            break;
        if (keys->labels == NULL || keys->labels[*next] == label)
            states[n++] = cascade_step(cascade_start(w->salt,
                                                     keys->hashes[*next]));
    }
    return n;
}

/* Takes the keys of the larger list that pass level 1, up to the room there is.
 * */
static bly_status cascade_take_passing(cascade_work *w,
                                       const cascade_level *level)
{
    uint64_t states[INNER_CHUNK];
    size_t next = 0, n;
    while (w->keys->labels != NULL && !task_cancelled()
           && (n = cascade_take(w, w->inverted, &next, states,
                                INNER_CHUNK)) > 0) {
        size_t kept = cascade_keep(level, states, n);
        size_t room = w->passing - w->excludes;
        size_t some = kept < room ? kept : room;
        memcpy(w->exclude + w->excludes, states, some * sizeof *states);
        w->excludes += some;
        if (some < kept)
            return BLY_EFULL;
    }
    return BLY_OK;
}

static void cascade_swap(cascade_work *w)
{
    uint64_t *states = w->include;
    size_t n = w->includes;
    w->include = w->exclude;
    w->includes = w->excludes;
    w->exclude = states;
    w->excludes = n;
}

/* All levels. BLY_EFULL: it takes more room than it should. */
static bly_status cascade_levels(cascade_work *w)
{
    cascade_level level = cascade_first(w->image);
    size_t next = 0;
    bly_status status;
    w->includes = cascade_take(w, !w->inverted, &next, w->include,
                               (size_t)(w->exclude - w->include));
    if (w->includes == 0)
        return BLY_OK;
    level.images = 1;
    task_phase(0.5, w->includes);
    status = cascade_fill_image(w);
    task_phase(0.3, w->keys->n);
    if (status == BLY_OK)
        status = cascade_take_passing(w, &level);
    task_phase(0.2, w->keys->n);
    for (cascade_swap(w); status == BLY_OK && w->includes > 0;
         cascade_swap(w)) {
        if (task_cancelled())
            return task_status();
        cascade_step_all(w->include, w->includes);
        cascade_step_all(w->exclude, w->excludes);
        status = cascade_add_level(w, &level);
        if (status == BLY_OK)
            w->excludes = cascade_keep(&level, w->exclude, w->excludes);
    }
    return status;
}

/* Returns whether a key is still in both sets. */
static bool cascade_in_both(cascade_work *w)
{
    sort_heap(w->include, w->includes);
    sort_heap(w->exclude, w->excludes);
    for (size_t i = 0, j = 0; i < w->includes && j < w->excludes; ) {
        if (w->include[i] == w->exclude[j])
            return true;
        if (w->include[i] < w->exclude[j])
            i++;
        else
            j++;
    }
    return false;
}

static void cascade_finish(const cascade_work *w)
{
    uint64_t shape = image_geometry(w->image, CASCADE_SHAPE);
    image_set_u64(w->image, IMAGE_GEOMETRY + 8 * CASCADE_SHAPE,
                  shape | w->salt << CASCADE_SALT_AT
                  | w->images << CASCADE_IMAGES_AT
                  | w->rows << CASCADE_ROWS_AT);
    image_set_u64(w->image, IMAGE_BYTES, IMAGE_HEADER + w->used);
    if (w->images == 0)                 /* what `format` wrote              */
        memset(image_payload_mut(w->image), 0, (size_t)w->bytes);
}

static bly_status cascade_build(void *image, const kind_keys *keys,
                                const kind_bench *bench)
{
    uint8_t first[IMAGE_HEADER];
    cascade_work w = {
        .image = image, .keys = keys, .bytes = image_payload_bytes(image),
        .inverted = cascade_part(image, CASCADE_INVERTED_AT),
        .kind = cascade_kinds[cascade_part(image, 0)],
    };
    if (keys->labels == NULL && image_geometry(image, CASCADE_OTHERS) > 0)
        return status_fail(BLY_EPARAM, "kind cascade with others= needs the "
                           "other keys too: give them label 0, and the members "
                           "label 1, or leave out others=");
    memcpy(first, image_payload(image), IMAGE_HEADER);
    for (; w.salt < CASCADE_SALTS; w.salt++) {
        cascade_begin(&w, bench, first);
        if (cascade_levels(&w) == BLY_OK) {
            cascade_finish(&w);
            return BLY_OK;
        }
        if (task_cancelled())
            return task_status();
        if (cascade_in_both(&w))
            return status_fail(BLY_EPARAM, "a key is both a member and one of "
                               "the others: remove it from one list; if two "
                               "keys have the same hash, choose another seed");
    }
    return status_fail(BLY_EFULL, "no cascade can separate these %zu keys "
                       "after %d attempts: their hashes are not random",
                       keys->n, (int)CASCADE_SALTS);
}

/* ---- Check, contains --------------------------------------------------- */

/* Verifies that each image begins where it should, and finds where they end. */
static bool cascade_check_images(const void *image, uint64_t *end)
{
    const bly_kind *kind = cascade_kinds[cascade_part(image, 0)];
    uint64_t images = cascade_part(image, CASCADE_IMAGES_AT), room;
    for (*end = 0; images > 0; images--, *end += room)
        if (!inner_check(image, *end, kind)
            || !inner_room(&room, image_u64(image_payload(image) + *end,
                                            IMAGE_BYTES)))
            return false;
    return *end <= image_payload_bytes(image);
}

/* And the rows behind them? */
static bool cascade_check_rows(const void *image, uint64_t at)
{
    uint64_t rows = cascade_part(image, CASCADE_ROWS_AT);
    uint64_t left = image_payload_bytes(image) - at, bytes;
    const uint8_t *row = image_payload(image) + at;
    for (; rows > 0; rows--) {
        if (left < CASCADE_LENGTH)
            return false;
        bytes = image_u32(row, 0);
        if (bytes == 0 || bytes > left - CASCADE_LENGTH)
            return false;
        left -= CASCADE_LENGTH + bytes;
        row += CASCADE_LENGTH + bytes;
    }
    return left == 0;
}

static bly_status cascade_check(const void *image)
{
    uint64_t end;
    bool sound = cascade_part(image, 0) < CASCADE_KINDS
              && cascade_part(image, CASCADE_INVERTED_AT) <= 1
              && cascade_part(image, CASCADE_SALT_AT) < CASCADE_SALTS
              && cascade_part(image, CASCADE_IMAGES_AT) <= CASCADE_IMAGES
              && cascade_part(image, CASCADE_ROWS_AT) <= CASCADE_ROWS
              && image_geometry(image, CASCADE_SHAPE) >> CASCADE_END_AT == 0
              && image_geometry(image, CASCADE_ZERO) == 0
              && cascade_check_images(image, &end)
              && cascade_check_rows(image, end);
    return sound ? BLY_OK : kind_bad_geometry(image);
}

static bool cascade_contains(const void *image, uint64_t hash)
{
    cascade_level level = cascade_first(image);
    uint64_t state = cascade_start(cascade_part(image, CASCADE_SALT_AT), hash);
    bool member = cascade_part(image, CASCADE_INVERTED_AT);
    for (; cascade_more(&level); cascade_next(&level)) {
        state = cascade_step(state);
        if (!cascade_level_has(&level, state))
            break;
        member = !member;
    }
    return member;
}

/* Keys of a batch that every level has so far. */
typedef struct {
    size_t   n;
    uint64_t state[INNER_CHUNK];
    uint16_t place[INNER_CHUNK];        /* in the batch                      */
    bool     found[INNER_CHUNK];
} cascade_way;

/* Queries one level. Keys that it has go on, with their answer inverted. */
static void cascade_way_query(cascade_way *way, const cascade_level *level,
                              bool *member)
{
    size_t left = 0;
    cascade_step_all(way->state, way->n);
    cascade_level_has_many(level, way->state, way->n, way->found);
    for (size_t i = 0; i < way->n; i++) {
        member[way->place[i]] ^= way->found[i];
        way->state[left] = way->state[i];
        way->place[left] = way->place[i];
        left += way->found[i];
    }
    way->n = left;
}

static void cascade_contains_some(const void *image, const uint64_t *hashes,
                                  size_t n, bool *member)
{
    cascade_way way;
    cascade_level level = cascade_first(image);
    uint64_t salt = cascade_part(image, CASCADE_SALT_AT);
    bool inverted = cascade_part(image, CASCADE_INVERTED_AT);
    way.n = n;
    for (size_t i = 0; i < n; i++) {
        way.state[i] = cascade_start(salt, hashes[i]);
        way.place[i] = (uint16_t)i;
        member[i] = inverted;
    }
    for (; way.n > 0 && cascade_more(&level); cascade_next(&level))
        cascade_way_query(&way, &level, member);
}

static void cascade_contains_many(const void *image, const uint64_t *hashes,
                                  size_t n, bool *present)
{
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < INNER_CHUNK ? n - i : INNER_CHUNK;
        cascade_contains_some(image, hashes + i, some, present + i);
    }
}

/* ---- Look inside ------------------------------------------------------- */

/* Returns the chance that a level has a key from outside. */
static double cascade_level_rate(const cascade_level *level)
{
    if (level->images > 0) {
        bly_info_t stat = { .bytes = 0 };
        level->kind->stat(&stat, level->at);
        return stat.rate;
    }
    size_t bytes = (size_t)cascade_row_bytes(level);
    return (double)bits_count(cascade_row_bits(level), bytes)
         / (8 * (double)bytes);
}

/* (3): an odd number of levels has it. The terms are summed up as they come,
 * f_1 - f_1 f_2 + f_1 f_2 f_3 - …, which is the same. */
static void cascade_stat(bly_info_t *out, const void *image)
{
    cascade_level level = cascade_first(image);
    bool inverted = cascade_part(image, CASCADE_INVERTED_AT);
    double reach = 1, odd = 0, sign = 1;
    if (level.images > 0)
        level.kind->stat(out, level.at);
    for (; cascade_more(&level); cascade_next(&level), sign = -sign) {
        reach *= cascade_level_rate(&level);
        odd += sign * reach;
    }
    out->rate = inverted ? 1 - odd : odd;
    if (inverted) {                     /* level 1 holds the others */
        out->distinct = (double)image_geometry(image, CASCADE_MEMBERS);
        out->distinct_sd = 0;
    }
}

static const kind_building cascade_building = {
    .build    = cascade_build,
    .separate = cascade_separate,
};

const bly_kind bly_kind_cascade = {
    .name    = "cascade",
    .family  = "compound",
    .summary = "exact answers for all keys of a closed universe",
    .version = CASCADE_VERSION,
    .options = cascade_options,

    .plan   = cascade_plan,
    .format = cascade_format,
    .check  = cascade_check,
    .stat   = cascade_stat,

    .contains      = cascade_contains,
    .contains_many = cascade_contains_many,

    .building = &cascade_building,
};
