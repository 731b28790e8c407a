//! Keys: values of Rust, and the bytes that a filter knows them by.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use bloomery_sys as ffi;

use crate::raw;
use crate::{Error, ErrorKind};

/// The value of a key, in one of the classes that all languages share.
///
/// It is a [`Key`] itself, for keys of several classes in one filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Text: its UTF-8.
    Text(&'a str),
    /// Bytes as they are.
    Bytes(&'a [u8]),
    /// An integer, which is equal to the real number of the same value.
    Integer(i128),
    /// A real number.
    Real(f64),
}

/// A value that can be a key of a filter.
///
/// The same key has the same bytes in every language, on every machine and in every
/// version, unlike those of [`std::hash::Hash`]:
///
/// | type | class of keys | in Python |
/// |---|---|---|
/// | `str`, `String` | text | `str` |
/// | `[u8]`, `Vec<u8>`, `[u8; N]` | bytes | `bytes` |
/// | integers of 8 to 64 bits, `f32`, `f64` | number: `1` equals `1.0` | `int`, `float` |
///
/// References, `Box`, `Rc`, `Arc` and `Cow` of these are keys as well. The first key
/// that is added sets the class of a filter's keys, unless
/// [`Builder::keys`](crate::Builder::keys) states it.
///
/// A type of your own is a key if it says which value stands for it:
///
/// ```
/// use bloomery::{Filter, Key, Value};
///
/// struct User {
///     id: u32,
/// }
///
/// impl Key for User {
///     fn value(&self) -> Value<'_> {
///         self.id.value()
///     }
/// }
///
/// let mut seen = Filter::builder().items(1000).build()?;
/// seen.add(&User { id: 7 })?;
/// assert!(seen.contains(&7)?);
/// # Ok::<(), bloomery::Error>(())
/// ```
pub trait Key {
    /// Returns the value that stands for this key.
    fn value(&self) -> Value<'_>;
}

impl Key for Value<'_> {
    #[inline]
    fn value(&self) -> Value<'_> {
        *self
    }
}

impl Key for str {
    #[inline]
    fn value(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl Key for String {
    #[inline]
    fn value(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl Key for [u8] {
    #[inline]
    fn value(&self) -> Value<'_> {
        Value::Bytes(self)
    }
}

impl Key for Vec<u8> {
    #[inline]
    fn value(&self) -> Value<'_> {
        Value::Bytes(self)
    }
}

impl<const N: usize> Key for [u8; N] {
    #[inline]
    fn value(&self) -> Value<'_> {
        Value::Bytes(self)
    }
}

macro_rules! numbers {
    ($variant:ident as $wide:ty: $($number:ty)*) => {$(
        impl Key for $number {
            #[inline]
            fn value(&self) -> Value<'_> {
                Value::$variant(*self as $wide)
            }
        }
    )*};
}
numbers!(Integer as i128: i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
numbers!(Real as f64: f32 f64);

macro_rules! pointers {
    ($($pointer:ty)*) => {$(
        impl<T: Key + ?Sized> Key for $pointer {
            #[inline]
            fn value(&self) -> Value<'_> {
                (**self).value()
            }
        }
    )*};
}
pointers!(&T &mut T Box<T> Rc<T> Arc<T>);

impl<T: Key + ToOwned + ?Sized> Key for Cow<'_, T> {
    #[inline]
    fn value(&self) -> Value<'_> {
        (**self).value()
    }
}

/// A set of classes of values: those that a form leaves as they are.
const TEXT: u8 = 1;
const BYTES: u8 = 2;
const INTEGER: u8 = 4;
const REAL: u8 = 8;

/// How the keys of a filter become bytes: its form, as the header states it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub number: u64,
    /// The first key that is added sets the form.
    pub open: bool,
    /// Keys of any class, as the caller chose.
    pub any: bool,
    /// Keys of this form lie within others.
    pub nests: bool,
    /// Classes whose keys are made here, without a call.
    direct: u8,
}

impl Form {
    /// The form with a number. `any`: keys do not set it where it is 0.
    pub fn new(number: u64, any: bool) -> Form {
        let plain = number & (ffi::BLY_FORM_CASE | ffi::BLY_FORM_TRIM) == 0;
        let direct = match number & ffi::BLY_FORM_CLASS {
            ffi::BLY_KEYS_UNSTATED => TEXT | BYTES | INTEGER | REAL,
            ffi::BLY_KEYS_TEXT if plain => TEXT,
            ffi::BLY_KEYS_BYTES | ffi::BLY_KEYS_HEX => BYTES,
            ffi::BLY_KEYS_NUMBER => INTEGER | REAL,
            ffi::BLY_KEYS_INT64 => INTEGER,
            _ => 0,
        };
        Form { number, open: false, any: any && number == 0, nests: raw::nests(number), direct }
    }

    /// Returns the same form of a filter without keys.
    pub fn empty(self) -> Form {
        Form { open: self.number == 0 && !self.any, ..self }
    }

    /// Returns the form that a value sets as the first key.
    pub fn of(value: Value<'_>) -> Form {
        let number = match value {
            Value::Text(_) => ffi::BLY_KEYS_TEXT,
            Value::Bytes(_) => ffi::BLY_KEYS_BYTES,
            Value::Integer(_) | Value::Real(_) => ffi::BLY_KEYS_NUMBER,
        };
        Form::new(number, false)
    }

    /// Calls a function with the bytes of a key, and whether it lies within others. It is
    /// always inlined, because most callers know the type of their keys and need only one
    /// branch.
    #[inline(always)]
    pub fn with<R>(&self, value: Value<'_>, f: impl FnOnce(&[u8], bool) -> R) -> Result<R, Error> {
        match value {
            Value::Text(text) if self.direct & TEXT != 0 => Ok(f(text.as_bytes(), false)),
            Value::Bytes(bytes) if self.direct & BYTES != 0 => Ok(f(bytes, false)),
            Value::Integer(n) if self.direct & INTEGER != 0 && n as i64 as i128 == n => {
                Ok(f(&(n as i64).to_le_bytes(), false))
            }
            Value::Real(real) if self.direct & REAL != 0 => Ok(f(&raw::real_key(real), false)),
            value => {
                let mut room = Vec::new();
                let key = self.make(value, &mut room)?;
                Ok(f(key, self.nests))
            }
        }
    }

    /// Makes the bytes of a key that are not the value's own.
    #[cold]
    fn make<'a>(&self, value: Value<'a>, room: &'a mut Vec<u8>) -> Result<&'a [u8], Error> {
        let n = match value {
            Value::Integer(n) => n,
            other => return raw::form_key(self.number, other, room),
        };
        if i64::try_from(n).is_ok() {
            return raw::form_key(self.number, value, room);
        }
        let large = match u64::try_from(n) {
            Ok(large) => large,
            Err(_) => return Err(beyond(n)),
        };
        match self.number & ffi::BLY_FORM_CLASS {
            ffi::BLY_KEYS_INT64 => {
                room.extend_from_slice(&large.to_le_bytes());
                Ok(room)
            }
            ffi::BLY_KEYS_FLOAT | ffi::BLY_KEYS_DOUBLE if large as f64 as u128 == n as u128 => {
                raw::form_key(self.number, Value::Real(large as f64), room)
            }
            ffi::BLY_KEYS_FLOAT
            | ffi::BLY_KEYS_DOUBLE
            | ffi::BLY_KEYS_UNSTATED
            | ffi::BLY_KEYS_NUMBER
            | ffi::BLY_KEYS_INT32 => Err(beyond(n)),
            _ => raw::form_key(self.number, Value::Integer(0), room),
        }
    }
}

#[cold]
fn beyond(n: i128) -> Error {
    Error::new(
        ErrorKind::Parameter,
        format!(
            "the integer {n} is not one of the numbers that the filter's keys are: give it as \
             text or bytes, or, if it is from 2^63 to 2^64 - 1, make the filter with \
             keys(\"int64\")"
        ),
        0,
    )
}
