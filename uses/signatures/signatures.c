/* signatures.c - finds the rows of a table with given values, by signatures.
 *
 *   signatures index [-b BITS] TABLE.tsv INDEX signatures ask TABLE.tsv INDEX
 *   <QUESTIONS >ROWS
 *
 * A query is a line of COLUMN=VALUE separated by TABs; columns count from 1.
 * Rows that have them all are printed behind the query's number.
 *
 * A row's signature has BITS bits (80); the value of each column sets two. A
 * row with all values of a query has all of their bits; another row may have
 * them by chance, drops in vain, and is read and discarded. The index stores
 * bit i of all rows together, so a query of q columns reads 2 q bits per row
 * instead of 80. The lengths are those of PostgreSQL's `bloom`. */
#define _POSIX_C_SOURCE 200809L
#include <bloomery/index.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COLUMNS = 1024, PROBES = 2, BITS = 80 };

/* The index's entry for its table, and for a row: where its line begins. */
typedef struct { uint64_t columns, bytes; } about;

typedef struct { uint64_t column; bly_key value; } field;   /* from 1        */

static uint64_t questions, rows, vain, lacking;

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "signatures: %s: %s\n", what, why);
    return 2;
}

/* Equal values in different columns are different keys. */
static bly_status hash_fields(uint64_t *hashes, const field *fields, size_t n)
{
    bly_key values[COLUMNS];
    for (size_t i = 0; i < n; i++)
        values[i] = fields[i].value;
    bly_status status = bly_hash_many(hashes, NULL, NULL,
                                      &(bly_keys){ .n = n, .keys = values });
    for (size_t i = 0; i < n; i++)
        hashes[i] = bly_mix64(hashes[i] ^ bly_mix64(fields[i].column));
    return status;
}

/* Splits a line, without its newline, into fields: up to one too many. */
static size_t divide(field *fields, const char *line, size_t n)
{
    size_t some = 0;
    const char *end = line + n;
    for (const char *from = line; from <= end && some <= COLUMNS; some++) {
        const char *tab = memchr(from, '\t', (size_t)(end - from));
        size_t length = (size_t)((tab != NULL ? tab : end) - from);
        fields[some] = (field){ some + 1, { from, length } };
        from += length + 1;
    }
    return some;
}

/* ---- The index ----------------------------------------------------------- */

/* Returns the rate at which a row of that many columns has that many bits. */
static double rate_for(uint64_t bits, uint64_t columns)
{
    double low = 0, high = 1;
    for (int i = 0; i < 200; i++) {
        double middle = (low + high) / 2;
        bly_index_spec spec = { .rate = middle, .probes = PROBES };
        *(bly_index_bits(&spec, columns) > bits ? &low : &high) = middle;
    }
    return high;
}

static int add_row(bly_index_maker *maker, const char *line, size_t n,
                   uint64_t at, uint64_t number, uint64_t columns)
{
    field fields[COLUMNS + 1];
    uint64_t hashes[COLUMNS];
    bly_document row = { .name = "", .extra = &at };
    size_t some = divide(fields, line, n);
    if (some != columns || some > COLUMNS) {
        fprintf(stderr, "signatures: line %" PRIu64 ": %zu columns, and line 1 "
                "has %" PRIu64 ", of at most 1024\n", number, some, columns);
        return 2;
    }
    return hash_fields(hashes, fields, some) < 0
           || bly_index_add(maker, &row, hashes, some) < 0
               ? stop("the index", bly_why()) : 0;
}

static size_t trim(const char *line, ssize_t got)
{
    return (size_t)(got - (line[got - 1] == '\n'));
}

static int add_rows(FILE *table, const char *path, uint64_t bits, uint64_t size)
{
    char *line = NULL;
    size_t room = 0;
    field fields[COLUMNS + 1];
    bly_index_maker *maker = NULL;
    uint64_t at = 0, number = 1;
    ssize_t got = getline(&line, &room, table);
    about table_is = { got > 0 ? divide(fields, line, trim(line, got)) : 1,
                       size };
    bly_index_spec spec = { .rate = rate_for(bits, table_is.columns),
                            .probes = PROBES, .extra = sizeof at,
                            .about = &table_is,
                            .about_bytes = sizeof table_is };
    int failed = bly_index_begin(&maker, path, &spec) < 0
                     ? stop("the index", bly_why()) : 0;
    for (; failed == 0 && got > 0; number++) {
        failed = add_row(maker, line, trim(line, got), at, number,
                         table_is.columns);
        at += (uint64_t)got;
        got = getline(&line, &room, table);
    }
    free(line);
    if (failed == 0 && !ferror(table))
        return bly_index_end(maker) < 0 ? stop("the index", bly_why()) : 0;
    bly_index_abort(maker);
    return failed != 0 ? failed : stop("the table", "cannot be read");
}

static int make_index(int n, char **arguments)
{
    struct stat is;
    bly_index *old = NULL;
    bool told = n == 4 && strcmp(arguments[0], "-b") == 0;
    uint64_t bits = told ? strtoull(arguments[1], NULL, 10) : BITS;
    arguments += told ? 2 : 0;
    if (n != (told ? 4 : 2) || bits < 8 || bits > 4096)
        return stop("usage", "signatures index [-b 8 to 4096] TABLE INDEX");
    if (access(arguments[1], F_OK) == 0         /* keep other files          */
        && bly_index_open(&old, arguments[1], NULL) < 0)
        return stop("the index", bly_why());
    bly_index_free(old);
    FILE *table = fopen(arguments[0], "r");
    if (table == NULL || fstat(fileno(table), &is) < 0)
        return stop(arguments[0], strerror(errno));
    int failed = add_rows(table, arguments[1], bits, (uint64_t)is.st_size);
    fclose(table);
    return failed;
}

/* ---- Queries ------------------------------------------------------------- */

typedef struct { uint64_t *at; size_t n; } places;

static bool note_place(void *context, uint64_t number, const bly_document *row)
{
    places *p = context;
    (void)number;
    memcpy(p->at + p->n++, row->extra, sizeof *p->at);
    return true;
}

static int by_place(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Returns whether this row has all wanted values. */
static bool has(const field *row, size_t columns, const field *wanted, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (wanted[i].column > columns)
            return false;
        bly_key w = wanted[i].value, there = row[wanted[i].column - 1].value;
        if (there.length != w.length
            || (w.length > 0 && memcmp(there.data, w.data, w.length) != 0))
            return false;
    }
    return true;
}

/* Reads a row that dropped, and prints it if it matches. */
static int look(FILE *table, uint64_t at, const field *wanted, size_t n)
{
    static char *line;
    static size_t room;
    field fields[COLUMNS + 1];
    ssize_t got;
    if (fseeko(table, (off_t)at, SEEK_SET) < 0
        || (got = getline(&line, &room, table)) <= 0)
        return stop("the table", "it is shorter than it was");
    size_t length = trim(line, got);
    if (!has(fields, divide(fields, line, length), wanted, n))
        return vain++, 0;
    rows++;
    lacking--;
    printf("%" PRIu64 "\t", questions);
    fwrite(line, 1, length, stdout);
    putchar('\n');
    return 0;
}

/* Parses COLUMN=VALUE into the field of that column. */
static bool read_field(field *f, uint64_t columns)
{
    const char *text = f->value.data;
    char *end = NULL;
    if (f->value.length == 0 || *text < '1' || *text > '9')
        return false;
    f->column = strtoull(text, &end, 10);
    f->value.data = end + 1;
    f->value.length -= (size_t)(end + 1 - text);
    return *end == '=' && f->column <= columns;
}

static int answer(const bly_index *index, FILE *table, const field *wanted,
                  size_t n)
{
    uint64_t hashes[COLUMNS];
    bly_index_stat_t is;
    bly_index_stat(&is, index);
    places all = { calloc((size_t)is.documents + 1, sizeof(uint64_t)), 0 };
    if (all.at == NULL)
        return stop("memory", strerror(ENOMEM));
    questions++;
    lacking += is.documents;
    int failed = hash_fields(hashes, wanted, n) < 0
                 || bly_index_visit(index, hashes, n, n, note_place, &all) < 0
                     ? stop("the index", bly_why()) : 0;
    qsort(all.at, all.n, sizeof *all.at, by_place);
    for (size_t i = 0; i < all.n && failed == 0; i++)
        failed = look(table, all.at[i], wanted, n);
    free(all.at);
    return failed;
}

static int read_questions(const bly_index *index, FILE *table, uint64_t columns)
{
    char *line = NULL;
    size_t room = 0;
    int failed = 0;
    field fields[COLUMNS + 1];
    ssize_t got;
    while (failed == 0 && (got = getline(&line, &room, stdin)) > 0) {
        size_t n = divide(fields, line, trim(line, got)), i = 0;
        while (i < n && read_field(&fields[i], columns))
            i++;
        failed = i == n && n <= COLUMNS ? answer(index, table, fields, n)
               : stop("a question", "COLUMN=VALUE, of the table's columns?");
    }
    free(line);
    return failed == 0 && ferror(stdin) ? stop("standard input",
                                               "cannot be read") : failed;
}

static int ask(int n, char **arguments)
{
    bly_index *index = NULL;
    bly_index_stat_t is;
    about table_is = { 0, 0 };
    struct stat size;
    if (n != 2)
        return stop("usage", "signatures ask TABLE INDEX <QUESTIONS");
    FILE *table = fopen(arguments[0], "r");
    if (table == NULL || fstat(fileno(table), &size) < 0)
        return stop(arguments[0], strerror(errno));
    if (bly_index_open(&index, arguments[1], NULL) < 0)
        return stop("the index", bly_why());
    bly_index_stat(&is, index);
    if (is.about_bytes == sizeof table_is && is.extra == sizeof(uint64_t))
        memcpy(&table_is, is.about, sizeof table_is);
    int failed = table_is.columns == 0
                 || table_is.bytes != (uint64_t)size.st_size
                     ? stop(arguments[1], "it is not of this table as it is")
                     : read_questions(index, table, table_is.columns);
    bly_index_free(index);
    fclose(table);
    if (failed == 0)
        fprintf(stderr, "signatures: %" PRIu64 " questions, %" PRIu64 " rows; "
                "of %" PRIu64 " others %" PRIu64 " read in vain\n", questions,
                rows, lacking, vain);
    return failed;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    int failed = strcmp(verb, "index") == 0 ? make_index(argc - 2, argv + 2)
               : strcmp(verb, "ask") == 0 ? ask(argc - 2, argv + 2)
               : stop("usage", "signatures index or signatures ask");
    if (failed == 0 && (fflush(stdout) | ferror(stdout)) != 0)
        return stop("standard output", strerror(errno));
    return failed;
}
