/* A document as one HTML file without external resources. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/document.h"

static const char style[] =
    ":root{color-scheme:light dark;--paper:#fdfcf9;--ink:#1f2328;--soft:#5d6570;--line:#dcd9d1;\n"
    "--fill:#f3f1ea;--accent:#1c5d99;--better:#1a6e3c;--worse:#a83226;--c0:#1c5d99;--c1:#c8551b;\n"
    "--c2:#2d7d46;--c3:#8b3f8f;--c4:#a07800;--c5:#0e8a8a;--c6:#b5365f;--c7:#5b6470}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#16181c;--ink:#e4e3df;--soft:#9aa1ab;\n"
    "--line:#343840;--fill:#20242a;--accent:#7fb4e6;--better:#6fc48c;--worse:#f08a7c;\n"
    "--c0:#7fb4e6;--c1:#f0935c;--c2:#74c48d;--c3:#cf92d3;--c4:#dcb548;--c5:#5fc7c7;\n"
    "--c6:#ee88a8;--c7:#a5acb6}}\n"
    "*{box-sizing:border-box}\n"
    "html{-webkit-text-size-adjust:100%;text-size-adjust:100%}\n"
    "body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.55\n"
    "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue','Noto Sans',sans-serif}\n"
    "main{max-width:70rem;margin:0 auto;padding:2.5rem 1rem 5rem}\n"
    "h1{font-size:1.9rem;line-height:1.2;margin:0 0 .3rem;letter-spacing:-.015em;\n"
    "text-wrap:balance}\n"
    "h2{font-size:1.35rem;line-height:1.25;margin:3rem 0 .6rem;padding-top:.9rem;\n"
    "border-top:1px solid var(--line);letter-spacing:-.01em}\n"
    "h3{font-size:1.05rem;margin:1.8rem 0 .4rem}\n"
    "p,ul{max-width:44rem;margin:.6rem 0}\n"
    "ul{padding-left:1.2rem}li{margin:.25rem 0}\n"
    ".sub{color:var(--soft);font-size:.95rem;margin:0 0 1.2rem}\n"
    "h1,h2,h3,p,li,figcaption{overflow-wrap:anywhere}\n"
    "h1,h2,h3,p,li,td,th,figcaption{unicode-bidi:isolate}\n"
    /* A shadow at the right edge shows that a table continues there. */
    ".wide{overflow-x:auto;margin:1rem 0 1.4rem;max-width:100%;background:\n"
    "linear-gradient(to left,var(--paper) 40%,transparent) right/3rem 100% no-repeat local,\n"
    "linear-gradient(to left,var(--line),transparent) right/.5rem 100% no-repeat scroll}\n"
    "table{border-collapse:collapse;font-size:.875rem;line-height:1.35;\n"
    "font-variant-numeric:tabular-nums lining-nums}\n"
    ".caption{color:var(--soft);margin:1.3rem 0 .4rem;font-size:.9rem}\n"
    ".caption+.wide{margin-top:0}\n"
    "th,td{padding:.4rem 1.1rem .4rem 0;text-align:left;vertical-align:top;\n"
    "border-bottom:1px solid var(--line)}\n"
    "th{font-weight:600;color:var(--soft);border-bottom:1.5px solid var(--soft);\n"
    "vertical-align:bottom}\n"
    "td{max-width:24rem;overflow-wrap:break-word}\n"
    "th.n,td.n{text-align:right;white-space:nowrap}\n"
    "td:first-child,th:first-child{position:sticky;left:0;background:var(--paper);\n"
    "max-width:38vw}\n"
    "td:last-child,th:last-child{padding-right:.1rem}\n"
    ".meter~small{white-space:nowrap}\n"
    "code{font:.95em/1.45 ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;\n"
    "display:block;min-width:18rem;overflow-wrap:anywhere}code span{white-space:nowrap}\n"
    "td small{display:block;color:var(--soft);font-size:.78rem}\n"
    "td small.better{color:var(--better)}td small.worse{color:var(--worse)}\n"
    ".share{display:inline-block;min-width:4.6em;text-align:right;padding-right:.7em}\n"
    ".meter{display:inline-block;width:9rem;max-width:22vw;height:.55rem;vertical-align:middle;\n"
    "background:var(--fill);border-radius:.3rem;overflow:hidden}\n"
    ".meter i{display:block;height:100%;background:var(--accent)}\n"
    ".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));\n"
    "gap:1.5rem 2.2rem;margin:1.2rem 0 1.6rem}\n"
    "figure{margin:0;max-width:33rem;min-width:0}\n"
    "figcaption{font-size:.9rem;font-weight:600;margin:0 0 .5rem}\n"
    "figcaption small{display:block;font-size:.82rem;font-weight:400;color:var(--soft)}\n"
    "svg{display:block;width:100%;height:auto;overflow:visible}\n"
    "svg text{font-size:11.5px;fill:var(--ink)}\n"
    "svg .tick,svg .name,svg .relation{fill:var(--soft)}\n"
    "svg .relation{font-size:10px}\n"
    "svg .end{text-anchor:end}svg .middle{text-anchor:middle}\n"
    "svg .inside{fill:var(--paper);font-weight:600}svg .center{fill:var(--accent)}\n"
    "svg .grid{stroke:var(--line);stroke-width:1}\n"
    "svg .ideal{stroke:var(--soft);stroke-dasharray:4 4;fill:none}\n"
    "svg .line{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}\n"
    "svg .whisker{stroke:var(--ink);stroke-width:1.5}\n"
    "svg .dot{stroke:var(--paper);stroke-width:1}svg .error{stroke-width:2;opacity:.5}\n"
    "svg .bar{fill:var(--c0)}svg .edge{fill:none;stroke:var(--c0);opacity:.75}\n"
    "svg .against{stroke:var(--c1)}svg .arrow{fill:var(--c0)}\n"
    ".legend{display:flex;flex-wrap:wrap;gap:.15rem 1.1rem;list-style:none;padding:0;\n"
    "margin:.35rem 0 0;font-size:.84rem;max-width:none}\n"
    ".legend li{margin:0}svg.sample{display:inline-block;width:2.1rem;height:.75rem;\n"
    "vertical-align:middle;margin-right:.4rem}\n"
    "svg .d1{stroke-dasharray:8 5}svg .d2{stroke-dasharray:1.5 5}\n"
    "svg .d3{stroke-dasharray:10 5 1.5 5}\n"
    "details{margin:1rem 0}summary{cursor:pointer;color:var(--accent);font-size:.92rem}\n"
    "@media(max-width:32rem){main{padding-top:1.5rem}th,td{padding-right:.8rem}\n"
    "td{max-width:11rem;overflow-wrap:anywhere}td:not(.n){min-width:5.8rem}th.n{white-space:normal}"
    "\n"
    ".meter{display:block;width:5rem;max-width:none;margin:.2rem 0}.share{text-align:left}\n"
    "svg.chart text{font-size:13.5px}svg.graph text{font-size:13px}\n"
    "svg.graph .relation,svg.graph .inside{font-size:12px}}\n"
    "@media print{body{background:#fff}main{max-width:none;padding:0}figure,tr{\n"
    "break-inside:avoid}}\n";

static void put_style(text_buffer *out)
{
    text_add(out, "<style>\n%s", style);
    for (int i = 0; i < 8; i++)
        text_add(out,
                 "svg .line.c%d,svg .error.c%d{stroke:var(--c%d)}svg .dot.c%d{fill:var(--c%d)}\n",
                 i, i, i, i, i);
    text_put(out, "</style>\n");
}

/* Put text of the page. Lines may break after a slash, because relations of some graphs are long
 * paths. */
static void put_words(text_buffer *out, const char *plain)
{
    char *copy = strdup(plain), *rest = copy;

    for (const char *part; copy && (part = strsep(&rest, "/"));) {
        text_put_html(out, part);
        text_put(out, rest ? "/<wbr>" : "");
    }
    free(copy);
}

/* ---- tables ---- */

/* Put a command line; short arguments do not break at their dashes. */
static void put_code(text_buffer *out, const char *plain)
{
    char *copy = strdup(plain), *rest = copy;

    text_put(out, "<code>");
    for (const char *argument; copy && (argument = strsep(&rest, " "));) {
        bool is_short = strlen(argument) <= 24;
        text_put(out, is_short ? "<span>" : "");
        text_put_html(out, argument);
        text_put(out, is_short ? "</span>" : "");
        text_put(out, rest ? " " : "");
    }
    text_put(out, "</code>");
    free(copy);
}

static void put_cell(text_buffer *out, const json_t *cell, bool number)
{
    const json_t *small = json_object_get(cell, "small"), *line;
    const char *plain = json_is_string(cell) ? json_string_value(cell) : text_of(cell, "text");
    const char *mark = text_of(cell, "mark");
    bool strong = json_is_true(json_object_get(cell, "strong"));
    double bar = number_of(cell, "bar");
    size_t i;

    text_put(out, number ? "<td class=\"n\">" : "<td>");
    text_put(out, isfinite(bar) ? "<span class=\"share\">" : strong ? "<b>" : "");
    if (json_is_true(json_object_get(cell, "code")))
        put_code(out, plain);
    else
        text_put_html(out, plain);
    text_put(out, isfinite(bar) ? "</span>" : strong ? "</b>" : "");
    if (isfinite(bar))
        text_add(out, "<span class=\"meter\"><i style=\"width:%.1f%%\"></i></span>",
                 100 * fmin(1, fmax(0, bar)));
    json_array_foreach(small, i, line) {
        bool marked = *mark && i + 1 == json_array_size(small);
        text_add(out, "<small%s%s%s>", marked ? " class=\"" : "", marked ? mark : "",
                 marked ? "\"" : "");
        text_put_html(out, json_string_value(line));
        text_put(out, "</small>");
    }
    text_put(out, "</td>");
}

static void put_table(text_buffer *out, const json_t *table)
{
    const json_t *columns = json_object_get(table, "columns"), *column, *row, *cell;
    size_t i, k;

    if (*text_of(table, "caption")) {
        text_put(out, "<p class=\"caption\">");
        text_put_html(out, text_of(table, "caption"));
        text_put(out, "</p>\n");
    }
    text_put(out, "<div class=\"wide\"><table>");
    text_put(out, "\n<thead><tr>");
    json_array_foreach(columns, i, column) {
        bool number = json_is_true(json_object_get(column, "number"));
        text_put(out, number ? "<th class=\"n\">" : "<th>");
        text_put_html(out, text_of(column, "title"));
        text_put(out, "</th>");
    }
    text_put(out, "</tr></thead>\n<tbody>\n");
    json_array_foreach(json_object_get(table, "rows"), i, row) {
        text_put(out, "<tr>");
        json_array_foreach(row, k, cell)
            put_cell(out, cell,
                     json_is_true(json_object_get(json_array_get(columns, k), "number")));
        text_put(out, "</tr>\n");
    }
    text_put(out, "</tbody></table></div>\n");
}

/* ---- figures ---- */

static void put_legend(text_buffer *out, const json_t *series)
{
    const json_t *one;
    size_t i;

    if (json_array_size(series) < 1)
        return;
    text_put(out, "<ul class=\"legend\">");
    json_array_foreach(series, i, one) {
        text_put(out, "<li>");
        svg_put_sample(out, series_place(one, i));
        text_put_html(out, text_of(one, "name"));
        text_put(out, "</li>");
    }
    text_put(out, "</ul>\n");
}

static void put_figures(text_buffer *out, const json_t *figures)
{
    const json_t *chart;
    size_t i;

    text_put(out, "<div class=\"figures\">\n");
    json_array_foreach(json_object_get(figures, "items"), i, chart) {
        text_put(out, "<figure><figcaption>");
        put_words(out, text_of(chart, "title"));
        if (*text_of(chart, "note")) {
            text_put(out, "<small>");
            text_put_html(out, text_of(chart, "note"));
            text_put(out, "</small>");
        }
        text_put(out, "</figcaption>\n");
        svg_put(out, chart);
        put_legend(out, json_object_get(chart, "series"));
        text_put(out, "</figure>\n");
    }
    text_put(out, "</div>\n");
}

/* ---- blocks ---- */

static void put_blocks(text_buffer *out, const json_t *blocks);

static void put_heading(text_buffer *out, const json_t *block)
{
    int level = (int)json_integer_value(json_object_get(block, "level"));

    text_add(out, "<h%d>", level);
    put_words(out, text_of(block, "text"));
    text_add(out, "</h%d>\n", level);
}

static void put_text(text_buffer *out, const json_t *block)
{
    text_put(out, "<p>");
    put_words(out, text_of(block, "text"));
    text_put(out, "</p>\n");
}

static void put_list(text_buffer *out, const json_t *block)
{
    const json_t *item;
    size_t i;

    text_put(out, "<ul>\n");
    json_array_foreach(json_object_get(block, "items"), i, item) {
        text_put(out, "<li>");
        put_words(out, json_string_value(item));
        text_put(out, "</li>\n");
    }
    text_put(out, "</ul>\n");
}

static void put_details(text_buffer *out, const json_t *block)
{
    text_put(out, "<details><summary>");
    text_put_html(out, text_of(block, "summary"));
    text_put(out, "</summary>\n");
    put_blocks(out, json_object_get(block, "blocks"));
    text_put(out, "</details>\n");
}

static void put_blocks(text_buffer *out, const json_t *blocks)
{
    static const put_kind kinds[] = {{"heading", put_heading},
                                     {"text", put_text},
                                     {"list", put_list},
                                     {"table", put_table},
                                     {"figures", put_figures},
                                     {"details", put_details},
                                     {NULL}};
    const json_t *block;
    size_t i;

    json_array_foreach(blocks, i, block)
        put_by_type(out, block, kinds);
}

void html_put(text_buffer *out, const json_t *document)
{
    text_put(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" "
                  "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>");
    text_put_html(out, text_of(document, "title"));
    text_put(out, "</title>\n");
    put_style(out);
    text_put(out, "</head>\n<body>\n<main>\n<h1>");
    put_words(out, text_of(document, "title"));
    text_put(out, "</h1>\n<div class=\"sub\">");
    text_put_html(out, text_of(document, "subtitle"));
    text_put(out, "</div>\n");
    put_blocks(out, json_object_get(document, "blocks"));
    text_put(out, "</main>\n</body>\n</html>\n");
}

kith_status html_write(const json_t *document, const char *path, kith_error *error)
{
    text_buffer out = {0};

    html_put(&out, document);
    kith_status status = text_write(&out, path, error);
    text_release(&out);
    return status;
}
