/* work.h - long work beside the server.
 *
 * The server serves all clients from one thread. Work that reads or writes all
 * of a large filter runs in another thread. Its client waits; the others are
 * served. Such work never changes a value: it reads values, which stay
 * unchanged until it has ended, and makes a new one. The server's thread then
 * stores, replicates and replies in one step. A command that would change a
 * value that is being read waits too.
 *
 * If a client cannot wait (in transactions and scripts, for commands from a
 * master or from files), work is done at once, and a command that would have to
 * wait is refused with the error BUSY. A command from a master is not refused;
 * it waits until the work has ended.
 *
 * If the client of a work disconnects or is killed, the work has no effect and
 * ends soon.
 *
 * A child process of the server, which writes its dump, is not forked during a
 * work, because it would inherit locked locks of the library.
 */
#ifndef BLY_REDIS_WORK_H
#define BLY_REDIS_WORK_H

#include "redis/held.h"

typedef struct work work;

/* A kind of work. `run` may be in any thread, and calls the server for memory
 * only. `finish` is in the server's thread: it replies, and may open keys. If
 * `run` has failed, `finish` is not called, and the error is replied. */
typedef struct {
    void (*run)(work *w);
    int  (*finish)(work *w, server_context *context, server_string **argv,
                   int argc);
    bool changes;                       /* whether `finish` sets keys        */
    const char *event;                  /* name of the event, for `finish`   */
    void (*forget)(work *w);            /* frees the state, whether or not the
                                           work has finished; NULL if there is
                                           none                              */
} work_kind;

enum {
    WORK_VALUES = 64,                   /* maximum values that a work reads  */
    WORK_LARGE = 4 << 20                /* bytes read in about a millisecond;
                                           for more a client waits           */
};

struct work {
    const work_kind *kind;
    held       *reads[WORK_VALUES];
    size_t      n;
    held       *made;                   /* dropped at the end unless NULL    */
    bly_status  status;
    char        why[512];               /* bly_why(), if it failed           */
    uint64_t    number;                 /* a parameter of `run`              */
    union {
        bly_stat_t    stat;
        bly_overlap_t overlap;
        void         *other;
    } found;
    server_string *given;               /* argument it reads (work_given)    */
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

/* Returns an empty work. */
work *work_new(const work_kind *kind);

/* Frees a work that has not been started. */
void work_drop(work *w);

/* Adds a value that the work reads. */
void work_reads(work *w, held *value);

/* Adds an argument of the command that the work reads, and that may be freed
 * before the work ends. */
void work_given(work *w, server_string *argument);

/* Runs the work, at once if its `bytes` are few or the client cannot wait.
 * Frees the work, now or later. */
int work_do(work *w, server_context *context, server_string **argv, int argc,
            uint64_t bytes);

/* Records the result of a library call. An error is kept, to be replied.
 * Returns whether the call succeeded. */
bool work_went(work *w, bly_status status);

/* Records an error of the work itself. */
void work_failed(work *w, bly_status status, const char *why);

/* Returns whether the client has gone away. Then `run` may end at once. */
bool work_is_gone(const work *w);

/* The callback that then ends calls of the library. The filter that the work
 * makes has it until `run` returns. */
bly_progress work_progress(work *w);
void work_watch_made(work *w);

/* Returns whether a value that is about to be changed is being read. Then the
 * command is postponed and will be called again, or an error was replied: the
 * caller must return. */
bool work_reads_it(server_context *context, held *value, server_call *again);

/* Resumes commands that wait for the old value of a key, with its new value. */
void work_wake(const held *value);

#endif
