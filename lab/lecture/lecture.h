/* lecture.h - the parts of this paper's program: others.c. */
#ifndef LAB_LECTURE_H
#define LAB_LECTURE_H

#include "lab.h"

/* The figure `others`: bytes and times beside what keeps the keys. */
void lecture_others(lab *l);

#endif /* LAB_LECTURE_H */
