/* ask.c - reads errors, versions and the abilities of kinds and filters.
 */
#include <bloomery.h>

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void errors(void)
{
    /* example: bly_why */
    bly_filter *f;
    bly_status status = bly_open(&f, "no such file", BLY_MAP, NULL);
    if (status < 0)
        printf("%s (%s)\n", bly_why(), bly_strerror(status));
    if (status == BLY_EIO && bly_errno() == ENOENT)
        puts("make the filter first");
    /* end */
    if (status != BLY_EIO || bly_errno() != ENOENT)
        errx(1, "status %d", status);
}

static void languages(void)
{
    /* example */
    bly_filter *f;
    if (bly_new(&f, "fuse", &(bly_spec){ .capacity = 1000 }) < 0)
        printf("%s\n", bly_why_in("python"));
    /* end */
    if (strstr(bly_why_in("python"), "(Filter.build)") == NULL)
        errx(1, "%s", bly_why_in("python"));
}

static void library(void)
{
    /* example */
    bly_processor_t cpu;
    bly_processor(&cpu);
    printf("bloomery %s with %s instructions\n", bly_version(),
           cpu.instructions);
    /* end */
    if (strcmp(bly_version(), BLY_VERSION) != 0)
        errx(1, "another version");
}

static void limits(void)
{
    /* example */
    bly_options options = { .memory_limit = 1 << 20 };
    uint64_t bytes = 4096;              /* of a packed filter              */
    printf("may take %ju bytes, or %ju by default\n",
           (uintmax_t)bly_memory_limit(&options, bytes),
           (uintmax_t)bly_memory_limit(NULL, bytes));
    /* end */
    if (bly_memory_limit(&options, bytes) != 1 << 20)
        errx(1, "another limit");
}

static void kinds(void)
{
    /* example */
    size_t n, removable = 0;
    const bly_kind_info *const *all = bly_kinds(&n);
    for (size_t i = 0; i < n; i++)
        if (all[i]->can & BLY_CAN_REMOVE && strcmp(all[i]->tier, "core") == 0) {
            printf("%-10s %s\n", all[i]->name, all[i]->summary);
            removable++;
        }
    printf("%zu core kinds can remove keys\n", removable);
    /* end */
    if (removable < 2)
        errx(1, "%zu kinds", removable);
}

static void kind(void)
{
    /* example */
    const bly_kind_info *info = bly_kind_find("bloom");
    if (info != NULL)
        printf("bloom is another name for %s\n", info->name);
    /* end */
    if (info == NULL || strcmp(info->name, "standard") != 0)
        errx(1, "another kind");
}

static void abilities(const bly_filter *f)
{
    /* example */
    uint64_t lacks = (BLY_CAN_ADD | BLY_CAN_REMOVE) & ~bly_can(f);
    for (uint64_t flag = 1; flag <= lacks; flag <<= 1)
        if (lacks & flag)
            printf("%s cannot %s\n", bly_kind_of(f), bly_ability(flag));
    /* end */
    if (lacks != BLY_CAN_REMOVE)
        errx(1, "%jx is missing", (uintmax_t)lacks);
}

int main(void)
{
    bly_filter *f;
    errors();
    languages();
    library();
    limits();
    kinds();
    kind();
    if (bly_new(&f, "blocked", &(bly_spec){ .capacity = 1000 }) < 0)
        errx(1, "%s", bly_why());
    abilities(f);
    bly_free(f);
}
