#include "cli/signals.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t gently, received;

static void on_signal(int number)
{
    if (!gently || received)
        _exit(128 + number);
    received = number;
}

void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void stop_gently(void)
{
    gently = 1;
}

bool was_stopped(void)
{
    return received != 0;
}

int stopped_status(void)
{
    return 128 + (received ? received : SIGINT);
}
