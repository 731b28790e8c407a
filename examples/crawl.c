/* crawl.c - a crawler's set of seen pages: many threads, one filter, no locks.
 *
 *   cc -o crawl crawl.c $(pkg-config --cflags --libs bloomery) -lpthread
 *
 * Each page links to three others in a web of ten thousand. A thread visits a
 * page only if the filter reports it as new. If two threads find the same new
 * page at the same moment, both may visit it, which does no harm.
 */
#include <bloomery.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { WEB = 10000, THREADS = 4, ROOM = 4 * WEB };
static bly_filter *seen;
static atomic_uint queue[ROOM], queued, taken, visited;    /* 0: no page yet */

/* Enqueues a page unless it may have been enqueued before. */
static void find(unsigned page)
{
    char url[40];
    int length = snprintf(url, sizeof url, "https://example.org/%u", page);
    if (bly_add(seen, url, (size_t)length) == BLY_OK)
        atomic_store(&queue[atomic_fetch_add(&queued, 1)], page);
}

static void *crawl(void *unused)
{
    for (;;) {
        unsigned at = atomic_load(&taken), page;
        if (at == atomic_load(&queued))
            return unused;
        if (!atomic_compare_exchange_weak(&taken, &at, at + 1))
            continue;
        while ((page = atomic_load(&queue[at])) == 0)
            ;
        atomic_fetch_add(&visited, 1);
        for (unsigned link = 1; link <= 3; link++)
            find((page * 7 + link * 1237) % WEB + 1);
    }
}

int main(void)
{
    bly_spec want = { .capacity = WEB, .rate = 0.001, .flags = BLY_SHARED };
    pthread_t threads[THREADS];
    if (bly_new(&seen, "blocked", &want) < 0)
        return fprintf(stderr, "%s\n", bly_why()), 1;
    find(1);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, crawl, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    crawl(NULL);                        /* visits the pages found last */
    printf("visited about %u hundred pages\n", (visited + 50) / 100);
    bly_free(seen);
    return visited > WEB / 2 && visited <= ROOM ? 0 : 1;
}
