package reader

import (
	"encoding/binary"
	"math/bits"
)

// The hash functions of docs/format/hashes.md. All read bytes with the lowest first.

func u32(b []byte) uint64 { return uint64(binary.LittleEndian.Uint32(b)) }
func u64(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }

// last returns up to 8 bytes as a number.
func last(b []byte) (h uint64) {
	for i, one := range b {
		h |= uint64(one) << (8 * i)
	}
	return h
}

// The functions by their places in hashNames.
const (
	byXXH3 = iota
	byXXH64
	byMurmur2
	byMurmur3
	byFNV1a
	byIdentity
	byDecimal
	bySipHash
)

var hashNames = []string{"xxh3", "xxh64", "murmur2", "murmur3", "fnv1a", "identity",
	"decimal", "siphash"}

// sum hashes a key. Through a table of functions, Go would allocate each key.
func (f *Filter) sum(key []byte) uint64 {
	switch f.hash {
	case byXXH3:
		return xxh3(key, f.seed)
	case byXXH64:
		return xxh64(key, f.seed)
	case byMurmur2:
		return murmur2(key, f.seed)
	case byMurmur3:
		return murmur3(key, f.seed)
	case byFNV1a:
		return fnv1a(key, f.seed)
	case byIdentity:
		return identity(key)
	case byDecimal:
		return decimal(key)
	}
	return siphash(f.secret, key)
}

func identity(key []byte) uint64 {
	if len(key) > 8 {
		return xxh3(key, 0)
	}
	return last(key)
}

func decimal(key []byte) (h uint64) {
	const none = 1<<64 - 1
	for _, one := range key {
		digit := uint64(one - '0')
		if digit > 9 || h > (none-digit)/10 {
			return none
		}
		h = 10*h + digit
	}
	if len(key) == 0 {
		return none
	}
	return h
}

func fnv1a(key []byte, seed uint64) uint64 {
	h := 0xcbf29ce484222325 ^ seed
	for _, one := range key {
		h = (h ^ uint64(one)) * 0x100000001b3
	}
	return h
}

// murmur2 is MurmurHash64A.
func murmur2(key []byte, seed uint64) uint64 {
	const m = 0xc6a4a7935bd1e995
	h := seed ^ uint64(len(key))*m
	for ; len(key) >= 8; key = key[8:] {
		w := u64(key) * m
		h = (h ^ (w^w>>47)*m) * m
	}
	if len(key) > 0 {
		h = (h ^ last(key)) * m
	}
	h = (h ^ h>>47) * m
	return h ^ h>>47
}

// murmur3 is the first half of MurmurHash3_x64_128.
func murmur3(key []byte, seed uint64) uint64 {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	n := uint64(len(key))
	a := uint64(uint32(seed ^ seed>>32))
	b := a
	one := func(w uint64) uint64 { return bits.RotateLeft64(w*c1, 31) * c2 }
	two := func(w uint64) uint64 { return bits.RotateLeft64(w*c2, 33) * c1 }
	mix := func(h uint64) uint64 {
		h = (h ^ h>>33) * 0xff51afd7ed558ccd
		h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
		return h ^ h>>33
	}
	for ; len(key) >= 16; key = key[16:] {
		a = (bits.RotateLeft64(a^one(u64(key)), 27)+b)*5 + 0x52dce729
		b = (bits.RotateLeft64(b^two(u64(key[8:])), 31)+a)*5 + 0x38495ab5
	}
	if len(key) > 8 {
		b ^= two(last(key[8:]))
		key = key[:8]
	}
	if len(key) > 0 {
		a ^= one(last(key))
	}
	a, b = a^n, b^n
	a += b
	b += a
	return mix(a) + mix(b)
}

// ---- SipHash-2-4 -------------------------------------------------------------------

// secretMark is hashed with a secret to make its mark.
const secretMark = "Bloomery: by which secret are these keys hashed?"

func siphash(secret *[16]byte, key []byte) uint64 {
	k0, k1 := u64(secret[:8]), u64(secret[8:])
	a, b := k0^0x736f6d6570736575, k1^0x646f72616e646f6d
	c, d := k0^0x6c7967656e657261, k1^0x7465646279746573
	rounds := func(n int) {
		for ; n > 0; n-- {
			a += b
			b = bits.RotateLeft64(b, 13) ^ a
			a = bits.RotateLeft64(a, 32)
			c += d
			d = bits.RotateLeft64(d, 16) ^ c
			a += d
			d = bits.RotateLeft64(d, 21) ^ a
			c += b
			b = bits.RotateLeft64(b, 17) ^ c
			c = bits.RotateLeft64(c, 32)
		}
	}
	length := uint64(len(key)) << 56
	for done := false; !done; {
		w := length
		if done = len(key) < 8; done {
			w |= last(key)
		} else {
			w, key = u64(key), key[8:]
		}
		d ^= w
		rounds(2)
		a ^= w
	}
	c ^= 0xff
	rounds(4)
	return a ^ b ^ c ^ d
}

// ---- XXH64 and XXH3 ----------------------------------------------------------------

const (
	prime32x1 = 0x9e3779b1
	prime32x2 = 0x85ebca77
	prime32x3 = 0xc2b2ae3d
	prime1    = 0x9e3779b185ebca87
	prime2    = 0xc2b2ae3d27d4eb4f
	prime3    = 0x165667b19e3779f9
	prime4    = 0x85ebca77c2b2ae63
	prime5    = 0x27d4eb2f165667c5
)

func avalanche64(h uint64) uint64 {
	h = (h ^ h>>33) * prime2
	h = (h ^ h>>29) * prime3
	return h ^ h>>32
}

func xxh64(key []byte, seed uint64) uint64 {
	n := uint64(len(key))
	round := func(sum, w uint64) uint64 {
		return bits.RotateLeft64(sum+w*prime2, 31) * prime1
	}
	h := seed + prime5
	if n >= 32 {
		sums := [4]uint64{seed + prime1, seed, seed, seed}
		sums[0] += prime2
		sums[1] += prime2
		sums[3] -= prime1
		for ; len(key) >= 32; key = key[32:] {
			for i := range sums {
				sums[i] = round(sums[i], u64(key[8*i:]))
			}
		}
		h = bits.RotateLeft64(sums[0], 1) + bits.RotateLeft64(sums[1], 7) +
			bits.RotateLeft64(sums[2], 12) + bits.RotateLeft64(sums[3], 18)
		for _, sum := range sums {
			h = (h^round(0, sum))*prime1 + prime4
		}
	}
	h += n
	for ; len(key) >= 8; key = key[8:] {
		h = bits.RotateLeft64(h^round(0, u64(key)), 27)*prime1 + prime4
	}
	if len(key) >= 4 {
		h = bits.RotateLeft64(h^u32(key)*prime1, 23)*prime2 + prime3
		key = key[4:]
	}
	for _, one := range key {
		h = bits.RotateLeft64(h^uint64(one)*prime5, 11) * prime1
	}
	return avalanche64(h)
}

// The default secret of XXH3.
var secret3 = [192]byte{
	0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c,
	0xf7, 0x21, 0xad, 0x1c, 0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb,
	0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f, 0xcb, 0x79, 0xe6, 0x4e,
	0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
	0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6,
	0x81, 0x3a, 0x26, 0x4c, 0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb,
	0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3, 0x71, 0x64, 0x48, 0x97,
	0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
	0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7,
	0xc7, 0x0b, 0x4f, 0x1d, 0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31,
	0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64, 0xea, 0xc5, 0xac, 0x83,
	0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
	0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26,
	0x29, 0xd4, 0x68, 0x9e, 0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc,
	0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce, 0x45, 0xcb, 0x3a, 0x8f,
	0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
}

func product(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

func avalanche3(h uint64) uint64 {
	h = (h ^ h>>37) * 0x165667919e3779f9
	return h ^ h>>32
}

// mix16 folds 16 bytes of a key, with 16 of the secret from `at` on.
func mix16(key []byte, at int, seed uint64) uint64 {
	return product(u64(key)^(u64(secret3[at:])+seed),
		u64(key[8:])^(u64(secret3[at+8:])-seed))
}

func xxh3(key []byte, seed uint64) uint64 {
	n := len(key)
	switch {
	case n == 0:
		return avalanche64(seed ^ u64(secret3[56:]) ^ u64(secret3[64:]))
	case n <= 3:
		ends := uint64(key[0])<<16 | uint64(key[n/2])<<24 | uint64(key[n-1]) |
			uint64(n)<<8
		return avalanche64(ends ^ ((u32(secret3[:]) ^ u32(secret3[4:])) + seed))
	case n <= 8:
		seed ^= uint64(bits.ReverseBytes32(uint32(seed))) << 32
		h := u32(key)<<32 | u32(key[n-4:])
		h ^= (u64(secret3[8:]) ^ u64(secret3[16:])) - seed
		h ^= bits.RotateLeft64(h, 49) ^ bits.RotateLeft64(h, 24)
		h *= 0x9fb21c651e98df25
		h = (h ^ (h>>35 + uint64(n))) * 0x9fb21c651e98df25
		return h ^ h>>28
	case n <= 16:
		a := u64(key) ^ ((u64(secret3[24:]) ^ u64(secret3[32:])) + seed)
		b := u64(key[n-8:]) ^ ((u64(secret3[40:]) ^ u64(secret3[48:])) - seed)
		return avalanche3(uint64(n) + bits.ReverseBytes64(a) + b + product(a, b))
	case n <= 128:
		h := uint64(n) * prime1
		for i := 0; i < (n+31)/32; i++ {
			h += mix16(key[16*i:], 32*i, seed) + mix16(key[n-16*i-16:], 32*i+16, seed)
		}
		return avalanche3(h)
	case n <= 240:
		h := uint64(n) * prime1
		for i := 0; i < 8; i++ {
			h += mix16(key[16*i:], 16*i, seed)
		}
		h = avalanche3(h)
		for i := 8; i < n/16; i++ {
			h += mix16(key[16*i:], 16*(i-8)+3, seed)
		}
		return avalanche3(h + mix16(key[n-16:], 136-17, seed))
	}
	return xxh3long(key, seed)
}

// xxh3long hashes more than 240 bytes, in stripes of 64 bytes, of which 16 are a
// block.
func xxh3long(key []byte, seed uint64) uint64 {
	secret := secret3
	for i := 0; seed != 0 && i < len(secret); i += 16 {
		binary.LittleEndian.PutUint64(secret[i:], u64(secret3[i:])+seed)
		binary.LittleEndian.PutUint64(secret[i+8:], u64(secret3[i+8:])-seed)
	}
	sums := [8]uint64{prime32x3, prime1, prime2, prime3, prime4, prime32x2, prime5,
		prime32x1}
	n := uint64(len(key))
	end := key[n-64:]
	for ; len(key) > 1024; key = key[1024:] {
		for i := 0; i < 16; i++ {
			stripe(&sums, key[64*i:64*i+64], secret[8*i:8*i+64])
		}
		for i := range sums {
			sums[i] = (sums[i] ^ sums[i]>>47 ^ u64(secret[128+8*i:])) * prime32x1
		}
	}
	for i := 0; len(key) > 64; i, key = i+1, key[64:] {
		stripe(&sums, key[:64], secret[8*i:8*i+64])
	}
	stripe(&sums, end, secret[121:185])
	h := n * prime1
	for i := 0; i < 4; i++ {
		h += product(sums[2*i]^u64(secret[11+16*i:]), sums[2*i+1]^u64(secret[19+16*i:]))
	}
	return avalanche3(h)
}

func stripe(sums *[8]uint64, data, secret []byte) {
	_, _ = data[63], secret[63]
	for i := 0; i < 8; i += 2 {
		a, b := u64(data[8*i:]), u64(data[8*i+8:])
		x, y := a^u64(secret[8*i:]), b^u64(secret[8*i+8:])
		sums[i] += b + x&0xffffffff*(x>>32)
		sums[i+1] += a + y&0xffffffff*(y>>32)
	}
}
