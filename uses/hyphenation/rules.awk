# rules.awk - divide German words before the last consonant of several: one word
# a line; prints it, a TAB and its parts. With -v hard=1 as the old orthography
# had it: st is not divided, and ck becomes k-k.
#
# What is one sound is one byte while the rules work: vowels in UTF-8, and ch,
# sch, ph, and st where it must stay whole.
BEGIN {
    FS = "\t"
    n = split("Ä ä Ö ö Ü ü é sch ch ph", whole, " ")
    if (hard)
        whole[++n] = "st"
    for (i = 1; i <= n; i++)
        byte[i] = sprintf("%c", i)
    vowel = "^[aeiouyAEIOUY\001-\007]$"
    sound = "^[a-zA-Z\001-\013]$"
}
{
    word = $1
    for (i = 1; i <= n; i++)
        gsub(whole[i], byte[i], word)
    parts = substr(word, 1, 1)
    opened = parts ~ vowel
    for (i = 2; i <= length(word); i++) {
        c = substr(word, i, 1)
        if (opened && c !~ vowel && c ~ sound &&
            substr(word, i + 1, 1) ~ vowel) {
            if (hard && c == "k")
                sub(/c$/, "k", parts)
            parts = parts "-"
        }
        parts = parts c
        opened = opened || c ~ vowel
    }
    for (i = 1; i <= n; i++)
        gsub(byte[i], whole[i], parts)
    print $1 "\t" parts
}
