/* talk.c - gathers requests into batches, and writes their answers.
 *
 * All requests received so far are looked up together: a single lookup waits
 * for memory, while the misses of a batch overlap.
 */
#include "bloomery/serve/serve.h"

/* Gathers the next requests. Returns their number, and their length in *used.
 */
static size_t talk_gather(serve_talk *t, serve_asker *asker, size_t *used)
{
    const serve_how *how = asker->how;
    size_t length = bytes_waiting(&t->in), n = 0;

    for (*used = 0; n < SERVE_BATCH && !t->broken; n++) {
        serve_request *r = &asker->requests[n];
        size_t took;

        *r = (serve_request){ .filter = SERVED_ALL };
        took = length > *used
              ? how->protocol->take(how, t->in.data + t->in.from + *used,
                                   length - *used, &t->looked, t->ended, r)
             : 0;
        t->idle = took == 0;
        if (t->idle)
            break;
        t->looked = 0;
        t->broken = took == TALK_GARBAGE;
        *used = t->broken ? length : *used + took;
    }
    return n;
}

static void talk_count(const serve_asker *asker, size_t n, serve_counts *counts)
{
    uint64_t errors = 0;

    for (size_t i = 0; i < n; i++)
        errors += asker->requests[i].fault != NULL;
    counts_add(&counts->requests, n);
    counts_add(&counts->errors, errors);
}

bool talk_answer(serve_talk *t, serve_asker *asker, serve_counts *counts)
{
    const serve_how *how = asker->how;

    for (t->idle = false; !t->idle && bytes_waiting(&t->out) < SERVE_UNSENT; ) {
        size_t used, n = talk_gather(t, asker, &used);

        asking_batch(asker, n, FORMS_UNSAID, counts);
        talk_count(asker, n, counts);
        for (size_t i = 0; i < n; i++)
            if (!how->protocol->put(how, &asker->requests[i], &t->out))
                return false;
        bytes_done(&t->in, used);
        t->idle = t->idle || t->broken;
    }
    return true;
}

void talk_free(serve_talk *t)
{
    http_forget(&t->http);
    bytes_free(&t->in);
    bytes_free(&t->out);
}
