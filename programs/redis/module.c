/* module.c - loads bloomery.so: settings, types and commands.
 *
 * RedisBloom's settings are accepted under its names: as arguments after the
 * module's path, in their old form too, and as the server's configuration
 * ("bf-error-rate" or, before Redis 8, "bf.bf-error-rate"), which takes
 * precedence. So are the settings of BLY.*.
 */
#include <stdio.h>
#include <string.h>

#include "redis/held.h"

/* The version of RedisBloom whose commands the module has. Clients read it
 * before they use them. */
enum { MODULE_VERSION = 20800 };

static const char MODULE_NAME[] = "bf";         /* the same as RedisBloom's  */

/* ---- Settings ------------------------------------------------------------ */

static const struct {
    const char *name, *old;             /* old: as an argument of the module */
    long long  *setting, least, most;
} module_numbers[] = {
    { "bf-initial-size", "INITIAL_SIZE", &redis_settings.capacity, 1,
      MODULE_CAPACITY_MOST },
    { "bf-expansion-factor", NULL, &redis_settings.growth, 0,
      MODULE_GROWTH_MOST },
    { "cf-bucket-size", NULL, &redis_settings.cuckoo_slots, 1,
      MODULE_SLOTS_MOST },
    { "cf-initial-size", NULL, &redis_settings.cuckoo_capacity, 4,
      MODULE_CAPACITY_MOST },
    { "cf-max-iterations", NULL, &redis_settings.cuckoo_moves, 1,
      MODULE_MOVES_MOST },
    { "cf-expansion-factor", NULL, &redis_settings.cuckoo_expansion, 0,
      MODULE_GROWTH_MOST },
    { "bly-initial-size", NULL, &redis_settings.held_capacity, 0,
      INT64_MAX },
    { "cf-max-expansions", "CF_MAX_EXPANSIONS",
      &redis_settings.cuckoo_tables, 1, 65536 },
};

enum { MODULE_NUMBERS = sizeof module_numbers / sizeof *module_numbers };

static int module_set_number(const char *name, long long value, void *setting,
                             server_string **error)
{
    (void)name;
    (void)error;
    *(long long *)setting = value;
    return SERVER_OK;
}

static long long module_get_number(const char *name, void *setting)
{
    (void)name;
    return *(long long *)setting;
}

/* Sets the rate of BF.*, and lowers a large one. */
static bool module_rate(const server_string *value)
{
    if (!reply_rate(&redis_settings.rate, value))
        return false;
    if (redis_settings.rate > MODULE_RATE_MOST)
        redis_settings.rate = MODULE_RATE_MOST;
    return true;
}

static bool module_held_rate(const server_string *value)
{
    return reply_rate(&redis_settings.held_rate, value);
}

/* Sets the kind, which must support adding, also of single items. */
static bool module_held_kind(const server_string *value)
{
    size_t n;
    const char *kind = server_text(value, &n);
    bly_plan_t plan;
    bly_spec spec = { .capacity = 1 };
    if (n >= sizeof redis_settings.held_kind || strlen(kind) != n
        || bly_plan(&plan, kind, &spec) != BLY_OK
        || (bly_kind_find(kind)->can & BLY_CAN_ADD) == 0)
        return false;
    memcpy(redis_settings.held_kind, kind, n + 1);
    return true;
}

static bool module_secret(const server_string *value)
{
    size_t n;
    const char *digits = server_text(value, &n);
    return redis_secret_set(digits, n);
}

static bool module_others(const server_string *value)
{
    size_t n;
    const char *text = server_text(value, &n);
    return redis_secret_set_others(text, n);
}

static bool module_dump_secrets(const server_string *value)
{
    redis_settings.dump_secrets = reply_is_word(value, "yes");
    return redis_settings.dump_secrets || reply_is_word(value, "no");
}

static server_string *module_show_rate(void)
{
    return server_printed(NULL, "%.17g", redis_settings.rate);
}

static server_string *module_show_held_rate(void)
{
    return server_printed(NULL, "%.17g", redis_settings.held_rate);
}

static server_string *module_show_held_kind(void)
{
    return server_printed(NULL, "%s", redis_settings.held_kind);
}

static server_string *module_show_secret(void)
{
    return server_printed(NULL, "%s", redis_settings.secret);
}

static server_string *module_show_dump_secrets(void)
{
    return server_printed(NULL, redis_settings.dump_secrets ? "yes" : "no");
}

static const struct {
    const char     *name, *old, *range;
    bool          (*set)(const server_string *value);
    server_string *(*show)(void);
    unsigned        flags;
} module_texts[] = {
    { "bf-error-rate", "ERROR_RATE",
      "must be in the range (0.000000, "
      "1.000000)",
      module_rate, module_show_rate, 0 },
    { "bly-error-rate", NULL, "must be in the range (0.000000, 1.000000)",
      module_held_rate, module_show_held_rate, 0 },
    { "bly-kind", NULL,
      "must be a kind that can be added to, such as scalable, with its options",
      module_held_kind, module_show_held_kind, 0 },
    { "bly-secret", NULL, "must be 32 hexadecimal digits, or empty",
      module_secret, module_show_secret, SERVER_SECRET },
    { "bly-known-secrets", NULL,
      "must be up to 64 times 32 hexadecimal "
      "digits, with a space between two",
      module_others, redis_secret_show_others, SERVER_SECRET },
    { "bly-dump-secrets", NULL, "must be yes or no", module_dump_secrets,
      module_show_dump_secrets, 0 },
};

enum { MODULE_TEXTS = sizeof module_texts / sizeof *module_texts };

/* `setting` is the index of a text. */
static int module_set_text(const char *name, server_string *value,
                           void *setting, server_string **error)
{
    size_t i = (size_t)(uintptr_t)setting;
    if (module_texts[i].set(value))
        return SERVER_OK;
    *error = server_printed(NULL, "%s %s", name, module_texts[i].range);
    return SERVER_ERR;
}

/* Returns a string that the server reads at once and does not free. It is kept
 * until the next call. */
static server_string *module_get_text(const char *name, void *setting)
{
    static server_string *last;
    (void)name;
    if (last != NULL)
        server_free_string(NULL, last);
    last = module_texts[(uintptr_t)setting].show();
    return last;
}

/* Registers the settings, with the arguments as defaults. Servers that support
 * names without the module's prefix get those. */
static bool module_register_settings(server_context *context)
{
    unsigned flags = server_load_standards != NULL ? SERVER_UNPREFIXED : 0;
    for (size_t i = 0; i < MODULE_TEXTS; i++) {
        size_t n;
        server_string *standard = module_texts[i].show();
        bool well = server_register_text(context, module_texts[i].name,
                                         server_text(standard, &n),
                                         flags | module_texts[i].flags,
                                         module_get_text, module_set_text,
                                         NULL, (void *)(uintptr_t)i)
                 == SERVER_OK;
        server_free_string(NULL, standard);
        if (!well)
            return false;
    }
    for (size_t i = 0; i < MODULE_NUMBERS; i++)
        if (server_register_number(context, module_numbers[i].name,
                                   *module_numbers[i].setting, flags,
                                   module_numbers[i].least,
                                   module_numbers[i].most, module_get_number,
                                   module_set_number, NULL,
                                   module_numbers[i].setting) != SERVER_OK)
            return false;
    return server_load_settings(context) == SERVER_OK;
}

static bool module_is(const server_string *word, const char *name,
                      const char *old)
{
    return reply_is_word(word, name)
        || (old != NULL && reply_is_word(word, old));
}

/* Reads one argument and its value. Returns false after logging an error. */
static bool module_argument(server_context *context, const server_string *name,
                            const server_string *value)
{
    long long number;
    for (size_t i = 0; i < MODULE_TEXTS; i++) {
        if (!module_is(name, module_texts[i].name, module_texts[i].old))
            continue;
        if (module_texts[i].set(value))
            return true;
        server_log(context, "warning", "%s %s", module_texts[i].name,
                   module_texts[i].range);
        return false;
    }
    for (size_t i = 0; i < MODULE_NUMBERS; i++) {
        if (!module_is(name, module_numbers[i].name, module_numbers[i].old))
            continue;
        if (server_to_number(value, &number) == SERVER_OK
            && number >= module_numbers[i].least
            && number <= module_numbers[i].most) {
            *module_numbers[i].setting = number;
            return true;
        }
        server_log(context, "warning", "%s must be in the range [%lld, %lld]",
                   module_numbers[i].name, module_numbers[i].least,
                   module_numbers[i].most);
        return false;
    }
    server_log(context, "warning", "'%s' is not a setting of this module",
               server_text(name, &(size_t){ 0 }));
    return false;
}

static bool module_arguments(server_context *context, server_string **argv,
                             int argc)
{
    if (argc % 2 != 0) {
        server_log(context, "warning", "the module's settings must be pairs of "
                   "a name and a value, but there are %d words", argc);
        return false;
    }
    for (int i = 0; i < argc; i += 2)
        if (!module_argument(context, argv[i], argv[i + 1]))
            return false;
    return true;
}

/* ---- Loading ------------------------------------------------------------- */

/* Adds our access category to servers that support it; others use the flags of
 * the commands. */
static void module_add_access(server_context *context)
{
    if (server_set_access == NULL || server_add_access == NULL)
        return;
    server_add_access(context, "bloom");
    server_add_access(context, "cuckoo");
    server_add_access(context, "bloomery");
}

const command *const module_families[] = {
    bf_commands, cf_commands, bly_commands, unite_commands, resize_commands,
    info_commands, dump_commands, secrets_commands, diff_commands,
    redis_kinds_commands, NULL
};

static bool module_register_commands(server_context *context)
{
    for (const command *const *family = module_families; *family != NULL;
         family++)
        if (!command_register(context, *family))
            return false;
    return true;
}

/* the only symbol that the server looks up */
__attribute__((visibility("default")))
int RedisModule_OnLoad(server_context *context, server_string **argv,
                       int argc);

int RedisModule_OnLoad(server_context *context, server_string **argv, int argc)
{
    const char *missing = server_bind(context);
    if (missing != NULL) {
        fprintf(stderr, "bloomery.so: the server is too old: it lacks %s, "
                "which Redis 7.0 and Valkey 7.2 have\n", missing);
        return SERVER_ERR;
    }
    if (server_name_busy(MODULE_NAME)) {
        server_log(context, "warning", "a module 'bf' is already loaded: "
                   "remove one of the two from the configuration");
        return SERVER_ERR;
    }
    server_attributes(context, MODULE_NAME, MODULE_VERSION, SERVER_API);
    server_set_options(context, SERVER_HANDLES_IO_ERRORS);
    module_add_access(context);
    if (!module_arguments(context, argv, argc)
        || !bloom_register(context) || !redis_cuckoo_register(context)
        || !redis_held_register(context) || !redis_secret_register(context)
        || !secrets_register(context) || !module_register_commands(context)
        || !module_register_settings(context))
        return SERVER_ERR;
    server_log(context, "notice", "bloomery %s", bly_version());
    return SERVER_OK;
}
