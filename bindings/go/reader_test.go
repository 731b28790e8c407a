package bloomery

import (
	"errors"
	"fmt"
	"math"
	"math/rand"
	"strings"
	"testing"

	"bloomery.invalid/bloomery/reader"
)

// drawn is a filter with random options, and its keys.
type drawn struct {
	name   string
	filter *Filter
	secret *[16]byte
	keys   []any
}

// drawKey draws a key of a class; of numbers, one that the form can hold.
func drawKey(draw *rand.Rand, form string) any {
	text := fmt.Sprintf(" %x\t", draw.Int63()) + strings.Repeat("Ab ", draw.Intn(6))
	if draw.Intn(10) == 0 {
		text = strings.Repeat(text, draw.Intn(100))
	}
	switch {
	case form == "bytes" || form == "hex":
		return []byte(text)
	case form == "int32":
		return int32(draw.Uint32())
	case form == "float" || form == "double":
		return draw.NormFloat64()
	case form == "int64":
		return draw.Uint64()
	case form == "number" && draw.Intn(2) == 0:
		return math.Float64frombits(draw.Uint64())
	case form == "number":
		return int64(draw.Uint64())
	}
	return text
}

func drawFilter(t *testing.T, draw *rand.Rand) drawn {
	pick := func(from ...string) string { return from[draw.Intn(len(from))] }
	kind := pick("blocked", "standard", "fuse", "split", "standard:index=double,m=999,k=3",
		"standard:index=enhanced,m=1000,k=5", "standard:index=triple,m=777,k=4",
		"standard:index=seeds", "standard:index=step,m=5001,k=7", "fuse:bits=7",
		"standard:m=1,k=2", "fuse:bits=12,arity=4")
	form := pick("text", "bytes", "hex", "number", "int32", "int64", "float", "double",
		"any", "text:case=lower,trim", "text:case=upper")
	hash := pick("xxh3", "xxh3", "xxh64", "murmur2", "murmur3", "fnv1a", "siphash")
	if kind == "split" && hash == "fnv1a" {
		hash = "xxh64" // the kind refuses the weak bits of the other
	}
	rate := math.Pow(10, -1-3*draw.Float64())
	d := drawn{name: fmt.Sprint(kind, " ", form, " ", hash)}
	opts := []Option{WithKeys(form), WithHash(hash), WithRate(rate)}
	if hash == "siphash" {
		d.secret = new([16]byte)
		draw.Read(d.secret[:])
		opts = append(opts, WithSecret(*d.secret))
	} else {
		opts = append(opts, WithSeed(draw.Uint64()))
	}
	for n := 1 + draw.Intn(1+draw.Intn(3000)); n > 0; n-- {
		d.keys = append(d.keys, drawKey(draw, form))
	}
	// Build takes typed slices: of one class, so the first key says which.
	switch d.keys[0].(type) {
	case string:
		d.filter = must(Build(kind, typed[string](d.keys), opts...))(t)
	case []byte:
		d.filter = must(Build(kind, typed[[]byte](d.keys), opts...))(t)
	case int32:
		d.filter = must(Build(kind, typed[int32](d.keys), opts...))(t)
	case uint64:
		d.filter = must(Build(kind, typed[uint64](d.keys), opts...))(t)
	case int64:
		d.filter = must(Build(kind, typed[int64](d.keys), opts...))(t)
	default:
		d.filter = must(Build(kind, typed[float64](d.keys), opts...))(t)
	}
	return d
}

// typed returns the keys of one type; the others are lost.
func typed[K any](keys []any) (out []K) {
	for _, key := range keys {
		if k, ok := key.(K); ok {
			out = append(out, k)
		}
	}
	return out
}

func TestTheReaderAnswersLikeTheLibrary(t *testing.T) {
	draw := rand.New(rand.NewSource(7))
	for i := 0; i < 100; i++ {
		d := drawFilter(t, draw)
		image := must(d.filter.Pack())(t)
		r, err := reader.Parse(image)
		if d.secret != nil {
			if !errors.Is(err, reader.ErrSecret) {
				t.Fatal(d.name, err)
			}
			r, err = reader.ParseSecret(image, *d.secret)
		}
		if err != nil {
			t.Fatal(d.name, err)
		}
		form := must(d.filter.Info())(t).Keys
		for n := 0; n < 300; n++ {
			d.keys = append(d.keys, drawKey(draw, form))
		}
		for _, key := range append(d.keys, "", "x", []byte{}, 7, -1, 1.5, uint64(1<<63),
			float32(2), 1<<40, math.NaN()) {
			want, first := d.filter.Contains(key)
			got, second := r.Contains(key)
			if got != want || (first == nil) != (second == nil) {
				t.Fatalf("%s: %T %v: %v, %v, but the reader says %v, %v", d.name, key,
					key, want, first, got, second)
			}
		}
		d.filter.Close()
	}
}

func TestTheReaderReadsLargeFilters(t *testing.T) {
	keys := make([]uint64, 3000000)
	for i := range keys {
		keys[i] = uint64(i) * 3
	}
	for _, kind := range []string{"fuse", "blocked"} {
		f := must(Build(kind, keys))(t)
		r := must(reader.Parse(must(f.Pack())(t)))(t)
		ours := must(f.ContainsMany(keys[:50000]))(t)
		for i := range ours {
			if !ours[i] || !must(r.Contains(keys[i]))(t) {
				t.Fatal(kind, i)
			}
			if must(f.Contains(i))(t) != must(r.Contains(i))(t) {
				t.Fatal(kind, i)
			}
		}
	}
}
