/* machine.c - the machine, compiler and library behind the numbers. */
#include "machine.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* Returns the processor's name, or its family if the system does not say. */
static void machine_processor(char *name, size_t room)
{
    char line[256];
    struct utsname machine;
    snprintf(name, room, "%s", uname(&machine) == 0 ? machine.machine
                                                    : "unknown");
    FILE *cpu = fopen("/proc/cpuinfo", "r");
    while (cpu != NULL && fgets(line, sizeof line, cpu) != NULL)
        if (strncmp(line, "model name", 10) == 0
            && strchr(line, ':') != NULL) {
            line[strcspn(line, "\n")] = '\0';
            const char *value = strchr(line, ':') + 1;
            snprintf(name, room, "%s", value + strspn(value, " "));
            break;
        }
    if (cpu != NULL)
        fclose(cpu);
}

void machine_print(const bly_processor_t *used)
{
    char processor[256];
    machine_processor(processor, sizeof processor);
    printf("%s\nin force: instructions %s (BLY_CPU), %" PRIu32 " keys ahead, "
           "%" PRIu32 " up\nto 8 times near (BLY_AHEAD), %" PRIu64 " KiB near "
           "(BLY_NEAR)\n%ld cores, %.1f GiB, Bloomery %s\n", processor,
           used->instructions, used->ahead, used->ahead_cached,
           used->near_bytes >> 10,
           sysconf(_SC_NPROCESSORS_ONLN),
           (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE)
           / (1 << 30), bly_version());
}

void machine_write_head(FILE *csv, const bly_processor_t *used,
                        const char *commit, const char *statistic)
{
    char processor[256], date[32];
    time_t now = time(NULL);
    struct tm day;
    machine_processor(processor, sizeof processor);
    strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", gmtime_r(&now, &day));
    fprintf(csv, "# processor: %s\n# cores: %ld\n", processor,
            sysconf(_SC_NPROCESSORS_ONLN));
#if defined(__clang__)
    fprintf(csv, "# compiler: clang %d.%d.%d\n", __clang_major__,
            __clang_minor__, __clang_patchlevel__);
#else
    fprintf(csv, "# compiler: gcc %s\n", __VERSION__);
#endif
    fprintf(csv, "# date: %s\n# version: %s\n# commit: %s\n", date,
            bly_version(), commit);
    fprintf(csv, "# instructions: %s\n# ahead: %" PRIu32
            "\n# ahead in the cache: %" PRIu32 "\n# near: %" PRIu64
            "\n# statistic: %s\n", used->instructions, used->ahead,
            used->ahead_cached, used->near_bytes >> 10, statistic);
}
