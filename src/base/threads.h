/* threads.h - runs work on all processors; locks.
 *
 * Without a system (BLY_WITHOUT_SYSTEM, src/base/bare.c) there is only the
 * caller's thread, and locks do nothing.
 */
#ifndef BLY_BASE_THREADS_H
#define BLY_BASE_THREADS_H

#include <stdint.h>

#ifdef BLY_WITHOUT_SYSTEM
typedef char threads_lock;
typedef char threads_once;
enum { THREADS_ONCE = 0 };
#else
#include <pthread.h>
typedef pthread_mutex_t threads_lock;
typedef pthread_once_t threads_once;
#define THREADS_ONCE PTHREAD_ONCE_INIT
#endif

enum { THREADS_MAX = 64 };

/* Returns the number of threads to use when `most` are allowed, 1 ..
 * THREADS_MAX; 0 allows one for each processor of this thread. */
unsigned threads_count(uint32_t most);

/* Does part `part` of `parts`, counted from 0. */
typedef void threads_work(void *context, unsigned part, unsigned parts);

/* Runs parts 1 .. THREADS_MAX, each in its own thread, one of them in this one,
 * and waits for them. New threads block all signals, which are the program's.
 * If the system provides fewer threads, the rest run here in sequence, so this
 * cannot fail. */
void threads_run(threads_work *work, void *context, unsigned parts);

/* A lock, held by one thread at a time. */
void threads_lock_make(threads_lock *lock);
void threads_lock_end(threads_lock *lock);
void threads_lock_take(threads_lock *lock);
void threads_lock_give(threads_lock *lock);

/* Calls `work` unless it has been called, and returns when it is done. `once`
 * starts as THREADS_ONCE. */
void threads_do_once(threads_once *once, void (*work)(void));

#endif /* BLY_BASE_THREADS_H */
