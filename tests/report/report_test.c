/* Comparisons against a plain computation; charts and pages: well-formed, nothing from outside,
 * names escaped. */
#include <math.h>
#include <unistd.h>

#include "report/compare.h"
#include "report/document.h"
#include "report/jobs.h"
#include "report/pages.h"
#include "support.h"

#define assert_near(a, b) check_near(a, b, __FILE__, __LINE__)
static void check_near(double a, double b, const char *file, int line)
{
    if (!(fabs(a - b) <= 1e-12 * (1 + fabs(b)))) {
        print_error("found %.17g, expected %.17g\n", a, b);
        _fail(file, line);
    }
}

/* ---- statistics ---- */

enum { QUERIES = 400 };

static void random_ranks(outcomes *o, double *ranks, kith__rng *rng, size_t from)
{
    kith_error error;

    *o = (outcomes){0};
    for (size_t i = from; i < QUERIES; i++) {
        ranks[i] = 1 + (double)kith__rng_below(rng, 60) / 2;
        assert_int_equal(outcomes_add_rank(o, outcome_key(format("s%zu", i), "r", "o", "object"),
                                           ranks[i], (int)(i % 4), (int)(i % 7), &error),
                         KITH_OK);
    }
    outcomes_sort(o);
}

static double metric_of(metric m, double rank)
{
    switch (m) {
    case METRIC_MR:
        return rank;
    case METRIC_MRR:
        return 1 / rank;
    case METRIC_HITS1:
        return rank <= 1;
    case METRIC_HITS3:
        return rank <= 3;
    default:
        return rank <= 10;
    }
}

/* Two passes: the mean, then the squares around it. */
static estimate plainly(const double *values, size_t count)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i];
    double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return (estimate){count, mean, sqrt(squares / (double)(count - 1)) / sqrt((double)count)};
}

static void compare__means_and_errors_are_those_of_a_plain_computation(void **state)
{
    kith__rng rng;
    double ranks[QUERIES], values[QUERIES];
    outcomes o;

    (void)state;
    kith__rng_init(&rng, 5, 1);
    random_ranks(&o, ranks, &rng, 0);
    for (int m = 0; m < METRIC_ACCURACY; m++) {
        for (size_t i = 0; i < QUERIES; i++)
            values[i] = metric_of((metric)m, ranks[i]);
        estimate wanted = plainly(values, QUERIES);
        estimate found = outcomes_estimate(&o, (metric)m, GROUP_ALL, 0);
        assert_int_equal(found.queries, QUERIES);
        assert_near(found.mean, wanted.mean);
        assert_near(found.error, wanted.error);
    }
    outcomes_release(&o);
}

static void compare__differences_are_paired_query_by_query(void **state)
{
    kith__rng rng;
    double a_ranks[QUERIES], b_ranks[QUERIES], values[QUERIES];
    outcomes a, b;

    (void)state;
    kith__rng_init(&rng, 6, 1);
    random_ranks(&a, a_ranks, &rng, 0);
    random_ranks(&b, b_ranks, &rng, 100); /* lacks the first hundred */
    for (int group = -1; group < 7; group++) {
        grouping by = group < 0 ? GROUP_ALL : group < 4 ? GROUP_KIND : GROUP_FACTS;
        size_t count = 0;
        for (size_t i = 100; i < QUERIES; i++)
            if (group < 0 || (int)(i % (by == GROUP_KIND ? 4 : 7)) == group)
                values[count++] = 1 / b_ranks[i] - 1 / a_ranks[i];
        estimate wanted = plainly(values, count);
        estimate found = outcomes_difference(&a, &b, METRIC_MRR, by, group);
        assert_int_equal(found.queries, count);
        assert_near(found.mean, wanted.mean);
        assert_near(found.error, wanted.error);
    }
    for (size_t i = 0; i < b.count; i++)
        b.at[i].kind = b.at[i].facts = 0; /* as on another graph */
    outcomes both[] = {a, b};
    assert_int_equal(outcomes_intersect(both, 2), QUERIES - 100);
    assert_int_equal(both[0].count, QUERIES - 100);
    for (int group = 0; group < 7; group++)
        assert_int_equal(outcomes_estimate(&both[0], METRIC_MRR, GROUP_FACTS, group).queries,
                         outcomes_estimate(&both[1], METRIC_MRR, GROUP_FACTS, group).queries);
    outcomes_release(&both[0]);
    outcomes_release(&both[1]);
}

static void compare__seeds_are_averaged_by_query(void **state)
{
    kith__rng rng;
    double ranks[2][QUERIES], values[QUERIES];
    outcomes of[2], mean;
    kith_error error;

    (void)state;
    kith__rng_init(&rng, 7, 1);
    random_ranks(&of[0], ranks[0], &rng, 0);
    random_ranks(&of[1], ranks[1], &rng, 0);
    assert_int_equal(outcomes_average(&mean, of, 2, &error), KITH_OK);
    for (size_t i = 0; i < QUERIES; i++)
        values[i] = (1 / ranks[0][i] + 1 / ranks[1][i]) / 2;
    estimate wanted = plainly(values, QUERIES);
    estimate found = outcomes_estimate(&mean, METRIC_MRR, GROUP_ALL, 0);
    assert_near(found.mean, wanted.mean);
    assert_near(found.error, wanted.error);
    outcomes_release(&of[0]);
    outcomes_release(&of[1]);
    outcomes_release(&mean);
}

static void compare__marks_differences_beyond_two_and_three_errors(void **state)
{
    static const struct {
        estimate difference;
        int mark;
    } cases[] = {{{9, .019, .01}, 0}, {{9, -.021, .01}, 2}, {{9, .031, .01}, 3}, {{9, 0, 0}, 0},
                 {{9, .1, 0}, 3},     {{1, .5, NAN}, 0},    {{0, NAN, NAN}, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(significance(&cases[i].difference), cases[i].mark);
}

static void compare__reads_a_file_of_ranks_and_refuses_a_bad_one(void **state)
{
    const char *good =
        file("ranks.tsv", "subject\trelation\tobject\thidden\toptimistic\t"
                          "pessimistic\trealistic\tcandidates\n"
                          "a\rz\tr\tb\tobject\t1\t2\t1.5\t9\nc\tr\tb\tobject\t4\t4\t4\t9\n");
    const char *bad = file("ranks.tsv", "subject\trelation\tobject\thidden\trealistic\n"
                                        "a\tr\tb\tobject\tfirst\n");
    outcomes o;
    kith_error error;

    (void)state;
    assert_int_equal(outcomes_read(&o, good, &error), KITH_OK);
    assert_near(outcomes_estimate(&o, METRIC_MR, GROUP_ALL, 0).mean, 2.75);
    outcomes_release(&o);
    assert_int_equal(outcomes_read(&o, bad, &error), KITH_ERR_INPUT);
    assert_contains(error.message, "line 2");
}

/* ---- pages ---- */

/* Elements that HTML closes by itself. */
static bool is_void(const char *name, size_t length)
{
    return (length == 4 && strncmp(name, "meta", 4) == 0) ||
           (length == 2 && strncmp(name, "br", 2) == 0) ||
           (length == 3 && strncmp(name, "wbr", 3) == 0);
}

/* Every element is closed in its turn; style sheets are skipped. */
static void assert_well_formed(const char *page)
{
    const char *open[64];
    size_t depth = 0, lengths[64];

    for (const char *at = strchr(page, '<'); at; at = strchr(at, '<')) {
        const char *end = strchr(at, '>');
        assert_non_null(end);
        size_t length = strcspn(at + 1, " />\n");
        if (at[1] == '/') {
            assert_true(depth > 0);
            depth--;
            length = strcspn(at + 2, ">");
            if (length != lengths[depth] || strncmp(at + 2, open[depth], length) != 0)
                fail_msg("found </%.*s>, expected </%.*s>", (int)length, at + 2,
                         (int)lengths[depth], open[depth]);
        } else if (at[1] != '!' && end[-1] != '/' && !is_void(at + 1, length)) {
            assert_true(depth < 64);
            open[depth] = at + 1;
            lengths[depth++] = length;
            if (length == 5 && strncmp(at + 1, "style", 5) == 0)
                end = strstr(at, "</style>") - 1;
        }
        at = end + 1;
    }
    assert_int_equal(depth, 0);
}

static void assert_asks_for_nothing(const char *page)
{
    static const char *const outside[] = {"http:",   "https:",  "src=",  "href=", "url(",
                                          "@import", "<script", "<link", "<img",  "<iframe"};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        if (strstr(page, outside[i]))
            fail_msg("the page holds '%s'", outside[i]);
}

static const char hostile[] = "<script>alert(\"x\")</script> & 'y' \x1b[31m \xe2\x80\xae|\xc2\x9b"
                              "\xe2\x80\x8b\xef\xbb\xbf\xc2\xad\xe2\x81\xa0\xf3\xa0\x81\x81";

static json_t *hostile_document(void)
{
    json_t *document = document_new(hostile, hostile), *figures = figures_new();
    json_t *table = table_new(hostile, "a|#b"), *row = table_row(table);
    json_t *lines = lines_new(hostile, hostile, hostile), *points = lines_series(lines, hostile);
    json_t *details = details_new(hostile);

    document_heading(document, 2, hostile);
    document_text(document, "%s", hostile);
    row_text(row, "%s", hostile);
    json_array_append_new(row, json_pack("{ss s[s] sf ss}", "text", hostile, "small", hostile,
                                         "bar", .5, "mark", "worse"));
    points_add(points, 0, .1);
    points_add(points, 1, .3);
    lines_category(lines, hostile);
    lines_category(lines, "b");
    figures_add(figures, lines);
    figures_add(figures,
                json_pack("{ss ss ss s[{ss sf ss}]}", "type", "bars", "title", hostile, "y", "MRR",
                          "bars", "name", hostile, "value", .3, "note", hostile));
    figures_add(figures, json_pack("{ss ss s[{si sf sf}{si sf sf}]}", "type", "reliability",
                                   "title", hostile, "bins", "answers", 0, "predicted", 0.,
                                   "correct", 0., "answers", 4, "predicted", .9, "correct", 1.));
    figures_add(figures,
                json_pack("{ss ss ss s[{ss ss sf sb ss}{ss ss sf sb ss}]}", "type", "graph",
                          "title", hostile, "center", hostile, "edges", "relation", hostile,
                          "entity", hostile, "weight", .4, "inverse", 1, "note", hostile,
                          "relation", "r", "entity", "e", "weight", -.2, "inverse", 0, "note", ""));
    document_add(document, table);
    document_add(document, figures);
    document_text(details, "%s", hostile);
    document_add(document, details);
    document_add(document, json_pack("{ss s[s]}", "type", "list", "items", hostile));
    return document;
}

static void html__is_well_formed_with_hostile_names_and_asks_for_nothing(void **state)
{
    json_t *document = hostile_document();
    text_buffer page = {0};

    (void)state;
    html_put(&page, document);
    assert_false(page.failed);
    assert_well_formed(page.at);
    assert_asks_for_nothing(page.at);
    assert_contains(page.at, "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;y&#39;");
    assert_null(strchr(page.at, 0x1b));
    assert_null(strstr(page.at, "\xe2\x80\xae"));
    assert_null(strstr(page.at, "\xc2\x9b"));
    assert_null(strstr(page.at, "\xe2\x80\x8b"));
    assert_null(strstr(page.at, "\xef\xbb\xbf"));
    assert_null(strstr(page.at, "\xc2\xad"));
    assert_null(strstr(page.at, "\xe2\x81\xa0"));
    assert_null(strstr(page.at, "\xf3\xa0\x81\x81"));
    text_release(&page);
    json_decref(document);
}

static void markdown__has_the_same_content_with_names_escaped(void **state)
{
    json_t *document = hostile_document();
    text_buffer page = {0};

    (void)state;
    markdown_put(&page, document);
    assert_null(strstr(page.at, "<script"));
    assert_contains(page.at, "\\|");
    assert_contains(page.at, "| predicted probability | correct | answers |");
    assert_contains(page.at, "| 0.900 | 1.000 | 4 |");
    text_release(&page);
    json_decref(document);
}

static void eval__results_of_an_earlier_version_have_a_reliability_diagram(void **state)
{
    json_t *eval = json_pack("{s{sf s[{si sf sf}]}}", "reliability", "expected_error", .1, "bins",
                             "answers", 4, "probability", .75, "right", .5);
    json_t *chart = eval_reliability(eval, "t");

    (void)state;
    assert_near(number_of(json_array_get(json_object_get(chart, "bins"), 0), "predicted"), .75);
    json_decref(chart);
    json_decref(eval);
}

static void svg__an_empty_chart_is_still_a_chart(void **state)
{
    json_t *document = document_new("t", ""), *figures = figures_new();
    json_t *one = lines_new("one point", "x", "y");
    text_buffer page = {0};

    (void)state;
    points_add(lines_series(one, "s"), 3, .5);
    figures_add(figures, lines_new("none", "x", "y"));
    figures_add(figures, one);
    figures_add(figures, json_pack("{ss ss s[]}", "type", "bars", "title", "t", "bars"));
    figures_add(figures,
                json_pack("{ss ss ss s[]}", "type", "graph", "title", "t", "center", "c", "edges"));
    document_add(document, figures);
    html_put(&page, document);
    assert_well_formed(page.at);
    assert_null(strstr(page.at, "nan"));
    assert_null(strstr(page.at, "inf\""));
    text_release(&page);
    json_decref(document);
}

/* Means over seeds may differ in their last bit alone. */
static void svg__an_axis_ends_whatever_the_values(void **state)
{
    static const double values[][2] = {{.5, .5 + 1e-16},
                                       {1. / 3, 1. / 3 + 1e-16},
                                       {1e17, 1e17 + 16},
                                       {-1e308, 1e308},
                                       {0, 5e-324},
                                       {-3, -3},
                                       {0, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        json_t *chart = lines_new("t", "x", "y"), *points = lines_series(chart, "s");
        text_buffer out = {0};
        points_add(points, values[i][0], values[i][1]);
        points_add(points, values[i][1], values[i][0]);
        alarm(20);
        svg_put(&out, chart);
        alarm(0);
        assert_true(out.length < 20000);
        text_release(&out);
        json_decref(chart);
    }
}

static void svg__a_series_has_the_colour_of_its_place_among_all_models(void **state)
{
    json_t *document = document_new("t", ""), *figures = figures_new();
    json_t *chart = lines_new("t", "x", "y");
    text_buffer page = {0};

    (void)state;
    points_add(lines_series(chart, "a"), 0, .1);
    lines_color(chart, 0);
    points_add(lines_series(chart, "c"), 0, .3); /* b has no line in this chart */
    lines_color(chart, 2);
    figures_add(figures, chart);
    document_add(document, figures);
    html_put(&page, document);
    assert_contains(page.at, "<path class=\"line c0 d0\"");
    assert_contains(page.at, "<path class=\"line c2 d2\"");
    assert_contains(strstr(page.at, "class=\"legend\""), "line c2 d2");
    assert_null(strstr(page.at, "<path class=\"line c1"));
    text_release(&page);
    json_decref(document);
}

static void svg__no_two_of_many_lines_look_the_same(void **state)
{
    enum { LINES = 32 };
    json_t *chart = lines_new("t", "x", "y");
    char *seen[LINES];
    text_buffer out = {0};

    (void)state;
    for (int i = 0; i < LINES; i++) {
        points_add(lines_series(chart, format("m%d", i)), 0, .1);
        lines_color(chart, (size_t)i);
    }
    svg_put(&out, chart);
    char *at = out.at;
    for (int i = 0; i < LINES; i++) {
        at = strstr(at + 1, "class=\"line");
        assert_non_null(at);
        seen[i] = at;
        for (int k = 0; k < i; k++)
            assert_int_not_equal(strncmp(seen[k], seen[i], strlen("class=\"line c0 d0\"")), 0);
    }
    text_release(&out);
    json_decref(chart);
}

static void svg__names_are_cut_by_their_width(void **state)
{
    /* Twelve characters of double width are as wide as 24 letters; a place has 19. */
    static const char twelve[] = "\xe6\x9d\xb1\xe6\x9d\xb1\xe6\x9d\xb1\xe6\x9d\xb1"
                                 "\xe6\x9d\xb1\xe6\x9d\xb1\xe6\x9d\xb1\xe6\x9d\xb1"
                                 "\xe6\x9d\xb1\xe6\x9d\xb1\xe6\x9d\xb1\xe6\x9d\xb1";
    json_t *chart = json_pack("{ss ss ss s[{ss ss ss}{ss ss ss}]}", "type", "graph", "title", "t",
                              "center", "c", "edges", "relation", "r", "entity", twelve, "note", "",
                              "relation", "r", "entity", "twenty-one letters!!!", "note", "");
    text_buffer out = {0};

    (void)state;
    svg_put(&out, chart);
    assert_null(strstr(out.at, twelve));
    assert_contains(out.at, "\xe6\x9d\xb1\xe2\x80\xa6</text>");
    assert_contains(out.at, ">twenty-one letters!!!</text>");
    text_release(&out);
    json_decref(chart);
}

static void svg__bars_show_errors_up_to_the_largest_mean(void **state)
{
    json_t *chart = json_pack("{ss ss ss s[{ss sf sf ss}]}", "type", "bars", "title", "t", "y",
                              "MRR", "bars", "name", "b", "value", .95, "error", .1, "note", "");
    text_buffer out = {0};

    (void)state;
    svg_put(&out, chart);
    assert_contains(out.at, "class=\"whisker\"");
    assert_contains(out.at, ">1.0</text>");
    assert_null(strstr(out.at, ">1.25</text>"));
    text_release(&out);
    json_decref(chart);
}

/* A question with two facts, of which the second is behind a rule with another entity in
 * between. */
static json_t *explained_question(void)
{
    return json_pack(
        "{s{ss ss sn} s[{ss sf sf sf sf sf sb}] s[{ss sb ss}{ss sb ss}] s[{ss sf sf s[{ss}] "
        "s[{ss s{ss sb} s{ss sb} ss sf si si}{ss s{ss sb} s{ss sb} ss sf si si}] s[]}]}",
        "query", "subject", "s", "relation", "q", "object", "answers", "entity", "a", "score", 2.,
        "probability_if_any", .99, "probability", .04, "low", .01, "high", .16, "known", 0,
        "neighbors", "relation", "other", "inverse", 0, "entity", "x", "relation", "r", "inverse",
        1, "entity", "m", "contributions", "entity", "a", "score", 2., "rules", 2., "features",
        "name", "b", "reasons", "kind", "path", "first", "relation", "r", "inverse", 1, "second",
        "relation", "t", "inverse", 0, "between", "m", "confidence", .7, "support", 7, "body_count",
        9, "kind", "path", "first", "relation", "r", "inverse", 1, "second", "relation", "t",
        "inverse", 0, "between", "n", "confidence", .7, "support", 7, "body_count", 9, "path");
}

static void explain__the_fact_behind_a_rule_is_the_thickest(void **state)
{
    json_t *question = explained_question(), *chart = explain_graph(question, NULL, "t");
    const json_t *edges = json_object_get(chart, "edges");

    (void)state;
    assert_int_equal(json_array_size(edges), 2);
    assert_string_equal(text_of(json_array_get(edges, 0), "entity"), "m");
    assert_near(number_of(json_array_get(edges, 0), "weight"), .7);
    assert_contains(text_of(json_array_get(edges, 0), "note"), "confidence of the rule 0.7");
    assert_near(number_of(json_array_get(edges, 1), "weight"), 0);
    json_decref(chart);
    json_decref(question);
}

static void explain__a_rule_is_told_once_and_both_probabilities_are_shown(void **state)
{
    json_t *list = json_pack("[o]", explained_question());
    json_t *page = explain_page(list, 1, "run", NULL);
    text_buffer out = {0};

    (void)state;
    html_put(&out, page);
    assert_well_formed(out.at);
    assert_contains(out.at, "also through");
    assert_contains(out.at, "Correct in 7 of 9 cases");
    assert_null(strstr(strstr(out.at, "Correct in") + 1, "Correct in"));
    assert_contains(out.at, "4.0 %");
    assert_contains(out.at, "1.0\xe2\x80\x93"
                            "16.0 %");
    assert_contains(out.at, "99.0 %");
    text_release(&out);
    json_decref(page);
    json_decref(list);
}

/* Explanations of earlier versions have the verdict in an object of its own. */
static void explain__the_page_has_the_verdict_of_any_version(void **state)
{
    static const char verdict[] = "Verdict: likely, probability 70.0 %; rank 2 of 9 candidates.";

    (void)state;
    for (int earlier = 0; earlier < 2; earlier++) {
        json_t *question = explained_question();
        json_t *keys = json_pack("{ss sf si si}", "verdict", "likely", "probability", .7, "rank", 2,
                                 "candidates", 9);
        text_buffer out = {0};
        if (earlier)
            json_object_set(question, "verdict", keys);
        else
            json_object_update(question, keys);
        json_t *list = json_pack("[o]", question), *page = explain_page(list, 1, "run", NULL);
        html_put(&out, page);
        assert_contains(out.at, verdict);
        text_release(&out);
        json_decref(page);
        json_decref(list);
        json_decref(keys);
    }
}

/* The page of a question about s, from the JSON of its first answer. */
static char *explained_page(const char *contribution)
{
    json_t *list = json_pack("[{s{ss ss sn} ss s[{ss sf}] s[o]}]", "query", "subject", "s",
                             "relation", "q", "object", "explained", "q", "answers", "entity", "a",
                             "score", 2.5, "contributions", json_loads(contribution, 0, NULL));
    json_t *page = explain_page(list, 1, "run", NULL);
    text_buffer out = {0};

    html_put(&out, page);
    assert_well_formed(out.at);
    json_decref(page);
    json_decref(list);
    return out.at;
}

static void explain__the_parts_of_a_score_add_up_to_it(void **state)
{
    char *page =
        explained_page("{\"entity\": \"a\", \"score\": 2.5, \"rules\": 1, \"proximity\": 0.5,"
                       "\"prior\": 0, \"embedding\": 1, \"rest\": 0.75,"
                       "\"features\": [{}], \"reasons\": [], \"path\": []}");

    (void)state;
    assert_contains(page, "Score 2.500 = rules +1.000, proximity +0.500, embedding +1.000.");
    free(page);
}

#define THREE_STEPS(x, y)                                                                          \
    "{\"kind\": \"path3\", \"first\": {\"relation\": \"l\", \"inverse\": false},"                  \
    "\"second\": {\"relation\": \"l\", \"inverse\": true},"                                        \
    "\"third\": {\"relation\": \"c\", \"inverse\": false}, \"between\": \"" x "\","                \
    "\"between_second\": \"" y "\", \"confidence\": 0.5, \"support\": 1, \"body_count\": 2}"

static void explain__other_ways_of_a_rule_are_told_by_what_differs(void **state)
{
    char *page = explained_page(
        "{\"entity\": \"a\", \"score\": 2.5, \"features\": [{}], \"path\": [], \"reasons\": "
        "[" THREE_STEPS("french", "p1") "," THREE_STEPS("french", "p2") "," THREE_STEPS(
            "french", "p2") "," THREE_STEPS("dutch", "p1") "," THREE_STEPS("dutch", "p3") "]}");

    (void)state;
    assert_contains(page, "also through " MARK_LTR "p2, " MARK_LTR "dutch, " MARK_LTR
                          "dutch" MARK_LTR " and then " MARK_LTR "p3" MARK_LTR ". Correct");
    free(page);
}

static void explain__a_rule_of_one_step_says_its_conclusion(void **state)
{
    char *page = explained_page(
        "{\"entity\": \"a\", \"score\": 2.5, \"features\": [{}], \"path\": [], \"reasons\": ["
        "{\"kind\": \"constant\", \"first\": {\"relation\": \"job\", \"inverse\": false},"
        "\"between\": \"director\", \"confidence\": 0.1, \"support\": 3, \"body_count\": 53}]}");

    (void)state;
    assert_contains(page, "director" MARK_LTR " \xe2\x87\x92 " MARK_LTR "s" MARK_LTR
                          " \xe2\x80\x94 q" MARK_LTR " \xe2\x86\x92 " MARK_LTR "a" MARK_LTR
                          ". Correct in 3 of 53 cases");
    free(page);
}

/* ---- durations ---- */

static void duration__any_number_of_seconds_has_a_text(void **state)
{
    static const struct {
        double seconds;
        const char *text;
    } rows[] = {{0, "0:00"},
                {59.6, "1:00"},
                {3661, "1:01:01"},
                {-1e300, "0:00"},
                {NAN, "0:00"},
                {1e300, "over 3168 years"},
                {INFINITY, "over 3168 years"}};
    char text[32];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(duration_text(text, rows[i].seconds), rows[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compare__means_and_errors_are_those_of_a_plain_computation),
        cmocka_unit_test(compare__differences_are_paired_query_by_query),
        cmocka_unit_test(compare__seeds_are_averaged_by_query),
        cmocka_unit_test(compare__marks_differences_beyond_two_and_three_errors),
        cmocka_unit_test(compare__reads_a_file_of_ranks_and_refuses_a_bad_one),
        cmocka_unit_test(html__is_well_formed_with_hostile_names_and_asks_for_nothing),
        cmocka_unit_test(markdown__has_the_same_content_with_names_escaped),
        cmocka_unit_test(eval__results_of_an_earlier_version_have_a_reliability_diagram),
        cmocka_unit_test(svg__an_empty_chart_is_still_a_chart),
        cmocka_unit_test(svg__an_axis_ends_whatever_the_values),
        cmocka_unit_test(svg__a_series_has_the_colour_of_its_place_among_all_models),
        cmocka_unit_test(svg__no_two_of_many_lines_look_the_same),
        cmocka_unit_test(svg__names_are_cut_by_their_width),
        cmocka_unit_test(svg__bars_show_errors_up_to_the_largest_mean),
        cmocka_unit_test(explain__the_fact_behind_a_rule_is_the_thickest),
        cmocka_unit_test(duration__any_number_of_seconds_has_a_text),
        cmocka_unit_test(explain__a_rule_is_told_once_and_both_probabilities_are_shown),
        cmocka_unit_test(explain__the_page_has_the_verdict_of_any_version),
        cmocka_unit_test(explain__the_parts_of_a_score_add_up_to_it),
        cmocka_unit_test(explain__other_ways_of_a_rule_are_told_by_what_differs),
        cmocka_unit_test(explain__a_rule_of_one_step_says_its_conclusion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
