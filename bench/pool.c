/* The cost of waiting in a pool of threads: bench-pool [-b BUSY] [-r ROUNDS]. Short steps like
 * those of training run on three pools in turn: kith's, which spins while the cores are free, one
 * that always spins and one that never does. With -b, that many other processes are busy meanwhile.
 * Prints the median and the best time of a series of steps, and their ratios. The source is
 * included to control the pool's behaviour. */
#include "../src/core/pool.c"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { POOLS = 3, STEPS = 2000, PIECES = 4, MOST_BUSY = 64 };

static const char *const names[POOLS] = {"spins alone", "always", "never"};

/* About fifteen microseconds. */
static void work(void *context, size_t piece)
{
    volatile float *sums = context;
    float sum = (float)piece;

    for (int i = 0; i < 12000; i++)
        sum = sum * .999f + (float)i;
    sums[16 * piece] = sum;
}

static void set_kind(kith__pool *pool, int kind)
{
    pool->more_than_cores = kind == 2;
    if (kind == 1)
        pool->next_check = UINT64_MAX; /* never checks for crowding */
}

static double stretch(kith__pool *pool, float *sums)
{
    uint64_t from = now();

    for (int i = 0; i < STEPS; i++)
        kith__pool_run(pool, work, sums, PIECES);
    return (double)(now() - from) / 1e9;
}

static void be_busy(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile unsigned n = 0;; n++)
        ;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_results(double *times, size_t rounds)
{
    double median[POOLS], best[POOLS];

    for (int kind = 0; kind < POOLS; kind++) {
        qsort(times + kind * rounds, rounds, sizeof *times, compare);
        median[kind] = times[kind * rounds + rounds / 2];
        best[kind] = times[kind * rounds];
        printf("%-12s median %.4f s, best %.4f s for %d steps\n", names[kind], median[kind],
               best[kind], STEPS);
    }
    for (int kind = 1; kind < POOLS; kind++)
        printf("%s / %s: median %.3f, best %.3f\n", names[0], names[kind], median[0] / median[kind],
               best[0] / best[kind]);
}

int main(int argc, char **argv)
{
    long busy = 0, rounds = 31;
    pid_t children[MOST_BUSY];
    float sums[16 * PIECES];

    for (int option; (option = getopt(argc, argv, "b:r:")) != -1;)
        *(option == 'b' ? &busy : &rounds) = strtol(optarg, NULL, 10);
    if (busy < 0 || busy > MOST_BUSY || rounds < 1)
        return 2;
    for (long i = 0; i < busy; i++)
        if ((children[i] = fork()) == 0)
            be_busy();
    double *times = calloc((size_t)rounds, POOLS * sizeof *times);
    for (long round = 0; round < rounds; round++)
        for (int kind = 0; kind < POOLS; kind++) {
            /* one at a time, because waiting threads of other pools may spin */
            kith__pool *pool = kith__pool_new(0);
            set_kind(pool, kind);
            stretch(pool, sums);
            times[kind * rounds + round] = stretch(pool, sums);
            kith__pool_free(pool);
        }
    print_results(times, (size_t)rounds);
    for (long i = 0; i < busy; i++)
        kill(children[i], SIGKILL);
    free(times);
    return 0;
}
