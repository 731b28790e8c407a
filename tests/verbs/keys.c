/* keys.c - batches in each form of bly_keys equal single keys; an invalid form
 * changes nothing.
 */
#include "test.h"
#include "bloomery/paged.h"

#include <assert.h>
#include <unistd.h>

#include "verbs/each.h"

enum { MOST = 5000, ROOM = 24, STREAM = 31 };

static const size_t keys_sizes[] = { 0, 1025, 1, MOST, 1023, 1024 };

/* ---- Equal keys in all forms -------------------------------------------- */

enum { ARRAY, OFFSETS32, OFFSETS64, WIDTH, FORMS };

typedef struct {
    bly_key  keys[MOST];
    uint8_t  data[MOST * ROOM];
    uint32_t offsets32[MOST + 1];
    uint64_t offsets64[MOST + 1];
    size_t   width;                     /* 0: lengths vary                   */
} keys_store;

/* Returns 1 to 20, 0 for three keys, or always `width`. */
static size_t keys_length(size_t width, size_t i)
{
    if (width != 0)
        return width;
    return i == 0 || i == 1024 || i == MOST - 1
         ? 0 : 1 + test_random(STREAM, i) % 20;
}

static void keys_fill(keys_store *s, size_t width)
{
    size_t at = 0;
    s->width = width;
    for (size_t i = 0; i < MOST; i++) {
        size_t length = keys_length(width, i);
        for (size_t j = 0; j < length; j++)
            s->data[at + j] = (uint8_t)(test_random(STREAM + 1, i) >> j % 8 * 8)
                            ^ (uint8_t)j;
        s->keys[i] = (bly_key){ length > 0 ? s->data + at : NULL, length };
        s->offsets32[i] = (uint32_t)at;
        s->offsets64[i] = at;
        at += length;
    }
    s->offsets32[MOST] = (uint32_t)at;
    s->offsets64[MOST] = at;
}

static keys_store keys_mixed, keys_even;

static int keys_setup(void **state)
{
    (void)state;
    keys_fill(&keys_mixed, 0);
    keys_fill(&keys_even, 8);
    return 0;
}

static bly_keys keys_form(const keys_store *s, int form, size_t n)
{
    switch (form) {
    case ARRAY:
        return (bly_keys){ .n = n, .keys = s->keys };
    case OFFSETS32:
        return (bly_keys){ .n = n, .data = s->data,
                           .offsets32 = s->offsets32 };
    case OFFSETS64:
        return (bly_keys){ .n = n, .data = s->data,
                           .offsets64 = s->offsets64 };
    default:
        return (bly_keys){ .n = n, .data = s->data, .width = s->width };
    }
}

/* ---- Add ---------------------------------------------------------------- */

static const char *keys_kind;
static const bly_kind_info *keys_info;

static bly_filter *keys_new(uint64_t capacity)
{
    bly_filter *filter = NULL;
    bly_spec spec = { .capacity = each_room(keys_kind, capacity), .seed = 5 };
    each_status(keys_kind, bly_new(&filter, keys_kind, &spec), BLY_OK);
    return filter;
}

/* The result of adding keys one by one: where it ended, and how. */
typedef struct {
    bool       seen[MOST];
    size_t     in;
    bly_status status;
} keys_told;

static void keys_add_single(bly_filter *filter, const bly_key *keys, size_t n,
                            keys_told *told)
{
    told->status = BLY_OK;
    for (told->in = 0; told->in < n; told->in++) {
        const bly_key *key = &keys[told->in];
        bly_status status = bly_add(filter, key->data, key->length);
        if (status < 0) {
            told->status = status;
            return;
        }
        told->seen[told->in] = status == BLY_SEEN;
    }
}

/* With and without `seen`; with and without `done`. */
static void keys_add_same(const keys_store *s, int form, size_t n,
                          const bly_filter *one, const keys_told *told)
{
    static bool seen[MOST];
    bly_keys keys = keys_form(s, form, n);
    for (int how = n == MOST ? 3 : 0; how < 4; how++) {
        bly_filter *many = keys_new(MOST);
        size_t done = MOST + 1;
        each_status(keys_kind,
                    bly_add_many(many, &keys, how & 1 ? seen : NULL,
                                 how & 2 ? &done : NULL), told->status);
        each_true(keys_kind, done == (how & 2 ? told->in : MOST + 1));
        if (how & 1)
            assert_memory_equal(seen, told->seen, told->in);
        each_true(keys_kind, each_same(many, one));
        bly_free(many);
    }
}

/* ---- Query and remove --------------------------------------------------- */

static void keys_ask_same(const bly_filter *filter, const keys_store *s,
                          int form, size_t n)
{
    static bool present[MOST], found[MOST];
    static uint64_t counts[MOST], labels[MOST];
    bly_keys keys = keys_form(s, form, n);
    memset(labels, 0x5E, sizeof labels);
    each_status(keys_kind, bly_contains_many(filter, &keys, present), BLY_OK);
    each_status(keys_kind, bly_count_many(filter, &keys, counts), BLY_OK);
    each_status(keys_kind, bly_get_many(filter, &keys, found, labels), BLY_OK);
    for (size_t i = 0; i < n; i++) {
        const bly_key *key = &s->keys[i];
        uint64_t label = UINT64_C(0x5E5E5E5E5E5E5E5E);
        each_true(keys_kind, present[i] == bly_contains(filter, key->data,
                                                        key->length));
        each_true(keys_kind, counts[i] == bly_count(filter, key->data,
                                                    key->length));
        each_true(keys_kind, found[i] == bly_get(filter, key->data,
                                                 key->length, &label));
        each_true(keys_kind, labels[i] == label);
    }
}

/* The first half of the keys is removed twice although added once. */
static void keys_remove_same(const bly_filter *filter, const keys_store *s,
                             int form, size_t n)
{
    static bly_status each[MOST];
    bly_filter *one = NULL, *many = NULL, *silent = NULL;
    bly_keys keys = keys_form(s, form, n);
    bly_status first = BLY_OK;
    each_status(keys_kind, bly_copy(&one, filter, NULL), BLY_OK);
    each_status(keys_kind, bly_copy(&many, filter, NULL), BLY_OK);
    for (size_t i = 0; i < n / 2; i++) {
        bly_remove(one, s->keys[i].data, s->keys[i].length);
        bly_remove(many, s->keys[i].data, s->keys[i].length);
    }
    each_status(keys_kind, bly_copy(&silent, many, NULL), BLY_OK);
    bly_status got = bly_remove_many(many, &keys, each);
    for (size_t i = 0; i < n; i++) {
        bly_status status = bly_remove(one, s->keys[i].data,
                                       s->keys[i].length);
        each_true(keys_kind, each[i] == status);
        first = first == BLY_OK ? status : first;
    }
    each_true(keys_kind, got == first);
    each_status(keys_kind, bly_remove_many(silent, &keys, NULL), first);
    each_true(keys_kind, each_same(one, many));
    each_true(keys_kind, each_same(one, silent));
    bly_free(one);
    bly_free(many);
    bly_free(silent);
}

/* ---- Every kind that can add -------------------------------------------- */

static void keys_size_of(const keys_store *s, size_t n, int forms)
{
    static keys_told told;
    bly_filter *one = keys_new(MOST);
    keys_add_single(one, s->keys, n, &told);
    for (int form = 0; form < forms; form++) {
        keys_add_same(s, form, n, one, &told);
        keys_ask_same(one, s, form, n);
        keys_ask_same(one, s == &keys_even ? &keys_mixed : &keys_even, form,
                      s == &keys_even && form == WIDTH ? 0 : n);
        if (keys_info->can & BLY_CAN_REMOVE)
            keys_remove_same(one, s, form, n);
    }
    bly_free(one);
}

static void keys_visit_add(const char *kind, const bly_kind_info *info)
{
    keys_kind = kind;
    keys_info = info;
    if (!each_adds(info))
        return;
    for (size_t i = 0; i < test_work(6, 5, 3); i++) {
        keys_size_of(&keys_mixed, keys_sizes[i], WIDTH);
        keys_size_of(&keys_even, keys_sizes[i], FORMS);
    }
}

static void test_keys_are_single_ones(void **state)
{
    (void)state;
    each_kind(keys_visit_add);
    keys_visit_add("invertible:key=20", bly_kind_find("invertible"));
}

/* ---- Building, and hashing without a filter ----------------------------- */

static void keys_build_same(const keys_store *s, int form, size_t n)
{
    static uint64_t hashes[MOST];
    bly_filter *by_keys = NULL, *by_hashes = NULL;
    bly_spec spec = { .capacity = n == 0 ? 10 : 0, .seed = 5 };
    bly_keys keys = keys_form(s, form, n);
    each_status(keys_kind, bly_hash_many(hashes, keys_kind, &spec, &keys),
                BLY_OK);
    bly_status status = bly_build(&by_hashes, keys_kind, &spec,
                                  &(bly_keys){ .n = n, .hashes = hashes });
    each_status(keys_kind,
                bly_build(&by_keys, keys_kind, &spec, &keys),
                status);
    each_true(keys_kind, status == BLY_OK || status == BLY_EFULL);
    if (status == BLY_OK) {
        each_true(keys_kind, each_same(by_keys, by_hashes));
        for (size_t i = 0; i < n; i++)
            each_true(keys_kind, hashes[i] == bly_hash(by_keys,
                                                       s->keys[i].data,
                                                       s->keys[i].length));
        keys_ask_same(by_keys, s, form, n);
    }
    bly_free(by_keys);
    bly_free(by_hashes);
}

static void keys_visit_build(const char *kind, const bly_kind_info *info)
{
    keys_kind = kind;
    keys_info = info;
    for (size_t i = 0; i < test_work(6, 6, 3); i++) {
        size_t n = (size_t)each_room(kind, keys_sizes[i]);
        for (int form = 0; form < FORMS; form++) {
            if (form != WIDTH)
                keys_build_same(&keys_mixed, form, n);
            keys_build_same(&keys_even, form, n);
        }
    }
}

static void test_build_of_keys(void **state)
{
    (void)state;
    each_kind(keys_visit_build);
}

/* A filter that keeps whole keys gets whole keys. */
static void test_build_of_whole_keys(void **state)
{
    (void)state;
    const char *kind = "invertible:key=20";
    bly_spec spec = { .capacity = 2000 };
    for (int form = 0; form < FORMS; form++) {
        bly_keys keys = keys_form(&keys_even, form, 1500);
        bly_filter *built = NULL, *added = NULL;
        assert_status(bly_build(&built, kind, &spec, &keys),
                      BLY_OK);
        assert_status(bly_new(&added, kind, &spec), BLY_OK);
        for (size_t i = 0; i < 1500; i++)
            assert_true(bly_add(added, keys_even.keys[i].data, 8) >= 0);
        assert_true(each_same(built, added));
        bly_free(built);
        built = NULL;
        uint64_t labels[1] = { 0 };
        keys.n = 1;
        keys.labels = labels;
        assert_status(bly_build(&built, kind, &spec, &keys),
                      BLY_EUNSUPPORTED);
        assert_null(built);
        bly_free(added);
    }
}

/* ---- Labels ------------------------------------------------------------- */

static uint64_t keys_labels[MOST];

static void keys_draw_labels(const bly_plan_t *plan)
{
    uint64_t span = plan->label_most - plan->label_least;
    for (size_t i = 0; i < MOST; i++) {
        uint64_t any = test_random(STREAM + 2, i);
        keys_labels[i] = plan->label_least
                       + (span == UINT64_MAX ? any : any % (span + 1));
    }
}

/* Returns a filter to put into: empty, or built with the smallest label for
 * every key. */
static bly_filter *keys_labelled(const keys_store *s, const bly_spec *spec,
                                 const bly_plan_t *plan)
{
    static uint64_t least[MOST];
    bly_filter *filter = NULL;
    if (each_adds(keys_info)) {
        each_status(keys_kind, bly_new(&filter, keys_kind, spec), BLY_OK);
        return filter;
    }
    for (size_t i = 0; i < MOST; i++)
        least[i] = plan->label_least;
    bly_keys keys = keys_form(s, ARRAY, MOST);
    keys.labels = least;
    each_status(keys_kind, bly_build(&filter, keys_kind, spec, &keys), BLY_OK);
    return filter;
}

static void keys_put_same(const keys_store *s, int form, size_t n)
{
    bly_spec spec = { .capacity = each_room(keys_kind, MOST), .rate = 1e-5 };
    bly_plan_t plan;
    each_status(keys_kind, bly_plan(&plan, keys_kind, &spec), BLY_OK);
    keys_draw_labels(&plan);
    bly_filter *one = keys_labelled(s, &spec, &plan);
    bly_filter *many = keys_labelled(s, &spec, &plan);
    bly_keys keys = keys_form(s, form, n);
    bly_status last = BLY_OK;
    size_t in = 0, done = MOST + 1;
    for (; in < n; in++) {
        last = bly_put(one, s->keys[in].data, s->keys[in].length,
                       keys_labels[in]);
        if (last < 0)
            break;
    }
    each_status(keys_kind, bly_put_many(many, &keys, keys_labels, &done),
                last < 0 ? last : BLY_OK);
    each_true(keys_kind, done == in && each_same(one, many));
    each_true(keys_kind, last >= 0);
    keys_ask_same(many, s, form, n);
    bly_free(one);
    bly_free(many);
}

/* Puts stop at an invalid label, or an absent key, in the middle. */
static void keys_put_stops(size_t at)
{
    bly_spec spec = { .capacity = each_room(keys_kind, MOST), .rate = 1e-5 };
    bly_plan_t plan;
    each_status(keys_kind, bly_plan(&plan, keys_kind, &spec), BLY_OK);
    keys_draw_labels(&plan);
    bly_filter *filter = keys_labelled(&keys_even, &spec, &plan);
    bly_filter *first = keys_labelled(&keys_even, &spec, &plan);
    bly_keys keys = keys_form(&keys_even, OFFSETS32, MOST);
    bly_keys some = keys_form(&keys_even, WIDTH, at);
    size_t done = MOST + 1;
    if (plan.label_most < UINT64_MAX) {
        keys_labels[at] = plan.label_most + 1;
        each_status(keys_kind, bly_put_many(filter, &keys, keys_labels, &done),
                    BLY_EPARAM);
        each_true(keys_kind, done == at);
        each_status(keys_kind, bly_put_many(first, &some, keys_labels, NULL),
                    BLY_OK);
        each_true(keys_kind, each_same(filter, first));
    }
    bly_free(filter);
    bly_free(first);
}

static void keys_visit_put(const char *kind, const bly_kind_info *info)
{
    keys_kind = kind;
    keys_info = info;
    if ((info->can & BLY_CAN_LABEL) == 0)
        return;
    for (size_t i = 0; i < sizeof keys_sizes / sizeof *keys_sizes; i++)
        for (int form = 0; form < FORMS; form++)
            keys_put_same(&keys_even, form, keys_sizes[i]);
    keys_put_stops(0);
    keys_put_stops(1024);
    keys_put_stops(1500);
}

static void test_put_keys(void **state)
{
    (void)state;
    each_kind(keys_visit_put);
}

/* Separates members from others by their labels. */
static void keys_visit_separate(const char *kind, const bly_kind_info *info)
{
    static bool present[MOST];
    bly_filter *filter = NULL;
    bly_keys keys = keys_form(&keys_even, OFFSETS64, MOST);
    if ((info->can & BLY_CAN_SEPARATE) == 0)
        return;
    for (size_t i = 0; i < MOST; i++)
        keys_labels[i] = i % 5 == 0;
    keys.labels = keys_labels;
    each_status(kind, bly_build(&filter, kind, NULL, &keys), BLY_OK);
    keys.labels = NULL;
    each_status(kind, bly_contains_many(filter, &keys, present), BLY_OK);
    for (size_t i = 0; i < MOST; i++)
        each_true(kind, present[i] == (i % 5 == 0));
    bly_free(filter);
}

static void test_separate_keys(void **state)
{
    (void)state;
    each_choice(keys_visit_separate);
}

/* ---- Stopping in the middle --------------------------------------------- */

/* Filled by hashes and by keys until full: exactly the first *done are in. */
static void keys_end(bly_filter *(*make)(void), const bly_keys *keys,
                     const bly_key *each)
{
    static keys_told told;
    static bool seen[MOST], present[MOST];
    bly_filter *one = make(), *many = make(), *silent = make();
    size_t done = MOST + 1;
    keys_add_single(one, each, keys->n, &told);
    each_status(keys_kind, bly_add_many(many, keys, seen, &done),
                told.status);
    each_true(keys_kind, done == told.in);
    assert_memory_equal(seen, told.seen, done);
    each_true(keys_kind, each_same(one, many));
    each_status(keys_kind, bly_add_many(silent, keys, NULL, NULL),
                told.status);
    each_true(keys_kind, each_same(one, silent));
    each_status(keys_kind, bly_contains_many(many, keys, present), BLY_OK);
    bly_info_t stat;
    each_status(keys_kind, bly_info(&stat, many), BLY_OK);
    each_true(keys_kind, stat.items == done);
    for (size_t i = 0; i < done && stat.window == UINT64_MAX; i++)
        each_true(keys_kind, present[i]);
    bly_free(one);
    bly_free(many);
    bly_free(silent);
}

static bly_filter *keys_small(void)
{
    return keys_new(60);
}

static unsigned keys_full;              /* kinds that got full */

static void keys_visit_full(const char *kind, const bly_kind_info *info)
{
    keys_kind = kind;
    keys_info = info;
    if (!each_adds(info) || (info->can & BLY_CAN_GROW) != 0)
        return;
    for (int form = 0; form < FORMS; form++) {
        bly_keys keys = keys_form(&keys_even, form, MOST);
        keys_end(keys_small, &keys, keys_even.keys);
    }
    bly_filter *filter = keys_small();
    bly_keys keys = keys_form(&keys_even, ARRAY, MOST);
    keys_full += bly_add_many(filter, &keys, NULL, NULL) == BLY_EFULL;
    bly_free(filter);
}

static void test_full_in_the_middle(void **state)
{
    (void)state;
    keys_full = 0;
    each_kind(keys_visit_full);
    assert_true(keys_full >= 3);        /* at least quotient, cuckoo, dleft */
}

/* Limited memory: counts what it hands out. */
static void *keys_allocate(void *context, size_t alignment, size_t bytes)
{
    void *memory = NULL;
    if (bytes > *(const size_t *)context)
        return NULL;
    return posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}

static void keys_release(void *context, void *memory, size_t bytes)
{
    (void)context, (void)bytes;
    free(memory);
}

static bly_filter *keys_bounded(void)
{
    static size_t limit = 3000;
    static const bly_allocator allocator = { keys_allocate, keys_release,
                                             &limit };
    bly_filter *filter = NULL;
    bly_spec spec = { .capacity = 60, .allocator = &allocator };
    each_status(keys_kind, bly_new(&filter, keys_kind, &spec), BLY_OK);
    return filter;
}

static bly_filter *keys_growing(void)
{
    return keys_new(60);
}

static void keys_visit_grow(const char *kind, const bly_kind_info *info)
{
    keys_kind = kind;
    keys_info = info;
    if ((info->can & BLY_CAN_GROW) == 0)
        return;
    for (int form = 0; form < FORMS; form++) {
        bly_keys keys = keys_form(&keys_even, form, MOST);
        keys_end(keys_growing, &keys, keys_even.keys);
        keys_end(keys_bounded, &keys, keys_even.keys);
    }
    bly_filter *filter = keys_bounded();
    bly_keys keys = keys_form(&keys_even, WIDTH, MOST);
    each_status(kind, bly_add_many(filter, &keys, NULL, NULL), BLY_ENOMEM);
    bly_free(filter);
}

static void test_growing_ends_in_the_middle(void **state)
{
    (void)state;
    each_kind(keys_visit_grow);
}

static bly_filter *keys_integers(void)
{
    bly_filter *filter = NULL;
    bly_spec spec = { .capacity = 10 };
    each_status(keys_kind, bly_new(&filter, keys_kind, &spec), BLY_OK);
    return filter;
}

/* Integers with one invalid key, at chunk borders and beside them. */
static void test_foreign_key_in_the_middle(void **state)
{
    (void)state;
    static const size_t places[] = { 0, 1, 1023, 1024, 1025, 1999 };
    static char text[2000][8];
    static bly_key each[2000];
    static uint32_t offsets[2001];
    keys_kind = "egh:universe=1000";
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        static char data[sizeof text];
        size_t at = 0;
        for (size_t i = 0; i < 2000; i++) {
            int length = snprintf(text[i], sizeof text[i], "%zu",
                                  i == places[p] ? 1000 : i % 9);
            each[i] = (bly_key){ text[i], (size_t)length };
            memcpy(data + at, text[i], (size_t)length);
            at += (size_t)length;
            offsets[i + 1] = (uint32_t)at;
        }
        bly_keys array = { .n = 2000, .keys = each };
        bly_keys buffer = { .n = 2000, .data = data, .offsets32 = offsets };
        keys_end(keys_integers, &array, each);
        keys_end(keys_integers, &buffer, each);
        bly_filter *filter = keys_integers();
        size_t done = 0;
        assert_status(bly_add_many(filter, &buffer, NULL, &done), BLY_EPARAM);
        assert_int_equal(done, places[p]);
        bly_free(filter);
    }
}

/* Returns a filter with a key that cannot be added again. */
static bly_filter *keys_twin(void)
{
    bly_filter *filter = keys_new(MOST);
    const bly_key *gone = &keys_even.keys[1500];
    each_true(keys_kind, bly_add(filter, gone->data, 8) >= 0);
    each_status(keys_kind, bly_remove(filter, gone->data, 8), BLY_OK);
    return filter;
}

static void test_removed_key_in_the_middle(void **state)
{
    (void)state;
    keys_kind = "twin";
    bly_filter *filter = keys_twin();
    bly_keys keys = keys_form(&keys_even, OFFSETS32, MOST);
    size_t done = 0;
    assert_status(bly_add_many(filter, &keys, NULL, &done), BLY_EREMOVED);
    assert_int_equal(done, 1500);
    bly_free(filter);
}

/* ---- The failing key's number ------------------------------------------- */

static void keys_why(const char *line)
{
    assert_string_equal(bly_why(), line);
}

static void test_put_names_its_key(void **state)
{
    static const uint64_t hashes[] = { 10, 20, 30, 99 }, labels[4] = { 0 };
    static const bly_key keys[] = { { "ant", 3 }, { "bee", 3 }, { "x", 1 } };
    bly_filter *filter = NULL;
    size_t done = 9;
    (void)state;
    bly_spec spec = { .capacity = 3, .rate = 1e-8 };
    assert_status(bly_build(&filter, "bloomier", &spec,
                            &(bly_keys){ .n = 3, .hashes = hashes,
                                         .labels = labels }),
                  BLY_OK);
    assert_status(bly_put_hashes(filter, hashes, labels, 4, &done),
                  BLY_EABSENT);
    assert_int_equal(done, 3);
    keys_why("key 3 of the batch is not in the filter; the 3 before it were "
             "changed");
    bly_put_hashes(filter, hashes + 2, labels, 2, NULL);
    keys_why("key 1 of the batch is not in the filter; the one before it was "
             "changed");
    bly_put_many(filter, &(bly_keys){ .n = 3, .keys = keys }, labels, &done);
    keys_why("key 0 of the batch is not in the filter; nothing was changed");
    bly_put_many(filter, &(bly_keys){ .n = 3, .keys = keys, .before = 5000 },
                 labels, &done);
    keys_why("key 5000 of the batch is not in the filter; the 5000 before it "
             "were changed");
    assert_int_equal(done, 0);
    bly_free(filter);
}

static void test_remove_names_its_key(void **state)
{
    static const bly_key keys[] = { { "ant", 3 }, { "bee", 3 }, { "x", 1 },
                                    { "cat", 3 }, { "y", 1 } };
    static const char line[] = "key 2 of the batch is not in the filter; of "
                               "its 5 keys 3 were removed";
    static const char *const kinds[] = { "counting", "cuckoo", "quotient",
                                         "dleft", "twin", "invertible" };
    (void)state;
    bly_spec spec = { .capacity = 100, .rate = 1e-8 };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        bly_filter *filter = NULL;
        bly_status each[5];
        assert_status(bly_new(&filter, kinds[k], &spec), BLY_OK);
        for (size_t i = 0; i < 5; i++)
            if (keys[i].length == 3)
                bly_add(filter, keys[i].data, 3);
        assert_status(bly_remove_many(filter, &(bly_keys){ .n = 5,
                                                           .keys = keys },
                                      each), BLY_EABSENT);
        keys_why(line);
        bly_keys again = { .n = 2, .keys = keys + 2, .before = 2 };
        assert_status(bly_remove_many(filter, &again, NULL), BLY_EABSENT);
        keys_why("key 2 of the batch is not in the filter; of its 2 keys from "
                 "key 2 on 0 were removed");
        assert_status(bly_remove(filter, "x", 1), BLY_EABSENT);
        keys_why(bly_strerror(BLY_EABSENT));
        bly_free(filter);
    }
}

/* ---- Invalid forms ------------------------------------------------------ */

enum { WRONG = 17, FEW = 3 };

static size_t keys_wrong(bly_keys wrong[WRONG])
{
    static const bly_key each[FEW] = { { "a", 1 }, { "b", 1 }, { "c", 1 } };
    static const uint32_t falls32[FEW + 1] = { 0, 2, 1, 3 };
    static const uint64_t falls64[FEW + 1] = { 0, 1, 3, 2 };
    static const uint32_t rises32[FEW + 1] = { 0, 1, 2, 3 };
    static const uint64_t rises64[FEW + 1] = { 0, 1, 2, 3 };
    static const uint64_t huge64[FEW + 1] = { 0, 1, 2, UINT64_MAX };
    const bly_keys all[] = {
        { .n = FEW },
        { .n = FEW, .data = "abc" },
        { .n = FEW, .keys = each, .data = "abc", .offsets32 = rises32 },
        { .n = FEW, .data = "abc", .offsets32 = rises32,
          .offsets64 = rises64 },
        { .n = FEW, .data = "abc", .offsets64 = rises64, .width = 1 },
        { .n = FEW, .keys = each, .width = 1 },
        { .n = FEW, .data = "abc", .offsets32 = falls32 },
        { .n = FEW, .data = "abc", .offsets64 = falls64 },
        { .n = FEW, .data = "abc", .offsets64 = huge64 },
        { .n = FEW, .data = "abc", .width = SIZE_MAX / 2 },
        { .n = FEW, .data = "abc", .width = SIZE_MAX / FEW },
        { .n = FEW, .offsets32 = rises32 },
        { .n = FEW, .offsets64 = rises64 },
        { .n = FEW, .width = 1 },
        { .n = FEW, .keys = each, .padded = 1 },
        { .n = FEW, .data = "abc", .offsets32 = rises32, .padded = 1 },
        { .n = FEW, .data = "abc", .width = 1, .padded = 2 },
    };
    static_assert(sizeof all / sizeof *all == WRONG, "each is tried");
    memcpy(wrong, all, sizeof all);
    return WRONG;
}

static void keys_refused_by(const bly_keys *keys)
{
    uint64_t hashes[FEW] = { 1, 2, 3 };
    bly_filter *built = NULL;
    bly_spec spec = { .capacity = 10 };
    each_status(keys_kind, bly_hash_many(hashes, keys_kind, NULL, keys),
                BLY_EPARAM);
    each_true(keys_kind, hashes[0] == 1 && hashes[1] == 2 && hashes[2] == 3);
    each_status(keys_kind, bly_build(&built, keys_kind, &spec, keys),
                BLY_EPARAM);
    each_true(keys_kind, built == NULL);
}

static void keys_refused(bly_filter *filter, const bly_keys *keys)
{
    bly_filter *before = NULL;
    bool seen[FEW] = { true, false, true }, present[FEW] = { false };
    bool found[FEW] = { true, true, true };
    uint64_t counts[FEW] = { 0 }, labels[FEW] = { 7, 7, 7 };
    bly_status each[FEW] = { BLY_EFULL, BLY_EFULL, BLY_EFULL };
    size_t done = 9;
    each_status(keys_kind, bly_copy(&before, filter, NULL), BLY_OK);
    each_status(keys_kind, bly_add_many(filter, keys, seen, &done),
                BLY_EPARAM);
    each_true(keys_kind, done == 0 && seen[0] && !seen[1] && seen[2]);
    each_status(keys_kind, bly_add_many(filter, keys, NULL, NULL), BLY_EPARAM);
    done = 9;
    each_status(keys_kind, bly_put_many(filter, keys, labels, &done),
                BLY_EPARAM);
    each_true(keys_kind, done == 0);
    each_status(keys_kind, bly_remove_many(filter, keys, each), BLY_EPARAM);
    each_status(keys_kind, bly_contains_many(filter, keys, present),
                BLY_EPARAM);
    each_status(keys_kind, bly_count_many(filter, keys, counts), BLY_EPARAM);
    each_status(keys_kind, bly_get_many(filter, keys, found, labels),
                BLY_EPARAM);
    for (size_t i = 0; i < FEW; i++) {
        each_true(keys_kind, present[i] && counts[i] == UINT64_MAX);
        each_true(keys_kind, !found[i] && labels[i] == 7);
        each_true(keys_kind, each[i] == BLY_EFULL);
    }
    each_true(keys_kind, each_same(filter, before));
    bly_free(before);
}

static void keys_visit_wrong(const char *kind, const bly_kind_info *info)
{
    bly_keys wrong[WRONG];
    bly_spec spec = { .capacity = 10 };
    keys_kind = kind;
    keys_info = info;
    bly_filter *filter = NULL;
    if (strchr(kind, ':') == NULL)
        filter = each_built(kind, &spec, 8, 10);
    else
        each_status(kind, bly_new(&filter, kind, &spec), BLY_OK);
    size_t n = keys_wrong(wrong);
    for (size_t i = 0; i < n; i++) {
        keys_refused(filter, &wrong[i]);
        keys_refused_by(&wrong[i]);
    }
    bly_keys keys = { .n = FEW, .data = "abc", .width = 1 };
    keys.reserved[0] = 1;
    keys_refused(filter, &keys);
    keys_refused_by(&keys);
    bly_free(filter);
}

static void test_no_form_is_refused(void **state)
{
    (void)state;
    each_kind(keys_visit_wrong);
    keys_visit_wrong("invertible:key=20", bly_kind_find("invertible"));
}

/* Equal numbers have the same key. */
static void test_numbers(void **state)
{
    (void)state;
    static const struct { double real; unsigned char key[8]; } reals[] = {
        { 1, { 1 } }, { -0.0, { 0 } }, { 258, { 2, 1 } },
        { -0x1p63, { 0, 0, 0, 0, 0, 0, 0, 0x80 } },
        { 0x1p63, { 0, 0, 0, 0, 0, 0, 0xE0, 0x43 } },
        { -2.5, { 0, 0, 0, 0, 0, 0, 0x04, 0xC0 } },
        { HUGE_VAL, { 0, 0, 0, 0, 0, 0, 0xF0, 0x7F } },
        { NAN, { 0, 0, 0, 0, 0, 0, 0xF8, 0x7F } },
        { -NAN, { 0, 0, 0, 0, 0, 0, 0xF8, 0x7F } },
    };
    unsigned char key[8], other[8];
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        bly_real_key(key, reals[i].real);
        assert_memory_equal(key, reals[i].key, sizeof key);
    }
    for (uint64_t i = 0; i < 1000; i++) {
        int64_t whole = (int64_t)test_random(9, i) >> i % 64;
        bly_integer_key(key, whole);
        for (unsigned b = 0; b < 8; b++)
            assert_int_equal(key[b], (uint64_t)whole >> 8 * b & 0xFF);
        bly_real_key(other, (double)whole);
        if (whole > -(INT64_C(1) << 53) && whole < INT64_C(1) << 53)
            assert_memory_equal(key, other, sizeof key);
    }
}

/* A key of fixed width ends before its zero bytes only if declared as padded;
 * zeros in its middle belong to it. */
static void keys_visit_padded(const char *kind, const bly_kind_info *info)
{
    static const char rows[] = "ab\0\0" "cdef" "\0\0\0\0" "g\0h\0";
    static const bly_key whole[] = { { rows, 2 }, { rows + 4, 4 },
                                     { NULL, 0 }, { rows + 12, 3 } };
    bly_keys padded = { .n = 4, .data = rows, .width = 4, .padded = 1 };
    bly_keys full = { .n = 4, .data = rows, .width = 4 };
    bly_keys plain = { .n = 4, .keys = whole };
    uint64_t one[4], other[4], third[4];
    if (info->can & BLY_CAN_EXACT)      /* egh: not integers                 */
        return;
    each_status(kind, bly_hash_many(one, kind, NULL, &padded), BLY_OK);
    each_status(kind, bly_hash_many(other, kind, NULL, &plain), BLY_OK);
    each_status(kind, bly_hash_many(third, kind, NULL, &full), BLY_OK);
    each_true(kind, memcmp(one, other, sizeof one) == 0);
    each_true(kind, third[1] == one[1] && third[0] != one[0]);
    if (!(info->can & BLY_CAN_ADD))
        return;
    bly_spec spec = { .capacity = 100, .rate = 1e-6 };
    bly_filter *filter = NULL, *same = NULL;
    each_status(kind, bly_new(&filter, kind, &spec), BLY_OK);
    each_status(kind, bly_new(&same, kind, &spec), BLY_OK);
    each_status(kind, bly_add_many(filter, &padded, NULL, NULL), BLY_OK);
    each_status(kind, bly_add_many(same, &plain, NULL, NULL), BLY_OK);
    each_true(kind, each_same(filter, same));
    bly_free(filter);
    bly_free(same);
}

static void test_padded(void **state)
{
    (void)state;
    each_kind(keys_visit_padded);
    keys_visit_padded("invertible:key=20", bly_kind_find("invertible"));
    keys_visit_padded("rehash:key=whole,by=xxh64", bly_kind_find("rehash"));
}

/* Empty keys need no data, and zero keys need no form. */
static void test_no_data(void **state)
{
    (void)state;
    static const uint32_t zeros32[FEW + 1];
    static const uint64_t zeros64[FEW + 1];
    static const bly_key nothing[FEW];
    const bly_keys forms[] = {
        { .n = FEW, .keys = nothing }, { .n = FEW, .offsets32 = zeros32 },
        { .n = FEW, .offsets64 = zeros64 },
    };
    for (size_t i = 0; i < 3; i++) {
        bly_filter *filter = NULL;
        bly_spec spec = { .capacity = 10 };
        size_t done = 0;
        bool seen[FEW];
        assert_status(bly_new(&filter, "standard", &spec), BLY_OK);
        assert_status(bly_add_many(filter, &forms[i], seen, &done), BLY_OK);
        assert_true(done == FEW && !seen[0] && seen[1] && seen[2]);
        assert_true(bly_contains(filter, "", 0));
        bly_keys none = { .n = 0 };
        assert_status(bly_add_many(filter, &none, NULL, &done), BLY_OK);
        assert_int_equal(done, 0);
        bly_free(filter);
    }
}

/* ---- In a file, page by page -------------------------------------------- */

static void test_paged_keys(void **state)
{
    (void)state;
    static bool seen[MOST], wanted[MOST], present[MOST];
    char path[64];
    snprintf(path, sizeof path, "verbs-keys-%ld.bly", (long)getpid());
    bly_spec spec = { .capacity = MOST };
    bly_filter *whole = NULL;
    assert_status(bly_new(&whole, "buffered", &spec), BLY_OK);
    bly_keys array = keys_form(&keys_mixed, ARRAY, MOST);
    assert_status(bly_add_many(whole, &array, wanted, NULL), BLY_OK);
    for (int form = 0; form < WIDTH; form++) {
        bly_filter *paged = NULL;
        bly_keys keys = keys_form(&keys_mixed, form, MOST);
        size_t done = 0;
        assert_status(bly_create(&paged, path, "buffered", &spec), BLY_OK);
        assert_status(bly_add_many(paged, &keys, form == ARRAY ? NULL : seen,
                                   &done), BLY_OK);
        assert_int_equal(done, MOST);
        if (form != ARRAY)
            assert_memory_equal(seen, wanted, MOST);
        assert_status(bly_contains_many(paged, &keys, present), BLY_OK);
        for (size_t i = 0; i < MOST; i++)
            assert_true(present[i]);
        bly_free(paged);
        unlink(path);
    }
    bly_free(whole);
}

/* Hashes by name and seed equal those of a filter with that name and seed. */
static void test_hashes_by_name(void **state)
{
    (void)state;
    static const char *const names[] = { NULL, "xxh3", "xxh64", "murmur2",
                                         "murmur3", "fnv1a", "identity",
                                         "decimal" };
    static uint64_t hashes[MOST];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bly_spec spec = { .capacity = 10, .hash = names[i], .seed = i };
        bly_filter *filter = NULL;
        bly_keys keys = keys_form(&keys_mixed, OFFSETS64, MOST);
        assert_status(bly_new(&filter, "standard", &spec), BLY_OK);
        assert_status(bly_hash_many(hashes, NULL, &spec, &keys), BLY_OK);
        for (size_t j = 0; j < MOST; j++)
            assert_true(hashes[j] == bly_hash(filter, keys_mixed.keys[j].data,
                                              keys_mixed.keys[j].length));
        bly_free(filter);
    }
    bly_keys one = keys_form(&keys_even, ARRAY, 1);
    bly_spec unknown = { .hash = "md5" };
    assert_status(bly_hash_many(hashes, NULL, &unknown, &one), BLY_EHASH);
    assert_status(bly_hash_many(hashes, "nonsense", NULL, &one), BLY_EKIND);
    assert_status(bly_hash_many(hashes, "standard:nonsense=1", NULL, &one),
                  BLY_EOPTION);
}

/* Unmixed integers are not hashes, and a build says so; repeats, few keys, and
 * mixed integers are fine. */
static void test_integers_are_mixed(void **state)
{
    (void)state;
    enum { KEYS = 1000 };
    static uint64_t plain[KEYS], mixed[KEYS], halves[KEYS], same[KEYS];
    assert_true(bly_mix64(0) == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(bly_mix64(1) == UINT64_C(0x910a2dec89025cc1));
    assert_true(bly_mix64(UINT64_MAX) == UINT64_C(0xe4d971771b652c20));
    for (uint64_t i = 0; i < KEYS; i++) {
        plain[i] = i;
        mixed[i] = bly_mix64(i);
        halves[i] = mixed[i] & UINT32_MAX;
        same[i] = 5 + i % 50;
    }
    static const char *const raw[] = { "split", "quotient" };
    for (size_t k = 0; k < 2; k++) {
        bly_filter *filter = NULL;
        assert_status(bly_build(&filter, raw[k], NULL,
                                &(bly_keys){ .n = KEYS, .hashes = plain }),
                      BLY_EPARAM);
        assert_non_null(strstr(bly_why(), "bly_mix64"));
        assert_status(bly_build(&filter, raw[k], NULL,
                                &(bly_keys){ .n = KEYS, .hashes = halves }),
                      BLY_EPARAM);
        assert_null(filter);
        assert_status(bly_build(&filter, raw[k], NULL,
                                &(bly_keys){ .n = KEYS, .hashes = mixed }),
                      BLY_OK);
        for (size_t i = 0; i < KEYS; i++)
            assert_true(bly_contains_hash(filter, mixed[i]));
        bly_free(filter);
        assert_status(bly_build(&filter, raw[k], NULL,
                                &(bly_keys){ .n = KEYS, .hashes = same }),
                      BLY_OK);
        bly_free(filter);
        assert_status(bly_build(&filter, raw[k], NULL,
                                &(bly_keys){ .n = 63, .hashes = plain }),
                      BLY_OK);
        bly_free(filter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers_are_mixed),
        cmocka_unit_test(test_keys_are_single_ones),
        cmocka_unit_test(test_build_of_keys),
        cmocka_unit_test(test_build_of_whole_keys),
        cmocka_unit_test(test_put_keys),
        cmocka_unit_test(test_separate_keys),
        cmocka_unit_test(test_full_in_the_middle),
        cmocka_unit_test(test_growing_ends_in_the_middle),
        cmocka_unit_test(test_foreign_key_in_the_middle),
        cmocka_unit_test(test_removed_key_in_the_middle),
        cmocka_unit_test(test_put_names_its_key),
        cmocka_unit_test(test_remove_names_its_key),
        cmocka_unit_test(test_no_form_is_refused),
        cmocka_unit_test(test_padded),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_no_data),
        cmocka_unit_test(test_paged_keys),
        cmocka_unit_test(test_hashes_by_name),
    };
    return cmocka_run_group_tests_name("keys", tests, keys_setup, NULL);
}
