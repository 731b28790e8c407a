//! Requests: what a new filter should be, and how to read an old one.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::batch::Batch;
use crate::key::{Form, Key};
use crate::raw::{self, Handle, Keys, Options, SharedHandle, Spec};
use crate::{Error, ErrorKind, Filter, Plan, SharedFilter};

/// The kind of a filter if none is named: for a known number of keys, and for an
/// unknown one.
const USUAL: &str = "standard";
const GROWING: &str = "expandable";

/// A request for a filter, from [`Filter::builder`].
///
/// ```
/// use bloomery::Filter;
///
/// let mut seen = Filter::builder().kind("blocked").items(1_000_000).rate(0.001).build()?;
/// seen.add("swordfish")?;
/// assert!(seen.contains("swordfish")?);
/// # Ok::<(), bloomery::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Builder {
    kind: Option<String>,
    items: u64,
    rate: Option<f64>,
    seed: u64,
    hash: Option<String>,
    secret: Option<[u8; 16]>,
    threads: u32,
    keys: Option<String>,
}

impl Builder {
    /// Sets the kind, with options if needed: `"blocked"`, `"standard:k=5"`. The
    /// default is `"standard"`, or `"expandable"`, which grows, if the number of keys
    /// is not known. [`kinds`](crate::kinds) lists them all.
    pub fn kind(mut self, kind: &str) -> Builder {
        self.kind = Some(kind.into());
        self
    }

    /// Sets the number of keys that the filter should hold. [`build`](Self::build)
    /// needs it, unless the kind grows.
    pub fn items(mut self, items: u64) -> Builder {
        self.items = items;
        self
    }

    /// Sets the false-positive rate at that number of keys, above 0 and below 1. The
    /// default is 0.01.
    pub fn rate(mut self, rate: f64) -> Builder {
        self.rate = Some(rate);
        self
    }

    /// Sets the seed of the hash function. The default is 0. Filters with different
    /// seeds cannot be united or compared.
    pub fn seed(mut self, seed: u64) -> Builder {
        self.seed = seed;
        self
    }

    /// Sets the hash function. The default, `"xxh3"`, suits all kinds.
    pub fn hash(mut self, hash: &str) -> Builder {
        self.hash = Some(hash.into());
        self
    }

    /// Sets a secret for keys that an attacker chooses, and `"siphash"` as the hash
    /// function. The filter does not hold the secret: keep it.
    pub fn secret(mut self, secret: [u8; 16]) -> Builder {
        self.secret = Some(secret);
        self.hash.get_or_insert_with(|| "siphash".into());
        self
    }

    /// Limits the threads of calls for this filter: 1 starts none. By default the
    /// library chooses, and starts none for small work.
    pub fn threads(mut self, threads: u32) -> Builder {
        self.threads = threads;
        self
    }

    /// States the form of the keys: a class such as `"text"`, `"bytes"`, `"number"`,
    /// `"int64"` or `"domain"`, with changes to text if needed, or `"any"` for keys of
    /// several classes. By default the first key that is added sets the class.
    ///
    /// ```
    /// use bloomery::Filter;
    ///
    /// let mut names = Filter::builder().items(100).keys("text:case=lower,trim").build()?;
    /// names.add("Ann ")?;
    /// assert!(names.contains("ANN")?);
    /// # Ok::<(), bloomery::Error>(())
    /// ```
    pub fn keys(mut self, form: &str) -> Builder {
        self.keys = Some(form.into());
        self
    }

    /// Makes an empty filter. Errors are of kind `Parameter`, `Kind`, `Option`,
    /// `Hash`, `TooBig`, `Secret`, `OutOfMemory`, or `Unsupported` for a kind that can
    /// only be [built from its keys](Self::build_from).
    pub fn build(&self) -> Result<Filter, Error> {
        let texts = self.texts(self.items)?;
        let form = self.form()?;
        let mut handle = Handle::new(&texts.kind, &self.spec(&texts))?;
        if form != 0 {
            handle.set_form(form)?;
        }
        Ok(Filter::new(handle, self.keys.is_some()))
    }

    /// Makes an empty filter to which many threads may add. The form of its keys must
    /// be stated. Errors are those of [`build`](Self::build), and `Unsupported` for a
    /// kind without the ability [`Share`](crate::Ability::Share).
    ///
    /// ```
    /// let seen = bloomery::Filter::builder()
    ///     .kind("blocked")
    ///     .items(1000)
    ///     .keys("number")
    ///     .build_shared()?;
    /// std::thread::scope(|scope| {
    ///     for thread in 0..2 {
    ///         let seen = &seen;
    ///         scope.spawn(move || (0..500).try_for_each(|i| seen.add(&(2 * i + thread)).map(drop)));
    ///     }
    /// });
    /// assert!((0..1000).all(|i| seen.contains(&i).unwrap()));
    /// # Ok::<(), bloomery::Error>(())
    /// ```
    pub fn build_shared(&self) -> Result<SharedFilter, Error> {
        if self.keys.is_none() {
            return Err(Error::new(
                ErrorKind::Parameter,
                "a shared filter cannot take the class of its first key: state it, as in \
                 keys(\"text\"), keys(\"number\") or keys(\"any\")",
                0,
            ));
        }
        let texts = self.texts(self.items)?;
        let form = self.form()?;
        let handle = SharedHandle::new(&texts.kind, Spec { form, ..self.spec(&texts) })?;
        Ok(SharedFilter::new(handle, Form::new(form, false)))
    }

    /// Builds a filter of any kind from all its keys. Some kinds, such as `"fuse"`,
    /// can only be made this way, and are the smallest. Without
    /// [`items`](Self::items), it is planned for as many keys as there are.
    ///
    /// Errors are those of [`build`](Self::build), and `Form` for keys of several
    /// classes.
    ///
    /// ```
    /// let colours = bloomery::Filter::builder().kind("fuse").build_from(["red", "green"])?;
    /// assert!(colours.contains("red")?);
    /// # Ok::<(), bloomery::Error>(())
    /// ```
    pub fn build_from<I>(&self, keys: I) -> Result<Filter, Error>
    where
        I: IntoIterator,
        I::Item: Key,
    {
        self.build_all(keys.into_iter().map(|key| (key, 0)), false)
    }

    /// Builds a filter from keys with labels, for kinds that store labels. For kind
    /// `"cascade"`, members have label 1, and all others that it will be queried for
    /// have label 0.
    ///
    /// Errors are those of [`build_from`](Self::build_from), and `Parameter` for a key
    /// with two labels or a label that does not fit.
    ///
    /// ```
    /// let codes = bloomery::Filter::builder()
    ///     .kind("bloomier")
    ///     .build_from_labels([("red", 1), ("green", 2)])?;
    /// assert_eq!(codes.get("green")?, Some(2));
    /// # Ok::<(), bloomery::Error>(())
    /// ```
    pub fn build_from_labels<I, K>(&self, keys: I) -> Result<Filter, Error>
    where
        I: IntoIterator<Item = (K, u64)>,
        K: Key,
    {
        self.build_all(keys.into_iter(), true)
    }

    /// Predicts size, rate and cost of the filter without making it. Errors are those
    /// of [`build`](Self::build).
    ///
    /// ```
    /// let plan = bloomery::Filter::builder().items(1_000_000).plan()?;
    /// assert_eq!(plan.bytes, 1_199_248);
    /// # Ok::<(), bloomery::Error>(())
    /// ```
    pub fn plan(&self) -> Result<Plan, Error> {
        self.plan_grown(0)
    }

    /// Predicts the same of the filter once it has grown to a number of keys. Errors
    /// are those of [`plan`](Self::plan), and `Unsupported` for a kind that does not
    /// grow.
    pub fn plan_grown(&self, keys: u64) -> Result<Plan, Error> {
        let texts = self.texts(self.items)?;
        Ok(Plan::of(&raw::plan(&texts.kind, &self.spec(&texts), keys)?))
    }

    fn texts(&self, items: u64) -> Result<Texts, Error> {
        if self.rate == Some(0.0) {
            // To the library, it means the default.
            let why = "a false-positive rate of 0 is not possible: give one between 0 and 1";
            return Err(Error::new(ErrorKind::Parameter, why, 0));
        }
        let usual = if items > 0 { USUAL } else { GROWING };
        Ok(Texts {
            kind: raw::c_text(self.kind.as_deref().unwrap_or(usual))?,
            hash: self.hash.as_deref().map(raw::c_text).transpose()?,
        })
    }

    fn form(&self) -> Result<u64, Error> {
        self.keys.as_deref().map_or(Ok(0), raw::form_read)
    }

    fn spec<'a>(&'a self, texts: &'a Texts) -> Spec<'a> {
        Spec {
            items: self.items,
            rate: self.rate.unwrap_or(0.0),
            seed: self.seed,
            hash: texts.hash.as_deref(),
            secret: self.secret.as_ref(),
            threads: self.threads,
            ..Spec::default()
        }
    }

    fn build_all<K: Key>(
        &self,
        keys: impl Iterator<Item = (K, u64)>,
        labelled: bool,
    ) -> Result<Filter, Error> {
        let texts = self.texts(1)?;
        let spec = self.spec(&texts);
        let mut gathered = Gathered::new(&texts.kind, &spec, labelled);
        let mut form = match &self.keys {
            Some(_) => Some(Form::new(self.form()?, true)),
            None => None,
        };
        for (key, label) in keys {
            let form = form.get_or_insert_with(|| Form::of(key.value()));
            gathered.push(form, &key, label)?;
        }
        let form = form.unwrap_or_else(|| Form::new(0, false));
        let mut handle = gathered.build(&form)?;
        if form.number != handle.form() {
            match handle.set_form(form.number) {
                // Files of other systems have no room for a form.
                Err(error) if self.keys.is_none() && error.kind() == ErrorKind::Unsupported => (),
                other => other?,
            }
        }
        Ok(Filter::new(handle, self.keys.is_some()))
    }
}

/// A secret is not shown.
impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder")
            .field("kind", &self.kind)
            .field("items", &self.items)
            .field("rate", &self.rate)
            .field("seed", &self.seed)
            .field("hash", &self.hash)
            .field("secret", &self.secret.map(|_| "..."))
            .field("threads", &self.threads)
            .field("keys", &self.keys)
            .finish()
    }
}

/// The texts of a request, for C.
struct Texts {
    kind: CString,
    hash: Option<CString>,
}

/// Keys of a filter that is being built: their hashes, or the keys themselves if the
/// kind needs them.
struct Gathered<'a> {
    kind: &'a CString,
    spec: &'a Spec<'a>,
    whole: bool,
    batch: Batch,
    hashes: Vec<u64>,
    labels: Option<Vec<u64>>,
    levels: Vec<bool>,
}

impl<'a> Gathered<'a> {
    fn new(kind: &'a CString, spec: &'a Spec<'a>, labelled: bool) -> Gathered<'a> {
        let small = Spec { items: 1, ..*spec };
        let whole =
            !labelled && Handle::new(kind, &small).map_or(false, |mut handle| handle.needs_keys());
        Gathered {
            kind,
            spec,
            whole,
            batch: Batch::new(),
            hashes: Vec::new(),
            labels: labelled.then(Vec::new),
            levels: vec![false; bloomery_sys::BLY_NESTED_LEVELS],
        }
    }

    fn push(&mut self, form: &Form, key: &impl Key, label: u64) -> Result<(), Error> {
        self.batch.push(form, key.value())?;
        if form.nests {
            let key = self.batch.get(self.batch.len() - 1);
            self.levels[raw::level(form.number, key)] = true;
        }
        if let Some(labels) = &mut self.labels {
            labels.push(label);
        }
        if self.batch.is_full() && !self.whole {
            self.flush()?;
        }
        Ok(())
    }

    /// Replaces the keys of the batch by their hashes.
    fn flush(&mut self) -> Result<(), Error> {
        let (before, n) = (self.hashes.len(), self.batch.len());
        self.hashes.resize(before + n, 0);
        raw::hash_many(&mut self.hashes[before..], self.kind, self.spec, &self.batch.keys())?;
        self.batch.clear();
        Ok(())
    }

    fn build(mut self, form: &Form) -> Result<Handle, Error> {
        // Markers have no labels: the library refuses such keys.
        let marked = |&(_, &there): &(usize, &bool)| there && self.labels.is_none();
        for (level, _) in self.levels.iter().enumerate().filter(marked) {
            self.batch.push_bytes(&raw::marker(level));
        }
        let n = self.hashes.len() + self.batch.len();
        let items = if self.spec.items > 0 { self.spec.items } else { (n as u64).max(1) };
        let stated = if form.nests { form.number } else { 0 };
        let spec = Spec { items, form: stated, ..*self.spec };
        if self.whole {
            return Handle::build(self.kind, &spec, &self.batch.keys());
        }
        self.flush()?;
        Handle::build(self.kind, &spec, &Keys::hashes(&self.hashes, self.labels.as_deref()))
    }
}

/// How to read a filter, from [`Filter::options`].
///
/// ```no_run
/// let filter = bloomery::Filter::options().memory_limit(1 << 30).open("words.bly")?;
/// # Ok::<(), bloomery::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct OpenOptions {
    secret: Option<[u8; 16]>,
    format: Option<String>,
    threads: u32,
    memory_limit: u64,
    verify: bool,
}

impl OpenOptions {
    /// Gives the secret that the filter was made with.
    pub fn secret(mut self, secret: [u8; 16]) -> OpenOptions {
        self.secret = Some(secret);
        self
    }

    /// Names the format of another system, which is not verified, or `"bloomery"`. By
    /// default it is recognised from the bytes.
    pub fn format(mut self, format: &str) -> OpenOptions {
        self.format = Some(format.into());
        self
    }

    /// Limits the threads of calls for this filter, as [`Builder::threads`] does.
    pub fn threads(mut self, threads: u32) -> OpenOptions {
        self.threads = threads;
        self
    }

    /// Limits the bytes of memory of a filter that takes more than it was read from,
    /// as packed filters do. The default is 1 GiB or 8 times the bytes it is read
    /// from, whichever is larger, but at most half of the memory.
    pub fn memory_limit(mut self, bytes: u64) -> OpenOptions {
        self.memory_limit = bytes;
        self
    }

    /// Makes [`map`](Self::map) read the whole file and verify its checksum first. A
    /// file that is read into memory is always checked completely.
    pub fn verify(mut self, verify: bool) -> OpenOptions {
        self.verify = verify;
        self
    }

    /// Reads a file into memory, as [`Filter::open`] does, with the same errors; and
    /// `Secret`, `Limit`.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Filter, Error> {
        let path = c_path(path.as_ref())?;
        self.with(|options| Handle::open(&path, options)).map(|handle| Filter::new(handle, false))
    }

    /// Reads a file into memory, as a filter to which many threads may add. Errors are
    /// those of [`open`](Self::open), and `Unsupported` for a kind that cannot be
    /// shared.
    pub fn open_shared(&self, path: impl AsRef<Path>) -> Result<SharedFilter, Error> {
        let path = c_path(path.as_ref())?;
        let mut handle = self.with(|options| SharedHandle::open(&path, options))?;
        let form = Form::new(handle.exclusive().form(), false);
        Ok(SharedFilter::new(handle, form))
    }

    /// Makes a filter from bytes, as [`Filter::from_bytes`] does, with the same
    /// errors; and `Secret`, `Limit`.
    pub fn from_bytes(&self, bytes: &[u8]) -> Result<Filter, Error> {
        self.with(|options| Handle::unpack(bytes, options)).map(|handle| Filter::new(handle, false))
    }

    /// Maps a file to query it in place: only what lookups need is read. The filter
    /// cannot be changed. Errors are those of [`open`](Self::open).
    ///
    /// # Safety
    ///
    /// While the filter lives, nobody may truncate the file or change its bytes.
    /// Replacing it by renaming, as [`Filter::save`] does, is fine.
    pub unsafe fn map(&self, path: impl AsRef<Path>) -> Result<Filter, Error> {
        let path = c_path(path.as_ref())?;
        // SAFETY: the caller promises it.
        self.with(|options| unsafe { Handle::map(&path, false, self.verify, options) })
            .map(|handle| Filter::new(handle, false))
    }

    /// Maps a file for writing: changes go to the file, which is locked. It is marked
    /// "being written" from the first change until [`Filter::seal`] or drop. Errors
    /// are those of [`map`](Self::map), and `Io` if it is open for writing already.
    ///
    /// # Safety
    ///
    /// As for [`map`](Self::map), for all other processes and filters.
    pub unsafe fn map_mut(&self, path: impl AsRef<Path>) -> Result<Filter, Error> {
        let path = c_path(path.as_ref())?;
        // SAFETY: the caller promises it.
        self.with(|options| unsafe { Handle::map(&path, true, self.verify, options) })
            .map(|handle| Filter::new(handle, false))
    }

    fn with<T>(&self, f: impl FnOnce(&Options<'_>) -> Result<T, Error>) -> Result<T, Error> {
        let format = self.format.as_deref().map(raw::c_text).transpose()?;
        f(&Options {
            secret: self.secret.as_ref(),
            format: format.as_deref(),
            threads: self.threads,
            memory_limit: self.memory_limit,
        })
    }
}

/// A secret is not shown.
impl std::fmt::Debug for OpenOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenOptions")
            .field("secret", &self.secret.map(|_| "..."))
            .field("format", &self.format)
            .field("threads", &self.threads)
            .field("memory_limit", &self.memory_limit)
            .field("verify", &self.verify)
            .finish()
    }
}

pub(crate) fn c_path(path: &Path) -> Result<CString, Error> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| {
        let why = format!("{path:?} has a NUL character, which no path has");
        Error::new(ErrorKind::Parameter, why, 0)
    })
}
