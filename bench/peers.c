/* peers.c - other libraries on the same clock, in the same rounds.
 *
 * Each peer is called in its usual way, one eight-byte key per call, or with
 * all keys at once if its name ends in "batch". Only the first round fills a
 * whole filter ("build", one sample); "add single" is measured in every round.
 */
#include "bench.h"
#include "peers.h"

#include <stdlib.h>

enum { PEERS_CHUNK = 65536 };

static const bench_peer *const peers_all[] = {
#ifdef BENCH_LIBBLOOM
    &peers_libbloom,
#endif
#ifdef BENCH_BOOST
    &peers_boost, &peers_boost_batch,
#endif
    NULL                                /* ends it                           */
};

static void *peers_filter[sizeof peers_all / sizeof *peers_all];

typedef struct {
    const bench_peer *peer;
    void             *filter;
    const uint64_t   *keys;
    size_t            n;
} peers_job;

static uint64_t peers_ask(void *context, unsigned part, unsigned parts)
{
    const peers_job *job = context;
    (void)part, (void)parts;
    return job->peer->ask(job->filter, job->keys, job->n);
}

static uint64_t peers_add(void *context, unsigned part, unsigned parts)
{
    const peers_job *job = context;
    (void)part, (void)parts;
    job->peer->add(job->filter, job->keys, job->n);
    return 0;
}

static void *peers_build(const bench_peer *peer, uint64_t keys, double rate)
{
    double start = bench_now();
    void *filter = peer->make(keys, rate);
    double taken = bench_now() - start;
    if (filter == NULL)
        return NULL;
    uint64_t *chunk = bench_allocate(PEERS_CHUNK * sizeof *chunk);
    for (uint64_t i = 0, n; i < keys; i += n) {
        n = keys - i < PEERS_CHUNK ? keys - i : PEERS_CHUNK;
        for (uint64_t j = 0; j < n; j++)
            chunk[j] = bench_hash(i + j);
        peers_job job = { peer, filter, chunk, (size_t)n };
        taken += bench_time(peers_add, &job, 1);
    }
    free(chunk);
    bench_case of = { peer->name, keys, rate, peer->bytes(filter) };
    table_add(&of, "build", taken / (double)keys);
    return filter;
}

static void peers_rate(const bench_case *of, const bench_peer *peer,
                       void *filter, const bench_questions *q)
{
    uint64_t found = peer->ask(filter, q->hashes[0], q->n);
    table_add(of, "rate", (double)found / (double)q->n);
}

static void peers_adds(const bench_case *of, const bench_peer *peer,
                       const bench_questions *q)
{
    size_t n = q->n / 8 < of->keys / 8 ? q->n / 8 : (size_t)(of->keys / 8);
    peers_job job = { peer, peer->make(of->keys, of->rate), q->fresh, n };
    if (job.filter == NULL)
        return;
    peers_add(&job, 0, 1);
    job.keys += n;
    table_add(of, "add single", bench_cost(peers_add, &job) / (double)n);
    peer->free(job.filter);
}

static void peers_asks(const bench_case *of, const bench_peer *peer,
                       void *filter, const bench_questions *q)
{
    for (size_t i = 0; i < 3; i++) {
        char name[24];
        snprintf(name, sizeof name, "single %u", bench_shares[i]);
        peers_job job = { peer, filter, q->hashes[i], (q->n + 3) / 4 };
        table_add(of, name, bench_time(peers_ask, &job, 1) / (double)job.n);
    }
}

void peers_round(const bench_plan *plan, uint64_t keys, double rate,
                 const bench_questions *questions, size_t round)
{
    for (size_t i = 0; plan->peers && peers_all[i] != NULL; i++) {
        const bench_peer *peer = peers_all[i];
        if (round == 0)
            peers_filter[i] = peers_build(peer, keys, rate);
        if (peers_filter[i] == NULL)
            continue;
        bench_case of = { peer->name, keys, rate,
                          peer->bytes(peers_filter[i]) };
        if (round == 0)
            peers_rate(&of, peer, peers_filter[i], questions);
        peers_asks(&of, peer, peers_filter[i], questions);
        peers_adds(&of, peer, questions);
    }
}

void peers_free(void)
{
    for (size_t i = 0; peers_all[i] != NULL; i++) {
        if (peers_filter[i] != NULL)
            peers_all[i]->free(peers_filter[i]);
        peers_filter[i] = NULL;
    }
}

void peers_print(void)
{
    printf("Peers in this run:");
    for (size_t i = 0; peers_all[i] != NULL; i++)
        printf(" %s %s", peers_all[i]->name, peers_all[i]->version());
    if (peers_all[0] == NULL)
        printf(" none (make bench WHAT=peers installs them)");
    printf("\n\n");
}
