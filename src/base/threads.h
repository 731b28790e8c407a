/* threads.h - one piece of work cut into parts for all processors.
 *
 * Floor 0.
 */
#ifndef BLY_BASE_THREADS_H
#define BLY_BASE_THREADS_H

#include <stdint.h>

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

#endif /* BLY_BASE_THREADS_H */
