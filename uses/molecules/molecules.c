/* molecules.c - fingerprints of molecules for `bloomery similar`: a filter of
 * the parts of each one, in the format FPS.
 *
 *   molecules [-m BITS] [-b BITS] [-p] FILE.smi
 *
 * Each line is a molecule as SMILES, a blank, and its name up to a TAB. Parts
 * are all paths of up to seven bonds without a repeated atom, all rings of up
 * to eight atoms, and minimum counts of each element and of rings. So a
 * molecule has every part of those it contains. Files to be compared must be
 * written by one program, which decides what is aromatic. Implicit hydrogen,
 * charges and the direction of bonds are not parts.
 *
 * A row has -m bits, 2048, a power of two: half as many give the same row
 * folded onto itself. A part sets -b bits; without -b, a part of one atom sets
 * 5, and larger ones fewer. -p prints the parts: name, TAB, part.
 */
#define _POSIX_C_SOURCE 200809L         /* getline, getopt                   */
#include <bloomery.h>

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct { int behind; char bond; } opened;   /* ring: atom + 1, or 0  */
enum { ATOMS = 512, NEXT = 16, LONGEST = 7, RINGS = 100,
       TEXT = 4 * (LONGEST + 1) + 4 };

typedef struct {
    int  atoms, rings;
    char symbol[ATOMS][3];
    bool aromatic[ATOMS];
    int  piece[ATOMS], degree[ATOMS], next[ATOMS][NEXT];
    char bond[ATOMS][NEXT];
} molecule;

static unsigned long bits = 2048, each; /* per row; set by a part, or 0      */
static uint64_t *row;                   /* and its molecule                  */
static const char *name;
static bool print;

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "molecules: %s: %s\n", what, why);
    return 2;
}

/* ---- Reading SMILES ------------------------------------------------------ */

/* Reads an atom with or without brackets, keeping only the element. */
static const char *read_atom(molecule *m, const char *at)
{
    bool bracket = *at == '[';
    at += bracket ? 1 + strspn(at + 1, "0123456789") : 0;
    if (m->atoms == ATOMS || (!isalpha((unsigned char)*at) && *at != '*'))
        return NULL;
    bool aromatic = islower((unsigned char)*at) != 0;
    bool two = bracket ? islower((unsigned char)at[1]) != 0
                       : !strncmp(at, "Cl", 2) || !strncmp(at, "Br", 2);
    if (!bracket && !two && strchr("BCNOPSFIbcnops*", *at) == NULL)
        return NULL;
    snprintf(m->symbol[m->atoms], 3, "%c%.*s", toupper((unsigned char)*at),
             two, at + 1);
    m->aromatic[m->atoms] = aromatic;
    m->piece[m->atoms] = m->atoms;
    m->degree[m->atoms++] = 0;
    if (!bracket)
        return at + 1 + two;
    at = strchr(at, ']');
    return at != NULL ? at + 1 : NULL;
}

/* Atoms that were already connected gain a ring. */
static bool add_bond(molecule *m, int a, int b, char bond)
{
    if (a == b || m->degree[a] == NEXT || m->degree[b] == NEXT)
        return false;
    if (bond == '\0')
        bond = m->aromatic[a] && m->aromatic[b] ? ':' : '-';
    if (bond == '/' || bond == '\\')
        bond = '-';
    m->next[a][m->degree[a]] = b;
    m->bond[a][m->degree[a]++] = bond;
    m->next[b][m->degree[b]] = a;
    m->bond[b][m->degree[b]++] = bond;
    int old = m->piece[a], now = m->piece[b];
    m->rings += old == now;
    for (int i = 0; i < m->atoms; i++)
        if (m->piece[i] == old)
            m->piece[i] = now;
    return true;
}

/* Reads a ring's number, which opens it, or closes it to the atom that did. */
static const char *read_ring(molecule *m, opened *open, const char *at,
                             int last, char bond)
{
    int number = *at - '0';
    if (*at == '%' && isdigit((unsigned char)at[1])
        && isdigit((unsigned char)at[2])) {
        number = 10 * (at[1] - '0') + at[2] - '0';
        at += 2;
    }
    if (number < 0 || last < 0)         /* % without digits, or no atom      */
        return NULL;
    opened *o = &open[number], begun = *o;
    *o = (opened){ begun.behind > 0 ? 0 : last + 1, bond };
    return begun.behind == 0 || add_bond(m, begun.behind - 1, last,
               bond != '\0' ? bond : begun.bond) ? at + 1 : NULL;
}

static bool read_molecule(molecule *m, const char *at)
{
    opened open[RINGS] = { 0 };
    int stack[ATOMS], depth = 0, last = -1;
    char bond = '\0';
    m->atoms = m->rings = 0;
    while (at != NULL && *at != '\0') {
        if (*at == '(' && depth < ATOMS && last >= 0)
            stack[depth++] = last, at++;
        else if (*at == ')' && depth > 0)
            last = stack[--depth], at++;
        else if (*at == '.')
            last = -1, at++;
        else if (strchr("-=#$:~/\\", *at) != NULL)
            bond = *at++;
        else if (isdigit((unsigned char)*at) || *at == '%') {
            at = read_ring(m, open, at, last, bond);
            bond = '\0';
        } else if ((at = read_atom(m, at)) != NULL) {
            if (last >= 0 && !add_bond(m, last, m->atoms - 1, bond))
                return false;
            last = m->atoms - 1;
            bond = '\0';
        }
    }
    for (int i = 0; i < RINGS; i++)     /* none is left open                 */
        depth += open[i].behind > 0;
    return at != NULL && depth == 0 && bond == '\0' && m->atoms > 0;
}

/* ---- Parts --------------------------------------------------------------- */

static void tell(const char *part, int bonds)
{
    static const unsigned by_size[LONGEST + 2] = { 5, 4, 4, 3, 3, 2, 2, 2, 2 };
    bly_key key = { part, strlen(part) };
    bly_keys one = { .n = 1, .keys = &key };
    uint64_t hash;
    if (print)
        printf("%s\t%s\n", name, part);
    if (bly_hash_many(&hash, NULL, NULL, &one) < 0)
        return;
    for (unsigned long i = each > 0 ? each : by_size[bonds]; i > 0; i--) {
        uint64_t at = bly_mix64(hash + i) & (bits - 1);
        row[at / 64] |= UINT64_C(1) << at % 64;
    }
}

typedef struct {
    const molecule *m;
    int  n, atom[LONGEST + 1];
    char bond[LONGEST + 1];             /* after each of them                */
    bool passed[ATOMS];
} path;

/* Writes atoms from i on, forwards or backwards, and around if it is a ring. */
static void write_path(char *text, const path *p, int i, int step, bool ring)
{
    char *at = text;
    for (int j = 0; j < p->n; j++, i = (i + step + p->n) % p->n) {
        int behind = step > 0 ? i : (i - 1 + p->n) % p->n;
        at += sprintf(at, "%s%c", p->m->symbol[p->atom[i]], p->bond[behind]);
    }
    strcpy(ring ? at : at - 1, ring ? "*" : "");    /* back to the first     */
}

/* Prints the first of all spellings in order, so that a part has one name. */
static void tell_path(const path *p, bool ring)
{
    char least[TEXT] = "~", text[TEXT];
    for (int way = 0; way < (ring ? 2 * p->n : 2); way++) {
        int from = ring ? way / 2 : way * (p->n - 1);
        write_path(text, p, from, way % 2 == 0 ? 1 : -1, ring);
        if (strcmp(text, least) < 0)
            strcpy(least, text);
    }
    tell(least, ring ? p->n : p->n - 1);
}

/* Prints the path, unless its other end does, and continues to rings and longer
 * paths. */
static void walk(path *p)
{
    int end = p->atom[p->n - 1];
    p->bond[p->n - 1] = '-';            /* it has none                       */
    if (p->atom[0] <= end)
        tell_path(p, false);
    for (int i = 0; i < p->m->degree[end]; i++) {
        int next = p->m->next[end][i];
        p->bond[p->n - 1] = p->m->bond[end][i];
        if (next == p->atom[0] && p->n > 2 && p->atom[1] < end)
            tell_path(p, true);
        if (p->passed[next] || p->n > LONGEST)
            continue;
        p->atom[p->n++] = next;
        p->passed[next] = true;
        walk(p);
        p->passed[next] = false;
        p->n--;
    }
}

static void tell_count(const char *what, int n)
{
    char part[TEXT];
    for (int i = 2; i <= n; i += i < 4 ? 1 : i / 2) {
        snprintf(part, sizeof part, "%d %s", i, what);
        tell(part, 1);
    }
}

static void tell_parts(const molecule *m)
{
    static path p;
    for (int i = 0; i < m->atoms; i++) {
        int same = 0, before = 0;
        for (int j = 0; j < m->atoms; j++)
            if (strcmp(m->symbol[i], m->symbol[j]) == 0)
                same++, before += j < i;
        if (before == 0)
            tell_count(m->symbol[i], same);
        p.m = m, p.n = 1, p.atom[0] = i;
        p.passed[i] = true;
        walk(&p);
        p.passed[i] = false;
    }
    tell_count("rings", m->rings);
}

/* ---- Rows ---------------------------------------------------------------- */

static void write_row(const molecule *m)
{
    memset(row, 0, bits / 8);
    tell_parts(m);
    if (print)
        return;
    for (unsigned long i = 0; i < bits; i += 8)
        printf("%02x", (unsigned)(row[i / 64] >> i % 64) & 0xff);
    printf("\t%s\n", name);
}

static int read_all(FILE *file, const char *of)
{
    static molecule m;
    char *line = NULL, number[TEXT] = "";
    size_t room = 0;
    bool good = true;
    for (int i = 1; good && getline(&line, &room, file) >= 0; i++) {
        char *rest, *smiles = strtok_r(line, " \t\r\n", &rest);
        snprintf(number, sizeof number, "line %d", i);
        if (smiles == NULL)
            continue;
        name = strtok_r(rest + strspn(rest, " "), "\t\r\n", &rest);
        name = name != NULL ? name : number;
        if ((good = read_molecule(&m, smiles)))
            write_row(&m);
    }
    free(line);
    if (ferror(file))
        return stop(of, strerror(errno));
    return good ? 0 : stop(number, "no molecule that can be read");
}

int main(int argc, char **argv)
{
    int c;
    opterr = 0;
    while ((c = getopt(argc, argv, "m:b:p")) >= 0 && c != '?')
        if (c == 'p')
            print = true;
        else
            *(c == 'm' ? &bits : &each) = strtoul(optarg, NULL, 10);
    if (c == '?' || argc != optind + 1 || bits < 64 || bits > 65536 || each > 16
        || (bits & (bits - 1)) != 0)
        return stop("usage", "molecules [-m BITS] [-b BITS] [-p] FILE.smi; "
                             "BITS of a row are a power of two");
    FILE *file = fopen(argv[optind], "r");
    row = calloc(bits / 64, sizeof *row);
    if (file == NULL || row == NULL)
        return stop(argv[optind], strerror(errno));
    if (!print)
        printf("#FPS1\n#num_bits=%lu\n#type=bloomery-paths/%lu\n", bits, each);
    int failed = read_all(file, argv[optind]);
    fclose(file), free(row);
    return failed == 0 && (fflush(stdout) | ferror(stdout)) != 0
           ? stop("standard output", strerror(errno)) : failed;
}
