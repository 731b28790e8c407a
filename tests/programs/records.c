/* records.c - the ends of CSV records, found 64 bytes at a time across the
 * pieces of a pipe, compared with a simple parser that reads byte by byte: a
 * column may begin with a quote, a closing quote is followed by an end, and
 * everything else is data.
 */
#include "test.h"
#include "frame/records.h"

enum { RECORDS_TEXT = 700 };

/* The structure of a text. */
typedef struct {
    size_t   ends[RECORDS_TEXT], n;
    size_t   fault;             /* its place, or RECORDS_TEXT               */
    bool     open;              /* open at its end                          */
    bool     quoted, stray;     /* it has quotes, or meaningless ones */
    uint64_t opened, lines;
} records_truth;

/* Returns where the column that begins at `at` ends. */
static size_t records_column(records_truth *t, const char *text, size_t n,
                             size_t at)
{
    uint64_t line = t->lines + 1;

    if (at == n || text[at] != '"') {
        while (at < n && text[at] != ',' && text[at] != '\n')
            t->stray |= text[at++] == '"';
        t->quoted |= t->stray;
        return at;
    }
    t->quoted = true;
    for (at++; at < n; at++) {
        t->lines += text[at] == '\n';
        if (text[at] != '"')
            continue;
        if (at + 1 == n || text[at + 1] != '"')
            break;
        at++;
    }
    t->open = at >= n;
    t->opened = line;
    if (t->open)
        return n;
    at++;
    if (at < n && text[at] == '\r')
        at++;
    if (at < n && text[at] != '\n' && (text[at] != ',' || text[at - 1] == '\r'))
        t->fault = at;
    return at;
}

static void records_parse(records_truth *t, const char *text, size_t n)
{
    memset(t, 0, sizeof *t);
    t->fault = RECORDS_TEXT;
    for (size_t at = 0; at < n; at++) {
        at = records_column(t, text, n, at);
        if (t->fault < RECORDS_TEXT || at >= n)
            return;
        if (text[at] == '\n') {
            t->lines++;
            t->ends[t->n++] = at;
        }
    }
}

/* Reads in pieces of random sizes, up to a fault. */
static void records_compare(const records_truth *t, const char *text, size_t n,
                            uint64_t seed)
{
    const unsigned char *bytes = (const unsigned char *)text;
    size_t last = 0;
    cli_records r;

    records_begin(&r, ',');
    for (size_t at = 0, i = 0, piece; at < n && r.state != RECORDS_FAULT;
         at += piece) {
        size_t whole;

        piece = 1 + (size_t)(test_random(seed, i++) % (n - at));
        whole = records_scan(&r, bytes + at, piece);
        last = whole > 0 ? at + whole : last;
    }
    assert_int_equal(r.state == RECORDS_FAULT, t->fault < RECORDS_TEXT);
    assert_true(r.lines == t->lines);
    assert_int_equal(last, t->n > 0 ? t->ends[t->n - 1] + 1 : 0);
    if (r.state == RECORDS_FAULT)
        return;
    assert_int_equal(r.quoted, t->quoted);
    assert_int_equal(r.stray, t->stray);
    assert_int_equal(r.state == RECORDS_QUOTED, t->open);
    if (t->open)
        assert_true(r.opened == t->opened);
}

static void records_compare_ends(const records_truth *t, const char *text)
{
    size_t n = t->n > 0 ? t->ends[t->n - 1] + 1 : 0;
    size_t ends[RECORDS_TEXT + 64];

    assert_int_equal(records_ends(',', (const unsigned char *)text, n, ends,
                                  RECORDS_TEXT + 64), t->n);
    for (size_t i = 0; i < t->n; i++)
        assert_int_equal(ends[i], t->ends[i]);
    if (t->stray)
        return;
    memset(ends, 0, sizeof ends);
    assert_int_equal(records_ends_even((const unsigned char *)text, n, ends,
                                       RECORDS_TEXT + 64), t->n);
    for (size_t i = 0; i < t->n; i++)
        assert_int_equal(ends[i], t->ends[i]);
}

/* Texts of random bytes: most soon have a fault. */
static void records_any(void **state)
{
    static const char letters[] = "\"\"\",\n\raab";
    uint64_t texts = test_work(200000, 100000, 20000);
    char text[RECORDS_TEXT];
    records_truth t;
    (void)state;

    for (uint64_t i = 0; i < texts; i++) {
        size_t n = 1 + (size_t)(test_random(1, i) % 200);

        for (size_t j = 0; j < n; j++)
            text[j] = letters[test_random(2 + i, j) % (sizeof letters - 1)];
        records_parse(&t, text, n);
        records_compare(&t, text, n, 3 + i);
        if (t.fault == RECORDS_TEXT && !t.open)
            records_compare_ends(&t, text);
    }
}

/* Appends a column; returns the new length. */
static size_t records_write(char *text, size_t n, uint64_t stream, bool stray)
{
    static const char within[] = "a,\n\r b";
    uint64_t random = test_random(stream, 0);
    size_t length = (size_t)(random % 30);
    bool quotes = random >> 8 & 1;

    if (quotes)
        text[n++] = '"';
    for (size_t i = 0; i < length; i++) {
        uint64_t letter = test_random(stream, i + 1);

        if (quotes && letter % 5 == 0) {
            text[n++] = '"';
            text[n++] = '"';
        } else if (quotes) {
            text[n++] = within[letter % (sizeof within - 1)];
        } else {
            text[n++] = letter % 7 == 0 && i > 0 && stray ? '"' : 'c';
        }
    }
    if (quotes)
        text[n++] = '"';
    if (random >> 9 & 1) {
        text[n++] = ',';
        return n;
    }
    if (random >> 10 & 1)
        text[n++] = '\r';
    text[n++] = '\n';
    return n;
}

/* Valid texts, cut off anywhere. */
static void records_good(void **state)
{
    uint64_t texts = test_work(100000, 50000, 10000);
    char text[RECORDS_TEXT];
    records_truth t;
    (void)state;

    for (uint64_t i = 0; i < texts; i++) {
        size_t n = 0;

        for (uint64_t column = 0; n < RECORDS_TEXT - 70; column++)
            n = records_write(text, n, 1000 * i + column, i % 2 == 0);
        records_parse(&t, text, n);
        assert_int_equal(t.fault, RECORDS_TEXT);
        records_compare_ends(&t, text);
        n -= (size_t)(test_random(5, i) % 64);
        records_parse(&t, text, n);
        records_compare(&t, text, n, 7 + i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_any),
        cmocka_unit_test(records_good),
    };

    return cmocka_run_group_tests_name("programs/records", tests, NULL, NULL);
}
