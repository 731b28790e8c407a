package reader

import (
	"encoding/binary"
	"math"
)

// The classes and changes of docs/format/keys.md.
const (
	classAny = iota
	classBytes
	classText
	classNumber
	classInt32
	classInt64
	classFloat
	classDouble
	classUTF16
	classHex
	classDomain
	classCIDR
	classPath

	formClass = 0x000f
	formCase  = 0x0030
	formLower = 0x0010
	formUpper = 0x0020
	formFold  = 0x0030
	formTrim  = 0x0040
	formJoin  = 0x0700
)

var classNames = [...]string{"keys of any class", "bytes", "text", "numbers",
	"integers of 32 bits", "integers of 64 bits", "real numbers of 32 bits",
	"real numbers of 64 bits", "text in UTF-16", "bytes", "names of domains",
	"networks of addresses", "paths"}

// checkForm refuses forms that do not exist, and those whose keys this package cannot
// make.
func checkForm(form uint64) error {
	class := form & formClass
	isText := class == classText || class == classUTF16
	if class > classPath || form>>11 != 0 || !isText && form != class {
		return fail(ErrVersion, "this package does not know the form %#04x of the "+
			"filter's keys", form)
	}
	if class == classUTF16 || class >= classDomain || form&formCase == formFold {
		return fail(ErrUnsupported, "this package cannot make the filter's keys, which "+
			"are %s of the form %#04x", classNames[class], form)
	}
	return nil
}

// key returns the bytes of a key, in room or where they are.
func (f *Filter) key(key any, room []byte) ([]byte, error) {
	switch k := key.(type) {
	case string:
		return f.text(k, room)
	case []byte:
		switch f.form & formClass {
		case classAny, classBytes, classHex:
			return k, nil
		}
		return nil, f.other("bytes")
	case int:
		return f.integer(int64(k), room)
	case int64:
		return f.integer(k, room)
	case int32:
		return f.integer(int64(k), room)
	case int16:
		return f.integer(int64(k), room)
	case int8:
		return f.integer(int64(k), room)
	case uint:
		return f.unsigned(uint64(k), room)
	case uint64:
		return f.unsigned(k, room)
	case uint32:
		return f.integer(int64(k), room)
	case uint16:
		return f.integer(int64(k), room)
	case uint8:
		return f.integer(int64(k), room)
	case float64:
		return f.real(k, room)
	case float32:
		return f.real(float64(k), room)
	}
	return nil, fail(ErrForm, "a value of this type is not a key: give a string, "+
		"a []byte, an integer or a float")
}

func (f *Filter) other(given string) error {
	return fail(ErrForm, "the filter's keys are %s, and this one is %s",
		classNames[f.form&formClass], given)
}

func (f *Filter) beyond(key any) error {
	return fail(ErrRange, "%v is not one of the %s that the filter's keys are", key,
		classNames[f.form&formClass])
}

func (f *Filter) text(text string, room []byte) ([]byte, error) {
	if class := f.form & formClass; class != classText && class != classAny {
		return nil, f.other("text")
	}
	if f.form&formTrim != 0 && f.form&formJoin == 0 {
		text = trimmed(text)
	}
	data := append(room, text...)
	first, last := byte('A'), byte('Z')
	switch f.form & formCase {
	case 0:
		return data, nil
	case formUpper:
		first, last = 'a', 'z'
	}
	for i, one := range data {
		if one >= first && one <= last {
			data[i] ^= 0x20
		}
	}
	return data, nil
}

func trimmed(text string) string {
	blank := func(one byte) bool { return one == ' ' || one == '\t' }
	for len(text) > 0 && blank(text[0]) {
		text = text[1:]
	}
	for len(text) > 0 && blank(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	return text
}

func put64(room []byte, bits uint64) []byte {
	return binary.LittleEndian.AppendUint64(room, bits)
}

func put32(room []byte, bits uint32) []byte {
	return binary.LittleEndian.AppendUint32(room, bits)
}

func (f *Filter) integer(n int64, room []byte) ([]byte, error) {
	switch f.form & formClass {
	case classAny, classNumber, classInt32, classInt64:
		return f.whole(n, room)
	case classFloat, classDouble:
		real := float64(n)
		if !(real < 0x1p63) || int64(real) != n {
			return nil, f.beyond(n)
		}
		return f.ieee(real, room), nil
	}
	return nil, f.other("an integer")
}

func (f *Filter) unsigned(n uint64, room []byte) ([]byte, error) {
	if n <= math.MaxInt64 {
		return f.integer(int64(n), room)
	}
	switch f.form & formClass {
	case classInt64:
		return put64(room, n), nil
	case classFloat, classDouble:
		real := float64(n)
		if real < 0x1p64 && uint64(real) == n {
			return f.ieee(real, room), nil
		}
		return nil, f.beyond(n)
	case classAny, classNumber, classInt32:
		return nil, f.beyond(n)
	}
	return nil, f.other("an integer")
}

func (f *Filter) real(real float64, room []byte) ([]byte, error) {
	isWhole := real >= -0x1p63 && real < 0x1p63 && real == math.Trunc(real)
	switch f.form & formClass {
	case classAny, classNumber:
		if isWhole {
			return f.whole(int64(real), room)
		}
		if real != real {
			return put64(room, 0x7ff8<<48), nil
		}
		return put64(room, math.Float64bits(real)), nil
	case classInt32, classInt64:
		if !isWhole {
			return nil, f.beyond(real)
		}
		return f.whole(int64(real), room)
	case classFloat, classDouble:
		return f.ieee(real, room), nil
	}
	return nil, f.other("a real number")
}

// whole returns the key of an integer in a class of integers.
func (f *Filter) whole(n int64, room []byte) ([]byte, error) {
	if f.form&formClass != classInt32 {
		return put64(room, uint64(n)), nil
	}
	if n < math.MinInt32 || n > math.MaxUint32 {
		return nil, f.beyond(n)
	}
	return put32(room, uint32(n)), nil
}

// ieee returns the key of a number in a class of IEEE 754 numbers.
func (f *Filter) ieee(real float64, room []byte) []byte {
	if f.form&formClass == classFloat {
		return put32(room, math.Float32bits(float32(real)))
	}
	return put64(room, math.Float64bits(real))
}
