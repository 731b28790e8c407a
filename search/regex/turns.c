/* turns.c - output of files that threads search, in the order of the files:
 *
 *      printed | 7: being searched, printed as it comes | 8: done | 9, 10: …
 */
#include "search/regex/turns.h"
#include "frame/output.h"

enum { TURNS_HELD = 1 << 18 };          /* bytes of one that may wait        */

void turns_open(turns *t, const select_want *want)
{
    t->want = want;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->moved, NULL);
}

void turns_close(turns *t)
{
    for (size_t i = 0; i < TURNS_AHEAD; i++)
        bytes_free(&t->places[i].out);
    pthread_cond_destroy(&t->moved);
    pthread_mutex_destroy(&t->lock);
}

void turns_wait(turns *t, size_t task)
{
    pthread_mutex_lock(&t->lock);
    while (task >= t->turn + TURNS_AHEAD)
        pthread_cond_wait(&t->moved, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

/* Prints output of the file whose turn it is. The caller holds the lock. */
static void turns_print(turns *t, cli_bytes *out)
{
    const select_want *want = t->want;
    size_t n = bytes_waiting(out);

    if (n > 0) {
        if (!t->begun && t->printed && want->apart && !want->json)
            output_text(select_break(want));
        output_bytes(out->data + out->from, n);
        t->begun = t->printed = true;
    }
    bytes_free(out);
    if (output_failed())
        t->stop = true;
}

void turns_drain(turns *t, size_t task, cli_bytes *out)
{
    if (bytes_waiting(out) < TURNS_HELD)
        return;
    pthread_mutex_lock(&t->lock);
    while (t->turn != task)
        pthread_cond_wait(&t->moved, &t->lock);
    turns_print(t, out);
    pthread_mutex_unlock(&t->lock);
}

void turns_hand_in(turns *t, size_t task, cli_bytes *out,
                   const turns_counts *counts)
{
    turns_place *place = &t->places[task % TURNS_AHEAD];

    pthread_mutex_lock(&t->lock);
    *place = (turns_place){ *out, true };
    *out = (cli_bytes){ .from = 0 };
    t->counts.files += counts->files;
    t->counts.false_files += counts->false_files;
    t->counts.bytes += counts->bytes;
    t->counts.selected += counts->selected;
    t->counts.changed += counts->changed;
    while ((place = &t->places[t->turn % TURNS_AHEAD])->done) {
        turns_print(t, &place->out);
        place->done = t->begun = false;
        t->turn++;
    }
    pthread_cond_broadcast(&t->moved);
    pthread_mutex_unlock(&t->lock);
}
