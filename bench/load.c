/* Open a source through the public header and say what that cost, as key=value lines.
 *   bench-load SOURCE [THREADS] */
#include <kith/kith.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The peak resident memory of the process, in bytes. */
static double peak_memory(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    double kilobytes = 0;

    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "VmHWM: %lf", &kilobytes) == 1)
            break;
    if (file)
        fclose(file);
    return kilobytes * 1024;
}

/* The bytes of all names, each with its NUL. */
static double name_bytes(const kith_graph *graph)
{
    double bytes = 0;

    for (uint32_t e = 0; e < kith_graph_entity_count(graph); e++)
        bytes += (double)strlen(kith_graph_entity_name(graph, e)) + 1;
    for (uint32_t r = 0; r < kith_graph_relation_count(graph); r++)
        bytes += (double)strlen(kith_graph_relation_name(graph, r)) + 1;
    return bytes;
}

int main(int argc, char **argv)
{
    kith_open_options options = {.threads = argc > 2 ? (unsigned)atoi(argv[2]) : 0};
    kith_graph *graph = NULL;
    kith_error error;
    double facts = 0;

    if (argc < 2) {
        fprintf(stderr, "usage: bench-load SOURCE [THREADS]\n");
        return 2;
    }
    double began = now();
    if (kith_graph_open(&graph, argv[1], &options, &error) != KITH_OK) {
        fprintf(stderr, "bench-load: %s\n", error.message);
        return EXIT_FAILURE;
    }
    double seconds = now() - began, peak = peak_memory(), names = name_bytes(graph);
    for (int split = 0; split < KITH_SPLITS; split++)
        facts += (double)kith_graph_facts(graph, split).count;
    printf("seconds=%.3f\nfacts=%.0f\nfacts_per_second=%.0f\n", seconds, facts, facts / seconds);
    printf("entities=%u\nrelations=%u\n", kith_graph_entity_count(graph),
           kith_graph_relation_count(graph));
    printf("peak_bytes=%.0f\nname_bytes=%.0f\nbytes_per_fact=%.1f\n", peak, names,
           (peak - names) / facts);
    kith_graph_free(graph);
    return EXIT_SUCCESS;
}
