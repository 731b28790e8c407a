/* replay.c - runs the corpus through the fuzz targets, without libFuzzer.
 *
 *      replay FOLDER                       every *.hex of the folder
 *      replay --raw OUT FOLDER [PREFIX]    write them, or those whose names
 *                                          begin with PREFIX, to OUT as plain
 *                                          bytes, for libFuzzer
 *
 * "NAME-….hex" goes through the target NAME (targets.h), and through `check`
 * and `model`, which accept anything. "check-valid-…" must be accepted as an
 * image and "check-bad-…" refused. Each kind must have a valid one, so that a
 * new payload version is not forgotten, and each target some input. Exit status
 * 1: a finding.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloomery.h"
#include "check.h"
#include "hex.h"
#include "targets.h"

enum { REPLAY_PATH = 1024, REPLAY_KINDS = 64 };

typedef struct {
    unsigned long inputs, findings;
    bool          kind_seen[REPLAY_KINDS], target_seen[REPLAY_KINDS];
} replay_tally;

static int replay_is_hex(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".hex") == 0;
}

static bool replay_begins(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static void replay_found(replay_tally *tally, const char *name,
                         const char *what)
{
    tally->findings++;
    fprintf(stderr, "%s: %s\n", name, what);
}

/* ---- Run --------------------------------------------------------------- */

static void replay_see_kind(replay_tally *tally, const uint8_t *image)
{
    size_t n;
    const bly_kind_info *const *kinds = bly_kinds(&n);
    for (size_t i = 0; i < n && i < REPLAY_KINDS; i++)
        if (strncmp((const char *)image + 8, kinds[i]->name, 16) == 0)
            tally->kind_seen[i] = true;
}

/* The targets by name, check and model first. */
static const struct {
    const char *prefix;
    target_run *run;
} replay_targets[] = {
#define REPLAY_TARGET(name, what) { #name "-", fuzz_##name },
    TARGETS(REPLAY_TARGET)
#undef REPLAY_TARGET
};

enum { REPLAY_TARGETS = sizeof replay_targets / sizeof *replay_targets };

/* A file without a target would test nothing. */
static void replay_target(replay_tally *tally, const char *name,
                          const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < REPLAY_TARGETS; i++)
        if (replay_begins(name, replay_targets[i].prefix)) {
            const char *what = replay_targets[i].run(bytes, n);
            tally->target_seen[i] = true;
            if (what != NULL)
                replay_found(tally, name, what);
            return;
        }
    replay_found(tally, name, "there is no target of this name");
}

/* Checks the first byte of a model's program: the number of its kind, which
 * changes when a kind is added before it. "# head: KIND" in the file states it.
 */
static void replay_head(replay_tally *tally, const char *path,
                        const uint8_t *bytes, size_t n)
{
    char line[256], meant[32], what[128];
    size_t count;
    const bly_kind_info *const *kinds = bly_kinds(&count);
    FILE *file = fopen(path, "r");
    while (file != NULL && n > 0 && fgets(line, sizeof line, file) != NULL) {
        const char *head = strstr(line, "# head: ");
        if (head == NULL || sscanf(head + 8, "%31[a-z]", meant) != 1)
            continue;
        snprintf(what, sizeof what, "its first byte means %s, not %s",
                 kinds[*bytes % count]->name, meant);
        if (strcmp(meant, kinds[*bytes % count]->name) != 0)
            replay_found(tally, path, what);
        break;
    }
    if (file != NULL)
        fclose(file);
}

static void replay_bytes(replay_tally *tally, const char *name,
                         const uint8_t *bytes, size_t n)
{
    bool accepted;
    const char *what = check_run(bytes, n, &accepted);
    tally->inputs++;
    if (what != NULL)
        replay_found(tally, name, what);
    what = fuzz_model(bytes, n);
    if (what != NULL)
        replay_found(tally, name, what);
    if (!replay_begins(name, "check-") && !replay_begins(name, "model-"))
        replay_target(tally, name, bytes, n);
    if (replay_begins(name, "check-valid-") && !accepted)
        replay_found(tally, name, bly_why());
    if (replay_begins(name, "check-bad-") && accepted)
        replay_found(tally, name, "a bad image was accepted");
    if (accepted)
        replay_see_kind(tally, bytes);
}

static void replay_missing(replay_tally *tally)
{
    size_t n;
    const bly_kind_info *const *kinds = bly_kinds(&n);
    for (size_t i = 0; i < n && i < REPLAY_KINDS; i++)
        if (!tally->kind_seen[i])
            replay_found(tally, kinds[i]->name, "no valid image in the corpus: "
                         "seeds.c does not make one");
    for (size_t i = 2; i < REPLAY_TARGETS; i++)
        if (!tally->target_seen[i])
            replay_found(tally, replay_targets[i].prefix,
                         "nothing in the corpus");
}

/* ---- Write raw --------------------------------------------------------- */

static void replay_raw(replay_tally *tally, const char *folder,
                       const char *name, const uint8_t *bytes, size_t n)
{
    char path[REPLAY_PATH];
    snprintf(path, sizeof path, "%s/%.*s", folder, (int)strlen(name) - 4,
             name);
    FILE *file = fopen(path, "wb");
    bool good = file != NULL && fwrite(bytes, 1, n, file) == n;
    tally->inputs++;
    if (file != NULL && fclose(file) != 0)
        good = false;
    if (!good)
        replay_found(tally, path, "cannot write");
}

/* ---- The corpus -------------------------------------------------------- */

/* Writes a file to `raw` if that is given, or runs it through the targets. */
static void replay_file(replay_tally *tally, const char *folder,
                        const char *name, const char *raw)
{
    char path[REPLAY_PATH];
    uint8_t *bytes;
    size_t n;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!hex_read(path, &bytes, &n)) {
        replay_found(tally, path, "cannot be read as hex");
        return;
    }
    if (raw != NULL)
        replay_raw(tally, raw, name, bytes, n);
    else
        replay_bytes(tally, name, bytes, n);
    if (raw == NULL && replay_begins(name, "model-"))
        replay_head(tally, path, bytes, n);
    free(bytes);
}

static int replay_folder(const char *folder, const char *raw,
                         const char *prefix)
{
    replay_tally tally = { .inputs = 0 };
    struct dirent **entries;
    int n = scandir(folder, &entries, replay_is_hex, alphasort);
    if (n < 0) {
        fprintf(stderr, "replay: %s: cannot be listed\n", folder);
        return 2;
    }
    for (int i = 0; i < n; i++) {
        if (replay_begins(entries[i]->d_name, prefix))
            replay_file(&tally, folder, entries[i]->d_name, raw);
        free(entries[i]);
    }
    free(entries);
    if (raw == NULL)
        replay_missing(&tally);
    printf("%lu inputs, %lu findings\n", tally.inputs, tally.findings);
    return tally.findings > 0;
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return replay_folder(argv[1], NULL, "");
    if ((argc == 4 || argc == 5) && strcmp(argv[1], "--raw") == 0)
        return replay_folder(argv[3], argv[2], argc == 5 ? argv[4] : "");
    fprintf(stderr, "usage: replay FOLDER\n"
                    "       replay --raw OUT FOLDER [PREFIX]\n");
    return 2;
}
