/* reload.c - a service that answers queries while another thread keeps
 * replacing its filter's file.
 *
 *   cc -o reload reload.c $(pkg-config --cflags --libs bloomery) -lpthread
 *
 * bly_save replaces the file atomically, so the service never sees a partial
 * one, and a mapped file stays valid until the service closes it.
 */
#include <bloomery.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { VERSIONS = 20 };
static const char path[] = "blocklist.bly";
static atomic_uint saved;               /* the newest version on the disk    */
/* Version v blocks the keys 0 .. v. */
static void *publish(void *filter)
{
    for (uint64_t v = 1; v < VERSIONS; v++) {
        bly_add(filter, &v, sizeof v);
        if (bly_save(filter, path) < 0)
            return "cannot save";
        atomic_store(&saved, (unsigned)v);
    }
    return NULL;
}

int main(void)
{
    bly_filter *all, *f, *newer;
    bool replaced, late = false;
    unsigned loads = 1;
    uint64_t key = 0;
    pthread_t publisher;
    if (bly_new(&all, "split", &(bly_spec){ .capacity = VERSIONS }) < 0
        || bly_add(all, &key, sizeof key) < 0 || bly_save(all, path) < 0
        || bly_open(&f, path, BLY_MAP, NULL) < 0)
        return fprintf(stderr, "%s\n", bly_why()), 1;
    pthread_create(&publisher, NULL, publish, all);
    while (key < VERSIONS && !late) {
        unsigned newest = atomic_load(&saved);
        if (bly_replaced(&replaced, f, path) == BLY_OK && replaced
            && bly_open(&newer, path, BLY_MAP, NULL) == BLY_OK) {
            bly_free(f);
            f = newer;
            loads++;
        }
        late = newest >= key && !bly_contains(f, &key, sizeof key);
        key += newest >= key;
    }
    pthread_join(publisher, NULL);
    printf("%s; %u files of %d were loaded\n", late ? "a key came late"
           : "every key was blocked once published", loads, VERSIONS);
    bly_free(all);
    bly_free(f);
    return remove(path) != 0 || late;
}
