// Package reader looks keys up in filters of Bloomery, in Go alone: without cgo and
// without the library.
//
// It reads the files of kinds "blocked", "standard", "fuse" and "split", which are what
// programs exchange most, with all hash functions. Anything else is refused with one
// error that says what it is. The bytes may be untrusted: the checks are those of the
// library, and no file can make a lookup read outside its bytes.
//
//	f, err := reader.Open("words.bly")
//	if err != nil {
//		return err
//	}
//	found, err := f.Contains("swordfish")
//
// Keys are those of package bloomery: a string is text, a []byte is bytes, and integers
// and floats are numbers. A key of another class than the filter's keys is an error,
// ErrForm. A filter may be read by any number of goroutines at once.
package reader

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"os"
)

// The reasons for errors, for errors.Is.
var (
	ErrFormat      = errors.New("the bytes are not a Bloomery filter")
	ErrVersion     = errors.New("the filter was written by another version")
	ErrCorrupt     = errors.New("the filter's bytes are damaged or cut short")
	ErrUnsealed    = errors.New("the filter is being written, or its writer died")
	ErrUnsupported = errors.New("this reader cannot do that")
	ErrSecret      = errors.New("the secret is missing, wrong or not needed")
	ErrForm        = errors.New("the key is of another class than the filter's keys")
	ErrRange       = errors.New("the key is not in the range of the filter's keys")
)

// failure is an error with one of these reasons. Its text says it by itself.
type failure struct {
	reason error
	text   string
}

func (f *failure) Error() string { return "bloomery: " + f.text }
func (f *failure) Unwrap() error { return f.reason }

func fail(reason error, format string, values ...any) error {
	return &failure{reason, fmt.Sprintf(format, values...)}
}

// Filter is a filter for lookups.
type Filter struct {
	kind     string
	capacity uint64
	rate     float64
	seed     uint64
	hash     int // its place in hashNames
	secret   *[16]byte
	form     uint64
	payload  []byte
	find     func(hash uint64) bool
}

// Header layout: docs/format/README.md.
const (
	headerBytes = 128
	magic       = "bloomery"
)

// Open reads the file of a filter, and checks all of it.
func Open(path string) (*Filter, error) { return open(path, nil) }

// OpenSecret opens a filter hashed by "siphash" with its secret.
func OpenSecret(path string, secret [16]byte) (*Filter, error) {
	return open(path, &secret)
}

func open(path string, secret *[16]byte) (*Filter, error) {
	image, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(image, secret)
}

// Parse makes a filter of the bytes of a file, after all checks. It keeps the bytes,
// which must not change.
func Parse(image []byte) (*Filter, error) { return parse(image, nil) }

// ParseSecret parses a filter hashed by "siphash" with its secret.
func ParseSecret(image []byte, secret [16]byte) (*Filter, error) {
	return parse(image, &secret)
}

// padded returns the text of a field, and whether all bytes behind it are 0.
func padded(field []byte) (string, bool) {
	text := bytes.TrimRight(field, "\x00")
	return string(text), bytes.IndexByte(text, 0) < 0
}

// parse does the checks of docs/format/README.md, in their order.
func parse(image []byte, secret *[16]byte) (*Filter, error) {
	if len(image) < len(magic) || string(image[:len(magic)]) != magic {
		return nil, fail(ErrFormat, "the bytes are not a Bloomery filter: they do not begin "+
			"with '%s'", magic)
	}
	if len(image) < headerBytes {
		return nil, fail(ErrCorrupt, "the filter is cut short: %d bytes are less than a "+
			"header", len(image))
	}
	header := image[:headerBytes]
	if version := u32(header[24:]) & 0xffff; version != 1 {
		return nil, fail(ErrVersion, "the header has version %d, and this package reads 1",
			version)
	}
	if u64(header[120:]) != xxh3(header[:120], 0) {
		return nil, fail(ErrCorrupt, "the filter is damaged: the header's checksum does "+
			"not match")
	}
	f := &Filter{
		form: u32(header[24:]) >> 16, capacity: u64(header[48:]),
		rate: math.Float64frombits(u64(header[56:])), seed: u64(header[64:]),
		payload: image[headerBytes:],
	}
	if err := checkForm(f.form); err != nil {
		return nil, err
	}
	if size := u64(header[32:]); size != uint64(len(image)) {
		return nil, fail(ErrCorrupt, "the filter is cut short or damaged: it has %d bytes, "+
			"and its header says %d", len(image), size)
	}
	if !(f.rate <= 1) || math.Signbit(f.rate) || f.capacity == 0 {
		return nil, fail(ErrCorrupt, "the filter is damaged: its rate or capacity is "+
			"impossible")
	}
	if err := f.setHash(header[72:80], secret); err != nil {
		return nil, err
	}
	if err := f.setKind(header); err != nil {
		return nil, err
	}
	sum := xxh3(f.payload, 0)
	if sum == 0 {
		sum = 1
	}
	switch u64(header[112:]) {
	case sum:
		return f, nil
	case 0:
		return nil, fail(ErrUnsealed, "the filter is being written, or its writer died")
	}
	return nil, fail(ErrCorrupt, "the filter is damaged: the payload's checksum does not "+
		"match")
}

func (f *Filter) setHash(field []byte, secret *[16]byte) error {
	name, ok := padded(field)
	f.hash = len(hashNames) - 1
	for f.hash >= 0 && hashNames[f.hash] != name {
		f.hash--
	}
	if !ok || f.hash < 0 {
		return fail(ErrUnsupported, "this package does not know the hash function %q", name)
	}
	f.secret = secret
	switch {
	case f.hash != bySipHash && secret != nil:
		return fail(ErrSecret, "the filter's hash function %s takes no secret: use Open "+
			"or Parse", name)
	case f.hash == bySipHash && secret == nil:
		return fail(ErrSecret, "the filter was made with a secret: give it to "+
			"OpenSecret or ParseSecret")
	case f.hash == bySipHash && siphash(secret, []byte(secretMark)) != f.seed:
		return fail(ErrSecret, "the secret is not the one that the filter was made with")
	}
	return nil
}

// setKind checks the geometry and the payload, and sets the lookup.
func (f *Filter) setKind(header []byte) error {
	name, ok := padded(header[8:24])
	kinds := map[string]func(g [4]uint64) error{
		"blocked": f.blocked, "standard": f.standard, "fuse": f.fuse, "split": f.split,
	}
	set := kinds[name]
	if !ok || set == nil {
		return fail(ErrUnsupported, "the filter's kind is %q, and this package reads "+
			"blocked, standard, fuse and split", name)
	}
	if version := u32(header[28:]); version != 1 {
		return fail(ErrVersion, "the payload of %s has version %d, and this package "+
			"reads 1", name, version)
	}
	f.kind = name
	var g [4]uint64
	for i := range g {
		g[i] = u64(header[80+8*i:])
	}
	return set(g)
}

func (f *Filter) wrong() error {
	return fail(ErrCorrupt, "the filter is damaged: its geometry does not go with the "+
		"size of its payload")
}

// Kind returns the name of the filter's kind.
func (f *Filter) Kind() string { return f.kind }

// Capacity returns the number of keys for which the filter was planned.
func (f *Filter) Capacity() uint64 { return f.capacity }

// Rate returns the planned false-positive rate for Capacity keys.
func (f *Filter) Rate() float64 { return f.rate }

// ContainsHash looks up a key by its 64-bit hash, which the caller computed with the
// filter's hash function and seed. False: it was certainly not added. True: perhaps it
// was.
func (f *Filter) ContainsHash(hash uint64) bool { return f.find(hash) }

// Contains looks up a key: a string, a []byte, an integer or a float. False: it was
// certainly not added. True: perhaps it was. ErrForm: the filter's keys are of another
// class. ErrRange: it is a number that they cannot be, such as 2^40 in 32 bits.
func (f *Filter) Contains(key any) (bool, error) {
	var room [64]byte
	data, err := f.key(key, room[:0])
	if err != nil {
		return false, err
	}
	return f.find(f.sum(data)), nil
}

// ---- Kinds -------------------------------------------------------------------------

const step = 0xd1342543de82ef95

// scaled returns the high 64 bits of a product: x becomes a number below n.
func scaled(x, n uint64) uint64 {
	high, _ := bits.Mul64(x, n)
	return high
}

func spread(h uint64) uint64 { return (h ^ h>>32) * step }

func mix(v uint64) uint64 {
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

func word(h, i uint64) uint64 { return mix(h + i*0x9e3779b97f4a7c15) }

func (f *Filter) bit(i uint64) bool { return f.payload[i>>3]>>(i&7)&1 != 0 }

func (f *Filter) blocked(g [4]uint64) error {
	lines, k := g[0], g[1]
	if lines < 1 || lines > 1<<48 || k < 1 || k > 32 || g[2] != 0 || g[3] != 0 ||
		uint64(len(f.payload)) != 64*lines {
		return f.wrong()
	}
	f.find = func(hash uint64) bool {
		s := spread(hash)
		at := scaled(s, lines) * 64
		line := f.payload[at : at+64]
		for i, g := uint64(0), uint32(s); i < k; i++ {
			g *= 0x9e3779b9
			bit := g >> 23
			if line[bit>>3]>>(bit&7)&1 == 0 {
				return false
			}
		}
		return true
	}
	return nil
}

func (f *Filter) split(g [4]uint64) error {
	blocks := g[0]
	if blocks < 1 || blocks > 1<<31-1 || g[1] != 0 || g[2] != 0 || g[3] != 0 ||
		uint64(len(f.payload)) != 32*blocks {
		return f.wrong()
	}
	salts := [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7,
		0x2df1424b, 0x9efc4947, 0x5c6bfb31}
	f.find = func(hash uint64) bool {
		at := (hash >> 32) * blocks >> 32 * 32
		block := f.payload[at : at+32]
		for i, salt := range salts {
			if u32(block[4*i:])>>(uint32(hash)*salt>>27)&1 == 0 {
				return false
			}
		}
		return true
	}
	return nil
}

func (f *Filter) standard(g [4]uint64) error {
	m, k, scheme := g[0], g[1], g[2]
	if m < 1 || m > 1<<60 || k < 1 || k > 64 || scheme > 5 || g[3] != 0 ||
		uint64(len(f.payload)) != (m+7)/8 ||
		m%8 != 0 && f.payload[m/8]>>(m%8) != 0 {
		return f.wrong()
	}
	switch scheme {
	case 0:
		f.find = func(hash uint64) bool {
			state := spread(hash)
			for i := uint64(0); i < k; i++ {
				if !f.bit(scaled(state, m)) {
					return false
				}
				state *= step
			}
			return true
		}
	case 1:
		f.find = func(hash uint64) bool {
			for i := uint64(1); i <= k; i++ {
				if !f.bit(scaled(word(hash, i), m)) {
					return false
				}
			}
			return true
		}
	case 5:
		f.find = func(hash uint64) bool {
			at, by := word(hash, 1), word(hash, 2)|1
			for i := uint64(0); i < k; i++ {
				if !f.bit(scaled(at, m)) {
					return false
				}
				at += by
			}
			return true
		}
	default:
		f.find = func(hash uint64) bool { return f.walk(hash, m, k, scheme) }
	}
	return nil
}

// walk looks up a key in the schemes double, enhanced and triple.
func (f *Filter) walk(hash, m, k, scheme uint64) bool {
	a, b, z := scaled(word(hash, 1), m), uint64(0), scaled(word(hash, 3), m)
	if m > 1 {
		b = 1 + scaled(word(hash, 2), m-1)
	}
	for i := uint64(0); i < k; i++ {
		if !f.bit(a) {
			return false
		}
		a = (a + b) % m
		switch scheme {
		case 3:
			b = (b + i + 1) % m
		case 4:
			b = (b + z) % m
		}
	}
	return true
}

func (f *Filter) fuse(g [4]uint64) error {
	keys, p := g[0]&(1<<48-1), g[0]>>48
	shards, d, width := g[1]&0xffffffff, g[1]>>32&0xff, g[1]>>40
	segment, starts, bytes := g[2]&0xffffffff, g[2]>>32, g[3]
	if shards < 1 || shards > 1<<20 || d < 3 || d > 4 || width < 1 || width > 32 ||
		p != 0 && width < 2 || segment < 1 || segment > 1<<24 || starts < 1 ||
		starts > 1<<16 {
		return f.wrong()
	}
	cells := (starts + d - 1) * segment
	short := starts * segment * p / 65536
	seeds := (shards + 63) &^ 63
	if cells >= 1<<32 || keys > shards*cells ||
		bytes != ((cells*width-short+7)/8+63)&^63 ||
		uint64(len(f.payload)) != seeds+shards*bytes {
		return f.wrong()
	}
	f.find = func(hash uint64) bool {
		s := mix(hash)
		place := (s >> 32) * shards
		shard := place >> 32
		w := place & 0xffffffff * starts >> 32
		u := (s ^ (uint64(f.payload[shard])+1)*step) * 0xaef17502108ef2d9
		a := u ^ u>>32
		b := a * 0xf1357aea2e62a9c5
		from := seeds + shard*bytes
		table := f.payload[from : from+bytes]
		choices := [4]uint64{a >> 32, a & 0xffffffff, b >> 32, b & 0xffffffff}
		read, used := s, width
		for i, choice := range choices[:d] {
			j := (w+uint64(i))*segment + choice*segment>>32
			at := j * width
			if j < short {
				at -= j
				if i == 0 {
					used--
				}
			} else {
				at -= short
			}
			read ^= field(table, at)
		}
		return keys > 0 && read&(1<<used-1) == 0
	}
	return nil
}

// field returns at least 32 bits of a table from a bit on; those beyond its end are 0.
func field(table []byte, bit uint64) uint64 {
	rest := table[bit>>3:]
	if len(rest) >= 8 {
		return u64(rest) >> (bit & 7)
	}
	return last(rest) >> (bit & 7)
}
