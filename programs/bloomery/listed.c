/* listed.c - looks up keys in a sorted list, which stays in its file: `query
 * --verify-with`.
 *
 * Opening reads the list once, verifies its order and notes a line every few
 * KiB, at which a piece begins. A lookup searches the first bytes of these
 * lines by halves, and reads and scans one piece of the file, seldom more.
 * Threads may look up keys at the same time.
 */
#include "bloomery/command.h"
#include "frame/bytes.h"
#include "frame/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LISTED_PIECE = 1 << 12 };        /* bytes, or one longer line */

/* Compares as sort does with LC_ALL=C. */
static int listed_compare(bly_key a, bly_key b)
{
    size_t n = a.length < b.length ? a.length : b.length;
    int order = n > 0 ? memcmp(a.data, b.data, n) : 0;

    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

/* Returns the first eight bytes as a number that compares like them. */
static uint64_t listed_first(bly_key key)
{
    const unsigned char *at = key.data;
    uint64_t first = 0;

    for (size_t i = 0; i < 8; i++)
        first = first << 8 | (i < key.length ? at[i] : 0);
    return first;
}

/* ==== Opening =========================================================== */

/* Notes that a piece begins at `at`, with a line. */
static bool listed_note(cli_listed *l, uint64_t at, bly_key line)
{
    if (!bytes_grow(&l->pieces, l->n + 1, sizeof *l->pieces))
        return false;
    l->pieces[l->n++] = (cli_listed_piece){ at, listed_first(line) };
    return true;
}

/* Returns whether a line is what keys are compared with: the key that the form
 * makes of it, or its entry. */
static bool listed_is_key(const cli_how *how, bly_key line)
{
    unsigned char few[512], *room = few;
    size_t n = bly_form_room(how->form, line.length);
    char text[BLY_NESTED_TEXT];
    bly_key key;
    bool same;

    if (!forms_changes(how->form))
        return true;
    if (n > sizeof few && (room = malloc(n)) == NULL)
        return false;
    key = forms_key(how->form, line, room);
    if (key.data != NULL && bly_form_nests(how->form))
        key = bly_nested_entry(how->form, key,
                               bly_nested_level(how->form, key), text);
    same = key.data != NULL && listed_compare(key, line) == 0;
    if (room != few)
        free(room);
    return same;
}

/* Returns whether a line is what `query --mark` prints for a line without an
 * entry. It is a key only if the form makes one of it, such as the path `?`. */
static bool listed_is_mark(const cli_how *how, bly_key line)
{
    return bly_form_nests(how->form)
        && (line.length == 0
            || (line.length == 1 && *(const char *)line.data == '?'));
}

/* Reads the list, whose pieces and order become known. */
static int listed_read(cli_listed *l, FILE *file, const cli_how *how)
{
    char *line = NULL, *before = NULL, *swap;
    size_t room = 0, room_before = 0, number = 0, swap_room;
    ssize_t n, n_before = -1;
    uint64_t at = 0;
    int status = CLI_GO;

    for (; status == CLI_GO && (n = getdelim(&line, &room, l->end, file)) > 0;
         at += (uint64_t)n, n_before = n) {
        bly_key key = { line, (size_t)n - (line[n - 1] == l->end) };
        bly_key last = { before, (size_t)n_before - (n_before > 0) };

        number++;
        if (how->cut_cr && key.length > 0 && line[key.length - 1] == '\r') {
            status = report_error("line %zu of '%s' ends with CR LF, and keys "
                                  "do not have the CR: remove it with 'tr -d "
                                  "\"\\r\"', and sort the list again", number,
                                  l->path);
            break;
        }
        if (!listed_is_key(how, key) && !listed_is_mark(how, key)) {
            status = report_error("line %zu of '%s' is not written as keys of "
                                  "the form %s are compared: %s", number,
                                  l->path, forms_name(how->form).text,
                                  bly_form_nests(how->form)
                                  ? "make the list with 'query --mark FILE "
                                    "LIST | cut -f 1 | LC_ALL=C sort -u'"
                                  : "change its case and blanks so, and sort "
                                    "it again");
            break;
        }
        if (n_before >= 0 && listed_compare(last, key) > 0)
            status = report_error("line %zu of '%s' is not in order: sort the "
                                  "list with 'LC_ALL=C sort'", number,
                                  l->path);
        else if ((l->n == 0 || at - l->pieces[l->n - 1].at >= LISTED_PIECE)
                 && !listed_note(l, at, key))
            status = report_no_memory();
        swap = line, line = before, before = swap;
        swap_room = room, room = room_before, room_before = swap_room;
    }
    if (status == CLI_GO && ferror(file))
        status = report_error("%s: %s", l->path, strerror(errno));
    if (status == CLI_GO && !listed_note(l, at, (bly_key){ NULL, 0 }))
        status = report_no_memory();
    free(line);
    free(before);
    return status;
}

int listed_open(cli_listed *l, const char *path, const cli_how *how)
{
    struct stat about;
    FILE *file = fopen(path, "rb");
    int status = CLI_GO;

    *l = (cli_listed){ .path = path, .end = how->null ? '\0' : '\n',
                       .fd = -1 };
    if (file == NULL)
        return report_unread("read", path, errno);
    if (fstat(fileno(file), &about) < 0 || !S_ISREG(about.st_mode))
        status = report_error("'%s' is not a regular file, and --verify-with "
                              "reads parts of it again and again: copy it to "
                              "one", path);
    if (status == CLI_GO)
        status = listed_read(l, file, how);
    l->size = about.st_size;
    l->changed = about.st_mtim;
    if (status == CLI_GO) {
        l->n--;                         /* without the end */
        l->fd = dup(fileno(file));
        if (l->fd < 0)
            status = report_error("%s: %s", path, strerror(errno));
    }
    fclose(file);
    return status;
}

void listed_close(cli_listed *l)
{
    free(l->pieces);
    if (l->fd >= 0)
        close(l->fd);
}

/* ==== Lookups =========================================================== */

/* Reads a piece of n bytes. Returns NULL, and notes the failure, if they are
 * not there any more. */
static char *listed_piece(cli_listed *l, uint64_t from, size_t n)
{
    char *piece = malloc(n);
    size_t done = 0;

    while (piece != NULL && done < n) {
        ssize_t some = pread(l->fd, piece + done, n - done,
                             (off_t)(from + done));

        if (some <= 0)
            break;
        done += (size_t)some;
    }
    if (piece != NULL && done == n)
        return piece;
    free(piece);
    atomic_store(&l->failed, true);
    return NULL;
}

/* Where a key is: in a piece, before or behind it, or in no piece. */
typedef enum { LISTED_HERE, LISTED_BEFORE, LISTED_BEHIND, LISTED_NOWHERE }
    listed_place;

static listed_place listed_scan(const cli_listed *l, const char *piece,
                                size_t n, bly_key key)
{
    const char *at = piece, *end = piece + n;

    while (at < end) {
        const char *stop = memchr(at, l->end, (size_t)(end - at));
        bly_key line = { at, (size_t)((stop != NULL ? stop : end) - at) };
        int here = listed_compare(key, line);

        if (here <= 0)
            return here == 0 ? LISTED_HERE
                 : at == piece ? LISTED_BEFORE : LISTED_NOWHERE;
        at += line.length + 1;
    }
    return LISTED_BEHIND;
}

/* Looks in piece i, unless the first bytes tell. A key is taken to be in a
 * piece that cannot be read. */
static listed_place listed_look(cli_listed *l, size_t i, bly_key key)
{
    const cli_listed_piece *p = &l->pieces[i];
    size_t n = (size_t)(p[1].at - p->at);
    uint64_t first = listed_first(key);
    listed_place place;
    char *piece;

    if (first < p->first)
        return LISTED_BEFORE;
    if (i + 1 < l->n && first > p[1].first)
        return LISTED_BEHIND;
    piece = listed_piece(l, p->at, n);
    if (piece == NULL)
        return LISTED_HERE;
    place = listed_scan(l, piece, n, key);
    free(piece);
    return place;
}

bool listed_has(cli_listed *l, bly_key key)
{
    size_t low = 0, high = l->n;

    if (key.length > 0 && memchr(key.data, l->end, key.length) != NULL)
        return true;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        listed_place place = listed_look(l, middle, key);

        if (place == LISTED_HERE || place == LISTED_NOWHERE)
            return place == LISTED_HERE;
        if (place == LISTED_BEFORE)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

int listed_verdict(const cli_listed *l)
{
    struct stat about;

    if (atomic_load(&l->failed))
        return report_error("'%s' could not be read any more: it was cut, or "
                            "memory is short. Lines since then were not "
                            "verified", l->path);
    if (fstat(l->fd, &about) < 0 || about.st_size != l->size
        || about.st_mtim.tv_sec != l->changed.tv_sec
        || about.st_mtim.tv_nsec != l->changed.tv_nsec)
        return report_error("'%s' was changed while it was used: the answers "
                            "may be wrong. Try again, and replace lists by "
                            "renaming", l->path);
    return CLI_GO;
}
