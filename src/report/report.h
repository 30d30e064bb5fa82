/* The report on a plan compares measured with published results. It is written as HTML, Markdown
 * and JSON with the same content. */
#ifndef KITH_REPORT_REPORT_H
#define KITH_REPORT_REPORT_H

#include "report/plan.h"

/* Write report.html, report.md and report.json into the output folder. Unfinished jobs are listed
 * with the reason. */
kith_status report_write(const plan *p, kith_error *error);

#endif
