/* location.c - finds somebody's zone without revealing the position.
 *
 *   location keygen SECRET PUBLIC location publish PUBLIC FILTER CELLS
 *   location ask CELLS                       <POSITIONS >QUESTIONS
 *   location answer SECRET FILTER [--seen]   <QUESTIONS
 *
 * The provider has a filter of kind spatial, the zones of a map's cells. CELLS
 * holds each of its cells, encrypted. The client takes the cells of a position,
 * one per line, re-encrypts them and sends them in random order. The provider
 * decrypts them and prints the zone, which is their minimum, or 0; with --seen,
 * all that it saw.
 *
 * The encryption is ElGamal's in libsodium's group ristretto255: with a secret
 * x and X = xG, a label v is (rG, vG + rX) for a random r; adding (sG, sX)
 * changes the r. Labels are few, so vG is looked up in a table.
 */
#include <bloomery.h>
#include <bloomery/replace.h>

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POINT = crypto_core_ristretto255_BYTES,
       SCALAR = crypto_core_ristretto255_SCALARBYTES, PROBES = 64,
       LABELS = 65536, QUESTION = 2 * PROBES * 2 * POINT };

typedef struct { unsigned char at[POINT]; } point;
typedef struct { point a, b; } cipher;          /* rG, vG + rX               */
static point table[LABELS];                     /* 0, G, 2G, …               */
static bly_info_t is;                           /* the filter                */

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "location: %s: %s\n", what, why);
    return 2;
}

/* ---- Encryption ---------------------------------------------------------- */

/* Adds (rG, rX) for a new random r; returns false if a point is not in the
 * group. */
static bool encrypt_anew(cipher *c, const point *public)
{
    unsigned char r[SCALAR];
    cipher more;
    crypto_core_ristretto255_scalar_random(r);
    return crypto_scalarmult_ristretto255_base(more.a.at, r) == 0 &&
           crypto_scalarmult_ristretto255(more.b.at, r, public->at) == 0 &&
           crypto_core_ristretto255_add(c->a.at, c->a.at, more.a.at) == 0 &&
           crypto_core_ristretto255_add(c->b.at, c->b.at, more.b.at) == 0;
}

static bool make_table(uint64_t most)
{
    const unsigned char one[SCALAR] = { 1 };
    point g;
    bool good = crypto_scalarmult_ristretto255_base(g.at, one) == 0;
    for (uint64_t v = 1; good && v <= most; v++)
        good = crypto_core_ristretto255_add(table[v].at, table[v - 1].at,
                                            g.at) == 0;
    return good;
}

/* Returns the label; one beyond `most` is invalid. */
static uint64_t decrypt(const cipher *c, const unsigned char *secret,
                        uint64_t most)
{
    point rx, v;
    uint64_t label = 0;
    if (crypto_scalarmult_ristretto255(rx.at, secret, c->a.at) != 0 ||
        crypto_core_ristretto255_sub(v.at, c->b.at, rx.at) != 0)
        return most + 1;
    while (label <= most && memcmp(v.at, table[label].at, POINT) != 0)
        label++;
    return label;
}

/* ---- Files --------------------------------------------------------------- */

static int write_key(const char *path, const void *key, unsigned mode)
{
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, mode);
    bool good = file >= 0 && write(file, key, 32) == 32 && close(file) == 0;
    return good ? 0 : stop(path, strerror(errno));
}

static int read_key(void *key, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return stop(path, strerror(errno));
    bool good = fread(key, 32, 1, file) == 1 && getc(file) == EOF;
    fclose(file);
    return good ? 0 : stop(path, "a key is 32 bytes: see keygen");
}

/* Reads the next line of standard input over the zeroed or previous one. */
static bool next_line(char *line, int room, int *failed)
{
    bool got = fgets(line, room, stdin) != NULL;
    char *end = line + strcspn(line, "\n");
    if (ferror(stdin) || (got && *end != '\n' && !feof(stdin)))
        *failed = stop("standard input", "a line cannot be read, is too long, "
                       "or has a NUL byte");
    *end = '\0';
    return got && *failed == 0;
}

static int open_filter(bly_filter **filter, const char *path)
{
    if (bly_open(filter, path, 0, NULL) < 0)
        return stop(path, bly_why());
    if (bly_info(&is, *filter) == BLY_OK && strcmp(is.kind, "spatial") == 0 &&
        make_table(is.label_most))
        return 0;
    bly_free(*filter);
    return stop(path, "a filter of kind spatial is wanted");
}

/* Returns cell i of a spatial filter, whose place docs/format/kinds defines. */
static uint64_t label_of(const bly_filter *filter, uint64_t i)
{
    const unsigned char *image = bly_image(filter, NULL);
    uint64_t width = is.geometry[2], label = 0;
    for (uint64_t bit = (i + 1) * width; bit-- > i * width; )
        label = label << 1 | (image[BLY_HEADER_BYTES + bit / 8] >> bit % 8 & 1);
    return label < is.label_most ? label : is.label_most;
}

/* ---- The provider -------------------------------------------------------- */

static int keygen(const char *secret_path, const char *public_path)
{
    unsigned char x[SCALAR];
    point public;
    crypto_core_ristretto255_scalar_random(x);
    return crypto_scalarmult_ristretto255_base(public.at, x) != 0 ||
           write_key(secret_path, x, 0600) != 0 ||
           write_key(public_path, &public, 0666) != 0 ? 2 : 0;
}

/* Writes an empty filter, the public key, and the cells. */
static int write_cells(FILE *to, const bly_filter *filter, const point *public)
{
    size_t bytes;
    bly_filter *empty;
    if (bly_like(&empty, filter, NULL) < 0)
        return stop("the filter", bly_why());
    const void *image = bly_image(empty, &bytes);
    bool good = fwrite(image, bytes, 1, to) == 1 &&
                fwrite(public, sizeof *public, 1, to) == 1;
    for (uint64_t i = 0; good && i < is.geometry[0]; i++) {
        cipher c = { .b = table[label_of(filter, i)] };
        good = encrypt_anew(&c, public) && fwrite(&c, sizeof c, 1, to) == 1;
    }
    bly_free(empty);
    return good ? 0 : stop("the cells", "no public key, or no room to write");
}

/* Writes all cells, or no file. */
static int write_cells_to(const char *to, const bly_filter *filter,
                          const point *public)
{
    bly_replacement *whole;
    int file;
    if (bly_replace(&whole, &file, to) != BLY_OK)
        return stop(to, bly_why());
    FILE *cells = fdopen(dup(file), "wb");
    int failed = cells == NULL ? stop(to, strerror(errno))
                               : write_cells(cells, filter, public);
    if (cells != NULL && fclose(cells) != 0 && failed == 0)
        failed = stop(to, strerror(errno));
    if (failed == 0)
        return bly_replace_end(whole) == BLY_OK ? 0 : stop(to, bly_why());
    bly_replace_drop(whole);
    return failed;
}

static int publish(const char *key, const char *path, const char *to)
{
    bly_filter *filter;
    point public;
    if (read_key(&public, key) != 0 || open_filter(&filter, path) != 0)
        return 2;
    int failed = access(to, F_OK) == 0 ? stop(to, strerror(EEXIST))
                                       : write_cells_to(to, filter, &public);
    bly_free(filter);
    return failed;
}

static int answer_line(const char *line, bool seen, const unsigned char *secret)
{
    static cipher cells[PROBES];
    size_t n;
    uint64_t zone = UINT64_MAX, labels[PROBES];
    if (sodium_hex2bin((void *)cells, sizeof cells, line, strlen(line), NULL,
                       &n, NULL) != 0 || n != is.probes * sizeof *cells)
        return stop("a question", "it has not as many cells as a position");
    for (size_t i = 0; i < is.probes; i++) {
        labels[i] = decrypt(&cells[i], secret, is.label_most);
        if (labels[i] > is.label_most)
            return stop("a question", "it is of another key");
        zone = labels[i] < zone ? labels[i] : zone;
    }
    printf("%llu", (unsigned long long)zone);
    for (size_t i = 0; seen && i < is.probes; i++)
        printf("%c%llu", i == 0 ? '\t' : ' ', (unsigned long long)labels[i]);
    putchar('\n');
    return 0;
}

static int answer(const char *key, const char *path, bool seen)
{
    static char line[QUESTION + 2];
    unsigned char secret[SCALAR];
    bly_filter *filter;
    int failed = read_key(secret, key);
    if (failed != 0 || open_filter(&filter, path) != 0)
        return 2;
    while (failed == 0 && next_line(line, sizeof line, &failed))
        failed = answer_line(line, seen, secret);
    bly_free(filter);
    return failed;
}

/* ---- The client ---------------------------------------------------------- */

/* Finds the cells of a position: those that it raises in an empty filter. If
 * two coincide, it is sent twice. */
static bool find_cells(uint64_t *cells, const bly_filter *empty,
                       const char *position)
{
    bly_filter *one;
    size_t n = 0;
    if (bly_copy(&one, empty, NULL) < 0 ||
        bly_put(one, position, strlen(position), is.label_most) != BLY_OK)
        return false;
    for (uint64_t i = 0; i < is.geometry[0]; i++)
        if (label_of(one, i) != 0)
            cells[n++] = i;
    bly_free(one);
    for (size_t i = n; i < is.probes; i++)
        cells[i] = cells[i - n];
    for (uint32_t i = is.probes; i-- > 0; ) {
        uint64_t cell = cells[i], *other = &cells[randombytes_uniform(i + 1)];
        cells[i] = *other, *other = cell;
    }
    return true;
}

static bool read_at(void *into, size_t n, FILE *file, uint64_t at)
{
    return fseek(file, (long)at, SEEK_SET) == 0 && fread(into, n, 1, file) == 1;
}

static int ask_line(const char *position, const bly_filter *empty, FILE *file)
{
    uint64_t cells[PROBES];
    cipher c;
    point public;
    char hex[2 * sizeof c + 1];
    bool good = find_cells(cells, empty, position) &&
                read_at(&public, sizeof public, file, is.bytes);
    for (size_t i = 0; good && i < is.probes; i++) {
        good = read_at(&c, sizeof c, file, is.bytes + POINT +
                       cells[i] * sizeof c) && encrypt_anew(&c, &public);
        if (good)           /* else it might be a published one          */
            fputs(sodium_bin2hex(hex, sizeof hex, (void *)&c, sizeof c),
                  stdout);
    }
    putchar('\n');
    return good ? 0 : stop("the cells", "they are cut short, or damaged");
}

static int ask(const char *path)
{
    static char line[4096];
    bly_filter *empty = NULL;
    bly_header header;
    FILE *file = fopen(path, "rb");
    if (file == NULL || bly_peek_file(&header, path) < 0)
        return stop(path, file == NULL ? strerror(errno) : bly_why());
    size_t bytes = (size_t)header.bytes;
    void *image = malloc(bytes);
    int failed = image == NULL || !read_at(image, bytes, file, 0) ||
                 bly_unpack(&empty, image, bytes, NULL) < 0 ||
                 bly_info(&is, empty) < 0 || strcmp(is.kind, "spatial") != 0 ||
                 bly_clear(empty) < 0
               ? stop(path, "it does not begin with a filter: see publish") : 0;
    while (failed == 0 && next_line(line, sizeof line, &failed))
        failed = ask_line(line, empty, file);
    free(image), bly_free(empty), fclose(file);
    return failed;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    bool seen = argc == 5 && strcmp(argv[4], "--seen") == 0;
    int failed = sodium_init() < 0 ? stop("libsodium", "it does not start")
        : argc == 4 && strcmp(verb, "keygen") == 0 ? keygen(argv[2], argv[3])
        : argc == 5 && strcmp(verb, "publish") == 0
            ? publish(argv[2], argv[3], argv[4])
        : argc == 3 && strcmp(verb, "ask") == 0 ? ask(argv[2])
        : (argc == 4 || seen) && strcmp(verb, "answer") == 0
            ? answer(argv[2], argv[3], seen)
        : stop("usage", "location keygen SECRET PUBLIC | publish PUBLIC FILTER "
               "CELLS | ask CELLS | answer SECRET FILTER [--seen]");
    return (fflush(stdout) | ferror(stdout)) != 0
         ? stop("standard output", strerror(errno)) : failed;
}
