"""The words of documents, as `bloomery dedup` divides text into them."""
import re

BLANK = " \t\n\v\f\r"


def words_of(text):
    words = []
    for word in re.split("[" + BLANK + "]+", text):
        words += re.findall("[\u2e80-\U0010ffff]|[^\u2e80-\U0010ffff]+", word)
    return words
