/* secrets.c - where secrets of keyed filters are stored and where not: dumps,
 * files, replicas, and the server's records of commands.
 */
#include "test.h"

#include <poll.h>
#include <signal.h>

#include "redis/client.h"
#include "formats/vectors.h"

#define SECRET_ONE "ff0102030405060708090a0b0c0d0e0f"
#define SECRET_OWN "dd0102030405060708090a0b0c0d0e0f"
#define SECRET_TWO "ee0102030405060708090a0b0c0d0e0f"

static server secrets_server;
static client secrets_client;

/* ---- Helpers ------------------------------------------------------------- */

/* Starts a server with two filters under foreign secrets, and one under its
 * own. */
static bool secrets_begin(const char *options)
{
    if (!server_is_there())
        return false;
    secrets_server = (server){ .port = -1 };
    server_start(&secrets_server, options);
    secrets_client = client_open(&secrets_server, 2);
    client *c = &secrets_client;
    assert_answer(c, "BLY.NEW one cuckoo CAPACITY 99 SECRET " SECRET_ONE,
                  "+OK");
    assert_answer(c, "BLY.NEW two cuckoo CAPACITY 99 SECRET " SECRET_TWO,
                  "+OK");
    assert_answer(c, "BLY.NEW own cuckoo CAPACITY 99", "+OK");
    assert_answer(c, "BLY.ADD one x", ":1");
    assert_answer(c, "BLY.ADD two x", ":1");
    assert_answer(c, "BLY.ADD own x", ":1");
    return true;
}

static void secrets_end(void)
{
    client_close(&secrets_client);
    server_remove(&secrets_server);
}

static void secrets_again(const char *options)
{
    client_close(&secrets_client);
    server_end(&secrets_server, SIGTERM);
    server_start(&secrets_server, options);
    secrets_client = client_open(&secrets_server, 2);
}

/* Rewrites the append-only file. */
static void secrets_rewrite(client *c)
{
    char *answer = client_ask(c, "BGREWRITEAOF");
    do {
        free(answer);
        poll(NULL, 0, 20);
        answer = client_ask(c, "INFO persistence");
        assert_non_null(answer);
    } while (strstr(answer, "aof_rewrite_in_progress:0") == NULL
             || strstr(answer, "aof_rewrite_scheduled:0") == NULL);
    free(answer);
}

static vector secrets_dump(client *c, const char *key)
{
    char line[64];
    vector dump;
    snprintf(line, sizeof line, "DUMP %s", key);
    client_say(c, line);
    dump.bytes = client_bytes(c, &dump.n);
    return dump;
}

static bool secrets_holds(vector dump, const char *digits)
{
    uint8_t secret[16];
    assert_int_equal(vector_hex(secret, digits), 16);
    return memmem(dump.bytes, dump.n, secret, 16) != NULL;
}

static void secrets_restore(client *c, const char *key, vector dump,
                            const char *wanted)
{
    argument words[] = { { "RESTORE", 7 }, { key, strlen(key) }, { "0", 1 },
                         { dump.bytes, dump.n } };
    client_send(c, 4, words);
    char *answer = client_hear(c);
    assert_non_null(answer);
    assert_memory_equal(answer, wanted, strlen(wanted));
    free(answer);
}

static void secrets_are_there(client *c, const char *keys)
{
    char line[64], key[16];
    for (int n; sscanf(keys, "%15s%n", key, &n) == 1; keys += n) {
        snprintf(line, sizeof line, "BLY.CONTAINS %s x", key);
        assert_answer(c, line, ":1");
    }
}

#define SECRETS_KNOWN "CONFIG SET bf.bly-known-secrets "                       \
                      "\"" SECRET_ONE " " SECRET_TWO "\""

/* ---- Dumps --------------------------------------------------------------- */

static void keeps_secrets_out_of_dumps(void **state)
{
    (void)state;
    if (!secrets_begin("--save ''"))
        skip();
    client *c = &secrets_client;
    vector one = secrets_dump(c, "one"), own = secrets_dump(c, "own");
    char *digits = client_ask(c, "BLY.SECRET own");
    digits[33] = '\0';
    assert_false(secrets_holds(one, SECRET_ONE));
    assert_false(secrets_holds(own, digits + 1));
    free(digits);
    /* a dump needs its secret: the server's own, or one given to it */
    secrets_restore(c, "three", own, "+OK");
    secrets_restore(c, "four", one, "-ERR Bad data format");
    char *log = server_log(&secrets_server);
    assert_non_null(strstr(log, "keyed with a secret that this server does not "
                           "know: add the output of BLY.SECRET to "
                           "bly-known-secrets"));
    free(log);
    assert_answer(c, SECRETS_KNOWN, "+OK");
    secrets_restore(c, "four", one, "+OK");
    secrets_are_there(c, "three four");
    assert_answer(c, "BLY.SECRET four", "\"" SECRET_ONE "\"");
    assert_answer(c, "COPY four five", ":1");
    /* files hold secrets, and dumps still do not afterwards */
    assert_answer(c, "DEBUG RELOAD", "+OK");
    secrets_are_there(c, "one two own three four five");
    free(one.bytes);
    one = secrets_dump(c, "one");
    assert_false(secrets_holds(one, SECRET_ONE));
    free(one.bytes);
    free(own.bytes);
    secrets_end();
}

static void dumps_secrets_where_told_to(void **state)
{
    (void)state;
    if (!secrets_begin("--save ''"))
        skip();
    client *c = &secrets_client;
    assert_answer(c, "CONFIG SET bf.bly-dump-secrets yes", "+OK");
    vector one = secrets_dump(c, "one");
    assert_true(secrets_holds(one, SECRET_ONE));
    assert_answer(c, "CONFIG SET bf.bly-dump-secrets no", "+OK");
    secrets_restore(c, "four", one, "+OK");
    secrets_are_there(c, "four");
    free(one.bytes);
    one = secrets_dump(c, "four");
    assert_false(secrets_holds(one, SECRET_ONE));
    free(one.bytes);
    char *refused = client_ask(c, "CONFIG SET bf.bly-dump-secrets maybe");
    assert_non_null(strstr(refused, "must be yes or no"));
    free(refused);
    static const char *const wrong[] = { "x", SECRET_ONE "0", SECRET_ONE " ",
                                         " " SECRET_ONE,
                                         SECRET_ONE "," SECRET_TWO };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char line[128];
        snprintf(line, sizeof line, "CONFIG SET bf.bly-known-secrets \"%s\"",
                 wrong[i]);
        refused = client_ask(c, line);
        assert_non_null(strstr(refused, "32 hexadecimal digits"));
        free(refused);
    }
    secrets_end();
}

static void moves_filters_to_servers_that_know_the_secret(void **state)
{
    (void)state;
    char line[128];
    if (!secrets_begin("--save ''"))
        skip();
    client *c = &secrets_client;
    server other = { .port = -1 };
    server_start(&other, "--save ''");
    client to = client_open(&other, 2);
    snprintf(line, sizeof line, "MIGRATE 127.0.0.1 %d one 0 60000",
             other.port);
    char *refused = client_ask(c, line);
    assert_non_null(strstr(refused, "Bad data format"));
    free(refused);
    secrets_are_there(c, "one");
    assert_answer(&to, SECRETS_KNOWN, "+OK");
    assert_answer(c, line, "+OK");
    secrets_are_there(&to, "one");
    client_close(&to);
    server_remove(&other);
    secrets_end();
}

/* ---- Files and replicas -------------------------------------------------- */

/* Filters with foreign secrets are restored from each kind of file. */
static void keeps_secrets_in_its_files(void **state)
{
    (void)state;
    static const char *const options[] = {
        "bly-secret " SECRET_OWN " --save 3600 1",
        "bly-secret " SECRET_OWN " --save '' --appendonly yes",
        "bly-secret " SECRET_OWN " --save '' --appendonly yes "
        "--aof-use-rdb-preamble no",
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!secrets_begin(options[i]))
            skip();
        client *c = &secrets_client;
        assert_answer(c, SECRETS_KNOWN, "+OK");
        vector one = secrets_dump(c, "one"), own = secrets_dump(c, "own");
        secrets_again(options[i]);
        secrets_are_there(c, "one two own");
        secrets_rewrite(c);
        secrets_again(options[i]);
        secrets_are_there(c, "one two own");
        /* a RESTORE in the file needs the secret of a deleted filter */
        assert_answer(c, SECRETS_KNOWN, "+OK");
        assert_answer(c, "DEL one two own", ":3");
        secrets_restore(c, "four", one, "+OK");
        secrets_restore(c, "five", own, "+OK");
        secrets_again(options[i]);
        secrets_are_there(c, "four five");
        free(one.bytes);
        free(own.bytes);
        secrets_end();
    }
}

/* A replica may know only the secrets that its master sends. */
static void tells_secrets_to_replicas(void **state)
{
    (void)state;
    char options[128];
    if (!secrets_begin("--save '' --repl-diskless-sync-delay 0"))
        skip();
    client *c = &secrets_client;
    vector one = secrets_dump(c, "one"), two = secrets_dump(c, "two");
    server other = { .port = 0 };
    snprintf(options, sizeof options, "--save '' --replicaof 127.0.0.1 %d",
             secrets_server.port);
    server_start(&other, options);
    client replica = client_open(&other, 2);
    assert_answer(c, "WAIT 1 60000", ":1");
    secrets_are_there(&replica, "one two own");
    assert_answer(c, SECRETS_KNOWN, "+OK");
    assert_answer(c, "DEL one two", ":2");
    secrets_restore(c, "three", one, "+OK");
    assert_answer(c, "MULTI", "+OK");
    secrets_restore(c, "four", two, "+QUEUED");
    secrets_restore(c, "five", one, "+QUEUED");
    assert_answer(c, "EXEC", "[+OK +OK]");
    assert_answer(c, "WAIT 1 60000", ":1");
    secrets_are_there(&replica, "three four five");
    client_close(&replica);
    server_remove(&other);
    free(one.bytes);
    free(two.bytes);
    secrets_end();
}

/* ---- The server's records ------------------------------------------------ */

/* Counts the word in all answers up to PING's. */
static size_t secrets_count(client *c, const char *word)
{
    size_t n = 0;
    for (bool more = true; more; ) {
        char *answer = client_hear(c);
        assert_non_null(answer);
        for (char *at = answer; (at = strstr(at, word)) != NULL; at++)
            n++;
        more = strstr(answer, "\\\"PING\\\"") == NULL
            && strstr(answer, "\"PING\"") == NULL;
        free(answer);
    }
    return n;
}

static void hides_secrets_from_those_who_watch(void **state)
{
    (void)state;
    if (!secrets_begin("--save '' --slowlog-log-slower-than 0"))
        skip();
    client *c = &secrets_client, watch = client_open(&secrets_server, 2);
    assert_answer(&watch, "MONITOR", "+OK");
    assert_answer(c, "BLY.NEW large cuckoo CAPACITY 9000000 SECRET " SECRET_ONE,
                  "+OK");
    assert_answer(c, "MULTI", "+OK");
    assert_answer(c, "BLY.BUILD four fuse SECRET " SECRET_ONE " ITEMS a b",
                  "+QUEUED");
    assert_answer(c, "EXEC", "[+OK]");
    free(client_ask(c, "BLY.RESTORE five x SECRET " SECRET_ONE));
    assert_answer(c, "BLY.PLAN fuse SECRET " SECRET_ONE "0",
                  "-ERR a secret must be 32 hexadecimal digits");
    assert_answer(c, "BLY.KNOWSECRET " SECRET_ONE, "-ERR only a master "
                  "announces secrets: add them to bly-known-secrets");
    free(client_ask(c, "BLY.NEW six standard KEYS x SECRET " SECRET_ONE));
    free(client_ask(c, "BLY.NEW six standard NOSUCH 1 SECRET " SECRET_ONE));
    free(client_ask(c, "BLY.RESTORE six x NOSUCH SECRET " SECRET_ONE));
    char *slow = client_ask(c, "SLOWLOG GET 100");
    assert_null(strstr(slow, SECRET_ONE));
    assert_non_null(strstr(slow, "(redacted)"));
    free(slow);
    assert_answer(c, "PING", "+PONG");
    assert_int_equal(secrets_count(&watch, SECRET_ONE), 0);
    client_close(&watch);
    secrets_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_secrets_out_of_dumps),
        cmocka_unit_test(dumps_secrets_where_told_to),
        cmocka_unit_test(moves_filters_to_servers_that_know_the_secret),
        cmocka_unit_test(keeps_secrets_in_its_files),
        cmocka_unit_test(tells_secrets_to_replicas),
        cmocka_unit_test(hides_secrets_from_those_who_watch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
