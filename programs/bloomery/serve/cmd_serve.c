/* cmd_serve.c - `bloomery serve`: its options. */
#include "bloomery/serve/serve.h"
#include "frame/options.h"
#include "frame/work.h"

#include <stdlib.h>
#include <string.h>

enum {
    CMD_SERVE_THREADS = 256,            /* as many as work_jobs has at most */
    CMD_SERVE_CLIENTS = 100000,
    CMD_SERVE_VALUE = 1000              /* bytes: a Postfix line has 4096    */
};

typedef struct {
    const char *protocol, *socket, *port, *web, *mode, *value, *key_file,
               *format;
    bool        all, null, fold, channels, load, trust;
    uint64_t      as;
    uint64_t    field, threads, clients, unpack_limit;
    cli_operands hosts;
} serve_settings;

static const cli_option serve_options[] = {
    { 0, "protocol", "NAME", CLI_TEXT, offsetof(serve_settings, protocol),
      false, "The protocol of clients: lines (the default), squid, socketmap "
      "or tcp_table." },
    { 0, "socket", "PATH", CLI_TEXT, offsetof(serve_settings, socket), false,
      "Listen on a Unix socket. The socket of an earlier server is replaced; "
      "any other file is not." },
    { 0, "mode", "MODE", CLI_TEXT, offsetof(serve_settings, mode), false,
      "The permissions of Unix sockets, in octal, such as 660: a user who may "
      "write may query. Default: from umask.",
      .needs = "socket http",
      .group = CLI_SAFETY },
    { 0, "listen", "[HOST:]PORT", CLI_TEXT, offsetof(serve_settings, port),
      false, "Listen on a port of 127.0.0.1 (the default) or [::1]." },
    { 0, "http", "[HOST:]PORT", CLI_TEXT, offsetof(serve_settings, web), false,
      "Answer HTTP at this port, or at a Unix socket if there is a slash." },
    { 0, "host", "NAME", CLI_LIST, offsetof(serve_settings, hosts), false,
      "With --http: accept requests to this host name, such as the name that "
      "a proxy passes on. May be repeated. localhost, 127.0.0.1 and [::1] are "
      "always accepted, and any host at a Unix socket.",
      .needs = "http",
      .group = CLI_SAFETY },
    { 0, "all", NULL, CLI_FLAG, offsetof(serve_settings, all), false,
      "With several filters, a key is there if it is perhaps in all of them. "
      "Default: in any." },
    { '0', "null", NULL, CLI_FLAG, offsetof(serve_settings, null), false,
      "With lines: requests and answers end with a NUL byte instead of a "
      "newline.",
      .group = CLI_KEYS },
    { 0, "channels", NULL, CLI_FLAG, offsetof(serve_settings, channels), false,
      "With squid: each line begins with a channel number, as Squid sends it "
      "if external_acl_type has concurrency=N." },
    { 0, "field", "N", CLI_NUMBER, offsetof(serve_settings, field), false,
      "With squid: the key is this field of the line, counted from 1 after "
      "the channel. Default: 1.",
      .group = CLI_KEYS },
    { 0, "value", "TEXT", CLI_TEXT, offsetof(serve_settings, value), false,
      "With socketmap and tcp_table: the answer for a key that is perhaps "
      "there. Default: OK." },
    { 'i', "ignore-case", NULL, CLI_FLAG, offsetof(serve_settings, fold), false,
      "Change the letters A to Z in keys to a to z. Not needed if the filter "
      "states it.",
      .group = CLI_KEYS },
    { 0, "as", "CLASS", CLI_FORM, offsetof(serve_settings, as), false,
      "The class of keys, as for 'query'. A key that cannot be read this way "
      "is answered with an error. Default: the class that the filter states, "
      "or text.",
      .group = CLI_KEYS },
    { 'j', "jobs", "N", CLI_NUMBER, offsetof(serve_settings, threads), false,
      "Serve with N threads. Default: one per processor.",
      .needs = "socket listen http",
      .group = CLI_SPEED },
    { 0, "clients", "N", CLI_NUMBER, offsetof(serve_settings, clients), false,
      "Serve at most N clients at once, and as many by HTTP. One more "
      "replaces a slow client, or waits. Default: 1000.",
      .needs = "socket listen http",
      .group = CLI_SPEED },
    { 0, "load", NULL, CLI_FLAG, offsetof(serve_settings, load), false,
      "Read filters into memory instead of mapping them, for files that other "
      "programs overwrite in place, as cp does. While a mapped file is "
      "overwritten, answers are errors.",
      .group = CLI_SAFETY },
    { 0, "no-verify", NULL, CLI_FLAG, offsetof(serve_settings, trust), false,
      "Verify only the header of a filter and trust the rest.",
      .group = CLI_SAFETY },
    CLI_SECRET_OPTION(serve_settings, key_file),
    CLI_FORMAT_OPTION(serve_settings, format),
    CLI_UNPACK_OPTION(serve_settings, unpack_limit),
    { 0 }
};

static const cli_example serve_examples[] = {
    { "printf '10.0.0.1\\n' | bloomery serve seen.bly",
      "Serve a program through a pipe: it writes lines and reads 1 or 0." },
    { "bloomery serve --http 8080 seen.bly",
      "For curl 'http://127.0.0.1:8080/contains?key=10.0.0.1'." },
    { "bloomery serve --socket seen.sock --mode 660 seen.bly",
      "Serve many programs at a Unix socket." },
    { "bloomery serve --protocol squid --channels seen.bly",
      "Serve Squid, as a helper that it starts." },
    { "bloomery serve --protocol socketmap --socket maps.sock known.bly",
      "Serve Postfix, as the table socketmap:unix:FOLDER/maps.sock:known." },
    { NULL, NULL }
};

/* ==== Reading =========================================================== */

static const serve_protocol *serve_find_protocol(const char *name)
{
    static const serve_protocol *const all[] = {
        &plain_protocol, &helper_protocol, &postfix_map_protocol,
        &postfix_table_protocol,
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->name, name) == 0)
            return all[i];
    return NULL;
}

/* Parses an octal mode such as "660". Returns -1 if it is invalid. */
static int serve_mode(const char *text)
{
    char *end;
    unsigned long mode = strtoul(text, &end, 8);

    return *text >= '0' && *text <= '7' && *end == '\0' && mode <= 0777
         ? (int)mode : -1;
}

static int serve_refuse(const char *option, const char *text, const char *wrong)
{
    return wrong == NULL ? CLI_GO
                         : report_error("--%s '%s' %s", option, text, wrong);
}

static int serve_places(const serve_settings *s, serve_how *how)
{
    if (s->socket != NULL
        && serve_refuse("socket", s->socket,
                        place_path(s->socket, &how->socket)) != CLI_GO)
        return CLI_ERROR;
    if (s->port != NULL
        && serve_refuse("listen", s->port, place_read(s->port, false,
                                                      &how->port)) != CLI_GO)
        return CLI_ERROR;
    return s->web == NULL
         ? CLI_GO : serve_refuse("http", s->web,
                                 place_read(s->web, true, &how->web));
}

static int serve_check_mode(const cli_command *self, const serve_settings *s,
                            serve_how *how)
{
    how->mode = s->mode != NULL ? serve_mode(s->mode) : -1;
    if (s->mode != NULL && how->mode < 0)
        return serve_refuse("mode", s->mode, "is not a mode: give octal digits "
                            "up to 777, such as 660");
    if (s->mode != NULL && how->socket.path == NULL && how->web.path == NULL)
        return options_wrong(self, "--mode is for Unix sockets, and none is "
                                   "given");
    return CLI_GO;
}

/* Checks that all options given apply to the protocol. */
static int serve_check_protocol(const cli_command *self,
                                const serve_settings *s,
                                const serve_protocol *protocol)
{
    bool squid = protocol == &helper_protocol;
    bool postfix = protocol == &postfix_map_protocol
                || protocol == &postfix_table_protocol;

    if (!squid && (s->channels || s->field != 0))
        return options_wrong(self, "--channels and --field are for --protocol "
                                   "squid");
    if (!postfix && s->value != NULL)
        return options_wrong(self, "--value is for --protocol socketmap and "
                                   "tcp_table");
    if (s->null && protocol != &plain_protocol)
        return options_wrong(self, "-0 is for --protocol lines");
    if (s->protocol != NULL && s->web != NULL && s->socket == NULL
        && s->port == NULL)
        return options_wrong(self, "--protocol is for --socket and --listen; "
                                   "--http has only one protocol");
    return CLI_GO;
}

static int serve_check_value(const char *value)
{
    for (const char *at = value; at != NULL && *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return serve_refuse("value", value, "contains a control character: "
                                "give text without any");
    return value != NULL && strlen(value) > CMD_SERVE_VALUE
         ? serve_refuse("value", value, "is too long: Postfix is only certain "
                        "to read 1000 bytes, so give no more")
         : CLI_GO;
}

/* Checks --host: names without a port, which stand for all ports. */
static int serve_check_hosts(const cli_command *self, const serve_settings *s)
{
    if (s->hosts.count > 0 && (s->web == NULL || strchr(s->web, '/') != NULL))
        return options_wrong(self, "--host is for --http on a port");
    for (size_t i = 0; i < s->hosts.count; i++) {
        const char *name = s->hosts.names[i];

        if (*name == '\0'
            || name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRS"
                                 "TUVWXYZ0123456789-._")] != '\0')
            return serve_refuse("host", name, "is not a host name: give one "
                                "such as filters.example.org, without a port");
    }
    return CLI_GO;
}

static int serve_check_numbers(const serve_settings *s)
{
    if (s->threads > CMD_SERVE_THREADS)
        return report_error("--jobs is at most 256: give the number of "
                            "processors");
    if (s->clients > CMD_SERVE_CLIENTS)
        return report_error("--clients is at most 100000: give fewer");
    return CLI_GO;
}

static int serve_check_files(const cli_command *self, const cli_operands *files)
{
    if (files->count == 0)
        return options_wrong(self, "the FILE to serve is missing");
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->names[i], "-") == 0)
            return options_wrong(self, "FILE cannot be standard input, from "
                                       "which requests are read");
    return CLI_GO;
}

/* ==== Running =========================================================== */

static int serve_read(const cli_command *self, const serve_settings *s,
                      serve_how *how)
{
    const char *name = s->protocol != NULL ? s->protocol : "lines";

    *how = (serve_how){
        .protocol = serve_find_protocol(name),
        .open = { s->load, s->trust, s->web != NULL, s->fold, s->null, s->as },
        .all = s->all, .null = s->null, .channels = s->channels,
        .field = s->field != 0 ? s->field : 1,
        .value = s->value != NULL ? s->value : "OK",
        .threads = work_jobs(s->threads),
        .clients = s->clients != 0 ? s->clients : 1000,
        .hosts = s->hosts,
    };
    if (how->protocol == NULL)
        return serve_refuse("protocol", name, "is not a protocol: give lines, "
                            "squid, socketmap or tcp_table");
    if (serve_check_protocol(self, s, how->protocol) != CLI_GO
        || serve_check_value(s->value) != CLI_GO
        || serve_check_numbers(s) != CLI_GO
        || serve_check_hosts(self, s) != CLI_GO
        || serve_places(s, how) != CLI_GO)
        return CLI_ERROR;
    return serve_check_mode(self, s, how);
}

static int serve_run(const cli_command *self, int argc, char **argv)
{
    serve_settings s = { .as = FORMS_UNSAID, .protocol = NULL };
    cli_operands files;
    serve_how how;
    int status = options_read(self, argc, argv, &s, &files);

    if (status == CLI_GO)
        status = serve_read(self, &s, &how);
    if (status == CLI_GO)
        status = serve_check_files(self, &files);
    if (status == CLI_GO)
        status = filter_how_read(s.key_file, s.format, s.unpack_limit);
    if (status == CLI_GO)
        status = listen_run(&how, &files);
    free(s.hosts.names);
    return status;
}

const cli_command cmd_serve = {
    .name = "serve",
    .operands = "FILE...",
    .summary = "answer the queries of other programs",
    .text =
        "Keeps filters open and answers queries: on standard input and output "
        "until they end, or at sockets until SIGTERM or SIGINT. After a "
        "signal it accepts no new clients, answers the requests that have "
        "arrived, and removes its Unix sockets. A file that is replaced (by "
        "these commands, or by mv) is opened within a second, or at once "
        "after SIGHUP. Until then, and if it cannot be opened, the old filter "
        "answers.\n\n"
        "In protocol lines, each line is a key, and each answer is a line: 1, "
        "perhaps there; 0, certainly not; or ? and the reason why there is no "
        "answer. squid is the helper protocol of an external ACL, with OK, "
        "ERR and BH. socketmap and tcp_table are protocols of Postfix. HTTP "
        "has GET /contains?key=KEY, POST /contains with a JSON array of keys, "
        "GET /info and GET /metrics.\n\n"
        "Each filter reads keys by the form that it states, such as text in "
        "lower case, or numbers. -i and --as are for filters that state none; "
        "if they contradict the form of a filter, it is not served.\n\n"
        "If there are several FILEs, a key is there if it is perhaps in any "
        "of them. A socketmap request names one filter, and so does HTTP with "
        "?filter=NAME: by its file name without folder and last ending.\n\n"
        "A request has at most 1 MiB. A client that takes a minute for a "
        "request, or to read its answers, is disconnected; the head of an "
        "HTTP request may take 5 seconds. If --clients are connected, a new "
        "client replaces the one that has been slow for longest.\n\n"
        "Each filter is verified by its checksum before it is served.",
    .options = serve_options,
    .usual = "protocol socket listen http all jobs clients as",
    .examples = serve_examples,
    .status = "0 at the end of input or after a signal, 2 after an error.",
    .run = serve_run,
};
