/* command.c - registers commands and their documentation for COMMAND DOCS.
 *
 * A command's arguments are described by a line of text (`syntax`):
 *
 *      key [CAPACITY capacity] [NOCREATE] [A|B] ITEMS item…
 *
 * A word in capitals is literal, and the word after it is its value. Bars
 * separate alternatives.
 */
#include "redis/module.h"

#include <string.h>

enum { COMMAND_ARGS = 16, COMMAND_WORD = 32 };

/* The parsed words of a syntax. They are needed only while the command is
 * registered, as the server copies them. */
typedef struct {
    server_arg args[COMMAND_ARGS], choice[COMMAND_ARGS];
    char       words[2 * COMMAND_ARGS][COMMAND_WORD];
    size_t     n, choices, said;
} command_words;

static bool command_is_token(const char *word)
{
    return *word >= 'A' && *word <= 'Z';
}

static bool command_is_key(const char *word, size_t n)
{
    static const char *const keys[] = { "key", "dest", "source", "other" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strlen(keys[i]) == n && memcmp(keys[i], word, n) == 0)
            return true;
    return false;
}

/* Returns which arguments are keys, as the server counts: 0 for none; n for the
 * first n; -1 for all. */
static int command_keys(const char *syntax)
{
    int n = 0;
    for (size_t length;; syntax += length + 1, n++) {
        length = strcspn(syntax, " \xe2");
        if (!command_is_key(syntax, length))
            return n;
        if (syntax[length] != ' ')
            return syntax[length] == '\0' ? n + 1 : -1;
    }
}

/* Returns the type of value that a word stands for. */
static server_arg_type command_type(const char *word)
{
    static const char *const numbers[] = {
        "capacity", "expansion", "bucketsize", "maxiterations", "iterator",
        "label", "offset", "bytes", "times", "seed",
    };
    if (command_is_key(word, strlen(word)))
        return SERVER_ARG_KEY;
    if (strcmp(word, "error_rate") == 0 || strcmp(word, "rate") == 0)
        return SERVER_ARG_DOUBLE;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(word, numbers[i]) == 0)
            return SERVER_ARG_INTEGER;
    return SERVER_ARG_STRING;
}

/* Copies the next word, up to one of these signs, to `into`. */
static char *command_word(command_words *into, const char **syntax)
{
    char *word = into->words[into->said++];
    size_t n = strcspn(*syntax, " []|\xe2");
    if (n >= COMMAND_WORD)
        n = COMMAND_WORD - 1;
    memcpy(word, *syntax, n);
    word[n] = '\0';
    *syntax += n;
    return word;
}

/* Returns the word in lower case, as an argument's name. */
static char *command_small(command_words *into, const char *word)
{
    char *small = into->words[into->said++];
    strcpy(small, word);
    for (char *c = small; *c != '\0'; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c + ('a' - 'A'));
    return small;
}

static server_arg command_token(command_words *into, const char *word)
{
    return (server_arg){ .name = command_small(into, word), .key_spec = -1,
                         .type = SERVER_ARG_TOKEN, .token = word };
}

/* Parses one argument, starting with its first word. */
static server_arg command_argument(command_words *into, const char **syntax)
{
    static const char dots[] = "…";
    char *word = command_word(into, syntax);
    server_arg arg = { .name = word, .key_spec = -1 };
    if (command_is_token(word) && **syntax == '|') {
        arg = (server_arg){ .name = "field", .type = SERVER_ARG_ONE_OF,
                            .key_spec = -1, .inner = into->choice };
        into->choice[into->choices++] = command_token(into, word);
        while (**syntax == '|') {
            *syntax += 1;
            into->choice[into->choices++]
                = command_token(into, command_word(into, syntax));
        }
        return arg;
    }
    if (command_is_token(word)) {
        if (**syntax != ' ')
            return command_token(into, word);
        *syntax += 1;
        arg.token = word;
        arg.name = command_word(into, syntax);
    }
    arg.type = command_type(arg.name);
    if (arg.type == SERVER_ARG_KEY)
        arg.key_spec = 0;
    if (strncmp(*syntax, dots, sizeof dots - 1) == 0) {
        arg.flags |= SERVER_ARG_MULTIPLE;
        *syntax += sizeof dots - 1;
    }
    return arg;
}

static void command_arguments(command_words *into, const char *syntax)
{
    while (*syntax != '\0') {
        bool optional = *syntax == '[';
        syntax += optional;
        server_arg arg = command_argument(into, &syntax);
        if (optional)
            arg.flags |= SERVER_ARG_OPTIONAL;
        into->args[into->n++] = arg;
        syntax += strspn(syntax, "] ");
    }
}

static bool command_document(server_context *context, const command *of)
{
    static const server_sizes sizes = { 1, sizeof(server_history),
                                        sizeof(server_keys),
                                        sizeof(server_arg) };
    bool writes = strncmp(of->flags, "write", 5) == 0;
    int keyed = command_keys(of->syntax);
    command_words words = { .n = 0 };
    server_keys keys[2] = {
        { .flags = writes ? SERVER_KEY_CHANGE | SERVER_KEY_ACCESS
                            | SERVER_KEY_UPDATE
                          : SERVER_KEY_READ | SERVER_KEY_ACCESS,
          .begin = SERVER_KEYS_AT, .first = { .index = { .at = 1 } },
          .find = SERVER_KEYS_TO,
          .rest = { .range = { .last = keyed < 0 ? keyed : keyed - 1,
                               .step = 1, .limit = 0 } } },
        { .notes = NULL },
    };
    command_arguments(&words, of->syntax);
    server_docs docs = {
        .sizes = &sizes, .summary = of->summary,
        .complexity = of->complexity, .since = of->since, .arity = of->arity,
        .keys = keyed == 0 ? NULL : keys, .args = words.args,
    };
    server_entry *entry = server_command(context, of->name);
    return entry != NULL && server_set_docs(entry, &docs) == SERVER_OK
        && (server_set_access == NULL || server_add_access == NULL
            || server_set_access(entry, of->access) == SERVER_OK);
}

bool command_register(server_context *context, const command *commands)
{
    for (const command *of = commands; of->name != NULL; of++) {
        int last = command_keys(of->syntax);
        if (server_create_command(context, of->name, of->call, of->flags,
                                  last != 0, last, last != 0) != SERVER_OK
            || !command_document(context, of)) {
            server_log(context, "warning", "the command %s cannot be "
                       "registered: does another loaded module have it?",
                       of->name);
            return false;
        }
    }
    return true;
}
