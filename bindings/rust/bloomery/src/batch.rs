//! Batches of keys, made ready for one call of the library.

use crate::key::{Form, Value};
use crate::raw::Keys;
use crate::Error;

/// Keys and bytes that are made ready together, so that they stay in the cache.
const MOST: usize = 2048;
const MOST_BYTES: usize = 1 << 20;

/// Keys one behind the other. While all of them have 8 bytes, as numbers have, no
/// ends are kept. `before`: how many were cleared.
pub(crate) struct Batch {
    n: usize,
    before: u64,
    data: Vec<u8>,
    ends: Vec<u64>,
    even: bool,
}

const WIDTH: usize = 8;

impl Batch {
    pub fn new() -> Batch {
        Batch { n: 0, before: 0, data: Vec::new(), ends: Vec::new(), even: true }
    }

    pub fn len(&self) -> usize {
        self.n
    }

    pub fn is_full(&self) -> bool {
        self.n >= MOST || self.data.len() >= MOST_BYTES
    }

    pub fn clear(&mut self) {
        self.before += self.n as u64;
        self.n = 0;
        self.data.clear();
        self.ends.clear();
        self.even = true;
    }

    /// Appends the key that a form makes of a value.
    #[inline]
    pub fn push(&mut self, form: &Form, value: Value<'_>) -> Result<(), Error> {
        form.with(value, |key, _| self.push_bytes(key))
    }

    #[inline]
    pub fn push_bytes(&mut self, key: &[u8]) {
        if key.len() != WIDTH && self.even {
            self.even = false;
            self.ends.extend((0..=self.n).map(|i| (i * WIDTH) as u64));
        }
        self.data.extend_from_slice(key);
        if !self.even {
            self.ends.push(self.data.len() as u64);
        }
        self.n += 1;
    }

    pub fn keys(&self) -> Keys<'_> {
        match self.even {
            true => Keys::wide(&self.data, WIDTH),
            false => Keys::between(&self.data, &self.ends),
        }
        .after(self.before)
    }

    /// Returns the bytes of key `i`.
    pub fn get(&self, i: usize) -> &[u8] {
        match self.even {
            true => &self.data[i * WIDTH..(i + 1) * WIDTH],
            false => &self.data[self.ends[i] as usize..self.ends[i + 1] as usize],
        }
    }
}
