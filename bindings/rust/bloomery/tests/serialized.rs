//! Filters in serde's formats.
#![cfg(feature = "serde")]

use bloomery::Filter;

#[test]
fn a_filter_is_its_bytes() {
    let f = Filter::builder().build_from(["red", "green"]).unwrap();
    let json = serde_json::to_string(&f).unwrap();
    let bytes: Vec<u8> = serde_json::from_str(&json).unwrap();
    assert_eq!(bytes, f.to_bytes().unwrap());
    assert!(serde_json::from_str::<Filter>(&json).unwrap().contains("red").unwrap());
    assert!(serde_json::from_str::<Filter>("[1, 2, 3]").is_err());
    assert!(serde_json::from_str::<Filter>("\"red\"").is_err());
}
