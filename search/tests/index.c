/* index.c - an index of many sets, compared with the sets: no matching document
 * is missed, others are named at the planned rate, and damaged files are never
 * read out of bounds.
 */
#include "bloomery/index.h"

#include "test.h"
#include "folder.h"
#include "scarce.h"

#include <pthread.h>

#include "base/threads.h"
#include "search/library/bitcolumns.h"
#include "search/library/layout.h"
#include "search/library/reader.h"

static const char PATH[] = "file.blx";

/* ---- Sets ---------------------------------------------------------------- */

enum { KEYS = 20000, SETS_MOST = 1040 };        /* that there are            */

static uint64_t key_hash(uint64_t key)
{
    return test_random(1, key);
}

/* Returns how many keys document i has: few documents have many. */
static uint64_t set_size(uint64_t i)
{
    uint64_t draw = test_random(2, i) % 1000;
    return draw < 20 ? 0 : draw < 500 ? draw % 40 : draw < 990 ? draw
         : 4 * draw;
}

/* Returns the j-th key; some repeat. */
static uint64_t set_key(uint64_t i, uint64_t j)
{
    return test_random(3 + i, j) % KEYS;
}

/* Returns each set as bits, made on first use. */
static const uint64_t *set_bits(uint64_t i)
{
    static uint64_t sets[SETS_MOST][KEYS / 64 + 1];
    static bool known[SETS_MOST];
    assert_true(i < SETS_MOST);
    for (uint64_t j = 0; !known[i] && j < set_size(i); j++) {
        uint64_t key = set_key(i, j);
        sets[i][key / 64] |= UINT64_C(1) << key % 64;
    }
    known[i] = true;
    return sets[i];
}

static bool set_has(uint64_t i, uint64_t key)
{
    return key < KEYS && (set_bits(i)[key / 64] >> key % 64 & 1);
}

static uint64_t set_different(uint64_t i)
{
    uint64_t n = 0;
    for (uint64_t key = 0; key < KEYS; key++)
        n += set_has(i, key);
    return n;
}

/* ---- Indexes ------------------------------------------------------------- */

static bly_status set_add(bly_index_maker *maker, uint64_t i)
{
    uint64_t hashes[4000], n = set_size(i);
    char name[32];
    int length = snprintf(name, sizeof name, "set %llu", (unsigned long long)i);
    const bly_document document = { .name = name, .length = (size_t)length,
                                    .extra = &i };
    for (uint64_t j = 0; j < n; j++)
        hashes[j] = key_hash(set_key(i, j));
    return bly_index_add(maker, &document, hashes, (size_t)n);
}

static bly_index_maker *begun(const bly_index_spec *spec)
{
    bly_index_maker *maker = NULL;
    assert_said(bly_index_begin(&maker, PATH, spec), BLY_OK);
    return maker;
}

static bly_index *ended(bly_index_maker *maker)
{
    bly_index *index = NULL;
    assert_said(bly_index_end(maker), BLY_OK);
    assert_said(bly_index_open(&index, PATH, NULL), BLY_OK);
    assert_said(bly_index_verify(index, NULL), BLY_OK);
    return index;
}

/* Builds an index of sets 0 .. n - 1, added from the last to the first. */
static bly_index *built(const bly_index_spec *spec, uint64_t n)
{
    bly_index_maker *maker = begun(spec);
    while (n-- > 0)
        assert_said(set_add(maker, n), BLY_OK);
    return ended(maker);
}

/* Returns the set of a document. */
static uint64_t set_of(const bly_index *index, uint64_t document)
{
    bly_document d;
    uint64_t i;
    char name[32];
    assert_said(bly_index_document(&d, index, document), BLY_OK);
    memcpy(&i, d.extra, sizeof i);
    int length = snprintf(name, sizeof name, "set %llu", (unsigned long long)i);
    assert_int_equal(d.length, length);
    assert_memory_equal(d.name, name, d.length);
    return i;
}

static bool bit_of(const uint64_t *row, uint64_t i)
{
    return row[i / 64] >> i % 64 & 1;
}

/* Sums over queries: documents with too few of the keys, and how many of them
 * were named. */
typedef struct { uint64_t strangers, named; } asked;

/* Queries n keys, of which `least` must match. */
static void ask(asked *sum, const bly_index *index, const uint64_t *keys,
                size_t n, size_t least)
{
    bly_index_stat_t stat;
    uint64_t hashes[32];
    bly_index_stat(&stat, index);
    uint64_t *row = malloc((size_t)(stat.documents / 64 + 1) * sizeof *row);
    for (size_t i = 0; i < n; i++)
        hashes[i] = key_hash(keys[i]);
    assert_said(bly_index_which(row, index, hashes, n, least), BLY_OK);
    for (uint64_t d = 0; d < stat.documents; d++) {
        uint64_t set = set_of(index, d), has = 0;
        bly_document document;
        assert_said(bly_index_document(&document, index, d), BLY_OK);
        for (size_t i = 0; i < n; i++)
            has += set_has(set, keys[i]);
        if (document.dropped)
            assert_false(bit_of(row, d));
        else if (has >= least)
            assert_true(bit_of(row, d));
        else if (has == 0) {
            sum->strangers++;
            sum->named += bit_of(row, d);
        }
    }
    free(row);
}

static void ask_many(const bly_index *index, uint64_t questions)
{
    asked sum = { 0, 0 };
    for (uint64_t q = 0; q < questions; q++) {
        uint64_t keys[8];
        uint64_t set = test_random(9, q) % 64, size = set_size(set);
        size_t n = (size_t)(1 + q % 8);
        for (size_t i = 0; i < n; i++)
            keys[i] = size > 0 && q % 3 > 0
                    ? set_key(set, test_random(10 + q, i) % size)
                    : test_random(11 + q, i) % KEYS;
        ask(&sum, index, keys, n, n);
        ask(&sum, index, keys, n, 1 + (size_t)(q % n));
    }
}

/* ---- Information about an index ------------------------------------------ */

static void test_documents(void **state)
{
    (void)state;
    enum { SETS = 300 };
    const bly_index_spec spec = { .extra = 8, .about = "words",
                                  .about_bytes = 5 };
    bly_index *index = built(&spec, SETS);
    bly_index_stat_t stat;
    bool seen[SETS] = { false };
    uint64_t keys = 0;
    bly_document none;
    bly_index_stat(&stat, index);
    assert_int_equal(stat.documents, SETS);
    assert_int_equal(stat.dropped, 0);
    assert_int_equal(stat.probes, 7);
    assert_string_equal(stat.hash, "xxh3");
    assert_true(stat.rate == 0.01);
    assert_int_equal(stat.about_bytes, 5);
    assert_memory_equal(stat.about, "words", 5);
    for (uint64_t d = 0; d < SETS; d++) {
        bly_document document;
        uint64_t set = set_of(index, d);
        assert_false(seen[set]);
        seen[set] = true;
        assert_said(bly_index_document(&document, index, d), BLY_OK);
        assert_int_equal(document.keys, set_different(set));
        keys += document.keys;
    }
    assert_int_equal(stat.keys, keys);
    assert_said(bly_index_document(&none, index, SETS), BLY_EPARAM);
    bly_index_free(index);
    bly_index_free(NULL);
    bly_index_abort(NULL);
}

static void test_no_documents(void **state)
{
    (void)state;
    const bly_index_spec spec = { .rate = 0.3 };
    uint64_t row = 7;
    bly_index *index = ended(begun(&spec));
    bly_index_stat_t stat;
    bly_index_stat(&stat, index);
    assert_int_equal(stat.documents, 0);
    assert_said(bly_index_which(&row, index, &row, 1, 1), BLY_OK);
    bly_index_free(index);
}

/* ---- Queries ------------------------------------------------------------- */

static void test_none_is_missing(void **state)
{
    (void)state;
    static const struct { double rate; uint32_t probes; uint64_t sets; }
        tests[] = {
            { 0.01, 0, 1 }, { 0.01, 0, 64 }, { 0.01, 0, 65 }, { 0.1, 0, 200 },
            { 0.3, 1, 500 }, { 0.001, 32, 129 }, { 0.9, 3, 100 },
        };
    for (size_t t = 0; t < sizeof tests / sizeof *tests; t++) {
        const bly_index_spec spec = { .rate = tests[t].rate, .extra = 8,
                                      .probes = tests[t].probes };
        bly_index *index = built(&spec, tests[t].sets);
        ask_many(index, test_work(60, 30, 10));
        bly_index_free(index);
    }
}

/* Strangers are named at the planned rate or below, within 6 standard
 * deviations. For q keys it is the q-th power. */
static void test_share(void **state)
{
    (void)state;
    static const struct { double rate; uint32_t probes; } tests[] = {
        { 0.01, 0 }, { 0.1, 0 }, { 0.3, 1 },
    };
    const uint64_t sets = test_work(600, 200, 30);
    for (size_t t = 0; t < sizeof tests / sizeof *tests; t++) {
        const bly_index_spec spec = { .rate = tests[t].rate, .extra = 8,
                                      .probes = tests[t].probes };
        bly_index *index = built(&spec, sets);
        for (size_t q = 1; q <= 10; q += 3) {
            double plan = pow(tests[t].rate, (double)q);
            asked sum = { 0, 0 };
            for (uint64_t i = 0; i < test_work(200, 60, 10); i++) {
                uint64_t keys[10];
                for (size_t j = 0; j < q; j++)
                    keys[j] = KEYS + 10 * i + j;    /* in no set             */
                ask(&sum, index, keys, q, q);
            }
            double expected = plan * (double)sum.strangers;
            assert_true((double)sum.named
                        <= expected + 6 * sqrt(expected) + 1);
            if (q == 1)                 /* and not far below: some bits set */
                assert_true((double)sum.named > expected / 4 - 3);
        }
        bly_index_free(index);
    }
}

static void test_least(void **state)
{
    (void)state;
    const bly_index_spec spec = { .extra = 8 };
    bly_index *index = built(&spec, 100);
    uint64_t row[2], hash[2] = { 1, 2 };
    assert_said(bly_index_which(row, index, hash, 2, 0), BLY_OK);
    assert_true(row[0] == UINT64_MAX && row[1] == (UINT64_C(1) << 36) - 1);
    assert_said(bly_index_which(row, index, NULL, 0, 0), BLY_OK);
    assert_true(row[0] == UINT64_MAX && row[1] == (UINT64_C(1) << 36) - 1);
    assert_said(bly_index_which(row, index, hash, 1, 2), BLY_EPARAM);
    bly_index_free(index);
}

/* Hashes and visits agree with a slow computation. */

typedef struct {
    const bly_index *index;
    const uint64_t  *row;
    uint64_t         next, told, most;
} visited;

static bool visit_one(void *context, uint64_t number,
                      const bly_document *document)
{
    visited *v = context;
    bly_document known;
    for (; v->next < number; v->next++)
        assert_false(bit_of(v->row, v->next));
    assert_true(bit_of(v->row, v->next++));
    assert_said(bly_index_document(&known, v->index, number), BLY_OK);
    assert_true(known.name == document->name);
    assert_int_equal(known.length, document->length);
    return ++v->told < v->most;
}

static void test_visit(void **state)
{
    (void)state;
    enum { SETS = 300 };
    const bly_index_spec spec = { .extra = 8, .hash = "murmur3", .seed = 7 };
    bly_index *index = built(&spec, SETS);
    uint64_t keys[] = { 1, 2, 3 }, hash[3], wanted[3];
    uint64_t row[SETS / 64 + 1], all = 0;
    const bly_keys three = { .n = 3, .data = keys, .width = sizeof *keys };
    assert_said(bly_hash_many(wanted, NULL, &(bly_spec){ .hash = "murmur3",
                              .seed = 7 }, &three), BLY_OK);
    assert_said(bly_index_hash(hash, index, &three), BLY_OK);
    assert_memory_equal(hash, wanted, sizeof hash);
    assert_said(bly_index_hash(hash, index, &(bly_keys){ .n = 1 }), BLY_EPARAM);
    for (uint64_t key = 0; key < 200; key++) {
        hash[0] = key_hash(key);
        assert_said(bly_index_which(row, index, hash, 1, 1), BLY_OK);
        visited v = { index, row, 0, 0, UINT64_MAX };
        bly_status status = bly_index_visit(index, hash, 1, 1, visit_one, &v);
        assert_int_equal(status, v.told > 0 ? BLY_SEEN : BLY_OK);
        for (; v.next < SETS; v.next++)
            assert_false(bit_of(row, v.next));
        all += v.told;
    }
    assert_true(all > 0);
    memset(row, 0xFF, sizeof row);
    visited some = { index, row, 0, 0, 5 };
    assert_said(bly_index_visit(index, NULL, 0, 0, visit_one, &some), BLY_SEEN);
    assert_int_equal(some.told, 5);
    assert_said(bly_index_visit(index, hash, 1, 2, visit_one, &some),
                BLY_EPARAM);
    assert_int_equal(some.told, 5);
    bly_index_free(index);
}

/* A document's count is the number of queries of one key that name it. */
static void test_count(void **state)
{
    (void)state;
    enum { SETS = 300, ASKED = 200 };
    const bly_index_spec spec = { .extra = 8, .rate = 0.3, .probes = 1 };
    bly_index *index = built(&spec, SETS);
    uint64_t hash[ASKED], row[SETS / 64 + 1];
    uint32_t counts[SETS], wanted[SETS] = { 0 };
    for (uint64_t key = 0; key < ASKED; key++) {
        hash[key] = key_hash(key / 2);          /* each key twice            */
        assert_said(bly_index_which(row, index, hash + key, 1, 1), BLY_OK);
        for (size_t i = 0; i < SETS; i++)
            wanted[i] += bit_of(row, i);
    }
    assert_said(bly_index_count(counts, index, hash, ASKED), BLY_OK);
    assert_memory_equal(counts, wanted, sizeof counts);
    assert_said(bly_index_count(counts, index, NULL, 0), BLY_OK);
    for (size_t i = 0; i < SETS; i++)
        assert_int_equal(counts[i], 0);
    if (SIZE_MAX > UINT32_MAX)
        assert_said(bly_index_count(counts, index, hash, SIZE_MAX), BLY_EPARAM);
    bly_index_free(index);
}

/* ---- Bits and columns ---------------------------------------------------- */

static void test_columns(void **state)
{
    (void)state;
    static const uint64_t sizes[][2] = {
        { 1, 1 }, { 1, 64 }, { 3, 200 }, { 63, 65 }, { 64, 64 }, { 65, 1 },
        { 200, 129 },
    };
    for (size_t t = 0; t < sizeof sizes / sizeof *sizes; t++) {
        uint64_t d = sizes[t][0], m = sizes[t][1], words = bitcolumns_words(m);
        uint64_t *bits = calloc(d * words, 8), *back = calloc(64 * words, 8);
        uint8_t *rows = calloc(1, (size_t)(d * m / 8 + 10));
        const uint64_t *columns[200];
        uint64_t *others[64];
        for (uint64_t c = 0; c < d; c++) {
            columns[c] = bits + c * words;
            for (uint64_t r = 0; r < m; r++)
                bits[c * words + r / 64] |= (test_random(c, r) & 1) << r % 64;
        }
        bitcolumns_to_rows(rows, columns, d, m);
        for (uint64_t r = 0; r < m; r++)
            for (uint64_t c = 0; c < d; c++)
                assert_int_equal(bitcolumns_load(rows, r * d + c) & 1,
                                 test_random(c, r) & 1);
        for (uint64_t c = 0; c < d; c += 64) {
            size_t n = d - c < 64 ? (size_t)(d - c) : 64;
            for (size_t i = 0; i < n; i++)
                others[i] = back + i * words;
            bitcolumns_of_rows(others, rows, c, n, d, m);
            for (size_t i = 0; i < n; i++)
                assert_memory_equal(others[i], columns[c + i], 8 * words);
        }
        free(bits);
        free(back);
        free(rows);
    }
}

/* Groups are a factor of 2^(1/4) apart, and have the planned number of rows. */
static void test_layout(void **state)
{
    (void)state;
    uint64_t before = 0;
    for (uint64_t n = 1; n < LAYOUT_KEYS_MOST; n += 1 + n / 100) {
        uint64_t most = layout_most(n);
        assert_true(most >= n && most >= before);
        assert_true((double)most <= 1.1893 * (double)n + 1);
        assert_int_equal(layout_most(most), most);
        before = most;
    }
    assert_int_equal(layout_most(LAYOUT_KEYS_MOST), LAYOUT_KEYS_MOST);
    assert_int_equal(layout_most(LAYOUT_KEYS_MOST + 1), 0);
    /* 1.44 log2(1/p) n; n / -ln(1 - p) */
    assert_true(fabs((double)layout_rows(0.01, 7, 1000) - 9585) < 15);
    assert_true(fabs((double)layout_rows(0.3, 1, 1000) - 2804) < 2);
    assert_int_equal(layout_probes(0.01), 7);
    assert_int_equal(layout_probes(0.5), 1);
    assert_int_equal(layout_probes(1e-20), 32);
    const bly_index_spec spec = { .rate = 0.3, .probes = 1 };
    assert_true(bly_index_bits(&spec, 1000)
                == layout_rows(0.3, 1, layout_most(1000)));
    assert_true(bly_index_bits(&spec, UINT64_MAX) == UINT64_MAX);
}

/* ---- Order of documents -------------------------------------------------- */

static uint8_t *read_all(size_t *n)
{
    FILE *file = fopen(PATH, "rb");
    uint8_t *bytes = malloc(1 << 24);
    assert_non_null(file);
    *n = fread(bytes, 1, 1 << 24, file);
    fclose(file);
    return bytes;
}

enum { THREADS = 4 };

typedef struct {
    bly_index_maker *maker;
    uint64_t         from, sets;
} share;

static void *add_share(void *of)
{
    const share *s = of;
    for (uint64_t i = s->from; i < s->sets; i += THREADS)
        if (set_add(s->maker, i) != BLY_OK)
            return of;
    return NULL;
}

static void test_threads_and_order(void **state)
{
    (void)state;
    const bly_index_spec spec = { .extra = 8 };
    const uint64_t sets = 200;
    pthread_t threads[THREADS];
    share shares[THREADS];
    size_t n, others;
    bly_index_free(built(&spec, sets));
    uint8_t *one = read_all(&n);
    bly_index_maker *maker = begun(&spec);
    for (size_t t = 0; t < THREADS; t++) {
        shares[t] = (share){ maker, t, sets };
        assert_int_equal(pthread_create(&threads[t], NULL, add_share,
                                        &shares[t]), 0);
    }
    for (size_t t = 0; t < THREADS; t++) {
        void *failed;
        assert_int_equal(pthread_join(threads[t], &failed), 0);
        assert_null(failed);
    }
    bly_index_free(ended(maker));
    uint8_t *many = read_all(&others);
    assert_int_equal(n, others);
    assert_memory_equal(one, many, n);
    free(one);
    free(many);
}

/* With little memory, groups are written several times. */
static void test_little_memory(void **state)
{
    (void)state;
    const bly_index_spec much = { .extra = 8 };
    const bly_index_spec little = { .extra = 8, .memory = 20000 };
    bly_index *one = built(&much, 300);
    bly_index_stat_t few, many;
    bly_index_stat(&few, one);
    bly_index_free(one);
    bly_index *index = built(&little, 300);
    bly_index_stat(&many, index);
    assert_true(many.groups > 2 * few.groups);
    assert_int_equal(many.documents, few.documents);
    assert_int_equal(many.keys, few.keys);
    ask_many(index, 20);
    bly_index_free(index);
}

/* ---- Keeping and dropping documents -------------------------------------- */

typedef struct {
    const bly_index *index;
    uint64_t         some;
} kept;

static bool keep_some(void *context, uint64_t document)
{
    const kept *k = context;
    return set_of(k->index, document) % 100 < k->some;
}

/* Kept documents answer as before, dropped ones are not named, and a group with
 * many dropped ones is rewritten. */
static void test_taken(void **state)
{
    (void)state;
    static const uint64_t shares[] = { 100, 95, 50, 1, 0 };
    const bly_index_spec spec = { .extra = 8 };
    const uint64_t sets = 1000;
    for (size_t t = 0; t < sizeof shares / sizeof *shares; t++) {
        bly_index *from = built(&spec, sets);
        kept which = { from, shares[t] };
        bly_index_stat_t stat;
        bly_index_maker *maker = begun(&spec);
        assert_said(bly_index_take(maker, from, keep_some, &which), BLY_OK);
        for (uint64_t i = 0; i < 40; i++)
            assert_said(set_add(maker, sets + i), BLY_OK);
        bly_index *index = ended(maker);
        bly_index_stat(&stat, index);
        assert_int_equal(stat.documents - stat.dropped,
                         sets / 100 * shares[t] + 40);
        assert_true(stat.dropped <= stat.documents / 3);
        ask_many(index, test_work(20, 10, 4));
        bly_index_free(from);

        maker = begun(&spec);
        assert_said(bly_index_take(maker, index, NULL, NULL), BLY_OK);
        bly_index *again = ended(maker);
        bly_index_stat_t other;
        bly_index_stat(&other, again);
        assert_int_equal(other.documents - other.dropped,
                         stat.documents - stat.dropped);
        ask_many(again, 3);
        bly_index_free(index);
        bly_index_free(again);
    }
}

static void test_taken_refused(void **state)
{
    (void)state;
    const bly_index_spec spec = { .extra = 8 };
    static const bly_index_spec others[] = {
        { .extra = 8, .rate = 0.02 }, { .extra = 8, .probes = 6 },
        { .extra = 7 }, { .extra = 8, .seed = 1 },
        { .extra = 8, .hash = "murmur3" },
    };
    bly_index *from = built(&spec, 10);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        bly_index_maker *maker = begun(&others[i]);
        assert_said(bly_index_take(maker, from, NULL, NULL), BLY_EMISMATCH);
        bly_index_abort(maker);
    }
    bly_index_free(from);
}

/* ---- Refusals ------------------------------------------------------------ */

static void test_refused(void **state)
{
    (void)state;
    static const bly_index_spec wrong[] = {
        { .rate = 1 }, { .rate = -0.5 }, { .rate = NAN }, { .probes = 33 },
        { .extra = 4097 }, { .reserved = { 1 } },
    };
    bly_index_maker *maker = NULL;
    bly_index *index = NULL;
    const bly_index_spec spec = { .extra = 8 };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_said(bly_index_begin(&maker, PATH, &wrong[i]), BLY_EPARAM);
    for (size_t i = 0; i < 2; i++) {
        const bly_index_spec other = { .hash = i == 0 ? "siphash" : "none" };
        assert_said(bly_index_begin(&maker, PATH, &other), BLY_EHASH);
    }
    assert_said(bly_index_begin(&maker, "none/file", &spec), BLY_EIO);
    assert_said(bly_index_begin(&maker, "/dev/null", &spec), BLY_EIO);
    assert_said(bly_index_begin(&maker, ".", &spec), BLY_EIO);
    assert_null(maker);
    assert_said(bly_index_open(&index, "none", NULL), BLY_EIO);
    assert_said(bly_index_open(&index, ".", NULL), BLY_EIO);
    assert_said(bly_index_wrap(&index, "bloomery", 8, NULL), BLY_EFORMAT);
    assert_said(bly_index_wrap(&index, "bloomidx", 8, NULL), BLY_ECORRUPT);
    assert_null(index);
}

/* Aborting keeps the old index and removes the new file. */
static void test_abort(void **state)
{
    (void)state;
    const bly_index_spec spec = { .extra = 8, .memory = 1000 };
    size_t n, others;
    bly_index_free(built(&spec, 50));
    uint8_t *one = read_all(&n);
    bly_index_maker *maker = begun(&spec);
    for (uint64_t i = 0; i < 70; i++)
        assert_said(set_add(maker, i), BLY_OK);
    bly_index_abort(maker);
    uint8_t *two = read_all(&others);
    assert_int_equal(n, others);
    assert_memory_equal(one, two, n);
    assert_int_equal(folder_entries("."), 1);
    free(one);
    free(two);
}

/* The example file of docs/format, byte for byte: three documents, one
 * without keys. */
static void test_golden(void **state)
{
    (void)state;
    const bly_index_spec spec = { .rate = 0.3, .probes = 1, .extra = 2,
                                  .about = "by=words", .about_bytes = 8 };
    static const struct {
        const char *name, *extra;
        size_t      first, n;
    } documents[] = { { "a", "xy", 0, 3 }, { "bb", "zz", 2, 2 },
                      { "", "00", 0, 0 } };
    const uint64_t hashes[] = { 1, 2, 3, 4 };
    bly_index_maker *maker = begun(&spec);
    size_t n;
    for (size_t i = 0; i < 3; i++) {
        const bly_document document = {
            .name = documents[i].name, .length = strlen(documents[i].name),
            .extra = documents[i].extra,
        };
        assert_said(bly_index_add(maker, &document, hashes + documents[i].first,
                                  documents[i].n), BLY_OK);
    }
    bly_index_free(ended(maker));
    uint8_t *bytes = read_all(&n);
    assert_int_equal(n, 554);
    assert_int_equal(bytes[256], 1 << 3 | 1 << 7 | 1 << 1);
    assert_true(hash_xxh3(bytes, n, 0) == UINT64_C(0xB2E6C39AA544C1E4));
    free(bytes);
}

/* ---- Damage -------------------------------------------------------------- */

/* Checks bytes that end where their memory ends; the sanitizers watch. */
static void look_at(const uint8_t *bytes, size_t n)
{
    uint8_t *copy = malloc(n + (n == 0));
    bly_index *index = NULL;
    memcpy(copy, bytes, n);
    if (bly_index_wrap(&index, copy, n, NULL) == BLY_OK) {
        bly_index_stat_t stat;
        uint64_t hashes[] = { 0, 1, key_hash(5), UINT64_MAX };
        bly_index_stat(&stat, index);
        uint64_t *row = malloc((size_t)(stat.documents / 64 + 1) * 8);
        bly_status all = bly_index_which(row, index, hashes, 4, 4);
        bly_status some = bly_index_which(row, index, hashes, 4, 2);
        bly_status verified = bly_index_verify(index, NULL);
        assert_true(all == BLY_OK || all == BLY_ECORRUPT);
        assert_true(some == BLY_OK || some == BLY_ECORRUPT);
        if (verified == BLY_OK)
            assert_true(all == BLY_OK && some == BLY_OK);
        for (uint64_t i = 0; i < stat.documents; i++) {
            bly_document document;
            assert_said(bly_index_document(&document, index, i), BLY_OK);
            for (size_t j = 0; j < document.length; j++)
                (void)*(volatile const char *)&document.name[j];
        }
        free(row);
        bly_index_free(index);
    }
    free(copy);
}

/* Recomputes the checksums of damaged bytes. */
static void sum_up(uint8_t *bytes, size_t n)
{
    uint64_t at = image_u64(bytes, LAYOUT_AT_LIST);
    if (at <= n)
        image_set_u64(bytes, LAYOUT_AT_LIST_SUM,
                      hash_xxh3(bytes + at, n - (size_t)at, 0));
    image_set_u64(bytes, LAYOUT_AT_SUM, hash_xxh3(bytes, LAYOUT_AT_SUM, 0));
}

static void test_damaged(void **state)
{
    (void)state;
    static const uint8_t others[] = { 0, 1, 0x7F, 0x80, 0xFF };
    const bly_index_spec spec = { .extra = 8, .rate = 0.3 };
    size_t n;
    bly_index *index = NULL;
    bly_index_free(built(&spec, 20));
    uint8_t *bytes = read_all(&n);
    size_t list = (size_t)image_u64(bytes, LAYOUT_AT_LIST);
    for (size_t i = 0; i < n; i += i < LAYOUT_HEADER || i >= list ? 1 : 61) {
        uint8_t was = bytes[i];
        bytes[i] ^= 0x10;
        if (i < LAYOUT_HEADER || i >= list)
            assert_true(bly_index_wrap(&index, bytes, n, NULL) < 0);
        for (size_t k = 0; k < sizeof others; k++) {
            bytes[i] = others[k];
            sum_up(bytes, n);
            look_at(bytes, n);
        }
        bytes[i] = was;
        sum_up(bytes, n);
    }
    look_at(bytes, n);
    for (size_t cut = 0; cut < n; cut += 1 + cut / 40) {
        assert_true(bly_index_wrap(&index, bytes, cut, NULL) < 0);
        uint8_t *less = malloc(cut + 1);
        memcpy(less, bytes, cut);
        if (cut >= LAYOUT_HEADER) {
            image_set_u64(less, LAYOUT_AT_BYTES, cut);
            sum_up(less, cut);
        }
        look_at(less, cut);
        free(less);
    }
    bytes[LAYOUT_HEADER] ^= 1;                      /* a bit of a row        */
    assert_said(bly_index_wrap(&index, bytes, n, NULL), BLY_OK);
    assert_said(bly_index_verify(index, NULL), BLY_ECORRUPT);
    uint64_t hash = key_hash(1), row;
    assert_said(bly_index_which(&row, index, &hash, 1, 1), BLY_ECORRUPT);
    assert_said(bly_index_which(&row, index, &hash, 1, 1), BLY_ECORRUPT);
    bly_index_maker *maker = begun(&spec);
    assert_said(bly_index_take(maker, index, NULL, NULL), BLY_ECORRUPT);
    bly_index_abort(maker);
    bly_index_free(index);
    free(bytes);
}

/* ---- Memory -------------------------------------------------------------- */

/* Each allocation failure is reported, nothing leaks, and the old index
 * remains. */
static void test_no_memory(void **state)
{
    (void)state;
    const bly_index_spec plain = { .extra = 8 };
    bly_index *from = built(&plain, 120);
    bool done = false;
    for (size_t most = 0; !done; most++) {
        scarce b = { .left = most };
        const bly_allocator allocator = { scarce_allocate, scarce_release, &b };
        const bly_index_spec spec = { .extra = 8, .memory = 4000,
                                      .allocator = &allocator };
        bly_index_maker *maker = NULL;
        bly_status status = bly_index_begin(&maker, "other", &spec);
        for (uint64_t i = 0; i < 10 && status == BLY_OK; i++)
            status = set_add(maker, i);
        if (status == BLY_OK)
            status = bly_index_take(maker, from, NULL, NULL);
        done = status == BLY_OK && bly_index_end(maker) == BLY_OK;
        if (status != BLY_OK) {
            assert_int_equal(status, BLY_ENOMEM);
            bly_index_abort(maker);
        }
        assert_true(b.held == 0 && b.bytes == 0);
        assert_int_equal(folder_entries("."), done ? 2 : 1);
    }
    bly_index_free(from);
    for (size_t most = 0; most < 3; most++) {
        scarce b = { .left = most };
        const bly_allocator allocator = { scarce_allocate, scarce_release, &b };
        bly_index *index = NULL;
        uint64_t row[3], hash = 1;
        bly_status status = bly_index_open(&index, "other", &allocator);
        assert_int_equal(status, most < 2 ? BLY_ENOMEM : BLY_OK);
        if (status == BLY_OK)
            assert_int_equal(bly_index_which(row, index, &hash, 1, 1),
                             BLY_ENOMEM);
        bly_index_free(index);
        assert_true(b.held == 0 && b.bytes == 0);
    }
}

int main(void)
{
#define IN(test)                                                              \
    cmocka_unit_test_setup_teardown(test, folder_enter, folder_leave)
    const struct CMUnitTest tests[] = {
        IN(test_documents),
        IN(test_no_documents),
        IN(test_none_is_missing),
        IN(test_share), IN(test_visit), IN(test_count),
        IN(test_least),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_layout),
        IN(test_threads_and_order),
        IN(test_little_memory),
        IN(test_taken),
        IN(test_taken_refused),
        IN(test_refused),
        IN(test_abort),
        IN(test_golden),
        IN(test_damaged),
        IN(test_no_memory),
    };
#undef IN
    return cmocka_run_group_tests(tests, NULL, NULL);
}
