/* store.c - a store of sorted tables, like a database's on disk: a frozen
 * filter for each table tells which tables need not be read for a key.
 *
 *   cc -o store store.c $(pkg-config --cflags --libs bloomery)
 */
#include <bloomery.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TABLES = 16, KEYS = 20000 };
typedef struct { uint64_t key[KEYS]; bly_filter *filter; } table;
static unsigned reads;                  /* of tables: the expensive part     */

static int by_key(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Table t has every key k with k mod TABLES == t. The library reads the keys in
 * place, as rows of eight bytes. */
static bly_status fill(table *t, uint64_t number)
{
    bly_keys keys = { .n = KEYS, .data = t->key, .width = sizeof *t->key };
    for (uint64_t i = 0; i < KEYS; i++)
        t->key[i] = i * TABLES + number;
    return bly_build(&t->filter, "fuse", &(bly_spec){ .rate = 0.004 }, &keys);
}

static bool get(const table *tables, uint64_t key)
{
    for (const table *t = tables; t < tables + TABLES; t++) {
        if (!bly_contains(t->filter, &key, sizeof key))
            continue;                   /* certainly not in this table       */
        reads++;
        if (bsearch(&key, t->key, KEYS, sizeof key, by_key) != NULL)
            return true;
    }
    return false;
}

int main(void)
{
    static table tables[TABLES];
    uint64_t found = 0, n = TABLES * KEYS;
    for (uint64_t i = 0; i < TABLES; i++)
        if (fill(&tables[i], i) < 0)
            return fprintf(stderr, "%s\n", bly_why()), 1;
    for (uint64_t key = 0; key < 2 * n; key++)
        found += get(tables, key);      /* every second key is there         */
    printf("%" PRIu64 " of %" PRIu64 " keys found, %.2f tables read a key\n",
           found, 2 * n, (double)reads / (double)(2 * n));
    for (uint64_t i = 0; i < TABLES; i++)
        bly_free(tables[i].filter);
    return found == n && reads < 2 * n ? 0 : 1;
}
