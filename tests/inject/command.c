/* command.c - every system call of every subcommand fails in turn.
 *
 *   test_inject_command BLOOMERY PRELOAD [kill]
 *
 * Like inject.c for the library, but with the real binary (preload.c). Each job
 * runs normally once; then its first call fails, its second, …, once and
 * permanently, or is interrupted, or transfers half. After interruptions and
 * short transfers the result must be the usual one, to the last byte. Otherwise
 * the status is 2 with a message that says why, and the output so far is
 * correct; or status and output are the usual ones. A file to be changed is the
 * old or the new one, and the folder holds nothing else. One thread keeps the
 * order of calls fixed.
 *
 * With `kill`, each job that writes a file is killed before a call. The file is
 * the old or the new one. A temporary file may be left only by a kill between
 * the two steps that name a file, or if the file system cannot make unnamed
 * files; the next run removes it.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "folder.h"

static const char *command_binary, *command_preload;
static uint64_t command_points, command_runs;

/* Words separated by blanks, the file for standard input, and the file written.
 * (inject.c covers work on a file in place.) */
typedef struct {
    const char *words, *input, *writes;
} command_job;

static const command_job command_jobs[] = {
    { "build -j 1 -o new.bly keys", NULL, "new.bly" },
    { "build -j 1 -o f.bly keys", NULL, "f.bly" },
    { "build -j 1 -k fuse -o f.bly -", "keys", "f.bly" },
    { "build -j 1 -k buffered -n 300 -M 64K -o b.bly keys", NULL, "b.bly" },
    { "build -j 1 -k cascade --without others -o f.bly keys", NULL, "f.bly" },
    { "build -j 1 -n 300 -o f.bly keys.gz", NULL, "f.bly" },
    { "add -j 1 f.bly others", NULL, "f.bly" },
    { "remove -j 1 c.bly keys", NULL, "c.bly" },
    { "query -j 1 -c f.bly lines", NULL, NULL },
    { "query -j 1 f.bly lines", NULL, NULL },
    { "query -j 1 -v f.bly -", "lines", NULL },
    { "query -j 1 --mark --line-number --with-filename f.bly lines keys", NULL,
      NULL },
    { "query -j 1 -F f.bly -F c.bly --all -c --with-filename lines", NULL,
      NULL },
    { "query -j 1 --paged b.bly lines", NULL, NULL },
    { "query -j 1 --csv -f name f.bly table.csv", NULL, NULL },
    { "count -j 1 c.bly lines", NULL, NULL },
    { "build -j 1 -k bloomier -f 1 -l 2 -t , -o f.bly labels", NULL, "f.bly" },
    { "put -j 1 -f 1 -l 2 -t , l.bly twos", NULL, "l.bly" },
    { "get -j 1 l.bly keys", NULL, NULL },
    { "dedup -j 1 lines", NULL, NULL },
    { "dedup -j 1 -", "lines", NULL },
    { "dedup -j 1 -M 1M -c lines", NULL, NULL },
    { "dedup -j 1 --force -o out lines", NULL, "out" },
    { "dedup -j 1 --approximate lines", NULL, NULL },
    { "dedup -j 1 --similar 0.8 lines", NULL, NULL },
    { "dedup -j 1 --similar 0.8 -a --key-file secret lines", NULL, NULL },
    { "join -j 1 lines keys", NULL, NULL },
    { "join -j 1 -o out --force lines -", "keys", "out" },
    { "unite -o f.bly f.bly g.bly", NULL, "f.bly" },
    { "intersect -o new.bly f.bly g.bly", NULL, "new.bly" },
    { "resize -n 5000 -o new.bly q.bly", NULL, "new.bly" },
    { "resize --fold 2 -o new.bly fold.bly", NULL, "new.bly" },
    { "convert --data keys d.bloom d.bloom", NULL, "d.bloom" },
    { "convert --to bloomery --data - d.bloom new.bly", "keys", "new.bly" },
    { "info --data d.bloom", NULL, NULL },
    { "overlap f.bly g.bly", NULL, NULL },
    { "check f.bly b.bly", NULL, NULL },
    { "info f.bly", NULL, NULL },
    { "sketch --differences 20 -o new.sketch keys", NULL, "new.sketch" },
    { "diff -j 1 keys.sketch some", NULL, NULL },
    { "similar -j 1 --superset rows.fps rows.fps", NULL, NULL },
    { "similar -j 1 --estimate - rows.fps", "rows.fps", NULL },
    { "serve f.bly c.bly", "lines", NULL },
    { "serve --load f.bly", "lines", NULL },
    { "serve --protocol squid f.bly", "lines", NULL },
    { "plan -n 1000", NULL, NULL },
    { "advise -n 1000", NULL, NULL },
    { "kinds", NULL, NULL },
    { "help query", NULL, NULL },
    { "help --completion bash", NULL, NULL },
};

/* An index skips files that it cannot read, so these are only killed. */
static const command_job command_indexes[] = {
    { "index -j 1 -o new.idx keys lines", NULL, "new.idx" },
    { "index -j 1 --force -o i.idx keys lines", NULL, "i.idx" },
    { "index -j 1 --update -o i.idx keys lines", NULL, "i.idx" },
};

/* ---- Files --------------------------------------------------------------- */

typedef struct {
    char  *bytes;                       /* NULL: it does not exist           */
    size_t n;
} command_file;

static command_file command_read(const char *path)
{
    struct stat about;
    command_file f = { NULL, 0 };
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return f;
    assert_int_equal(fstat(file, &about), 0);
    f.n = (size_t)about.st_size;
    f.bytes = malloc(f.n + 1);
    assert_true(read(file, f.bytes, f.n) == (ssize_t)f.n);
    f.bytes[f.n] = '\0';
    close(file);
    return f;
}

static void command_write(const char *path, const command_file *f)
{
    if (f->bytes == NULL) {
        unlink(path);
        return;
    }
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(file >= 0 && write(file, f->bytes, f->n) == (ssize_t)f->n);
    close(file);
}

static bool command_same(const command_file *a, const command_file *b)
{
    return (a->bytes == NULL) == (b->bytes == NULL) && a->n == b->n
        && (a->bytes == NULL || memcmp(a->bytes, b->bytes, a->n) == 0);
}

/* ---- Runs ---------------------------------------------------------------- */

enum { WORDS = 20, COUNT = 9 };

/* The end of a run, its output, and the file it wrote. */
typedef struct {
    int          status;
    command_file out, err, written;
    uint64_t     calls;
} command_end;

static void command_end_free(command_end *end)
{
    free(end->out.bytes);
    free(end->err.bytes);
    free(end->written.bytes);
}

static void command_onto(const char *path, int flags, int descriptor)
{
    int file = open(path, flags, 0600);
    if (file < 0 || dup2(file, descriptor) < 0)
        _exit(99);
    if (file != descriptor)
        close(file);
}

static void command_exec(const command_job *job, const char *way, uint64_t at)
{
    char words[200], number[24], *argv[WORDS] = { (char[]){ "bloomery" } };
    char *rest, *word;
    int n = 1;
    strcpy(words, job->words);
    for (word = strtok_r(words, " ", &rest); word != NULL && n < WORDS - 1;
         word = strtok_r(NULL, " ", &rest))
        argv[n++] = word;
    snprintf(number, sizeof number, "%llu", (unsigned long long)at);
    setenv("INJECT_WAY", way, 1);
    setenv("INJECT_AT", number, 1);
    setenv("INJECT_COUNT", "9", 1);
    setenv("LD_PRELOAD", command_preload, 1);
    command_onto(job->input != NULL ? job->input : "/dev/null", O_RDONLY, 0);
    command_onto("stdout", O_WRONLY | O_CREAT | O_TRUNC, 1);
    command_onto("stderr", O_WRONLY | O_CREAT | O_TRUNC, 2);
    command_onto("calls", O_WRONLY | O_CREAT | O_TRUNC, COUNT);
    execv(command_binary, argv);
    _exit(98);
}

static command_end command_run(const command_job *job, const char *way,
                               uint64_t at)
{
    command_end end;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        command_exec(job, way, at);
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    command_runs++;
    end.status = WIFEXITED(how) ? WEXITSTATUS(how) : 1000 + WTERMSIG(how);
    end.out = command_read("stdout");
    end.err = command_read("stderr");
    end.written = job->writes != NULL ? command_read(job->writes)
                                      : (command_file){ NULL, 0 };
    command_file calls = command_read("calls");
    end.calls = strtoull(calls.bytes, NULL, 10);
    free(calls.bytes);
    return end;
}

/* ---- Checks -------------------------------------------------------------- */

/* Returns whether the lines of `some` are among those of `all`, in order.
 * (Unreadable files are skipped. The last line may be cut short.) */
static bool command_among(const command_file *some, const command_file *all)
{
    const char *at = all->bytes, *end;
    for (const char *line = some->bytes; *line != '\0'; line = end) {
        end = strchr(line, '\n');
        end = end != NULL ? end + 1 : line + strlen(line);
        size_t n = (size_t)(end - line);
        while (at != NULL && strncmp(at, line, n) != 0) {
            at = strchr(at, '\n');
            at = at != NULL ? at + 1 : NULL;
        }
        if (at == NULL)
            return false;
        at += n;
    }
    return true;
}

/* Returns what is wrong with the end of a run, or NULL. */
static const char *command_wrong(const command_end *end,
                                 const command_end *whole,
                                 const command_file *old, bool harmless)
{
    bool as_ever = end->status == whole->status;
    if (!as_ever && end->status != 2)
        return "it ended otherwise";
    if (harmless && !as_ever)
        return "what harms nobody was an error";
    if (as_ever && !command_same(&end->out, &whole->out))
        return "it printed other things, and said nothing";
    if (as_ever && !command_same(&end->written, &whole->written))
        return "it wrote other things, and said nothing";
    if (as_ever)
        return NULL;
    if (strstr(end->err.bytes, "bloomery") != end->err.bytes)
        return "it does not say what is wrong";
    if (!command_among(&end->out, &whole->out))
        return "what it printed is wrong";
    if (command_same(&end->written, old))
        return NULL;
    if (!command_same(&end->written, &whole->written))
        return "the file is neither the old one nor the new one";
    return strstr(end->err.bytes, "in its place") != NULL
         ? NULL : "the new file is there, and that is not said";
}

static void command_check(const command_job *job, const char *way, uint64_t at,
                          const command_end *whole, const command_file *old,
                          size_t entries)
{
    bool harmless = strcmp(way, "signal") == 0 || strcmp(way, "half") == 0;
    command_end end = command_run(job, way, at);
    const char *wrong = command_wrong(&end, whole, old, harmless);
    size_t others = folder_entries(".");
    others -= job->writes != NULL && old->bytes == NULL
           && end.written.bytes != NULL;
    if (wrong == NULL && others != entries)
        wrong = "it left a file behind";
    if (wrong != NULL)
        fail_msg("%s, call %llu %s: %s: status %d: %s%s", job->words,
                 (unsigned long long)at, way, wrong, end.status,
                 end.err.bytes, end.out.bytes);
    if (job->writes != NULL)
        command_write(job->writes, old);
    command_end_free(&end);
}

/* ---- Killed -------------------------------------------------------------- */

enum { LAST_CALLS = 12 };               /* in which files are named          */

/* Kills a job before call `at`. Returns whether a temporary file is left.
 * The number of calls varies a little with the load of the machine: a job that
 * makes fewer than before may end first, and must then be complete. */
static bool command_kill(const command_job *job, const char *way, uint64_t at,
                         const command_end *whole, const command_file *old,
                         size_t entries)
{
    command_end end = command_run(job, way, at);
    size_t left = folder_entries(".") - entries
                - (old->bytes == NULL && end.written.bytes != NULL);
    bool fresh = command_same(&end.written, &whole->written);
    bool early = at + LAST_CALLS >= whole->calls && left == 0 && fresh
              && end.status == whole->status;
    if ((end.status != 1000 + SIGKILL && !early) || left > 1
        || (!fresh && !command_same(&end.written, old)))
        fail_msg("%s, call %llu %s: status %d, %zu files left: %s", job->words,
                 (unsigned long long)at, way, end.status, left, end.err.bytes);
    command_write(job->writes, old);
    command_end_free(&end);
    if (left == 0)
        return false;
    end = command_run(job, "never", 0);
    left = folder_entries(".") - entries - (old->bytes == NULL);
    if (left != 0 || !command_same(&end.written, &whole->written))
        fail_msg("%s, after call %llu %s: %zu files left: %s", job->words,
                 (unsigned long long)at, way, left, end.err.bytes);
    command_write(job->writes, old);
    command_end_free(&end);
    return true;
}

static void command_kills(const command_job *job, const command_end *whole,
                          const command_file *old, size_t entries)
{
    static const char *const ways[] = { "kill", "named" };
    uint64_t step = test_work(1, 19, 61);
    for (size_t w = 0; w < 2; w++) {
        uint64_t left = 0;
        for (uint64_t at = 0; at < whole->calls; at++)
            if (at % step == 0 || at + LAST_CALLS >= whole->calls)
                left += command_kill(job, ways[w], at, whole, old, entries);
        if (w == 0 ? left > 1 : left == 0)
            fail_msg("%s %s: %llu kills left a file", job->words, ways[w],
                     (unsigned long long)left);
    }
}

static void command_fails(const command_job *job, const command_end *whole,
                          const command_file *old, size_t entries)
{
    static const char *const ways[] = { "once", "on", "signal", "half" };
    uint64_t step = test_work(1, 7, 29);
    for (size_t w = 0; w < 4; w++)
        for (uint64_t at = w; at < whole->calls; at += step)
            command_check(job, ways[w], at, whole, old, entries);
}

typedef void command_test(const command_job *job, const command_end *whole,
                          const command_file *old, size_t entries);

static void command_each(const command_job *job, command_test *test)
{
    command_file old = job->writes != NULL ? command_read(job->writes)
                                           : (command_file){ NULL, 0 };
    size_t entries = folder_entries(".");
    command_end whole = command_run(job, "never", 0);
    if (whole.status > 1)
        fail_msg("%s: status %d: %s", job->words, whole.status,
                 whole.err.bytes);
    assert_true(whole.calls > 0);
    if (job->writes != NULL)
        command_write(job->writes, &old);
    command_points += whole.calls;
    test(job, &whole, &old, entries);
    command_end_free(&whole);
    free(old.bytes);
}

static void test_killed_commands_leave_the_old_file_or_the_new(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof command_jobs / sizeof *command_jobs; i++)
        if (command_jobs[i].writes != NULL)
            command_each(&command_jobs[i], command_kills);
    for (size_t i = 0; i < sizeof command_indexes / sizeof *command_indexes;
         i++)
        command_each(&command_indexes[i], command_kills);
}

static void test_each_call_of_each_command_fails(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof command_jobs / sizeof *command_jobs; i++)
        command_each(&command_jobs[i], command_fails);
    printf("  %llu points of failure, %llu runs\n",
           (unsigned long long)command_points,
           (unsigned long long)command_runs);
}

/* ---- Setup --------------------------------------------------------------- */

static int command_setup(void **state)
{
    char line[4400];
    if (folder_enter(state) != 0)
        return 1;
    snprintf(line, sizeof line,
             "set -e; B=%s; seq 1 200 >keys; seq 201 300 >others; "
             "seq 101 200 >some; seq 1 4 900 >lines; seq 1 8 600 >>lines; "
             "gzip -c keys >keys.gz; "
             "echo 0123456789abcdef0123456789abcdef >secret; "
             "{ echo name,x; seq 1 200 | sed 's/.*/\"&\",y/'; } >table.csv; "
             "seq 1 9 >out; : >stdout; : >stderr; : >calls; "
             "$B build -o f.bly keys; $B build -n 200 -o g.bly some; "
             "$B sketch --differences 200 -o keys.sketch keys; "
             "$B build -k counting -n 300 -o c.bly keys; "
             "seq 1 99 | awk '{ print $1 \",\" $1 %% 4 }' >labels; "
             "sed s/,./,2/ labels >twos; "
             "{ echo '#FPS1'; seq 10 99 | sed 's/.*/&\t&/'; } >rows.fps; "
             "$B build -k bloomier -f 1 -l 2 -t , -o l.bly labels; "
             "$B build -k quotient -o q.bly keys; "
             "$B build -k standard:m=4096 -o fold.bly keys; "
             "$B build -k dcso -n 300 -o d.bloom keys; "
             "$B index -q -o i.idx keys some; "
             "$B build -k buffered -n 300 -o b.bly keys", command_binary);
    return system(line);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest fail[] = {
        cmocka_unit_test(test_each_call_of_each_command_fails),
    }, kill[] = {
        cmocka_unit_test(test_killed_commands_leave_the_old_file_or_the_new),
    };
    if (argc != 3 && argc != 4)
        return 2;
    command_binary = argv[1];
    command_preload = argv[2];
    return argc == 3
         ? cmocka_run_group_tests_name("inject_command", fail, command_setup,
                                       folder_leave)
         : cmocka_run_group_tests_name("inject_kill", kill, command_setup,
                                       folder_leave);
}
