/* work.h - runs long work in the background.
 *
 * The server handles all clients in one thread. Work that reads or writes a
 * whole large filter runs in another thread, while its client waits and the
 * others are served. Such work never changes a value. It reads values, which
 * must not change until it ends, and makes a new one, which the server's thread
 * then stores, replicates and replies in one step. A command that would change
 * a value being read waits too.
 *
 * Where clients cannot wait (in transactions and scripts, in commands of a
 * master and while files are loaded) the work runs at once, and commands that
 * would have to wait fail with the error BUSY. Commands of a master are not
 * refused, but wait until the work ends.
 *
 * A work whose client disconnects or is killed ends soon and has no effect.
 *
 * While a work runs, the server must not fork to write its dump: the child
 * would inherit the library's locks as held.
 */
#ifndef BLY_REDIS_WORK_H
#define BLY_REDIS_WORK_H

#include "redis/held.h"

typedef struct work work;

/* A kind of work. `run` may be called in any thread, and may only call the
 * server's allocator. `finish` is called in the server's thread: it replies,
 * and may open keys. If `run` fails, the error is replied instead. */
typedef struct {
    void (*run)(work *w);
    int  (*finish)(work *w, server_context *context, server_string **argv,
                   int argc);
    bool changes;                       /* whether `finish` sets keys        */
    const char *event;                  /* name of the event, for `finish`   */
    void (*forget)(work *w);            /* frees the state, whether or not the
                                           work has finished; NULL if there is
                                           none                              */
} redis_work_kind;

enum {
    WORK_VALUES = 64,                   /* maximum values that a work reads  */
    WORK_LARGE = 4 << 20                /* bytes read in about a millisecond;
                                           for more a client waits           */
};

struct work {
    const redis_work_kind *kind;
    held       *reads[WORK_VALUES];
    size_t      n;
    held       *made;                   /* dropped at the end unless NULL    */
    bly_status  status;
    char        why[512];               /* bly_why(), if it failed           */
    uint64_t    number;                 /* a parameter of `run`              */
    union {
        bly_info_t    stat;
        bly_overlap_t overlap;
        void         *other;
    } found;
    server_string *given;               /* argument, from redis_work_given   */
    void       *bytes;                  /* memory of the server, released at the
                                           end                               */
    size_t      length, room;
    /* for work.c only */
    server_blocked *client;             /* NULL if it runs at once           */
    bool        begun;                  /* whether its values count it       */
    bool        gone;                   /* whether the client is gone; atomic */
    uint64_t    left;
    work       *next;
    work       *next_blocked;           /* of all works with waiting clients */
};

/* Creates an empty work. */
work *redis_work_new(const redis_work_kind *kind);

/* Drops a work that was not started. */
void redis_work_drop(work *w);

/* Adds a value that the work reads. */
void redis_work_reads(work *w, held *value);

/* Adds an argument of the command that the work reads, and that may be freed
 * before the work ends. */
void redis_work_given(work *w, server_string *argument);

/* Runs the work, at once if its `bytes` are few or the client cannot wait.
 * Frees the work, now or later. */
int redis_work_do(work *w, server_context *context, server_string **argv,
                  int argc, uint64_t bytes);

/* Records the result of a library call. An error is kept, to be replied.
 * Returns whether the call succeeded. */
bool redis_work_went(work *w, bly_status status);

/* Records an error of the work itself. */
void redis_work_failed(work *w, bly_status status, const char *why);

/* Returns whether the client has gone away. Then `run` may end at once. */
bool redis_work_is_gone(const work *w);

/* The callback that then ends calls of the library. The filter that the work
 * makes has it until `run` returns. */
bly_progress redis_work_progress(work *w);
void redis_work_watch_made(work *w);

/* Returns whether a value that is about to be changed is being read. Then the
 * command is postponed and will be called again, or an error was replied: the
 * caller must return. */
bool redis_work_reads_it(server_context *context, held *value,
                         server_call *again);

/* Resumes commands that wait for the old value of a key, with its new value. */
void redis_work_wake(const held *value);

#endif
