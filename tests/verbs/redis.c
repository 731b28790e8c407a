/* redis.c - filters of Redis' module in pieces: the same bits and answers as
 * the formats, which are compared with the server's own dumps.
 */
#include "test.h"

#include <math.h>

#include "bloomery/redis.h"

static bly_filter *redis_whole(const char *kind, uint64_t capacity, double rate)
{
    bly_spec spec = { .capacity = capacity, .rate = rate };
    bly_filter *filter = NULL;
    assert_status(bly_new(&filter, kind, &spec), BLY_OK);
    return filter;
}

static size_t redis_item(char text[64], uint64_t i)
{
    return (size_t)snprintf(text, 64, "item:%llu", (unsigned long long)i);
}

/* ---- A chain ------------------------------------------------------------ */

typedef struct {
    bly_link  links[16];
    bly_chain chain;
} redis_pieces;

static void redis_begin(redis_pieces *p, uint64_t capacity, double rate,
                        uint32_t growth)
{
    *p = (redis_pieces){
        .chain = { p->links, 1, BLY_CHAIN_EXACT | BLY_CHAIN_LONG
                   | (growth == 0 ? BLY_CHAIN_FIXED : 0), growth, 0 },
    };
    assert_status(bly_chain_plan(p->links, capacity,
                                 growth == 0 ? rate : rate / 2), BLY_OK);
    p->links[0].bits = calloc(1, (size_t)p->links[0].bytes);
}

static bly_status redis_add(redis_pieces *p, const char *key, size_t length)
{
    bly_status status = bly_chain_add(&p->chain, key, length);
    bly_link *more = &p->links[p->chain.n];
    if (status != BLY_EFULL || bly_chain_next(more, &p->chain) != BLY_OK)
        return status;
    more->bits = calloc(1, (size_t)more->bytes);
    p->chain.n++;
    return bly_chain_add(&p->chain, key, length);
}

static void redis_free(redis_pieces *p)
{
    for (uint32_t i = 0; i < p->chain.n; i++)
        free(p->links[i].bits);
}

/* Returns header and bits as one file. */
static uint8_t *redis_file(const redis_pieces *p, size_t *bytes)
{
    size_t at = BLY_CHAIN_HEAD + BLY_CHAIN_HEAD_LINK * p->chain.n;
    *bytes = at;
    for (uint32_t i = 0; i < p->chain.n; i++)
        *bytes += (size_t)p->links[i].bytes;
    uint8_t *file = malloc(*bytes);
    bly_chain_write(file, &p->chain);
    for (uint32_t i = 0; i < p->chain.n; i++) {
        memcpy(file + at, p->links[i].bits, (size_t)p->links[i].bytes);
        at += (size_t)p->links[i].bytes;
    }
    return file;
}

static void test_chain_is_the_format(void **state)
{
    (void)state;
    static const struct { uint64_t capacity, keys; double rate;
                          uint32_t growth; const char *kind; } tests[] = {
        { 100, 1500, 0.01, 2, "redisbloom" },
        { 50, 1500, 0.05, 4, "redisbloom:growth=4" },
        { 1000, 1000, 0.001, 0, "redisbloom:growth=0" },
        { 10, 99, 0.01, 1, "redisbloom:growth=1" },
    };
    for (size_t t = 0; t < sizeof tests / sizeof *tests; t++) {
        redis_pieces p;
        bly_filter *whole = redis_whole(tests[t].kind, tests[t].capacity,
                                        tests[t].rate);
        char text[64];
        redis_begin(&p, tests[t].capacity, tests[t].rate, tests[t].growth);
        for (uint64_t i = 0; i < tests[t].keys; i++) {
            size_t length = redis_item(text, i);
            assert_status(redis_add(&p, text, length),
                          bly_add(whole, text, length));
        }
        size_t bytes, has;
        uint8_t *file = redis_file(&p, &bytes);
        const uint8_t *image = bly_image(whole, &has);
        assert_int_equal(bytes, has - BLY_HEADER_BYTES);
        assert_memory_equal(file, image + BLY_HEADER_BYTES, bytes);
        for (uint64_t i = 0; i < 4 * tests[t].keys; i++) {
            size_t length = redis_item(text, i);
            assert_int_equal(bly_chain_contains(&p.chain, text, length),
                             bly_contains(whole, text, length));
        }
        free(file);
        redis_free(&p);
        bly_free(whole);
    }
}

enum { REDIS_MANY = 1000 };

static void redis_keys(bly_key keys[REDIS_MANY], char (*text)[64])
{
    for (size_t i = 0; i < REDIS_MANY; i++)
        keys[i] = (bly_key){ text[i], redis_item(text[i], 3 * i) };
}

static void test_chain_of_many(void **state)
{
    (void)state;
    static char text[REDIS_MANY][64];
    bly_key keys[REDIS_MANY];
    bly_keys all = { .n = REDIS_MANY, .keys = keys }, none = { .n = 3 };
    bool present[REDIS_MANY];
    redis_pieces p;
    char one[64];
    redis_begin(&p, 100, 0.01, 2);
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(redis_add(&p, one, redis_item(one, i)) >= 0);
    redis_keys(keys, text);
    assert_status(bly_chain_contains_many(&p.chain, &all, present), BLY_OK);
    for (size_t i = 0; i < REDIS_MANY; i++)
        assert_int_equal(present[i], bly_chain_contains(&p.chain, keys[i].data,
                                                        keys[i].length));
    memset(present, 0, sizeof present);
    assert_status(bly_chain_contains_many(&p.chain, &none, present),
                  BLY_EPARAM);
    assert_true(present[0] && present[2] && !present[3]);
    redis_free(&p);
}

/* Batches equal single adds, with repeats and links that fill up in between. */
static void test_chain_adds_many(void **state)
{
    (void)state;
    static char text[REDIS_MANY][64];
    bly_key keys[REDIS_MANY];
    bly_keys all = { .keys = keys }, none = { .n = 3 };
    bool seen[REDIS_MANY];
    redis_pieces p, q;
    size_t done, at = 0, fills = 0;
    redis_begin(&p, 100, 0.05, 2);
    redis_begin(&q, 100, 0.05, 2);
    redis_keys(keys, text);
    for (size_t i = 3; i < REDIS_MANY; i += 5)
        keys[i] = keys[i / 2];
    while (at < REDIS_MANY) {
        all.keys = keys + at;
        all.n = REDIS_MANY - at < 300 ? REDIS_MANY - at : 300;
        bly_status status = bly_chain_add_many(&q.chain, &all, seen + at,
                                               &done);
        at += done;
        if (status == BLY_OK) {
            assert_int_equal(done, all.n);
            continue;
        }
        assert_int_equal(status, BLY_EFULL);
        assert_true(done < all.n);
        bly_link *more = &q.links[q.chain.n];
        assert_status(bly_chain_next(more, &q.chain), BLY_OK);
        more->bits = calloc(1, (size_t)more->bytes);
        q.chain.n++;
        fills++;
    }
    for (size_t i = 0; i < REDIS_MANY; i++)
        assert_int_equal(redis_add(&p, keys[i].data, keys[i].length)
                         == BLY_SEEN, seen[i]);
    size_t bytes, others;
    uint8_t *one = redis_file(&p, &bytes), *many = redis_file(&q, &others);
    assert_true(fills > 1);
    assert_int_equal(bytes, others);
    assert_memory_equal(one, many, bytes);
    assert_status(bly_chain_add_many(&q.chain, &none, seen, &done),
                  BLY_EPARAM);
    assert_int_equal(done, 0);
    free(one);
    free(many);
    redis_free(&p);
    redis_free(&q);
}

static void test_chain_ends(void **state)
{
    (void)state;
    redis_pieces p;
    bly_link link;
    redis_begin(&p, 3, 0.01, 0);
    for (size_t i = 0; i < 3; i++)
        assert_status(redis_add(&p, &"abc"[i], 1), BLY_OK);
    assert_status(redis_add(&p, "a", 1), BLY_SEEN);
    assert_status(redis_add(&p, "d", 1), BLY_EFULL);
    assert_status(bly_chain_next(&link, &p.chain), BLY_EFULL);
    assert_int_equal(bly_chain_items(&p.chain), 3);
    p.chain.options &= ~(uint32_t)BLY_CHAIN_FIXED;
    p.chain.growth = 32768;
    p.links[0].capacity = UINT64_MAX / 2;
    assert_status(bly_chain_next(&link, &p.chain), BLY_ETOOBIG);
    assert_status(bly_chain_plan(&link, 0, 0.01), BLY_EPARAM);
    assert_status(bly_chain_plan(&link, 1, 0), BLY_EPARAM);
    assert_status(bly_chain_plan(&link, 1, 1), BLY_EPARAM);
    assert_status(bly_chain_plan(&link, 1, (double)NAN), BLY_EPARAM);
    assert_status(bly_chain_plan(&link, UINT64_MAX, 0.01), BLY_ETOOBIG);
    redis_free(&p);
}

/* A header is read back as written; each of its bytes counts. */
static void test_chain_header(void **state)
{
    (void)state;
    redis_pieces p, read = { .chain = { read.links, 0, 0, 0, 0 } };
    uint8_t head[BLY_CHAIN_HEAD + 2 * BLY_CHAIN_HEAD_LINK + 1], again[200];
    size_t bytes = sizeof head - 1;
    char text[64];
    uint32_t links = 0;
    redis_begin(&p, 100, 0.01, 2);
    for (uint64_t i = 0; i < 200; i++)
        assert_true(redis_add(&p, text, redis_item(text, i)) >= 0);
    assert_int_equal(p.chain.n, 2);
    bly_chain_write(head, &p.chain);
    assert_status(bly_chain_check(&links, head, bytes), BLY_OK);
    assert_int_equal(links, 2);
    bly_chain_read(&read.chain, head);
    assert_status(bly_chain_verify(&read.chain), BLY_OK);
    bly_chain_write(again, &read.chain);
    assert_memory_equal(again, head, bytes);
    assert_null(read.links[0].bits);

    assert_status(bly_chain_check(&links, head, bytes - 1), BLY_ECORRUPT);
    assert_status(bly_chain_check(&links, head, bytes + 1), BLY_ECORRUPT);
    assert_status(bly_chain_check(&links, head, 0), BLY_ECORRUPT);
    static const size_t counts[] = { 0, 8, 20, 28, 36, 50, 58, 60, 72 };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        head[counts[i]] ^= 1;
        assert_true(bly_chain_check(&links, head, bytes) < 0);
        head[counts[i]] ^= 1;
    }
    head[12] = BLY_CHAIN_EXACT;
    assert_status(bly_chain_check(&links, head, bytes), BLY_EVERSION);
    head[12] = 16 | BLY_CHAIN_LONG;
    assert_status(bly_chain_check(&links, head, bytes), BLY_ECORRUPT);
    read.links[1].probes++;
    assert_status(bly_chain_verify(&read.chain), BLY_ECORRUPT);
    read.chain.n = 0;
    assert_status(bly_chain_verify(&read.chain), BLY_ECORRUPT);
    redis_free(&p);
}

/* ---- Tables ------------------------------------------------------------- */

typedef struct {
    void      *table[64];
    bly_tables tables;
} redis_cuckoo;

static void redis_open(redis_cuckoo *c, uint64_t capacity, uint16_t slots,
                       uint16_t expansion)
{
    assert_status(bly_tables_plan(&c->tables, capacity, slots, 20, expansion),
                  BLY_OK);
    memset(c->table, 0, sizeof c->table);
    c->table[0] = calloc(1, (size_t)bly_tables_bytes(&c->tables, 0));
    c->tables.table = c->table;
}

static bly_status redis_put(redis_cuckoo *c, const char *key, size_t length)
{
    bly_status status = bly_tables_add(&c->tables, key, length);
    uint64_t bytes = bly_tables_bytes(&c->tables, c->tables.n);
    if (status != BLY_EFULL || bytes == 0)
        return status;
    c->table[c->tables.n++] = calloc(1, (size_t)bytes);
    return bly_tables_add(&c->tables, key, length);
}

static void redis_close(redis_cuckoo *c)
{
    for (size_t i = 0; i < 64; i++)
        free(c->table[i]);
}

static void redis_is(const redis_cuckoo *c, const bly_filter *whole)
{
    size_t has, at = BLY_TABLES_HEAD;
    const uint8_t *file = bly_image(whole, &has);
    uint8_t head[BLY_TABLES_HEAD];
    file += BLY_HEADER_BYTES;
    bly_tables_write(head, &c->tables);
    assert_memory_equal(head, file, sizeof head);
    for (uint64_t i = 0; i < c->tables.n; i++) {
        size_t bytes = (size_t)bly_tables_bytes(&c->tables, i);
        assert_memory_equal(c->table[i], file + at, bytes);
        at += bytes;
    }
    assert_int_equal(at, has - BLY_HEADER_BYTES);
}

static void test_tables_are_the_format(void **state)
{
    (void)state;
    static const struct { uint64_t capacity, keys, gone; uint16_t slots,
                          expansion; const char *kind; } tests[] = {
        { 1000, 500, 100, 2, 1, "rediscuckoo" },
        { 1024, 1000, 0, 4, 1, "rediscuckoo:bucket=4" },
        { 256, 1200, 0, 2, 2, "rediscuckoo:expansion=2" },
        { 256, 3000, 0, 1, 3, "rediscuckoo:bucket=1,expansion=3" },
    };
    for (size_t t = 0; t < sizeof tests / sizeof *tests; t++) {
        redis_cuckoo c;
        bly_filter *whole = redis_whole(tests[t].kind, tests[t].capacity, 0);
        char text[64];
        redis_open(&c, tests[t].capacity, tests[t].slots, tests[t].expansion);
        for (uint64_t i = 0; i < tests[t].keys; i++) {
            size_t length = redis_item(text, i);
            assert_status(redis_put(&c, text, length), BLY_OK);
            assert_true(bly_add(whole, text, length) >= 0);
        }
        for (uint64_t i = 0; i < tests[t].gone; i++) {
            size_t length = redis_item(text, i);
            assert_status(bly_tables_remove(&c.tables, text, length), BLY_OK);
            assert_status(bly_remove(whole, text, length), BLY_OK);
        }
        redis_is(&c, whole);
        for (uint64_t i = 0; i < 4 * tests[t].keys; i++) {
            size_t length = redis_item(text, i);
            assert_int_equal(bly_tables_contains(&c.tables, text, length),
                             bly_contains(whole, text, length));
            assert_int_equal(bly_tables_count(&c.tables, text, length),
                             bly_count(whole, text, length));
        }
        redis_close(&c);
        bly_free(whole);
    }
}

/* Removing most keys of many tables leaves fewer tables, and all other keys. */
static void test_tables_compact(void **state)
{
    (void)state;
    redis_cuckoo c;
    char text[64];
    redis_open(&c, 64, 2, 1);
    for (uint64_t i = 0; i < 1000; i++)
        assert_status(redis_put(&c, text, redis_item(text, i)), BLY_OK);
    uint64_t tables = c.tables.n;
    assert_true(tables > 10);
    for (uint64_t i = 0; i < 900; i++) {
        assert_status(bly_tables_remove(&c.tables, text, redis_item(text, i)),
                      BLY_OK);
        assert_true((double)c.tables.removed
                    <= (double)c.tables.items * 0.10 || c.tables.n == 1);
        for (uint64_t j = i + 1; i % 50 == 0 && j < 1000; j++)
            assert_true(bly_tables_contains(&c.tables, text,
                                            redis_item(text, j)));
    }
    assert_int_equal(c.tables.items, 100);
    assert_true(c.tables.n < tables / 2);
    bly_tables_compact(&c.tables, true);
    assert_int_equal(c.tables.removed, 0);
    for (uint64_t j = 900; j < 1000; j++)
        assert_true(bly_tables_contains(&c.tables, text, redis_item(text, j)));
    assert_status(bly_tables_remove(&c.tables, "stranger", 8), BLY_EABSENT);
    redis_close(&c);
}

static void test_tables_of_many(void **state)
{
    (void)state;
    static char text[REDIS_MANY][64];
    bly_key keys[REDIS_MANY];
    bly_keys all = { .n = REDIS_MANY, .keys = keys }, none = { .n = 3 };
    bool present[REDIS_MANY];
    redis_cuckoo c;
    char one[64];
    redis_open(&c, 256, 2, 2);
    for (uint64_t i = 0; i < 1000; i++)
        assert_status(redis_put(&c, one, redis_item(one, i)), BLY_OK);
    redis_keys(keys, text);
    assert_status(bly_tables_contains_keys(&c.tables, &all, present), BLY_OK);
    for (size_t i = 0; i < REDIS_MANY; i++)
        assert_int_equal(present[i],
                         bly_tables_contains(&c.tables, keys[i].data,
                                             keys[i].length));
    assert_status(bly_tables_contains_keys(&c.tables, &none, present),
                  BLY_EPARAM);
    assert_true(present[0] && present[2]);
    redis_close(&c);
}

static void test_tables_end(void **state)
{
    (void)state;
    redis_cuckoo c;
    bly_tables wrong;
    char text[64];
    uint64_t i = 0;
    redis_open(&c, 16, 2, 0);
    assert_int_equal(bly_tables_bytes(&c.tables, 1), 0);
    while (redis_put(&c, text, redis_item(text, i)) == BLY_OK)
        i++;
    assert_int_equal(c.tables.items, i);
    uint8_t before[16];
    memcpy(before, c.table[0], 16);
    assert_status(redis_put(&c, text, redis_item(text, i)), BLY_EFULL);
    assert_memory_equal(before, c.table[0], 16);
    redis_close(&c);
    assert_status(bly_tables_plan(&wrong, 0, 2, 20, 1), BLY_EPARAM);
    assert_status(bly_tables_plan(&wrong, 9, 0, 20, 1), BLY_EPARAM);
    assert_status(bly_tables_plan(&wrong, 9, 256, 20, 1), BLY_EPARAM);
    assert_status(bly_tables_plan(&wrong, 9, 2, 0, 1), BLY_EPARAM);
    assert_status(bly_tables_plan(&wrong, 9, 2, 20, 32769), BLY_EPARAM);
    assert_status(bly_tables_plan(&wrong, UINT64_MAX, 2, 20, 1), BLY_ETOOBIG);
}

/* The last of many tables is addressed directly; growing tables reach their
 * maximum. */
static void test_tables_sizes(void **state)
{
    (void)state;
    bly_tables tables;
    assert_status(bly_tables_plan(&tables, 16, 2, 20, 1), BLY_OK);
    for (uint64_t i = 0; i < BLY_TABLES_MOST; i++)
        assert_int_equal(bly_tables_bytes(&tables, i), 16);
    assert_int_equal(bly_tables_bytes(&tables, BLY_TABLES_MOST), 0);
    assert_status(bly_tables_plan(&tables, 16, 2, 20, 4), BLY_OK);
    for (uint64_t i = 0, bytes = 16; i < 27; i++, bytes *= 4)
        assert_int_equal(bly_tables_bytes(&tables, i), bytes);
    assert_int_equal(bly_tables_bytes(&tables, 27), 0);
    assert_int_equal(bly_tables_bytes(&tables, 60000), 0);
}

static void test_tables_header(void **state)
{
    (void)state;
    bly_tables tables, read = { .n = 9 };
    uint8_t head[BLY_TABLES_HEAD], again[BLY_TABLES_HEAD];
    assert_status(bly_tables_plan(&tables, 1000, 2, 20, 1), BLY_OK);
    tables.n = 3;
    tables.items = 5;
    bly_tables_write(head, &tables);
    assert_status(bly_tables_read(&read, head, sizeof head), BLY_OK);
    bly_tables_write(again, &read);
    assert_memory_equal(again, head, sizeof head);
    assert_null(read.table);
    assert_status(bly_tables_read(&read, head, sizeof head - 1), BLY_ECORRUPT);
    static const struct { size_t at; uint8_t is; } wrong[] = {
        { 7, 1 }, { 8, 3 }, { 15, 1 }, { 24, 0 }, { 27, 1 }, { 32, 0 },
        { 33, 1 }, { 36, 3 }, { 36, 0 },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(again, head, sizeof head);
        again[wrong[i].at] = wrong[i].is;
        assert_status(bly_tables_read(&read, again, sizeof again),
                      BLY_ECORRUPT);
    }
    memcpy(again, head, sizeof head);
    again[34] = 0;
    assert_status(bly_tables_read(&read, again, sizeof again), BLY_ECORRUPT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain_is_the_format),
        cmocka_unit_test(test_chain_of_many),
        cmocka_unit_test(test_chain_adds_many),
        cmocka_unit_test(test_chain_ends),
        cmocka_unit_test(test_chain_header),
        cmocka_unit_test(test_tables_are_the_format),
        cmocka_unit_test(test_tables_compact),
        cmocka_unit_test(test_tables_of_many),
        cmocka_unit_test(test_tables_end),
        cmocka_unit_test(test_tables_sizes),
        cmocka_unit_test(test_tables_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
