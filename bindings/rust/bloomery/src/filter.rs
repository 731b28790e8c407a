//! The filter.

use std::fmt;
use std::path::Path;

use crate::batch::Batch;
use crate::builder::{c_path, Builder, OpenOptions};
use crate::key::{Form, Key, Value};
use crate::raw::{self, Handle};
use crate::{Ability, Error, ErrorKind, Info, Overlap};

/// A filter of any kind: a set of keys in a few bits each.
///
/// Every method with a key returns an error of kind [`Form`](ErrorKind::Form) if the
/// key is of another class than the filter's keys, and `Parameter` if the class cannot
/// hold it. Methods that change a filter return `ReadOnly` if it was
/// [mapped](OpenOptions::map) for reading, and `Unsupported` if its kind cannot do
/// that. After an error the filter is unchanged, except that methods for many keys
/// keep those before the one that failed.
///
/// Many threads may use a `&Filter` at once. To add from several threads, use
/// [`SharedFilter`](crate::SharedFilter).
///
/// ```
/// use bloomery::Filter;
///
/// let mut f = Filter::builder().items(1000).build()?;
/// f.extend(["red", "green"])?;
/// assert!(f.contains("red")?);
/// assert!(!f.contains("mauve")?);
/// # Ok::<(), bloomery::Error>(())
/// ```
pub struct Filter {
    handle: Handle,
    form: Form,
}

impl Filter {
    /// Wraps a handle. If it is empty and states no form, the first key sets it,
    /// unless the caller chose `any`.
    pub(crate) fn new(handle: Handle, any: bool) -> Filter {
        let form = Form::new(handle.form(), any);
        let form = if handle.header().items == 0 { form.empty() } else { form };
        Filter { handle, form }
    }

    // ---- Make, open and save ----

    /// Begins a request for a new filter.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Returns options to open a filter with.
    pub fn options() -> OpenOptions {
        OpenOptions::default()
    }

    /// Reads a file into memory, and checks all of it. It is a file of this library, in
    /// any language, or of one of the other systems that the library recognises.
    ///
    /// Errors are of kind `Io`, `Format`, `Version`, `Corrupt`, `Unsealed`, `Hash`,
    /// `Kind`, `OutOfMemory`, `Limit`, and `Secret` for a filter that needs one.
    pub fn open(path: impl AsRef<Path>) -> Result<Filter, Error> {
        Filter::options().open(path)
    }

    /// Saves the filter to a file, atomically: after a failure, or a crash, the old file
    /// is there. Errors are of kind `Io`, `OutOfMemory`, and `Unflushed` if the new file
    /// is in place but its folder could not be flushed.
    ///
    /// ```
    /// use bloomery::Filter;
    ///
    /// let path = std::env::temp_dir().join(format!("colours-{}.bly", std::process::id()));
    /// Filter::builder().build_from(["red", "green"])?.save(&path)?;
    /// assert!(Filter::open(&path)?.contains("red")?);
    /// # std::fs::remove_file(path).unwrap();
    /// # Ok::<(), bloomery::Error>(())
    /// ```
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        self.handle.save(&c_path(path.as_ref())?)
    }

    /// Returns the bytes that [`save`](Self::save) would write, packed if the kind can
    /// do that.
    ///
    /// ```
    /// use bloomery::Filter;
    ///
    /// let bytes = Filter::builder().build_from([1, 2, 3])?.to_bytes()?;
    /// assert!(Filter::from_bytes(&bytes)?.contains(&2)?);
    /// # Ok::<(), bloomery::Error>(())
    /// ```
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        self.handle.pack()
    }

    /// Makes a filter from the bytes of a file. They are checked completely and may come
    /// from anyone. Errors are those of [`open`](Self::open).
    pub fn from_bytes(bytes: &[u8]) -> Result<Filter, Error> {
        Filter::options().from_bytes(bytes)
    }

    /// Returns a copy in memory, which can be changed.
    pub fn copy(&self) -> Result<Filter, Error> {
        Ok(Filter { handle: self.handle.copy()?, form: self.form })
    }

    /// Makes an empty filter with the same plan, hash function, seed and form, which can
    /// be united and compared with this one.
    pub fn like(&self) -> Result<Filter, Error> {
        Ok(Filter { handle: self.handle.like()?, form: self.form.empty() })
    }

    /// Seals the file of a filter that is [mapped for writing](OpenOptions::map_mut):
    /// makes it durable and valid. Does nothing for any other filter. Errors are of kind
    /// `Io` and `Unflushed`.
    pub fn seal(&mut self) -> Result<(), Error> {
        self.handle.seal()
    }

    // ---- One key ----

    /// Adds a key. Returns whether it is new; `false`: it was perhaps there before.
    ///
    /// Errors are of kind `Full`, `Removed` (kind `twin`), and `OutOfMemory` or `TooBig`
    /// for a kind that grows.
    ///
    /// ```
    /// let mut f = bloomery::Filter::builder().items(10).build()?;
    /// assert!(f.add("red")?);
    /// assert!(!f.add("red")?);
    /// # Ok::<(), bloomery::Error>(())
    /// ```
    #[inline]
    pub fn add<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, Error> {
        let form = self.form_for(key.value());
        let handle = &mut self.handle;
        let seen = form.with(key.value(), |key, nested| match nested {
            false => handle.add(key),
            true => handle.add_nested(form.number, key),
        })??;
        self.settle(form)?;
        Ok(!seen)
    }

    /// Looks up a key. `false`: it was certainly not added. `true`: perhaps it was.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> Result<bool, Error> {
        self.form.with(key.value(), |key, nested| match nested {
            false => self.handle.contains(key),
            true => self.handle.contains_nested(self.form.number, key),
        })
    }

    /// Removes a key that was added, once. Returns whether it was there; `false`: it was
    /// certainly not, and nothing has changed.
    ///
    /// Only for keys that were added, and more often than removed since. A key that is
    /// found by accident can be removed as well, and takes other keys with it. The error
    /// `Unsafe` says that this key cannot be removed without risk to others.
    ///
    /// ```
    /// let mut f = bloomery::Filter::builder().kind("counting").items(10).build()?;
    /// f.add("red")?;
    /// assert!(f.remove("red")?);
    /// assert!(!f.contains("red")?);
    /// # Ok::<(), bloomery::Error>(())
    /// ```
    pub fn remove<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool, Error> {
        let handle = &mut self.handle;
        self.form.with(key.value(), |key, _| handle.remove(key))?
    }

    /// Returns how often a key was added, at most: 0 is certain. `None`: it is perhaps
    /// there, but this kind does not count. Of keys that lie within others, such as
    /// domains, only the key itself is counted.
    pub fn count<K: Key + ?Sized>(&self, key: &K) -> Result<Option<u64>, Error> {
        self.form.with(key.value(), |key, _| bound(self.handle.count(key)))
    }

    /// Stores a label with a key, for kinds with labels. Returns whether that changed
    /// anything.
    ///
    /// Errors are of kind `Parameter` for a label out of range, and `Absent` for a new
    /// key in a kind that is built from all its keys.
    pub fn put<K: Key + ?Sized>(&mut self, key: &K, label: u64) -> Result<bool, Error> {
        let form = self.form_for(key.value());
        let handle = &mut self.handle;
        let seen = form.with(key.value(), |key, _| handle.put(key, label))??;
        self.settle(form)?;
        Ok(!seen)
    }

    /// Returns the label of a key; `None`: the key itself is certainly not there.
    pub fn get<K: Key + ?Sized>(&self, key: &K) -> Result<Option<u64>, Error> {
        let found = self.form.with(key.value(), |key, _| self.handle.get(key))?;
        if found.is_none() {
            self.need(Ability::Label)?;
        }
        Ok(found)
    }

    /// Returns the hash by which the filter knows a key.
    pub fn hash<K: Key + ?Sized>(&self, key: &K) -> Result<u64, Error> {
        self.form.with(key.value(), |key, _| self.handle.hash(key))
    }

    // ---- Many keys ----

    /// Adds many keys, without saying which were new: this is faster than
    /// [`add_many`](Self::add_many). Errors are those of [`add`](Self::add).
    pub fn extend<I>(&mut self, keys: I) -> Result<(), Error>
    where
        I: IntoIterator,
        I::Item: Key,
    {
        self.add_each(keys, None)
    }

    /// Adds many keys. Returns for each whether it is new. Errors are those of
    /// [`add`](Self::add).
    ///
    /// ```
    /// let mut f = bloomery::Filter::builder().items(10).build()?;
    /// assert_eq!(f.add_many(["red", "green", "red"])?, [true, true, false]);
    /// # Ok::<(), bloomery::Error>(())
    /// ```
    pub fn add_many<I>(&mut self, keys: I) -> Result<Vec<bool>, Error>
    where
        I: IntoIterator,
        I::Item: Key,
    {
        let mut new = Vec::new();
        self.add_each(keys, Some(&mut new))?;
        Ok(new)
    }

    fn add_each<I>(&mut self, keys: I, mut new: Option<&mut Vec<bool>>) -> Result<(), Error>
    where
        I: IntoIterator,
        I::Item: Key,
    {
        let keys = keys.into_iter();
        if let Some(new) = &mut new {
            new.reserve(keys.size_hint().0.min(MOST_RESERVED));
        }
        self.each(keys, |filter, form, batch| {
            if form.nests {
                return filter.add_nested(form, batch, new.as_deref_mut());
            }
            let new = match &mut new {
                Some(new) => new,
                None => return filter.added(form, |handle| handle.add_many(&batch.keys(), None)),
            };
            let before = new.len();
            new.resize(before + batch.len(), false);
            let some = &mut new[before..];
            filter.added(form, |handle| handle.add_many(&batch.keys(), Some(some)))?;
            new[before..].iter_mut().for_each(|seen| *seen = !*seen);
            Ok(())
        })
    }

    /// Looks up many keys. In a filter larger than the cache, this is several times as
    /// fast as one by one.
    ///
    /// ```
    /// let f = bloomery::Filter::builder().rate(1e-6).build_from(["red", "green"])?;
    /// assert_eq!(f.contains_many(["red", "mauve"])?, [true, false]);
    /// # Ok::<(), bloomery::Error>(())
    /// ```
    pub fn contains_many<I>(&self, keys: I) -> Result<Vec<bool>, Error>
    where
        I: IntoIterator,
        I::Item: Key,
    {
        look_up(&self.form, keys, |batch, present| {
            if self.form.nests {
                for (i, present) in present.iter_mut().enumerate() {
                    *present = self.handle.contains_nested(self.form.number, batch.get(i));
                }
                return Ok(());
            }
            self.handle.contains_many(&batch.keys(), present)
        })
    }

    /// Removes many keys, as [`remove`](Self::remove) does, with the same errors.
    /// Returns for each whether it was there. Goes on after keys that cannot be removed
    /// without risk, and returns that error at the end of their batch.
    pub fn remove_many<I>(&mut self, keys: I) -> Result<Vec<bool>, Error>
    where
        I: IntoIterator,
        I::Item: Key,
    {
        let mut removed = Vec::new();
        let form = self.form;
        batches(keys, &form, |batch| self.handle.remove_many(&batch.keys(), &mut removed))?;
        Ok(removed)
    }

    /// Counts many keys, as [`count`](Self::count) does.
    pub fn count_many<I>(&self, keys: I) -> Result<Vec<Option<u64>>, Error>
    where
        I: IntoIterator,
        I::Item: Key,
    {
        let (mut all, mut counts) = (Vec::new(), Vec::new());
        batches(keys, &self.form, |batch| {
            counts.resize(batch.len(), 0);
            self.handle.count_many(&batch.keys(), &mut counts)?;
            all.extend(counts.iter().map(|&count| bound(count)));
            Ok(())
        })?;
        Ok(all)
    }

    /// Stores labels with many keys, as [`put`](Self::put) does, with the same errors.
    pub fn put_many<I, K>(&mut self, keys: I) -> Result<(), Error>
    where
        I: IntoIterator<Item = (K, u64)>,
        K: Key,
    {
        let (mut batch, mut labels) = (Batch::new(), Vec::new());
        let mut form = self.form;
        for (key, label) in keys {
            if batch.len() == 0 {
                form = self.form_for(key.value());
            }
            if let Err(error) = batch.push(&form, key.value()) {
                self.added(form, |handle| handle.put_many(&batch.keys(), &labels))?;
                return Err(error);
            }
            labels.push(label);
            if batch.is_full() {
                self.added(form, |handle| handle.put_many(&batch.keys(), &labels))?;
                batch.clear();
                labels.clear();
            }
        }
        self.added(form, |handle| handle.put_many(&batch.keys(), &labels))
    }

    /// Returns the labels of many keys, as [`get`](Self::get) does.
    pub fn get_many<I>(&self, keys: I) -> Result<Vec<Option<u64>>, Error>
    where
        I: IntoIterator,
        I::Item: Key,
    {
        self.need(Ability::Label)?;
        let (mut all, mut found, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        batches(keys, &self.form, |batch| {
            found.resize(batch.len(), false);
            labels.resize(batch.len(), 0);
            self.handle.get_many(&batch.keys(), &mut found, &mut labels)?;
            all.extend(found.iter().zip(&labels).map(|(&found, &label)| found.then_some(label)));
            Ok(())
        })?;
        Ok(all)
    }

    // ---- Two filters ----

    /// Adds all keys of another filter, as if they had been added here. The two must
    /// have the same kind, plan, hash function, seed and form, as filters made by
    /// [`like`](Self::like) have; else the error is `Mismatch`. `Full` is possible.
    ///
    /// ```
    /// let mut a = bloomery::Filter::builder().items(10).build()?;
    /// let mut b = a.like()?;
    /// a.add("red")?;
    /// b.add("green")?;
    /// a.unite(&b)?;
    /// assert!(a.contains("red")? && a.contains("green")?);
    /// # Ok::<(), bloomery::Error>(())
    /// ```
    pub fn unite(&mut self, other: &Filter) -> Result<(), Error> {
        self.join(other, true, Handle::unite)
    }

    /// Keeps what is in both filters. The result finds every key that is in both. Errors
    /// are those of [`unite`](Self::unite).
    pub fn intersect(&mut self, other: &Filter) -> Result<(), Error> {
        self.join(other, false, Handle::intersect)
    }

    /// Subtracts another filter, for kinds that list their keys: keys in both cancel
    /// out, and [`list_keys`](Self::list_keys) lists the difference. Errors are those of
    /// [`unite`](Self::unite).
    pub fn subtract(&mut self, other: &Filter) -> Result<(), Error> {
        self.join(other, true, Handle::subtract)
    }

    /// Estimates how many keys two filters have, alone and in common. Errors are those
    /// of [`unite`](Self::unite). Reads both filters.
    ///
    /// ```
    /// let mut a = bloomery::Filter::builder().items(1000).build()?;
    /// let mut b = a.like()?;
    /// a.extend(0..600)?;
    /// b.extend(300..900)?;
    /// assert!((a.overlap(&b)?.both.value - 300.0).abs() < 50.0);
    /// # Ok::<(), bloomery::Error>(())
    /// ```
    pub fn overlap(&self, other: &Filter) -> Result<Overlap, Error> {
        Ok(Overlap::of(&self.handle.overlap(&other.handle)?))
    }

    /// A filter without keys and form goes with any other, and takes its form if it takes
    /// its keys. `kept`: it takes them.
    fn join(
        &mut self,
        other: &Filter,
        kept: bool,
        verb: fn(&mut Handle, &Handle) -> Result<(), Error>,
    ) -> Result<(), Error> {
        verb(&mut self.handle, &other.handle)?;
        let mut form = Form::new(self.handle.form(), self.form.any);
        form.open = self.form.open && form.number == 0 && (other.form.open || !kept);
        self.form = form;
        Ok(())
    }

    // ---- All keys ----

    /// Removes all keys.
    pub fn clear(&mut self) -> Result<(), Error> {
        self.handle.clear()?;
        self.form = self.form.empty();
        Ok(())
    }

    /// Makes room for as many keys as `items`, or for fewer, without the original keys.
    /// Errors are of kind `Parameter` for a number that the kind cannot reach, `Full`,
    /// `TooBig` and `OutOfMemory`.
    pub fn resize(&mut self, items: u64) -> Result<(), Error> {
        self.handle.resize(items)
    }

    /// Makes the filter a number of times smaller, without the original keys, at a
    /// higher rate. Errors are of kind `Parameter` for a number that does not divide the
    /// bits or blocks, and `OutOfMemory`.
    pub fn fold(&mut self, times: u64) -> Result<(), Error> {
        self.handle.fold(times)
    }

    /// Lists all keys of a filter that can do that, in an arbitrary order. Errors are of
    /// kind `Full` if there are too many to be decoded, and `OutOfMemory`.
    ///
    /// ```
    /// let mut mine = bloomery::Filter::builder().kind("invertible:key=8").items(10).build()?;
    /// let mut yours = mine.like()?;
    /// mine.extend([1, 2, 3])?;
    /// yours.extend([2, 3])?;
    /// mine.subtract(&yours)?;
    /// let only: Vec<_> = mine.list_keys()?.collect();
    /// assert_eq!(only[0].key.as_deref(), Some(&1_i64.to_le_bytes()[..]));
    /// # Ok::<(), bloomery::Error>(())
    /// ```
    pub fn list_keys(&self) -> Result<ListKeys, Error> {
        let mut all = Vec::new();
        self.handle.list_keys(|hash, key, side| {
            all.push(Listed { hash, key: key.map(<[u8]>::to_vec), subtracted: side < 0 });
        })?;
        Ok(ListKeys(all.into_iter()))
    }

    // ---- Look inside ----

    /// Reports facts and estimates. Reads the whole filter.
    pub fn info(&self) -> Result<Info, Error> {
        self.handle.info().map(|info| Info::of(&info))
    }

    /// Returns the name of the kind, without options.
    pub fn kind(&self) -> &'static str {
        self.handle.kind()
    }

    /// Returns whether the filter has an ability.
    pub fn can(&self, ability: Ability) -> bool {
        self.handle.can() & ability.flag() != 0
    }

    /// Returns the form of the keys, such as `"text"`; `"any"`: not stated.
    pub fn keys(&self) -> String {
        raw::form_text(self.form.number)
    }

    /// States the form of the keys, present and future, of a filter without one, such as
    /// one that a program in C has made. See [`Builder::keys`]. With `"any"`, the first
    /// key that is added does not set it.
    ///
    /// Errors are of kind `Mismatch` if the filter has another form, and `Parameter`,
    /// also if it has keys and those of the form lie within others.
    pub fn state_keys(&mut self, form: &str) -> Result<(), Error> {
        let number = raw::form_read(form)?;
        self.handle.set_form(number)?;
        self.form = Form::new(number, true);
        Ok(())
    }

    // ---- Inside ----

    fn need(&self, ability: Ability) -> Result<(), Error> {
        if self.can(ability) {
            return Ok(());
        }
        let why = format!("kind '{}' lacks the ability '{}'", self.kind(), ability.name());
        Err(Error::new(ErrorKind::Unsupported, why, 0))
    }

    /// Returns the form for a key that is about to be added.
    #[inline]
    fn form_for(&self, first: Value<'_>) -> Form {
        if self.form.open {
            Form::of(first)
        } else {
            self.form
        }
    }

    /// A key of this form has been added.
    #[inline]
    fn settle(&mut self, form: Form) -> Result<(), Error> {
        if self.form.open {
            self.state(form)
        } else {
            Ok(())
        }
    }

    /// Files of other systems have no room for a form, and take keys of any.
    #[cold]
    fn state(&mut self, form: Form) -> Result<(), Error> {
        self.form = match self.handle.set_form(form.number) {
            Err(error) if error.kind() == ErrorKind::Unsupported => Form::new(0, true),
            other => other.map(|()| form)?,
        };
        Ok(())
    }

    /// Calls a function that adds keys of a form and returns how many were added.
    fn added(
        &mut self,
        form: Form,
        f: impl FnOnce(&mut Handle) -> (usize, Result<(), Error>),
    ) -> Result<(), Error> {
        let (done, result) = f(&mut self.handle);
        if done > 0 {
            self.settle(form)?;
        }
        result
    }

    fn add_nested(
        &mut self,
        form: Form,
        batch: &Batch,
        mut new: Option<&mut Vec<bool>>,
    ) -> Result<(), Error> {
        for i in 0..batch.len() {
            let seen = self.handle.add_nested(form.number, batch.get(i))?;
            if let Some(new) = &mut new {
                new.push(!seen);
            }
        }
        Ok(())
    }

    /// Calls a function that adds each batch of keys, with the form of these keys.
    fn each<I>(
        &mut self,
        keys: I,
        mut f: impl FnMut(&mut Filter, Form, &Batch) -> Result<(), Error>,
    ) -> Result<(), Error>
    where
        I: IntoIterator,
        I::Item: Key,
    {
        let mut batch = Batch::new();
        let mut form = self.form;
        for key in keys {
            if batch.len() == 0 {
                form = self.form_for(key.value());
            }
            if let Err(error) = batch.push(&form, key.value()) {
                f(self, form, &batch)?;
                return Err(error);
            }
            if batch.is_full() {
                f(self, form, &batch)?;
                batch.clear();
            }
        }
        f(self, form, &batch)
    }
}

/// Shows the kind, the number of keys and the form, from the header.
impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = self.handle.header();
        f.debug_struct("Filter")
            .field("kind", &self.kind())
            .field("items", &(header.items != u64::MAX).then_some(header.items))
            .field("capacity", &header.capacity)
            .field("rate", &header.rate)
            .field("keys", &self.keys())
            .field("bytes", &header.bytes)
            .finish()
    }
}

/// A key of a filter that lists its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its hash.
    pub hash: u64,
    /// Its bytes, if the filter keeps them.
    pub key: Option<Vec<u8>>,
    /// Whether it is only in the filter that was subtracted.
    pub subtracted: bool,
}

/// The keys of a filter, from [`Filter::list_keys`].
#[derive(Clone, Debug)]
pub struct ListKeys(std::vec::IntoIter<Listed>);

impl Iterator for ListKeys {
    type Item = Listed;

    fn next(&mut self) -> Option<Listed> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl ExactSizeIterator for ListKeys {}

/// Answers for which room is reserved before the keys are seen, at most.
const MOST_RESERVED: usize = 1 << 20;

fn bound(count: u64) -> Option<u64> {
    (count != u64::MAX).then_some(count)
}

/// Looks up the keys of each batch.
pub(crate) fn look_up<I>(
    form: &Form,
    keys: I,
    f: impl Fn(&Batch, &mut [bool]) -> Result<(), Error>,
) -> Result<Vec<bool>, Error>
where
    I: IntoIterator,
    I::Item: Key,
{
    let keys = keys.into_iter();
    let mut all = Vec::with_capacity(keys.size_hint().0.min(MOST_RESERVED));
    batches(keys, form, |batch| {
        let before = all.len();
        all.resize(before + batch.len(), false);
        f(batch, &mut all[before..])
    })?;
    Ok(all)
}

/// Calls a function with each batch of keys of a form.
pub(crate) fn batches<I>(
    keys: I,
    form: &Form,
    mut f: impl FnMut(&Batch) -> Result<(), Error>,
) -> Result<(), Error>
where
    I: IntoIterator,
    I::Item: Key,
{
    let mut batch = Batch::new();
    for key in keys {
        if let Err(error) = batch.push(form, key.value()) {
            f(&batch)?;
            return Err(error);
        }
        if batch.is_full() {
            f(&batch)?;
            batch.clear();
        }
    }
    f(&batch)
}
