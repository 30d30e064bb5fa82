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
    *d = (display){.began = now(), .quiet = quiet};
    snprintf(d->title, sizeof d->title, "%s", title);
    d->terminal = isatty(STDERR_FILENO) && !quiet;
}

void display_end(const display *d)
{
    (void)d;
    clear_status();
}

static const char *duration(char out[32], double seconds)
{
    long s = seconds < 1e9 ? (long)(seconds + .5) : 1000000000;

    if (s >= 3600)
        snprintf(out, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, 32, "%ld:%02ld", s / 60, s % 60);
    return out;
}

static void show_line(display *d, const kith_progress *p)
{
    double time = now() - d->began, rate = time > 0 ? d->facts / time : 0;
    double left = (double)(p->epochs - p->epoch) * (double)p->facts_total +
                  (double)(p->facts_total - p->facts);
    char text[256], number[GROUPED], time_left[32];
    int used = snprintf(text, sizeof text, "%sepoch %u/%u  %3.0f %%  loss %.5f  %s facts/s",
                        d->title, p->epoch, p->epochs,
                        100.0 * (double)p->facts / (double)p->facts_total, p->loss,
                        grouped(number, (uint64_t)rate));

    if (rate > 0)
        snprintf(text + used, sizeof text - (size_t)used, "  %s left",
                 duration(time_left, left / rate));
    show_status(text);
    d->shown = now();
}

/* "ranking 42 % 1,234/s 0:10 left", without the parts that are not known. */
static void show_stage_line(const display *d, const kith_stage *stage)
{
    double rate = stage->seconds > 0 ? (double)stage->done / stage->seconds : 0;
    char text[256], number[GROUPED], time_left[32];
    int used = snprintf(text, sizeof text, "%s%.100s", d->title, stage->name);

    if (stage->total > 0 && stage->done <= stage->total)
        used += snprintf(text + used, sizeof text - (size_t)used, "  %3.0f %%",
                         100.0 * (double)stage->done / (double)stage->total);
    if (rate >= 1)
        used += snprintf(text + used, sizeof text - (size_t)used, "  %s/s",
                         grouped(number, (uint64_t)rate));
    if (rate > 0 && stage->total >= stage->done && stage->total > 0)
        snprintf(text + used, sizeof text - (size_t)used, "  %s left",
                 duration(time_left, (double)(stage->total - stage->done) / rate));
    show_status(text);
}

int show_stage(void *context, const kith_stage *stage)
{
    display *d = context;

    if (d->terminal && strcmp(stage->name, "training") != 0 && stage->seconds > .5 &&
        now() - d->shown > .2) {
        show_stage_line(d, stage);
        d->shown = now();
    }
    return was_stopped();
}

display *watching(const common_arguments *a)
{
    static display shared;

    if (shared.began == 0)
        display_begin(&shared, a->quiet, "");
    stop_soon();
    return &shared;
}

int show_count(const common_arguments *a, const char *name, size_t done, size_t total)
{
    display *d = watching(a);
    static double began;

    if (done <= 1)
        began = now();
    return show_stage(d, &(kith_stage){.size = sizeof(kith_stage),
                                       .name = name,
                                       .done = done,
                                       .total = total,
                                       .seconds = now() - began});
}

kith_work_options work_options(const common_arguments *a)
{
    return (kith_work_options){.size = sizeof(kith_work_options),
                               .threads = (unsigned)a->threads,
                               .watch = show_stage,
                               .context = watching(a)};
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
        put(stderr, "%sepoch %u  loss %.5f  dev %.4f%s\n", d->title, p->epoch, p->loss, p->dev,
            p->best ? "  (best so far, kept)" : "");
    return was_stopped();
}
