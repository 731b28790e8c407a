/* fuzz.c - sends a server commands with valid and broken arguments, and changed
 * dumps and chunks with correct checksums.
 *
 * It must keep running, leak no memory, and find what was added to keys that
 * nobody else touches. `full` is a million commands and 10^5 dumps and chunks.
 */
#include "test.h"

#include "image/image.h"
#include "formats/vectors.h"
#include "redis/client.h"

enum { FUZZ_PIPE = 100, FUZZ_KEPT = 6, FUZZ_WORDS = 12 };

static uint64_t fuzz_state;

static uint64_t fuzz_next(uint64_t below)
{
    return test_random(test_seed() + 77, fuzz_state++) % below;
}

static long fuzz_memory(client *c)
{
    char *answer = client_ask(c, "FLUSHALL SYNC");
    assert_string_equal(answer, "+OK");
    free(answer);
    answer = client_ask(c, "INFO memory");
    const char *used = strstr(answer, "used_memory:");
    assert_non_null(used);
    long bytes = strtol(used + strlen("used_memory:"), NULL, 10);
    free(answer);
    return bytes;
}

/* ---- Commands ------------------------------------------------------------ */

static const char *const fuzz_commands[] = {
    "BF.RESERVE", "BF.ADD", "BF.MADD", "BF.INSERT", "BF.EXISTS", "BF.MEXISTS",
    "BF.INFO", "BF.CARD", "BF.SCANDUMP", "BF.LOADCHUNK", "BF.DEBUG",
    "CF.RESERVE", "CF.ADD", "CF.ADDNX", "CF.INSERT", "CF.INSERTNX",
    "CF.EXISTS", "CF.MEXISTS", "CF.COUNT", "CF.DEL", "CF.COMPACT", "CF.INFO",
    "CF.SCANDUMP", "CF.LOADCHUNK", "CF.DEBUG",
    "BLY.NEW", "BLY.NEW", "BLY.BUILD", "BLY.ADD", "BLY.MADD", "BLY.CONTAINS",
    "BLY.MCONTAINS", "BLY.REMOVE", "BLY.MREMOVE", "BLY.COUNT", "BLY.MCOUNT",
    "BLY.PUT", "BLY.GET", "BLY.MGET", "BLY.UNITE", "BLY.INTERSECT",
    "BLY.OVERLAP", "BLY.RESIZE", "BLY.FOLD", "BLY.INFO", "BLY.DUMP",
    "BLY.RESTORE", "BLY.STATEKEYS", "BLY.SECRET", "BLY.KNOWSECRET",
    "BLY.SKETCH", "BLY.DIFF",
    "BLY.PLAN", "BLY.ADVISE", "BLY.KINDS",
    "DEL", "UNLINK", "COPY", "RENAME", "DUMP", "TYPE", "MEMORY", "OBJECT",
};

static const char *const fuzz_words[] = {
    "", "0", "1", "-1", "2", "3", "20", "100", "1000", "0.01", "0.5", "0.001",
    "1e-300", "nan", "inf", "-0", "9223372036854775807", "1073741824",
    "99999999999999999999", "ITEMS", "CAPACITY", "ERROR", "EXPANSION",
    "NONSCALING", "NOCREATE", "BUCKETSIZE", "MAXITERATIONS", "SIZE", "USAGE",
    "ENCODING", "32768", "255", "65535", "x", "y", "z", "item", "RATE",
    "KEYED", "UNKEYED", "HASH", "SEED", "SECRET", "REPLACE", "siphash", "xxh3",
    "000102030405060708090a0b0c0d0e0f", "k1", "k2", "k3", "CAN", "FAST",
    "KEYS", "text", "text:case=upper,trim", "hex", "number", "utf16",
};

/* Returns a kind, usually a valid one. */
static const char *fuzz_kind(void)
{
    size_t n;
    const bly_kind_info *const *kinds = bly_kinds(&n);
    return kinds[fuzz_next(n)]->name;
}

static const char fuzz_binary[] = "\x00\xff\x80 binary";

static argument fuzz_word(char number[32])
{
    if (fuzz_next(3) == 0) {
        int n = snprintf(number, 32, "%d", (int)fuzz_next(5000));
        return (argument){ number, (size_t)n };
    }
    const char *word = fuzz_words[fuzz_next(sizeof fuzz_words
                                            / sizeof *fuzz_words)];
    return fuzz_next(20) == 0
         ? (argument){ fuzz_binary, sizeof fuzz_binary }
         : (argument){ word, strlen(word) };
}

/* Makes plausible BLY.* arguments: existing keys, kinds, capacities. */
static void fuzz_sensible(argument *words, size_t n)
{
    static const char *const keys[] = { "k1", "k2", "k3", "k4", "k5" };
    static const char *const forms[] = {
        "text:case=lower,trim", "number", "hex", "int32", "utf16:case=upper",
    };
    const char *kind = fuzz_kind();
    size_t first = 5;                   /* index of the items                */
    const char *command = words[0].bytes;
    bool makes = strcmp(command, "BLY.NEW") == 0
              || strcmp(command, "BLY.BUILD") == 0;
    if (fuzz_next(8) == 0)
        return;
    if (makes && n > 4) {
        words[2] = (argument){ kind, strlen(kind) };
        words[3] = (argument){ "CAPACITY", 8 };
        words[4] = (argument){ "100", 3 };
        if (n > 8 && fuzz_next(2) == 0) {
            const char *form = forms[fuzz_next(5)];
            words[5] = (argument){ "KEYS", 4 };
            words[6] = (argument){ form, strlen(form) };
            first = 7;
        }
        if (command[4] == 'B' && n > first + 1)
            words[first] = (argument){ "ITEMS", 5 };
    } else if (strchr("UIO", command[4]) != NULL && n > 2) {
        const char *key = keys[fuzz_next(5)];
        words[2] = (argument){ key, strlen(key) };
    }
}

static void fuzz_command(client *c)
{
    char numbers[FUZZ_WORDS][32], key[8];
    argument words[FUZZ_WORDS];
    size_t n = 2 + fuzz_next(FUZZ_WORDS - 2);
    const char *command = fuzz_commands[fuzz_next(sizeof fuzz_commands
                                                  / sizeof *fuzz_commands)];
    words[0] = (argument){ command, strlen(command) };
    snprintf(key, sizeof key, "k%d", (int)fuzz_next(12));
    words[1] = (argument){ key, 2 + (key[2] != '\0') };
    for (size_t i = 2; i < n; i++)
        words[i] = fuzz_word(numbers[i]);
    if (strncmp(command, "BLY.", 4) == 0)
        fuzz_sensible(words, n);
    if (fuzz_next(2) == 0 && n > 4)
        n = 2 + fuzz_next(3);
    client_send(c, n, words);
}

static void fuzz_keep(client *c, uint64_t i, const char *verb)
{
    char family[16], key[16], text[32];
    static const char *const families[] = { "BF", "CF", "BLY" };
    if (i % 3 == 2 && strcmp(verb, "EXISTS") == 0)
        verb = "CONTAINS";
    snprintf(family, sizeof family, "%s.%s", families[i % 3], verb);
    snprintf(key, sizeof key, "kept%d", (int)(i % FUZZ_KEPT));
    int n = snprintf(text, sizeof text, "kept:%llu", (unsigned long long)i);
    argument words[3] = { { family, strlen(family) }, { key, strlen(key) },
                          { text, (size_t)n } };
    client_send(c, 3, words);
}

static void fuzz_hear(client *c, uint64_t n, const char *wanted)
{
    for (uint64_t i = 0; i < n; i++) {
        char *answer = client_hear(c);
        assert_non_null(answer);        /* or the server has ended           */
        if (wanted != NULL)
            assert_string_equal(answer, wanted);
        free(answer);
    }
}

static void fuzz_round(client *c, uint64_t n)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < n; i += FUZZ_PIPE) {
        for (uint64_t j = 0; j < FUZZ_PIPE; j++)
            fuzz_command(c);
        fuzz_hear(c, FUZZ_PIPE, NULL);
        for (uint64_t j = 0; j < FUZZ_KEPT; j++)
            fuzz_keep(c, kept++, "ADD");
        fuzz_hear(c, FUZZ_KEPT, NULL);
    }
    for (uint64_t i = 0; i < kept; i += FUZZ_KEPT) {
        for (uint64_t j = 0; j < FUZZ_KEPT; j++)
            fuzz_keep(c, i + j, "EXISTS");
        fuzz_hear(c, FUZZ_KEPT, ":1");
    }
}

static void test_any_command(void **state)
{
    (void)state;
    if (!server_is_there())
        skip();
    uint64_t n = test_work(1000000, 40000, 10000);
    server s = { .port = 0 };
    server_start(&s, "cf-max-expansions 64 --save '' --maxmemory 32mb");
    client c = client_open(&s, 2);
    fuzz_round(&c, 5000);
    long before = fuzz_memory(&c);
    fuzz_round(&c, n);
    long after = fuzz_memory(&c);
    assert_in_range(after, 0, before + (256 << 10));
    client_close(&c);
    server_remove(&s);
}

/* ---- Dumps and chunks ---------------------------------------------------- */

/* Returns Redis' checksum of a dump: CRC-64 with the Jones polynomial, lowest
 * bit first, initial value 0. */
static uint64_t fuzz_crc(const uint8_t *bytes, size_t n)
{
    static uint64_t table[256];
    if (table[1] == 0)
        for (uint64_t i = 0; i < 256; i++) {
            uint64_t sum = i;
            for (int bit = 0; bit < 8; bit++)
                sum = sum >> 1 ^ (sum % 2 != 0 ? UINT64_C(0x95AC9329AC4BC9B5)
                                               : 0);
            table[i] = sum;
        }
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum = table[(sum ^ bytes[i]) & 0xFF] ^ sum >> 8;
    return sum;
}

enum { FUZZ_TAIL = 8, FUZZ_SEEDS = 10, FUZZ_OURS = 6 };

typedef struct { uint8_t *bytes; size_t n; } fuzz_bytes;

static void fuzz_seeds(client *c, fuzz_bytes dumps[FUZZ_SEEDS],
                       fuzz_bytes heads[FUZZ_SEEDS])
{
    static const char *const make[FUZZ_SEEDS] = {
        "BF.MADD s0 a b c d", "BF.INSERT s1 CAPACITY 3 ITEMS a b c d e f g h i",
        "BF.INSERT s2 CAPACITY 50 NONSCALING ITEMS a b c",
        "CF.INSERT s3 CAPACITY 16 ITEMS a b c d",
        "CF.INSERT s4 CAPACITY 8 ITEMS a b c d e f g h i j k l m n o p",
        "CF.RESERVE s5 64 BUCKETSIZE 4 EXPANSION 2",
        "BLY.MADD s6 a b c d", "BLY.BUILD s7 fuse UNKEYED ITEMS a b c d",
        "BLY.BUILD s8 quotient CAPACITY 50 ITEMS a b c d",
        "BLY.BUILD s9 blocked CAPACITY 50 UNKEYED ITEMS a b c d",
    };
    for (size_t i = 0; i < FUZZ_SEEDS; i++) {
        char line[64];
        free(client_ask(c, make[i]));
        snprintf(line, sizeof line, "DUMP s%zu", i);
        client_say(c, line);
        dumps[i].bytes = client_bytes(c, &dumps[i].n);
        uint64_t sum = fuzz_crc(dumps[i].bytes, dumps[i].n - FUZZ_TAIL);
        assert_memory_equal(dumps[i].bytes + dumps[i].n - FUZZ_TAIL, &sum,
                            sizeof sum);
        heads[i].bytes = NULL;
        if (i == 5)
            continue;                   /* an empty filter has no chunks     */
        if (i >= FUZZ_OURS) {
            snprintf(line, sizeof line, "BLY.DUMP s%zu", i);
            client_say(c, line);
            heads[i].bytes = client_bytes(c, &heads[i].n);
            continue;
        }
        snprintf(line, sizeof line, "%s.SCANDUMP s%zu 0", i < 3 ? "BF" : "CF",
                 i);
        client_say(c, line);
        assert_int_equal(client_number(c), 1);
        heads[i].bytes = client_bytes(c, &heads[i].n);
    }
}

/* Changes, cuts or inserts some bytes; `out` has room for 16 more. */
static size_t fuzz_change(uint8_t *out, const fuzz_bytes *from, size_t n)
{
    memcpy(out, from->bytes, n);
    for (uint64_t times = 1 + fuzz_next(4); times > 0 && n > 1; times--) {
        size_t at = (size_t)fuzz_next(n), some = 1 + (size_t)fuzz_next(8);
        switch (fuzz_next(6)) {
        case 0:
            out[at] = (uint8_t)fuzz_next(256);
            break;
        case 1:
            out[at] ^= (uint8_t)(1 << fuzz_next(8));
            break;
        case 2:
            out[at] = (uint8_t)(0xFF * fuzz_next(2));
            break;
        case 3:
            some = some < n - at ? some : n - at;
            memset(out + at, (int)(0xFF * fuzz_next(2)), some);
            break;
        case 4:
            if (at + 1 < n) {
                memmove(out + at, out + at + 1, n - at - 1);
                n--;
            }
            break;
        default:
            if (n < from->n + 16) {
                memmove(out + at + 1, out + at, n - at);
                n++;
            }
        }
    }
    return n;
}

/* Queries, changes and inspects the result. */
static void fuzz_use(client *c)
{
    static const char *const uses[] = {
        "BF.EXISTS t a", "BF.MADD t a q r s t u v w x y z", "BF.INFO t",
        "BF.DEBUG t", "BF.SCANDUMP t 0", "BF.SCANDUMP t 1", "CF.EXISTS t a",
        "CF.INSERT t NOCREATE ITEMS a q r s t u v w x y z", "CF.INFO t",
        "CF.DEL t a", "CF.DEL t b", "CF.COMPACT t", "CF.COUNT t c",
        "CF.SCANDUMP t 0", "CF.SCANDUMP t 1", "COPY t u REPLACE", "DUMP t",
        "BLY.MCONTAINS t a b c", "BLY.MADD t a q r s t u v w x y z",
        "BLY.INFO t",
        "BLY.MREMOVE t a b", "BLY.MCOUNT t a b c", "BLY.UNITE u t t",
        "BLY.OVERLAP t t", "BLY.RESIZE t 100", "BLY.GET t a", "BLY.DUMP t",
        "MEMORY USAGE t", "DEBUG DIGEST-VALUE t", "DEL t",
    };
    size_t n = sizeof uses / sizeof *uses;
    for (size_t i = 0; i < n; i++)
        client_say(c, uses[i]);
    fuzz_hear(c, n, NULL);
}

static uint64_t fuzz_changed(client *c, const fuzz_bytes *dumps,
                             const fuzz_bytes *heads, uint64_t n)
{
    uint64_t taken = 0;
    for (uint64_t i = 0; i < n; i++) {
        size_t seed = (size_t)fuzz_next(FUZZ_SEEDS);
        bool chunk = fuzz_next(3) == 0 && heads[seed].bytes != NULL;
        const fuzz_bytes *from = chunk ? &heads[seed] : &dumps[seed];
        uint8_t *bytes = malloc(from->n + 32);
        size_t body = from->n - (chunk ? 0 : FUZZ_TAIL);
        size_t length = fuzz_change(bytes, from, body);
        if (chunk && seed >= FUZZ_OURS) {
            if (length >= BLY_HEADER_BYTES
                && image_u64(bytes, IMAGE_BYTES) == length)
                image_seal(bytes);
            argument words[] = { { "BLY.RESTORE", 11 }, { "t", 1 },
                                 { bytes, length } };
            client_send(c, 3, words);
        } else if (chunk) {
            argument words[] = { { seed < 3 ? "BF.LOADCHUNK" : "CF.LOADCHUNK",
                                   12 }, { "t", 1 }, { "1", 1 },
                                 { bytes, length } };
            client_send(c, 4, words);
        } else {
            uint64_t sum = fuzz_crc(bytes, length);
            memcpy(bytes + length, &sum, sizeof sum);
            argument words[] = { { "RESTORE", 7 }, { "t", 1 }, { "0", 1 },
                                 { bytes, length + sizeof sum } };
            client_send(c, 4, words);
        }
        char *answer = client_hear(c);
        assert_non_null(answer);
        bool took = strcmp(answer, "+OK") == 0;
        taken += took;
        free(answer);
        free(bytes);
        if (took)
            fuzz_use(c);
    }
    return taken;
}

static void test_any_dump(void **state)
{
    (void)state;
    if (!server_is_there())
        skip();
    uint64_t n = test_work(100000, 4000, 1000);
    fuzz_bytes dumps[FUZZ_SEEDS], heads[FUZZ_SEEDS];
    server s = { .port = 0 };
    server_start(&s, "--save '' --maxmemory 32mb --loglevel warning");
    client c = client_open(&s, 2);
    fuzz_seeds(&c, dumps, heads);
    fuzz_changed(&c, dumps, heads, 200);
    long before = fuzz_memory(&c);
    uint64_t taken = fuzz_changed(&c, dumps, heads, n);
    long after = fuzz_memory(&c);
    printf("%llu of %llu changed dumps and chunks were taken\n",
           (unsigned long long)taken, (unsigned long long)n);
    assert_in_range(taken, n / 50, n);
    assert_in_range(after, 0, before + (256 << 10));
    for (size_t i = 0; i < FUZZ_SEEDS; i++) {
        free(dumps[i].bytes);
        free(heads[i].bytes);
    }
    client_close(&c);
    server_remove(&s);
}

/* Returns a packed image of a filter of `bytes` bytes, from malloc: the header
 * of tests/packed-2gib.hex, changed, and zeros. */
static uint8_t *fuzz_packed(uint64_t bytes, size_t *n)
{
    char digits[2 * BLY_HEADER_BYTES + 1];
    FILE *file = fopen(TEST_SOURCE_DIR "/tests/packed-2gib.hex", "r");
    assert_non_null(file);
    assert_non_null(fgets(digits, sizeof digits, file));
    fclose(file);
    *n = (size_t)(bytes / 8192);
    uint8_t *image = calloc(*n, 1);
    assert_non_null(image);
    vector_hex(image, digits);
    image_set_u64(image, IMAGE_BYTES, *n);
    image_set_u64(image, IMAGE_GEOMETRY + 8, 8 * (bytes - 2 * IMAGE_HEADER));
    image_seal(image);
    return image;
}

/* Restores the image in the form of the server's dump of another. */
static void fuzz_restore(client *c, const uint8_t *image, size_t n)
{
    enum { BEGIN = 10, TAIL = 2 };      /* the type; the version             */
    size_t had, at = 0;
    assert_answer(c, "BLY.ADD ours x", ":1");
    client_say(c, "DUMP ours");
    uint8_t *ours = client_bytes(c, &had), *bytes = malloc(n + 64);
    assert_true(ours != NULL && bytes != NULL);
    memcpy(bytes, ours, BEGIN);
    at += BEGIN;
    bytes[at++] = 5;
    bytes[at++] = 0x80;
    for (int shift = 24; shift >= 0; shift -= 8)
        bytes[at++] = (uint8_t)(n >> shift);
    memcpy(bytes + at, image, n);
    at += n;
    memcpy(bytes + at, "\5\0\0", 3);
    at += 3;
    memcpy(bytes + at, ours + had - FUZZ_TAIL - TAIL, TAIL);
    at += TAIL;
    uint64_t sum = fuzz_crc(bytes, at);
    memcpy(bytes + at, &sum, sizeof sum);
    argument words[] = { { "RESTORE", 7 }, { "t", 1 }, { "0", 1 },
                         { bytes, at + sizeof sum } };
    client_send(c, 4, words);
    free(ours);
    free(bytes);
}

/* Few bytes that unpack to many are refused before memory is allocated, by the
 * library's limit or the server's, which is set here. */
static void test_packed_beyond_the_limit(void **state)
{
    (void)state;
    static const struct { const char *options; uint64_t taken, refused; }
    servers[] = {
        { "--save ''", 8 << 20, UINT64_C(2) << 30 },
        { "--save '' --maxmemory 64mb", 8 << 20, 128 << 20 },
    };
    if (!server_is_there())
        skip();
    for (size_t i = 0; i < 2; i++) {
        server s = { .port = 0 };
        server_start(&s, servers[i].options);
        client c = client_open(&s, 2);
        long before = fuzz_memory(&c);
        for (size_t way = 0; way < 4; way++) {
            size_t n;
            uint8_t *image = fuzz_packed(way < 2 ? servers[i].refused
                                                 : servers[i].taken, &n);
            argument words[] = { { "BLY.RESTORE", 11 }, { "t", 1 },
                                 { image, n } };
            if (way % 2 == 0)
                fuzz_restore(&c, image, n);
            else
                client_send(&c, 3, words);
            free(image);
            char *answer = client_hear(&c);
            if (way < 2 ? *answer != '-' : strcmp(answer, "+OK") != 0)
                fail_msg("server %zu, way %zu: %s", i, way, answer);
            free(answer);
            assert_answer(&c, "DEL t", way < 2 ? ":0" : ":1");
            assert_in_range(fuzz_memory(&c), 0, before + (1 << 20));
        }
        client_close(&c);
        server_remove(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_command),
        cmocka_unit_test(test_packed_beyond_the_limit),
        cmocka_unit_test(test_any_dump),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
