/* kmers.c - finds the sequence a read comes from: the one with most of its
 * k-mers, all runs of 31 bases on either strand.
 *
 *   cc -o kmers kmers.c $(pkg-config --cflags --libs bloomery)
 */
#define _POSIX_C_SOURCE 200809L         /* mkstemp                           */
#include <bloomery/index.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Three changed bases are in at most 93 of a read's 470 k-mers. */
enum { K = 31, MOST = 10000, SEQUENCES = 60, READS = 300, READ = 500,
       CHANGED = 3, KMERS = READ - K + 1, ENOUGH = KMERS * 8 / 10 };
static const char letters[] = "ACGT";   /* the other strand's: from the end  */
static struct { char name[16], bases[MOST + 1]; size_t n; } all[SEQUENCES];
static unsigned right, wrong;           /* sequences named                   */

static char draw_base(uint64_t seed, uint64_t i)
{
    return letters[bly_mix64(seed << 32 | i) % 4];
}

static void make_sequences(void)
{
    for (uint64_t s = 0; s < SEQUENCES; s++) {
        snprintf(all[s].name, sizeof all[s].name, ">sequence %u", (unsigned)s);
        all[s].n = 1000 + bly_mix64(s) % (MOST - 999);
        for (size_t i = 0; i < all[s].n; i++)
            all[s].bases[i] = draw_base(s, i);
    }
}

static uint64_t code(char base)
{
    return (uint64_t)(strchr(letters, base) - letters);
}

/* Hashes k-mers for an index, or, if NULL, for one being made. A k-mer is the
 * smaller of two numbers: as read here, and as on the other strand. */
static bly_status hash_kmers(uint64_t *hashes, const char *bases, size_t n,
                             const bly_index *index)
{
    static uint64_t kmers[MOST];
    bly_keys keys = { .n = n - K + 1, .data = kmers, .width = sizeof *kmers };
    uint64_t here = 0, there = 0;
    for (size_t i = 0; i < n; i++) {
        here = (here << 2 | code(bases[i])) & ((UINT64_C(1) << 2 * K) - 1);
        there = there >> 2 | (3 - code(bases[i])) << 2 * (K - 1);
        if (i + 1 >= K)
            kmers[i + 1 - K] = here < there ? here : there;
    }
    return index != NULL ? bly_index_hash(hashes, index, &keys)
                         : bly_hash_many(hashes, NULL, NULL, &keys);
}

static bly_status index_sequences(const char *path)
{
    static uint64_t hashes[MOST];
    bly_index_spec want = { .rate = 0.3, .probes = 1 };
    bly_index_maker *maker = NULL;
    bly_status status = bly_index_begin(&maker, path, &want);
    for (int s = 0; s < SEQUENCES && status == BLY_OK; s++) {
        bly_document d = { .name = all[s].name,
                           .length = strlen(all[s].name) };
        status = hash_kmers(hashes, all[s].bases, all[s].n, NULL);
        if (status == BLY_OK)
            status = bly_index_add(maker, &d, hashes, all[s].n - K + 1);
    }
    if (status == BLY_OK)
        return bly_index_end(maker);
    bly_index_abort(maker);
    return status;
}

/* Takes a piece of a sequence and changes some bases; every second read is from
 * the other strand. */
static void take_read(char *read, unsigned s, uint64_t number)
{
    size_t at = bly_mix64(number) % (all[s].n - READ + 1);
    const char *from = all[s].bases + at;
    for (size_t i = 0; i < READ; i++)
        read[i] = number % 2 ? from[i] : letters[3 - code(from[READ - 1 - i])];
    for (unsigned i = 0; i < CHANGED; i++) {
        char *base = read + bly_mix64(number * CHANGED + i) % READ;
        *base = letters[(code(*base) + 1) % 4];
    }
}

/* Counts a sequence that may have enough k-mers of a read from `name`. */
static bool count_named(void *name, uint64_t number, const bly_document *d)
{
    bool same = d->length == strlen(name)
             && memcmp(d->name, name, d->length) == 0;
    (void)number;
    *(same ? &right : &wrong) += 1;
    return true;
}

static bly_status ask(const bly_index *index, const char *read, char *name)
{
    uint64_t hashes[KMERS];
    bly_status status = hash_kmers(hashes, read, READ, index);
    return status < 0 ? status
         : bly_index_visit(index, hashes, KMERS, ENOUGH, count_named, name);
}

int main(void)
{
    char path[] = "/tmp/kmers-XXXXXX", read[READ], nowhere[] = "";
    int file = mkstemp(path);
    bly_index *index = NULL;
    if (file < 0 || close(file) != 0)
        return perror(path), 1;
    make_sequences();
    bool good = index_sequences(path) == BLY_OK
             && bly_index_open(&index, path, NULL) == BLY_OK;
    remove(path);                       /* open files survive removal        */
    for (unsigned r = 0; r < READS && good; r++) {
        take_read(read, r % SEQUENCES, r);
        good = ask(index, read, all[r % SEQUENCES].name) >= 0;
        for (size_t i = 0; i < READ; i++)
            read[i] = draw_base(SEQUENCES + r, i);
        good = good && ask(index, read, nowhere) >= 0;
    }
    bly_index_free(index);
    if (!good)
        return fprintf(stderr, "%s\n", bly_why()), 1;
    printf("%u of %d reads named their sequence; %u other sequences were "
           "named, by them or by as many random reads\n", right, READS, wrong);
    return right != READS || wrong != 0;
}
