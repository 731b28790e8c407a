/* server.c - filters in servers that are saved, killed, replicated and limited;
 * and RedisBloom's filters.
 */
#include "test.h"

#include <poll.h>
#include <signal.h>

#include "redis/client.h"
#include "formats/vectors.h"

/* ---- Contents of a server ------------------------------------------------ */

static size_t redis_item(char text[64], uint64_t i)
{
    return (size_t)snprintf(text, 64, "item:%llu", (unsigned long long)i);
}

enum { REDIS_AT_A_TIME = 50 };

/* Runs a command for n items, in groups, and waits for all replies. */
static void redis_many(client *c, const char *command, const char *key,
                       uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i += REDIS_AT_A_TIME) {
        char text[REDIS_AT_A_TIME][64];
        argument words[2 + REDIS_AT_A_TIME] = {
            { command, strlen(command) }, { key, strlen(key) },
        };
        size_t n = 0;
        for (; n < REDIS_AT_A_TIME && i + n < to; n++)
            words[2 + n] = (argument){ text[n], redis_item(text[n], i + n) };
        client_send(c, 2 + n, words);
        char *answer = client_hear(c);
        assert_non_null(answer);
        assert_null(strchr(answer, '-'));
        free(answer);
    }
}

/* Runs a command for each item. */
static void redis_each(client *c, const char *command, const char *key,
                       uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        char text[64];
        argument words[3] = { { command, strlen(command) },
                              { key, strlen(key) },
                              { text, redis_item(text, i) } };
        client_send(c, 3, words);
    }
    for (uint64_t i = from; i < to; i++) {
        char *answer = client_hear(c);
        assert_non_null(answer);
        assert_true(*answer == ':');
        free(answer);
    }
}

/* Joins all chunks of a key; for BLY.* returns the image. */
static vector redis_chunks(client *c, const char *family, const char *key)
{
    vector all = { NULL, 0 };
    char line[128];
    if (strcmp(family, "BLY") == 0) {
        snprintf(line, sizeof line, "BLY.DUMP %s", key);
        client_say(c, line);
        all.bytes = client_bytes(c, &all.n);
        return all;
    }
    for (long at = 0;;) {
        snprintf(line, sizeof line, "%s.SCANDUMP %s %ld", family, key, at);
        client_say(c, line);
        size_t n;
        at = client_number(c);
        uint8_t *bytes = at == 0 ? NULL : client_bytes(c, &n);
        if (at == 0) {
            free(client_hear(c));
            return all;
        }
        all.bytes = realloc(all.bytes, all.n + n);
        memcpy(all.bytes + all.n, bytes, n);
        all.n += n;
        free(bytes);
    }
}

static void redis_same(client *a, client *b, const char *family,
                       const char *key)
{
    vector one = redis_chunks(a, family, key);
    vector two = redis_chunks(b, family, key);
    assert_true(one.n > 0);
    assert_int_equal(one.n, two.n);
    assert_memory_equal(one.bytes, two.bytes, one.n);
    free(one.bytes);
    free(two.bytes);
}

/* Makes one key of each sort: grown, fixed, large, cuckoo with removals. */
static void redis_fill(client *c)
{
    redis_many(c, "BF.MADD", "grown", 0, 3000);
    assert_answer(c, "BF.RESERVE fixed 0.001 5000 NONSCALING", "+OK");
    redis_many(c, "BF.MADD", "fixed", 0, 3000);
    assert_answer(c, "BF.RESERVE empty 0.01 100 EXPANSION 4", "+OK");
    redis_many(c, "CF.MEXISTS", "nothing", 0, 50);
    redis_each(c, "CF.ADD", "cuckoo", 0, 3000);
    redis_each(c, "CF.DEL", "cuckoo", 0, 300);
    assert_answer(c, "CF.RESERVE wide 100 BUCKETSIZE 4 EXPANSION 2", "+OK");
    redis_each(c, "CF.ADD", "wide", 0, 2000);
    assert_answer(c, "CF.RESERVE bare 1000", "+OK");
    redis_many(c, "BLY.MADD", "held", 0, 5000);
    assert_answer(c, "BLY.NEW counted quotient CAPACITY 5000", "+OK");
    redis_many(c, "BLY.MADD", "counted", 0, 3000);
    redis_many(c, "BLY.MADD", "counted", 0, 300);
    redis_many(c, "BLY.MREMOVE", "counted", 0, 1000);
    assert_answer(c, "BLY.RESIZE counted 9000", "+OK");
    assert_answer(c, "BLY.NEW stream stable CAPACITY 1000 UNKEYED SEED 3",
                  "+OK");
    redis_many(c, "BLY.MADD", "stream", 0, 3000);
    assert_answer(c, "BLY.BUILD frozen fuse ITEMS a b c d e", "+OK");
    assert_answer(c, "BLY.NEW one standard CAPACITY 1000 HASH xxh64", "+OK");
    assert_answer(c, "BLY.NEW other standard CAPACITY 1000 HASH xxh64", "+OK");
    redis_many(c, "BLY.MADD", "one", 0, 500);
    redis_many(c, "BLY.MADD", "other", 300, 900);
    assert_answer(c, "BLY.UNITE both one other", "+OK");
    assert_answer(c, "BLY.NEW labels approximator CAPACITY 100", "+OK");
    assert_answer(c, "BLY.PUT labels a 1 b 2 c 3", ":3");
    assert_answer(c, "BLY.NEW folded cuckoo CAPACITY 100 KEYS "
                  "text:case=lower,trim", "+OK");
    assert_answer(c, "BLY.MADD folded Host1 HOST2 \" host3 \"", "[:1 :1 :1]");
    assert_answer(c, "BLY.NEW numbers standard CAPACITY 100 KEYS number HASH "
                  "xxh64", "+OK");
    assert_answer(c, "BLY.MADD numbers 7 1.5 8.0", "[:1 :1 :1]");
    assert_answer(c, "BLY.NEW hex blocked CAPACITY 100 KEYS hex UNKEYED",
                  "+OK");
    assert_answer(c, "BLY.MADD hex 00ff AB", "[:1 :1]");
    assert_answer(c, "BLY.BUILD built fuse KEYS utf16 ITEMS a b", "+OK");
    assert_answer(c, "BLY.NEW stated standard CAPACITY 100", "+OK");
    assert_answer(c, "BLY.ADD stated x", ":1");
    assert_answer(c, "BLY.STATEKEYS stated text", "+OK");
}

static const struct { const char *family, *key; } redis_keys[] = {
    { "BF", "grown" }, { "BF", "fixed" }, { "BF", "empty" },
    { "CF", "cuckoo" }, { "CF", "wide" }, { "BLY", "held" },
    { "BLY", "counted" }, { "BLY", "stream" }, { "BLY", "frozen" },
    { "BLY", "one" }, { "BLY", "both" }, { "BLY", "labels" },
    { "BLY", "folded" }, { "BLY", "numbers" }, { "BLY", "hex" },
    { "BLY", "built" }, { "BLY", "stated" },
};

enum { REDIS_KEYS = sizeof redis_keys / sizeof *redis_keys };

typedef struct { vector of[REDIS_KEYS]; char *bare, *secret; } redis_state;

static redis_state redis_look(client *c)
{
    redis_state state;
    for (size_t i = 0; i < REDIS_KEYS; i++)
        state.of[i] = redis_chunks(c, redis_keys[i].family, redis_keys[i].key);
    state.bare = client_ask(c, "CF.DEBUG bare");
    state.secret = client_ask(c, "BLY.SECRET held");
    return state;
}

/* Checks that all is unchanged, and frees both. */
static void redis_is_as(redis_state *was, client *c)
{
    redis_state now = redis_look(c);
    for (size_t i = 0; i < REDIS_KEYS; i++) {
        assert_true(was->of[i].n > 0);
        assert_int_equal(now.of[i].n, was->of[i].n);
        assert_memory_equal(now.of[i].bytes, was->of[i].bytes, now.of[i].n);
        free(now.of[i].bytes);
        free(was->of[i].bytes);
    }
    assert_string_equal(now.bare, was->bare);
    assert_string_equal(now.secret, was->secret);
    free(now.secret);
    free(was->secret);
    free(now.bare);
    free(was->bare);
}

static bool redis_skips(void)
{
    if (server_is_there())
        return false;
    printf("skipped: no redis-server, or no module\n");
    return true;
}

/* ---- RedisBloom's -------------------------------------------------------- */

static void redis_is_theirs(client *c, const char *family, const char *key,
                            const char *file)
{
    vector theirs = vector_chunks(file);
    vector ours = redis_chunks(c, family, key);
    assert_int_equal(ours.n, theirs.n);
    assert_memory_equal(ours.bytes, theirs.bytes, ours.n);
    free(theirs.bytes);
    free(ours.bytes);
}

static void test_their_bits(void **state)
{
    (void)state;
    if (redis_skips())
        skip();
    server s = { .port = 0 };
    server_start(&s, "--save ''");
    client c = client_open(&s, 2);
    assert_answer(&c, "BF.RESERVE small 0.01 100", "+OK");
    redis_many(&c, "BF.MADD", "small", 0, 100);
    redis_is_theirs(&c, "BF", "small", "redisbloom/bf_small.chunks");
    assert_answer(&c, "BF.RESERVE scaled 0.01 100 EXPANSION 2", "+OK");
    redis_each(&c, "BF.ADD", "scaled", 0, 1500);
    redis_is_theirs(&c, "BF", "scaled", "redisbloom/bf_scaled.chunks");
    assert_answer(&c, "BF.INFO scaled", "[+Capacity :1500 +Size :2976 +Number "
                  "of filters :4 +Number of items inserted :1491 +Expansion "
                  "rate :2]");
    assert_answer(&c, "CF.RESERVE cuckoo 1000", "+OK");
    redis_each(&c, "CF.ADD", "cuckoo", 0, 500);
    redis_is_theirs(&c, "CF", "cuckoo", "redisbloom/cf_small.chunks");
    client_close(&c);
    server_remove(&s);
}

/* A dump made by their server is accepted, and equals ours byte for byte, up to
 * the version and checksum at its end. */
static void test_their_dump(void **state)
{
    (void)state;
    if (redis_skips())
        skip();
    vector hex = vector_read("redisbloom/bf_small.rdbdump.hex");
    uint8_t bytes[1024];
    char *text = calloc(1, hex.n + 1);
    memcpy(text, hex.bytes, hex.n);
    text[strspn(text, "0123456789abcdef")] = '\0';
    size_t n = vector_hex(bytes, text);
    server s = { .port = 0 };
    server_start(&s, "--save ''");
    client c = client_open(&s, 2);
    argument words[] = { { "RESTORE", 7 }, { "key", 3 }, { "0", 1 },
                         { bytes, n } };
    client_send(&c, 4, words);
    char *answer = client_hear(&c);
    assert_string_equal(answer, "+OK");
    free(answer);
    redis_is_theirs(&c, "BF", "key", "redisbloom/bf_small.chunks");
    client_say(&c, "DUMP key");
    size_t has;
    uint8_t *dump = client_bytes(&c, &has);
    assert_int_equal(has, n);
    assert_memory_equal(dump, bytes, n - 10);
    free(dump);
    free(text);
    free(hex.bytes);
    client_close(&c);
    server_remove(&s);
}

/* Counts from their clients' own tests. */
static void test_their_counts(void **state)
{
    (void)state;
    if (redis_skips())
        skip();
    server s = { .port = 0 };
    server_start(&s, "--save ''");
    client c = client_open(&s, 2);
    static const struct { const char *reserve; int n; const char *card; }
    counts[] = {
        { "BF.RESERVE a 0.01 10", 100, ":99" },
        { "BF.RESERVE b 0.001 100", 4000, ":3997" },
    };
    for (size_t i = 0; i < 2; i++) {
        char line[64];
        assert_answer(&c, counts[i].reserve, "+OK");
        for (int j = 0; j < counts[i].n; j++) {
            snprintf(line, sizeof line, "BF.ADD %c %d", "ab"[i], j);
            free(client_ask(&c, line));
        }
        snprintf(line, sizeof line, "BF.CARD %c", "ab"[i]);
        assert_answer(&c, line, counts[i].card);
    }
    client_close(&c);
    server_remove(&s);
}

/* A cuckoo filter created implicitly grows to 32 tables of 1024 slots. */
static void test_most_tables(void **state)
{
    (void)state;
    if (redis_skips())
        skip();
    server s = { .port = 0 };
    server_start(&s, "--save ''");
    client c = client_open(&s, 2);
    char line[64];
    uint64_t i = 0;
    for (;; i++) {
        snprintf(line, sizeof line, "CF.ADD a item:%d", (int)i);
        char *answer = client_ask(&c, line);
        bool more = strcmp(answer, ":1") == 0;
        if (!more)
            assert_string_equal(answer, "-Maximum expansions reached");
        free(answer);
        if (!more)
            break;
    }
    assert_in_range(i, 29000, 31 * 1024 + 1);
    assert_answer(&c, "CF.INSERT a ITEMS x", "-Maximum expansions reached");
    client_close(&c);
    server_remove(&s);
}

/* ---- Restarts ------------------------------------------------------------ */

static void redis_restart(const char *options, int signal, const char *before)
{
    server s = { .port = 0 };
    server_start(&s, options);
    client c = client_open(&s, 2);
    redis_fill(&c);
    if (before != NULL)
        free(client_ask(&c, before));
    redis_state was = redis_look(&c);
    client_close(&c);
    server_end(&s, signal);
    server_start(&s, options);
    c = client_open(&s, 2);
    redis_is_as(&was, &c);
    redis_many(&c, "BF.MEXISTS", "grown", 0, 3000);
    /* new filters use the secret of those it has */
    assert_answer(&c, "BLY.NEW later quotient CAPACITY 9000", "+OK");
    assert_answer(&c, "BLY.RESIZE later 9001", "+OK");
    char *first = client_ask(&c, "BLY.SECRET counted");
    assert_answer(&c, "BLY.SECRET later", first);
    free(first);
    client_close(&c);
    server_remove(&s);
}

static void test_restart_from_dump(void **state)
{
    (void)state;
    if (redis_skips())
        skip();
    redis_restart("--save 1000 1", SIGTERM, NULL);
}

static void test_restart_from_log(void **state)
{
    (void)state;
    if (redis_skips())
        skip();
    redis_restart("--save '' --appendonly yes --aof-use-rdb-preamble no",
                  SIGTERM, NULL);
}

/* Acknowledged changes survive a kill. */
static void test_restart_after_kill(void **state)
{
    (void)state;
    if (redis_skips())
        skip();
    redis_restart("--save '' --appendonly yes --appendfsync always", SIGKILL,
                  NULL);
}

/* The file is rewritten from the filters, and commands are appended. */
static void test_rewritten_log(void **state)
{
    (void)state;
    if (redis_skips())
        skip();
    const char *options = "--save '' --appendonly yes "
                          "--aof-use-rdb-preamble no";
    server s = { .port = 0 };
    server_start(&s, options);
    client c = client_open(&s, 2);
    redis_fill(&c);
    char *answer = client_ask(&c, "BGREWRITEAOF");
    assert_true(*answer == '+');
    for (;;) {
        free(answer);
        answer = client_ask(&c, "INFO persistence");
        if (strstr(answer, "aof_rewrite_in_progress:0") != NULL
            && strstr(answer, "aof_rewrite_scheduled:0") != NULL)
            break;
        poll(NULL, 0, 20);
    }
    assert_non_null(strstr(answer, "aof_last_bgrewrite_status:ok"));
    free(answer);
    redis_many(&c, "BF.MADD", "grown", 3000, 4000);
    redis_each(&c, "CF.ADD", "cuckoo", 3000, 3500);
    redis_many(&c, "BLY.MADD", "held", 5000, 9000);
    redis_state was = redis_look(&c);
    client_close(&c);
    server_end(&s, SIGTERM);
    server_start(&s, options);
    c = client_open(&s, 2);
    redis_is_as(&was, &c);
    client_close(&c);
    server_remove(&s);
}

/* ---- Replicas ------------------------------------------------------------ */

static void redis_follow(client *master)
{
    assert_answer(master, "WAIT 1 60000", ":1");
}

/* While clients are paused nothing may go to replicas; a server that tries
 * aborts. */
static void test_pause(void **state)
{
    (void)state;
    if (redis_skips())
        skip();
    server s = { .port = -1 };
    server_start(&s, "--save '' --appendonly yes");
    client a = client_open(&s, 2);
    redis_fill(&a);
    assert_answer(&a, "CLIENT PAUSE 300 WRITE", "+OK");
    assert_answer(&a, "CF.COMPACT wide", "+OK");
    assert_answer(&a, "PING", "+PONG");
    client_close(&a);
    server_remove(&s);
}

/* A replica has the same filters, made before and after it connects, although
 * its own settings differ. */
static void test_replica(void **state)
{
    (void)state;
    if (redis_skips())
        skip();
    server one = { .port = -1 }, two = { .port = 0 };
    server_start(&one, "--save '' --repl-diskless-sync-delay 0");
    client a = client_open(&one, 2);
    redis_fill(&a);
    char options[512];
    snprintf(options, sizeof options, "bf-initial-size 7 cf-initial-size 64 "
             "bf-error-rate 0.2 bly-initial-size 9 bly-kind scalable "
             "bf-expansion-factor 5 cf-bucket-size 4 cf-max-iterations 3 "
             "cf-expansion-factor 4 cf-max-expansions 1 "
             "--save '' --replicaof 127.0.0.1 %d", one.port);
    server_start(&two, options);
    client b = client_open(&two, 2);
    redis_follow(&a);
    for (size_t i = 0; i < REDIS_KEYS; i++)
        redis_same(&a, &b, redis_keys[i].family, redis_keys[i].key);
    assert_answer(&a, "BF.ADD alone x", ":1");
    assert_answer(&a, "BF.RESERVE told 0.01 10", "+OK");
    redis_many(&a, "BF.MADD", "told", 0, 300);
    assert_answer(&a, "BF.RESERVE bounded 0.01 10 NONSCALING", "+OK");
    assert_answer(&a, "CF.RESERVE kept 8", "+OK");
    redis_each(&a, "CF.ADD", "kept", 0, 100);
    assert_answer(&a, "BF.INSERT own CAPACITY 77 ERROR 0.003 ITEMS x y",
                  "[:1 :1]");
    assert_answer(&a, "CF.ADD tables x", ":1");
    assert_answer(&a, "CF.INSERT others CAPACITY 500 ITEMS x y", "[:1 :1]");
    redis_many(&a, "BF.MADD", "grown", 3000, 6000);
    redis_each(&a, "CF.DEL", "cuckoo", 300, 1500);
    assert_answer(&a, "CF.COMPACT wide", "+OK");
    redis_many(&a, "BLY.MADD", "held", 5000, 9000);
    redis_each(&a, "BLY.ADD", "stream", 3000, 5000);
    assert_answer(&a, "BLY.PUT labels x 8 a 9", ":2");
    assert_answer(&a, "BLY.INTERSECT both one other", "+OK");
    assert_answer(&a, "BLY.ADD auto x", ":1");
    assert_answer(&a, "BLY.NEW later quotient CAPACITY 100 KEYS "
                  "text:case=upper", "+OK");
    assert_answer(&a, "BLY.MADD later x Y", "[:1 :1]");
    assert_answer(&a, "BLY.MADD numbers 9 10", "[:1 :1]");
    redis_follow(&a);
    assert_answer(&b, "BLY.MCONTAINS later X y z", "[:1 :1 :0]");
    assert_answer(&b, "BLY.MCONTAINS folded hOST1 \" host2\"", "[:1 :1]");
    redis_same(&a, &b, "BLY", "later");
    for (size_t i = 0; i < REDIS_KEYS; i++)
        redis_same(&a, &b, redis_keys[i].family, redis_keys[i].key);
    redis_same(&a, &b, "BF", "alone");
    redis_same(&a, &b, "BLY", "auto");
    redis_same(&a, &b, "BF", "own");
    redis_same(&a, &b, "BF", "told");
    redis_same(&a, &b, "BF", "bounded");
    redis_same(&a, &b, "CF", "kept");
    redis_same(&a, &b, "CF", "tables");
    redis_same(&a, &b, "CF", "others");
    assert_answer(&b, "CF.COMPACT cuckoo", "-READONLY You can't write against "
                  "a read only replica.");
    redis_same(&a, &b, "CF", "cuckoo");
    client_close(&a);
    client_close(&b);
    server_remove(&two);
    server_remove(&one);
}

/* Chunks also go to replicas and into the file. */
static void test_chunks_are_replicated(void **state)
{
    (void)state;
    if (redis_skips())
        skip();
    server one = { .port = -1 }, two = { .port = 0 };
    server_start(&one, "--save '' --repl-diskless-sync-delay 0");
    client a = client_open(&one, 2);
    redis_fill(&a);
    char options[128];
    snprintf(options, sizeof options, "--save '' --replicaof 127.0.0.1 %d",
             one.port);
    server_start(&two, options);
    client b = client_open(&two, 2);
    redis_follow(&a);
    for (size_t i = 0; i < REDIS_KEYS; i++) {
        char line[64], load[32];
        const char *family = redis_keys[i].family;
        if (strcmp(family, "BLY") == 0)
            continue;                   /* has one image                     */
        snprintf(load, sizeof load, "%s.LOADCHUNK", family);
        for (long at = 0;;) {
            snprintf(line, sizeof line, "%s.SCANDUMP %s %ld", family,
                     redis_keys[i].key, at);
            client_say(&a, line);
            at = client_number(&a);
            if (at == 0) {
                free(client_hear(&a));
                break;
            }
            size_t n;
            uint8_t *bytes = client_bytes(&a, &n);
            char number[32], copy[32];
            int digits = snprintf(number, sizeof number, "%ld", at);
            int letters = snprintf(copy, sizeof copy, "copy%zu", i);
            argument words[] = { { load, strlen(load) },
                                 { copy, (size_t)letters },
                                 { number, (size_t)digits }, { bytes, n } };
            client_send(&a, 4, words);
            char *answer = client_hear(&a);
            assert_string_equal(answer, "+OK");
            free(answer);
            free(bytes);
        }
        char copy[32];
        snprintf(copy, sizeof copy, "copy%zu", i);
        redis_follow(&a);
        redis_same(&a, &b, family, copy);
        vector was = redis_chunks(&a, family, redis_keys[i].key);
        vector now = redis_chunks(&b, family, copy);
        assert_int_equal(was.n, now.n);
        assert_memory_equal(was.bytes, now.bytes, was.n);
        free(was.bytes);
        free(now.bytes);
    }
    client_close(&a);
    client_close(&b);
    server_remove(&two);
    server_remove(&one);
}

/* ---- Settings and limits ------------------------------------------------- */

static void test_settings(void **state)
{
    (void)state;
    if (redis_skips())
        skip();
    server s = { .port = 0 };
    server_start(&s, "INITIAL_SIZE 50 ERROR_RATE 0.001 CF_MAX_EXPANSIONS 2 "
                 "cf-bucket-size 4 --save ''");
    client c = client_open(&s, 2);
    assert_answer(&c, "BF.ADD a x", ":1");
    assert_answer(&c, "BF.DEBUG a", "[\"size:1\" \"bytes:104 bits:832 "
                  "hashes:11 hashwidth:64 capacity:50 size:1 ratio:0.0005\"]");
    assert_answer(&c, "CONFIG GET bf.bf-initial-size",
                  "[\"bf.bf-initial-size\" \"50\"]");
    assert_answer(&c, "CONFIG SET bf.bf-initial-size 70", "+OK");
    assert_answer(&c, "CONFIG SET bf.bf-error-rate 0.05", "+OK");
    assert_answer(&c, "BF.ADD b x", ":1");
    assert_answer(&c, "BF.INFO b CAPACITY", "[:70]");
    assert_answer(&c, "CONFIG SET bf.bf-expansion-factor 0", "+OK");
    assert_answer(&c, "BF.ADD c x", ":1");
    assert_answer(&c, "BF.INFO c EXPANSION", "[_]");
    assert_answer(&c, "CF.ADD d x", ":1");
    assert_answer(&c, "CF.DEBUG d", "\"bktsize:4 buckets:256 items:1 deletes:0 "
                  "filters:1 max_iterations:20 expansion:1\"");
    static const char *const wrong[] = {
        "CONFIG SET bf.bf-initial-size 0",
        "CONFIG SET bf.bf-error-rate 1",
        "CONFIG SET bf.bf-error-rate x",
        "CONFIG SET bf.cf-bucket-size 256",
        "CONFIG SET bf.cf-max-expansions 65537",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *answer = client_ask(&c, wrong[i]);
        assert_true(*answer == '-');
        if (i == 1)
            assert_non_null(strstr(answer, "must be in the range"));
        free(answer);
    }
    client_close(&c);
    server_remove(&s);
}

/* A server with invalid settings does not start, and its log says why. */
static void test_wrong_settings(void **state)
{
    (void)state;
    static const struct { const char *options, *why; } wrong[] = {
        { "bf-initial-size 0", "bf-initial-size must be in the range" },
        { "ERROR_RATE 1", "bf-error-rate must be in the range" },
        { "bf-error-rate x", "bf-error-rate must be in the range" },
        { "cf-bucket-size 256", "cf-bucket-size must be in the range" },
        { "WHAT 1", "'WHAT' is not a setting of this module" },
        { "INITIAL_SIZE", "pairs of a name and a value" },
    };
    if (redis_skips())
        skip();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        server s = { .port = 0 };
        char *log = server_refuses(&s, wrong[i].options);
        assert_non_null(strstr(log, wrong[i].why));
        free(log);
        server_remove(&s);
    }
    server s = { .port = 0 };
    char twice[256];
    snprintf(twice, sizeof twice, "--loadmodule %s",
             getenv("BLY_REDIS_MODULE"));
    char *log = server_refuses(&s, twice);
    assert_non_null(strstr(log, "is already loaded"));
    free(log);
    server_remove(&s);
}

/* A request beyond the memory limit is refused, and everything else works. */
static void test_limits(void **state)
{
    (void)state;
    if (redis_skips())
        skip();
    server s = { .port = 0 };
    server_start(&s, "--save '' --maxmemory 64mb --maxmemory-policy "
                 "noeviction");
    client c = client_open(&s, 2);
    assert_answer(&c, "BF.RESERVE a 0.01 1000000000",
                  "-ERR Insufficient memory to create filter");
    assert_answer(&c, "BF.INSERT a CAPACITY 1000000000 ITEMS x",
                  "-ERR Insufficient memory to create filter");
    assert_answer(&c, "CF.RESERVE a 1000000000", "-ERR Insufficient memory");
    assert_answer(&c, "BF.RESERVE a 0.01 1000000", "+OK");
    assert_answer(&c, "BF.RESERVE b 0.01 3 EXPANSION 32768", "+OK");
    assert_answer(&c, "BF.MADD b x y z", "[:1 :1 :1]");
    assert_answer(&c, "CONFIG SET maxmemory 8mb", "+OK");
    assert_answer(&c, "CF.RESERVE d 5000000", "-ERR Insufficient memory");
    assert_answer(&c, "BF.EXISTS b x", ":1");
    client_close(&c);
    server_remove(&s);
}

/* If two filters are made at once, only one fits. */
static void test_limit_is_shared(void **state)
{
    (void)state;
    if (redis_skips())
        skip();
    server s = { .port = 0 };
    server_start(&s, "--save '' --maxmemory 64mb --maxmemory-policy "
                 "noeviction");
    client clients[2] = { client_open(&s, 2), client_open(&s, 2) };
    size_t made = 0;
    for (size_t i = 0; i < 2; i++) {
        argument words[] = { { "BLY.NEW", 7 }, { i == 0 ? "a" : "b", 1 },
                             { "standard", 8 }, { "CAPACITY", 8 },
                             { "40000000", 8 } };
        client_send(&clients[i], 5, words);
    }
    for (size_t i = 0; i < 2; i++) {
        char *answer = client_hear(&clients[i]);
        assert_non_null(answer);
        made += strcmp(answer, "+OK") == 0;
        free(answer);
    }
    assert_int_equal(made, 1);
    for (size_t i = 0; i < 2; i++)
        client_close(&clients[i]);
    server_remove(&s);
}

/* A filter that cannot grow reports that and does not change. */
static void test_growth_is_refused(void **state)
{
    (void)state;
    if (redis_skips())
        skip();
    server s = { .port = 0 };
    server_start(&s, "--save '' --maxmemory 32mb --maxmemory-policy "
                 "noeviction");
    client c = client_open(&s, 2);
    assert_answer(&c, "BF.RESERVE a 0.01 2000 EXPANSION 32768", "+OK");
    redis_many(&c, "BF.MADD", "a", 0, 2000);
    vector was = redis_chunks(&c, "BF", "a");
    char line[64];
    bool refused = false;
    for (int i = 2000; i < 2100 && !refused; i++) {
        snprintf(line, sizeof line, "BF.ADD a item:%d", i);
        char *answer = client_ask(&c, line);
        refused = strcmp(answer, "-ERR problem inserting into filter") == 0;
        free(answer);
    }
    assert_true(refused);
    vector now = redis_chunks(&c, "BF", "a");
    assert_int_equal(was.n, now.n);
    redis_many(&c, "BF.MEXISTS", "a", 0, 2000);
    free(was.bytes);
    free(now.bytes);
    client_close(&c);
    server_remove(&s);
}

/* ---- Server commands on any key ------------------------------------------ */

static void test_events(void **state)
{
    (void)state;
    if (redis_skips())
        skip();
    server s = { .port = 0 };
    server_start(&s, "--save '' --notify-keyspace-events Ed");
    client c = client_open(&s, 2), listens = client_open(&s, 2);
    free(client_ask(&listens, "PSUBSCRIBE *"));
    static const char *const commands[][2] = {
        { "BF.RESERVE a 0.01 100", "bf.reserve" }, { "BF.ADD a x", "bf.add" },
        { "BF.MADD a x y", "bf.madd" }, { "CF.ADD b x", "cf.add" },
        { "CF.DEL b x", "cf.del" },
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char wanted[128];
        free(client_ask(&c, commands[i][0]));
        char *heard = client_hear(&listens);
        snprintf(wanted, sizeof wanted, "[\"pmessage\" \"*\" "
                 "\"__keyevent@0__:%s\" \"%c\"]", commands[i][1],
                 commands[i][0][0] == 'B' ? 'a' : 'b');
        assert_string_equal(heard, wanted);
        free(heard);
    }
    /* no event without a change */
    assert_answer(&c, "BF.ADD a x", ":0");
    assert_answer(&c, "BF.ADD a z", ":1");
    char *heard = client_hear(&listens);
    assert_string_equal(heard, "[\"pmessage\" \"*\" "
                        "\"__keyevent@0__:bf.add\" \"a\"]");
    free(heard);
    client_close(&c);
    client_close(&listens);
    server_remove(&s);
}

/* Equal filters have equal digests, others do not. */
static void test_digests(void **state)
{
    (void)state;
    if (redis_skips())
        skip();
    server s = { .port = 0 };
    server_start(&s, "--save ''");
    client c = client_open(&s, 2);
    redis_fill(&c);
    static const char *const keys[] = { "grown", "cuckoo" };
    for (size_t i = 0; i < 2; i++) {
        char line[128], *was, *now;
        snprintf(line, sizeof line, "COPY %s twin%zu", keys[i], i);
        assert_answer(&c, line, ":1");
        snprintf(line, sizeof line, "DEBUG DIGEST-VALUE %s", keys[i]);
        was = client_ask(&c, line);
        snprintf(line, sizeof line, "DEBUG DIGEST-VALUE twin%zu", i);
        now = client_ask(&c, line);
        assert_string_equal(was, now);
        free(now);
        redis_each(&c, i == 0 ? "BF.ADD" : "CF.ADD",
                   i == 0 ? "twin0" : "twin1", 70000, 70010);
        now = client_ask(&c, line);
        assert_string_not_equal(was, now);
        free(was);
        free(now);
    }
    client_close(&c);
    server_remove(&s);
}

/* MEMORY USAGE reports a key's bytes, with its name and its place among the
 * keys; another allocator takes some bytes less. */
static void test_usage(void **state)
{
    (void)state;
    if (redis_skips())
        skip();
    server s = { .port = 0 };
    server_start(&s, "--save ''");
    client c = client_open(&s, 2);
    assert_answer(&c, "CF.RESERVE a 1000", "+OK");
    char *answer = client_ask(&c, "MEMORY USAGE a");
    long bytes = strtol(answer + 1, NULL, 10);
    free(answer);
    assert_in_range(bytes, 1080 + 16, 1112);
    if (!TEST_SANITIZED)
        assert_int_equal(bytes, 1112);
    assert_answer(&c, "BF.RESERVE b 0.001 100", "+OK");
    answer = client_ask(&c, "MEMORY USAGE b");
    assert_int_equal(strtol(answer + 1, NULL, 10), bytes - 1080 + 296);
    free(answer);
    client_close(&c);
    server_remove(&s);
}

/* The log names filters too small for their rate, and no others. */
static void logs_the_rate_of_a_hopeless_shape(void **state)
{
    (void)state;
    if (redis_skips())
        skip();
    server s = { .port = 0 };
    server_start(&s, "--save ''");
    client c = client_open(&s, 2);
    assert_answer(&c, "BF.RESERVE usual 0.01 100", "+OK");
    assert_answer(&c, "BF.RESERVE large 0.0001 1000000", "+OK");
    assert_answer(&c, "BF.RESERVE fixed 0.01 1000 NONSCALING", "+OK");
    char *log = server_log(&s);
    assert_null(strstr(log, "reserved for"));
    free(log);
    assert_answer(&c, "BF.RESERVE hopeless 0.01 1 EXPANSION 1", "+OK");
    assert_answer(&c, "BF.RESERVE small 0.0001 20 NONSCALING", "+OK");
    log = server_log(&s);
    assert_non_null(strstr(log, "a filter reserved for 1 items at an error "
                                "rate of 0.01 has a rate of 0.0"));
    assert_non_null(strstr(log, "with 8 items, and a higher one as it grows: "
                                "reserve a larger capacity"));
    assert_non_null(strstr(log, "with 20 items: reserve a larger capacity"));
    free(log);
    client_close(&c);
    server_remove(&s);
}

/* Arities, flags and access lists, as in COMMAND INFO. */
static void test_commands(void **state)
{
    (void)state;
    static const struct { const char *name; int arity; const char *flags; }
    commands[] = {
        { "bf.reserve", -4, "write denyoom" }, { "bf.add", 3, "write denyoom" },
        { "bf.madd", -3, "write denyoom" },
        { "bf.insert", -4, "write denyoom" },
        { "bf.exists", 3, "readonly fast" },
        { "bf.mexists", -3, "readonly fast" },
        { "bf.info", -2, "readonly fast" }, { "bf.card", 2, "readonly fast" },
        { "bf.scandump", 3, "readonly fast" },
        { "bf.loadchunk", 4, "write denyoom" },
        { "bf.debug", 2, "readonly fast" },
        { "cf.reserve", -3, "write denyoom" }, { "cf.add", 3, "write denyoom" },
        { "cf.addnx", 3, "write denyoom" },
        { "cf.insert", -4, "write denyoom" },
        { "cf.insertnx", -4, "write denyoom" },
        { "cf.exists", 3, "readonly fast" },
        { "cf.mexists", -3, "readonly fast" },
        { "cf.count", 3, "readonly fast" }, { "cf.del", 3, "write fast" },
        { "cf.compact", -1, "write fast" },
        { "cf.info", 2, "readonly fast" },
        { "cf.scandump", 3, "readonly fast" },
        { "cf.loadchunk", 4, "write denyoom" },
        { "cf.debug", 2, "readonly fast" },
    };
    if (redis_skips())
        skip();
    server s = { .port = 0 };
    server_start(&s, "--save ''");
    client c = client_open(&s, 2);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char line[64], wanted[128];
        snprintf(line, sizeof line, "COMMAND INFO %s", commands[i].name);
        snprintf(wanted, sizeof wanted, "[[\"%s\" :%d [", commands[i].name,
                 commands[i].arity);
        char *answer = client_ask(&c, line);
        assert_int_equal(strncmp(answer, wanted, strlen(wanted)), 0);
        const char *flags = strchr(answer + 2, '[');
        size_t n = strcspn(flags, "]"), said = 0;
        for (const char *at = commands[i].flags; *at != '\0';) {
            size_t length = strcspn(at, " ");
            snprintf(wanted, sizeof wanted, "+%.*s", (int)length, at);
            const char *is = strstr(flags, wanted);
            assert_true(is != NULL && is < flags + n);
            said += strlen(wanted) + 1;
            at += length + (at[length] == ' ');
        }
        assert_int_equal(n, said + strlen("+module") + 1);
        assert_non_null(strstr(answer, "] :1 :1 :1 "));
        free(answer);
        snprintf(line, sizeof line, "COMMAND DOCS %s", commands[i].name);
        answer = client_ask(&c, line);
        assert_non_null(strstr(answer, "\"summary\""));
        assert_non_null(strstr(answer, "\"arguments\" [[\"name\" \"key\" "
                               "\"type\" \"key\""));
        free(answer);
    }
    client_close(&c);
    server_remove(&s);
}

/* Clients compare the version with RedisBloom's before they use commands. */
static void test_the_version_is_that_of_redisbloom(void **state)
{
    (void)state;
    if (redis_skips())
        skip();
    server s = { .port = 0 };
    server_start(&s, "--save ''");
    client c = client_open(&s, 2);
    client_say(&c, "MODULE LIST");
    char *answer = client_hear(&c);
    assert_non_null(strstr(answer, "\"name\" \"bf\" \"ver\" :20800"));
    free(answer);
    client_close(&c);
    server_remove(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_their_bits),
        cmocka_unit_test(test_their_dump),
        cmocka_unit_test(test_their_counts),
        cmocka_unit_test(test_most_tables),
        cmocka_unit_test(test_restart_from_dump),
        cmocka_unit_test(test_restart_from_log),
        cmocka_unit_test(test_restart_after_kill),
        cmocka_unit_test(test_rewritten_log),
        cmocka_unit_test(test_replica),
        cmocka_unit_test(test_pause),
        cmocka_unit_test(test_chunks_are_replicated),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_wrong_settings),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_limit_is_shared),
        cmocka_unit_test(test_growth_is_refused),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_digests),
        cmocka_unit_test(test_usage),
        cmocka_unit_test(test_the_version_is_that_of_redisbloom),
        cmocka_unit_test(test_commands),
        cmocka_unit_test(logs_the_rate_of_a_hopeless_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
