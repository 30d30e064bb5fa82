#include "fuse/trees.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

enum { BINS = 64, MOST_LEAVES = 64, SAMPLE = 50000, PATIENCE = 40 };

/* ---- using them ---- */

float kith__trees_value(const kith__trees *t, const float *feature)
{
    float sum = 0;

    for (size_t i = 0; i < t->count; i++) {
        const kith__node *n = &t->node[t->root[i]];
        while (n->feature >= 0)
            n = &t->node[feature[n->feature] < n->threshold ? n->left : n->right];
        sum += n->value;
    }
    return sum;
}

float kith__trees_parts(float *part, const kith__trees *t, const float *feature)
{
    float start = 0;

    for (size_t i = 0; i < t->count; i++) {
        const kith__node *n = &t->node[t->root[i]];
        start += n->value;
        while (n->feature >= 0) {
            const kith__node *next =
                &t->node[feature[n->feature] < n->threshold ? n->left : n->right];
            part[n->feature] += next->value - n->value;
            n = next;
        }
    }
    return start;
}

void kith__trees_release(kith__trees *t)
{
    kith__free(t->root);
    kith__free(t->node);
    memset(t, 0, sizeof *t);
}

/* ---- fitting ---- */

typedef struct {
    double gradient, hessian;
} sums;

typedef struct {
    size_t from, to; /* rows order[from] .. order[to - 1] */
    uint32_t node;
    double gradient, hessian;
    /* The best cut. */
    double gain;
    int feature, bin;
    sums *histogram; /* features x BINS */
} leaf;

typedef struct {
    const kith__lists_of_rows *rows;
    const kith__trees_options *options;
    kith__pool *pool;
    bool all;
    uint8_t *bin;   /* features x rows */
    float cut[KITH__FEATURES_COUNT][BINS]; /* bin b: below cut[b], not below cut[b - 1] */
    int bins[KITH__FEATURES_COUNT];
    float *score;   /* per row, with the trees so far */
    float *gradient, *hessian;
    uint32_t *order, *spare;
    size_t used;    /* rows to fit on */
    leaf leaves[MOST_LEAVES];
    size_t leaf_count;
    leaf *at;       /* whose histogram is made */
    kith__trees *trees;
    size_t root_capacity, node_capacity, nodes;
} fitting;

static int by_value(const void *a, const void *b)
{
    const float *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Cuts between the values of some rows, so that bins hold about as many each. */
static void find_cuts(fitting *f, int feature, float *values)
{
    size_t rows = f->rows->rows, step = rows / SAMPLE + 1, count = 0;
    int bins = 0;

    for (size_t i = 0; i < rows; i += step)
        values[count++] = f->rows->feature[i * KITH__FEATURES_COUNT + (size_t)feature];
    qsort(values, count, sizeof *values, by_value);
    for (int b = 1; b < BINS; b++) {
        size_t at = count * (size_t)b / BINS;
        if (at == 0 || values[at] == values[0] || (bins > 0 && values[at] <= f->cut[feature][bins - 1]))
            continue;
        f->cut[feature][bins++] = values[at];
    }
    f->bins[feature] = bins + 1;
}

static void bin_feature(void *context, size_t feature)
{
    fitting *f = context;
    size_t rows = f->rows->rows;
    float *values = kith__alloc(SAMPLE + 2, sizeof *values);

    f->bins[feature] = 1;
    if (values)
        find_cuts(f, (int)feature, values);
    kith__free(values);
    for (size_t i = 0; i < rows; i++) {
        float value = f->rows->feature[i * KITH__FEATURES_COUNT + feature];
        int low = 0, high = f->bins[feature] - 1;
        while (low < high) {
            int middle = (low + high) / 2;
            if (value < f->cut[feature][middle])
                high = middle;
            else
                low = middle + 1;
        }
        f->bin[feature * rows + i] = (uint8_t)low;
    }
}

static bool takes_part(const fitting *f, size_t query)
{
    return f->rows->right[query] != KITH__NOT_LISTED && (f->all || !f->rows->fold[query]);
}

/* Loss, and its derivatives where asked for: -log of the right row's share. */
static double derive_query(fitting *f, size_t query, bool derive)
{
    size_t from = f->rows->first[query], to = f->rows->first[query + 1];
    size_t right = f->rows->right[query];
    float top = -INFINITY;
    double sum = 0;

    for (size_t i = from; i < to; i++)
        top = fmaxf(top, f->score[i]);
    for (size_t i = from; i < to; i++)
        sum += exp(f->score[i] - top);
    for (size_t i = from; derive && i < to; i++) {
        double p = exp(f->score[i] - top) / sum;
        f->gradient[i] = (float)(p - (i == right));
        f->hessian[i] = (float)(p * (1 - p));
    }
    return top + log(sum) - f->score[right];
}

enum { DERIVE_PIECES = 16 };

static void derive_piece(void *context, size_t piece)
{
    fitting *f = context;
    size_t queries = f->rows->queries;

    for (size_t q = queries * piece / DERIVE_PIECES; q < queries * (piece + 1) / DERIVE_PIECES; q++)
        if (takes_part(f, q))
            derive_query(f, q, true);
}

static double loss_of_fold(fitting *f)
{
    double loss = 0;
    size_t count = 0;

    for (size_t q = 0; q < f->rows->queries; q++)
        if (f->rows->fold[q] && f->rows->right[q] != KITH__NOT_LISTED) {
            loss += derive_query(f, q, false);
            count++;
        }
    return loss / (double)(count ? count : 1);
}

static void histogram_feature(void *context, size_t feature)
{
    const fitting *f = context;
    sums *h = f->at->histogram + feature * BINS;
    const uint8_t *bin = f->bin + feature * f->rows->rows;

    memset(h, 0, BINS * sizeof *h);
    if (f->bins[feature] < 2)
        return;
    for (size_t i = f->at->from; i < f->at->to; i++) {
        uint32_t row = f->order[i];
        h[bin[row]].gradient += f->gradient[row];
        h[bin[row]].hessian += f->hessian[row];
    }
}

static double worth(double gradient, double hessian, double ridge)
{
    return gradient * gradient / (hessian + ridge);
}

static void find_cut(fitting *f, leaf *l)
{
    double ridge = f->options->ridge, least = f->options->least;
    double whole = worth(l->gradient, l->hessian, ridge);

    l->gain = 0;
    for (int k = 0; k < KITH__FEATURES_COUNT; k++) {
        double gradient = 0, hessian = 0;
        for (int b = 0; b + 1 < f->bins[k]; b++) {
            gradient += l->histogram[k * BINS + b].gradient;
            hessian += l->histogram[k * BINS + b].hessian;
            if (hessian < least || l->hessian - hessian < least)
                continue;
            double gain = worth(gradient, hessian, ridge) +
                          worth(l->gradient - gradient, l->hessian - hessian, ridge) - whole;
            if (gain > l->gain) {
                l->gain = gain;
                l->feature = k;
                l->bin = b;
            }
        }
    }
}

static float value_of(const fitting *f, const leaf *l)
{
    return (float)(-f->options->rate * l->gradient / (l->hessian + f->options->ridge));
}

static void make_histogram(fitting *f, leaf *l)
{
    f->at = l;
    kith__pool_run(f->pool, histogram_feature, f, KITH__FEATURES_COUNT);
}

static int add_node(fitting *f, uint32_t *node, const leaf *l)
{
    if (kith__reserve(&f->trees->node, &f->node_capacity, f->nodes + 1, sizeof *f->trees->node))
        return -1;
    f->trees->node[f->nodes] = (kith__node){.feature = -1, .value = value_of(f, l)};
    *node = (uint32_t)f->nodes++;
    return 0;
}

/* Part the rows of a leaf, keeping their order; returns how many are below. */
static size_t part_rows(fitting *f, const leaf *l)
{
    const uint8_t *bin = f->bin + (size_t)l->feature * f->rows->rows;
    size_t below = l->from, above = 0;

    for (size_t i = l->from; i < l->to; i++) {
        if (bin[f->order[i]] <= l->bin)
            f->order[below++] = f->order[i];
        else
            f->spare[above++] = f->order[i];
    }
    memcpy(f->order + below, f->spare, above * sizeof *f->order);
    return below;
}

static int split_leaf(fitting *f, leaf *l)
{
    leaf *other = &f->leaves[f->leaf_count];
    sums *mine = l->histogram, *theirs = other->histogram;
    leaf left = *l, right = *l;
    uint32_t parent = l->node;
    double gradient = 0, hessian = 0;

    for (int b = 0; b <= l->bin; b++) {
        gradient += l->histogram[l->feature * BINS + b].gradient;
        hessian += l->histogram[l->feature * BINS + b].hessian;
    }
    left.to = right.from = part_rows(f, l);
    left.gradient = gradient;
    left.hessian = hessian;
    right.gradient = l->gradient - gradient;
    right.hessian = l->hessian - hessian;
    if (add_node(f, &left.node, &left) || add_node(f, &right.node, &right))
        return -1;
    kith__node *node = &f->trees->node[parent];
    node->feature = l->feature;
    node->threshold = f->cut[l->feature][l->bin];
    node->left = left.node;
    node->right = right.node;
    /* The smaller one is counted, the larger one is what is left of the parent's. */
    bool left_smaller = left.to - left.from < right.to - right.from;
    leaf *small = left_smaller ? &left : &right, *large = left_smaller ? &right : &left;
    small->histogram = theirs;
    make_histogram(f, small);
    for (int i = 0; i < KITH__FEATURES_COUNT * BINS; i++) {
        mine[i].gradient -= theirs[i].gradient;
        mine[i].hessian -= theirs[i].hessian;
    }
    large->histogram = mine;
    find_cut(f, &left);
    find_cut(f, &right);
    *l = left;
    *other = right;
    f->leaf_count++;
    return 0;
}

static size_t list_rows(fitting *f)
{
    size_t used = 0;

    for (size_t q = 0; q < f->rows->queries; q++)
        for (size_t i = f->rows->first[q]; i < f->rows->first[q + 1]; i++)
            if (takes_part(f, q))
                f->order[used++] = (uint32_t)i;
    return used;
}

static int grow_tree(fitting *f)
{
    kith__trees *t = f->trees;
    leaf *root = &f->leaves[0];

    if (kith__reserve(&t->root, &f->root_capacity, t->count + 2, sizeof *t->root))
        return -1;
    t->root[t->count] = (uint32_t)f->nodes;
    kith__pool_run(f->pool, derive_piece, f, DERIVE_PIECES);
    root->from = 0;
    root->to = f->used = list_rows(f);
    root->gradient = root->hessian = 0;
    for (size_t i = 0; i < f->used; i++) {
        root->gradient += f->gradient[f->order[i]];
        root->hessian += f->hessian[f->order[i]];
    }
    if (add_node(f, &root->node, root))
        return -1;
    make_histogram(f, root);
    find_cut(f, root);
    for (f->leaf_count = 1; f->leaf_count < f->options->leaves;) {
        leaf *best = &f->leaves[0];
        for (size_t i = 1; i < f->leaf_count; i++)
            if (f->leaves[i].gain > best->gain)
                best = &f->leaves[i];
        if (best->gain <= 1e-9)
            break;
        if (split_leaf(f, best))
            return -1;
    }
    t->root[++t->count] = (uint32_t)f->nodes;
    return 0;
}

static void add_tree_piece(void *context, size_t piece)
{
    fitting *f = context;
    const kith__trees *t = f->trees;
    const kith__trees last = {1, t->root + t->count - 1, t->node};
    size_t rows = f->rows->rows;

    for (size_t i = rows * piece / DERIVE_PIECES; i < rows * (piece + 1) / DERIVE_PIECES; i++)
        f->score[i] += kith__trees_value(&last, f->rows->feature + i * KITH__FEATURES_COUNT);
}

static void cut_trees(fitting *f, size_t count)
{
    f->trees->count = count;
    f->nodes = count ? f->trees->root[count] : 0;
}

static int grow_trees(fitting *f, bool choose)
{
    double best = choose ? loss_of_fold(f) : 0;
    size_t best_count = 0;

    while (f->trees->count < f->options->most) {
        if (grow_tree(f))
            return -1;
        kith__pool_run(f->pool, add_tree_piece, f, DERIVE_PIECES);
        if (!choose)
            continue;
        double loss = loss_of_fold(f);
        if (loss < best) {
            best = loss;
            best_count = f->trees->count;
        } else if (f->trees->count - best_count >= PATIENCE) {
            break;
        }
    }
    if (choose)
        cut_trees(f, best_count);
    return 0;
}

kith_status kith__trees_fit(kith__trees *trees, const kith__lists_of_rows *rows,
                            const kith__trees_options *options, bool all, bool choose,
                            kith__pool *pool, kith_error *error)
{
    fitting *f = kith__calloc(1, sizeof *f);
    sums *histograms = NULL;
    kith_status status = KITH_OK;

    memset(trees, 0, sizeof *trees);
    if (!f)
        return kith__no_memory(error);
    f->rows = rows;
    f->options = options;
    f->pool = pool;
    f->all = all;
    f->trees = trees;
    f->bin = kith__alloc(rows->rows * KITH__FEATURES_COUNT, 1);
    f->score = kith__alloc(rows->rows, sizeof *f->score);
    f->gradient = kith__calloc(rows->rows, sizeof *f->gradient);
    f->hessian = kith__calloc(rows->rows, sizeof *f->hessian);
    f->order = kith__alloc(rows->rows, sizeof *f->order);
    f->spare = kith__alloc(rows->rows, sizeof *f->spare);
    histograms = kith__alloc(MOST_LEAVES * KITH__FEATURES_COUNT * BINS, sizeof *histograms);
    if (!f->bin || !f->score || !f->gradient || !f->hessian || !f->order || !f->spare || !histograms)
        TRY(kith__no_memory(error));
    for (size_t i = 0; i < MOST_LEAVES; i++)
        f->leaves[i].histogram = histograms + i * KITH__FEATURES_COUNT * BINS;
    memcpy(f->score, rows->score, rows->rows * sizeof *f->score);
    kith__pool_run(pool, bin_feature, f, KITH__FEATURES_COUNT);
    if (grow_trees(f, choose))
        TRY(kith__no_memory(error));
cleanup:
    kith__free(f->bin);
    kith__free(f->score);
    kith__free(f->gradient);
    kith__free(f->hessian);
    kith__free(f->order);
    kith__free(f->spare);
    kith__free(histograms);
    kith__free(f);
    if (status != KITH_OK)
        kith__trees_release(trees);
    return status;
}
