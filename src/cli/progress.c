#include "cli/progress.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/signals.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void display_begin(display *d, bool quiet, const char *title)
{
    *d = (display){.title = title, .began = now(), .quiet = quiet};
    d->terminal = isatty(STDERR_FILENO) && !quiet;
}

void display_end(const display *d)
{
    if (d->terminal)
        put(stderr, "\r\033[K");
}

static void print_duration(FILE *out, double seconds)
{
    long s = (long)(seconds + .5);
    if (s >= 3600)
        put(out, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        put(out, "%ld:%02ld", s / 60, s % 60);
}

static void show_line(display *d, const kith_progress *p)
{
    double time = now() - d->began, rate = time > 0 ? d->facts / time : 0;
    double left = (double)(p->epochs - p->epoch) * (double)p->facts_total +
                  (double)(p->facts_total - p->facts);
    char text[GROUPED];

    put(stderr, "\r\033[K%sepoch %u/%u  %3.0f %%  loss %.5f  %s facts/s  ", d->title, p->epoch,
        p->epochs, 100.0 * (double)p->facts / (double)p->facts_total, p->loss,
        grouped(text, (uint64_t)rate));
    if (rate > 0) {
        print_duration(stderr, left / rate);
        put(stderr, " left");
    }
    d->shown = now();
}

int show_stage(void *context, const kith_stage *stage)
{
    const display *d = context;

    if (d->terminal && strcmp(stage->name, "training") != 0 && stage->seconds > .5) {
        put(stderr, "\r\033[K%s%s", d->title, stage->name);
        if (stage->total > 0)
            put(stderr, "  %3.0f %%", 100.0 * (double)stage->done / (double)stage->total);
    }
    return was_stopped();
}

int show_progress(void *context, const kith_progress *p)
{
    display *d = context;

    if (!p->epoch_done) {
        d->facts += (double)p->facts - d->last_facts;
        d->last_facts = (double)p->facts;
        if (d->terminal && now() - d->shown > .2 && now() - d->began > 1)
            show_line(d, p);
        return was_stopped();
    }
    d->last_facts = 0;
    if (p->evaluated && !d->quiet)
        put(stderr, "%s%sepoch %u  loss %.5f  dev %.4f%s\n", d->terminal ? "\r\033[K" : "",
            d->title, p->epoch, p->loss, p->dev, p->best ? "  (best so far, kept)" : "");
    return was_stopped();
}
