/* tables.c - keeps a Redis server's cuckoo filter as tables.
 */
#include <bloomery.h>
#include <bloomery/redis.h>

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

static void *table[8];

static bly_tables begin(void)
{
    /* example */
    bly_tables tables;
    if (bly_tables_plan(&tables, 1000, 2, 20, 1) < 0)
        errx(1, "%s", bly_why());
    table[0] = calloc(1, bly_tables_bytes(&tables, 0));
    if (table[0] == NULL)
        err(1, NULL);
    tables.table = table;
    /* end */
    return tables;
}

static void add(bly_tables *tables, const char *key, size_t length)
{
    /* example */
    bly_status status = bly_tables_add(tables, key, length);
    if (status == BLY_EFULL) {
        table[tables->n] = calloc(1, bly_tables_bytes(tables, tables->n));
        if (table[tables->n] == NULL)
            err(1, NULL);
        tables->n++;
        status = bly_tables_add(tables, key, length);
    }
    /* end */
    if (status < 0)
        errx(1, "%s", bly_why());
}

static void ask(bly_tables *tables)
{
    /* example */
    if (bly_tables_contains(tables, "key 7", 5))
        printf("perhaps there, at most %ju times\n",
               (uintmax_t)bly_tables_count(tables, "key 7", 5));
    if (bly_tables_remove(tables, "key 7", 5) == BLY_EABSENT)
        puts("it was not there");
    /* end */
}

static void compact(bly_tables *tables)
{
    /* example */
    uint64_t n = tables->n;
    bly_tables_compact(tables, true);
    while (n > tables->n)
        free(table[--n]);
    /* end */
}

static void dump(const bly_tables *tables)
{
    /* example */
    unsigned char head[BLY_TABLES_HEAD];
    bly_tables restored;
    bly_tables_write(head, tables);
    if (bly_tables_read(&restored, head, sizeof head) < 0)
        errx(1, "%s", bly_why());
    /* end */
    if (restored.items != tables->items || restored.n != tables->n)
        errx(1, "another header");
}

int main(void)
{
    bly_tables tables = begin();
    for (int i = 0; i < 1500; i++) {
        char key[16];
        add(&tables, key, (size_t)snprintf(key, sizeof key, "key %d", i));
    }
    ask(&tables);
    if (tables.n < 2 || tables.items != 1499)
        errx(1, "%ju keys", (uintmax_t)tables.items);
    dump(&tables);
    compact(&tables);
    for (uint64_t i = 0; i < tables.n; i++)
        free(table[i]);
}
