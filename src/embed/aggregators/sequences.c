#include "embed/aggregators/sequences.h"

#include "core/mem.h"

enum { STEPS_A_GROUP = 8192 };

int kith__sequence_longer(const void *a, const void *b)
{
    const kith__sequence *x = a, *y = b;
    if (x->steps != y->steps)
        return x->steps < y->steps ? 1 : -1;
    return (x->encoding > y->encoding) - (x->encoding < y->encoding);
}

/* How many sequences of a group are still running at a step: they are sorted by length. */
size_t kith__sequences_running(const kith__sequences *p, const kith__sequence_group *g, size_t step,
                               size_t at_most)
{
    while (at_most > 0 && p->sequences[g->first + at_most - 1].steps <= step)
        at_most--;
    return at_most;
}

static void lay_out(kith__sequences *p, kith__sequence_group *g)
{
    g->rows = 0;
    for (size_t t = 0, running = g->count; t < g->steps; t++) {
        running = kith__sequences_running(p, g, t, running);
        g->begin[t] = g->rows;
        g->rows += running;
    }
}

/* A group has a limited number of sequences and steps, or one sequence. Kept and other sequences
 * are not mixed. */
static size_t end_of_group(const kith__sequences *p, size_t first)
{
    size_t end = first, steps = 0;

    while (end < p->count && end - first < KITH__SEQUENCES_A_GROUP) {
        const kith__sequence *q = &p->sequences[end];
        steps += q->steps;
        if (end > first && (steps > STEPS_A_GROUP || !q->home != !p->sequences[first].home))
            break;
        end++;
    }
    return end;
}

int kith__sequences_cut(kith__sequences *p)
{
    size_t steps = 0;

    p->group_count = 0;
    for (size_t i = 0; i < p->count; i = end_of_group(p, i)) {
        p->group_count++;
        steps += p->sequences[i].steps;
    }
    if (KITH__GROW(p, groups, p->group_count) || KITH__GROW(p, begin, steps))
        return -1;
    size_t *begin = p->begin;
    for (size_t k = 0, i = 0, end; k < p->group_count; k++, i = end) {
        end = end_of_group(p, i);
        p->groups[k] = (kith__sequence_group){i, end - i, p->sequences[i].steps, 0, begin, NULL, 0};
        begin += p->sequences[i].steps;
        lay_out(p, &p->groups[k]);
    }
    return 0;
}

void kith__sequences_settle(kith__sequences *p, kith__sequence_group *g)
{
    for (size_t k = 0; k < g->count; k++) {
        p->sequences[g->first + k].home = g;
        p->sequences[g->first + k].place = k;
    }
}

int kith__sequence_rows_reserve(kith__sequence_rows *r, const kith__encoder *e, size_t count)
{
    return KITH__GROW(r, gates, count * e->hs) || KITH__GROW(r, c, count * e->ds) ||
           KITH__GROW(r, h, count * e->ds);
}
