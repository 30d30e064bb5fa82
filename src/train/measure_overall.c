/* How well overall probabilities are calibrated on entities that they were not fitted on. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "train/fit_overall.h"

/* With fewer entities in a half, nothing is measured. */
enum { FEWEST_IN_HALF = 25 };

/* An answer with its probability by the calibration of the other half. */
typedef struct {
    const kith__overall_example *example;
    double probability, if_any;
} judged;

static int likelier_first(const void *a, const void *b)
{
    const judged *x = a, *y = b;

    if (x->probability != y->probability)
        return x->probability > y->probability ? -1 : 1;
    return (x->example > y->example) - (x->example < y->example);
}

static void add_best(kith__probability_tables *to, int table, judged *answers, size_t count)
{
    qsort(answers, count, sizeof *answers, likelier_first);
    for (size_t i = 0; i < count && i < KITH__TABLE_ANSWERS; i++)
        kith__probability_table_add(
            &to->of[table], table == KITH__IF_ANY ? answers[i].if_any : answers[i].probability,
            answers[i].example->right);
}

/* The answers of one query, which may be in any order afterwards. */
static void add_query(kith__probability_tables *to, judged *answers, size_t count)
{
    to->queries++;
    add_best(to, KITH__OF_RELATIONS, answers, count);
    if (answers[0].example->answered)
        add_best(to, KITH__IF_ANY, answers, count);
}

static void add_description(kith__probability_tables *to, judged *answers, size_t count)
{
    for (size_t from = 0, end; from < count; from = end) {
        uint32_t query = answers[from].example->query;
        for (end = from; end < count && answers[end].example->query == query;)
            end++;
        add_query(to, answers + from, end - from);
    }
    add_best(to, KITH__OF_PAIRS, answers, count);
}

static size_t judge_half(judged *answers, const kith__overall *overall,
                         const kith__overall_example *examples, size_t count, uint32_t half)
{
    size_t judged_count = 0;

    for (size_t i = 0; i < count; i++) {
        const kith__overall_example *e = &examples[i];
        if (e->entity % 2 != half)
            continue;
        judged *next = &answers[judged_count++];
        *next = (judged){e, kith__overall_of_inputs(overall, e->inputs), 0};
        kith__overall_has(&next->if_any, kith__overall_input_has(e->inputs), next->probability);
    }
    return judged_count;
}

static kith_status fit_half(kith__overall *overall, kith__overall_example *some,
                            const kith__overall_example *examples, size_t count, uint32_t entities,
                            uint32_t half, kith_error *error)
{
    size_t used = 0;

    for (size_t i = 0; i < count; i++)
        if (examples[i].entity % 2 == half) {
            some[used] = examples[i];
            some[used++].entity /= 2;
        }
    return kith__overall_fit_examples(overall, some, used, (entities + 1 - half) / 2, error);
}

kith_status kith__overall_measure(kith__probability_tables *tables,
                                  const kith__overall_example *examples, size_t count,
                                  uint32_t entities, kith_error *error)
{
    kith__overall_example *some = kith__alloc(count, sizeof *some);
    judged *answers = kith__alloc(count, sizeof *answers);
    kith__overall overall;
    kith_status status = KITH_OK;

    *tables = (kith__probability_tables){0};
    if (entities / 2 < FEWEST_IN_HALF)
        goto cleanup;
    if (!some || !answers)
        TRY(kith__no_memory(error));
    for (uint32_t half = 0; half < 2; half++) {
        TRY(fit_half(&overall, some, examples, count, entities, 1 - half, error));
        size_t in_half = overall.fitted ? judge_half(answers, &overall, examples, count, half) : 0;
        for (size_t from = 0, end; from < in_half; from = end) {
            uint32_t description = answers[from].example->description;
            for (end = from; end < in_half && answers[end].example->description == description;)
                end++;
            add_description(tables, answers + from, end - from);
        }
    }
    tables->entities = entities;
    kith__probability_tables_finish(tables);
cleanup:
    kith__free(some);
    kith__free(answers);
    return status;
}
