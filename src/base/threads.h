/* threads.h - one piece of work cut into parts for all processors, and locks.
 *
 * Without a system (BLY_WITHOUT_SYSTEM, src/base/bare.c) there is one
 * thread, the caller's, and nobody to be locked out.
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

/* How many threads may work for one who allows `most` of them, 1 ..
 * THREADS_MAX; 0 allows as many as this thread has processors. */
unsigned threads_count(uint32_t most);

/* Part `part` of `parts`, 0 first. */
typedef void threads_work(void *context, unsigned part, unsigned parts);

/* Do all parts, each in a thread of its own, this one among them, and wait for
 * them. parts is 1 .. THREADS_MAX. The others block all signals: those are the
 * program's own. Where the system gives no more threads the parts left over are
 * done here, one after another: it cannot fail. */
void threads_run(threads_work *work, void *context, unsigned parts);

/* A lock, held by one thread at a time. */
void threads_lock_make(threads_lock *lock);
void threads_lock_end(threads_lock *lock);
void threads_lock_take(threads_lock *lock);
void threads_lock_give(threads_lock *lock);

/* Call `work` unless it has been; it is done when this returns. `once` began
 * as THREADS_ONCE. */
void threads_do_once(threads_once *once, void (*work)(void));

#endif /* BLY_BASE_THREADS_H */
