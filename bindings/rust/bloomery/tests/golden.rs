//! The golden images of the library, read and made byte for byte. They are in the
//! project's repository, or in the folder that BLOOMERY_GOLDEN names.

use std::path::PathBuf;

use bloomery::{Ability, Filter};

fn folder() -> PathBuf {
    std::env::var_os("BLOOMERY_GOLDEN").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../tests/golden")),
        PathBuf::from,
    )
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap())
        .collect()
}

/// The planned rate comes from the C library's logarithm, and the checksums go by it;
/// in images within an image too, which begin on multiples of 64.
fn without_rates(mut image: Vec<u8>) -> Vec<u8> {
    for at in (0..image.len().saturating_sub(127)).step_by(64) {
        if at == 0 || image[at..].starts_with(b"bloomery") {
            image[at + 56..at + 64].fill(0);
            image[at + 112..at + 128].fill(0);
        }
    }
    image
}

#[test]
fn golden_images_are_read_and_made_anew() {
    let files = match std::fs::read_dir(folder()) {
        Ok(files) => files,
        Err(_) => return println!("skipped: no golden images here"),
    };
    let mut compared = 0;
    for file in files {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let (first, hex) = text.split_once('\n').unwrap();
        let kind = first[2..].split(": ").next().unwrap();
        let image = bytes(hex);
        let old = Filter::from_bytes(&image).unwrap_or_else(|error| panic!("{kind}: {error}"));
        let packed = kind.strip_prefix("packed ");
        if packed.is_some() || !old.can(Ability::Pack) {
            assert!(old.to_bytes().unwrap() == image, "{kind}");
        }
        let kind = packed.unwrap_or(kind);
        let keys: Vec<String> = match kind.starts_with("egh") {
            true => (0..10).map(|i| i.to_string()).collect(),
            false => (0..100).map(|i| format!("key-{i}")).collect(),
        };
        // Of hashes alone, or some keys are lost.
        if ["egh", "twin", "cascade"].iter().any(|name| kind.starts_with(name)) {
            continue;
        }
        assert!(old.contains_many(&keys).unwrap().iter().all(|&found| found), "{kind}");
        let mut sized = kind.to_string();
        if kind == "rehash:key=whole" {
            sized += ",by=xxh64";
        } else if kind != "standard:index=seeds"
            && (kind.starts_with("standard:index=") || kind.starts_with("rehash:by=murmur2"))
        {
            let plan = Filter::builder().items(100).plan().unwrap();
            sized += &format!(",m={},k={}", plan.geometry[0], plan.geometry[1]);
        }
        let new = Filter::builder()
            .kind(&sized)
            .items(100)
            .rate(0.01)
            .seed(7)
            .keys("any")
            .build_from(&keys)
            .unwrap_or_else(|error| panic!("{sized}: {error}"));
        assert_eq!(
            without_rates(new.to_bytes().unwrap()),
            without_rates(old.to_bytes().unwrap()),
            "{kind}"
        );
        compared += 1;
    }
    assert!(compared > 30, "only {compared} images were compared");
}
