/* contract.c - runs every line of contract.txt and bly.txt, in both
 * protocols. */
#include "test.h"

#include <signal.h>

#include "redis/client.h"

enum { CONTRACT_LINE = 4096 };

typedef struct {
    FILE *file;
    int   line;
    char  text[CONTRACT_LINE];          /* "" at the end                     */
} contract;

static void contract_next(contract *from)
{
    if (fgets(from->text, sizeof from->text, from->file) == NULL)
        from->text[0] = '\0';
    from->text[strcspn(from->text, "\n")] = '\0';
    from->line++;
}

/* Reads the expected answer behind a command. */
static void contract_wanted(contract *from, char out[CONTRACT_LINE],
                            int protocol)
{
    contract_next(from);
    if (from->text[0] != '2') {
        strcpy(out, from->text);
        return;
    }
    char second[CONTRACT_LINE];
    strcpy(second, from->text + 2);
    contract_next(from);
    assert_int_equal(from->text[0], '3');
    strcpy(out, protocol == 3 ? from->text + 2 : second);
}

/* Returns the number of wrong answers. */
static int contract_run(client *c, const char *name, int protocol, int least)
{
    contract from = { .line = 0 };
    char path[sizeof TEST_SOURCE_DIR + 64];
    snprintf(path, sizeof path, "%s/tests/redis/%s", TEST_SOURCE_DIR, name);
    from.file = fopen(path, "r");
    char command[CONTRACT_LINE], wanted[CONTRACT_LINE];
    int wrong = 0, asked = 0;
    bool in = false;
    assert_non_null(from.file);
    while (!feof(from.file)) {
        contract_next(&from);
        if (strncmp(from.text, "== ", 3) == 0) {
            in = true;
            assert_answer(c, "FLUSHALL", "+OK");
        }
        if (!in || strncmp(from.text, "> ", 2) != 0)
            continue;
        strcpy(command, from.text + 2);
        int line = from.line;
        contract_wanted(&from, wanted, protocol);
        char *answer = client_ask(c, command);
        assert_non_null(answer);
        asked++;
        if (strcmp(answer, wanted) != 0) {
            printf("%s:%d: RESP%d: %s\n  wanted %s\n  got    %s\n",
                   name, line, protocol, command, wanted, answer);
            wrong++;
        }
        free(answer);
    }
    fclose(from.file);
    assert_true(asked > least);
    return wrong;
}

static void contract_both(const char *name, int least)
{
    if (!server_is_there())
        skip();
    server s = { .port = 0 };
    int wrong = 0;
    server_start(&s, "--save ''");
    for (int protocol = 2; protocol <= 3; protocol++) {
        client c = client_open(&s, protocol);
        wrong += contract_run(&c, name, protocol, least);
        client_close(&c);
    }
    server_remove(&s);
    assert_int_equal(wrong, 0);
}

static void test_theirs(void **state)
{
    (void)state;
    contract_both("contract.txt", 240);
}

static void test_ours(void **state)
{
    (void)state;
    contract_both("bly.txt", 180);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_theirs),
        cmocka_unit_test(test_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
