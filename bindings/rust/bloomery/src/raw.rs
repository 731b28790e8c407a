//! Calls of the C library. All unsafe code of the crate is here.
//!
//! Every function is safe to call: lengths come from slices, handles are owned, and
//! a method takes `&self` only if the C header lets many threads call its function
//! at once.

use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::os::raw::{c_char, c_int, c_void};
use std::ptr::{null, null_mut, NonNull};

use bloomery_sys as ffi;

use crate::key::Value;
use crate::{Error, ErrorKind};

// ---- Texts and errors --------------------------------------------------------------

/// Copies a text of C that is not NULL.
fn copied(text: *const c_char) -> String {
    // SAFETY: callers pass texts of the library, which end in a NUL byte, and which no
    // other call of this thread has replaced.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Returns a text of the library that lives as long as the program.
fn constant(text: *const c_char) -> &'static str {
    // SAFETY: callers pass names of kinds and the like, which are constants.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("")
}

/// Copies a text in an array, which ends in a NUL byte or with the array.
pub(crate) fn in_array(array: &[c_char]) -> String {
    let bytes: Vec<u8> = array.iter().map(|&c| c as u8).take_while(|&c| c != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns a text for C.
pub(crate) fn c_text(text: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| {
        let why = format!("{text:?} has a NUL character, which no name has");
        Error::new(ErrorKind::Parameter, why, 0)
    })
}

/// Returns whether a key was seen before, or why the last call failed.
fn check(status: ffi::bly_status) -> Result<bool, Error> {
    if status < 0 {
        return Err(last(status));
    }
    Ok(status == ffi::BLY_SEEN)
}

#[cold]
fn last(status: ffi::bly_status) -> Error {
    // SAFETY: the argument is a text of C, and the result is copied before the thread's
    // next call.
    let why = copied(unsafe { ffi::bly_why_in(b"rust\0".as_ptr().cast()) });
    // SAFETY: takes no argument.
    Error::new(ErrorKind::of(status), why, unsafe { ffi::bly_errno() })
}

/// Returns the error of a status of which no call has said why.
pub(crate) fn general(status: ffi::bly_status) -> Error {
    // SAFETY: accepts any number.
    Error::new(ErrorKind::of(status), constant(unsafe { ffi::bly_strerror(status) }), 0)
}

// ---- Structs of C ------------------------------------------------------------------

/// Structs of numbers, arrays and pointers, for which all zeros are a value.
///
/// # Safety
///
/// All bytes of the type may be 0.
unsafe trait Plain: Sized {
    fn zero() -> Self {
        // SAFETY: the trait promises it.
        unsafe { std::mem::zeroed() }
    }
}

// SAFETY: these have integers, reals, arrays of them, `bool` and raw pointers only.
unsafe impl Plain for ffi::bly_spec {}
// SAFETY: as above.
unsafe impl Plain for ffi::bly_options {}
// SAFETY: as above.
unsafe impl Plain for ffi::bly_keys {}
// SAFETY: as above.
unsafe impl Plain for ffi::bly_plan_t {}
// SAFETY: as above.
unsafe impl Plain for ffi::bly_info_t {}
// SAFETY: as above.
unsafe impl Plain for ffi::bly_header {}
// SAFETY: as above.
unsafe impl Plain for ffi::bly_overlap_t {}
// SAFETY: as above.
unsafe impl Plain for ffi::bly_need {}

/// What a new filter should be.
#[derive(Default)]
pub(crate) struct Spec<'a> {
    pub items: u64,
    pub rate: f64,
    pub seed: u64,
    pub hash: Option<&'a CStr>,
    pub secret: Option<&'a [u8; 16]>,
    pub threads: u32,
    pub form: u64,
    pub shared: bool,
}

impl Spec<'_> {
    /// The result is valid while `self` is.
    fn raw(&self) -> ffi::bly_spec {
        ffi::bly_spec {
            capacity: self.items,
            rate: self.rate,
            seed: self.seed,
            hash: self.hash.map_or(null(), CStr::as_ptr),
            secret: self.secret.map_or(null(), |secret| secret.as_ptr().cast()),
            flags: if self.shared { ffi::BLY_SHARED } else { 0 },
            threads: self.threads,
            form: self.form,
            ..Plain::zero()
        }
    }
}

/// How to read a filter.
#[derive(Default)]
pub(crate) struct Options<'a> {
    pub secret: Option<&'a [u8; 16]>,
    pub format: Option<&'a CStr>,
    pub threads: u32,
    pub memory_limit: u64,
}

impl Options<'_> {
    /// The result is valid while `self` is.
    fn raw(&self) -> ffi::bly_options {
        ffi::bly_options {
            secret: self.secret.map_or(null(), |secret| secret.as_ptr().cast()),
            format: self.format.map_or(null(), CStr::as_ptr),
            threads: self.threads,
            memory_limit: self.memory_limit,
            ..Plain::zero()
        }
    }
}

/// Many keys, borrowed.
pub(crate) struct Keys<'a> {
    raw: ffi::bly_keys,
    of: PhantomData<&'a [u8]>,
}

impl<'a> Keys<'a> {
    /// Keys of `width` bytes each.
    pub fn wide(data: &'a [u8], width: usize) -> Keys<'a> {
        let n = data.len() / width;
        let data = data.as_ptr().cast();
        Keys { raw: ffi::bly_keys { n, data, width, ..Plain::zero() }, of: PhantomData }
    }

    /// Keys between offsets, the last of which must not be beyond the data.
    pub fn between(data: &'a [u8], ends: &'a [u64]) -> Keys<'a> {
        assert!(ends.last().map_or(false, |&last| last <= data.len() as u64));
        let (n, data, offsets64) = (ends.len() - 1, data.as_ptr().cast(), ends.as_ptr());
        Keys { raw: ffi::bly_keys { n, data, offsets64, ..Plain::zero() }, of: PhantomData }
    }

    /// The same keys, of a batch that is given in parts: this many are before them.
    pub fn after(mut self, before: u64) -> Keys<'a> {
        self.raw.before = before;
        self
    }

    /// Hashes of keys, perhaps with a label for each.
    pub fn hashes(hashes: &'a [u64], labels: Option<&'a [u64]>) -> Keys<'a> {
        assert!(labels.map_or(true, |labels| labels.len() == hashes.len()));
        let (n, hashes) = (hashes.len(), hashes.as_ptr());
        let labels = labels.map_or(null(), <[u64]>::as_ptr);
        Keys { raw: ffi::bly_keys { n, hashes, labels, ..Plain::zero() }, of: PhantomData }
    }
}

// ---- Forms -------------------------------------------------------------------------

pub(crate) fn form_read(text: &str) -> Result<u64, Error> {
    let (text, mut form) = (c_text(text)?, 0);
    // SAFETY: both pointers are valid, and the text ends in NUL.
    check(unsafe { ffi::bly_form_read(&mut form, text.as_ptr()) })?;
    Ok(form)
}

pub(crate) fn form_text(form: u64) -> String {
    let mut text = [0; ffi::BLY_FORM_TEXT];
    // SAFETY: the array has the room that the function asks for.
    unsafe { ffi::bly_form_write(text.as_mut_ptr(), form) };
    in_array(&text)
}

pub(crate) fn nests(form: u64) -> bool {
    // SAFETY: accepts any number.
    unsafe { ffi::bly_form_nests(form) }
}

pub(crate) fn real_key(real: f64) -> [u8; 8] {
    let mut key = [0; 8];
    // SAFETY: writes 8 bytes.
    unsafe { ffi::bly_real_key(key.as_mut_ptr(), real) };
    key
}

/// Makes the bytes of a key by a form. An integer must be one of 64 bits.
pub(crate) fn form_key<'a>(
    form: u64,
    value: Value<'a>,
    room: &'a mut Vec<u8>,
) -> Result<&'a [u8], Error> {
    let mut given =
        ffi::bly_value { r#type: ffi::BLY_TEXT, data: null(), length: 0, integer: 0, real: 0.0 };
    let bytes = match value {
        Value::Text(text) => text.as_bytes(),
        Value::Bytes(bytes) => bytes,
        Value::Integer(_) | Value::Real(_) => &[],
    };
    (given.data, given.length) = (bytes.as_ptr().cast(), bytes.len());
    given.r#type = match value {
        Value::Text(_) => ffi::BLY_TEXT,
        Value::Bytes(_) => ffi::BLY_BYTES,
        Value::Integer(_) => ffi::BLY_INTEGER,
        Value::Real(_) => ffi::BLY_REAL,
    };
    match value {
        Value::Integer(n) => given.integer = n as i64,
        Value::Real(real) => given.real = real,
        _ => (),
    }
    // SAFETY: accepts any numbers.
    let size = unsafe { ffi::bly_form_room(form, bytes.len()) };
    if room.try_reserve(size).is_err() {
        return Err(general(ffi::BLY_ENOMEM));
    }
    room.resize(size, 0);
    let make = if nests(form) { ffi::bly_nested_key } else { ffi::bly_form_key };
    let mut key = ffi::bly_key { data: null(), length: 0 };
    // SAFETY: `given` points to the value, and `room` has the size asked for.
    check(unsafe { make(&mut key, form, &given, room.as_mut_ptr().cast()) })?;
    if key.length == 0 {
        return Ok(&[]);
    }
    // SAFETY: the key is part of the value or of `room`, which both live for 'a.
    Ok(unsafe { std::slice::from_raw_parts(key.data.cast(), key.length) })
}

/// Returns the level of a key that `form_key` made by a form that nests.
pub(crate) fn level(form: u64, key: &[u8]) -> usize {
    // SAFETY: the key is a valid slice.
    unsafe { ffi::bly_nested_level(form, borrowed(key)) as usize }
}

/// Returns the bytes of the marker of a level.
pub(crate) fn marker(level: usize) -> Vec<u8> {
    let mut room = [0; 2];
    // SAFETY: the room has the two bytes that the function writes.
    let key = unsafe { ffi::bly_nested_marker(room.as_mut_ptr(), level as _) };
    room[..key.length.min(2)].to_vec()
}

fn borrowed(key: &[u8]) -> ffi::bly_key {
    ffi::bly_key { data: key.as_ptr().cast(), length: key.len() }
}

// ---- Handles -----------------------------------------------------------------------

/// An open filter, which is freed when it is dropped.
pub(crate) struct Handle(NonNull<ffi::bly_filter>);

// SAFETY: a filter does not depend on the thread that made it. Only messages of errors
// belong to a thread, and `check` reads them right after the call.
unsafe impl Send for Handle {}

// SAFETY: methods with `&self` call functions that take a `const bly_filter *`. The
// library lets any number of threads call these while no thread changes the filter
// (THREADS in bloomery.h), and changes need `&mut self`. `SharedHandle` adds through
// `&self`, but hands its Handle out only when it is borrowed exclusively, or consumed.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle owns the filter.
        unsafe { ffi::bly_free(self.0.as_ptr()) }
    }
}

/// Calls a function that makes a filter.
fn made(call: impl FnOnce(*mut *mut ffi::bly_filter) -> ffi::bly_status) -> Result<Handle, Error> {
    let mut out = null_mut();
    check(call(&mut out))?;
    NonNull::new(out).map(Handle).ok_or_else(|| general(ffi::BLY_ENOMEM))
}

impl Handle {
    pub fn new(kind: &CStr, spec: &Spec<'_>) -> Result<Handle, Error> {
        // SAFETY: all arguments are valid during the call.
        made(|out| unsafe { ffi::bly_new(out, kind.as_ptr(), &spec.raw()) })
    }

    pub fn build(kind: &CStr, spec: &Spec<'_>, keys: &Keys<'_>) -> Result<Handle, Error> {
        // SAFETY: all arguments are valid during the call.
        made(|out| unsafe { ffi::bly_build(out, kind.as_ptr(), &spec.raw(), &keys.raw) })
    }

    /// Reads a file into memory.
    pub fn open(path: &CStr, options: &Options<'_>) -> Result<Handle, Error> {
        // SAFETY: all arguments are valid during the call.
        made(|out| unsafe { ffi::bly_open(out, path.as_ptr(), 0, &options.raw()) })
    }

    /// Maps a file.
    ///
    /// # Safety
    ///
    /// Nobody truncates the file or changes its bytes while the handle lives.
    pub unsafe fn map(
        path: &CStr,
        write: bool,
        verify: bool,
        options: &Options<'_>,
    ) -> Result<Handle, Error> {
        let flag = |on: bool, flag: c_int| if on { flag } else { 0 };
        let flags = ffi::BLY_MAP | flag(write, ffi::BLY_WRITE) | flag(verify, ffi::BLY_VERIFY);
        // SAFETY: all arguments are valid during the call, and the caller promises the rest.
        made(|out| unsafe { ffi::bly_open(out, path.as_ptr(), flags, &options.raw()) })
    }

    pub fn unpack(bytes: &[u8], options: &Options<'_>) -> Result<Handle, Error> {
        // SAFETY: all arguments are valid during the call, which copies the bytes.
        made(|out| unsafe {
            ffi::bly_unpack(out, bytes.as_ptr().cast(), bytes.len(), &options.raw())
        })
    }

    pub fn copy(&self) -> Result<Handle, Error> {
        // SAFETY: the handle is valid.
        made(|out| unsafe { ffi::bly_copy(out, self.0.as_ptr(), null()) })
    }

    pub fn like(&self) -> Result<Handle, Error> {
        // SAFETY: the handle is valid.
        made(|out| unsafe { ffi::bly_like(out, self.0.as_ptr(), null()) })
    }

    // ---- One key ----

    #[inline]
    pub fn contains(&self, key: &[u8]) -> bool {
        // SAFETY: the handle and the key are valid.
        unsafe { ffi::bly_contains(self.0.as_ptr(), key.as_ptr().cast(), key.len()) }
    }

    pub fn contains_nested(&self, form: u64, key: &[u8]) -> bool {
        let mut found = ffi::BLY_NESTED_NONE;
        // SAFETY: the handle is valid, and one key gets one answer.
        unsafe { ffi::bly_nested_find(self.0.as_ptr(), form, &borrowed(key), 1, &mut found) };
        found != ffi::BLY_NESTED_NONE
    }

    #[inline]
    pub fn add(&mut self, key: &[u8]) -> Result<bool, Error> {
        // SAFETY: the handle and the key are valid.
        check(unsafe { ffi::bly_add(self.0.as_ptr(), key.as_ptr().cast(), key.len()) })
    }

    pub fn add_nested(&mut self, form: u64, key: &[u8]) -> Result<bool, Error> {
        // SAFETY: the borrow is exclusive.
        unsafe { self.add_nested_unlocked(form, key) }
    }

    /// # Safety
    ///
    /// The borrow is exclusive, or the filter is shared.
    unsafe fn add_nested_unlocked(&self, form: u64, key: &[u8]) -> Result<bool, Error> {
        let seen = self.contains(key);
        // SAFETY: the handle and the key are valid, and the caller promises the rest.
        check(unsafe {
            ffi::bly_nested_add(self.0.as_ptr(), form, &borrowed(key), 1, null_mut())
        })?;
        Ok(seen)
    }

    /// Returns whether the filter refuses a hash in place of a key.
    pub fn needs_keys(&mut self) -> bool {
        let hash = self.hash(b"");
        // SAFETY: the handle is valid.
        (unsafe { ffi::bly_add_hash(self.0.as_ptr(), hash) }) == ffi::BLY_EUNSUPPORTED
    }

    pub fn remove(&mut self, key: &[u8]) -> Result<bool, Error> {
        // SAFETY: the handle and the key are valid.
        match unsafe { ffi::bly_remove(self.0.as_ptr(), key.as_ptr().cast(), key.len()) } {
            ffi::BLY_EABSENT => Ok(false),
            status => check(status).map(|_| true),
        }
    }

    pub fn count(&self, key: &[u8]) -> u64 {
        // SAFETY: the handle and the key are valid.
        unsafe { ffi::bly_count(self.0.as_ptr(), key.as_ptr().cast(), key.len()) }
    }

    pub fn put(&mut self, key: &[u8], label: u64) -> Result<bool, Error> {
        // SAFETY: the handle and the key are valid.
        check(unsafe { ffi::bly_put(self.0.as_ptr(), key.as_ptr().cast(), key.len(), label) })
    }

    pub fn get(&self, key: &[u8]) -> Option<u64> {
        let mut label = 0;
        // SAFETY: the handle, the key and the label are valid.
        let found =
            unsafe { ffi::bly_get(self.0.as_ptr(), key.as_ptr().cast(), key.len(), &mut label) };
        found.then_some(label)
    }

    pub fn hash(&self, key: &[u8]) -> u64 {
        // SAFETY: the handle and the key are valid.
        unsafe { ffi::bly_hash(self.0.as_ptr(), key.as_ptr().cast(), key.len()) }
    }

    // ---- Many keys ----

    pub fn contains_many(&self, keys: &Keys<'_>, present: &mut [bool]) -> Result<(), Error> {
        assert_eq!(present.len(), keys.raw.n);
        // SAFETY: there is an answer for each key.
        check(unsafe { ffi::bly_contains_many(self.0.as_ptr(), &keys.raw, present.as_mut_ptr()) })?;
        Ok(())
    }

    /// Returns the number of keys added, also where one fails.
    pub fn add_many(
        &mut self,
        keys: &Keys<'_>,
        seen: Option<&mut [bool]>,
    ) -> (usize, Result<(), Error>) {
        // SAFETY: the borrow is exclusive.
        unsafe { self.add_many_unlocked(keys, seen) }
    }

    /// # Safety
    ///
    /// The borrow is exclusive, or the filter is shared.
    unsafe fn add_many_unlocked(
        &self,
        keys: &Keys<'_>,
        seen: Option<&mut [bool]>,
    ) -> (usize, Result<(), Error>) {
        let mut done = 0;
        assert!(seen.as_ref().map_or(true, |seen| seen.len() == keys.raw.n));
        let seen = seen.map_or(null_mut(), <[bool]>::as_mut_ptr);
        // SAFETY: there is an answer for each key, and the caller promises the rest.
        let status = unsafe { ffi::bly_add_many(self.0.as_ptr(), &keys.raw, seen, &mut done) };
        (done, check(status).map(|_| ()))
    }

    /// Says which keys were removed. Keys that are absent are not errors.
    pub fn remove_many(&mut self, keys: &Keys<'_>, removed: &mut Vec<bool>) -> Result<(), Error> {
        let mut each = vec![ffi::BLY_EABSENT; keys.raw.n];
        // SAFETY: there is a status for each key.
        let first = unsafe { ffi::bly_remove_many(self.0.as_ptr(), &keys.raw, each.as_mut_ptr()) };
        removed.extend(each.iter().map(|&status| status == ffi::BLY_OK));
        if first != ffi::BLY_EABSENT {
            return check(first).map(|_| ());
        }
        match each.iter().find(|&&status| status != ffi::BLY_OK && status != first) {
            Some(&status) => Err(general(status)),
            None => Ok(()),
        }
    }

    pub fn count_many(&self, keys: &Keys<'_>, counts: &mut [u64]) -> Result<(), Error> {
        assert_eq!(counts.len(), keys.raw.n);
        // SAFETY: there is a count for each key.
        check(unsafe { ffi::bly_count_many(self.0.as_ptr(), &keys.raw, counts.as_mut_ptr()) })?;
        Ok(())
    }

    /// Returns the number of labels stored, also where one fails.
    pub fn put_many(&mut self, keys: &Keys<'_>, labels: &[u64]) -> (usize, Result<(), Error>) {
        let mut done = 0;
        assert_eq!(labels.len(), keys.raw.n);
        // SAFETY: there is a label for each key.
        let status =
            unsafe { ffi::bly_put_many(self.0.as_ptr(), &keys.raw, labels.as_ptr(), &mut done) };
        (done, check(status).map(|_| ()))
    }

    pub fn get_many(
        &self,
        keys: &Keys<'_>,
        found: &mut [bool],
        labels: &mut [u64],
    ) -> Result<(), Error> {
        assert!(found.len() == keys.raw.n && labels.len() == keys.raw.n);
        // SAFETY: there is room for the answers of each key.
        check(unsafe {
            let (found, labels) = (found.as_mut_ptr(), labels.as_mut_ptr());
            ffi::bly_get_many(self.0.as_ptr(), &keys.raw, found, labels)
        })?;
        Ok(())
    }

    // ---- Whole filters ----

    pub fn unite(&mut self, other: &Handle) -> Result<(), Error> {
        // SAFETY: both handles are valid, and two.
        check(unsafe { ffi::bly_unite(self.0.as_ptr(), other.0.as_ptr()) })?;
        Ok(())
    }

    pub fn intersect(&mut self, other: &Handle) -> Result<(), Error> {
        // SAFETY: both handles are valid, and two.
        check(unsafe { ffi::bly_intersect(self.0.as_ptr(), other.0.as_ptr()) })?;
        Ok(())
    }

    pub fn subtract(&mut self, other: &Handle) -> Result<(), Error> {
        // SAFETY: both handles are valid, and two.
        check(unsafe { ffi::bly_subtract(self.0.as_ptr(), other.0.as_ptr()) })?;
        Ok(())
    }

    pub fn overlap(&self, other: &Handle) -> Result<ffi::bly_overlap_t, Error> {
        let mut out = Plain::zero();
        // SAFETY: all three are valid.
        check(unsafe { ffi::bly_overlap(&mut out, self.0.as_ptr(), other.0.as_ptr()) })?;
        Ok(out)
    }

    pub fn clear(&mut self) -> Result<(), Error> {
        // SAFETY: the handle is valid.
        check(unsafe { ffi::bly_clear(self.0.as_ptr()) })?;
        Ok(())
    }

    pub fn resize(&mut self, items: u64) -> Result<(), Error> {
        // SAFETY: the handle is valid.
        check(unsafe { ffi::bly_resize(self.0.as_ptr(), items) })?;
        Ok(())
    }

    pub fn fold(&mut self, times: u64) -> Result<(), Error> {
        // SAFETY: the handle is valid.
        check(unsafe { ffi::bly_fold(self.0.as_ptr(), times) })?;
        Ok(())
    }

    pub fn seal(&mut self) -> Result<(), Error> {
        // SAFETY: the handle is valid.
        check(unsafe { ffi::bly_seal(self.0.as_ptr()) })?;
        Ok(())
    }

    pub fn set_form(&mut self, form: u64) -> Result<(), Error> {
        // SAFETY: the handle is valid.
        check(unsafe { ffi::bly_form_set(self.0.as_ptr(), form) })?;
        Ok(())
    }

    pub fn form(&self) -> u64 {
        // SAFETY: the handle is valid.
        unsafe { ffi::bly_form_of(self.0.as_ptr()) }
    }

    pub fn can(&self) -> u64 {
        // SAFETY: the handle is valid.
        unsafe { ffi::bly_can(self.0.as_ptr()) }
    }

    pub fn kind(&self) -> &'static str {
        // SAFETY: the handle is valid.
        constant(unsafe { ffi::bly_kind_of(self.0.as_ptr()) })
    }

    pub fn info(&self) -> Result<ffi::bly_info_t, Error> {
        let mut out = Plain::zero();
        // SAFETY: both are valid.
        check(unsafe { ffi::bly_info(&mut out, self.0.as_ptr()) })?;
        Ok(out)
    }

    pub fn header(&self) -> ffi::bly_header {
        let mut out = Plain::zero();
        // SAFETY: both are valid.
        unsafe { ffi::bly_header_of(&mut out, self.0.as_ptr()) };
        out
    }

    pub fn save(&self, path: &CStr) -> Result<(), Error> {
        // SAFETY: the handle is valid, and the path ends in NUL.
        check(unsafe { ffi::bly_save(self.0.as_ptr(), path.as_ptr()) })?;
        Ok(())
    }

    pub fn pack(&self) -> Result<Vec<u8>, Error> {
        let room = usize::try_from(self.header().bytes).map_err(|_| general(ffi::BLY_ETOOBIG))?;
        let (mut bytes, mut used) = (Vec::new(), 0);
        bytes.try_reserve_exact(room).map_err(|_| general(ffi::BLY_ENOMEM))?;
        let into = bytes.as_mut_ptr();
        // SAFETY: `bytes` has this room.
        check(unsafe { ffi::bly_pack(self.0.as_ptr(), into as *mut c_void, room, &mut used) })?;
        assert!(used <= room);
        // SAFETY: the library has written the first `used` bytes.
        unsafe { bytes.set_len(used) };
        bytes.shrink_to_fit();
        Ok(bytes)
    }

    /// Calls a function with the hash, the bytes and the side of each key.
    pub fn list_keys<F: FnMut(u64, Option<&[u8]>, c_int)>(&self, mut f: F) -> Result<(), Error> {
        unsafe extern "C" fn visit<F: FnMut(u64, Option<&[u8]>, c_int)>(
            context: *mut c_void,
            listed: *const ffi::bly_listed,
        ) -> bool {
            // SAFETY: the context is `f` of the call below, which nothing else uses during
            // the call, and the listed key is valid until this function returns.
            let (f, listed) = unsafe { (&mut *context.cast::<F>(), &*listed) };
            let key: *const u8 = listed.key.cast();
            let key = match key.is_null() {
                true => None,
                // SAFETY: as above.
                false => Some(unsafe { std::slice::from_raw_parts(key, listed.length) }),
            };
            f(listed.hash, key, listed.side);
            true
        }
        let context = (&mut f as *mut F).cast();
        // SAFETY: `visit` gets the context that it expects.
        check(unsafe { ffi::bly_list_keys(self.0.as_ptr(), Some(visit::<F>), context) })?;
        Ok(())
    }
}

/// A filter to which many threads may add.
pub(crate) struct SharedHandle(Handle);

impl SharedHandle {
    pub fn new(kind: &CStr, spec: Spec<'_>) -> Result<SharedHandle, Error> {
        Handle::new(kind, &Spec { shared: true, ..spec }).map(SharedHandle)
    }

    pub fn open(path: &CStr, options: &Options<'_>) -> Result<SharedHandle, Error> {
        made(|out| {
            // SAFETY: all arguments are valid during the call.
            unsafe { ffi::bly_open(out, path.as_ptr(), ffi::BLY_SHARED, &options.raw()) }
        })
        .map(SharedHandle)
    }

    #[inline]
    pub fn contains(&self, key: &[u8]) -> bool {
        self.0.contains(key)
    }

    pub fn contains_many(&self, keys: &Keys<'_>, present: &mut [bool]) -> Result<(), Error> {
        self.0.contains_many(keys, present)
    }

    #[inline]
    pub fn add(&self, key: &[u8]) -> Result<bool, Error> {
        // SAFETY: the filter was made or opened with BLY_SHARED, so that any number of
        // threads may add to it and query it.
        check(unsafe { ffi::bly_add(self.0 .0.as_ptr(), key.as_ptr().cast(), key.len()) })
    }

    pub fn contains_nested(&self, form: u64, key: &[u8]) -> bool {
        self.0.contains_nested(form, key)
    }

    pub fn add_nested(&self, form: u64, key: &[u8]) -> Result<bool, Error> {
        // SAFETY: the filter was made or opened with BLY_SHARED.
        unsafe { self.0.add_nested_unlocked(form, key) }
    }

    pub fn add_many(&self, keys: &Keys<'_>) -> (usize, Result<(), Error>) {
        // SAFETY: the filter was made or opened with BLY_SHARED.
        unsafe { self.0.add_many_unlocked(keys, None) }
    }

    pub fn kind(&self) -> &'static str {
        self.0.kind()
    }

    /// No thread adds while the result is borrowed.
    pub fn exclusive(&mut self) -> &Handle {
        &self.0
    }

    pub fn into_handle(self) -> Handle {
        self.0
    }
}

// ---- Without a filter --------------------------------------------------------------

pub(crate) fn version() -> &'static str {
    // SAFETY: takes no argument.
    constant(unsafe { ffi::bly_version() })
}

pub(crate) fn ability(flag: u64) -> &'static str {
    // SAFETY: accepts any number.
    let name = unsafe { ffi::bly_ability(flag) };
    if name.is_null() {
        ""
    } else {
        constant(name)
    }
}

/// Returns name, family, summary and tier of each kind, and its abilities.
pub(crate) fn kinds() -> Vec<([&'static str; 4], u64)> {
    let texts = |kind: &ffi::bly_kind_info| [kind.name, kind.family, kind.summary, kind.tier];
    list().iter().map(|kind| (texts(kind).map(constant), kind.can)).collect()
}

fn list() -> &'static [&'static ffi::bly_kind_info] {
    let mut n = 0;
    // SAFETY: the library returns an array of n pointers, constant for the life of the
    // program. A reference has the representation of a pointer that is not NULL.
    unsafe {
        let all = ffi::bly_kinds(&mut n);
        std::slice::from_raw_parts(all.cast(), n)
    }
}

pub(crate) fn plan(kind: &CStr, spec: &Spec<'_>, grown: u64) -> Result<ffi::bly_plan_t, Error> {
    let mut out = Plain::zero();
    let (kind, spec) = (kind.as_ptr(), spec.raw());
    // SAFETY: all arguments are valid during the call.
    check(match grown {
        0 => unsafe { ffi::bly_plan(&mut out, kind, &spec) },
        keys => unsafe { ffi::bly_plan_grown(&mut out, kind, &spec, keys) },
    })?;
    Ok(out)
}

pub(crate) fn hash_many(
    hashes: &mut [u64],
    kind: &CStr,
    spec: &Spec<'_>,
    keys: &Keys<'_>,
) -> Result<(), Error> {
    assert_eq!(hashes.len(), keys.raw.n);
    // SAFETY: there is a hash for each key.
    check(unsafe {
        ffi::bly_hash_many(hashes.as_mut_ptr(), kind.as_ptr(), &spec.raw(), &keys.raw)
    })?;
    Ok(())
}

/// Calls a function with each advice for a need, the best first.
pub(crate) fn advise<T>(
    fill: impl FnOnce(&mut ffi::bly_need),
    f: impl FnMut(&ffi::bly_advice, &'static str) -> T,
) -> Result<Vec<T>, Error> {
    struct Ranking(*mut ffi::bly_ranking);
    impl Drop for Ranking {
        fn drop(&mut self) {
            // SAFETY: the ranking is owned.
            unsafe { ffi::bly_ranking_free(self.0) }
        }
    }
    let (mut need, mut out, mut f) = (Plain::zero(), null_mut(), f);
    fill(&mut need);
    // SAFETY: both are valid.
    check(unsafe { ffi::bly_advise(&mut out, &need) })?;
    let ranking = Ranking(out);
    // SAFETY: the ranking is valid.
    let n = unsafe { ffi::bly_ranking_count(ranking.0) };
    Ok((0..n)
        .map(|i| {
            // SAFETY: advice number i lives as long as the ranking.
            let advice = unsafe { &*ffi::bly_ranking_at(ranking.0, i) };
            f(advice, constant(advice.tier))
        })
        .collect())
}
