#ifndef BLY_ADVISE_COSTS_H
#define BLY_ADVISE_COSTS_H
#include "bloomery.h"
static const bly_line_cost advise_line_costs[] = {
    { 65536, 2.0 }, { 16777216, 5 }, { 268435456, 12 },
};
static const bly_cost advise_kind_costs[] = {
    { "blocked", { { 2, 2, 2, 4 }, { 3, 3, 3, 5 }, { 4, 4, 4, 8 } } },
};
#endif
