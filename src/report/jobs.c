#include "report/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/files.h"
#include "report/commands.h"
#include "report/document.h"

static volatile sig_atomic_t received, signals; /* the last signal, and how many came */

static void on_signal(int number)
{
    received = number;
    signals = signals + 1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

const char *duration_text(char out[32], double seconds)
{
    const double most = 1e11; /* a long can hold more */
    long s = seconds > 0 && seconds < most ? (long)(seconds + .5) : 0;

    if (seconds >= most)
        snprintf(out, 32, "over %d years", (int)(most / (365.25 * 24 * 3600)));
    else if (s >= 3600)
        snprintf(out, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, 32, "%ld:%02ld", s / 60, s % 60);
    return out;
}

json_t *machine_json(void)
{
    struct utsname system;
    char *line = NULL, processor[128] = "unknown";
    size_t capacity = 0;
    FILE *in = fopen("/proc/cpuinfo", "re");

    while (in && getline(&line, &capacity, in) > 0)
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            snprintf(processor, sizeof processor, "%s", strchr(line, ':') + 2);
            processor[strcspn(processor, "\n")] = '\0';
            break;
        }
    if (in)
        fclose(in);
    free(line);
    if (uname(&system) != 0)
        strcpy(system.machine, "unknown");
    return json_pack("{so sI so}", "processor", safe_string(processor), "cores",
                     (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "system",
                     format_string("%s %s", system.sysname, system.machine));
}

/* ---- child processes ---- */

/* In the child: move to a process group of its own, so that only the parent passes on Ctrl-C, and
 * end when the parent ends. */
static void become(const command_line *c, int output, int log, pid_t parent)
{
    int nothing = open("/dev/null", O_RDONLY);

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(127);
    if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(log, 2) < 0)
        _exit(127);
    execv("/proc/self/exe", c->argv);
    _exit(127);
}

static int open_output(const job *j, const char *name, int flags)
{
    char *path = job_path(j, name);
    int file =
        path ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags, 0666)
             : -1;

    free(path);
    return file;
}

/* The folder may be untrusted: kith writes to an existing entry only if it is a regular file or a
 * folder inside it, not a link to another place, a pipe or a device. The names end with NULL; those
 * of folders end with a slash. */
static kith_status check_entries(const char *folder, const char *const *names, kith_error *error)
{
    struct stat found;
    char *path = NULL;
    kith_status status = KITH_OK;

    for (; status == KITH_OK && *names; names++) {
        size_t length = strcspn(*names, "/");
        bool is_folder = (*names)[length] == '/';
        if (asprintf(&path, "%s/%.*s", folder, (int)length, *names) < 0)
            return kith__no_memory(error);
        if (lstat(path, &found) == 0 &&
            !(is_folder ? S_ISDIR(found.st_mode) : S_ISREG(found.st_mode)))
            status = kith__fail(error, KITH_ERR_INPUT,
                                "%s: found %s, expected %s; remove it or choose another folder",
                                path, S_ISLNK(found.st_mode) ? "a symbolic link" : "something else",
                                is_folder ? "a folder" : "a regular file");
        free(path);
    }
    return status;
}

static kith_status check_job_entries(const job *j, kith_error *error)
{
    static const char *const names[] = {
        "model/",       "train.json", "eval.json",    "log.txt",       "stats.json",
        "explain.json", "ranks.tsv",  "results.json", "commands.json", NULL};
    const char *name = strrchr(j->folder, '/') + 1; /* the NAME in OUTPUT/runs/NAME */
    char *parent = strndup(j->folder, (size_t)(name - 1 - j->folder)), *own = path_in(name, "");
    const char *const folders[] = {own, NULL};
    kith_status status =
        parent && own ? check_entries(parent, folders, error) : kith__no_memory(error);

    if (status == KITH_OK)
        status = check_entries(j->folder, names, error);
    free(own);
    free(parent);
    return status;
}

static pid_t start_command(const command_line *c, const job *j)
{
    int output = open_output(j, c->output, O_TRUNC), log = open_output(j, "log.txt", O_APPEND);
    pid_t parent = getpid(), pid = output >= 0 && log >= 0 ? fork() : -1;

    if (pid == 0)
        become(c, output, log, parent);
    if (output >= 0)
        close(output);
    if (log >= 0)
        close(log);
    return pid;
}

static bool make_folders(const char *path)
{
    char *copy = strdup(path);
    bool made = copy != NULL;

    for (char *slash = copy ? strchr(copy + 1, '/') : NULL; made && slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        made = mkdir(copy, 0777) == 0 || errno == EEXIST;
        *slash = '/';
    }
    made = made && (mkdir(path, 0777) == 0 || errno == EEXIST);
    free(copy);
    return made;
}

static void fail_job(job *j, const char *format, const char *detail)
{
    j->state = JOB_FAILED;
    free(j->message);
    if (asprintf(&j->message, format, detail) < 0)
        j->message = NULL;
}

static void start_step(plan *p, job *j)
{
    command_line c;
    kith_error error;

    if (j->step == 0)
        j->began = now();
    if (!make_folders(j->folder)) {
        fail_job(j, "cannot create its folder: %s", strerror(errno));
        return;
    }
    if (check_job_entries(j, &error) != KITH_OK) {
        fail_job(j, "%s", error.message);
        return;
    }
    command_make(&c, p, j, j->step);
    j->pid = c.no_memory ? -1 : start_command(&c, j);
    j->state = JOB_RUNNING;
    if (j->pid < 0)
        fail_job(j, "cannot start: %s", strerror(c.no_memory ? ENOMEM : errno));
    command_release(&c);
}

/* ---- results ---- */

static json_t *load_output(const job *j, const char *name)
{
    char *path = job_path(j, name);
    json_t *value = path ? json_read(path, NULL) : NULL;

    free(path);
    return value;
}

static double history_seconds(const job *j, double *epochs)
{
    char *path = job_path(j, "model/history.jsonl"), *line = NULL;
    FILE *in = path ? kith__regular_open(path, false) : NULL;
    size_t capacity = 0;
    double seconds = 0;

    *epochs = 0;
    while (in && getline(&line, &capacity, in) > 0) {
        json_t *epoch = json_loads(line, 0, NULL);
        *epochs = isfinite(number_of(epoch, "epoch")) ? number_of(epoch, "epoch") : *epochs;
        seconds += isfinite(number_of(epoch, "seconds")) ? number_of(epoch, "seconds") : 0;
        json_decref(epoch);
    }
    if (in)
        fclose(in);
    free(line);
    free(path);
    return seconds;
}

/* All commands of a job succeeded: their output becomes results.json, which marks the job as
 * done. */
static void finish_job(plan *p, job *j)
{
    static const char *const outputs[] = {
        [JOB_TRAIN] = "eval", [JOB_STATISTICS] = "stats", [JOB_EXPLAIN] = "explain"};
    /* A resumed training took longer than this process has been running. */
    double epochs, training = fmax(history_seconds(j, &epochs), j->trained);
    double passed = now() - j->began;
    json_t *name = format_string("%s.json", outputs[j->kind]);
    json_t *output = load_output(j, json_string_value(name));
    json_t *results =
        json_pack("{sO sO sO* sf sf sf so sI ss}", "identity", j->identity, "info", j->info,
                  "commands", j->commands, "seconds", fmax(passed, training), "training_seconds",
                  training, "epochs", epochs, "machine", machine_json(), "threads",
                  (json_int_t)p->options.threads, "kith", kith_version());
    char *path = job_path(j, "results.json");
    kith_error error = {0};

    if (!output || !results) {
        fail_job(j, "%s is not JSON", json_string_value(name));
    } else {
        json_object_set(results, outputs[j->kind], output);
        if (json_write(results, path, &error) == KITH_OK)
            j->state = JOB_DONE;
        else
            fail_job(j, "%s", error.message);
    }
    free(path);
    json_decref(results);
    json_decref(output);
    json_decref(name);
}

/* The last line of the command's log. */
static void fail_with_log(job *j)
{
    char *path = job_path(j, "log.txt"), *line = NULL, *last = NULL;
    FILE *in = path ? kith__regular_open(path, false) : NULL;
    size_t capacity = 0;

    while (in && getline(&line, &capacity, in) > 0) {
        free(last);
        last = strndup(line, strcspn(line, "\n"));
    }
    const char *message = last ? last : "";
    if (strncmp(message, "kith: ", 6) == 0)
        message += 6; /* the message of this command begins with it already */
    fail_job(j, "%s", *message ? message : "ended without a message");
    if (in)
        fclose(in);
    free(last);
    free(line);
    free(path);
}

static void end_step(plan *p, job *j, int status)
{
    json_t *said = j->kind == JOB_TRAIN && j->step == 0 ? load_output(j, "train.json") : NULL;
    bool stopped = strcmp(text_of(said, "state"), "stopped") == 0;

    json_decref(said);
    j->pid = 0;
    if (stopped || received) {
        j->state = JOB_WAITING;
        if (!received)
            fail_job(j, "%s", "was stopped by another process; run the command again to continue");
    } else if (WIFSIGNALED(status)) {
        fail_job(j, "was ended by a signal: %s", strsignal(WTERMSIG(status)));
    } else if (status != 0) {
        fail_with_log(j);
    } else if (j->kind == JOB_TRAIN && j->step == 0) {
        j->trained = now() - j->began;
        j->step++;
        start_step(p, j);
    } else {
        finish_job(p, j);
    }
}

/* ---- progress ---- */

/* The fraction of the epochs that are in the history. */
static double trained_fraction(const job *j)
{
    double epochs;

    if (j->kind != JOB_TRAIN || !(j->epochs > 0))
        return 0;
    history_seconds(j, &epochs);
    return .95 * fmin(1, epochs / j->epochs);
}

double job_fraction(const job *j)
{
    if (j->kind != JOB_TRAIN)
        return .5;
    return j->step > 0 ? .98 : trained_fraction(j);
}

/* Seconds of CPU time that are left. */
static double cpu_left(const plan *p)
{
    double left = 0;

    for (size_t i = 0; i < p->count; i++)
        if (p->jobs[i].state == JOB_WAITING)
            left += p->jobs[i].estimate * (1 - trained_fraction(&p->jobs[i]));
        else if (p->jobs[i].state == JOB_RUNNING)
            left += p->jobs[i].estimate * (1 - job_fraction(&p->jobs[i]));
    return left;
}

/* Seconds that a job takes for each second of its CPU time: threads share the work, jobs share the
 * cores. Two cores were measured to be 1.7 times as fast as one. */
static double expected_slowness(const plan *p, unsigned at_once)
{
    double cores = (double)sysconf(_SC_NPROCESSORS_ONLN);
    double threads = p->options.threads > 0 ? p->options.threads : cores;

    return at_once / pow(fmax(1, fmin(cores, at_once * threads)), .8);
}

double job_seconds(const plan *p, const job *j, unsigned at_once)
{
    return j->estimate * (1 - trained_fraction(j)) * expected_slowness(p, at_once);
}

double jobs_seconds(const plan *p, unsigned at_once)
{
    return cpu_left(p) * expected_slowness(p, at_once) / at_once;
}

/* The speed of this machine, measured on finished jobs. */
typedef struct pace {
    double spent, estimated; /* seconds, and seconds of CPU time */
    unsigned at_once;
} pace;

static double seconds_left(const plan *p, const pace *to)
{
    double spent = to->spent, estimated = to->estimated;

    for (size_t i = 0; i < p->count; i++) {
        const job *j = &p->jobs[i];
        double done = j->state == JOB_RUNNING ? job_fraction(j) - j->before : 0;
        if (done > .05) {
            spent += now() - j->began;
            estimated += j->estimate * done;
        }
    }
    double slowness = estimated > 5 ? spent / estimated : expected_slowness(p, to->at_once);
    return cpu_left(p) * slowness / to->at_once;
}

size_t jobs_count(const plan *p, job_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < p->count; i++)
        count += p->jobs[i].state == state;
    return count;
}

/* ---- the loop ---- */

/* A lock held by this process and its commands, so that only one `kith reproduce` works in a
 * folder, even if an earlier one was killed and its commands are still ending. */
static kith_status lock_folder(int *lock, const char *folder, const jobs_options *options,
                               kith_error *error)
{
    enum { WAIT_SECONDS = 30 };
    static const char *const names[] = {"lock",      "runs/",       "report.html",
                                        "report.md", "report.json", NULL};
    char *path = NULL;
    kith_status status;

    if (!make_folders(folder) || asprintf(&path, "%s/lock", folder) < 0)
        return kith__fail(error, KITH_ERR_IO, "%s: cannot create it: %s", folder, strerror(errno));
    status = check_entries(folder, names, error);
    if (status != KITH_OK) {
        free(path);
        return status;
    }
    *lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0666);
    free(path);
    if (*lock < 0)
        return kith__fail(error, KITH_ERR_IO, "%s: cannot write there: %s", folder,
                          strerror(errno));
    for (int tries = 0; tries < WAIT_SECONDS * 10; tries++) {
        if (flock(*lock, LOCK_EX | LOCK_NB) == 0)
            return KITH_OK;
        if (tries == 0 && options->wait)
            options->wait(options->context);
        usleep(100000);
    }
    close(*lock);
    return kith__fail(error, KITH_ERR_IO, "%s: another kith reproduce is using this folder",
                      folder);
}

static bool is_startable(const plan *p, job *j)
{
    if (j->state != JOB_WAITING)
        return false;
    if (j->needs == SIZE_MAX || p->jobs[j->needs].state == JOB_DONE)
        return true;
    if (p->jobs[j->needs].state == JOB_FAILED)
        fail_job(j, "%s", "the training it needs has failed");
    return false;
}

/* Record the commands of a job as a user would type them, before the job creates anything. */
static void note_commands(plan *p, job *j)
{
    char *path = job_path(j, "commands.json");
    json_t *before = path ? json_read(path, NULL) : NULL;
    kith_error error;

    if (!before && make_folders(j->folder) && check_job_entries(j, &error) == KITH_OK) {
        before = commands_json(p, j);
        json_write(before, path, &error);
    }
    json_decref(j->commands);
    j->commands = before;
    free(path);
}

static void start_jobs(plan *p, const pace *to, const jobs_options *options)
{
    for (size_t i = 0; i < p->count && jobs_count(p, JOB_RUNNING) < options->at_once; i++)
        if (is_startable(p, &p->jobs[i])) {
            p->jobs[i].step = 0;
            p->jobs[i].before = trained_fraction(&p->jobs[i]);
            note_commands(p, &p->jobs[i]);
            start_step(p, &p->jobs[i]);
            if (p->jobs[i].state == JOB_FAILED)
                options->show(options->context, p, &p->jobs[i], 0, seconds_left(p, to));
        }
}

static void stop_jobs(const plan *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->jobs[i].state == JOB_RUNNING && p->jobs[i].pid > 0)
            kill(p->jobs[i].pid, SIGTERM);
}

static void collect(plan *p, pace *to, const jobs_options *options)
{
    for (size_t i = 0; i < p->count; i++) {
        job *j = &p->jobs[i];
        int status;
        if (j->state != JOB_RUNNING || waitpid(j->pid, &status, WNOHANG) != j->pid)
            continue;
        end_step(p, j, status);
        if (j->state != JOB_DONE && j->state != JOB_FAILED)
            continue;
        to->spent += now() - j->began;
        to->estimated += j->estimate * (1 - j->before);
        options->show(options->context, p, j, now() - j->began, seconds_left(p, to));
    }
}

kith_status jobs_run(plan *p, const jobs_options *options, int *signal_number, kith_error *error)
{
    struct sigaction action = {.sa_handler = on_signal}, old[2];
    pace to = {.at_once = options->at_once};
    int lock = -1;
    int passed_on = 0;
    double next = 0;
    kith_status status = lock_folder(&lock, p->options.output, options, error);

    if (status != KITH_OK)
        return status;
    plan_update(p);
    received = signals = 0;
    sigaction(SIGINT, &action, &old[0]);
    sigaction(SIGTERM, &action, &old[1]);
    for (;;) {
        if (!received)
            start_jobs(p, &to, options);
        for (; passed_on < signals; passed_on++)
            stop_jobs(p);
        if (jobs_count(p, JOB_RUNNING) == 0)
            break;
        if (now() >= next) { /* histories are read rarely, because that takes time */
            options->show(options->context, p, NULL, 0, seconds_left(p, &to));
            next = now() + 1;
        }
        usleep(50000);
        collect(p, &to, options);
    }
    sigaction(SIGINT, &old[0], NULL);
    sigaction(SIGTERM, &old[1], NULL);
    close(lock);
    *signal_number = received;
    return KITH_OK;
}
