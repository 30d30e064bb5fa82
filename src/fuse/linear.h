/* The linear part of a fusion: weights under which the right rows have the largest share. */
#ifndef KITH_FUSE_LINEAR_H
#define KITH_FUSE_LINEAR_H

#include "fuse/trees.h"

/* Newton's method on the mean of -log share, with a ridge on weights in units of their features'
 * deviation. rows->score is added to each row as it is. Features that no row varies in get 0. */
kith_status kith__linear_fit(float weight[KITH__LINEAR_FEATURES], const kith__lists_of_rows *rows,
                             double ridge, bool all, kith__pool *pool, kith_error *error);

#endif
