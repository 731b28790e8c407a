/* fold.h - case folding of words in all alphabets.
 *
 * Both sides of a search must fold alike. A library built without Unicode's
 * tables folds ASCII words, like every library, and ends the program at others.
 */
#ifndef USES_FOLD_H
#define USES_FOLD_H

#include <bloomery/form.h>
#include <stdlib.h>

enum { FOLD_TIMES = 3 };                /* growth in bytes, at most          */

static int stop(const char *what, const char *why);     /* the program's     */

/* Writes a word of n bytes folded, and returns its number of bytes. In bytes
 * that are not UTF-8, A to Z become a to z. */
static size_t fold_word(char *to, const char *word, size_t n)
{
    const bly_value value = { .type = BLY_TEXT, .data = word, .length = n };
    uint64_t form = BLY_KEYS_TEXT | BLY_FORM_LOWER;
    bly_key key;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)word[i] >= 0x80)
            form = BLY_KEYS_TEXT | BLY_FORM_FOLD;
    bly_status status = bly_form_key(&key, form, &value, to);
    if (status == BLY_EPARAM)
        status = bly_form_key(&key, BLY_KEYS_TEXT | BLY_FORM_LOWER, &value, to);
    if (status < 0)
        exit(stop("a word with letters beyond ASCII", bly_why()));
    return key.length;
}

#endif /* USES_FOLD_H */
