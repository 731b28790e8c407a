//! Measures lookups of one key and of many, in filters inside and outside the cache.
//!
//! `cargo bench` prints nanoseconds per key: the least of several rounds, for numbers
//! half of which are there.

use std::time::Instant;

use bloomery::Filter;

/// Keys of a filter, and of all rounds together.
const SIZES: [u64; 2] = [10_000, 50_000_000];
const LOOKUPS: u64 = 4_000_000;
const ROUNDS: u32 = 7;

/// Returns key `i`, in an order that no prefetcher foresees.
fn key(i: u64) -> i64 {
    (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 1) as i64
}

/// Returns the nanoseconds per lookup of the fastest round.
fn least(mut round: impl FnMut() -> usize) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        let hits = round();
        least = least.min(begin.elapsed().as_nanos() as f64 / LOOKUPS as f64);
        assert!(hits > 0, "no key is found");
    }
    least
}

fn main() -> Result<(), bloomery::Error> {
    println!("kind       keys       MB  contains  contains_many");
    for kind in ["standard", "blocked"] {
        for n in SIZES {
            let mut f = Filter::builder().kind(kind).items(n).rate(0.01).build()?;
            f.extend((0..n).map(key))?;
            let asked = (0..LOOKUPS).map(|i| key(i.wrapping_mul(0x2545_F491_4F6C_DD1D) % (2 * n)));
            let keys: Vec<i64> = asked.collect();
            let one = least(|| keys.iter().filter(|k| f.contains(*k).unwrap_or(false)).count());
            let many = least(|| {
                let found = f.contains_many(&keys).unwrap_or_default();
                found.into_iter().map(usize::from).sum()
            });
            let size = f.info()?.bytes as f64 / 1e6;
            println!("{kind:9} {n:9} {size:7.2} {one:8.1} {many:13.1}");
        }
    }
    Ok(())
}
