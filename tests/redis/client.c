/* client.c - starts servers, and speaks both versions of RESP. */
#include "test.h"

#include "redis/client.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Servers ------------------------------------------------------------- */

enum { SERVER_WAITS = 60 };             /* seconds, for slow machines        */

bool server_is_there(void)
{
    return system("command -v redis-server >/dev/null 2>&1") == 0
        && getenv("BLY_REDIS_MODULE") != NULL;
}

static void server_path(const server *s, char path[128], const char *name)
{
    snprintf(path, 128, "%s/%s", s->folder, name);
}

/* In the child: splits the command line, and redirects output to the log. */
static void server_run(const server *s)
{
    static char line[2048];
    char *words[64] = { NULL };
    size_t n = 0;
    int log = open("log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    const char *preload = getenv("BLY_REDIS_PRELOAD");
    snprintf(line, sizeof line, "redis-server --port %d --bind 127.0.0.1 "
             "--unixsocket s --daemonize no --enable-debug-command yes "
             "--loglevel notice --loadmodule %s %s", s->port,
             getenv("BLY_REDIS_MODULE"), s->options);
    for (char *at = strtok(line, " "); at != NULL && n < 63;
         at = strtok(NULL, " "))
        words[n++] = strcmp(at, "''") == 0 ? at + 2 : at;
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    if (preload != NULL && *preload != '\0')
        setenv("LD_PRELOAD", preload, 1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);   /* a failed test leaves none         */
    execvp(words[0], words);
    _exit(127);
}

static bool server_answers(const server *s)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    char path[128], reply[32];
    server_path(s, path, "s");
    strcpy(at.sun_path, path);
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool ready = connect(file, (struct sockaddr *)&at, sizeof at) == 0
        && send(file, "PING\r\n", 6, MSG_NOSIGNAL) == 6
        && read(file, reply, sizeof reply) >= 5
        && memcmp(reply, "+PONG", 5) == 0;
    close(file);
    return ready;
}

/* Returns a free port outside the range of client ports, or a client might take
 * it before the server does. */
static int server_free_port(void)
{
    for (int tries = 0; tries < 1000; tries++) {
        struct sockaddr_in at = { .sin_family = AF_INET };
        int port = 10000 + (getpid() * 37 + tries * 101) % 20000;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        at.sin_port = htons((uint16_t)port);
        int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        bool free = bind(file, (struct sockaddr *)&at, sizeof at) == 0;
        close(file);
        if (free)
            return port;
    }
    fail_msg("no port is free");
    return 0;
}

static void server_begin(server *s, const char *options)
{
    if (s->folder[0] == '\0') {
        strcpy(s->folder, "/tmp/bloomery-redis-XXXXXX");
        assert_non_null(mkdtemp(s->folder));
    }
    if (s->port < 0)
        s->port = server_free_port();
    snprintf(s->options, sizeof s->options, "%s", options);
    fflush(stdout);
    s->pid = fork();
    assert_true(s->pid >= 0);
    if (s->pid == 0) {
        if (chdir(s->folder) != 0)
            _exit(127);
        server_run(s);
    }
}

/* Waits until it answers; false if it has ended. */
static bool server_wait(server *s)
{
    for (int i = 0; i < 100 * SERVER_WAITS; i++) {
        int status;
        if (server_answers(s))
            return true;
        if (waitpid(s->pid, &status, WNOHANG) == s->pid) {
            s->pid = 0;
            return false;
        }
        poll(NULL, 0, 10);
    }
    fail_msg("the server does not answer: see %s/log", s->folder);
    return false;
}

void server_start(server *s, const char *options)
{
    server_begin(s, options);
    if (!server_wait(s)) {
        char *log = server_log(s);
        fail_msg("the server ended at once: %s", log);
    }
}

char *server_refuses(server *s, const char *options)
{
    server_begin(s, options);
    assert_false(server_wait(s));
    return server_log(s);
}

char *server_log(const server *s)
{
    char path[128];
    char *text = calloc(1, 1 << 20);
    server_path(s, path, "log");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, (1 << 20) - 1, file)] = '\0';
    fclose(file);
    return text;
}

void server_end(server *s, int with)
{
    int status;
    if (s->pid == 0)
        return;
    kill(s->pid, with);
    assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
    s->pid = 0;
    if (with != SIGKILL && !(WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
        char *log = server_log(s);
        fail_msg("the server ended badly (%x): %s", (unsigned)status, log);
    }
}

void server_remove(server *s)
{
    char line[128];
    server_end(s, SIGTERM);
    snprintf(line, sizeof line, "rm -rf %s", s->folder);
    assert_int_equal(system(line), 0);
    s->folder[0] = '\0';
}

/* ---- Words --------------------------------------------------------------- */

static int client_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Copies one argument of a line to `out`; returns where it ends. */
static const char *client_word(const char *at, uint8_t *out, size_t *n)
{
    bool quoted = *at == '"';
    at += quoted;
    *n = 0;
    while (*at != '\0' && *at != (quoted ? '"' : ' ')) {
        if (*at == '\\' && at[1] == 'x') {
            out[(*n)++] = (uint8_t)(client_digit(at[2]) << 4
                                    | client_digit(at[3]));
            at += 4;
            continue;
        }
        at += *at == '\\';
        out[(*n)++] = (uint8_t)*at++;
    }
    return at + (quoted && *at == '"');
}

void client_say(client *c, const char *line)
{
    size_t room = strlen(line) + 1, n = 0;
    uint8_t *bytes = malloc(room);
    argument arguments[128];
    size_t at = 0;
    while (*line != '\0') {
        size_t length;
        line = client_word(line, bytes + at, &length);
        assert_true(n < 128);
        arguments[n++] = (argument){ bytes + at, length };
        at += length;
        line += strspn(line, " ");
    }
    client_send(c, n, arguments);
    free(bytes);
}

/* ---- Sending and reading ------------------------------------------------- */

client client_open(const server *s, int protocol)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    client c = { .file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) };
    char path[128];
    server_path(s, path, "s");
    strcpy(at.sun_path, path);
    assert_int_equal(connect(c.file, (struct sockaddr *)&at, sizeof at), 0);
    if (protocol == 3) {
        client_say(&c, "HELLO 3");
        free(client_hear(&c));
    }
    return c;
}

void client_close(client *c)
{
    close(c->file);
    free(c->bytes);
    *c = (client){ .file = -1 };
}

static void client_write(client *c, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    while (n > 0) {
        ssize_t some = send(c->file, at, n, MSG_NOSIGNAL);
        if (some < 0 && (errno == EPIPE || errno == ECONNRESET))
            return;                     /* the reply will not come           */
        assert_true(some > 0);
        at += some;
        n -= (size_t)some;
    }
}

/* Sends in one piece, as each would wake the server. */
void client_send(client *c, size_t n, const argument *arguments)
{
    size_t room = 32, at;
    for (size_t i = 0; i < n; i++)
        room += 32 + arguments[i].n;
    char *all = malloc(room);
    at = (size_t)snprintf(all, room, "*%zu\r\n", n);
    for (size_t i = 0; i < n; i++) {
        at += (size_t)snprintf(all + at, room - at, "$%zu\r\n",
                               arguments[i].n);
        if (arguments[i].n > 0)
            memcpy(all + at, arguments[i].bytes, arguments[i].n);
        at += arguments[i].n;
        memcpy(all + at, "\r\n", 2);
        at += 2;
    }
    client_write(c, all, at);
    free(all);
}

/* Reads until `n` bytes are available, if the server sends them. */
static bool client_fill(client *c, size_t n)
{
    if (c->read > 0) {
        memmove(c->bytes, c->bytes + c->read, c->n - c->read);
        c->n -= c->read;
        c->read = 0;
    }
    if (c->room < n + (1 << 16)) {
        c->room = 2 * n + (1 << 16);
        c->bytes = realloc(c->bytes, c->room);
    }
    while (c->n < n) {
        ssize_t some = recv(c->file, c->bytes + c->n, c->room - c->n, 0);
        if (some <= 0)
            return false;
        c->n += (size_t)some;
    }
    return true;
}

/* Reads the next line, of at most 4 KiB, without its end. */
static bool client_line(client *c, char line[4096])
{
    for (size_t n = 0; n + 1 < 4096; n++) {
        if (c->n - c->read <= n && !client_fill(c, n + 1))
            return false;
        line[n] = (char)c->bytes[c->read + n];
        if (n > 0 && line[n] == '\n') {
            line[n - 1] = '\0';
            c->read += n + 1;
            return true;
        }
    }
    return false;
}

typedef struct { char *text; size_t n, room; } client_text;

static void client_put(client_text *to, const char *text, size_t n)
{
    if (to->n + n + 1 > to->room) {
        to->room = 2 * (to->n + n + 64);
        to->text = realloc(to->text, to->room);
    }
    memcpy(to->text + to->n, text, n);
    to->n += n;
    to->text[to->n] = '\0';
}

static void client_put_bytes(client_text *to, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    client_put(to, "\"", 1);
    for (size_t i = 0; i < n; i++) {
        char code[4] = { '\\', 'x', digits[bytes[i] >> 4],
                         digits[bytes[i] & 15] };
        bool plain = bytes[i] >= 32 && bytes[i] < 127 && bytes[i] != '"'
                  && bytes[i] != '\\';
        if (plain)
            code[0] = (char)bytes[i];
        client_put(to, code, plain ? 1 : sizeof code);
    }
    client_put(to, "\"", 1);
}

static bool client_read(client *c, client_text *to);

static bool client_read_many(client *c, client_text *to, long n,
                             const char *signs)
{
    client_put(to, signs, 1);
    for (long i = 0; i < n; i++) {
        if (i > 0)
            client_put(to, " ", 1);
        if (!client_read(c, to))
            return false;
    }
    client_put(to, signs + 1, 1);
    return true;
}

static bool client_read(client *c, client_text *to)
{
    char line[4096];
    if (!client_line(c, line))
        return false;
    long n = strtol(line + 1, NULL, 10);
    switch (line[0]) {
    case '$':
        if (n < 0) {
            client_put(to, "_", 1);
            return true;
        }
        if (!client_fill(c, (size_t)n + 2))
            return false;
        client_put_bytes(to, c->bytes + c->read, (size_t)n);
        c->read += (size_t)n + 2;
        return true;
    case '*':
        return client_read_many(c, to, n, "[]");
    case '%':
        return client_read_many(c, to, 2 * n, "{}");
    case '~':
        return client_read_many(c, to, n, "()");
    case '_':
        client_put(to, "_", 1);
        return true;
    default:
        client_put(to, line, strlen(line));
        return true;
    }
}

char *client_hear(client *c)
{
    client_text text = { NULL, 0, 0 };
    if (client_read(c, &text))
        return text.text;
    free(text.text);
    return NULL;
}

char *client_ask(client *c, const char *line)
{
    client_say(c, line);
    return client_hear(c);
}

long client_number(client *c)
{
    char line[4096];
    assert_true(client_line(c, line));
    assert_string_equal(line, "*2");
    assert_true(client_line(c, line));
    assert_int_equal(line[0], ':');
    return strtol(line + 1, NULL, 10);
}

uint8_t *client_bytes(client *c, size_t *n)
{
    char line[4096];
    assert_true(client_line(c, line));
    assert_int_equal(line[0], '$');
    *n = (size_t)strtol(line + 1, NULL, 10);
    assert_true(client_fill(c, *n + 2));
    uint8_t *bytes = malloc(*n + 1);
    memcpy(bytes, c->bytes + c->read, *n);
    c->read += *n + 2;
    return bytes;
}
