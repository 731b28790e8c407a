/* bly.c - filters of BLY.*: large ones, with work in background threads;
 * secrets; and images exchanged with the command.
 */
#include "test.h"

#include <signal.h>
#include <unistd.h>

#include "bloomery/fields.h"
#include "redis/client.h"

static server bly_server;
static client bly_client;

static bool bly_begin(const char *options)
{
    if (!server_is_there())
        return false;
    bly_server = (server){ .port = 0 };
    server_start(&bly_server, options);
    bly_client = client_open(&bly_server, 2);
    return true;
}

static void bly_end(void)
{
    client_close(&bly_client);
    server_remove(&bly_server);
}

static void bly_say_many(client *c, const char *command, const char *key,
                         int from, int to)
{
    for (int i = from; i < to; i++) {
        char line[128];
        snprintf(line, sizeof line, "%s %s item:%d", command, key, i);
        client_say(c, line);
    }
}

static void bly_hear_many(client *c, int n, const char *wanted)
{
    for (int i = 0; i < n; i++) {
        char *answer = client_hear(c);
        assert_non_null(answer);
        if (wanted != NULL)
            assert_string_equal(answer, wanted);
        free(answer);
    }
}

/* Makes filters of several MiB, which are processed in the background. */
static void bly_large(client *c)
{
    assert_answer(c, "BLY.NEW a standard CAPACITY 8000000 UNKEYED", "+OK");
    assert_answer(c, "BLY.NEW b standard CAPACITY 8000000 UNKEYED", "+OK");
    bly_say_many(c, "BLY.ADD", "a", 0, 1000);
    bly_hear_many(c, 1000, ":1");
    bly_say_many(c, "BLY.ADD", "b", 500, 1500);
    bly_hear_many(c, 1000, ":1");
}

/* ---- Background work ----------------------------------------------------- */

static void test_large(void **state)
{
    (void)state;
    if (!bly_begin("--save ''"))
        skip();
    client *c = &bly_client;
    bly_large(c);
    assert_answer(c, "BLY.UNITE c a b", "+OK");
    bly_say_many(c, "BLY.CONTAINS", "c", 0, 1500);
    bly_hear_many(c, 1500, ":1");
    assert_answer(c, "BLY.INTERSECT d a b", "+OK");
    bly_say_many(c, "BLY.CONTAINS", "d", 500, 1000);
    bly_hear_many(c, 500, ":1");
    assert_answer(c, "BLY.CONTAINS d item:0", ":0");
    char *answer = client_ask(c, "BLY.OVERLAP a b");
    assert_non_null(strstr(answer, "+Jaccard"));
    free(answer);
    answer = client_ask(c, "BLY.INFO c");
    assert_non_null(strstr(answer, "+items :1500"));
    free(answer);
    assert_answer(c, "BLY.NEW q quotient CAPACITY 4000000", "+OK");
    bly_say_many(c, "BLY.ADD", "q", 0, 500);
    bly_hear_many(c, 500, ":1");
    assert_answer(c, "BLY.RESIZE q 9000000", "+OK");
    answer = client_ask(c, "BLY.RESIZE q 18446744073709551615");
    assert_true(strncmp(answer, "-ERR ", 5) == 0);
    free(answer);
    bly_say_many(c, "BLY.COUNT", "q", 0, 500);
    bly_hear_many(c, 500, ":1");
    bly_end();
}

/* A client's changes wait while another's work reads the filter, and none is
 * lost; a deleted filter is kept as long as it is read. */
static void test_beside(void **state)
{
    (void)state;
    if (!bly_begin("--save ''"))
        skip();
    client *c = &bly_client;
    client other = client_open(&bly_server, 2);
    bly_large(c);
    for (int i = 0; i < 10; i++) {
        client_say(c, "BLY.UNITE c a b");
        client_say(&other, "PING");
        bly_say_many(&other, "BLY.ADD", "a", 2000 + 10 * i, 2010 + 10 * i);
        client_say(&other, "BLY.CONTAINS a item:600");
        bly_hear_many(&other, 1, "+PONG");
        bly_hear_many(&other, 11, ":1");
        bly_hear_many(c, 1, "+OK");
        bly_say_many(&other, "BLY.CONTAINS", "a", 2000 + 10 * i, 2010 + 10 * i);
        bly_hear_many(&other, 10, ":1");
        client_say(c, "BLY.UNITE c a b");
        client_say(&other, "RENAME a e");
        client_say(&other, "BLY.UNITE d e b");
        client_say(&other, "DEL e");
        client_say(&other, "COPY b a");
        bly_hear_many(c, 1, NULL);
        bly_hear_many(&other, 1, "+OK");
        bly_hear_many(&other, 1, "+OK");
        bly_hear_many(&other, 2, ":1");
    }
    client_close(&other);
    bly_end();
}

/* Changes that wait for one job are not refused because another began to read
 * in its place before they were repeated. */
static void test_nobody_is_refused(void **state)
{
    (void)state;
    if (!bly_begin("--save ''"))
        skip();
    enum { WORKS = 8, ADDS = 60, ADDERS = 2 };
    client *c = &bly_client, resizes = client_open(&bly_server, 2);
    client overlaps = client_open(&bly_server, 2), adders[ADDERS];
    assert_answer(c, "BLY.NEW q quotient CAPACITY 3000000 RATE 0.0001", "+OK");
    for (int i = 0; i < ADDERS; i++)
        adders[i] = client_open(&bly_server, 2);
    for (int i = 0; i < WORKS; i++) {
        client_say(&resizes, i % 2 == 0 ? "BLY.RESIZE q 4000000"
                                        : "BLY.RESIZE q 3000000");
        client_say(&overlaps, "BLY.OVERLAP q q");
    }
    for (int i = 0; i < ADDERS; i++)
        bly_say_many(&adders[i], "BLY.ADD", "q", ADDS * i, ADDS * (i + 1));
    for (int i = 0; i < ADDERS; i++)
        bly_hear_many(&adders[i], ADDS, ":1");
    bly_hear_many(&resizes, WORKS, "+OK");
    bly_hear_many(&overlaps, WORKS, NULL);
    bly_say_many(c, "BLY.CONTAINS", "q", 0, ADDS * ADDERS);
    bly_hear_many(c, ADDS * ADDERS, ":1");
    for (int i = 0; i < ADDERS; i++)
        client_close(&adders[i]);
    client_close(&resizes);
    client_close(&overlaps);
    bly_end();
}

/* A client that leaves during its work has no effect, and those waiting for it
 * are served. */
static void test_gone(void **state)
{
    (void)state;
    if (!bly_begin("--save ''"))
        skip();
    client *c = &bly_client;
    bly_large(c);
    for (int i = 0; i < 10; i++) {
        client gone = client_open(&bly_server, 2);
        client_say(&gone, "BLY.UNITE c a b");
        client_close(&gone);
        bly_say_many(c, "BLY.ADD", "b", 3000 + 10 * i, 3010 + 10 * i);
        bly_hear_many(c, 10, ":1");
        assert_answer(c, "PING", "+PONG");
    }
    bly_say_many(c, "BLY.CONTAINS", "b", 3000, 3100);
    bly_hear_many(c, 100, ":1");
    bly_end();
}

/* Starts a job of some hundred milliseconds, unless it is ended. */
static void bly_say_long(client *c, int i)
{
    char line[1024];
    size_t n = (size_t)snprintf(line, sizeof line, "BLY.UNITE c");
    for (int k = 0; k < 60; k++)
        n += (size_t)snprintf(line + n, sizeof line - n, " %s",
                              k % 2 == 0 ? "a" : "b");
    client_say(c, i % 4 == 0 ? "BLY.NEW n standard CAPACITY 40000000"
                : i % 4 == 1 ? "BLY.RESIZE q 40000000"
                : i % 4 == 2 ? "BLY.FOLD e 2" : line);
}

/* Waits until the server has noticed that all other clients are gone. */
static void bly_alone(client *c)
{
    for (bool alone = false; !alone;) {
        char *clients = client_ask(c, "INFO clients");
        alone = strstr(clients, "connected_clients:1\\x0d") != NULL;
        free(clients);
    }
}

/* Jobs of departed clients end early, whether queued or running. All are
 * started before the first client leaves, so the last would wait for seconds
 * otherwise. */
static void test_gone_ends(void **state)
{
    enum { CLIENTS = 20 };
    client gone[CLIENTS];
    size_t ended = 0;
    (void)state;
    if (!bly_begin("--save '' --loglevel verbose"))
        skip();
    client *c = &bly_client;
    bly_large(c);
    assert_answer(c, "BLY.NEW q quotient CAPACITY 3000000", "+OK");
    assert_answer(c, "BLY.NEW e standard CAPACITY 8000000", "+OK");
    char *before = client_ask(c, "BLY.INFO a");
    for (int i = 0; i < CLIENTS; i++)
        gone[i] = client_open(&bly_server, 2);
    for (int i = 0; i < CLIENTS; i++)
        bly_say_long(&gone[i], i);
    for (int i = 0; i < CLIENTS; i++)
        client_close(&gone[i]);
    bly_alone(c);
    assert_answer(c, "BLY.UNITE d a b", "+OK");     /* behind them all */
    char *log = server_log(&bly_server), *after = client_ask(c, "BLY.INFO a");
    for (char *at = log; (at = strstr(at, "ended early")) != NULL; at++)
        ended++;
    assert_true(ended > 0 && ended <= CLIENTS);
    assert_string_equal(before, after);
    bly_say_many(c, "BLY.CONTAINS", "d", 0, 1500);
    bly_hear_many(c, 1500, ":1");
    free(log);
    free(before);
    free(after);
    bly_end();
}

/* Transactions and scripts cannot wait: the work is done at once. */
static void test_at_once(void **state)
{
    (void)state;
    if (!bly_begin("--save ''"))
        skip();
    client *c = &bly_client;
    bly_large(c);
    assert_answer(c, "MULTI", "+OK");
    assert_answer(c, "BLY.UNITE c a b", "+QUEUED");
    assert_answer(c, "BLY.ADD a last", "+QUEUED");
    assert_answer(c, "BLY.CONTAINS c item:1400", "+QUEUED");
    assert_answer(c, "EXEC", "[+OK :1 :1]");
    assert_answer(c, "EVAL \"redis.call('BLY.INTERSECT', 'd', 'a', 'b') return "
                  "redis.call('BLY.CONTAINS', 'd', 'item:600')\" 0", ":1");
    bly_end();
}

/* A dump begun during a job is complete, and so is a replica's copy. */
static void test_saved_beside(void **state)
{
    (void)state;
    if (!bly_begin("--save '' --appendonly yes"))
        skip();
    client *c = &bly_client;
    client other = client_open(&bly_server, 2);
    bly_large(c);
    for (int i = 0; i < 3; i++) {
        client_say(c, "BLY.UNITE c a b");
        client_say(c, "BLY.DUMP c 0 8");
        client_say(&other, "BGREWRITEAOF");
        free(client_hear(&other));
        bly_hear_many(c, 1, "+OK");
        bly_hear_many(c, 1, "\"bloomery\"");
    }
    client_close(&other);
    client_close(c);
    server_end(&bly_server, SIGTERM);
    server_start(&bly_server, "--save '' --appendonly yes");
    *c = client_open(&bly_server, 2);
    bly_say_many(c, "BLY.CONTAINS", "c", 0, 1500);
    bly_hear_many(c, 1500, ":1");
    bly_end();
}

/* A replica gets what its master made, even if the source filters are gone by
 * then. */
static void test_replicated_beside(void **state)
{
    (void)state;
    if (!server_is_there())
        skip();
    server two = { .port = 0 };
    bly_server = (server){ .port = -1 };
    server_start(&bly_server, "--save '' --repl-diskless-sync-delay 0");
    bly_client = client_open(&bly_server, 2);
    client *c = &bly_client, other = client_open(&bly_server, 2);
    char options[128];
    bly_large(c);
    snprintf(options, sizeof options, "--save '' --replicaof 127.0.0.1 %d",
             bly_server.port);
    server_start(&two, options);
    client b = client_open(&two, 2);
    assert_answer(c, "WAIT 1 60000", ":1");
    for (int i = 0; i < 5; i++) {
        client_say(c, i % 2 == 0 ? "BLY.UNITE c a b" : "BLY.INTERSECT c a b");
        client_say(&other, "RENAME a d");
        bly_hear_many(c, 1, NULL);      /* unless it follows RENAME          */
        bly_hear_many(&other, 1, "+OK");
        assert_answer(c, "BLY.ADD c x", ":1");
        assert_answer(&other, "RENAME d a", "+OK");
        assert_answer(c, "WAIT 1 60000", ":1");
        char *ours = client_ask(c, "DEBUG DIGEST-VALUE a b c");
        assert_answer(&b, "DEBUG DIGEST-VALUE a b c", ours);
        free(ours);
        assert_answer(c, "DEL c", ":1");
    }
    client_close(&other);
    client_close(&b);
    server_remove(&two);
    bly_end();
}

/* ---- Limits -------------------------------------------------------------- */

static void test_memory(void **state)
{
    (void)state;
    if (!bly_begin("--save '' --maxmemory 32mb --maxmemory-policy noeviction"))
        skip();
    client *c = &bly_client;
    static const char *const much[] = {
        "BLY.NEW a standard CAPACITY 1000000000",
        "BLY.NEW a standard:m=1152921504606846976",
        "BLY.NEW a scalable CAPACITY 1000000000000",
    };
    for (size_t i = 0; i < sizeof much / sizeof *much; i++) {
        char *answer = client_ask(c, much[i]);
        assert_non_null(strstr(answer, "-ERR "));
        free(answer);
    }
    assert_answer(c, "BLY.NEW a standard CAPACITY 20000000", "+OK");
    assert_answer(c, "BLY.ADD a x", ":1");
    char *answer = client_ask(c, "BLY.UNITE b a a");
    assert_non_null(strstr(answer, "-ERR "));
    assert_non_null(strstr(answer, "memory"));
    free(answer);
    assert_answer(c, "BLY.CONTAINS a x", ":1");
    assert_answer(c, "EXISTS b", ":0");
    answer = client_ask(c, "MEMORY USAGE a");
    assert_in_range(strtol(answer + 1, NULL, 10), 23000000, 26000000);
    free(answer);
    bly_end();
}

enum { BLY_AT_A_TIME = 50 };

/* Runs a command for the items `from` .. `to`, in groups; returns how many
 * replies are 1. */
static int bly_many(client *c, const char *command, int from, int to)
{
    int ones = 0;
    for (int i = from; i < to; i += BLY_AT_A_TIME) {
        char line[BLY_AT_A_TIME * 24 + 32];
        int n = snprintf(line, sizeof line, "%s a", command);
        for (int j = i; j < i + BLY_AT_A_TIME; j++)
            n += snprintf(line + n, sizeof line - (size_t)n, " item:%d", j);
        char *answer = client_ask(c, line);
        assert_true(*answer == '[');
        for (const char *at = answer; (at = strchr(at, ':')) != NULL; at++)
            ones += at[1] == '1';
        free(answer);
    }
    return ones;
}

/* A filter that was created implicitly keeps its rate however far it grows. */
static void test_rate(void **state)
{
    (void)state;
    if (!bly_begin("--save ''"))
        skip();
    client *c = &bly_client;
    int n = (int)test_work(1000000, 50000, 10000), asked = 20000;
    bly_many(c, "BLY.MADD", 0, n);
    assert_int_equal(bly_many(c, "BLY.MCONTAINS", 0, n), n);
    int found = bly_many(c, "BLY.MCONTAINS", 2000000000, 2000000000 + asked);
    /* the requested rate, and five standard deviations */
    assert_in_range(found, 0, asked / 100 + 71);
    bly_end();
}

/* ---- Secrets and images -------------------------------------------------- */

static void test_secrets(void **state)
{
    (void)state;
    if (!bly_begin("bly-secret 000102030405060708090a0b0c0d0e0f --save ''"))
        skip();
    client *c = &bly_client;
    assert_answer(c, "BLY.ADD a x", ":1");
    assert_answer(c, "BLY.SECRET a", "\"000102030405060708090a0b0c0d0e0f\"");
    client other = client_open(&bly_server, 2);
    assert_answer(&other, "ACL SETUSER app on >word ~* +@all -@admin "
                  "-@dangerous", "+OK");
    assert_answer(&other, "AUTH app word", "+OK");
    assert_answer(&other, "BLY.CONTAINS a x", ":1");
    assert_answer(&other, "BLY.SECRET a", "-NOPERM only users who "
                  "may run CONFIG GET can read secrets");
    client_close(&other);
    assert_answer(c, "BLY.NEW b cuckoo CAPACITY 100", "+OK");
    assert_answer(c, "BLY.NEW d cuckoo CAPACITY 100 SECRET "
                  "ff0102030405060708090a0b0c0d0e0f", "+OK");
    assert_answer(c, "BLY.SECRET b", "\"000102030405060708090a0b0c0d0e0f\"");
    assert_answer(c, "CONFIG SET bf.bly-secret nonsense",
                  "-ERR CONFIG SET failed (possibly related to argument "
                  "'bf.bly-secret') - bly-secret must be 32 hexadecimal "
                  "digits, or empty");
    assert_answer(c, "CONFIG SET bf.bly-kind fuse", "-ERR CONFIG SET failed "
                  "(possibly related to argument 'bf.bly-kind') - bly-kind "
                  "must be a kind that can be added to, such as scalable, with "
                  "its options");
    assert_answer(c, "CONFIG SET bf.bly-kind egh:universe=1000", "+OK");
    char *refused = client_ask(c, "BLY.ADD integers abc");
    assert_true(*refused == '-');
    free(refused);
    refused = client_ask(c, "BLY.MADD integers abc 1");
    assert_non_null(strchr(refused, '-'));
    free(refused);
    assert_answer(c, "EXISTS integers", ":0");
    assert_answer(c, "BLY.MADD integers 1 2", "[:1 :1]");
    assert_answer(c, "CONFIG SET bf.bly-kind split", "+OK");
    assert_answer(c, "CONFIG SET bf.bly-initial-size 5000", "+OK");
    assert_answer(c, "CONFIG SET bf.bly-error-rate 0.001", "+OK");
    assert_answer(c, "BLY.ADD e x", ":1");
    char *answer = client_ask(c, "BLY.INFO e");
    assert_non_null(strstr(answer, "\"split\""));
    assert_non_null(strstr(answer, "+capacity :5"));
    free(answer);
    /* an image of another secret is refused without it */
    size_t n;
    client_say(c, "BLY.DUMP d");
    uint8_t *image = client_bytes(c, &n);
    argument words[] = { { "BLY.RESTORE", 11 }, { "f", 1 }, { image, n },
                         { "SECRET", 6 },
                         { "ff0102030405060708090a0b0c0d0e0f", 32 } };
    client_send(c, 3, words);
    answer = client_hear(c);
    assert_non_null(strstr(answer, "secret"));
    assert_true(*answer == '-');
    free(answer);
    client_send(c, 5, words);
    bly_hear_many(c, 1, "+OK");
    client_send(c, 5, words);
    bly_hear_many(c, 1, "-ERR item exists");
    free(image);
    bly_end();
}

/* Builds a filter from these lines with the command, and restores its file. */
static void bly_restore_built(client *c, const char *key, const char *options,
                              const char *lines)
{
    char line[512], path[128], bytes[4096];
    snprintf(path, sizeof path, "%s/built.bly", bly_server.folder);
    snprintf(line, sizeof line, "printf '%s' | \"$BLOOMERY\" build %s -n 100 "
             "-o %s -", lines, options, path);
    assert_int_equal(system(line), 0);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    argument words[] = { { "BLY.RESTORE", 11 }, { key, strlen(key) },
                         { bytes, fread(bytes, 1, sizeof bytes, file) },
                         { "REPLACE", 7 } };
    fclose(file);
    client_send(c, 4, words);
    bly_hear_many(c, 1, "+OK");
}

/* Returns the status of the command's query on an image from the server. */
static int bly_query_dumped(client *c, const char *name, const char *key)
{
    char line[512];
    size_t n;
    snprintf(line, sizeof line, "BLY.DUMP %s", name);
    client_say(c, line);
    uint8_t *image = client_bytes(c, &n);
    snprintf(line, sizeof line, "%s/dumped.bly", bly_server.folder);
    FILE *file = fopen(line, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(image, 1, n, file), n);
    fclose(file);
    free(image);
    snprintf(line, sizeof line, "\"$BLOOMERY\" query --key '%s' "
             "%s/dumped.bly >/dev/null 2>&1", key, bly_server.folder);
    return WEXITSTATUS(system(line));
}

/* The command and the module make the same keys, as the image records how. */
static void test_forms_of_the_command(void **state)
{
    (void)state;
    if (getenv("BLOOMERY") == NULL || !bly_begin("--save ''"))
        skip();
    client *c = &bly_client;
    bly_restore_built(c, "t", "-i", "Host1.Example.org\\nb\\n");
    assert_answer(c, "BLY.MCONTAINS t HOST1.example.ORG B none", "[:1 :1 :0]");
    char *info = client_ask(c, "BLY.INFO t");
    assert_non_null(strstr(info, "+keys \"text:case=lower\""));
    free(info);
    bly_restore_built(c, "u", "--upper -k fuse", "ab\\ncd\\n");
    assert_answer(c, "BLY.MCONTAINS u Ab CD e", "[:1 :1 :0]");
    bly_restore_built(c, "n", "--as number", "7\\n1.5\\n");
    assert_answer(c, "BLY.MCONTAINS n 7.0 1.50 8", "[:1 :1 :0]");
    bly_restore_built(c, "h", "--as hex", "00ff\\n");
    assert_answer(c, "BLY.MCONTAINS h 00FF 0x00:ff ff", "[:1 :1 :0]");
    bly_restore_built(c, "b", "--as bytes", "ab\\n");
    assert_answer(c, "BLY.MCONTAINS b ab 6162", "[:1 :0]");
    bly_restore_built(c, "a", "--as any", "Ab\\n");
    assert_answer(c, "BLY.MCONTAINS a Ab ab", "[:1 :0]");
    assert_answer(c, "BLY.NEW back blocked CAPACITY 10 UNKEYED KEYS int32",
                  "+OK");
    assert_answer(c, "BLY.ADD back 65", ":1");
    assert_int_equal(bly_query_dumped(c, "back", "65"), 0);
    assert_int_equal(bly_query_dumped(c, "back", "66"), 1);
    bly_end();
}

/* ICU folds case, and the module may be built without it. */
static void test_folded(void **state)
{
    (void)state;
    if (!bly_begin("--save ''"))
        skip();
    client *c = &bly_client;
    assert_answer(c, "BLY.NEW f standard CAPACITY 100 KEYS text:case=fold",
                  "+OK");
    argument words[] = { { "BLY.ADD", 7 }, { "f", 1 }, { "Zo\xeb", 3 } };
    for (size_t i = 0; i < 2; i++) {
        client_send(c, 3, words);
        char *answer = client_hear(c);
        assert_true(strstr(answer, "write it in UTF-8") != NULL
                    || strstr(answer, "this library lacks") != NULL);
        free(answer);
        words[0] = (argument){ "BLY.CONTAINS", 12 };
    }
    bly_end();
}

static void test_difference(void **state)
{
    (void)state;
    if (!bly_begin("--save ''"))
        skip();
    client *c = &bly_client;
    assert_answer(c, "BLY.NEW a invertible:key=16 CAPACITY 100 UNKEYED", "+OK");
    assert_answer(c, "BLY.NEW b invertible:key=16 CAPACITY 100 UNKEYED", "+OK");
    bly_say_many(c, "BLY.ADD", "a", 0, 1000);
    bly_say_many(c, "BLY.ADD", "b", 1, 1001);
    bly_hear_many(c, 2000, NULL);
    size_t n;
    client_say(c, "BLY.SKETCH b");
    uint8_t *sketch = client_bytes(c, &n);
    argument words[] = { { "BLY.DIFF", 8 }, { "a", 1 }, { sketch, n } };
    client_send(c, 3, words);
    bly_hear_many(c, 1, "[+Here [\"item:0\"] +There [\"item:1000\"]]");
    bly_say_many(c, "BLY.ADD", "a", 5000, 9000);
    bly_hear_many(c, 4000, NULL);
    client_send(c, 3, words);
    char *answer = client_hear(c);
    assert_true(strncmp(answer, "-ERR ", 5) == 0);
    free(answer);
    assert_answer(c, "BLY.CONTAINS a item:1", ":1");
    assert_answer(c, "BLY.NEW d invertible:key=16 CAPACITY 100 UNKEYED KEYS "
                  "text:case=lower", "+OK");
    words[1] = (argument){ "d", 1 };
    client_send(c, 3, words);
    bly_hear_many(c, 1, "-ERR the filters' keys have the forms text:case=lower "
                  "and text: build both with the same form");
    free(sketch);
    bly_end();
}

/* A visitor: a reply of Redis has each field that applies, and no other one. */
static bool bly_has_field(void *answer, const bly_field *field)
{
    char word[64];
    if (field->name == NULL)
        return true;
    snprintf(word, sizeof word, "+%s ", field->name);
    if ((strstr(answer, word) != NULL) == field->absent)
        fail_msg("%s is wrong in %s", field->name, (char *)answer);
    return true;
}

static void test_fields_are_the_librarys(void **state)
{
    bly_spec spec = { .capacity = 1000, .rate = 0.01 };
    bly_filter *filter;
    bly_plan_t plan;
    bly_info_t stat;
    (void)state;
    if (!bly_begin("--save ''"))
        skip();
    client *c = &bly_client;
    assert_int_equal(bly_plan(&plan, "stable", &spec), BLY_OK);
    char *answer = client_ask(c, "BLY.PLAN stable CAPACITY 1000 RATE 0.01");
    bly_plan_each(&plan, bly_has_field, answer);
    free(answer);
    assert_int_equal(bly_new(&filter, "stable", &spec), BLY_OK);
    assert_int_equal(bly_info(&stat, filter), BLY_OK);
    assert_answer(c, "BLY.NEW s stable CAPACITY 1000 RATE 0.01 UNKEYED", "+OK");
    answer = client_ask(c, "BLY.INFO s");
    bly_info_each(&stat, filter, bly_has_field, answer);
    free(answer);
    bly_free(filter);
    bly_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_beside),
        cmocka_unit_test(test_nobody_is_refused),
        cmocka_unit_test(test_gone),
        cmocka_unit_test(test_gone_ends),
        cmocka_unit_test(test_at_once),
        cmocka_unit_test(test_saved_beside),
        cmocka_unit_test(test_replicated_beside),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_secrets),
        cmocka_unit_test(test_forms_of_the_command),
        cmocka_unit_test(test_folded),
        cmocka_unit_test(test_difference),
        cmocka_unit_test(test_fields_are_the_librarys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
