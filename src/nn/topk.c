#include "nn/topk.h"

static bool is_better(const float *scores, uint32_t a, uint32_t b)
{
    return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
}

static void sink(uint32_t *heap, size_t count, size_t at, const float *scores)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_better(scores, heap[child], heap[child + 1]))
            child++;
        if (!is_better(scores, heap[at], heap[child]))
            return;
        uint32_t swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
    }
}

static void rise(uint32_t *heap, size_t at, uint32_t id, const float *scores)
{
    for (; at > 0 && is_better(scores, heap[(at - 1) / 2], id); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = id;
}

void kith__topk_insert(kith__topk *t, uint32_t id)
{
    if (t->count < t->most) {
        rise(t->ids, t->count++, id, t->scores);
    } else if (is_better(t->scores, id, t->ids[0])) {
        t->ids[0] = id;
        sink(t->ids, t->count, 0, t->scores);
    }
}

void kith__topk_sort(kith__topk *t)
{
    for (size_t end = t->count; end > 1; end--) { /* move the worst to the end */
        uint32_t swap = t->ids[0];
        t->ids[0] = t->ids[end - 1];
        t->ids[end - 1] = swap;
        sink(t->ids, end - 1, 0, t->scores);
    }
}

size_t kith__topk_of(uint32_t *ids, size_t most, const float *scores, size_t count,
                     const uint8_t *left_out)
{
    kith__topk t = kith__topk_begin(ids, most, scores);

    for (uint32_t i = 0; i < count; i++)
        if (!left_out || !left_out[i])
            kith__topk_offer(&t, i);
    kith__topk_sort(&t);
    return t.count;
}
