/* cluster.h - declarations shared by the files of `bloomery-mpi`.
 *
 * The command runs as several processes, the *ranks* of an MPI job, on one
 * machine or many. All ranks take the same steps, and communicate only in
 * collective operations, marked so below. A rank that fails in between reports
 * it in the next job_agree, and all ranks end together.
 *
 * Options and lines are read by programs/filters/, as in `bloomery`. The files,
 * from the bottom up:
 *
 *     job.c       the ranks, collective helpers, failing together
 *     exchange.c  all-to-all exchange of bytes, counted
 *     share.c     the lines of all files, divided among the ranks
 *     part.c      one filter, divided among the ranks
 *     sparse.c    sparse images as lists of set bits
 *     replicate.c the union of all ranks' filters, on all ranks
 *     dedup.h     declarations shared by the files of `dedup`
 *     cmd_*.c     one subcommand each
 *     main.c      the table of subcommands
 */
#ifndef CLUSTER_CLUSTER_H
#define CLUSTER_CLUSTER_H

#include "filters/filters.h"
#include "frame/batches.h"

/* ==== job.c ============================================================= */

/* This rank, and the number of ranks. Rank 0 writes the output and the
 * messages; the standard output of other ranks is discarded. */
extern int job_rank, job_ranks;

void job_start(int *argc, char ***argv);
void job_end(void);

/* Returns CLI_ERROR on all ranks if any rank passes CLI_ERROR, and prints the
 * first such rank's last message once. Otherwise returns `status`. Notes of
 * rank 0 are printed in any case, those of other ranks never. Collective. */
int job_agree(int status);

/* Returns the sum, or the maximum, over all ranks. Collective. */
uint64_t job_sum(uint64_t n);
double job_add(double x);
uint64_t job_most(uint64_t n);

/* Replaces each byte by its maximum over all ranks. Collective. */
void job_most_each(unsigned char *bytes, size_t n);

/* Copies the bytes of rank 0 to all ranks. Collective. */
void job_spread(void *bytes, size_t n);

/* Returns whether all ranks pass the same number. Collective. */
bool job_same(uint64_t n);

/* Prints one line and ends the whole job with status 2, for errors that cannot
 * wait for job_agree. */
_Noreturn void job_give_up(const char *why);

/* Like realloc, but ends the job if out of memory. */
void *job_memory(void *old, size_t bytes);

/* ==== exchange.c ======================================================== */

/* A growing array of bytes. Initialise to zero. */
typedef struct {
    unsigned char *bytes;
    size_t n, room;
} job_bytes;

/* Appends `more` uninitialised bytes and returns their address. */
unsigned char *exchange_extend(job_bytes *b, size_t more);
void exchange_free(job_bytes *b);

/* Bytes sent to other ranks so far, without the 8-byte length of each message.
 */
extern uint64_t exchange_sent;

/* Sends to[r] to each rank r. *in receives the messages of all ranks, that of
 * rank r from begin[r] to begin[r + 1]. Messages may have any length.
 * Collective. */
void exchange_all(const job_bytes *to, job_bytes *in, size_t *begin);

/* Sends n bytes from one rank to another. Called by these two ranks only. */
void exchange_send(int rank, const void *bytes, size_t n);
void exchange_receive(int rank, void *bytes, size_t n);

/* Exchanges n bytes, which may differ in number and be 0, with another rank;
 * *in receives the other's. Called by these two ranks only. */
void exchange_pair(int rank, const void *bytes, size_t n, job_bytes *in);

/* ==== share.c =========================================================== */

/* The lines of all files as one text, of which each rank reads a part. A line
 * belongs to the part that contains its first byte. */
typedef struct {
    cli_lines lines;            /* how keys are found in lines                */
    uint64_t *start;            /* start of each file, and end of the text  */
    size_t   *skip;             /* bytes of byte order mark to skip in each */
    uint64_t  at, end;          /* of the part being read                   */
    size_t    file;             /* index of the file that contains `at`     */
    int       fd;
} share;

/* Measures the files `operands` from number `first` on, which must be plain
 * files. Returns CLI_GO, or CLI_ERROR after reporting an error. `keep` is as in
 * lines_open. */
int  share_open(share *s, const cli_how *how, const cli_operands *operands,
                size_t first, bool keep);
void share_close(share *s);

/* Returns the number of bytes in all files. */
uint64_t share_bytes(const share *s);

/* Checks that all ranks see files of the same lengths. Returns CLI_GO or
 * CLI_ERROR on all ranks. Collective. */
int share_same(const share *s);

/* Starts reading the lines whose first byte is in [from, to). Returns CLI_GO or
 * CLI_ERROR. */
int share_begin(share *s, uint64_t from, uint64_t to);

/* Starts reading this rank's part of the evenly divided text. */
int share_begin_mine(share *s);

/* Reads the next chunk, for batches_split. Returns CLI_GO, CLI_OK at the end,
 * or CLI_ERROR. The chunk's block is reused by each call; free it at the end.
 */
int share_next(share *s, cli_chunk *chunk);

/* Reads batches. Initialise to zero; free the chunk's block at the end. */
typedef struct {
    cli_chunk chunk;
    size_t    at;               /* offset in the chunk */
    cli_batch batch;
} share_reader;

/* Reads the next batch. Returns CLI_GO, CLI_OK at the end, or CLI_ERROR. */
int share_batch(share *s, share_reader *r);

/* Prints how many lines of the last pass were not JSON objects. Collective. */
void share_note_strange(const share *s);

/* ==== part.c ============================================================ */

/* How the image of a filter with local keys is divided: each rank has this many
 * bytes, the last ones fewer or none. */
typedef struct {
    uint64_t bytes, width;
} part_map;

/* Returns CLI_GO or CLI_ERROR. */
int part_divide(part_map *map, const bly_filter *filter);

/* Returns the rank that owns this byte of the image. */
int part_owner(const part_map *map, uint64_t place);

/* Returns whether the headers of all ranks' images are the same; their
 * checksums must be up to date. Collective. */
bool part_same(const bly_filter *filter);

/* Checks that all ranks hash with the same secret. Returns CLI_GO or CLI_ERROR
 * on all ranks. Collective. */
int part_same_key(const bly_filter *filter);

/* Hashes to be sent to their owners. Initialise to zero. */
typedef struct {
    job_bytes *to, in;          /* `to` has one entry for each rank        */
    size_t    *begin;           /* as in exchange_all                      */
    size_t     ranks;
} part_mail;

void part_mail_open(part_mail *m);
void part_mail_close(part_mail *m);
void part_mail_empty(part_mail *m);

/* Saves a divided filter; rank 0 writes the file. Returns CLI_GO or CLI_ERROR
 * like job_agree. Collective. */
int part_save(const bly_filter *filter, const part_map *map, const char *path,
              uint64_t items);

/* ==== sparse.c ========================================================== */

/* Encode an image as lists of its set bits, or verbatim where that is shorter,
 * and decode it. Decoding damaged bytes ends the job. The previous contents of
 * *to and *image are lost. */
void sparse_pack(job_bytes *to, const void *image, size_t n);
void sparse_unpack(job_bytes *image, const job_bytes *from);

/* Returns the number of set bits. */
uint64_t sparse_count(const void *image, size_t n);

/* Returns the size of the lists, relative to an image with a share p of its
   bits set. */
double sparse_share(double p);

/* ==== replicate.c ======================================================= */

/* Replaces *filter on all ranks by the union of all ranks' filters, sent as
 * lists of bits if `sparse`. Returns CLI_GO or CLI_ERROR like job_agree. The
 * caller frees *filter, which is NULL after an error. Collective. */
int replicate(bly_filter **filter, bool sparse);

/* Return the bytes that all ranks together send for that: for an image of this
 * size, or as lists, if a share p of the bits is set in the end and the keys
 * are evenly distributed. */
uint64_t replicate_bytes(uint64_t image);
uint64_t replicate_bytes_sparse(uint64_t image, double p);

/* ==== cmd_*.c =========================================================== */

extern const cli_command
    cmd_build,
    cmd_dedup,
    cmd_query;

#endif
