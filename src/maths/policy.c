/* policy.c - RocksDB's filter policies (policy.h). */
#include "maths/policy.h"

#include <math.h>
#include <stddef.h>

uint64_t policy_probes(uint64_t thousandths)
{
    static const uint64_t most[] = {
        2080, 3580, 5100, 6640, 8300, 10070, 11720, 14001, 16050, 18300, 22001,
        25501,
    };
    for (size_t i = 0; i < sizeof most / sizeof *most; i++)
        if (thousandths <= most[i])
            return i + 1;
    return thousandths > 50000 ? 24 : (thousandths - 1) / 2000 - 1;
}

/* Returns the rate of a line with so many keys. */
static double policy_line_rate(double keys, uint64_t probes)
{
    double bits = POLICY_LINE / keys;
    return pow(1 - exp(-(double)probes / bits), (double)probes);
}

double policy_one_in(uint64_t thousandths)
{
    if (thousandths > 1000 * POLICY_BITS_MOST)
        thousandths = 1000 * POLICY_BITS_MOST;
    uint64_t probes = policy_probes(thousandths);
    double keys = POLICY_LINE / ((double)thousandths / 1000);
    double more = policy_line_rate(keys + sqrt(keys), probes);
    double less = policy_line_rate(keys - sqrt(keys), probes);
    return 1 / ((more + less) / 2);
}
