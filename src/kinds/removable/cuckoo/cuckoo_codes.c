/* cuckoo_codes.c - the multisets of four sorted prefixes, in order.
 */
#include "kinds/removable/cuckoo/cuckoo.h"

/* CUCKOO_D_3(p) writes the codes of all d from 3 on behind the digits p,
 * CUCKOO_C_3(p) the codes of all c from 3 on, and so on. CUCKOO_B_0(0) to
 * CUCKOO_B_15(15) are the codes of every a. */
#define CUCKOO_D_15(p) (p) | 15 << 12,
#define CUCKOO_D_14(p) (p) | 14 << 12, CUCKOO_D_15(p)
#define CUCKOO_D_13(p) (p) | 13 << 12, CUCKOO_D_14(p)
#define CUCKOO_D_12(p) (p) | 12 << 12, CUCKOO_D_13(p)
#define CUCKOO_D_11(p) (p) | 11 << 12, CUCKOO_D_12(p)
#define CUCKOO_D_10(p) (p) | 10 << 12, CUCKOO_D_11(p)
#define CUCKOO_D_9(p)  (p) |  9 << 12, CUCKOO_D_10(p)
#define CUCKOO_D_8(p)  (p) |  8 << 12, CUCKOO_D_9(p)
#define CUCKOO_D_7(p)  (p) |  7 << 12, CUCKOO_D_8(p)
#define CUCKOO_D_6(p)  (p) |  6 << 12, CUCKOO_D_7(p)
#define CUCKOO_D_5(p)  (p) |  5 << 12, CUCKOO_D_6(p)
#define CUCKOO_D_4(p)  (p) |  4 << 12, CUCKOO_D_5(p)
#define CUCKOO_D_3(p)  (p) |  3 << 12, CUCKOO_D_4(p)
#define CUCKOO_D_2(p)  (p) |  2 << 12, CUCKOO_D_3(p)
#define CUCKOO_D_1(p)  (p) |  1 << 12, CUCKOO_D_2(p)
#define CUCKOO_D_0(p)  (p) |  0 << 12, CUCKOO_D_1(p)

#define CUCKOO_C_15(p) CUCKOO_D_15((p) | 15 << 8)
#define CUCKOO_C_14(p) CUCKOO_D_14((p) | 14 << 8) CUCKOO_C_15(p)
#define CUCKOO_C_13(p) CUCKOO_D_13((p) | 13 << 8) CUCKOO_C_14(p)
#define CUCKOO_C_12(p) CUCKOO_D_12((p) | 12 << 8) CUCKOO_C_13(p)
#define CUCKOO_C_11(p) CUCKOO_D_11((p) | 11 << 8) CUCKOO_C_12(p)
#define CUCKOO_C_10(p) CUCKOO_D_10((p) | 10 << 8) CUCKOO_C_11(p)
#define CUCKOO_C_9(p)  CUCKOO_D_9((p)  |  9 << 8) CUCKOO_C_10(p)
#define CUCKOO_C_8(p)  CUCKOO_D_8((p)  |  8 << 8) CUCKOO_C_9(p)
#define CUCKOO_C_7(p)  CUCKOO_D_7((p)  |  7 << 8) CUCKOO_C_8(p)
#define CUCKOO_C_6(p)  CUCKOO_D_6((p)  |  6 << 8) CUCKOO_C_7(p)
#define CUCKOO_C_5(p)  CUCKOO_D_5((p)  |  5 << 8) CUCKOO_C_6(p)
#define CUCKOO_C_4(p)  CUCKOO_D_4((p)  |  4 << 8) CUCKOO_C_5(p)
#define CUCKOO_C_3(p)  CUCKOO_D_3((p)  |  3 << 8) CUCKOO_C_4(p)
#define CUCKOO_C_2(p)  CUCKOO_D_2((p)  |  2 << 8) CUCKOO_C_3(p)
#define CUCKOO_C_1(p)  CUCKOO_D_1((p)  |  1 << 8) CUCKOO_C_2(p)
#define CUCKOO_C_0(p)  CUCKOO_D_0((p)  |  0 << 8) CUCKOO_C_1(p)

#define CUCKOO_B_15(p) CUCKOO_C_15((p) | 15 << 4)
#define CUCKOO_B_14(p) CUCKOO_C_14((p) | 14 << 4) CUCKOO_B_15(p)
#define CUCKOO_B_13(p) CUCKOO_C_13((p) | 13 << 4) CUCKOO_B_14(p)
#define CUCKOO_B_12(p) CUCKOO_C_12((p) | 12 << 4) CUCKOO_B_13(p)
#define CUCKOO_B_11(p) CUCKOO_C_11((p) | 11 << 4) CUCKOO_B_12(p)
#define CUCKOO_B_10(p) CUCKOO_C_10((p) | 10 << 4) CUCKOO_B_11(p)
#define CUCKOO_B_9(p)  CUCKOO_C_9((p)  |  9 << 4) CUCKOO_B_10(p)
#define CUCKOO_B_8(p)  CUCKOO_C_8((p)  |  8 << 4) CUCKOO_B_9(p)
#define CUCKOO_B_7(p)  CUCKOO_C_7((p)  |  7 << 4) CUCKOO_B_8(p)
#define CUCKOO_B_6(p)  CUCKOO_C_6((p)  |  6 << 4) CUCKOO_B_7(p)
#define CUCKOO_B_5(p)  CUCKOO_C_5((p)  |  5 << 4) CUCKOO_B_6(p)
#define CUCKOO_B_4(p)  CUCKOO_C_4((p)  |  4 << 4) CUCKOO_B_5(p)
#define CUCKOO_B_3(p)  CUCKOO_C_3((p)  |  3 << 4) CUCKOO_B_4(p)
#define CUCKOO_B_2(p)  CUCKOO_C_2((p)  |  2 << 4) CUCKOO_B_3(p)
#define CUCKOO_B_1(p)  CUCKOO_C_1((p)  |  1 << 4) CUCKOO_B_2(p)
#define CUCKOO_B_0(p)  CUCKOO_C_0((p)  |  0 << 4) CUCKOO_B_1(p)

const uint16_t cuckoo_prefixes[(1 << CUCKOO_CODE) + 2] = {
    CUCKOO_B_0(0)   CUCKOO_B_1(1)   CUCKOO_B_2(2)   CUCKOO_B_3(3)
    CUCKOO_B_4(4)   CUCKOO_B_5(5)   CUCKOO_B_6(6)   CUCKOO_B_7(7)
    CUCKOO_B_8(8)   CUCKOO_B_9(9)   CUCKOO_B_10(10) CUCKOO_B_11(11)
    CUCKOO_B_12(12) CUCKOO_B_13(13) CUCKOO_B_14(14) CUCKOO_B_15(15)
};

const uint16_t cuckoo_after[3][16] = {
    { 3060, 2380, 1820, 1365, 1001, 715, 495, 330,
      210, 126, 70, 35, 15, 5, 1, 0 },
    { 680, 560, 455, 364, 286, 220, 165, 120, 84, 56, 35, 20, 10, 4, 1, 0 },
    { 120, 105, 91, 78, 66, 55, 45, 36, 28, 21, 15, 10, 6, 3, 1, 0 },
};
