/* How fast LAN is trained, over some batches of an epoch that may take an hour. bench-train SOURCE
 * RUN BATCHES [THREADS] Trains with the preset release and lazy Adam and times batches after the
 * first few, in which room is made. CPU seconds are those of all threads: on a machine that others
 * use too, they say more than the clock does. RUN is left unfinished, for the caller to remove. */
#include <kith/kith.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SKIPPED = 5 };

typedef struct {
    unsigned long batches, met;
    double facts, began, cpu_began;
    uint64_t before; /* facts of the epoch before this batch */
} watch;

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void report(const watch *w)
{
    double seconds = seconds_of(CLOCK_MONOTONIC) - w->began;
    double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - w->cpu_began;

    printf("batches=%lu\nfacts=%.0f\nseconds=%.3f\ncpu_seconds=%.3f\n", w->batches, w->facts,
           seconds, cpu);
    printf("facts_per_second=%.0f\nfacts_per_cpu_second=%.0f\n", w->facts / seconds,
           w->facts / cpu);
}

static int count_batches(void *context, const kith_progress *p)
{
    watch *w = context;

    if (p->epoch_done) {
        w->before = 0;
        return 0;
    }
    if (w->met >= SKIPPED)
        w->facts += (double)(p->facts - w->before);
    w->before = p->facts;
    if (++w->met == SKIPPED) {
        w->began = seconds_of(CLOCK_MONOTONIC);
        w->cpu_began = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    }
    if (w->met < SKIPPED + w->batches)
        return 0;
    report(w);
    exit(EXIT_SUCCESS); /* a checkpoint would take longer than the batches */
}

static int fail(const kith_error *error)
{
    fprintf(stderr, "bench-train: %s\n", error->message);
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    watch w = {.batches = argc > 3 ? strtoul(argv[3], NULL, 10) : 0};
    unsigned threads = argc > 4 ? (unsigned)atoi(argv[4]) : 0;
    kith_open_options open = {.threads = threads};
    kith_train_options options = {
        .threads = threads, .progress = count_batches, .context = &w, .checkpoint_seconds = 1e9};
    kith_settings *settings;
    kith_graph *graph = NULL;
    kith_train_end end;
    kith_error error;

    if (w.batches == 0) {
        fprintf(stderr, "usage: bench-train SOURCE RUN BATCHES [THREADS]\n");
        return 2;
    }
    if (kith_settings_new(&settings, "release", &error) != KITH_OK ||
        kith_settings_set(settings, "adam", "lazy", &error) != KITH_OK ||
        kith_settings_set(settings, "eval-every", "0", &error) != KITH_OK ||
        kith_graph_open(&graph, argv[1], &open, &error) != KITH_OK)
        return fail(&error);
    kith_train_consuming(&end, argv[2], graph, settings, &options, &error);
    return fail(&error); /* only reached by an error or too short an epoch */
}
