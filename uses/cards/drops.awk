# drops.awk - the exact chance that a card of D descriptors drops by chance, of 40
# sites with 4 notches each.
#
#   awk -v d=D -v needles=U -f drops.awk        for needles at so many sites
#   awk -v d=D -v asked=Q -f drops.awk          for so many descriptors

function choose(n, k,  p, i) {
    p = k <= n
    for (i = 0; i < k; i++)
        p *= (n - i) / (k - i)
    return p
}

# All u sites are notched: by what is on none of j of them, with signs.
function notched(u,  j, p) {
    p = 0
    for (j = 0; j <= u; j++)
        p += (j % 2 ? -1 : 1) * choose(u, j) * (choose(40 - j, 4) / choose(40, 4)) ^ d
    return p
}

BEGIN {
    if (needles) {
        printf "%.9f\n", notched(needles)
        exit
    }
    chance[0] = 1                       # of so many sites, of all descriptors
    for (i = 0; i < asked; i++) {
        for (u = 0; u <= 40; u++)
            for (k = 0; k <= 4; k++)    # sites that are new
                next_[u + k] += chance[u] * choose(40 - u, k) * choose(u, 4 - k) / choose(40, 4)
        for (u = 0; u <= 40; u++) {
            chance[u] = next_[u]
            next_[u] = 0
        }
    }
    for (u = 0; u <= 4 * asked; u++)
        sum += chance[u] * notched(u)
    printf "%.9f\n", sum
}
