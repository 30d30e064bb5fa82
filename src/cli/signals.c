#include "cli/signals.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

typedef enum { AT_ONCE, SOON, GENTLY } manner;

static volatile sig_atomic_t how = AT_ONCE, received;
static timer_t deadline;

static void give_up(int number)
{
    (void)number;
    _exit(128 + received);
}

static void on_signal(int number)
{
    const struct itimerspec left = {.it_value = {.tv_nsec = 400 * 1000 * 1000}};

    if (how == AT_ONCE || received)
        _exit(128 + number);
    received = number;
    if (how == SOON)
        timer_settime(deadline, 0, &left, NULL);
}

void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* Without a timer, signals still end the program at once. */
void stop_soon(void)
{
    static bool made;
    struct sigaction action = {.sa_handler = give_up};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};

    if (how != AT_ONCE)
        return;
    if (!made)
        made = timer_create(CLOCK_MONOTONIC, &event, &deadline) == 0;
    if (!made)
        return;
    sigaction(SIGALRM, &action, NULL);
    how = SOON;
}

void stop_gently(void)
{
    how = GENTLY;
}

void stop_at_once(void)
{
    how = AT_ONCE;
}

void forget_signal(void)
{
    received = 0;
}

bool was_stopped(void)
{
    return received != 0;
}

bool is_stopping(void)
{
    return how == SOON && received != 0;
}

int stopped_status(void)
{
    return 128 + (received ? received : SIGINT);
}
