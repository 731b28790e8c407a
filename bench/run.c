/* run.c - runs a command; records its time and memory.
 *
 *      run RESULTS NAME COMMAND [ARGUMENT…]
 *
 * Appends the line "NAME <TAB> seconds <TAB> KiB" to the file RESULTS:
 * wall-clock time, and the largest resident size. Exit status 0 whatever the
 * command's, unless it could not be run or died of a signal: a search without a
 * match exits with 1.
 */
#include "bench.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 4) {
        fputs("usage: run RESULTS NAME COMMAND [ARGUMENT...]\n", stderr);
        return 2;
    }
    double start = bench_now();
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[3], argv + 3);
        perror(argv[3]);
        _exit(127);
    }
    int status = 0;
    struct rusage used;
    if (child < 0 || wait4(child, &status, 0, &used) != child)
        bench_stop(argv[3], "cannot be run");
    double taken = bench_now() - start;
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
        bench_stop(argv[3], "failed");
    FILE *results = fopen(argv[1], "a");
    if (results == NULL)
        bench_stop(argv[1], "cannot be written");
    fprintf(results, "%s\t%.4f\t%ld\n", argv[2], taken / 1e9, used.ru_maxrss);
    return fclose(results) == 0 ? 0 : 2;
}
