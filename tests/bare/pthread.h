/* pthread.h - threads for tests on systems without them: each runs to its end
 * inside pthread_create.
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
