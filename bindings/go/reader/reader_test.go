package reader

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// golden returns an image of tests/golden; the folder is BLOOMERY_GOLDEN.
func golden(t testing.TB, name string) []byte {
	folder := os.Getenv("BLOOMERY_GOLDEN")
	if folder == "" {
		t.Skip("BLOOMERY_GOLDEN is not set")
	}
	text, err := os.ReadFile(filepath.Join(folder, name+".hex"))
	if err != nil {
		t.Fatal(err)
	}
	_, digits, _ := strings.Cut(string(text), "\n")
	image, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
	if err != nil {
		t.Fatal(err)
	}
	return image
}

var read = []string{"blocked", "standard", "standard-index-double",
	"standard-index-enhanced", "standard-index-seeds", "standard-index-step",
	"standard-index-triple", "fuse", "fuse-bits-7", "split"}

// sealed returns a copy of an image with right checksums.
func sealed(image []byte) []byte {
	out := append([]byte(nil), image...)
	sum := xxh3(out[headerBytes:], 0)
	if sum == 0 {
		sum = 1
	}
	binary.LittleEndian.PutUint64(out[112:], sum)
	binary.LittleEndian.PutUint64(out[120:], xxh3(out[:120], 0))
	return out
}

func TestGoldenImages(t *testing.T) {
	for _, name := range read {
		f, err := Parse(golden(t, name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := 0; i < 100; i++ {
			if found, err := f.Contains(fmt.Sprintf("key-%d", i)); !found || err != nil {
				t.Errorf("%s: key-%d is not found: %v", name, i, err)
			}
		}
		wrong := 0
		for i := 0; i < 10000; i++ {
			if found, _ := f.Contains(fmt.Sprintf("stranger %d", i)); found {
				wrong++
			}
		}
		if wrong > 250 {
			t.Errorf("%s: %d of 10000 strangers are found", name, wrong)
		}
		if f.Capacity() != 100 || f.Rate() > 0.011 || !strings.HasPrefix(name, f.Kind()) {
			t.Errorf("%s: %s, %d, %g", name, f.Kind(), f.Capacity(), f.Rate())
		}
	}
}

func TestOtherKindsAreRefused(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(os.Getenv("BLOOMERY_GOLDEN"), "*.hex"))
	refused := 0
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".hex")
		if _, err := Parse(golden(t, name)); err != nil {
			if !errors.Is(err, ErrUnsupported) {
				t.Errorf("%s: %v", name, err)
			}
			refused++
		}
	}
	if refused != len(paths)-len(read) && len(paths) > 0 {
		t.Errorf("%d of %d images were refused", refused, len(paths))
	}
}

func TestErrorsSayEachThingOnce(t *testing.T) {
	image := golden(t, "standard")
	f, err := Parse(image)
	if err != nil {
		t.Fatal(err)
	}
	secret, second := [16]byte{1}, [16]byte{2}
	hashed := append([]byte(nil), image...)
	copy(hashed[72:80], "siphash\x00")
	binary.LittleEndian.PutUint64(hashed[64:], siphash(&secret, []byte(secretMark)))
	hashed = sealed(hashed)
	f.form = classText
	_, ofClass := f.Contains(7)
	f.form = classInt32
	_, ofRange := f.Contains(1 << 40)
	_, plain := ParseSecret(image, secret)
	_, none := Parse(hashed)
	_, wrong := ParseSecret(hashed, second)
	_, short := Parse(image[:50])
	if _, err := ParseSecret(hashed, secret); err != nil {
		t.Error(err)
	}
	for _, one := range []struct {
		err, reason error
		want        string
	}{
		{ofClass, ErrForm, "the filter's keys are text, and this one is an integer"},
		{ofRange, ErrRange, "1099511627776 is not one of the integers of 32 bits that " +
			"the filter's keys are"},
		{plain, ErrSecret, "the filter's hash function xxh3 takes no secret: use Open " +
			"or Parse"},
		{none, ErrSecret, "the filter was made with a secret: give it to OpenSecret or " +
			"ParseSecret"},
		{wrong, ErrSecret, "the secret is not the one that the filter was made with"},
		{short, ErrCorrupt, "the filter is cut short: 50 bytes are less than a header"},
	} {
		if !errors.Is(one.err, one.reason) || one.err.Error() != "bloomery: "+one.want {
			t.Error(one.err)
		}
	}
}

func TestDamageIsFound(t *testing.T) {
	image := golden(t, "fuse")
	for i := range image {
		bad := append([]byte(nil), image...)
		bad[i] ^= 0x10
		if _, err := Parse(bad); err == nil {
			t.Fatalf("byte %d was not checked", i)
		}
		if _, err := Parse(image[:i]); err == nil {
			t.Fatalf("the first %d bytes are accepted", i)
		}
	}
	if _, err := Parse(append(image, 0)); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
}

func TestReasons(t *testing.T) {
	image := golden(t, "standard")
	for _, one := range []struct {
		at, value byte
		reason    error
	}{
		{24, 2, ErrVersion}, {28, 2, ErrVersion}, {27, 0x80, ErrVersion},
		{26, 8, ErrUnsupported}, {26, 10, ErrUnsupported}, {26, 0x32, ErrUnsupported},
		{26, 0x11, ErrVersion}, {26, 15, ErrVersion}, {8, 'x', ErrUnsupported},
		{72, 'y', ErrUnsupported}, {79, 'x', ErrUnsupported}, {63, 0x80, ErrCorrupt},
		{80, 0, ErrCorrupt}, {88, 0, ErrCorrupt}, {96, 6, ErrCorrupt},
		{104, 1, ErrCorrupt}, {32, 1, ErrCorrupt}, {0, 'x', ErrFormat},
	} {
		bad := append([]byte(nil), image...)
		bad[one.at] = one.value
		if _, err := Parse(sealed(bad)); !errors.Is(err, one.reason) {
			t.Errorf("byte %d is %d: '%v' and not '%v'", one.at, one.value, err,
				one.reason)
		}
	}
	open := sealed(image)
	copy(open[112:], make([]byte, 8))
	binary.LittleEndian.PutUint64(open[120:], xxh3(open[:120], 0))
	if _, err := Parse(open); !errors.Is(err, ErrUnsealed) {
		t.Error(err)
	}
	if _, err := ParseSecret(image, [16]byte{}); !errors.Is(err, ErrSecret) {
		t.Error(err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "missing")); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// withForm returns a filter whose header states a form.
func withForm(t testing.TB, form byte) *Filter {
	image := append([]byte(nil), golden(t, "standard")...)
	image[26] = form
	f, err := Parse(sealed(image))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestKeysHaveTheBytesOfTheFormat(t *testing.T) {
	for _, one := range []struct {
		form uint64
		key  any
		want string // hexadecimal digits
	}{
		{0, "7", "37"}, {0, 7, "0700000000000000"}, {0, 7.0, "0700000000000000"},
		{0, []byte("7"), "37"}, {1, []byte{1, 2}, "0102"}, {9, []byte{1, 2}, "0102"},
		{2, "Café ", "436166c3a920"}, {0x52, " Café\t", "636166c3a9"},
		{0x22, "az{", "415a7b"}, {0x152, " A", "2061"},
		{3, int8(-1), "ffffffffffffffff"}, {3, 1.5, "000000000000f83f"},
		{3, math.NaN(), "000000000000f87f"}, {3, -0x1p63, "0000000000000080"},
		{3, 0x1p63, "000000000000e043"}, {3, float32(-2), "feffffffffffffff"},
		{4, uint32(math.MaxUint32), "ffffffff"}, {4, -1, "ffffffff"}, {4, 2.0, "02000000"},
		{5, uint64(math.MaxUint64), "ffffffffffffffff"}, {5, uint(3), "0300000000000000"},
		{6, 1.5, "0000c03f"}, {6, uint16(2), "00000040"}, {7, 1, "000000000000f03f"},
		{7, uint64(1 << 63), "000000000000e043"}, {7, int16(-1), "000000000000f0bf"},
		{7, math.Inf(1), "000000000000f07f"}, {3, uint8(9), "0900000000000000"},
	} {
		f := &Filter{form: one.form}
		got, err := f.key(one.key, nil)
		if want, _ := hex.DecodeString(one.want); err != nil || !bytes.Equal(got, want) {
			t.Errorf("form %#x, %T %v: %x, %v", one.form, one.key, one.key, got, err)
		}
	}
}

func TestKeysOfAnotherClassAreErrors(t *testing.T) {
	for _, one := range []struct {
		form   byte
		key    any
		reason error
	}{
		{1, "x", ErrForm}, {1, 7, ErrForm}, {1, 7.5, ErrForm}, {2, []byte("x"), ErrForm},
		{2, 7, ErrForm}, {2, uint64(math.MaxUint64), ErrForm}, {3, "7", ErrForm},
		{3, []byte("7"), ErrForm}, {3, uint64(math.MaxUint64), ErrRange},
		{0, uint64(math.MaxUint64), ErrRange}, {4, 1 << 40, ErrRange},
		{4, -1 << 40, ErrRange}, {4, 1.5, ErrRange}, {5, 1.5, ErrRange},
		{5, math.NaN(), ErrRange}, {6, math.MaxInt64, ErrRange},
		{7, uint64(math.MaxUint64), ErrRange}, {2, nil, ErrForm}, {0, true, ErrForm},
		{0, [2]byte{}, ErrForm}, {9, "x", ErrForm},
	} {
		f := withForm(t, one.form)
		if _, err := f.Contains(one.key); !errors.Is(err, one.reason) {
			t.Errorf("form %d, %T %v: '%v' and not '%v'", one.form, one.key, one.key,
				err, one.reason)
		}
	}
}

func TestHashesAreThoseOfTheFormat(t *testing.T) {
	const second = 0x123456789abcdef0
	for name, want := range map[string][4]uint64{
		"xxh3": {0x12bc111d9a4f4139, 0x0a6ec8dd40df5a44, 0x2d06800538d394c2,
			0x8aa56c2c3d8317f6},
		"xxh64": {0x5d48bcc4664dc7c9, 0xed02544eaf580119, 0xef46db3751d8e999,
			0x7fef5b0c316777ed},
		"murmur2": {0x9f44c8dd4faeae9c, 0xdcce7ef88318c291, 0, 0xedfea7acae2be985},
		"murmur3": {0xb5cc9524099c3243, 0x8667fc9aeba24061, 0, 0xf1aaeac1176b0d88},
		"fnv1a": {0x27fe16102b7275f0, 0xf48283ed335c4640, 0xcbf29ce484222325,
			0xd9c6ca9c1e9efdd5},
		"identity": {0x12bc111d9a4f4139, 0x12bc111d9a4f4139, 0, 0},
		"decimal":  {1<<64 - 1, 1<<64 - 1, 1<<64 - 1, 1<<64 - 1},
	} {
		f, g := &Filter{}, &Filter{seed: second}
		for hashNames[f.hash] != name {
			f.hash++
			g.hash++
		}
		got := [4]uint64{f.sum([]byte("swordfish")), g.sum([]byte("swordfish")),
			f.sum(nil), g.sum(nil)}
		if got != want {
			t.Errorf("%s: %x", name, got)
		}
	}
	if decimal([]byte("0042")) != 42 ||
		decimal([]byte("18446744073709551614")) != 1<<64-2 {
		t.Error("decimal")
	}
	var secret [16]byte
	for i := range secret {
		secret[i] = byte(i)
	}
	if siphash(&secret, secret[:15]) != 0xa129ca6149be45e5 ||
		siphash(&secret, []byte("swordfish")) != 0x7bd32d76ffef162c ||
		siphash(&secret, nil) != 0x726fdb47dd0e0e31 ||
		siphash(&secret, []byte(secretMark)) != 0x27923090734622f4 {
		t.Error("siphash")
	}
}

func TestLookupsDoNotAllocate(t *testing.T) {
	f, err := Parse(golden(t, "blocked"))
	if err != nil {
		t.Fatal(err)
	}
	text := "some text of forty bytes, as in most lists"
	if n := testing.AllocsPerRun(100, func() { f.Contains(text) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzParse forges images, whose checksums it makes right: no lookup may leave their
// bytes. BLOOMERY_GOLDEN has the seeds.
func FuzzParse(f *testing.F) {
	for _, name := range read {
		f.Add(golden(f, name), "key-7")
	}
	f.Fuzz(func(t *testing.T, image []byte, key string) {
		if parsed, err := Parse(image); err == nil {
			ask(parsed, key)
		}
		if len(image) < headerBytes {
			return
		}
		forged := append([]byte(nil), image...)
		binary.LittleEndian.PutUint64(forged[32:], uint64(len(forged)))
		if parsed, err := Parse(sealed(forged)); err == nil {
			ask(parsed, key)
		}
	})
}

func ask(f *Filter, key string) {
	for _, one := range []any{key, []byte(key), len(key), float64(len(key)) / 3} {
		f.Contains(one)
	}
	draw := rand.New(rand.NewSource(int64(len(key))))
	for i := 0; i < 100; i++ {
		f.ContainsHash(draw.Uint64())
	}
	f.ContainsHash(0)
	f.ContainsHash(1<<64 - 1)
}

// TestForgedGeometry draws the geometry of images at random, near its limits.
func TestForgedGeometry(t *testing.T) {
	draw := rand.New(rand.NewSource(1))
	accepted := 0
	for _, name := range read {
		image := golden(t, name)
		for i := 0; i < 2000; i++ {
			forged := append([]byte(nil), image...)
			for n := draw.Intn(3); n >= 0; n-- {
				at := 80 + draw.Intn(32)
				forged[at] = byte(draw.Intn(256) >> draw.Intn(8))
			}
			if draw.Intn(2) == 0 {
				forged = forged[:headerBytes+draw.Intn(len(forged)-headerBytes)]
			}
			binary.LittleEndian.PutUint64(forged[32:], uint64(len(forged)))
			if f, err := Parse(sealed(forged)); err == nil {
				ask(f, "x")
				accepted++
			}
		}
	}
	if accepted < 10 {
		t.Errorf("only %d forged images were accepted", accepted)
	}
}
