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
/* The number of threads that such a pool has if they can be started. */
unsigned kith__pool_wanted(unsigned threads);
void kith__pool_free(kith__pool *pool);
unsigned kith__pool_size(const kith__pool *pool);
/* The number of pieces to cut `items` into: one per thread, but at most `most`, and so few that
 * each piece has about `least` items, because waking a thread has a cost. */
size_t kith__pool_pieces(const kith__pool *pool, size_t items, size_t least, size_t most);

/* Call work(context, piece) for every piece 0..pieces-1, on the caller's thread too, and return
 * when all are done. Which thread runs which piece is undefined: results must not depend on it.
 * Must not be called from inside a piece. */
void kith__pool_run(kith__pool *pool, void (*work)(void *context, size_t piece), void *context,
                    size_t pieces);

/* Set the watch of the long work that uses this pool (core/stages.h); NULL: none. Functions that
 * get the pool tick the watch, so that mining, fitting and evaluation report progress and can be
 * stopped. The watch is borrowed: set it back to NULL before releasing it. */
void kith__pool_set_watch(kith__pool *pool, kith__watch *watch);
kith__watch *kith__pool_watch(const kith__pool *pool); /* the pool may be NULL */

#endif
