/* A pool of threads that runs numbered pieces of work. */
#ifndef KITH_CORE_POOL_H
#define KITH_CORE_POOL_H

#include <stddef.h>

typedef struct kith__pool kith__pool;

/* `threads` 0 means one per core that the process may use (core/cores.h). NULL where memory or
 * threads are short. */
kith__pool *kith__pool_new(unsigned threads);
void kith__pool_free(kith__pool *pool);
unsigned kith__pool_size(const kith__pool *pool);

/* Call work(context, piece) for every piece 0..pieces-1, the caller's thread helping, and return
 * when all are done. Which thread takes which piece is not defined: results must not depend on
 * it. Not to be called from inside a piece. */
void kith__pool_run(kith__pool *pool, void (*work)(void *context, size_t piece), void *context,
                    size_t pieces);

#endif
