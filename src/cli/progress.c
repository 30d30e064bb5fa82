#include "cli/progress.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

bool was_interrupted(void)
{
    return interrupted;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void display_begin(display *d, bool quiet, const char *title)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

    *d = (display){.title = title, .began = now(), .quiet = quiet};
    d->terminal = isatty(STDERR_FILENO) && !quiet;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void display_end(const display *d)
{
    if (d->terminal)
        fprintf(stderr, "\r\033[K");
}

static void print_duration(FILE *out, double seconds)
{
    long s = (long)(seconds + .5);
    if (s >= 3600)
        fprintf(out, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        fprintf(out, "%ld:%02ld", s / 60, s % 60);
}

static void show_line(display *d, const kith_progress *p)
{
    double time = now() - d->began, rate = time > 0 ? d->facts / time : 0;
    double left = (double)(p->epochs - p->epoch) * (double)p->facts_total +
                  (double)(p->facts_total - p->facts);
    char text[GROUPED];

    fprintf(stderr, "\r\033[K%sepoch %u/%u  %3.0f %%  loss %.5f  %s facts/s  ", d->title, p->epoch,
            p->epochs, 100.0 * (double)p->facts / (double)p->facts_total, p->loss,
            grouped(text, (uint64_t)rate));
    if (rate > 0) {
        print_duration(stderr, left / rate);
        fprintf(stderr, " left");
    }
    d->shown = now();
}

int show_progress(void *context, const kith_progress *p)
{
    display *d = context;

    if (!p->epoch_done) {
        d->facts += (double)p->facts - d->last_facts;
        d->last_facts = (double)p->facts;
        if (d->terminal && now() - d->shown > .2 && now() - d->began > 1)
            show_line(d, p);
        return interrupted;
    }
    d->last_facts = 0;
    if (p->evaluated && !d->quiet)
        fprintf(stderr, "%s%sepoch %u  loss %.5f  dev %.4f%s\n", d->terminal ? "\r\033[K" : "",
                d->title, p->epoch, p->loss, p->dev, p->best ? "  (best so far, kept)" : "");
    return interrupted;
}
