/* pthread.h - a thread of a test where there are none: it runs, to its end,
 * where it is made.
 */
#ifndef BLY_BARE_PTHREAD_H
#define BLY_BARE_PTHREAD_H

typedef void *pthread_t;

static inline int pthread_create(pthread_t *thread, const void *attributes,
                                 void *(*start)(void *), void *argument)
{
    (void)attributes;
    *thread = start(argument);
    return 0;
}

static inline int pthread_join(pthread_t thread, void **result)
{
    if (result != NULL)
        *result = thread;
    return 0;
}

#endif /* BLY_BARE_PTHREAD_H */
