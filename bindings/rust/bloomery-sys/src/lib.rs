//! Declarations of the C library Bloomery, which this crate compiles and links.
//!
//! Names, meanings, errors and thread-safety are those of the C headers, which
//! document every item. The crate `bloomery` is the safe interface.
//!
//! ```
//! let version = unsafe { std::ffi::CStr::from_ptr(bloomery_sys::bly_version()) };
//! assert_eq!(version.to_str(), Ok(env!("CARGO_PKG_VERSION")));
//! ```

#![allow(non_camel_case_types)]

use std::os::raw::{c_char, c_int, c_uchar, c_uint, c_void};

// ---- Statuses, flags and abilities ---------------------------------------------

pub type bly_status = c_int;

pub const BLY_OK: bly_status = 0;
pub const BLY_SEEN: bly_status = 1;
pub const BLY_ENOMEM: bly_status = -1;
pub const BLY_EPARAM: bly_status = -2;
pub const BLY_EKIND: bly_status = -3;
pub const BLY_EOPTION: bly_status = -4;
pub const BLY_EHASH: bly_status = -5;
pub const BLY_ETOOBIG: bly_status = -6;
pub const BLY_EFORMAT: bly_status = -7;
pub const BLY_EVERSION: bly_status = -8;
pub const BLY_ECORRUPT: bly_status = -9;
pub const BLY_EUNSEALED: bly_status = -10;
pub const BLY_EIO: bly_status = -11;
pub const BLY_EMISMATCH: bly_status = -12;
pub const BLY_EFULL: bly_status = -13;
pub const BLY_EABSENT: bly_status = -14;
pub const BLY_EUNSUPPORTED: bly_status = -15;
pub const BLY_EREADONLY: bly_status = -16;
pub const BLY_EUNSAFE: bly_status = -17;
pub const BLY_EREMOVED: bly_status = -18;
pub const BLY_ESECRET: bly_status = -19;
pub const BLY_EUNFLUSHED: bly_status = -20;
pub const BLY_EFORM: bly_status = -21;
pub const BLY_ECANCELED: bly_status = -22;
pub const BLY_ELIMIT: bly_status = -23;

pub const BLY_MAP: c_int = 1;
pub const BLY_WRITE: c_int = 2;
pub const BLY_SHARED: c_int = 4;
pub const BLY_VERIFY: c_int = 8;

pub const BLY_CAN_ADD: u64 = 1 << 0;
pub const BLY_CAN_WHOLE_KEYS: u64 = 1 << 1;
pub const BLY_CAN_CONTAINS: u64 = 1 << 2;
pub const BLY_CAN_REMOVE: u64 = 1 << 3;
pub const BLY_CAN_COUNT: u64 = 1 << 4;
pub const BLY_CAN_LABEL: u64 = 1 << 5;
pub const BLY_CAN_SEPARATE: u64 = 1 << 6;
pub const BLY_CAN_SHARE: u64 = 1 << 7;
pub const BLY_CAN_PAGE: u64 = 1 << 8;
pub const BLY_CAN_LOCAL: u64 = 1 << 9;
pub const BLY_CAN_GROW: u64 = 1 << 10;
pub const BLY_CAN_FORGET: u64 = 1 << 11;
pub const BLY_CAN_RESIZE: u64 = 1 << 12;
pub const BLY_CAN_FINGERPRINTS: u64 = 1 << 13;
pub const BLY_CAN_PACK: u64 = 1 << 14;
pub const BLY_CAN_UNITE: u64 = 1 << 15;
pub const BLY_CAN_UNITE_AT: u64 = 1 << 16;
pub const BLY_CAN_INTERSECT: u64 = 1 << 17;
pub const BLY_CAN_OVERLAP: u64 = 1 << 18;
pub const BLY_CAN_SUBTRACT: u64 = 1 << 19;
pub const BLY_CAN_LIST_KEYS: u64 = 1 << 20;
pub const BLY_CAN_EXACT: u64 = 1 << 21;
pub const BLY_CAN_FOLD: u64 = 1 << 22;
pub const BLY_ABILITIES: usize = 23;

// ---- Types ------------------------------------------------------------------------

#[repr(C)]
pub struct bly_filter {
    _opaque: [u8; 0],
}

#[repr(C)]
pub struct bly_ranking {
    _opaque: [u8; 0],
}

#[repr(C)]
pub struct bly_costs {
    _opaque: [u8; 0],
}

#[repr(C)]
pub struct bly_allocator {
    _opaque: [u8; 0],
}

#[repr(C)]
pub struct bly_progress {
    _opaque: [u8; 0],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct bly_option_info {
    pub name: *const c_char,
    pub range: *const c_char,
    pub standard: *const c_char,
    pub help: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct bly_alias_info {
    pub name: *const c_char,
    pub options: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct bly_kind_info {
    pub name: *const c_char,
    pub family: *const c_char,
    pub summary: *const c_char,
    pub can: u64,
    pub options: *const *const bly_option_info,
    pub tier: *const c_char,
    pub aliases: *const *const bly_alias_info,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct bly_spec {
    pub capacity: u64,
    pub rate: f64,
    pub seed: u64,
    pub hash: *const c_char,
    pub secret: *const c_void,
    pub allocator: *const bly_allocator,
    pub flags: c_int,
    pub threads: u32,
    pub form: u64,
    pub progress: *const bly_progress,
    pub reserved: [u64; 7],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct bly_options {
    pub allocator: *const bly_allocator,
    pub secret: *const c_void,
    pub threads: u32,
    pub zero: u32,
    pub format: *const c_char,
    pub memory_limit: u64,
    pub progress: *const bly_progress,
    pub reserved: [u64; 2],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct bly_plan_t {
    pub kind: [c_char; 24],
    pub capacity: u64,
    pub bytes: u64,
    pub packed: u64,
    pub scratch: u64,
    pub bits_per_key: f64,
    pub rate: f64,
    pub rate_sd: f64,
    pub fill: f64,
    pub lost: f64,
    pub window: u64,
    pub lines_present: f64,
    pub lines_absent: f64,
    pub probes: u32,
    pub label_bits: u32,
    pub label_least: u64,
    pub label_most: u64,
    pub geometry: [u64; 4],
    pub can: u64,
    pub reserved: [u64; 9],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct bly_key {
    pub data: *const c_void,
    pub length: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct bly_keys {
    pub n: usize,
    pub keys: *const bly_key,
    pub data: *const c_void,
    pub offsets32: *const u32,
    pub offsets64: *const u64,
    pub width: usize,
    pub padded: u64,
    pub hashes: *const u64,
    pub labels: *const u64,
    pub before: u64,
    pub reserved: [u64; 1],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct bly_info_t {
    pub kind: [c_char; 24],
    pub hash: [c_char; 16],
    pub seed: u64,
    pub capacity: u64,
    pub bytes: u64,
    pub packed: u64,
    pub bits_per_key: f64,
    pub items: u64,
    pub distinct: f64,
    pub distinct_sd: f64,
    pub fill: f64,
    pub rate: f64,
    pub planned_rate: f64,
    pub lost: f64,
    pub window: u64,
    pub saturated: u64,
    pub probes: u32,
    pub label_bits: u32,
    pub label_least: u64,
    pub label_most: u64,
    pub geometry: [u64; 4],
    pub items_exact: bool,
    pub zero: [bool; 7],
    pub form: u64,
    pub fullest: f64,
    pub reserved: [u64; 11],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct bly_header {
    pub kind: [c_char; 24],
    pub hash: [c_char; 16],
    pub bytes: u64,
    pub items: u64,
    pub capacity: u64,
    pub rate: f64,
    pub seed: u64,
    pub geometry: [u64; 4],
    pub version: u32,
    pub known: bool,
    pub sealed: bool,
    pub packed: bool,
    pub zero: bool,
    pub form: u64,
    pub unpacked: u64,
    pub reserved: [u64; 7],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct bly_estimate {
    pub value: f64,
    pub sd: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct bly_overlap_t {
    pub a: bly_estimate,
    pub b: bly_estimate,
    pub either: bly_estimate,
    pub both: bly_estimate,
    pub differ: bly_estimate,
    pub jaccard: bly_estimate,
    pub reserved: [u64; 4],
}

// ---- <bloomery.h> -----------------------------------------------------------------

extern "C" {
    pub fn bly_strerror(status: bly_status) -> *const c_char;
    pub fn bly_why_in(language: *const c_char) -> *const c_char;
    pub fn bly_errno() -> c_int;
    pub fn bly_version() -> *const c_char;
    pub fn bly_ability(flag: u64) -> *const c_char;
    pub fn bly_kinds(n: *mut usize) -> *const *const bly_kind_info;
    pub fn bly_plan_grown(
        out: *mut bly_plan_t,
        kind: *const c_char,
        spec: *const bly_spec,
        keys: u64,
    ) -> bly_status;
    pub fn bly_plan(out: *mut bly_plan_t, kind: *const c_char, spec: *const bly_spec)
        -> bly_status;
    pub fn bly_hash(filter: *const bly_filter, key: *const c_void, length: usize) -> u64;
    pub fn bly_real_key(key: *mut c_uchar, real: f64);
    pub fn bly_hash_many(
        hashes: *mut u64,
        kind: *const c_char,
        spec: *const bly_spec,
        keys: *const bly_keys,
    ) -> bly_status;
    pub fn bly_new(
        out: *mut *mut bly_filter,
        kind: *const c_char,
        spec: *const bly_spec,
    ) -> bly_status;
    pub fn bly_build(
        out: *mut *mut bly_filter,
        kind: *const c_char,
        spec: *const bly_spec,
        keys: *const bly_keys,
    ) -> bly_status;
    pub fn bly_like(
        out: *mut *mut bly_filter,
        filter: *const bly_filter,
        options: *const bly_options,
    ) -> bly_status;
    pub fn bly_clear(filter: *mut bly_filter) -> bly_status;
    pub fn bly_copy(
        out: *mut *mut bly_filter,
        filter: *const bly_filter,
        options: *const bly_options,
    ) -> bly_status;
    pub fn bly_free(filter: *mut bly_filter);
    pub fn bly_add(filter: *mut bly_filter, key: *const c_void, length: usize) -> bly_status;
    pub fn bly_add_hash(filter: *mut bly_filter, hash: u64) -> bly_status;
    pub fn bly_add_many(
        filter: *mut bly_filter,
        keys: *const bly_keys,
        seen: *mut bool,
        done: *mut usize,
    ) -> bly_status;
    pub fn bly_contains(filter: *const bly_filter, key: *const c_void, length: usize) -> bool;
    pub fn bly_contains_many(
        filter: *const bly_filter,
        keys: *const bly_keys,
        present: *mut bool,
    ) -> bly_status;
    pub fn bly_remove(filter: *mut bly_filter, key: *const c_void, length: usize) -> bly_status;
    pub fn bly_remove_many(
        filter: *mut bly_filter,
        keys: *const bly_keys,
        each: *mut bly_status,
    ) -> bly_status;
    pub fn bly_count(filter: *const bly_filter, key: *const c_void, length: usize) -> u64;
    pub fn bly_count_many(
        filter: *const bly_filter,
        keys: *const bly_keys,
        counts: *mut u64,
    ) -> bly_status;
    pub fn bly_put(
        filter: *mut bly_filter,
        key: *const c_void,
        length: usize,
        label: u64,
    ) -> bly_status;
    pub fn bly_put_many(
        filter: *mut bly_filter,
        keys: *const bly_keys,
        labels: *const u64,
        done: *mut usize,
    ) -> bly_status;
    pub fn bly_get(
        filter: *const bly_filter,
        key: *const c_void,
        length: usize,
        label: *mut u64,
    ) -> bool;
    pub fn bly_get_many(
        filter: *const bly_filter,
        keys: *const bly_keys,
        found: *mut bool,
        labels: *mut u64,
    ) -> bly_status;
    pub fn bly_resize(filter: *mut bly_filter, capacity: u64) -> bly_status;
    pub fn bly_fold(filter: *mut bly_filter, times: u64) -> bly_status;
    pub fn bly_can(filter: *const bly_filter) -> u64;
    pub fn bly_kind_of(filter: *const bly_filter) -> *const c_char;
    pub fn bly_info(out: *mut bly_info_t, filter: *const bly_filter) -> bly_status;
    pub fn bly_header_of(out: *mut bly_header, filter: *const bly_filter);
    pub fn bly_unite(into: *mut bly_filter, other: *const bly_filter) -> bly_status;
    pub fn bly_intersect(into: *mut bly_filter, other: *const bly_filter) -> bly_status;
    pub fn bly_overlap(
        out: *mut bly_overlap_t,
        a: *const bly_filter,
        b: *const bly_filter,
    ) -> bly_status;
    pub fn bly_save(filter: *const bly_filter, path: *const c_char) -> bly_status;
    pub fn bly_open(
        out: *mut *mut bly_filter,
        path: *const c_char,
        flags: c_int,
        options: *const bly_options,
    ) -> bly_status;
    pub fn bly_seal(filter: *mut bly_filter) -> bly_status;
    pub fn bly_pack(
        filter: *const bly_filter,
        into: *mut c_void,
        room: usize,
        bytes: *mut usize,
    ) -> bly_status;
    pub fn bly_unpack(
        out: *mut *mut bly_filter,
        packed: *const c_void,
        bytes: usize,
        options: *const bly_options,
    ) -> bly_status;
}

// ---- <bloomery/form.h> and <bloomery/nested.h> ------------------------------------

pub const BLY_KEYS_UNSTATED: u64 = 0;
pub const BLY_KEYS_BYTES: u64 = 1;
pub const BLY_KEYS_TEXT: u64 = 2;
pub const BLY_KEYS_NUMBER: u64 = 3;
pub const BLY_KEYS_INT32: u64 = 4;
pub const BLY_KEYS_INT64: u64 = 5;
pub const BLY_KEYS_FLOAT: u64 = 6;
pub const BLY_KEYS_DOUBLE: u64 = 7;
pub const BLY_KEYS_HEX: u64 = 9;
pub const BLY_FORM_CLASS: u64 = 0x000F;
pub const BLY_FORM_CASE: u64 = 0x0030;
pub const BLY_FORM_TRIM: u64 = 0x0040;
pub const BLY_FORM_TEXT: usize = 64;

pub type bly_value_type = c_uint;

pub const BLY_TEXT: bly_value_type = 1;
pub const BLY_BYTES: bly_value_type = 2;
pub const BLY_INTEGER: bly_value_type = 3;
pub const BLY_REAL: bly_value_type = 4;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct bly_value {
    pub r#type: bly_value_type,
    pub data: *const c_void,
    pub length: usize,
    pub integer: i64,
    pub real: f64,
}

pub const BLY_NESTED_LEVELS: usize = 256;
pub const BLY_NESTED_NONE: u16 = 0xFFFF;

extern "C" {
    pub fn bly_form_read(form: *mut u64, text: *const c_char) -> bly_status;
    pub fn bly_form_write(text: *mut c_char, form: u64) -> *mut c_char;
    pub fn bly_form_of(filter: *const bly_filter) -> u64;
    pub fn bly_form_set(filter: *mut bly_filter, form: u64) -> bly_status;
    pub fn bly_form_room(form: u64, length: usize) -> usize;
    pub fn bly_form_key(
        key: *mut bly_key,
        form: u64,
        value: *const bly_value,
        room: *mut c_void,
    ) -> bly_status;
    pub fn bly_form_nests(form: u64) -> bool;
    pub fn bly_nested_key(
        key: *mut bly_key,
        form: u64,
        value: *const bly_value,
        room: *mut c_void,
    ) -> bly_status;
    pub fn bly_nested_level(form: u64, key: bly_key) -> c_uint;
    pub fn bly_nested_marker(room: *mut c_uchar, level: c_uint) -> bly_key;
    pub fn bly_nested_add(
        filter: *mut bly_filter,
        form: u64,
        keys: *const bly_key,
        n: usize,
        done: *mut usize,
    ) -> bly_status;
    pub fn bly_nested_find(
        filter: *const bly_filter,
        form: u64,
        keys: *const bly_key,
        n: usize,
        found: *mut u16,
    );
}

// ---- <bloomery/sketch.h> ----------------------------------------------------------

#[repr(C)]
#[derive(Clone, Copy)]
pub struct bly_listed {
    pub hash: u64,
    pub key: *const c_void,
    pub length: usize,
    pub side: c_int,
}

pub type bly_visit_key =
    Option<unsafe extern "C" fn(context: *mut c_void, listed: *const bly_listed) -> bool>;

extern "C" {
    pub fn bly_subtract(into: *mut bly_filter, other: *const bly_filter) -> bly_status;
    pub fn bly_list_keys(
        filter: *const bly_filter,
        visit: bly_visit_key,
        context: *mut c_void,
    ) -> bly_status;
}

// ---- <bloomery/advice.h> ----------------------------------------------------------

pub type bly_aim = c_uint;

pub const BLY_AIM_BALANCE: bly_aim = 0;
pub const BLY_AIM_FAST: bly_aim = 1;
pub const BLY_AIM_SMALL: bly_aim = 2;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct bly_need {
    pub capacity: u64,
    pub rate: f64,
    pub present: f64,
    pub can: u64,
    pub fixed: bool,
    pub core: bool,
    pub unknown: bool,
    pub zero: [bool; 1],
    pub aim: bly_aim,
    pub memory: u64,
    pub others: u64,
    pub label_most: u64,
    pub costs: *const bly_costs,
    pub allocator: *const bly_allocator,
    pub times: u64,
    pub reserved: [u64; 5],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct bly_advice {
    pub kind: [c_char; 48],
    pub fits: bool,
    pub beaten: bool,
    pub plan: bly_plan_t,
    pub ns_present: f64,
    pub ns_absent: f64,
    pub ns_lookup: f64,
    pub ns_add: f64,
    pub score: f64,
    pub why: [c_char; 160],
    pub limit: [c_char; 96],
    pub lacks: [c_char; 128],
    pub nearly: f64,
    pub tier: *const c_char,
}

extern "C" {
    pub fn bly_advise(out: *mut *mut bly_ranking, need: *const bly_need) -> bly_status;
    pub fn bly_ranking_count(ranking: *const bly_ranking) -> usize;
    pub fn bly_ranking_at(ranking: *const bly_ranking, i: usize) -> *const bly_advice;
    pub fn bly_ranking_free(ranking: *mut bly_ranking);
}
