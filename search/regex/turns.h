/* turns.h - output of files that threads search, in the order of the files. */
#ifndef SEARCH_REGEX_TURNS_H
#define SEARCH_REGEX_TURNS_H

#include "search/commands/search.h"

#include <pthread.h>
#include <stdatomic.h>

enum { TURNS_AHEAD = 64 };              /* files that may be done early      */

/* The output of a file until its turn. */
typedef struct {
    cli_bytes out;
    bool      done;
} turns_place;

/* Statistics of the search. */
typedef struct {
    uint64_t files, false_files, bytes, selected;
    uint64_t changed;           /* files that turned out to be               */
} turns_counts;

typedef struct {
    const select_want *want;
    pthread_mutex_t lock;
    pthread_cond_t  moved;
    size_t       turn;          /* the task that is printed next             */
    bool         begun;         /* some of its output is printed already     */
    bool         printed;       /* some output is printed                    */
    turns_place  places[TURNS_AHEAD];
    turns_counts counts;
    atomic_bool  stop;          /* search no more                            */
} turns;

void turns_open(turns *t, const select_want *want);
void turns_close(turns *t);

/* Waits until there is a place for the output of a task. */
void turns_wait(turns *t, size_t task);

/* Prints much output early, once the turn of its file has come. */
void turns_drain(turns *t, size_t task, cli_bytes *out);

/* Finishes a file. If it is its turn, prints it and the finished files after
 * it. */
void turns_hand_in(turns *t, size_t task, cli_bytes *out,
                   const turns_counts *counts);

#endif
