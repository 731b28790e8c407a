/* chain.c - keeps a Redis server's Bloom filter as a chain of links.
 */
#include <bloomery.h>
#include <bloomery/redis.h>

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

static bly_link link_of[BLY_CHAIN_LINKS];

static bly_chain begin(void)
{
    /* example */
    bly_chain chain = { .links = link_of, .n = 1, .growth = 2,
                        .options = BLY_CHAIN_LONG };
    if (bly_chain_plan(&chain.links[0], 100, 0.005) < 0)
        errx(1, "%s", bly_why());
    chain.links[0].bits = calloc(1, chain.links[0].bytes);
    if (chain.links[0].bits == NULL)
        err(1, NULL);
    /* end */
    return chain;
}

static void add(bly_chain *chain, const char *key, size_t length)
{
    /* example */
    bly_status status = bly_chain_add(chain, key, length);
    if (status == BLY_EFULL) {
        bly_link *next = &chain->links[chain->n];
        if (bly_chain_next(next, chain) < 0)
            errx(1, "%s", bly_why());
        next->bits = calloc(1, next->bytes);
        if (next->bits == NULL)
            err(1, NULL);
        chain->n++;
        status = bly_chain_add(chain, key, length);
    }
    /* end */
    if (status < 0)
        errx(1, "%s", bly_why());
}

static void many(bly_chain *chain)
{
    /* example */
    bly_keys keys = { .n = 3, .data = "redseasky", .width = 3 };
    bool seen[3];
    size_t done;
    if (bly_chain_add_many(chain, &keys, seen, &done) < 0)
        errx(1, "%s", bly_why());
    /* end */
    if (done != 3)
        errx(1, "%zu were added", done);
}

static void ask(const bly_chain *chain)
{
    /* example */
    printf("sea: %s, one of %ju keys\n",
           bly_chain_contains(chain, "sea", 3) ? "perhaps" : "certainly not",
           (uintmax_t)bly_chain_items(chain));
    /* end */
    if (!bly_chain_contains(chain, "sea", 3))
        errx(1, "a key is lost");
}

static void *dump(const bly_chain *chain, size_t *length)
{
    /* example */
    size_t bytes = BLY_CHAIN_HEAD + chain->n * (size_t)BLY_CHAIN_HEAD_LINK;
    void *head = malloc(bytes);
    if (head == NULL || bly_chain_verify(chain) < 0)
        errx(1, "%s", bly_why());
    bly_chain_write(head, chain);
    /* end */
    *length = bytes;
    return head;
}

static void restore(const void *head, size_t bytes, uint32_t wanted)
{
    /* example */
    bly_chain chain;
    uint32_t n;
    if (bly_chain_check(&n, head, bytes) < 0)
        errx(1, "%s", bly_why());
    chain.links = calloc(n, sizeof *chain.links);
    if (chain.links == NULL)
        err(1, NULL);
    bly_chain_read(&chain, head);       /* the bits of the links follow    */
    /* end */
    if (n != wanted || chain.n != n)
        errx(1, "%u links", n);
    free(chain.links);
}

int main(void)
{
    bly_chain chain = begin();
    size_t bytes;
    many(&chain);
    for (int i = 0; i < 200; i++) {
        char key[16];
        add(&chain, key, (size_t)snprintf(key, sizeof key, "key %d", i));
    }
    ask(&chain);
    void *head = dump(&chain, &bytes);
    restore(head, bytes, 2);
    free(head);
    for (uint32_t i = 0; i < chain.n; i++)
        free(chain.links[i].bits);
}
