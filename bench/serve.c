/* serve.c - a client's requests at a Unix socket, and a plain server that
 * answers without reading them.
 *
 *      serve keys N                so many lines, to make a filter of
 *      serve echo SOCKET           a server with a loop like that of `bloomery
 *                                  serve`: for each newline an answer
 *      serve ask SOCKET DEPTH N    ask for N of the lines, of which at most
 *                                  DEPTH are not answered; prints how many were
 *                                  answered in a second
 *
 * tools/bench/serve compares the two. A line has 16 bytes, an answer two.
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { SERVE_LINE = 16, SERVE_ANSWER = 2, SERVE_LINES = 1 << 16,
       SERVE_BLOCK = 1 << 16 };

static void serve_stop(const char *doing)
{
    fprintf(stderr, "serve: %s: %s\n", doing, strerror(errno));
    exit(2);
}

static void serve_line(char line[SERVE_LINE + 1], uint64_t i)
{
    snprintf(line, SERVE_LINE + 1, "k%014llu\n",
             (unsigned long long)(i * 0x9e3779b97f4a7c15) % 100000000000000);
}

static void serve_keys(uint64_t n)
{
    char line[SERVE_LINE + 1];
    for (uint64_t i = 0; i < n; i++) {
        serve_line(line, i);
        fputs(line, stdout);
    }
}

static int serve_socket(const char *path, struct sockaddr_un *address, int how)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | how, 0);
    *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    if (fd < 0 || strlen(path) >= sizeof address->sun_path)
        serve_stop(path);
    strcpy(address->sun_path, path);
    return fd;
}

/* ---- Answering ----------------------------------------------------------- */

/* Answers what has arrived. Returns false if nothing more comes. */
static int serve_answer(int client)
{
    static char in[SERVE_BLOCK], out[SERVE_ANSWER * SERVE_BLOCK];
    ssize_t n = read(client, in, sizeof in);
    size_t answers = 0, sent = 0;
    for (ssize_t i = 0; i < n; i++)
        answers += in[i] == '\n';
    for (size_t i = 0; i < answers; i++)
        memcpy(out + SERVE_ANSWER * i, "1\n", SERVE_ANSWER);
    while (sent < SERVE_ANSWER * answers) {
        ssize_t some = send(client, out + sent, SERVE_ANSWER * answers - sent,
                            MSG_NOSIGNAL);
        if (some < 0)
            return 0;
        sent += (size_t)some;
    }
    return n > 0;
}

static void serve_echo(const char *path)
{
    struct sockaddr_un address;
    int listener = serve_socket(path, &address, 0), epoll = epoll_create1(0);
    struct epoll_event event = { .events = EPOLLIN, .data.fd = listener };
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0
        || listen(listener, 16) < 0
        || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) < 0)
        serve_stop(path);
    while (epoll_wait(epoll, &event, 1, -1) > 0) {
        int fd = event.data.fd;
        if (fd != listener) {
            if (!serve_answer(fd))
                close(fd);
            continue;
        }
        event.data.fd = accept(listener, NULL, NULL);
        event.events = EPOLLIN;
        if (event.data.fd >= 0)
            epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event);
    }
}

/* ---- Querying ------------------------------------------------------------ */

static double serve_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Counts bytes, as a send may be partial. */
static void serve_go(int fd, const char *text, uint64_t depth, uint64_t n)
{
    static char in[SERVE_BLOCK];
    uint64_t sent = 0, got = 0;
    while (got < n * SERVE_ANSWER) {
        uint64_t most = (got / SERVE_ANSWER + depth) * SERVE_LINE;
        uint64_t end = most < n * SERVE_LINE ? most : n * SERVE_LINE;
        uint64_t at = sent % (SERVE_LINE * SERVE_LINES);
        uint64_t room = SERVE_LINE * SERVE_LINES - at;
        struct pollfd one = { fd, POLLIN, 0 };
        if (sent < end)
            one.events |= POLLOUT;
        if (poll(&one, 1, -1) < 0)
            serve_stop("poll");
        if ((one.revents & POLLOUT) != 0) {
            ssize_t some = send(fd, text + at,
                                end - sent < room ? end - sent : room,
                                MSG_NOSIGNAL | MSG_DONTWAIT);
            if (some < 0 && errno != EAGAIN)
                serve_stop("send");
            sent += some > 0 ? (uint64_t)some : 0;
        }
        if ((one.revents & ~POLLOUT) != 0) {
            ssize_t some = read(fd, in, sizeof in);
            if (some <= 0)
                serve_stop("the server has gone");
            got += (uint64_t)some;
        }
    }
}

static void serve_ask(const char *path, uint64_t depth, uint64_t n)
{
    struct sockaddr_un address;
    int fd = serve_socket(path, &address, 0);
    char *text = malloc(SERVE_LINE * SERVE_LINES + 1);
    if (text == NULL
        || connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
        serve_stop(path);
    for (uint64_t i = 0; i < SERVE_LINES; i++)
        serve_line(text + SERVE_LINE * i, 31 * i);
    double begun = serve_now();
    serve_go(fd, text, depth, n);
    printf("%.0f\n", (double)n / (serve_now() - begun));
    free(text);
    close(fd);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "keys") == 0)
        serve_keys(strtoull(argv[2], NULL, 10));
    else if (argc == 3 && strcmp(argv[1], "echo") == 0)
        serve_echo(argv[2]);
    else if (argc == 5 && strcmp(argv[1], "ask") == 0)
        serve_ask(argv[2], strtoull(argv[3], NULL, 10),
                  strtoull(argv[4], NULL, 10));
    else {
        fputs("usage: serve keys N | echo SOCKET | ask SOCKET DEPTH N\n",
              stderr);
        return 2;
    }
    return 0;
}
