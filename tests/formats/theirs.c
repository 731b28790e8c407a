/* theirs.c - files that other software wrote, from keys which this test knows.
 *
 * What the software wrote is in tests/formats/theirs/, as hex text. Each file
 * must be readable as its format and not be taken for another. It must have
 * all keys, and what we build of them must be the same file, byte for byte.
 * Then all other answers are the same, too.
 */
#include "test.h"
#include "vectors.h"

#include "bloomery/foreign.h"
#include "hex.h"

enum { THEIRS_LONGEST = 64 };

#define THEIRS_FOLDER TEST_SOURCE_DIR "/tests/formats/theirs/"

/* Key i as text, of which every second one has bytes above 127. */
static size_t theirs_text(char key[THEIRS_LONGEST], uint64_t i)
{
    const char *form = i % 2 == 0 ? "key-%u" : "cl\xC3\xA9-%u-\xC3\xA9";
    return (size_t)snprintf(key, THEIRS_LONGEST, form, (unsigned)i);
}

static size_t theirs_put_64(char key[THEIRS_LONGEST], uint64_t v)
{
    for (unsigned b = 0; b < 8; b++)
        key[b] = (char)(v >> 8 * b & 0xFF);
    return 8;
}

/* Key i as a signed number of 64 bits, some below 0 and some above 2^32. */
static size_t theirs_long(char key[THEIRS_LONGEST], uint64_t i)
{
    return theirs_put_64(key, i * 7919 * 1000003 - 500);
}

/* Key i of Cassandra's own tests: i in decimal, from 0 or from 100 on. */
static size_t theirs_digits(char key[THEIRS_LONGEST], uint64_t i)
{
    return (size_t)snprintf(key, THEIRS_LONGEST, "%u", (unsigned)i);
}

static size_t theirs_from_100(char key[THEIRS_LONGEST], uint64_t i)
{
    return theirs_digits(key, i + 100);
}

/* An int of Cassandra, from 1 on, with the highest byte first. */
static size_t theirs_int(char key[THEIRS_LONGEST], uint64_t i)
{
    memset(key, 0, 4);
    key[3] = (char)(i + 1);
    return 4;
}

/* Keys that were put into filters of ORC: numbers, texts and real numbers. */
static size_t theirs_orc_long(char key[THEIRS_LONGEST], uint64_t i)
{
    return theirs_put_64(key, i * 1000003 - 5000000);
}

static size_t theirs_orc_text(char key[THEIRS_LONGEST], uint64_t i)
{
    static const char *const ends[] = { "", "\xC3\xA9", "\xC3\xA9\xC3\xA9" };
    return (size_t)snprintf(key, THEIRS_LONGEST, "text-%u%s", (unsigned)i,
                            ends[i % 3]);
}

static size_t theirs_orc_double(char key[THEIRS_LONGEST], uint64_t i)
{
    double d = (double)i * 0.37 - 3;
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return theirs_put_64(key, bits);
}

typedef struct {
    const char   *file, *kind;
    uint64_t      n;
    double        rate;
    vector_probe *key;
} theirs;

static const theirs theirs_all[] = {
    { "spark1", "spark", 100, 0.03, theirs_text },
    { "spark1-long", "spark", 100, 0.03, theirs_long },
    { "spark2", "spark:version=2", 100, 0.03, theirs_text },
    { "spark2-long", "spark:version=2", 100, 0.03, theirs_long },
    { "spark2-seed", "spark:version=2,seed=4294967289", 100, 0.03,
      theirs_text },
    { "cassandra-nb", "cassandra", 5, 0.01, theirs_digits },
    { "cassandra-ma", "cassandra:version=ma", 5, 0.01, theirs_digits },
    { "cassandra-scylla", "cassandra:version=ma", 120, 0.01, theirs_int },
    { "cassandra-la", "cassandra:version=ka", 5, 0.01, theirs_digits },
    { "cassandra-ic", "cassandra:version=ka", 900, 0.01, theirs_from_100 },
    { "fastbloom16", "fastbloom:seed=77", 100, 0.01, theirs_text },
    { "fastbloom16-bytes", "fastbloom:type=bytes,seed=77", 100, 0.01,
      theirs_text },
    { "fastbloom16-int", "fastbloom:type=int,seed=77", 100, 0.01, theirs_long },
    { "fastbloom15", "fastbloom:version=15,seed=77", 100, 0.01, theirs_text },
    { "fastbloom14", "fastbloom:version=14,seed=77", 100, 0.01, theirs_text },
    { "fastbloom13", "fastbloom:version=13,seed=77", 100, 0.01, theirs_text },
    { "rustbloom", "rustbloom:seed=77", 100, 0.01, theirs_text },
    { "rustbloom-bytes", "rustbloom:type=bytes,seed=77", 100, 0.01,
      theirs_text },
    { "pyprobables", "pyprobables", 100, 0.01, theirs_text },
    { "pyprobables-bytes", "pyprobables:type=bytes", 100, 0.01, theirs_text },
    { "rustbloom-int", "rustbloom:type=int,seed=77", 100, 0.01, theirs_long },
    { "orc-long", "orc:type=int", 20, 0.05, theirs_orc_long },
    { "orc-text", "orc", 20, 0.05, theirs_orc_text },
    { "orc-double", "orc:type=double", 20, 0.05, theirs_orc_double },
    { "dcso-poppy", "dcso", 100, 0.01, theirs_text },
    { "poppy", "poppy", 100, 0.01, theirs_text },
    { "poppy-short", "poppy:opt=space", 100, 0.001, theirs_long },
    { "poppy-speed", "poppy:opt=speed", 100, 0.01, theirs_text },
    { "poppy-best", "poppy:opt=best", 1200, 1e-12, theirs_text },
    { "npmbloom", "npmbloom", 100, 0.01, theirs_text },
    { "npmbloom-seed", "npmbloom:seed=4294967295", 10, 0.03, theirs_text },
    { "valkey", "valkey", 100, 0.01, theirs_text },
    { "valkey-seed", "valkey:expansion=0,tightening=250,seed=77", 100, 0.001,
      theirs_text },
};

/* Filters that have grown from a smaller capacity. */
static const struct { theirs one; uint64_t capacity; } theirs_grown[] = {
    { { "valkey-grown", "valkey", 200, 0.01, theirs_text }, 20 },
    { { "valkey-even", "valkey:expansion=1,tightening=850,seed=77", 180, 0.05,
        theirs_text }, 30 },
};

/* Opens their bytes, which must not be taken for those of another format. */
static bly_filter *theirs_open(const theirs *one, const vector *v)
{
    bly_filter *filter = NULL;
    char name[THEIRS_LONGEST];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(one->kind, ":"),
             one->kind);
    const char *found = bly_recognise(v->bytes, v->n, v->n);
    if (found != NULL)
        assert_string_equal(found, name);
    assert_status(vector_open(&filter, v, one->kind), BLY_OK);
    return filter;
}

static void theirs_check(const theirs *one, uint64_t capacity)
{
    print_message("%s\n", one->file);
    char path[512], key[THEIRS_LONGEST];
    vector v = { NULL, 0 };
    snprintf(path, sizeof path, "%s%s.hex", THEIRS_FOLDER, one->file);
    if (!hex_read(path, &v.bytes, &v.n))
        fail_msg("cannot read %s", path);
    bly_filter *filter = theirs_open(one, &v);
    bly_filter *ours = vector_new(one->kind, capacity, one->rate);
    for (uint64_t i = 0; i < one->n; i++) {
        size_t length = one->key(key, i);
        assert_true(bly_contains(filter, key, length));
        assert_true(bly_add(ours, key, length) >= 0);
    }
    vector_is(ours, &v);
    bly_free(ours);
    bly_free(filter);
    free(v.bytes);
}

static void test_their_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof theirs_all / sizeof *theirs_all; i++)
        theirs_check(&theirs_all[i], theirs_all[i].n);
    for (size_t i = 0; i < sizeof theirs_grown / sizeof *theirs_grown; i++)
        theirs_check(&theirs_grown[i].one, theirs_grown[i].capacity);
}

/* Filters whose hashes have another key or seed are not united. */
static void test_other_seeds(void **state)
{
    static const char *const kinds[] = {
        "fastbloom:seed=", "fastbloom:version=15,seed=",
        "fastbloom:version=14,seed=", "fastbloom:version=13,seed=",
        "rustbloom:seed=", "datasketches:seed=", "spark:version=2,seed=",
    };
    const bly_spec spec = { .capacity = 100, .rate = 0.01 };
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bly_filter *filter[2] = { NULL, NULL };
        bly_overlap_t overlap;
        for (size_t j = 0; j < 2; j++) {
            char kind[40];
            snprintf(kind, sizeof kind, "%s%zu", kinds[i], j + 1);
            assert_status(bly_new(&filter[j], kind, &spec), BLY_OK);
        }
        assert_status(bly_unite(filter[0], filter[1]), BLY_EMISMATCH);
        assert_status(bly_overlap(&overlap, filter[0], filter[1]),
                      BLY_EMISMATCH);
        bly_free(filter[0]);
        bly_free(filter[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_their_files),
        cmocka_unit_test(test_other_seeds),
    };
    return cmocka_run_group_tests_name("theirs", tests, NULL, NULL);
}
