/* costs.h - the costs of lookups and adds on this machine: measured, saved and
 * read. Shared by `bloomery advise` and its benchmark.
 */
#ifndef FILTERS_COSTS_H
#define FILTERS_COSTS_H

#include <bloomery.h>
#include <bloomery/advice.h>

enum { COSTS_LINES = 16, COSTS_KINDS = 128, COSTS_PATH = 4096 };

/* `costs` points into the table itself. */
typedef struct {
    bly_costs            costs;
    bly_line_cost        line[COSTS_LINES];
    bly_cost             kind[COSTS_KINDS];
    const bly_line_cost *lines[COSTS_LINES];
    const bly_cost      *kinds[COSTS_KINDS];
} costs_table;

/* Stores the path of the user's file, bloomery/costs in the cache folder, of at
 * most COSTS_PATH bytes. Returns false if there is no such folder. */
bool costs_path(char *path, size_t room);

/* Reads the file. Returns NULL, or what is wrong with it, as the end of a
 * sentence; `costs_missing` if it does not exist. */
const char *costs_read(costs_table *table, const char *path);
extern const char costs_missing[];

/* Returns NULL if the table has all kinds, or a kind that it lacks, such as one
 * that is newer than the table. */
const char *costs_lacks(const costs_table *table);

/* Writes the file atomically, and makes its parent folders; or checks that this
 * is possible. Returns false and sets errno otherwise. */
bool costs_write(const costs_table *table, const char *path);
bool costs_writable(const char *path);

/* Called before each measurement with the kind and the share of the work done.
 */
typedef struct {
    void (*tell)(void *context, const char *kind, double share);
    void  *context;
} costs_watch;

/* Measures all that the advice needs; `watch` may be NULL. Returns false if out
 * of memory. */
bool costs_measure(costs_table *table, const costs_watch *watch);

/* The keys for measurements. NULL if out of memory. */
typedef struct costs_room costs_room;
costs_room *costs_open(void);
void        costs_close(costs_room *room);

/* Measures a filter of this many keys. Returns false if it cannot be built;
 * bly_why() says why. */
bool costs_point(bly_cost_point *out, costs_room *room, const char *kind,
                 uint64_t keys, double rate);

/* Stores the minimum of both in `least`, for each time of a point. */
void costs_least(bly_cost_point *least, const bly_cost_point *other);

#endif
