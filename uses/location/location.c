/* location.c - in which zone somebody is, without saying where.
 *
 *   location keygen SECRET PUBLIC
 *   location publish PUBLIC FILTER CELLS
 *   location ask CELLS                       <POSITIONS >QUESTIONS
 *   location answer SECRET FILTER [--seen]   <QUESTIONS
 *
 * The provider has a filter of kind spatial, the zones of cells of a map. CELLS
 * holds each cell of it, encrypted. Who asks takes those of a position, a line,
 * encrypts them anew and sends them in any order. The provider decrypts them,
 * and prints the zone, the least of them, or 0; with --seen all that it saw.
 *
 * Encryption is ElGamal's in the group ristretto255 of libsodium: with a secret
 * x and X = xG a label v is (rG, vG + rX) for a random r; adding (sG, sX) gives
 * it another r. Labels are few, so that vG is looked up in a table.
 */
#include <bloomery.h>

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

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "location: %s: %s\n", what, why);
    return 2;
}

/* ---- Encryption ---------------------------------------------------------- */

/* Adding (rG, rX) for a new random r; false: a point is none of the group. */
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

/* The label; beyond `most` it is none of ours. */
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

static int open_filter(bly_filter **filter, bly_stat_t *stat, const char *path)
{
    if (bly_open(filter, path, 0, NULL) < 0)
        return stop(path, bly_why());
    if (bly_stat(stat, *filter) == BLY_OK &&
        strcmp(stat->kind, "spatial") == 0 && make_table(stat->label_most))
        return 0;
    bly_free(*filter);
    return stop(path, "a filter of kind spatial is wanted");
}

/* Cell i of a spatial filter: docs/format.md says where it is. */
static uint64_t label_of(const bly_filter *filter, const bly_stat_t *stat,
                         uint64_t i)
{
    const unsigned char *image = bly_image(filter, NULL);
    uint64_t width = stat->geometry[2], label = 0;
    for (uint64_t bit = (i + 1) * width; bit-- > i * width; )
        label = label << 1 | (image[BLY_HEADER_BYTES + bit / 8] >> bit % 8 & 1);
    return label < stat->label_most ? label : stat->label_most;
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

/* An empty filter, the public key, the cells. */
static int write_cells(FILE *file, const bly_filter *filter,
                       const bly_stat_t *stat, const point *public)
{
    size_t bytes;
    bly_filter *empty;
    if (bly_like(&empty, filter, NULL) < 0)
        return stop("the filter", bly_why());
    const void *image = bly_image(empty, &bytes);
    bool good = fwrite(image, bytes, 1, file) == 1 &&
                fwrite(public, sizeof *public, 1, file) == 1;
    for (uint64_t i = 0; good && i < stat->geometry[0]; i++) {
        cipher c = { .b = table[label_of(filter, stat, i)] };
        good = encrypt_anew(&c, public) && fwrite(&c, sizeof c, 1, file) == 1;
    }
    bly_free(empty);
    return good ? 0 : stop("the cells", "no public key, or no room to write");
}

static int publish(const char *key, const char *path, const char *to)
{
    bly_filter *filter;
    bly_stat_t stat;
    point public;
    if (read_key(&public, key) != 0 || open_filter(&filter, &stat, path) != 0)
        return 2;
    FILE *file = fopen(to, "wbx");
    int failed = file == NULL ? stop(to, strerror(errno))
                              : write_cells(file, filter, &stat, &public);
    bly_free(filter);
    return file == NULL || fclose(file) == 0 ? failed
                                             : stop(to, strerror(errno));
}

static int answer_line(const char *line, const bly_stat_t *stat, bool seen,
                       const unsigned char *secret)
{
    static cipher cells[PROBES];
    size_t n;
    uint64_t zone = UINT64_MAX, labels[PROBES];
    if (sodium_hex2bin((void *)cells, sizeof cells, line, strlen(line), NULL,
                       &n, NULL) != 0 || n != stat->probes * sizeof *cells)
        return stop("a question", "it has not as many cells as a position");
    for (size_t i = 0; i < stat->probes; i++) {
        labels[i] = decrypt(&cells[i], secret, stat->label_most);
        if (labels[i] > stat->label_most)
            return stop("a question", "it is of another key");
        zone = labels[i] < zone ? labels[i] : zone;
    }
    printf("%llu", (unsigned long long)zone);
    for (size_t i = 0; seen && i < stat->probes; i++)
        printf("%c%llu", i == 0 ? '\t' : ' ', (unsigned long long)labels[i]);
    putchar('\n');
    return 0;
}

static int answer(const char *key, const char *path, bool seen)
{
    static char line[QUESTION + 2];
    unsigned char secret[SCALAR];
    bly_filter *filter;
    bly_stat_t stat;
    int failed = read_key(secret, key);
    if (failed != 0 || open_filter(&filter, &stat, path) != 0)
        return 2;
    while (failed == 0 && fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        failed = answer_line(line, &stat, seen, secret);
    }
    bly_free(filter);
    return failed;
}

/* ---- Who asks ------------------------------------------------------------ */

/* The cells of a position: those that it raises in an empty filter. Where two
 * are one, that one is sent twice. */
static bool find_cells(uint64_t *cells, const bly_filter *empty,
                       const bly_stat_t *stat, const char *position)
{
    bly_filter *one;
    size_t n = 0;
    if (bly_copy(&one, empty, NULL) < 0 ||
        bly_put(one, position, strlen(position), stat->label_most) != BLY_OK)
        return false;
    for (uint64_t i = 0; i < stat->geometry[0]; i++)
        if (label_of(one, stat, i) != 0)
            cells[n++] = i;
    bly_free(one);
    for (size_t i = n; i < stat->probes; i++)
        cells[i] = cells[i - n];
    for (uint32_t i = stat->probes; i-- > 0; ) {
        uint64_t cell = cells[i], *other = &cells[randombytes_uniform(i + 1)];
        cells[i] = *other, *other = cell;
    }
    return true;
}

static bool read_at(void *into, size_t n, FILE *file, uint64_t at)
{
    return fseek(file, (long)at, SEEK_SET) == 0 && fread(into, n, 1, file) == 1;
}

static int ask_line(const char *position, const bly_filter *empty,
                    const bly_stat_t *stat, FILE *file)
{
    uint64_t cells[PROBES];
    cipher c;
    point public;
    char hex[2 * sizeof c + 1];
    bool good = find_cells(cells, empty, stat, position) &&
                read_at(&public, sizeof public, file, stat->bytes);
    for (size_t i = 0; good && i < stat->probes; i++) {
        good = read_at(&c, sizeof c, file, stat->bytes + POINT +
                       cells[i] * sizeof c) && encrypt_anew(&c, &public);
        fputs(sodium_bin2hex(hex, sizeof hex, (void *)&c, sizeof c), stdout);
    }
    putchar('\n');
    return good ? 0 : stop("the cells", "they are cut short, or damaged");
}

static int ask(const char *path)
{
    static char line[4096];
    bly_filter *empty = NULL;
    bly_stat_t stat;
    bly_header header;
    FILE *file = fopen(path, "rb");
    if (file == NULL || bly_peek_file(&header, path) < 0)
        return stop(path, file == NULL ? strerror(errno) : bly_why());
    size_t bytes = (size_t)header.bytes;
    void *image = malloc(bytes);
    int failed = image == NULL || !read_at(image, bytes, file, 0) ||
                 bly_unpack(&empty, image, bytes, NULL) < 0 ||
                 bly_stat(&stat, empty) < 0 || strcmp(stat.kind, "spatial") != 0
               ? stop(path, "it does not begin with a filter: see publish") : 0;
    while (failed == 0 && fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        failed = strlen(line) < sizeof line - 1
               ? ask_line(line, empty, &stat, file)
               : stop("a position", "it is too long");
    }
    free(image), bly_free(empty), fclose(file);
    return failed;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    int failed = 2, seen = argc == 5 && strcmp(argv[4], "--seen") == 0;
    if (sodium_init() < 0)
        return stop("libsodium", "it does not start");
    if (argc == 4 && strcmp(verb, "keygen") == 0)
        failed = keygen(argv[2], argv[3]);
    else if (argc == 5 && strcmp(verb, "publish") == 0)
        failed = publish(argv[2], argv[3], argv[4]);
    else if (argc == 3 && strcmp(verb, "ask") == 0)
        failed = ask(argv[2]);
    else if ((argc == 4 || seen) && strcmp(verb, "answer") == 0)
        failed = answer(argv[2], argv[3], seen);
    else
        stop("usage", "location keygen SECRET PUBLIC | publish PUBLIC FILTER "
             "CELLS | ask CELLS | answer SECRET FILTER [--seen]");
    if (failed == 0 && ferror(stdin))
        failed = stop("standard input", "cannot be read");
    return fflush(stdout) == 0 ? failed
                               : stop("standard output", strerror(errno));
}
