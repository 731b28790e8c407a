/* threads.h - one piece of work cut into parts for all processors.
 *
 * Floor 0.
 */
#ifndef BLY_BASE_THREADS_H
#define BLY_BASE_THREADS_H

enum { THREADS_MAX = 64 };

/* How many processors this system has, but at most THREADS_MAX. */
unsigned threads_count(void);

/* Part `part` of `parts`, 0 first. */
typedef void threads_work(void *context, unsigned part, unsigned parts);

/* Do all parts, each in a thread of its own, this one among them, and wait for
 * them. parts is 1 .. THREADS_MAX. Where the system gives no more threads the
 * parts left over are done here, one after another: it cannot fail. */
void threads_run(threads_work *work, void *context, unsigned parts);

#endif /* BLY_BASE_THREADS_H */
