/* formats.c - other systems' files, recognised and made images of. */
#include "formats/formats.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/threads.h"
#include "bloomery/foreign.h"
#include "verbs/registry.h"

static const char FORMATS_OWN[] = "bloomery";

static bool formats_own(const uint8_t *bytes, size_t n)
{
    return n >= IMAGE_KIND && memcmp(bytes, FORMATS_OWN, IMAGE_KIND) == 0;
}

bool formats_other(const char *name, const uint8_t *bytes, size_t n)
{
    return name != NULL ? strcmp(name, FORMATS_OWN) != 0
                        : !formats_own(bytes, n);
}

/* Returns the kind whose files begin like these n bytes of `all`, or NULL. */
static const bly_kind *formats_look(const uint8_t *bytes, size_t n,
                                    uint64_t all)
{
    size_t look = n < KIND_LOOK ? n : KIND_LOOK;
    for (const bly_kind *const *k = registry_foreign; *k != NULL; k++)
        if ((*k)->foreign->looks != NULL
            && (*k)->foreign->looks(bytes, look, all))
            return *k;
    return NULL;
}

const char *bly_recognise(const void *bytes, size_t n, uint64_t all)
{
    if (formats_own(bytes, n))
        return FORMATS_OWN;
    const bly_kind *kind = formats_look(bytes, n, all);
    return kind != NULL ? kind->name : NULL;
}

static bly_status formats_unknown(const char *name)
{
    char known[REGISTRY_LINE] = "";
    for (const bly_kind *const *k = registry_foreign; *k != NULL; k++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s",
                 used > 0 ? ", " : "", (*k)->name);
    }
    return status_fail(BLY_EPARAM, "unknown format '%.40s'" REGISTRY_HERE ": "
                       "choose one of %s", name, *known ? known : "none");
}

/* Finds the kind for a name with its options: "squid:method=post". */
static bly_status formats_named(formats_found *out, const char *name)
{
    const bly_kind *kind = registry_find(name, strcspn(name, ":"));
    if (kind == NULL || kind->foreign == NULL)
        return formats_unknown(name);
    return registry_parse(&out->kind, out->option, name);
}

bly_status formats_choose(formats_found *out, const char *name,
                          const uint8_t *bytes, size_t n, uint64_t all)
{
    const bly_kind *found = name != NULL ? NULL : formats_look(bytes, n, all);
    if (name != NULL) {
        bly_status status = formats_named(out, name);
        if (status != BLY_OK)
            return status;
    }
    if (name != NULL && formats_own(bytes, n))
        return status_fail(BLY_EFORMAT, "this is a Bloomery filter: leave the "
                           "format %s out", name);
    if (name != NULL)
        return BLY_OK;
    if (found == NULL && n >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B)
        return status_fail(BLY_EFORMAT, "not a filter, but a file compressed "
                           "by gzip: decompress it first (gzip -dc)");
    if (found == NULL && n == 0)
        return status_fail(BLY_EFORMAT, "it is empty, not a filter: name "
                           "another file");
    if (found == NULL && n >= 4 && memcmp(bytes, "PAR1", 4) == 0)
        return status_fail(BLY_EFORMAT, "a Parquet file, or a part of one: its "
                           "filters are inside, and its end says where "
                           "(bly_container_open)");
    if (found == NULL && n >= 3 && memcmp(bytes, "ORC", 3) == 0)
        return status_fail(BLY_EFORMAT, "an ORC file, or a part of one: its "
                           "filters are inside, and its end says where "
                           "(bly_container_open)");
    if (found == NULL && n >= strlen(FORMATS_INDEX)
        && memcmp(bytes, FORMATS_INDEX, strlen(FORMATS_INDEX)) == 0)
        return status_fail(BLY_EFORMAT, "an index of many files, not a filter: "
                           "query it (bly_index_which) with 'bloomery which' "
                           "or 'bloomery search'");
    if (found == NULL)
        return status_fail(BLY_EFORMAT, "not a Bloomery filter (it does not "
                           "begin with \"%s\"), nor of a format that its bytes "
                           "show" REGISTRY_HERE ": name another file, or give "
                           "its format", FORMATS_OWN);
    return registry_parse(&out->kind, out->option, found->name);
}

bly_status formats_head(uint8_t header[IMAGE_HEADER],
                        const formats_found *format, const uint8_t *file,
                        uint64_t bytes)
{
    const bly_kind *kind = format->kind;
    kind_found found = { .capacity = 0 };
    bly_plan_t plan = { .bytes = 0 };
    bly_status status = kind_plan_bytes(&plan, bytes);
    if (status == BLY_OK)
        status = kind->foreign->read(&found, file, bytes);
    if (status == BLY_OK)
        status = kind_check_reach(kind->foreign, found.geometry, bytes);
    if (status == BLY_OK && kind->foreign->told != NULL)
        status = kind->foreign->told(found.geometry, format->option);
    if (status != BLY_OK)
        return status;
    strcpy(plan.kind, kind->name);
    plan.capacity = found.capacity + (found.capacity == 0);
    plan.rate = kind->foreign->rate != NULL ? kind->foreign->rate(&found, file)
                                            : found.rate;
    memcpy(plan.geometry, found.geometry, sizeof found.geometry);
    image_format(header, &plan, kind->version, 0, hash_list[0].name);
    image_set_u64(header, IMAGE_ITEMS, found.items);
    image_unseal(header);
    return BLY_OK;
}

/* ---- The listing ------------------------------------------------------- */

static bly_format_info formats_infos[REGISTRY_OTHERS + 1];
static const bly_format_info *formats_list[REGISTRY_OTHERS + 1];

static void formats_fill(void)
{
    for (size_t i = 0; registry_foreign[i] != NULL; i++) {
        const bly_kind *kind = registry_foreign[i];
        formats_infos[i] = (bly_format_info){
            .kind = bly_kind_find(kind->name),
            .writer = kind->foreign->writer,
            .recognised = kind->foreign->looks != NULL,
            .numbers = kind->foreign->numbers,
            .told = kind->foreign->fields,
        };
        formats_list[i] = &formats_infos[i];
    }
}

const bly_format_info *const *bly_formats(size_t *n)
{
    static threads_once once = THREADS_ONCE;
    threads_do_once(&once, formats_fill);
    if (n != NULL)
        *n = REGISTRY_OTHERS;
    return formats_list;
}
