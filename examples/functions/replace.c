/* replace.c - replaces a file atomically.
 */
#include <bloomery.h>
#include <bloomery/replace.h>

#include <err.h>
#include <stdio.h>
#include <unistd.h>

static void replace(const char *text, size_t length)
{
    /* example */
    bly_replacement *new;
    int file;
    if (bly_replace(&new, &file, "list.txt") < 0)
        errx(1, "%s", bly_why());
    if (write(file, text, length) != (ssize_t)length) {
        bly_replace_drop(new);          /* the old file stays              */
        err(1, "list.txt");
    }
    if (bly_replace_end(new) < 0)
        errx(1, "%s", bly_why());
    /* end */
}

int main(void)
{
    char word[8] = "";
    replace("old\n", 4);
    replace("new\n", 4);
    FILE *file = fopen("list.txt", "r");
    if (file == NULL || fgets(word, sizeof word, file) == NULL ||
        word[0] != 'n')
        errx(1, "the file was not replaced");
    fclose(file);
    remove("list.txt");
}
