/* attach.c - loads a filter of networks into the kernel, which drops packets
 * from them.
 *
 *   attach INTERFACE XDP.O FILTER LENGTH... attach INTERFACE off
 *
 * FILTER is of kind "blocked", with hash "xxh3" and seed 0. A key has five
 * bytes: the address, and the length, which is one of these. An earlier filter
 * is replaced at once: to change the list, attach the next filter.
 */
#include <bloomery/inline.h>

#include "xdp.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int stop(const char *what, const char *why)
{
    fprintf(stderr, "attach: %s: %s\n", what, why);
    return 2;
}

static int quiet(enum libbpf_print_level level, const char *format,
                 va_list values)
{
    return level == LIBBPF_WARN && getenv("XDP_VERBOSE") != NULL
         ? vfprintf(stderr, format, values) : 0;
}

/* Copies the image to the map, which is as long in memory. */
static int copy_image(int map, const void *image, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t room = (bytes + page - 1) / page * page;
    void *there = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
    if (there == MAP_FAILED)
        return -errno;
    memcpy(there, image, bytes);
    munmap(there, room);
    return 0;
}

static int attach(int interface, const char *path, const bly_filter *filter,
                  struct about *is)
{
    bly_inline_blocked view;
    bly_info_t stat;
    size_t bytes;
    __u32 zero = 0;
    const __u8 *image = bly_image(filter, &bytes);
    if (image == NULL || bly_inline_blocked_of(&view, filter) < 0 ||
        bly_info(&stat, filter) < 0)
        return stop("the filter", bly_why());
    if (strcmp(stat.hash, "xxh3") != 0 || stat.seed != 0 ||
        view.lines >> 32 != 0 || bytes % LINE != 0)
        return stop("the filter", "hash xxh3 and seed 0 are wanted");
    is->lines = view.lines;
    is->k = view.k;
    is->first = (__u32)((size_t)(view.payload - image) / LINE);
    struct bpf_object *object = bpf_object__open_file(path, NULL);
    if (object == NULL)
        return stop(path, strerror(errno));
    struct bpf_map *map = bpf_object__find_map_by_name(object, "image");
    struct bpf_map *about = bpf_object__find_map_by_name(object, "about");
    struct bpf_program *program =
        bpf_object__find_program_by_name(object, "blacklist");
    if (map == NULL || about == NULL || program == NULL)
        return stop(path, "this is not xdp.o");
    int failed = bpf_map__set_max_entries(map, (__u32)(bytes / LINE));
    if (failed == 0)
        failed = bpf_object__load(object);
    if (failed == 0)
        failed = copy_image(bpf_map__fd(map), image, bytes);
    if (failed == 0)
        failed = bpf_map_update_elem(bpf_map__fd(about), &zero, is, BPF_ANY);
    if (failed == 0)
        failed = bpf_xdp_attach(interface, bpf_program__fd(program), 0, NULL);
    bpf_object__close(object);
    return failed == 0 ? 0 : stop("the kernel", strerror(-failed));
}

int main(int argc, char **argv)
{
    struct about is = { .lines = 0 };
    bly_filter *filter = NULL;
    int interface = argc > 1 ? (int)if_nametoindex(argv[1]) : 0;
    libbpf_set_print(quiet);
    if (argc > 1 && interface == 0)
        return stop(argv[1], strerror(errno));
    if (argc == 3 && strcmp(argv[2], "off") == 0) {
        int failed = bpf_xdp_detach(interface, 0, NULL);
        return failed == 0 ? 0 : stop("the kernel", strerror(-failed));
    }
    if (argc < 5 || argc > 4 + MOST_LENGTHS)
        return stop("usage", "attach INTERFACE XDP.O FILTER LENGTH...");
    for (int i = 4; i < argc; i++) {
        long length = strtol(argv[i], NULL, 10);
        if (length < 1 || length > 32)
            return stop(argv[i], "a length of 1 to 32 is wanted");
        is.lengths[i - 4] = (__u32)length;
    }
    if (bly_open(&filter, argv[3], BLY_MAP | BLY_VERIFY, NULL) < 0)
        return stop(argv[3], bly_why());
    int failed = attach(interface, argv[2], filter, &is);
    bly_free(filter);
    return failed;
}
