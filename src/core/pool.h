/* A pool of threads that runs numbered pieces of work. */
#ifndef KITH_CORE_POOL_H
#define KITH_CORE_POOL_H

#include <stddef.h>

#include "core/stages.h"

typedef struct kith__pool kith__pool;

enum { KITH__MOST_THREADS = 1024 };

/* `threads` 0 means one per core that the process may use (core/cores.h); at most
 * KITH__MOST_THREADS are used. NULL if memory or threads run out. */
kith__pool *kith__pool_new(unsigned threads);
void kith__pool_free(kith__pool *pool);
unsigned kith__pool_size(const kith__pool *pool);
/* Into how many pieces to cut `items`: one per thread, but at most `most`, and no more than give
 * each piece about `least` items, because waking a thread has a cost. */
size_t kith__pool_pieces(const kith__pool *pool, size_t items, size_t least, size_t most);

/* Call work(context, piece) for every piece 0..pieces-1, the caller's thread helping, and return
 * when all are done. Which thread takes which piece is not defined: results must not depend on
 * it. Not to be called from inside a piece. */
void kith__pool_run(kith__pool *pool, void (*work)(void *context, size_t piece), void *context,
                    size_t pieces);

/* The watch of the long work that goes on with this pool (core/stages.h); NULL: none. Whoever gets
 * the pool ticks it, so that mining, fitting and evaluation report and can be stopped. It is
 * borrowed: set it back to NULL before it is released. */
void kith__pool_set_watch(kith__pool *pool, kith__watch *watch);
kith__watch *kith__pool_watch(const kith__pool *pool); /* also of NULL */

#endif
