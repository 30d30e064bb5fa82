/* Charts as inline SVG. Colours come from the page's style sheet by class, so that the same drawing
 * works in light and dark mode. The view box is as wide as a phone, so that text is readable
 * there. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/document.h"

enum {
    WIDTH = 420,
    HEIGHT = 274,
    LEFT = 60,
    RIGHT = 12,
    TOP = 10,
    BOTTOM = 46,
    COLORS = 8,
    MOST_BAR = 56,   /* maximum width of a bar */
    MOST_MARKED = 60 /* maximum number of points for which each gets a dot */
};

static void begin(text_buffer *out, const char *kind, int width, int height, const char *title)
{
    text_add(out, "<svg class=\"%s\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", kind, width,
             height);
    text_put_html(out, title);
    text_put(out, "\">\n");
}

static void put_label(text_buffer *out, double x, double y, const char *class, const char *label)
{
    text_add(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
    text_put_html(out, label);
    text_put(out, "</text>\n");
}

/* ---- axes ---- */

typedef struct axis {
    double low, high, step;
} axis;

/* An axis with about `wanted` round steps that covers the values. Values that differ only in their
 * last digits are treated as one, so that each step leads to a different number. */
static axis axis_over(double low, double high, int wanted)
{
    static const double rounds[] = {1, 2, 2.5, 5, 10};
    if (!(high - low > 1e-9 * fmax(fabs(low), fabs(high)))) {
        double pad = fabs(low) > 0 ? fabs(low) / 2 : 1;
        low -= pad;
        high += pad;
    }
    double raw = (high - low) / wanted, power = pow(10, floor(log10(raw)));
    size_t i = 0;
    while (i < 4 && rounds[i] * power < raw * .999)
        i++;
    double step = rounds[i] * power;
    return (axis){floor(low / step + 1e-9) * step, ceil(high / step - 1e-9) * step, step};
}

static double place(const axis *a, double value, double from, double to)
{
    return from + (value - a->low) / (a->high - a->low) * (to - from);
}

static double x_of(const axis *x, double value)
{
    return place(x, value, LEFT, WIDTH - RIGHT);
}

static double y_of(const axis *y, double value)
{
    return place(y, value, HEIGHT - BOTTOM, TOP);
}

/* The label has as many decimals as the step. */
static void tick_label(char out[32], double value, double step)
{
    int decimals = 0;
    for (double s = step; decimals < 6 && fabs(s - round(s)) > 1e-6; s *= 10)
        decimals++;
    snprintf(out, 32, "%.*f", decimals, fabs(value) < step / 1e6 ? 0 : value);
}

/* The number of ticks after the first. An axis that cannot be drawn, such as from -1e308 to 1e308,
 * has none. */
static int tick_count(const axis *a)
{
    enum { MOST = 50 };
    double count = round((a->high - a->low) / a->step);

    return count >= 0 && count <= MOST ? (int)count : 0;
}

static void put_y_axis(text_buffer *out, const axis *y, const char *name)
{
    char label[32];

    for (int i = 0; i <= tick_count(y); i++) {
        double v = y->low + i * y->step, at = y_of(y, v);
        text_add(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LEFT, at, WIDTH - RIGHT);
        tick_label(label, v, y->step);
        put_label(out, LEFT - 8, at + 4, "tick end", label);
    }
    text_add(out, "<text transform=\"translate(13 %d) rotate(-90)\" class=\"name middle\">",
             (TOP + HEIGHT - BOTTOM) / 2);
    text_put_html(out, name);
    text_put(out, "</text>\n");
}

static void put_x_name(text_buffer *out, const char *name)
{
    put_label(out, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 6, "name middle", name);
}

static void put_x_axis(text_buffer *out, const axis *x, const char *name)
{
    char label[32];

    for (int i = 0; i <= tick_count(x); i++) {
        double v = x->low + i * x->step;
        tick_label(label, v, x->step);
        put_label(out, x_of(x, v), HEIGHT - BOTTOM + 18, "tick middle", label);
    }
    put_x_name(out, name);
}

/* ---- lines ---- */

static void find_range(axis *x, axis *y, const json_t *series)
{
    size_t i, k;
    const json_t *one, *point;

    *x = *y = (axis){INFINITY, -INFINITY, 0};
    json_array_foreach(series, i, one) {
        json_array_foreach(json_object_get(one, "points"), k, point) {
            double at[2] = {json_number_value(json_array_get(point, 0)),
                            json_number_value(json_array_get(point, 1))};
            x->low = fmin(x->low, at[0]);
            x->high = fmax(x->high, at[0]);
            y->low = fmin(y->low, at[1]);
            y->high = fmax(y->high, at[1]);
        }
    }
}

/* A metric's axis begins at 0 unless that would leave more than half of the chart empty. */
static axis y_axis(axis found)
{
    if (found.low >= 0 && found.low < found.high * .5)
        found.low = 0;
    return axis_over(found.low, found.high, 5);
}

/* Colours repeat, so lines also differ in dashes and marks; lines that lie on each other are told
 * apart by these. */
enum { STYLES = 4 };

static size_t style_of(size_t place)
{
    return (place + place / COLORS) % STYLES;
}

/* A mark around a point, with a title if it has one. */
static void put_mark(text_buffer *out, size_t place, double x, double y, const char *title)
{
    static const char *const shapes[STYLES] = {"m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z",
                                               "m-3 -3h6v6h-6z", "m0 -4l4 7h-8z",
                                               "m0 -4l4 4l-4 4l-4 -4z"};

    text_add(out, "<path class=\"dot c%zu\" d=\"M%.1f %.1f%s\">", place % COLORS, x, y,
             shapes[style_of(place)]);
    if (*title) {
        text_put(out, "<title>");
        text_put_html(out, title);
        text_put(out, "</title>");
    }
    text_put(out, "</path>\n");
}

static void begin_line(text_buffer *out, size_t place)
{
    text_add(out, "<path class=\"line c%zu d%zu\" d=\"", place % COLORS, style_of(place));
}

void svg_put_sample(text_buffer *out, size_t place)
{
    text_put(out, "<svg class=\"sample\" viewBox=\"0 0 34 12\" aria-hidden=\"true\">");
    begin_line(out, place);
    text_put(out, "M1 6H33\"/>");
    put_mark(out, place, 17, 6, "");
    text_put(out, "</svg>");
}

static json_t *point_title(const char *name, const char *category, double x, double y)
{
    return category ? format_string("%s, %s: %.4g", name, category, y)
                    : format_string("%s, %.6g: %.4g", name, x, y);
}

static void put_series(text_buffer *out, const json_t *one, size_t where, const axis *x,
                       const axis *y, const json_t *categories)
{
    const json_t *points = json_object_get(one, "points"), *point;
    bool marked = json_array_size(points) <= MOST_MARKED;
    size_t i;

    begin_line(out, where);
    json_array_foreach(points, i, point)
        text_add(out, "%c%.1f %.1f", i == 0 ? 'M' : 'L',
                 x_of(x, json_number_value(json_array_get(point, 0))),
                 y_of(y, json_number_value(json_array_get(point, 1))));
    text_put(out, "\"/>\n");
    json_array_foreach(points, i, point) {
        double px = json_number_value(json_array_get(point, 0));
        double py = json_number_value(json_array_get(point, 1));
        if (!marked && i + 1 < json_array_size(points))
            continue;
        const char *category =
            categories ? json_string_value(json_array_get(categories, (size_t)px)) : NULL;
        json_t *title = point_title(text_of(one, "name"), category, px, py);
        put_mark(out, where, x_of(x, px), y_of(y, py), json_string_value(title));
        json_decref(title);
    }
}

size_t series_place(const json_t *one, size_t otherwise)
{
    double place = number_of(one, "color");
    return isfinite(place) ? (size_t)place : otherwise;
}

static void put_lines(text_buffer *out, const json_t *chart)
{
    const json_t *series = json_object_get(chart, "series"), *one, *name;
    const json_t *categories = json_object_get(chart, "categories");
    axis x, y;
    size_t i;

    find_range(&x, &y, series);
    if (!(x.high >= x.low)) {
        put_label(out, WIDTH / 2.0, HEIGHT / 2.0, "name middle", "no figures yet");
        return;
    }
    y = y_axis(y);
    put_y_axis(out, &y, text_of(chart, "y"));
    if (categories) {
        size_t count = json_array_size(categories);
        x = (axis){-.3, (double)count - .7, 1};
        json_array_foreach(categories, i, name)
            put_label(out, x_of(&x, (double)i), HEIGHT - BOTTOM + 18, "tick middle",
                      json_string_value(name));
        put_x_name(out, text_of(chart, "x"));
    } else {
        axis found = x;
        bool whole = found.low == round(found.low) && found.high == round(found.high);
        x = axis_over(x.low, x.high, 5);
        if (whole && x.step < 1) /* there are no fractions of an epoch */
            x = (axis){found.low - (found.low == found.high),
                       found.high + (found.low == found.high), 1};
        if (found.low > x.low && found.low < found.high) /* no empty space beside the lines */
            x.low = x.low + floor((found.low - x.low) / x.step) * x.step;
        put_x_axis(out, &x, text_of(chart, "x"));
    }
    json_array_foreach(series, i, one)
        put_series(out, one, series_place(one, i), &x, &y, categories);
}

/* ---- bars ---- */

static double error_of(const json_t *bar)
{
    double error = number_of(bar, "error");
    return isfinite(error) ? error : 0;
}

/* The upper end of a bar's error bar; a mean of values up to 1 is at most 1. */
static double bar_top(const json_t *bar)
{
    double value = number_of(bar, "value"), top = value + 2 * error_of(bar);
    return value <= 1 ? fmin(1, top) : top;
}

static void put_whisker(text_buffer *out, const axis *y, double x, const json_t *bar)
{
    text_add(out, "<path class=\"whisker\" d=\"M%.1f %.1fV%.1f\"/>\n", x,
             y_of(y, fmax(0, number_of(bar, "value") - 2 * error_of(bar))), y_of(y, bar_top(bar)));
}

static void put_bars(text_buffer *out, const json_t *chart)
{
    const json_t *bars = json_object_get(chart, "bars"), *bar;
    size_t i, count = json_array_size(bars);
    double most = 0;

    json_array_foreach(bars, i, bar)
        most = fmax(most, bar_top(bar));
    axis y = axis_over(0, most > 0 ? most : 1, 5);
    double step = (double)(WIDTH - LEFT - RIGHT) / (double)(count ? count : 1);
    double wide = fmin(step * .68, MOST_BAR);
    put_y_axis(out, &y, text_of(chart, "y"));
    put_x_name(out, text_of(chart, "x"));
    json_array_foreach(bars, i, bar) {
        double value = number_of(bar, "value"), at = LEFT + step * (double)i;
        double top = y_of(&y, isfinite(value) ? value : 0);
        text_add(out,
                 "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                 "rx=\"1.5\"><title>",
                 at + (step - wide) / 2, top, wide, HEIGHT - BOTTOM - top);
        text_put_html(out, text_of(bar, "name"));
        text_add(out, ": %.4g", value);
        if (error_of(bar) > 0)
            text_add(out, " \xc2\xb1 %.2g", error_of(bar));
        if (*text_of(bar, "note")) {
            text_put(out, ", ");
            text_put_html(out, text_of(bar, "note"));
        }
        text_put(out, "</title></rect>\n");
        if (error_of(bar) > 0)
            put_whisker(out, &y, at + step / 2, bar);
        put_label(out, at + step / 2, HEIGHT - BOTTOM + 18, "tick middle", text_of(bar, "name"));
    }
}

/* ---- reliability ---- */

/* An interval of two standard errors around a share (Wilson 1927); it does not vanish at 0 or 1. */
static void wilson(double *low, double *high, double share, double n)
{
    const double z = 2;
    double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
    double half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n);

    *low = fmax(0, middle - half);
    *high = fmin(1, middle + half);
}

/* Draw predicted against observed probabilities: a dot for each bin, larger for more answers, and
 * an interval. */
static void put_reliability(text_buffer *out, const json_t *chart)
{
    const json_t *bins = json_object_get(chart, "bins"), *bin;
    const axis unit = {0, 1, .2};
    double most = 1;
    size_t i;

    put_y_axis(out, &unit, "share of correct answers");
    put_x_axis(out, &unit, "predicted probability");
    text_add(out, "<path class=\"ideal\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", x_of(&unit, 0),
             y_of(&unit, 0), x_of(&unit, 1), y_of(&unit, 1));
    json_array_foreach(bins, i, bin)
        most = fmax(most, number_of(bin, "answers"));
    json_array_foreach(bins, i, bin) {
        double n = number_of(bin, "answers"), p = number_of(bin, "predicted");
        double correct = number_of(bin, "correct");
        if (!(n > 0))
            continue;
        double low, high, x = x_of(&unit, p);
        wilson(&low, &high, correct, n);
        text_add(out, "<path class=\"error c0\" d=\"M%.1f %.1fV%.1f\"/>\n", x, y_of(&unit, low),
                 y_of(&unit, high));
        text_add(out,
                 "<circle class=\"dot c0\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>"
                 "predicted %.3f, correct %.3f of %.0f answers</title></circle>\n",
                 x, y_of(&unit, correct), 2.5 + 5 * sqrt(log1p(n) / log1p(most)) * .6, p, correct,
                 n);
    }
}

/* ---- neighbourhoods ---- */

/* Names fit in the font of phones, which is the largest (html.c). */
enum {
    GRAPH_WIDTH = 420,
    ROW = 34,
    BOX = 164,   /* width of the names on the right */
    PILL = 104,  /* width of the name in the middle */
    ENTITY = 19, /* the letters that fit there, in small ones */
    RELATION = 15,
    CENTER = 10,
    MOST_EDGES = 14
};

/* The code point at a position in UTF-8 text, and its number of bytes. */
static unsigned code_point(const char *at, size_t *bytes)
{
    const unsigned char *c = (const unsigned char *)at;
    unsigned code = c[0] < 0x80   ? c[0]
                    : c[0] < 0xe0 ? c[0] & 0x1f
                    : c[0] < 0xf0 ? c[0] & 0xf
                                  : c[0] & 7;

    *bytes = 1;
    while ((c[*bytes] & 0xc0) == 0x80)
        code = code << 6 | (c[(*bytes)++] & 0x3f);
    return code;
}

/* The approximate width of a character, in tenths of a small letter. */
static unsigned character_width(unsigned code)
{
    bool combining = (code >= 0x300 && code < 0x370) || (code >= 0x200b && code < 0x2010);
    bool wide = (code >= 0x1100 && code < 0x1160) || (code >= 0x2e80 && code < 0xd7b0) ||
                (code >= 0xf900 && code < 0xfb00) || (code >= 0xff00 && code < 0xff61) ||
                (code >= 0x1f000 && code < 0x40000);

    if (combining)
        return 0;
    if (wide)
        return 20;
    if ((code >= 'A' && code <= 'Z') || code == 'm' || code == 'w' || code == '@')
        return 13;
    return code < 0x80 && strchr(" ijltfr.,:;'|!()[]-", (int)code) ? 6 : 10;
}

/* The bytes of a name that are as wide as `most` small letters. */
static size_t bytes_within(const char *name, unsigned most)
{
    size_t end = 0, bytes;
    unsigned wide = 0;

    while (name[end]) {
        wide += character_width(code_point(name + end, &bytes));
        if (wide > 10 * most)
            break;
        end += bytes;
    }
    return end;
}

/* Draw a name, cut to the width of `most` small letters unless the dots would be as wide as what
 * they replace; the title has the whole name. */
static void put_cut(text_buffer *out, double x, double y, const char *class, const char *name,
                    unsigned most)
{
    bool whole = !name[bytes_within(name, most + 1)];
    size_t end = whole ? strlen(name) : bytes_within(name, most);
    json_t *cut = format_string("%.*s%s", (int)end, name, whole ? "" : "\xe2\x80\xa6");

    put_label(out, x, y, class, json_string_value(cut));
    json_decref(cut);
}

/* Relations of some graphs are paths or addresses, whose last part is the most informative. */
static const char *last_part(const char *relation)
{
    const char *found = strrchr(relation, '/');
    bool is_path = relation[0] == '/' || strstr(relation, "://");
    return is_path && found[1] ? found + 1 : relation;
}

static void put_edge(text_buffer *out, const json_t *edge, size_t i, double middle, double most)
{
    double y = ROW * ((double)i + .5) + 4, weight = number_of(edge, "weight");
    bool inverse = json_is_true(json_object_get(edge, "inverse"));
    double thick = .8 + 4.7 * (isfinite(weight) && most > 0 ? fabs(weight) / most : 0);
    double head = 6 + thick * 1.1, half = 3 + thick * .9; /* size of the arrow head */
    double from = PILL + 2, bend = from + 46, to = GRAPH_WIDTH - BOX - 2;

    text_put(out, "<g><title>");
    text_put_html(out, text_of(edge, "note"));
    text_add(out,
             "</title><path class=\"edge%s\" stroke-width=\"%.2f\" "
             "d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f",
             weight < 0 ? " against" : "", thick, from, middle, from + 26, middle, bend - 22, y,
             bend, y);
    /* The arrow points to the object, which may be the entity in the middle. */
    if (inverse)
        text_add(out, "M%.1f %.1fH%.1f\"/><path class=\"arrow\" d=\"M%.1f %.1fl%.1f %.1fv%.1fz\"/>",
                 bend + head - 1, y, to, bend, y, head, -half, 2 * half);
    else
        text_add(out, "H%.1f\"/><path class=\"arrow\" d=\"M%.1f %.1fl%.1f %.1fv%.1fz\"/>",
                 to - head + 1, to, y, -head, -half, 2 * half);
    put_cut(out, (bend + to) / 2, y - 8, "relation middle", last_part(text_of(edge, "relation")),
            RELATION);
    put_cut(out, GRAPH_WIDTH - BOX + 6, y + 4, "entity", text_of(edge, "entity"), ENTITY);
    text_put(out, "</g>\n");
}

static void put_graph(text_buffer *out, const json_t *chart)
{
    const json_t *edges = json_object_get(chart, "edges"), *edge;
    size_t i, count = json_array_size(edges);
    double most = 0, middle;

    count = count > MOST_EDGES ? MOST_EDGES : count;
    middle = ROW * (double)(count ? count : 1) / 2 + 4;
    json_array_foreach(edges, i, edge)
        if (isfinite(number_of(edge, "weight")))
            most = fmax(most, fabs(number_of(edge, "weight")));
    json_array_foreach(edges, i, edge)
        if (i < count)
            put_edge(out, edge, i, middle, most);
    text_add(out, "<g><title>");
    text_put_html(out, text_of(chart, "center"));
    text_add(out,
             "</title><rect class=\"center\" x=\"2\" y=\"%.1f\" width=\"%d\" height=\"30\" "
             "rx=\"15\"/>",
             middle - 15, PILL);
    put_cut(out, 2 + PILL / 2.0, middle + 4, "middle inside", text_of(chart, "center"), CENTER);
    text_put(out, "</g>\n");
}

static int graph_height(const json_t *chart)
{
    size_t count = json_array_size(json_object_get(chart, "edges"));
    count = count > MOST_EDGES ? MOST_EDGES : count ? count : 1;
    return (int)(ROW * count + 8);
}

/* ---- all of them ---- */

void svg_put(text_buffer *out, const json_t *chart)
{
    static const put_kind kinds[] = {{"lines", put_lines},
                                     {"bars", put_bars},
                                     {"reliability", put_reliability},
                                     {"graph", put_graph},
                                     {NULL}};
    bool graph = strcmp(text_of(chart, "type"), "graph") == 0;

    begin(out, graph ? "graph" : "chart", graph ? GRAPH_WIDTH : WIDTH,
          graph ? graph_height(chart) : HEIGHT, text_of(chart, "title"));
    put_by_type(out, chart, kinds);
    text_put(out, "</svg>\n");
}
