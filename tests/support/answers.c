#include "answers.h"

const char *labelled_source(const random_shape *shape, uint64_t seed)
{
    kith__rng rng;
    draft t = {0};

    kith__rng_init(&rng, seed, 0);
    const char *folder = random_folder(&rng, shape);
    kith_graph *plain = opened(folder);
    for (uint32_t e = 0; e < kith_graph_entity_count(plain); e += 2)
        add(&t, "%s\tlabel %u\n", kith_graph_entity_name(plain, e), e);
    put(folder, "entity_name.txt", t.at);
    draft_release(&t);
    kith_graph_free(plain);
    return folder;
}

static void add_answers(draft *t, kith_session *session, const kith_question *question)
{
    kith_answers *answers;
    kith_error error;

    if (kith_session_ask(&answers, session, question, NULL, &error) != KITH_OK) {
        add(t, "%s\n", error.message);
        return;
    }
    for (size_t i = 0; i < answers->count; i++)
        add(t, "%u %u %.9g %.9g %d\n", answers->at[i]->relation, answers->at[i]->entity,
            (double)answers->at[i]->score, answers->at[i]->probability_if_any,
            answers->at[i]->known);
    kith_answers_free(answers);
}

char *answers_of(kith_model *model, uint32_t step)
{
    const kith_graph *g = kith_model_graph(model);
    kith_session *session = NULL;
    draft t = {0};
    uint32_t id;

    for (uint32_t e = 0; e < kith_graph_entity_count(g); e++) {
        const char *name = kith_graph_entity_name(g, e);
        add(&t, "%s %s %d\n", name, kith_graph_entity_label(g, e),
            kith_graph_find_entity(&id, g, name) == KITH_OK ? (int)id : -1);
    }
    for (int split = 0; split < KITH_SPLITS; split++)
        add(&t, "%s\n", facts(g, split));
    assert_int_equal(kith_session_new(&session, model, NULL), KITH_OK);
    for (uint32_t e = 0; e < kith_graph_entity_count(g); e += step)
        for (uint32_t r = 0; r < kith_graph_seen_relation_count(g); r++) {
            const char *name = kith_graph_entity_name(g, e),
                       *relation = kith_graph_relation_name(g, r);
            add_answers(&t, session, &(kith_question){name, relation, NULL});
            add_answers(&t, session, &(kith_question){NULL, relation, name});
        }
    kith_session_free(session);
    return t.at;
}
