//! A filter to which many threads add.

use std::fmt;

use crate::filter::{batches, look_up};
use crate::key::{Form, Key};
use crate::raw::SharedHandle;
use crate::{Error, Filter};

/// A filter to which many threads may add at once, while others query it, without a
/// lock: from [`Builder::build_shared`](crate::Builder::build_shared) or
/// [`OpenOptions::open_shared`](crate::OpenOptions::open_shared).
///
/// A key that one thread has added is found by another as soon as the two have
/// synchronised, through a lock, a channel, a join or an atomic flag. If two threads add
/// the same new key at the same time, both may be told that it is new.
pub struct SharedFilter {
    handle: SharedHandle,
    form: Form,
}

impl SharedFilter {
    pub(crate) fn new(handle: SharedHandle, form: Form) -> SharedFilter {
        SharedFilter { handle, form }
    }

    /// Adds a key, as [`Filter::add`] does.
    #[inline]
    pub fn add<K: Key + ?Sized>(&self, key: &K) -> Result<bool, Error> {
        let seen = self.form.with(key.value(), |key, nested| match nested {
            false => self.handle.add(key),
            true => self.handle.add_nested(self.form.number, key),
        })??;
        Ok(!seen)
    }

    /// Looks up a key, as [`Filter::contains`] does.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> Result<bool, Error> {
        self.form.with(key.value(), |key, nested| match nested {
            false => self.handle.contains(key),
            true => self.handle.contains_nested(self.form.number, key),
        })
    }

    /// Adds many keys, as [`Filter::extend`] does.
    pub fn extend<I>(&self, keys: I) -> Result<(), Error>
    where
        I: IntoIterator,
        I::Item: Key,
    {
        batches(keys, &self.form, |batch| {
            if !self.form.nests {
                return self.handle.add_many(&batch.keys()).1;
            }
            (0..batch.len()).try_for_each(|i| {
                self.handle.add_nested(self.form.number, batch.get(i)).map(|_| ())
            })
        })
    }

    /// Looks up many keys, as [`Filter::contains_many`] does.
    pub fn contains_many<I>(&self, keys: I) -> Result<Vec<bool>, Error>
    where
        I: IntoIterator,
        I::Item: Key,
    {
        look_up(&self.form, keys, |batch, present| {
            if !self.form.nests {
                return self.handle.contains_many(&batch.keys(), present);
            }
            for (i, present) in present.iter_mut().enumerate() {
                *present = self.handle.contains_nested(self.form.number, batch.get(i));
            }
            Ok(())
        })
    }

    /// Saves the filter to a file, as [`Filter::save`] does.
    pub fn save(&mut self, path: impl AsRef<std::path::Path>) -> Result<(), Error> {
        self.handle.exclusive().save(&crate::builder::c_path(path.as_ref())?)
    }

    /// Returns the filter, for everything else.
    pub fn into_filter(self) -> Filter {
        Filter::new(self.handle.into_handle(), true)
    }
}

/// Shows the kind only, because other threads may be adding.
impl fmt::Debug for SharedFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedFilter").field("kind", &self.handle.kind()).finish()
    }
}
