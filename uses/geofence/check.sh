# check.sh - geofence: no cell gets a less important zone or none, and errors
# upwards are as frequent as the formulas of the zones say.
. "${1:?}/lib.sh"

# From m, k and the sizes of zones, prints for each zone: strangers assigned to
# it, its members assigned to a higher one, its emersion, and its cells.
cat >formula.awk <<'END'
function phi(n) { return 1 - exp(k * n * log(1 - 1 / m)) }
BEGIN {
    n = split(sizes, size, " ")
    for (a = 1; a <= n; a++) {
        above = 0
        for (b = a + 1; b <= n; b++)
            above += size[b]
        print phi(above + size[a]) ^ k - phi(above) ^ k, phi(above) ^ k,
              1 - phi(above), m * phi(size[a]) * (1 - phi(above))
    }
}
END

# members_are_right NAME FILTER MEMBERS: all are found, in no lower zone.
members_are_right() {
    "$BLOOMERY" get "$2" "$3.keys" >got
    check "$1: every cell has a zone" test "$(wc -l <got)" = \
        "$(wc -l <"$3.keys")"
    check "$1: none in a less important one" awk -F '\t' 'FNR == NR {
        zone[$2] = $1; top = $1 > top ? $1 : top; next }
        $1 < zone[$2] || (zone[$2] == top && $1 != top) || !($2 in zone) {
            exit 1 }' "$3" got
}

# ---- Published figures -------------------------------------------------------

# m, k, zones, their sizes; strangers assigned to each; mistaken; emersion;
# cells; 0 if unknown.
while IFS='|' read -r m k sizes strangers mistaken emersion cells total; do
    echo "$strangers" | tr ' ' '\n' | grep . >known.strangers
    echo "$mistaken" | tr ' ' '\n' | grep . >known.mistaken
    echo "$emersion" | tr ' ' '\n' | grep . >known.emersion
    echo "$cells" | tr ' ' '\n' | grep . >known.cells
    awk -v m="$m" -v k="$k" -v sizes="$sizes" -f formula.awk >zones
    paste known.strangers known.mistaken known.emersion known.cells zones >both
    areas=$(echo "$sizes" | wc -w)
    check "m=$m: the known figures" awk '
        function off(known, f, unit) {
            return known != "-" && (known - f) ^ 2 > (.51 * unit) ^ 2 }
        off($1, $5, 1e-6) || off($2, $6, 1e-6) || off($3, $7, 1e-4) ||
        off($4, $8, .1) { exit 1 }' both
    check "m=$m: strangers said to be in any zone" awk -v known="$total" \
        '{ sum += $1 } END { exit (sum - known) ^ 2 > 3e-13 }' zones
    awk -v sizes="$sizes" 'BEGIN { n = split(sizes, s, " ")
        for (a = n; a >= 1; a--) for (i = 0; i < s[a]; i++)
            print a "\tcell " a "/" i }' >cells.tsv
    cut -f 2 cells.tsv >cells.tsv.keys
    seq -f 'stranger %.0f' "$(work 20000 50000)" >strangers
    : >all.strangers
    : >all.members
    seeds=$(work 5 40)
    for seed in $(seq "$seeds"); do
        "$BLOOMERY" build --overfill --force -s "$seed" -l 1 -o zones.bly -n 1 \
            -k "spatial:areas=$areas,m=$m,k=$k" cells.tsv 2>build.err
        "$BLOOMERY" get zones.bly strangers | cut -f 1 >>all.strangers || true
        "$BLOOMERY" get zones.bly cells.tsv.keys | awk -F '\t' 'FNR == NR {
            zone[$2] = $1; next } { print zone[$2], $1 }' cells.tsv - \
            >>all.members
    done
    members_are_right "m=$m" zones.bly cells.tsv
    "$BLOOMERY" info --json zones.bly | sed -n 's/^ *"fill": \([^,]*\),*$/\1/p' |
        tail -n +2 | paste - zones >fills
    check "m=$m: cells of each zone: as predicted, within 4 sigma" awk -v m="$m" \
        '($1 * m - $5) ^ 2 > 16 * $5 + 1 { exit 1 }' fills
    for zone in $(seq "$areas"); do
        in_band "m=$m: strangers in zone $zone" \
            "$(grep -cx "$zone" all.strangers || true)" \
            $((seeds * $(wc -l <strangers))) \
            "$(awk -v z="$zone" 'NR == z { printf "%.9f", $1 }' zones)"
        in_band "m=$m: cells of zone $zone taken for more important" \
            "$(awk -v z="$zone" '$1 == z && $2 > z { n++ }
                END { print n + 0 }' all.members)" \
            "$(grep -c "^$zone " all.members)" \
            "$(awk -v z="$zone" 'NR == z { printf "%.9f", $2 }' zones)"
    done
done <<'END'
16384|6|500 500 500 500|.013903 .004870 .000810 .000022|.005701 .000832 - -|.5773 .6933 .8327 1|1582.7 1900.8 2282.7 2741.4|.019604
8192|4|1000 500 250 125 62|.121792 .016811 .001306 .000057 .000001|.018174 - - - -|- - - - -|- - - - -|.139966
65536|8|4000 2000 1000|.011789 .000078 -|- - -|- - -|- - -|.011867
END

# ---- A map -------------------------------------------------------------------

# Cells of half a degree: three zones around a place, by great circles, and the
# places that name the world's time zones.
tab=$MACHINE/usr/share/zoneinfo/zone.tab
[ -r "$tab" ] || { absent 'a map' 'no zone.tab (Debian: tzdata)'; finish; }
cat >map.awk <<'END'
function name(lat, lon) { return lat "," lon }
function zone_of(lat, lon,  r, c) {     # the middle of a cell, in half degrees
    r = 3.14159265358979 / 180
    lat = (lat + .5) / 2 * r; lon = (lon + .5) / 2 * r
    c = sin(lat) * sin(52.5 * r) + cos(lat) * cos(52.5 * r) * cos(lon - 13.4 * r)
    c = atan2(sqrt(1 - c * c), c) * 6371
    return c < 300 ? 3 : c < 1000 ? 2 : c < 3000 ? 1 : 0
}
function floor(x) { return int(x) - (int(x) > x) }
function degrees(text,  n, sign) {      # +DDMM, +DDMMSS, +DDDMM or +DDDMMSS
    sign = substr(text, 1, 1) == "-" ? -1 : 1
    text = substr(text, 2)
    n = length(text)
    if (n >= 6)
        return sign * (int(text / 10000) + int(text / 100) % 100 / 60)
    return sign * (int(text / 100) + text % 100 / 60)
}
BEGIN {
    for (lat = -180; lat < 180; lat++)
        for (lon = -360; lon < 360; lon++) {
            zone = zone_of(lat, lon)
            if (zone) print zone "\t" name(lat, lon) >"map.tsv"
            else print name(lat, lon) >"outside"
        }
}
/^[^#]/ {
    split($2, part, /[+-]/)
    at = length(part[2]) + 2
    lat = floor(2 * degrees(substr($2, 1, at - 1)))
    lon = floor(2 * degrees(substr($2, at)))
    print name(lat, lon) "\t" $3 >"places"
    zone = zone_of(lat, lon)
    if (zone) print zone "\t" name(lat, lon) "\t" $3 >"wanted"
}
END
awk -f map.awk "$tab"
cut -f 2 map.tsv >map.tsv.keys
"$BLOOMERY" build -k spatial:areas=3 -p 0.001 -l 1 -o map.bly map.tsv
members_are_right 'the map' map.bly map.tsv
figure 'the map' "$(wc -l <map.tsv) cells in zones, $(wc -c <map.tsv) bytes, \
and the filter $(wc -c <map.bly)"
"$BLOOMERY" get map.bly outside | cut -f 1 >told || true
"$BLOOMERY" info --json map.bly >info
for zone in 1 2 3; do
    in_band "the map: outside, but said to be in zone $zone" \
        "$(grep -cx $zone told || true)" "$(wc -l <outside)" \
        "$(sed -n "/\"label\": $zone,/{n;n;s/^ *\"rate\": \([^,]*\),*$/\1/p;}" \
            info)"
done
"$BLOOMERY" get -f 1 map.bly places >got
check 'places of the world: all that are in a zone, and few others' awk -F '\t' '
    FNR == NR { zone[$3] = $1; n++; next }
    $3 in zone { found++; low += $1 < zone[$3]; next }
    { more++ }
    END { exit found != n || low || more > 5 }' wanted got
figure 'places of the world' "$(wc -l <places), in zones $(wc -l <wanted), \
told $(wc -l <got); the innermost has $(grep '^3' got | cut -f 3 | sort |
    tr '\n' ' ')"
printf '2\t105,26\n1\t105,26\n' | "$BLOOMERY" put map.bly
check 'a zone is never made less important' test "$("$BLOOMERY" get map.bly \
    --key 105,26 | cut -f 1)" = 3

# ---- A map in GeoJSON --------------------------------------------------------
if command -v python3 >python.log; then
    cells() { python3 "$USE/cells.py" "$@"; }
    n=$(work 3000 30000)
    python3 "$USE/model.py" map >zones.geojson
    python3 "$USE/model.py" positions "$n" >positions.csv
    python3 "$USE/model.py" exact <positions.csv >exact
    cells zones 0.001 <zones.geojson >cells.tsv
    cells positions 0.001 <positions.csv >positions
    "$BLOOMERY" build --force -k spatial:areas=3 -p 0.001 -l 1 -o zones.bly \
        cells.tsv
    "$BLOOMERY" get zones.bly positions | awk -F '\t' 'FNR == NR { zone[$2] = $1
        next } { print zone[$1] + 0 }' - positions | paste - exact >both
    check 'GeoJSON: no position in a less important zone' \
        awk '$1 < $2 { exit 1 }' both
    check 'GeoJSON: some are in each zone' test "$(cut -f 2 both | sort -u |
        wc -l)" = 4
    # A cell that a zone only touches counts as the zone's, and some strangers.
    check 'GeoJSON: few in a more important one' awk '$1 > $2 { more++ }
        END { exit more > NR / 10 }' both
    figure 'GeoJSON' "of $n positions $(awk '$2 > 0' both | wc -l) are in a zone, \
and $(awk '$1 > $2' both | wc -l) are told a more important one"
    printf '%s' '{"type":"FeatureCollection","features":[{"type":"Feature",
"properties":{},"geometry":{"type":"Point","coordinates":[2.3522,48.8566]}}]}' |
        cells positions 0.001 >cell
    check 'a point in GeoJSON' grep -qx '48.856,2.352' cell
    echo '-0.0005,-0.0005' | cells positions 0.001 >cell
    check 'south and west of 0' grep -qx -e '-0.001,-0.001' cell
    echo '[' >bad.geojson
    for wrong in 'zones 0.001' 'zones 0' 'zones x' 'areas 0.001'; do
        # shellcheck disable=SC2086  # two arguments
        check "refused: $wrong" sh -c '! python3 "$@" <bad.geojson' - \
            "$USE/cells.py" $wrong
    done
    echo '48.8,200' >bad.csv
    check 'refused: no position' sh -c '! python3 "$@" <bad.csv' - \
        "$USE/cells.py" positions 0.001
else
    skip 'a map in GeoJSON' 'no python3'
fi

printf '4\t1,1\n' >bad.tsv
refused 'a zone that there is not' 'bad.tsv.*4|4.*label' "$BLOOMERY" build \
    -k spatial:areas=3 -l 1 -o bad.bly bad.tsv
refused 'no number' 'x' "$BLOOMERY" put map.bly --label 1 /dev/stdin <<'END'
x	1,1
END
check 'and the filter is whole' "$BLOOMERY" check map.bly
finish
