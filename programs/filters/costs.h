/* costs.h - what lookups and adds cost on this machine: measured, kept in a
 * file, read again. `bloomery advise` and its benchmark share it.
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

/* The user's file of costs, bloomery/costs in the folder for what can be made
 * again, of at most COSTS_PATH bytes; false where there is no such folder. */
bool costs_path(char *path, size_t room);

/* NULL: it is read; or what is wrong with the file, as the end of a sentence.
 * A file that is not there is `costs_missing`. */
const char *costs_read(costs_table *table, const char *path);
extern const char costs_missing[];

/* NULL: the table has all kinds; or one that it lacks, as a table has that was
 * measured before the kind was made. */
const char *costs_lacks(const costs_table *table);

/* Write the file, whole or not at all, and the folders above it; or see whether
 * that can be done. False: errno tells why not. */
bool costs_write(const costs_table *table, const char *path);
bool costs_writable(const char *path);

/* Is told, before each filter that is measured, of which kind it is, and which
 * share of the work is done. */
typedef struct {
    void (*tell)(void *context, const char *kind, double share);
    void  *context;
} costs_watch;

/* Measure all that the advice is made of; `watch` may be NULL. False: no
 * memory. */
bool costs_measure(costs_table *table, const costs_watch *watch);

/* What the measuring needs: the keys that are asked for. NULL: no memory. */
typedef struct costs_room costs_room;
costs_room *costs_open(void);
void        costs_close(costs_room *room);

/* Measure one filter of so many keys. False: it cannot be built, bly_why() says
 * why. */
bool costs_point(bly_cost_point *out, costs_room *room, const char *kind,
                 uint64_t keys, double rate);

/* The least of both, for each of a point's times. */
void costs_least(bly_cost_point *least, const bly_cost_point *other);

#endif /* FILTERS_COSTS_H */
