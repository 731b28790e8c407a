/* job.c - the ranks of the job, and how they fail together.
 *
 * A rank that fails must not stop at once, as the others would wait for it. It
 * keeps its message until the next job_agree, where all ranks learn of it.
 */
#include "mpi/cluster.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int job_rank, job_ranks = 1;

/* Buffer for messages not printed yet. */
enum { JOB_MESSAGES = 1 << 14 };

static struct {
    char   text[JOB_MESSAGES];
    size_t n;
} job_said;

static void job_keep(const char *line, size_t n)
{
    if (n > sizeof job_said.text - job_said.n)
        return;                         /* the first ones matter */
    memcpy(job_said.text + job_said.n, line, n);
    job_said.n += n;
}

static void job_flush(void)
{
    if (job_said.n > 0)
        report_write(job_said.text, job_said.n);
    job_said.n = 0;
}

/* Discards the standard output of ranks other than 0. */
static void job_mute(void)
{
    int nowhere = open("/dev/null", O_WRONLY);

    if (nowhere >= 0 && nowhere != STDOUT_FILENO) {
        dup2(nowhere, STDOUT_FILENO);
        close(nowhere);
    }
}

void job_start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &job_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job_ranks);
    report_to = job_keep;
    if (job_rank != 0)
        job_mute();
}

void job_end(void)
{
    MPI_Finalize();
}

/* Returns the last line kept, which describes the error. */
static const char *job_last(size_t *n)
{
    size_t at = job_said.n > 0 ? job_said.n - 1 : 0;

    while (at > 0 && job_said.text[at - 1] != '\n')
        at--;
    *n = job_said.n - at;
    return job_said.text + at;
}

/* Prints, on rank 0, the last line of `rank`. */
static void job_pass_on(int rank)
{
    size_t n;
    const char *last = job_last(&n);
    char line[JOB_MESSAGES];
    int length = (int)n;

    if (job_rank == rank && rank != 0)
        MPI_Send(last, length, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    if (job_rank != 0)
        return;
    if (rank != 0) {
        MPI_Status about;

        MPI_Recv(line, sizeof line, MPI_CHAR, rank, 0, MPI_COMM_WORLD, &about);
        MPI_Get_count(&about, MPI_CHAR, &length);
        job_keep(line, (size_t)length);
    }
    job_flush();
}

int job_agree(int status)
{
    int mine = status == CLI_ERROR ? job_rank : job_ranks, first;

    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first < job_ranks)
        job_pass_on(first);
    else if (job_rank == 0)
        job_flush();
    job_said.n = 0;
    return first < job_ranks ? CLI_ERROR : status;
}

static uint64_t job_reduce(uint64_t n, MPI_Op how)
{
    uint64_t result;

    MPI_Allreduce(&n, &result, 1, MPI_UINT64_T, how, MPI_COMM_WORLD);
    return result;
}

uint64_t job_sum(uint64_t n)
{
    return job_reduce(n, MPI_SUM);
}

double job_add(double x)
{
    double result;

    MPI_Allreduce(&x, &result, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return result;
}

uint64_t job_most(uint64_t n)
{
    return job_reduce(n, MPI_MAX);
}

void job_most_each(unsigned char *bytes, size_t n)
{
    MPI_Allreduce(MPI_IN_PLACE, bytes, (int)n, MPI_UNSIGNED_CHAR, MPI_MAX,
                  MPI_COMM_WORLD);
}

void job_spread(void *bytes, size_t n)
{
    MPI_Bcast(bytes, (int)n, MPI_BYTE, 0, MPI_COMM_WORLD);
}

bool job_same(uint64_t n)
{
    uint64_t most = job_most(n), least = ~job_most(~n);

    return most == least;
}

_Noreturn void job_give_up(const char *why)
{
    report_error("%s", why);
    job_flush();
    MPI_Abort(MPI_COMM_WORLD, CLI_ERROR);
    abort();
}

void *job_memory(void *old, size_t bytes)
{
    void *memory = realloc(old, bytes > 0 ? bytes : 1);

    if (memory == NULL)
        job_give_up("out of memory: start more ranks, on more machines");
    return memory;
}
