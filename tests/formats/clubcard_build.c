/* clubcard_build.c - tests of bly_build_clubcard: its files answer exactly, by
 * a model of the format that shares no code with the library but SHA-256, and
 * wrong keys are refused.
 */
#include "test.h"
#include "vectors.h"

#include "bloomery/foreign.h"

enum { ID = 32, KEY = 48, BLOCKS = 9, SOME = 64 };

/* The keys of a block, of which the first are members. */
static const struct { uint32_t keys, members; } blocks[BLOCKS] = {
    { 6000, 5 }, { 300, 140 }, { 2000, 1200 }, { 50, 50 }, { 50, 0 },
    { 20000, 900 }, { 3, 1 }, { 1, 1 }, { 900, 300 },
};

/* ---- The model --------------------------------------------------------- */

typedef struct {
    const uint8_t *bytes;
    size_t         at, n;
    bool           big;
} model;

static uint64_t model_number(model *m, size_t width)
{
    uint64_t v = 0;
    assert_true(width <= m->n - m->at);
    for (size_t i = 0; i < width; i++)
        v |= (uint64_t)m->bytes[m->at + i]
          << 8 * (m->big ? width - 1 - i : i);
    m->at += width;
    return v;
}

typedef struct {
    uint8_t  id[ID];
    uint64_t rows, rank, at, exact_rows, exact_at, inverted;
} model_block;

typedef struct { size_t at; uint64_t words; } model_column;

typedef struct {
    model        file;
    uint64_t     logs, blocks, ranks;
    model_block  block[BLOCKS + 1];
    model_column column[SOME + 1];
} model_card;

static void model_read_block(model *m, model_block *b)
{
    if (!m->big)
        assert_int_equal(model_number(m, 8), ID);
    memcpy(b->id, m->bytes + m->at, ID);
    m->at += ID;
    b->rows = model_number(m, m->big ? 4 : 8);
    if (m->big) {
        b->rank = model_number(m, 1);
        b->at = model_number(m, 4);
        b->exact_rows = model_number(m, 4);
    } else {
        b->exact_rows = model_number(m, 8);
        b->rank = model_number(m, 8);
        b->at = model_number(m, 8);
    }
    b->exact_at = model_number(m, m->big ? 4 : 8);
    b->inverted = model_number(m, 1);
    assert_int_equal(model_number(m, m->big ? 2 : 8), 0);
}

static void model_read(model_card *card, const uint8_t *bytes, size_t n)
{
    model *m = &card->file;
    *m = (model){ .bytes = bytes, .n = n, .at = 2, .big = bytes[0] == 4 };
    assert_true((bytes[0] == 3 || bytes[0] == 4) && bytes[1] == 0);
    card->logs = model_number(m, m->big ? 2 : 8);
    m->at += card->logs * (ID + 16);
    card->blocks = model_number(m, m->big ? 4 : 8);
    assert_true(card->blocks <= BLOCKS + 1);
    for (uint64_t i = 0; i < card->blocks; i++)
        model_read_block(m, &card->block[i]);
    card->ranks = model_number(m, m->big ? 1 : 8);
    assert_true(card->ranks <= SOME);
    for (uint64_t i = 0; i <= card->ranks; i++) {
        card->column[i].words = model_number(m, m->big ? 4 : 8);
        card->column[i].at = m->at;
        m->at += 8 * card->column[i].words;
    }
    assert_int_equal(m->at, n);
}

static unsigned model_bit(const model_card *card, const model_column *c,
                          uint64_t t)
{
    size_t byte = t % 64 / 8;
    if (t / 64 >= c->words)
        return 0;
    byte = card->file.big ? 7 - byte : byte;
    return card->file.bytes[c->at + t / 64 * 8 + byte] >> t % 8 & 1;
}

static unsigned model_sum(const model_card *card, const model_column *c,
                          const uint8_t *digest, uint64_t rows, uint64_t at)
{
    uint64_t start = 0;
    unsigned sum = 0;
    for (size_t i = 0; i < 8; i++)
        start |= (uint64_t)digest[24 + i] << 8 * i;
    start = start % (rows > 0 ? rows : 1) + at;
    for (uint64_t i = 0; i < 256; i++)
        sum ^= (i == 0 || digest[i / 8] >> i % 8 & 1)
             & model_bit(card, c, start + i);
    return sum;
}

static bool model_has(const model_card *card, const uint8_t *key, size_t n)
{
    const model_block *b = NULL;
    uint8_t digest[DIGEST_SHA256];
    for (uint64_t i = 0; i < card->blocks; i++)
        if (memcmp(card->block[i].id, key, ID) == 0)
            b = &card->block[i];
    if (b == NULL || b->rows == 0)
        return b != NULL && b->inverted;
    digest_sha256(digest, key, n, "", 0);
    for (uint64_t i = 0; i < b->rank; i++)
        if (model_sum(card, &card->column[i], digest, b->rows, b->at))
            return b->inverted;
    return !model_sum(card, &card->column[card->ranks], digest, b->exact_rows,
                      b->exact_at) != (b->inverted != 0);
}

/* ---- Keys -------------------------------------------------------------- */

static void build_key(uint8_t key[KEY], uint32_t block, uint32_t i)
{
    for (size_t b = 0; b < KEY; b++)
        key[b] = (uint8_t)(test_random(b < ID ? block : 100 + i, b) >> 8);
}

enum { MEMBERS, OTHERS, ALL };

/* A source of keys: which of them, in which order, how many at a time, and one
 * key more. */
typedef struct {
    int            which;
    bool           backwards;
    size_t         batch;
    const uint8_t *more;
    size_t         length;
    int            calls, fails;        /* fails: in this call               */
} source;

static bly_status build_give(bly_take_keys *take, void *into,
                             uint8_t (*text)[KEY], size_t n)
{
    bly_key keys[SOME];
    for (size_t i = 0; i < n; i++)
        keys[i] = (bly_key){ text[i], KEY };
    return take(into, &(bly_keys){ .n = n, .keys = keys });
}

static bly_status build_each(void *context, bly_take_keys *take, void *into)
{
    source *s = context;
    uint8_t text[SOME][KEY];
    size_t n = 0;
    bly_status status = ++s->calls == s->fails ? BLY_EIO : BLY_OK;
    for (uint32_t k = 0; k < BLOCKS; k++) {
        uint32_t b = s->backwards ? BLOCKS - 1 - k : k;
        uint32_t from = s->which == OTHERS ? blocks[b].members : 0;
        uint32_t end = s->which == MEMBERS ? blocks[b].members
                                           : blocks[b].keys;
        for (uint32_t i = from; i < end && status == BLY_OK; i++) {
            build_key(text[n++], b, s->backwards ? end - 1 - (i - from) : i);
            if (n == s->batch) {
                status = build_give(take, into, text, n);
                n = 0;
            }
        }
    }
    if (status == BLY_OK && n > 0)
        status = build_give(take, into, text, n);
    bly_key more = { s->more, s->length };
    if (status == BLY_OK && s->more != NULL)
        status = take(into, &(bly_keys){ .n = 1, .keys = &more });
    return status;
}

static const bly_covered_log build_logs[] = {
    { { 1, 2, 3 }, UINT64_C(1650000000000), UINT64_C(1749913600000) },
};

static bly_clubcard_spec build_spec(const char *kind, source *members,
                                    source *others)
{
    return (bly_clubcard_spec){
        .kind = kind, .within = others->which == ALL,
        .members = { build_each, members }, .others = { build_each, others },
        .logs = build_logs, .n_logs = 1,
    };
}

static void build_is_exact(const bly_filter *filter)
{
    static model_card card;
    uint8_t key[KEY];
    size_t n;
    const uint8_t *image = bly_image(filter, &n);
    model_read(&card, image + BLY_HEADER_BYTES, n - BLY_HEADER_BYTES);
    assert_int_equal(card.blocks, BLOCKS);
    assert_int_equal(card.logs, 1);
    for (uint32_t b = 0; b < BLOCKS; b++)
        for (uint32_t i = 0; i < blocks[b].keys + SOME; i++) {
            build_key(key, b, i);
            bool has = model_has(&card, key, KEY);
            if (i < blocks[b].keys && has != (i < blocks[b].members))
                fail_msg("key %u of block %u", i, b);
            assert_int_equal(bly_contains(filter, key, KEY), has);
        }
}

static bool build_same(const bly_filter *a, const bly_filter *b)
{
    size_t n, m;
    const void *x = bly_image(a, &n), *y = bly_image(b, &m);
    return n == m && memcmp((const uint8_t *)x + BLY_HEADER_BYTES,
                            (const uint8_t *)y + BLY_HEADER_BYTES,
                            n - BLY_HEADER_BYTES) == 0;
}

/* ---- Tests ------------------------------------------------------------- */

static void test_exact_for_all_keys(void **state)
{
    (void)state;
    static const char *const kinds[] = { "clubcard", "clubcard:version=3" };
    for (size_t v = 0; v < 2; v++)
        for (int within = 0; within < 2; within++) {
            source members = { .which = MEMBERS, .batch = 7 };
            source others = { .which = within ? ALL : OTHERS, .batch = 50 };
            bly_clubcard_spec spec = build_spec(kinds[v], &members, &others);
            bly_filter *filter = NULL;
            assert_status(bly_build_clubcard(&filter, &spec), BLY_OK);
            build_is_exact(filter);
            assert_int_equal(members.calls, 1);
            assert_int_equal(others.calls, 2);
            bly_free(filter);
        }
}

/* In 1.02 (rank + 2) bits for each member, or a bit more; and 512 for a
 * block. */
static void test_size(void **state)
{
    (void)state;
    source members = { .which = MEMBERS, .batch = SOME };
    source others = { .which = OTHERS, .batch = SOME };
    bly_clubcard_spec spec = build_spec("clubcard", &members, &others);
    bly_filter *filter = NULL;
    double bits = 0;
    size_t n;
    for (size_t b = 0; b < BLOCKS; b++) {
        double r = blocks[b].members, others_ = blocks[b].keys - r;
        if (r == 0 || others_ == 0)
            continue;
        double rank = fmax(0, floor(log2(others_ / r)));
        bits += 1.02 * (rank * r + r + others_ / exp2(rank)) + 512
              + 5 * sqrt(others_ / exp2(rank));
    }
    assert_status(bly_build_clubcard(&filter, &spec), BLY_OK);
    assert_non_null(bly_image(filter, &n));
    assert_true((double)n < bits / 8 + 52 * BLOCKS + 400);
    bly_free(filter);
}

/* The order of keys, their batches, repeated keys and the way to give the
 * others make no difference; the seed does. */
static void test_one_file_for_the_same_keys(void **state)
{
    (void)state;
    uint8_t again[KEY];
    build_key(again, 5, 3);
    source members = { .which = MEMBERS, .batch = SOME };
    source others = { .which = OTHERS, .batch = SOME };
    source turned = { .which = MEMBERS, .batch = 1, .backwards = true,
                      .more = again, .length = KEY };
    source all = { .which = ALL, .batch = 5, .backwards = true };
    bly_clubcard_spec spec = build_spec("clubcard", &members, &others);
    bly_clubcard_spec other = build_spec("clubcard", &turned, &all);
    bly_filter *a = NULL, *b = NULL, *c = NULL;
    assert_status(bly_build_clubcard(&a, &spec), BLY_OK);
    assert_status(bly_build_clubcard(&b, &other), BLY_OK);
    assert_true(build_same(a, b));
    spec.seed = 7;
    assert_status(bly_build_clubcard(&c, &spec), BLY_OK);
    assert_false(build_same(a, c));
    build_is_exact(c);
    bly_free(a);
    bly_free(b);
    bly_free(c);
}

static void build_refused(const char *kind, source members, source others,
                          bly_status status, const char *says)
{
    bly_clubcard_spec spec = build_spec(kind, &members, &others);
    bly_filter *filter = NULL;
    if (status == BLY_EIO)              /* of the source, without a line     */
        assert_int_equal(bly_build_clubcard(&filter, &spec), status);
    else
        assert_status(bly_build_clubcard(&filter, &spec), status);
    assert_null(filter);
    if (says != NULL && strstr(bly_why(), says) == NULL)
        fail_msg("'%s' does not say '%s'", bly_why(), says);
}

static void test_refused(void **state)
{
    (void)state;
    uint8_t member[KEY], strange[KEY] = { 1 };
    source members = { .which = MEMBERS, .batch = SOME }, more = members;
    source others = { .which = OTHERS, .batch = SOME }, both = others;
    source all = { .which = ALL, .batch = SOME }, fails = others;
    build_key(member, 5, 3);
    both.more = member;
    both.length = KEY;
    more.more = strange;
    more.length = KEY;
    build_refused("clubcard", members, both, BLY_EPARAM, "both a member");
    build_refused("clubcard", more, all, BLY_EPARAM, "not in the list");
    more.length = ID - 1;
    build_refused("clubcard", more, all, BLY_EPARAM, "does not name");
    build_refused("clubcard:keys=comma", members, others, BLY_EPARAM,
                  "does not name");
    build_refused("clubcard:version=5", members, others, BLY_EOPTION, NULL);
    build_refused("standard", members, others, BLY_EPARAM, "not a clubcard");
    for (fails.fails = 1; fails.fails <= 2; fails.fails++)
        build_refused("clubcard", members, fails, BLY_EIO, NULL);
    members.fails = 1;
    build_refused("clubcard", members, others, BLY_EIO, NULL);
}

/* The key that the others have in addition, in either reading; NULL: none. */
typedef struct {
    source         of;
    const uint8_t *more[2];
} build_readings;

static bly_status build_changes(void *context, bly_take_keys *take, void *into)
{
    build_readings *r = context;
    r->of.more = r->more[r->of.calls];
    r->of.length = KEY;
    return build_each(&r->of, take, into);
}

/* Others that change between the two readings: in one more key, one less, or
 * another, which is in a block that they did not have, or that had members
 * only. */
static void test_others_that_change(void **state)
{
    (void)state;
    enum { ONLY_MEMBERS = 3, MIXED = 1 };
    static uint8_t strange[KEY] = { 1 }, known[KEY], other[KEY];
    build_key(known, MIXED, blocks[MIXED].keys);
    build_key(other, ONLY_MEMBERS, blocks[ONLY_MEMBERS].keys);
    static const struct { const uint8_t *more[2]; } changes[] = {
        { { NULL, strange } }, { { NULL, known } }, { { known, NULL } },
        { { NULL, other } }, { { known, other } }, { { known, strange } },
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        for (int within = 0; within < 2; within++) {
            source members = { .which = MEMBERS, .batch = SOME };
            build_readings others = {
                .of = { .which = within ? ALL : OTHERS, .batch = SOME },
                .more = { changes[i].more[0], changes[i].more[1] },
            };
            bly_clubcard_spec spec = build_spec("clubcard", &members,
                                                &others.of);
            bly_filter *filter = NULL;
            spec.others = (bly_key_source){ build_changes, &others };
            assert_status(bly_build_clubcard(&filter, &spec), BLY_EPARAM);
            assert_non_null(strstr(bly_why(), "changed"));
        }
}

static bly_status build_none(void *context, bly_take_keys *take, void *into)
{
    (void)context, (void)take, (void)into;
    return BLY_OK;
}

static void test_no_keys(void **state)
{
    (void)state;
    bly_clubcard_spec spec = { .kind = "clubcard",
                               .members = { build_none, NULL },
                               .others = { build_none, NULL } };
    bly_filter *filter = NULL;
    uint8_t key[KEY] = { 0 };
    assert_status(bly_build_clubcard(&filter, &spec), BLY_OK);
    assert_false(bly_contains(filter, key, KEY));
    bly_free(filter);
}

/* An allocator that fails from one call on. */
typedef struct { size_t left, held; } short_memory;

static void *short_allocate(void *context, size_t alignment, size_t bytes)
{
    short_memory *s = context;
    if (s->left == 0)
        return NULL;
    s->left--;
    s->held++;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment
                                    * alignment);
}

static void short_release(void *context, void *memory, size_t bytes)
{
    (void)bytes;
    ((short_memory *)context)->held--;
    free(memory);
}

static void test_memory_is_short(void **state)
{
    (void)state;
    bly_status status = BLY_ENOMEM;
    for (size_t n = 0; status != BLY_OK; n++) {
        short_memory s = { .left = n };
        bly_allocator short_of = { .allocate = short_allocate,
                                   .release = short_release, .context = &s };
        source members = { .which = MEMBERS, .batch = SOME };
        source others = { .which = OTHERS, .batch = SOME };
        bly_clubcard_spec spec = build_spec("clubcard", &members, &others);
        bly_filter *filter = NULL;
        spec.allocator = &short_of;
        status = bly_build_clubcard(&filter, &spec);
        if (status != BLY_OK)
            assert_int_equal(status, BLY_ENOMEM);
        bly_free(filter);
        assert_int_equal(s.held, 0);
    }
}

int main(void)
{
    if (vector_no_digests())
        return 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_for_all_keys),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_one_file_for_the_same_keys),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_others_that_change),
        cmocka_unit_test(test_no_keys),
        cmocka_unit_test(test_memory_is_short),
    };
    return cmocka_run_group_tests_name("clubcard_build", tests, NULL, NULL);
}
