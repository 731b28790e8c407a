/* blacklist.c - decides which packets pass while addresses are blocked for a
 * time.
 *
 *   blacklist SECONDS BLOCKS [RATE] <EVENTS
 *
 * A block lasts that many seconds, and at most BLOCKS are in force at a time.
 * An event is a line; lines are in order of time:
 *
 *      TIME ADDRESS                    a packet: printed if it passes
 *      block ADDRESS[/LENGTH] TIME     block it from now on
 *      unblock ADDRESS[/LENGTH] TIME   let it go
 *
 * Packets query the filter; the list of blocks only says when they end, so
 * every key removed from the filter was in it. A line that cannot be read ends
 * the program with status 2 and the line's number. A file of events is checked
 * to its end before the first packet is judged, a pipe line by line.
 */
#include <bloomery.h>

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SHORTEST = 8, LONGEST = 128 };   /* bits of a network                 */

/* An address of IPv4 or IPv6, in the order of the network. */
typedef struct { unsigned char bytes[16]; unsigned n; } address;

/* A network: its address, with the bits behind its length clear, and the
 * length: 5 bytes for IPv4, 17 for IPv6. */
typedef struct { unsigned char key[17]; unsigned n; } network;

/* A line of the input. */
typedef struct {
    enum { NOTHING, PACKET, BLOCK, UNBLOCK } verb;
    double      time;
    network     who;
    address     from;
    const char *when, *where;           /* as written                        */
} event;

/* Blocks in the order of their ends; a block that was released early has
 * LIFTED. */
typedef struct { network who; bool lifted; double end; } block;

static bly_filter *filter;
static block *blocks;
static size_t first_block, n_blocks, room;
static size_t in_force[2][LONGEST + 1]; /* of IPv4 and IPv6, by length       */
static double lasts;

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "blacklist: %s: %s\n", what, why);
    return 2;
}

static int stop_at(unsigned long line, const char *why)
{
    fprintf(stderr, "blacklist: line %lu: %s\n", line, why);
    return 2;
}

/* ---- Networks ------------------------------------------------------------ */

static network cut_to(const address *from, unsigned length)
{
    network who = { .n = from->n + 1 };
    for (unsigned i = 0; i < from->n && 8 * i < length; i++) {
        unsigned kept = length - 8 * i;
        who.key[i] = from->bytes[i] & (kept >= 8 ? 255 : 255 << (8 - kept));
    }
    who.key[from->n] = (unsigned char)length;
    return who;
}

static size_t *blocked_like(const network *who)
{
    return &in_force[who->n == sizeof who->key][who->key[who->n - 1]];
}

/* IPv4 addresses within IPv6 (::ffff:192.0.2.7) count as IPv4. */
static bool read_address(address *out, const char *text)
{
    static const unsigned char within[12] = { [10] = 255, 255 };
    out->n = 4;
    if (inet_pton(AF_INET, text, out->bytes) == 1)
        return true;
    out->n = 16;
    if (inet_pton(AF_INET6, text, out->bytes) != 1)
        return false;
    if (memcmp(out->bytes, within, sizeof within) == 0) {
        memmove(out->bytes, out->bytes + sizeof within, 4);
        out->n = 4;
    }
    return true;
}

static bool read_network(network *out, char *text)
{
    address from;
    unsigned written = strchr(text, ':') != NULL ? 128 : 32;
    unsigned long length = written;
    char *end = "", *slash = strchr(text, '/');
    if (slash != NULL) {
        *slash++ = '\0';
        length = *slash >= '0' && *slash <= '9' ? strtoul(slash, &end, 10) : 0;
    }
    if (!read_address(&from, text))
        return false;
    unsigned apart = written - 8 * from.n;      /* bits of ::ffff: before it */
    if (*end != '\0' || length < SHORTEST + apart || length > written)
        return false;
    *out = cut_to(&from, (unsigned)length - apart);
    return true;
}

/* ---- Blocks -------------------------------------------------------------- */

static bly_status lift(block *b)
{
    if (b->lifted)
        return BLY_OK;
    b->lifted = true;
    --*blocked_like(&b->who);
    return bly_remove(filter, b->who.key, b->who.n);
}

static bly_status expire(double now)
{
    bly_status status = BLY_OK;
    while (status >= 0 && n_blocks > 0 && blocks[first_block].end <= now) {
        status = lift(&blocks[first_block]);
        first_block = (first_block + 1) % room;
        n_blocks--;
    }
    return status;
}

static bool is_same(const network *a, const network *b)
{
    return a->n == b->n && memcmp(a->key, b->key, a->n) == 0;
}

/* A network that is already blocked is released and blocked for longer. */
static bly_status let_go(const network *who)
{
    for (size_t i = 0; i < n_blocks; i++) {
        block *b = &blocks[(first_block + i) % room];
        if (!b->lifted && is_same(&b->who, who))
            return lift(b);
    }
    return BLY_OK;
}

static bool make_room(void)
{
    if (n_blocks < room)
        return true;
    size_t more = room == 0 ? 1024 : 2 * room;
    block *larger = malloc(more * sizeof *larger);
    if (larger == NULL)
        return false;
    for (size_t i = 0; i < n_blocks; i++)
        larger[i] = blocks[(first_block + i) % room];
    free(blocks);
    blocks = larger;
    first_block = 0;
    room = more;
    return true;
}

static bly_status add_block(const network *who, double now)
{
    bly_status status = bly_contains(filter, who->key, who->n)
                      ? let_go(who) : BLY_OK;
    if (status < 0)
        return status;
    if (!make_room())
        return BLY_ENOMEM;
    status = bly_add(filter, who->key, who->n);
    if (status < 0)
        return status;
    blocks[(first_block + n_blocks++) % room] =
        (block){ *who, false, now + lasts };
    ++*blocked_like(who);
    return BLY_OK;
}

static bool is_blocked(const address *from)
{
    for (unsigned length = 8 * from->n; length >= SHORTEST; length--) {
        network who = cut_to(from, length);
        if (*blocked_like(&who) > 0 && bly_contains(filter, who.key, who.n))
            return true;
    }
    return false;
}

/* ---- Events -------------------------------------------------------------- */

static bool read_time(double *out, const char *text)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*out);
}

/* Reads a line whose time is not before `then`. Returns NULL, or the error. */
static const char *read_event(event *e, char *line, double then)
{
    char *rest = line, *word[3] = { NULL, NULL, NULL };
    for (int i = 0; i < 3; i++)
        word[i] = strtok_r(rest, " \t\r\n", &rest);
    *e = (event){ .verb = word[0] == NULL ? NOTHING
                        : strcmp(word[0], "block") == 0 ? BLOCK
                        : strcmp(word[0], "unblock") == 0 ? UNBLOCK : PACKET,
                  .time = then, .when = word[0], .where = word[1] };
    if (e->verb == NOTHING)
        return NULL;
    bool packet = e->verb == PACKET;
    if (word[1] == NULL || (word[2] == NULL) != packet ||
        !read_time(&e->time, word[packet ? 0 : 2]) || e->time < then)
        return "TIME ADDRESS, or block or unblock with NETWORK TIME, is "
               "wanted, in the order of times";
    if (packet ? !read_address(&e->from, word[1])
               : !read_network(&e->who, word[1]))
        return "an address of IPv4 or IPv6 is wanted, for a block with /8 to "
               "/32 or /8 to /128";
    return NULL;
}

static const char *act(const event *e)
{
    bly_status status = e->verb != NOTHING ? expire(e->time) : BLY_OK;
    if (status >= 0 && e->verb == BLOCK)
        status = add_block(&e->who, e->time);
    if (status >= 0 && e->verb == UNBLOCK)
        status = let_go(&e->who);
    if (status < 0)
        return bly_why();
    if (e->verb == PACKET && !is_blocked(&e->from))
        printf("%s %s\n", e->when, e->where);
    return NULL;
}

static int read_events(bool acts)
{
    char *line = NULL;
    size_t bytes = 0;
    unsigned long number = 0;
    event e = { .time = -HUGE_VAL };
    const char *wrong = NULL;
    while (wrong == NULL && getline(&line, &bytes, stdin) >= 0) {
        number++;
        wrong = read_event(&e, line, e.time);
        if (wrong == NULL && acts)
            wrong = act(&e);
    }
    free(line);
    return wrong != NULL ? stop_at(number, wrong)
         : ferror(stdin) ? stop("standard input", "cannot be read") : 0;
}

/* Checks a whole file before any event is acted upon. */
static int check_file(void)
{
    struct stat is;
    if (fstat(fileno(stdin), &is) < 0 || !S_ISREG(is.st_mode))
        return 0;
    off_t at = ftello(stdin);
    int failed = read_events(false);
    return failed != 0 || fseeko(stdin, at, SEEK_SET) == 0 ? failed
         : stop("standard input", strerror(errno));
}

int main(int argc, char **argv)
{
    double most = 0, rate = 0.001;
    if (argc < 3 || argc > 4)
        return stop("usage", "blacklist SECONDS BLOCKS [RATE] <EVENTS");
    if (!read_time(&lasts, argv[1]) || lasts <= 0)
        return stop(argv[1], "how many seconds is a block to last?");
    if (!read_time(&most, argv[2]) || most < 1 || most > 1e9)
        return stop(argv[2], "how many blocks may be in force? 1 to 1e9");
    if (argc == 4 && !read_time(&rate, argv[3]))
        return stop(argv[3], "that is no rate");
    bly_spec spec = { .capacity = (uint64_t)most, .rate = rate };
    if (bly_new(&filter, "counting", &spec) < 0)
        return stop("the filter", bly_why());
    setvbuf(stdout, NULL, _IOLBF, 0);   /* for events that arrive one by one */
    int failed = check_file() != 0 ? 2 : read_events(true);
    free(blocks);
    bly_free(filter);
    if ((fflush(stdout) | ferror(stdout)) != 0)
        return stop("standard output", strerror(errno));
    return failed;
}
