/* work.h - what takes long, beside the server.
 *
 * The server answers all its clients from one thread. What reads or writes all
 * of a large filter is done in another one, while the client that asked for it
 * waits and the others are served. Such work never changes a value: it reads
 * values, which are not changed until it has ended, and makes a new one, which
 * the server's thread then puts in its place, replicates and answers in one
 * step. A command that would change a value which is being read waits too.
 *
 * Where clients cannot wait (in transactions, in scripts, in what a master
 * sends and in files that are loaded) work is done at once, and what would have
 * to wait is refused with the error BUSY; what a master sends is not refused,
 * but lets the work come to its end first.
 *
 * A work whose client goes away, or is killed, has no effect and ends soon.
 *
 * A child process of the server, which writes its dump, is not begun in the
 * midst of a work: the library's locks would be taken in it for ever.
 */
#ifndef BLY_REDIS_WORK_H
#define BLY_REDIS_WORK_H

#include "redis/held.h"

typedef struct work work;

/* One kind of work. `run` may be in any thread, and calls nothing of the server
 * but for memory. `finish` is in the server's: it replies, and may open keys.
 * If `run` has failed it is not called: what is wrong is replied. */
typedef struct {
    void (*run)(work *w);
    int  (*finish)(work *w, server_context *context, server_string **argv,
                   int argc);
    bool changes;                       /* `finish` sets keys                */
    const char *event;                  /* for `finish`: what became of one  */
    void (*forget)(work *w);            /* gives back what it found, whether
                                           or not it was finished; NULL: there
                                           is nothing                        */
} work_kind;

enum {
    WORK_VALUES = 64,                   /* at most that a work reads         */
    WORK_LARGE = 4 << 20                /* bytes that take a millisecond to be
                                           read: for more a client waits     */
};

struct work {
    const work_kind *kind;
    held       *reads[WORK_VALUES];
    size_t      n;
    held       *made;                   /* dropped at the end, if not NULL   */
    bly_status  status;
    char        why[512];               /* bly_why(), if it failed           */
    uint64_t    number;                 /* what `run` is to be told          */
    union {
        bly_stat_t    stat;
        bly_overlap_t overlap;
        void         *other;
    } found;
    server_string *given;               /* that it reads (work_given)        */
    void       *bytes;                  /* of the server's memory, released at
                                           the end                           */
    size_t      length, room;
    /* work.c's */
    server_blocked *client;             /* NULL: it is done at once          */
    bool        begun;                  /* its values count it as a job      */
    bool        gone;                   /* so is the client; atomic          */
    uint64_t    left;
    work       *next;
    work       *next_blocked;           /* of all whose clients wait         */
};

/* An empty one. */
work *work_new(const work_kind *kind);

/* One that is not to be done. */
void work_drop(work *w);

/* It reads this value too. */
void work_reads(work *w, held *value);

/* It reads an argument of the command, which may be gone before it ends. */
void work_given(work *w, server_string *argument);

/* Do it: at once where it is about so many bytes that this is quick, or where
 * the client cannot wait. The work is gone then, or will be. */
int work_do(work *w, server_context *context, server_string **argv, int argc,
            uint64_t bytes);

/* Say how a verb of the library ended; what is wrong is kept, to be replied. */
bool work_went(work *w, bly_status status);

/* It failed by itself. */
void work_failed(work *w, bly_status status, const char *why);

/* Has its client gone away? Then `run` may end at once. */
bool work_is_gone(const work *w);

/* The callback by which calls of the library end then. What the work makes has
 * it until `run` has returned. */
bly_progress work_progress(work *w);
void work_watch_made(work *w);

/* Is a value, which is to be changed, being read? Then the command has been put
 * off, to be called again, or an error was replied: there is nothing more to be
 * done. */
bool work_reads_it(server_context *context, held *value, server_call *again);

/* A key has another value now: commands that wait for the old one go on, with
 * the new one. */
void work_wake(const held *value);

#endif /* BLY_REDIS_WORK_H */
