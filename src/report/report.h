/* The report on a plan: measured beside published results, as HTML, Markdown and JSON with the same
 * content. */
#ifndef KITH_REPORT_REPORT_H
#define KITH_REPORT_REPORT_H

#include "report/plan.h"

/* Write report.html, report.md and report.json into the output folder. Jobs that are not done are
 * listed with the reason. */
kith_status report_write(const plan *p, kith_error *error);

#endif
