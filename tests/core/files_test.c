/* Files and folders that appear whole or not at all, and what killed processes left behind. */
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files.h"
#include "support.h"

static void files__only_what_kith_left_is_removed(void **state)
{
    static const char *const users[] = {"notes.tmp-old",          "notes.tmp-1",
                                        ".tmp-0123456789ab",      "a.tmp-0123456789abc",
                                        "a.tmp-0123456789ab.txt", "a.tmp-0123456789aB"};
    const char *folder = new_folder();

    (void)state;
    for (size_t i = 0; i < sizeof users / sizeof *users; i++)
        put(folder, users[i], "precious");
    const char *left = put(folder, "model.safetensors.tmp-0123456789ab", "half");
    const char *inner = keep(format("%s/heldout.tmp-00ff00ff00ff", folder));
    mkdir(inner, 0777);
    put(inner, "config.json", "{}");
    kith__remove_leftovers(folder);
    assert_false(exists(left));
    assert_false(exists(inner));
    assert_int_equal(entries(folder), sizeof users / sizeof *users);
}

static void files__what_is_being_written_is_no_leftover(void **state)
{
    const char *folder = new_folder(), *path = keep(format("%s/a", folder));
    kith__new_file first, second;
    kith__new_folder inner;

    (void)state;
    assert_int_equal(kith__new_file_open(&first, path, NULL), KITH_OK);
    assert_int_equal(kith__new_file_open(&second, path, NULL), KITH_OK);
    assert_int_equal(kith__new_folder_open(&inner, path, NULL), KITH_OK);
    kith__remove_leftovers(folder);
    assert_int_equal(entries(folder), 3);
    fputs("one", first.stream);
    assert_int_equal(kith__new_file_commit(&first, NULL), KITH_OK);
    kith__new_file_abandon(&second);
    kith__new_folder_abandon(&inner);
    assert_int_equal(entries(folder), 1);
    size_t length;
    char *text = contents(path, &length);
    assert_string_equal(text, "one");
    free(text);
}

/* Renames and removals of temporary files that another process could have locked meanwhile. */
static size_t unlocked;

static void note_lock(const char *path)
{
    int file = strstr(path, ".tmp-") ? open(path, O_RDONLY) : -1;

    unlocked += file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0;
    if (file >= 0)
        close(file);
}

int __real_rename(const char *, const char *);

int __wrap_rename(const char *, const char *);

int __real_unlink(const char *);

int __wrap_unlink(const char *);

int __wrap_rename(const char *from, const char *to)
{
    note_lock(from);
    return __real_rename(from, to);
}

int __wrap_unlink(const char *path)
{
    note_lock(path);
    return __real_unlink(path);
}

static void files__the_lock_is_held_until_a_file_has_its_name_or_is_gone(void **state)
{
    const char *folder = new_folder(), *path = keep(format("%s/a", folder));
    kith__new_file file;

    (void)state;
    put(folder, "a.tmp-0123456789ab", "half");
    unlocked = 0;
    assert_int_equal(kith__new_file_open(&file, path, NULL), KITH_OK);
    assert_int_equal(entries(folder), 1); /* the leftover is gone */
    assert_int_equal(kith__new_file_commit(&file, NULL), KITH_OK);
    assert_true(exists(path));
    assert_int_equal(unlocked, 0);
}

static void files__what_the_user_names_goes_where_a_link_leads(void **state)
{
    const char *folder = new_folder(), *link = keep(format("%s/link", folder));
    const char *target = put(folder, "target", "old");
    kith__new_file file;
    size_t length;

    (void)state;
    for (int own = 0; own < 2; own++) {
        unlink(link);
        assert_int_equal(symlink("target", link), 0);
        assert_int_equal(own ? kith__new_file_replace(&file, link, NULL)
                             : kith__new_file_open(&file, link, NULL),
                         KITH_OK);
        fputs(own ? "own" : "new", file.stream);
        assert_int_equal(kith__new_file_commit(&file, NULL), KITH_OK);
        char *text = contents(target, &length), *linked = contents(link, &length);
        assert_string_equal(text, "new");
        assert_string_equal(linked, own ? "own" : "new");
        free(text);
        free(linked);
        assert_int_equal(readlink(link, (char[8]){0}, 8) > 0, !own);
        assert_int_equal(entries(folder), 2);
    }
}

static void files__stdout_is_shared_and_not_replaced(void **state)
{
    const char *folder = new_folder(), *path = put(folder, "a", "");
    const char *link = keep(format("%s/stdout", folder));
    kith__new_file file;
    size_t length;

    (void)state;
    assert_int_equal(symlink("/proc/self/fd/1", link), 0);
    fflush(stdout);
    int before = dup(1), to = open(path, O_WRONLY);
    dup2(to, 1);
    bool good = write(1, "one ", 4) == 4 && kith__new_file_open(&file, link, NULL) == KITH_OK &&
                fputs("two ", file.stream) >= 0 && kith__new_file_commit(&file, NULL) == KITH_OK &&
                write(1, "three", 5) == 5;
    dup2(before, 1);
    close(before);
    close(to);
    assert_true(good);
    char *text = contents(path, &length);
    assert_string_equal(text, "one two three");
    free(text);
    assert_true(readlink(link, (char[32]){0}, 32) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files__only_what_kith_left_is_removed),
        cmocka_unit_test(files__what_is_being_written_is_no_leftover),
        cmocka_unit_test(files__the_lock_is_held_until_a_file_has_its_name_or_is_gone),
        cmocka_unit_test(files__what_the_user_names_goes_where_a_link_leads),
        cmocka_unit_test(files__stdout_is_shared_and_not_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
