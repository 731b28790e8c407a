package bloomery

// #include <stdlib.h>
// #include "native.h"
import "C"

import (
	"fmt"
	"syscall"
	"unsafe"
)

// Status is the reason of an error as a number, a bly_status of bloomery.h. Each is an
// error for errors.Is.
type Status int

// The statuses of errors. An unknown one may come from a later library.
const (
	ErrMemory      Status = C.BLY_ENOMEM       // out of memory
	ErrParameter   Status = C.BLY_EPARAM       // a parameter is out of its range
	ErrKind        Status = C.BLY_EKIND        // unknown kind of filter
	ErrOption      Status = C.BLY_EOPTION      // the kind has no such option
	ErrHash        Status = C.BLY_EHASH        // unknown hash function
	ErrTooBig      Status = C.BLY_ETOOBIG      // larger than can be addressed
	ErrFormat      Status = C.BLY_EFORMAT      // the bytes are not a filter
	ErrVersion     Status = C.BLY_EVERSION     // written by another version
	ErrCorrupt     Status = C.BLY_ECORRUPT     // damaged or cut short
	ErrUnsealed    Status = C.BLY_EUNSEALED    // the file is being written
	ErrIO          Status = C.BLY_EIO          // the system refused to read or write
	ErrMismatch    Status = C.BLY_EMISMATCH    // filters that do not go together
	ErrFull        Status = C.BLY_EFULL        // the filter is full
	ErrAbsent      Status = C.BLY_EABSENT      // the key to remove is not there
	ErrUnsupported Status = C.BLY_EUNSUPPORTED // the kind cannot do that
	ErrReadOnly    Status = C.BLY_EREADONLY    // opened for reading only
	ErrUnsafe      Status = C.BLY_EUNSAFE      // removing would risk other keys
	ErrRemoved     Status = C.BLY_EREMOVED     // removed once, and not to be added
	ErrSecret      Status = C.BLY_ESECRET      // the secret is missing or wrong
	ErrUnflushed   Status = C.BLY_EUNFLUSHED   // saved, but a crash may undo that
	ErrForm        Status = C.BLY_EFORM        // a key of another class
	ErrCanceled    Status = C.BLY_ECANCELED    // canceled by the caller
	ErrLimit       Status = C.BLY_ELIMIT       // more memory than the limit allows
	ErrClosed      Status = -1000              // the filter is closed
)

// Error returns the general meaning of the status.
func (s Status) Error() string {
	if s == ErrClosed {
		return "the filter is closed"
	}
	return C.GoString(C.bly_strerror(C.bly_status(s)))
}

// Error is an error of the library.
type Error struct {
	Status Status        // what kind of error it is
	Reason string        // one line: what was wrong this time, and how to fix it
	Errno  syscall.Errno // the system's error number, or 0
	Path   string        // the file of the call, or ""
}

// Error returns the reason.
func (e *Error) Error() string { return "bloomery: " + e.Reason }

// Is reports whether the target is the error's status.
func (e *Error) Is(target error) bool {
	s, ok := target.(Status)
	return ok && s == e.Status
}

// Unwrap returns the system's error, so that errors.Is(err, fs.ErrNotExist) works.
func (e *Error) Unwrap() error {
	if e.Errno == 0 {
		return nil
	}
	return e.Errno
}

var errClosed = &Error{
	Status: ErrClosed,
	Reason: "the filter is closed: open or make it again",
}

// wrong returns an error of this package.
func wrong(status Status, format string, values ...any) *Error {
	return &Error{Status: status, Reason: fmt.Sprintf(format, values...)}
}

// check returns the error of a call, if it is one.
func check(a C.tie_answer, path string) error {
	if a.status >= 0 {
		return nil
	}
	e := &Error{Status: Status(a.status), Errno: syscall.Errno(a.number), Path: path}
	e.Reason = e.Status.Error()
	if a.why != nil {
		e.Reason = C.GoString(a.why)
		C.free(unsafe.Pointer(a.why))
	}
	return e
}
