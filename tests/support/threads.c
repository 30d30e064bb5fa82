#include "threads.h"

#include <pthread.h>

size_t threads_made;

int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument)
{
    threads_made++;
    return __real_pthread_create(thread, attributes, run, argument);
}
