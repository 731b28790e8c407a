/* check.c - hostile bytes through every verb.
 *
 * A payload may hold anything, so its answers mean nothing here; but all verbs
 * must agree, and the library must accept what it writes itself.
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "bloomery.h"
#include "bloomery/sketch.h"
#include "forge.h"

enum { CHECK_HASHES = 96, CHECK_MEMORY = 64 << 20 };

/* Returns the finding unless `good`. */
#define CHECK(good, finding)                                                   \
    do {                                                                       \
        if (!(good))                                                           \
            return (finding);                                                  \
    } while (0)

/* Runs the next step, unless an earlier one has found something. */
#define CHECK_THEN(found, step) ((found) != NULL ? (found) : (step))

/* Draws hashes at the ends of ranges, and others from the input. */
static void check_draw(uint64_t hashes[CHECK_HASHES], uint64_t seed)
{
    static const uint64_t ends[] = {
        0, 1, UINT64_MAX, UINT64_MAX - 1, UINT32_MAX,
        UINT64_C(1) << 32, UINT64_C(1) << 63, ~(UINT64_C(1) << 63),
        UINT64_C(0xFFFFFFFF00000000),
    };
    const size_t n = sizeof ends / sizeof *ends;
    for (size_t i = 0; i < CHECK_HASHES; i++)
        hashes[i] = i < n ? ends[i] : XXH3_64bits_withSeed(&i, sizeof i, seed);
}

/* ---- Memory ------------------------------------------------------------- */

/* Limits each allocation, as a forged header can make a filter grow by any
 * amount. */
static void *check_allocate(void *context, size_t alignment, size_t bytes)
{
    void *memory = NULL;
    (void)context;
    if (bytes > CHECK_MEMORY || posix_memalign(&memory, alignment, bytes) != 0)
        return NULL;
    return memory;
}

static void check_release(void *context, void *memory, size_t bytes)
{
    (void)context;
    (void)bytes;
    free(memory);
}

static const bly_allocator check_allocator = {
    .allocate = check_allocate, .release = check_release,
};

static const bly_options check_options = { .allocator = &check_allocator };

/* ---- Verbs that read --------------------------------------------------- */

static bool check_number(bly_estimate e)
{
    return e.value >= 0 && e.sd >= 0;   /* false for a nan */
}

static const char *check_stat(const bly_filter *f)
{
    bly_info_t s;
    bly_overlap_t o;
    CHECK(bly_info(&s, f) == BLY_OK, "stat failed");
    CHECK(s.fill >= 0 && s.fill <= 1, "fill is not in [0, 1]");
    CHECK(s.rate >= 0 && s.rate <= 1, "rate is not in [0, 1]");
    CHECK(s.planned_rate >= 0 && s.planned_rate <= 1,
          "planned rate is not in [0, 1]");
    CHECK(s.distinct >= 0 && s.distinct_sd >= 0,
          "the estimate of keys is negative or no number");
    bly_status status = bly_overlap(&o, f, f);
    CHECK(status == BLY_OK || status == BLY_EUNSUPPORTED,
          "a filter cannot be compared with itself");
    CHECK(status != BLY_OK || (check_number(o.a) && check_number(o.b)
                               && check_number(o.either)
                               && check_number(o.both)
                               && check_number(o.jaccard)),
          "an estimate is negative or no number");
    return NULL;
}

/* The next label expected, and whether all were valid so far. */
typedef struct { uint64_t next, most; bool sound; } check_labels;

static bool check_label(void *context, const bly_label_t *label)
{
    check_labels *seen = context;
    seen->sound &= label->label == seen->next++ && label->label <= seen->most
                && label->fill >= 0 && label->fill <= 1
                && label->rate >= 0 && label->rate <= 1
                && label->mistaken >= 0 && label->mistaken <= 1;
    return seen->sound;
}

static const char *check_each_label(const bly_filter *f)
{
    bly_info_t s;
    CHECK(bly_info(&s, f) == BLY_OK, "stat failed");
    check_labels seen = { s.label_least, s.label_most, true };
    bly_status status = bly_list_labels(f, check_label, &seen);
    CHECK(status == BLY_OK || status == BLY_EUNSUPPORTED,
          "the labels cannot be listed");
    CHECK(status != BLY_OK || (seen.sound && seen.next == s.label_most + 1),
          "a label is out of order, or a rate of it not in [0, 1]");
    return NULL;
}

static const char *check_ask(const bly_filter *f, const uint64_t *hashes)
{
    bool present[CHECK_HASHES], gotten[CHECK_HASHES];
    uint64_t labels[CHECK_HASHES];
    bly_info_t s;
    CHECK(bly_info(&s, f) == BLY_OK, "stat failed");
    bly_contains_hashes(f, hashes, CHECK_HASHES, present);
    bly_get_hashes(f, hashes, CHECK_HASHES, gotten, labels);
    for (size_t i = 0; i < CHECK_HASHES; i++) {
        uint64_t label = 0;
        bool one = bly_contains_hash(f, hashes[i]);
        CHECK(present[i] == one, "contains_many is not contains_hash");
        CHECK((bly_count_hash(f, hashes[i]) > 0) == one,
              "count and contains disagree");
        bool found = bly_get_hash(f, hashes[i], &label);
        CHECK(gotten[i] == found && (!found || labels[i] == label),
              "get_many is not get_hash");
        CHECK(!found || (label >= s.label_least && label <= s.label_most),
              "a label is none that there may be");
    }
    return NULL;
}

static const char *check_keys(const bly_filter *f, const uint64_t *hashes)
{
    bly_key keys[CHECK_HASHES];
    bool present[CHECK_HASHES];
    for (size_t i = 0; i < CHECK_HASHES; i++)
        keys[i] = (bly_key){ .data = hashes, .length = i };
    keys[0].data = NULL;
    bly_contains_many(f, &(bly_keys){.n = CHECK_HASHES, .keys = keys}, present);
    for (size_t i = 0; i < CHECK_HASHES; i++)
        CHECK(present[i] == bly_contains(f, keys[i].data, keys[i].length),
              "contains_keys is not contains");
    return NULL;
}

static bool check_visit(void *context, const bly_listed *one)
{
    uint64_t *sum = context;
    *sum += one->hash + (uint64_t)one->side;
    for (size_t i = 0; i < one->length; i++)
        *sum += ((const uint8_t *)one->key)[i];
    return true;
}

/* Two listings agree, or both are refused. */
static const char *check_list(const bly_filter *f)
{
    uint64_t sum = 0, again = 0;
    bly_status status = bly_list_keys(f, check_visit, &sum);
    CHECK(status == BLY_OK || status == BLY_EFULL || status == BLY_ENOMEM
          || status == BLY_EUNSUPPORTED, "odd status of list");
    CHECK(status == BLY_OK || sum == 0, "a list that failed has visited");
    CHECK(bly_list_keys(f, check_visit, &again) == status && sum == again,
          "another list the second time");
    return NULL;
}

static const char *check_read(const bly_filter *f, const uint64_t *hashes)
{
    const char *found = check_ask(f, hashes);
    found = CHECK_THEN(found, check_list(f));
    found = CHECK_THEN(found, check_keys(f, hashes));
    found = CHECK_THEN(found, check_each_label(f));
    return CHECK_THEN(found, check_stat(f));
}

/* ---- Verbs that write -------------------------------------------------- */

/* Returns whether a verb may have this status. */
static bool check_wrote(bly_status status)
{
    return status == BLY_OK || status == BLY_SEEN || status == BLY_EFULL
        || status == BLY_EABSENT || status == BLY_EUNSUPPORTED
        || status == BLY_EUNSAFE || status == BLY_EREMOVED;
}

/* Adds may also make the filter grow, which may detect that it was forged, or
 * refuse a key that is not an integer in range. */
static bool check_added(bly_status status)
{
    return check_wrote(status) || status == BLY_ENOMEM
        || status == BLY_ETOOBIG || status == BLY_EPARAM
        || status == BLY_ECORRUPT;
}

/* Sets whose sizes differ after growth do not combine. */
static bool check_mixed(bly_status status, const bly_filter *a,
                        const bly_filter *b)
{
    size_t a_bytes, b_bytes;
    bly_image(a, &a_bytes);
    bly_image(b, &b_bytes);
    return check_wrote(status)
        || (status == BLY_EMISMATCH && a_bytes != b_bytes);
}

static const char *check_change(bly_filter *f, const uint64_t *hashes)
{
    bly_key key = { .data = hashes, .length = 9 };
    bool seen[CHECK_HASHES];
    bly_info_t s;
    CHECK(bly_info(&s, f) == BLY_OK, "stat failed");
    for (size_t i = 0; i < CHECK_HASHES / 2; i++)
        CHECK(check_added(bly_add_hash(f, hashes[i])), "odd status of add");
    CHECK(check_added(bly_add_hashes(f, hashes, CHECK_HASHES, NULL, NULL)),
          "odd status of add_many");
    CHECK(check_added(bly_add_hashes(f, hashes, CHECK_HASHES, seen, NULL)),
          "odd status of add_each");
    bly_status added
        = bly_add_many(f, &(bly_keys){.n = 1, .keys = &key}, NULL, NULL);
    CHECK(check_added(added) || added == BLY_EPARAM /* too long for it */,
          "odd status of add_keys");
    for (size_t i = 0; i < CHECK_HASHES; i += 3)
        CHECK(check_wrote(bly_remove_hash(f, hashes[i])),
              "odd status of remove");
    for (size_t i = 0; i < CHECK_HASHES; i += 5)
        CHECK(check_wrote(bly_put_hash(f, hashes[i], i & 1 ? s.label_least
                                                           : s.label_most)),
              "odd status of put");
    return NULL;
}

static const char *check_combine(bly_filter *f, const bly_filter *other)
{
    CHECK(check_mixed(bly_subtract(f, other), f, other),
          "odd status of subtract");
    bly_status united = bly_unite(f, other), twice = bly_unite(f, f);
    CHECK(check_mixed(united, f, other) || united == BLY_ECORRUPT,
          "odd status of unite");
    CHECK(check_wrote(twice) || twice == BLY_ECORRUPT,
          "a filter cannot be united with itself");
    CHECK(check_wrote(bly_unite_at(f, f, 1)),
          "a filter cannot be united with itself at a label");
    CHECK(check_wrote(bly_intersect(f, f)),
          "a filter cannot be intersected with itself");
    CHECK(check_mixed(bly_intersect(f, other), f, other),
          "odd status of intersect");
    return NULL;
}

/* A kind that cannot be changed keeps the checksum of its bytes, right or
 * wrong. */
static bool check_changes(bly_filter *f)
{
    return bly_add_hash(f, 1) != BLY_EUNSUPPORTED
        || bly_put_hash(f, 1, 0) != BLY_EUNSUPPORTED;
}

static const char *check_image(bly_filter *f)
{
    size_t bytes;
    bool changes = check_changes(f);
    const void *image = bly_image(f, &bytes);
    CHECK(!changes || bly_check(image, bytes, NULL) == BLY_OK,
          "check refuses an image that the library wrote");
    return NULL;
}

static const char *check_write(const bly_filter *wrapped,
                               const uint64_t *hashes)
{
    bly_filter *copy = NULL;
    if (bly_copy(&copy, wrapped, &check_options) != BLY_OK)
        return NULL;                    /* out of memory: no finding */
    const char *found = check_change(copy, hashes);
    found = CHECK_THEN(found, check_read(copy, hashes));
    found = CHECK_THEN(found, check_image(copy));
    found = CHECK_THEN(found, check_combine(copy, wrapped));
    found = CHECK_THEN(found, check_read(copy, hashes));
    found = CHECK_THEN(found, check_image(copy));
    bly_free(copy);
    return found;
}

/* Borrowed filters cannot be changed. */
static const char *check_refuse(bly_filter *f)
{
    const bly_status refused[] = {
        bly_add_hash(f, 1), bly_add_hashes(f, &(uint64_t){ 1 }, 1, NULL, NULL),
        bly_remove_hash(f, 1), bly_put_hash(f, 1, 1),
        bly_unite(f, f), bly_unite_at(f, f, 1), bly_intersect(f, f),
        bly_subtract(f, f),
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        CHECK(refused[i] == BLY_EREADONLY || refused[i] == BLY_EUNSUPPORTED,
              "a borrowed image could be changed");
    return NULL;
}

/* ---- The bytes --------------------------------------------------------- */

/* Returns whether bytes may be refused with this status. */
static bool check_refused(bly_status status)
{
    return status == BLY_EFORMAT || status == BLY_EVERSION
        || status == BLY_ECORRUPT || status == BLY_EUNSEALED
        || status == BLY_EHASH || status == BLY_EKIND;
}

/* Returns whether the image needs a secret. None is given here, and bly_check
 * needs none. */
static bool check_keyed(const uint8_t *block, size_t n)
{
    bly_header h;
    return bly_peek(&h, block, n) == BLY_OK && strcmp(h.hash, "siphash") == 0;
}

static const char *check_wrapped(bly_filter *f, const uint8_t *block, size_t n)
{
    uint64_t hashes[CHECK_HASHES], sum = XXH3_64bits(block, n);
    size_t bytes;
    check_draw(hashes, sum);
    CHECK(bly_image(f, &bytes) == block && bytes == n,
          "a borrowed image moved");
    const char *found = check_read(f, hashes);
    found = CHECK_THEN(found, check_refuse(f));
    found = CHECK_THEN(found, check_write(f, hashes));
    CHECK(found != NULL || XXH3_64bits(block, n) == sum,
          "a borrowed image was written to");
    return found;
}

/* A packed filter unpacks to a valid one, whose packed form unpacks to the
 * same. */
static const char *check_repack(bly_filter *f)
{
    size_t bytes, used, again_bytes;
    const void *image = bly_image(f, &bytes);
    bly_filter *again = NULL;
    CHECK(bly_check(image, bytes, NULL) == BLY_OK,
          "an unpacked image is not sound");
    uint8_t *packed = malloc(bytes);
    if (packed == NULL)
        return NULL;
    bly_status status = bly_pack(f, packed, bytes, &used);
    if (status == BLY_OK && used <= bytes)
        status = bly_unpack(&again, packed, used, &check_options);
    free(packed);
    CHECK(status == BLY_OK || status == BLY_ENOMEM,
          "what was packed cannot be unpacked");
    if (again == NULL)
        return NULL;
    const void *same = bly_image(again, &again_bytes);
    bool equal = again_bytes == bytes && memcmp(same, image, bytes) == 0;
    bly_free(again);
    CHECK(equal, "packed and unpacked it is another");
    return NULL;
}

/* Unpacks bytes, packed or not, to a filter of its own. They are not taken for
 * another system's file, which bly_check would refuse. */
static const char *check_unpack(const uint8_t *block, size_t n,
                                bly_status checked)
{
    uint64_t hashes[CHECK_HASHES];
    bly_options own = check_options;
    own.format = "bloomery";
    bly_filter *f = NULL;
    bly_status status = bly_unpack(&f, block, n, &own);
    CHECK(status == checked || (checked == BLY_OK && status == BLY_ENOMEM)
          || (checked == BLY_OK && status == BLY_ESECRET
              && check_keyed(block, n)), "unpack and check disagree");
    CHECK(status == BLY_OK || f == NULL, "a failed unpack set its result");
    if (status != BLY_OK)
        return NULL;
    check_draw(hashes, n);
    const char *found = check_repack(f);
    found = CHECK_THEN(found, check_read(f, hashes));
    found = CHECK_THEN(found, check_change(f, hashes));
    found = CHECK_THEN(found, check_repack(f));
    bly_free(f);
    return found;
}

/* Returns whether a plan may be refused with this status. */
static bool check_unplanned(bly_status status)
{
    return status == BLY_EKIND || status == BLY_EOPTION || status == BLY_EHASH
        || status == BLY_EPARAM || status == BLY_ETOOBIG
        || status == BLY_ENOMEM || status == BLY_EUNSUPPORTED
        || status == BLY_ESECRET;
}

/* A plan made from a header gives a usable filter, or none. */
static const char *check_planned(const bly_header *h)
{
    uint64_t hashes[CHECK_HASHES];
    bly_plan_t plan = { .capacity = h->capacity, .bytes = h->bytes,
                        .rate = h->rate };
    bly_spec spec = { .hash = h->hash, .seed = h->seed,
                      .allocator = &check_allocator };
    bly_filter *f = NULL;
    size_t bytes;
    memcpy(plan.kind, h->kind, sizeof plan.kind);
    memcpy(plan.geometry, h->geometry, sizeof plan.geometry);
    bly_status status = bly_new_planned(&f, &plan, &spec);
    CHECK(status == BLY_OK || check_unplanned(status),
          "odd status of new_planned");
    CHECK(status == BLY_OK || f == NULL, "a failed new_planned set its result");
    if (status != BLY_OK)
        return NULL;
    const void *image = bly_image(f, &bytes);
    bool sound = bytes == h->bytes && bly_check(image, bytes, NULL) == BLY_OK;
    check_draw(hashes, h->seed);
    const char *found = sound ? check_change(f, hashes)
                              : "a filter from a plan is not sound";
    found = CHECK_THEN(found, check_read(f, hashes));
    found = CHECK_THEN(found, check_image(f));
    bly_free(f);
    return found;
}

/* Checks the header alone. */
static const char *check_peek(const uint8_t *block, size_t n,
                              bly_status checked)
{
    bly_header h;
    bly_status status = bly_peek(&h, block, n);
    CHECK(status == BLY_OK || status == BLY_EFORMAT || status == BLY_EVERSION
          || status == BLY_ECORRUPT, "odd status of peek");
    CHECK(checked != BLY_OK || (status == BLY_OK && h.known && h.sealed
                                && h.bytes == n),
          "peek does not know what check accepts");
    if (status != BLY_OK)
        return NULL;
    CHECK(memchr(h.kind, '\0', sizeof h.kind) != NULL
          && memchr(h.hash, '\0', sizeof h.hash) != NULL,
          "a name that peek tells does not end");
    return check_planned(&h);
}

static const char *check_block(const uint8_t *block, size_t n)
{
    bly_filter *f = NULL;
    bly_status checked = bly_check(block, n, NULL);
    const char *alone = check_peek(block, n, checked);
    CHECK(alone == NULL, alone);
    const char *unpacked = check_unpack(block, n, checked);
    CHECK(unpacked == NULL, unpacked);
    bly_status wrapped = bly_wrap(&f, block, n, &check_options);
    CHECK(checked == BLY_OK || check_refused(checked), "odd status of check");
    CHECK(wrapped == BLY_OK || check_refused(wrapped)
          || wrapped == BLY_EUNSUPPORTED /* packed */
          || (wrapped == BLY_ESECRET && check_keyed(block, n))
          || wrapped == BLY_ENOMEM, "odd status of wrap");
    CHECK(wrapped == BLY_OK || f == NULL, "a failed wrap set its result");
    CHECK(wrapped != BLY_OK || checked == BLY_OK || checked == BLY_ECORRUPT,
          "wrap accepts what check says is no image");
    CHECK(checked != BLY_OK || wrapped == BLY_OK || wrapped == BLY_ENOMEM
          || wrapped == BLY_EUNSUPPORTED || wrapped == BLY_ESECRET,
          "check accepts what wrap refuses");
    if (wrapped != BLY_OK)
        return NULL;
    const char *found = check_wrapped(f, block, n);
    bly_free(f);
    return found;
}

/* Copies the bytes to a block of their own, calls `repair` unless it is NULL,
 * and checks them. */
static const char *check_form(const uint8_t *bytes, size_t n,
                              void (*repair)(uint8_t *, size_t))
{
    uint8_t *block = calloc(1, n);
    if (block == NULL)
        return NULL;
    if (n > 0)
        memcpy(block, bytes, n);
    if (repair != NULL)
        repair(block, n);
    const char *found = check_block(block, n);
    free(block);
    return found;
}

const char *check_mended(const uint8_t *bytes, size_t n)
{
    return check_form(bytes, n, NULL);
}

const char *check_run(const uint8_t *bytes, size_t n, bool *accepted)
{
    const char *found = check_mended(bytes, n);
    if (n >= FORGE_HEADER) {
        found = CHECK_THEN(found, check_form(bytes, n, forge_seal));
        found = CHECK_THEN(found, check_form(bytes, n, forge_repair));
    }
    if (accepted != NULL)
        *accepted = bly_check(bytes, n, NULL) == BLY_OK;
    return found;
}
