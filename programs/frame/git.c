/* git.c - lists the files of a folder that git knows, or would add.
 *
 * Only git can interpret .gitignore and its other settings, so it is called; if
 * it fails, its own message says why. Programs that the folder's own git
 * settings name are not run.
 */
#include "frame/git.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Starts git with its output to this pipe. Returns 0, or an errno. */
static int git_start(pid_t *child, const char *folder, const int ends[2])
{
    char *arguments[] = { "git", "-c", "core.fsmonitor=false", "-C",
                          (char *)(uintptr_t)folder, "ls-files", "-z",
                          "--cached", "--others", "--exclude-standard", NULL };
    posix_spawn_file_actions_t files;
    int error = posix_spawn_file_actions_init(&files);

    if (error != 0)
        return error;
    error = posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_addclose(&files, ends[0]);
    if (error == 0)
        error = posix_spawn_file_actions_addclose(&files, ends[1]);
    if (error == 0)
        error = posix_spawnp(child, arguments[0], &files, NULL, arguments,
                             environ);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* Waits for git. Returns whether it succeeded. */
static bool git_ended(pid_t child)
{
    int status;
    pid_t ended;

    do
        ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    return ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int git_files(cli_bytes *names, const char *folder)
{
    int ends[2], error;
    pid_t child;
    bool read;

    if (pipe(ends) < 0)
        return report_error("cannot run git: %s", strerror(errno));
    error = git_start(&child, folder, ends);
    close(ends[1]);
    read = error == 0 && bytes_load(names, ends[0]);
    close(ends[0]);
    if (error != 0)
        return report_error("cannot run git: %s: install it, or leave --git "
                            "out", strerror(error));
    if (!git_ended(child))
        return report_error("git cannot list the files of '%s': name a folder "
                            "of a repository, or leave --git out", folder);
    return read && bytes_put(names, "", 1) ? CLI_GO : report_no_memory();
}
