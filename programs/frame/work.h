/* work.h - works on chunks of lines with all cores, in order. */
#ifndef FRAME_WORK_H
#define FRAME_WORK_H

#include "frame/batches.h"
#include "frame/lines.h"
#include "frame/tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLI_JOBS_OPTION(settings, jobs)                                       \
    { 'j', "jobs", "N", CLI_NUMBER, offsetof(settings, jobs), false,          \
      "Use N threads. Default: one per processor.",                           \
      .group = CLI_SPEED }

/* A chunk of lines on its way through the threads, and room for the work. */
typedef struct {
    const cli_lines *lines;
    cli_chunk  chunk;
    cli_batch *batch;           /* room to split the chunk in              */
    void      *own;             /* for the work; zero at first             */
    bool       failed;          /* work() returned false                   */
} cli_worker;

typedef struct {
    size_t own;                 /* bytes of cli_worker.own                 */

    /* Works on a chunk of lines, in many threads at once. Returns false if
     * memory is short. */
    bool (*work)(void *job, cli_worker *worker);

    /* Finishes each chunk in the order of the input, errors too. Called by one
     * thread at a time, not always the same one. Returns CLI_GO, or the status
     * to stop with. */
    int  (*commit)(void *job, cli_worker *worker);

    void (*clean)(void *own);   /* or NULL */
} cli_work;

/* Runs the work over all lines. Returns CLI_GO, or the status it stopped
 * with. */
int work_run(cli_lines *lines, const cli_work *work, void *job, size_t jobs);

/* Returns the number of threads for -j; 0 stands for one per processor. */
size_t work_jobs(uint64_t wanted);

/* Calls loop(argument) in n threads, one of them the caller's, and waits for
 * all. Continues with fewer threads if some cannot be started. */
void work_threads(size_t n, void *(*loop)(void *), void *argument);

#endif
