/* blacklist.c - which packets pass, where addresses are blocked for a time.
 *
 *   blacklist SECONDS BLOCKS [RATE] <EVENTS
 *
 * A block lasts so many seconds; so many are in force at a time, or fewer. An
 * event is a line, in the order of times:
 *
 *      TIME ADDRESS                    a packet: printed if it passes
 *      block ADDRESS[/LENGTH] TIME     block it from now on
 *      unblock ADDRESS[/LENGTH] TIME   let it go
 *
 * The filter is asked for packets, the list of blocks only for when they end:
 * what is removed from the filter was in it.
 */
#include <bloomery.h>

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHORTEST = 8, LONGEST = 32 };

/* A network: its address with the bits behind its length clear. */
typedef struct { unsigned char key[5]; } network;

/* Blocks in the order of their ends; a block that was let go has LIFTED. */
typedef struct { network who; bool lifted; double end; } block;

static bly_filter *filter;
static block *blocks;
static size_t first_block, n_blocks, room;
static size_t in_force[LONGEST + 1];    /* by length                         */
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

static network cut_to(uint32_t address, unsigned length)
{
    network who;
    address = htonl(address & UINT32_MAX << (LONGEST - length));
    memcpy(who.key, &address, sizeof address);
    who.key[4] = (unsigned char)length;
    return who;
}

static bool read_address(uint32_t *out, const char *text)
{
    struct in_addr address;
    bool is_one = inet_pton(AF_INET, text, &address) == 1;
    *out = is_one ? ntohl(address.s_addr) : 0;
    return is_one;
}

static bool read_network(network *out, char *text)
{
    uint32_t address;
    unsigned long length = LONGEST;
    char *end = "", *slash = strchr(text, '/');
    if (slash != NULL) {
        *slash++ = '\0';
        length = *slash >= '0' && *slash <= '9' ? strtoul(slash, &end, 10) : 0;
    }
    if (*end != '\0' || length < SHORTEST || length > LONGEST ||
        !read_address(&address, text))
        return false;
    *out = cut_to(address, (unsigned)length);
    return true;
}

/* ---- Blocks -------------------------------------------------------------- */

static bly_status lift(block *b)
{
    if (b->lifted)
        return BLY_OK;
    b->lifted = true;
    in_force[b->who.key[4]]--;
    return bly_remove(filter, b->who.key, sizeof b->who.key);
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

/* A network that is blocked already is let go, and blocked for longer. */
static bly_status let_go(const network *who)
{
    for (size_t i = 0; i < n_blocks; i++) {
        block *b = &blocks[(first_block + i) % room];
        if (!b->lifted && memcmp(&b->who, who, sizeof *who) == 0)
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
    bly_status status = bly_contains(filter, who->key, sizeof who->key)
                      ? let_go(who) : BLY_OK;
    if (status < 0)
        return status;
    if (!make_room())
        return BLY_ENOMEM;
    status = bly_add(filter, who->key, sizeof who->key);
    if (status < 0)
        return status;
    blocks[(first_block + n_blocks++) % room] =
        (block){ *who, false, now + lasts };
    in_force[who->key[4]]++;
    return BLY_OK;
}

static bool is_blocked(uint32_t address)
{
    for (unsigned length = LONGEST; length >= SHORTEST; length--) {
        network who = cut_to(address, length);
        if (in_force[length] > 0 &&
            bly_contains(filter, who.key, sizeof who.key))
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

/* NULL, or what is wrong. */
static const char *one_event(char *line, double *now)
{
    char *rest = line, *word[3] = { NULL, NULL, NULL };
    for (int i = 0; i < 3; i++)
        word[i] = strtok_r(rest, " \t\r\n", &rest);
    if (word[0] == NULL)
        return NULL;
    bool blocking = strcmp(word[0], "block") == 0;
    bool command = blocking || strcmp(word[0], "unblock") == 0;
    double then = *now;
    network who;
    uint32_t address;
    if (word[1] == NULL || (word[2] != NULL) != command ||
        !read_time(now, word[command ? 2 : 0]) || *now < then)
        return "TIME ADDRESS, or block or unblock with NETWORK TIME, is "
               "wanted, in the order of times";
    if (command ? !read_network(&who, word[1])
                : !read_address(&address, word[1]))
        return "an address of IPv4 is wanted, for a block with /8 to /32";
    bly_status status = expire(*now);
    if (status >= 0 && command)
        status = blocking ? add_block(&who, *now) : let_go(&who);
    if (status < 0)
        return bly_why();
    if (!command && !is_blocked(address))
        printf("%s %s\n", word[0], word[1]);
    return NULL;
}

static int read_events(void)
{
    char *line = NULL;
    size_t bytes = 0;
    unsigned long number = 0;
    double now = -HUGE_VAL;
    const char *wrong = NULL;
    while (wrong == NULL && getline(&line, &bytes, stdin) >= 0) {
        number++;
        wrong = one_event(line, &now);
    }
    free(line);
    free(blocks);
    return wrong != NULL ? stop_at(number, wrong)
         : ferror(stdin) ? stop("standard input", "cannot be read") : 0;
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
    setvbuf(stdout, NULL, _IOLBF, 0);   /* of events that come one by one    */
    int failed = read_events();
    bly_free(filter);
    if ((fflush(stdout) | ferror(stdout)) != 0)
        return stop("standard output", strerror(errno));
    return failed;
}
