package bloomery

import (
	"fmt"
	"testing"

	"bloomery.invalid/bloomery/reader"
)

// The benchmarks look up absent and present keys in equal shares, in a filter that
// fits the cache and in one that does not: go test -bench .

var sizes = []int{10_000, 20_000_000}

// half returns as many keys as asked, of which every other is one of n integers.
func half(n, asked int) []uint64 {
	keys := make([]uint64, asked)
	x := uint64(1)
	for i := range keys {
		x = x*6364136223846793005 + 1442695040888963407
		keys[i] = x>>20%uint64(n) + uint64(i%2)<<40
	}
	return keys
}

func filled(b *testing.B, kind string, n int) *Filter {
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = uint64(i)
	}
	f := must(Build(kind, keys))(b)
	b.Cleanup(func() { f.Close() })
	return f
}

func overKinds(b *testing.B, run func(b *testing.B, f *Filter, keys []uint64)) {
	for _, n := range sizes {
		for _, kind := range []string{"blocked", "standard", "fuse"} {
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) {
				f := filled(b, kind, n)
				b.ResetTimer()
				run(b, f, half(n, 1<<16))
			})
		}
	}
}

func BenchmarkContains(b *testing.B) {
	overKinds(b, func(b *testing.B, f *Filter, keys []uint64) {
		for i := 0; i < b.N; i++ {
			f.Contains(keys[i%len(keys)])
		}
	})
}

func BenchmarkContainsMany(b *testing.B) {
	overKinds(b, func(b *testing.B, f *Filter, keys []uint64) {
		for i := 0; i < b.N; i += len(keys) {
			f.ContainsMany(keys)
		}
	})
}

func BenchmarkContainsManyStrings(b *testing.B) {
	keys := texts(1 << 16)
	f := must(Build("blocked", keys))(b)
	b.ResetTimer()
	for i := 0; i < b.N; i += len(keys) {
		f.ContainsMany(keys)
	}
}

func BenchmarkReader(b *testing.B) {
	overKinds(b, func(b *testing.B, f *Filter, keys []uint64) {
		r := must(reader.Parse(must(f.Pack())(b)))(b)
		b.ResetTimer()
		for i := 0; i < b.N; i++ {
			r.Contains(keys[i%len(keys)])
		}
	})
}

func BenchmarkAddMany(b *testing.B) {
	keys := half(1<<30, 1<<16)
	f := must(New("blocked", WithItems(1e6)))(b)
	b.ResetTimer()
	for i := 0; i < b.N; i += len(keys) {
		f.AddMany(keys)
	}
}
