/* laws.c - runs the laws that every kind must obey, for each kind of the
 * registry.
 *
 * A new kind is tested here without another line. The laws are in laws/, in
 * groups; tests of one kind's own features are in tests/kinds/.
 */
#include "laws/laws.h"

#include "verbs/registry.h"

static const laws_group *const groups[] = {
    &laws_rates, &laws_plans, &laws_batches, &laws_missing, &laws_removal,
    &laws_labels, &laws_sizes, &laws_sets, &laws_images,
};

int main(int argc, char **argv)
{
    struct CMUnitTest laws[64];
    size_t n = 0;
    int failed = 0;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (n + groups[i]->n > sizeof laws / sizeof *laws)
            return 2;
        memcpy(laws + n, groups[i]->laws, groups[i]->n * sizeof *laws);
        n += groups[i]->n;
    }
    for (size_t i = 0; registry_kinds[i] != NULL; i++) {
        if (!test_mine(argc, argv, i))
            continue;
        laws_kind = registry_kinds[i];
        print_message("[ kind     ] %s\n", laws_kind->name);
        failed += _cmocka_run_group_tests(laws_kind->name, laws, n, NULL, NULL);
    }
    return failed;
}
