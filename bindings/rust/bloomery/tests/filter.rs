//! Every verb, the errors, and hostile input.

use std::thread;

use bloomery::{kinds, Ability, ErrorKind, Filter, SharedFilter};

fn built(kind: &str, n: i64) -> Filter {
    Filter::builder().kind(kind).items(n as u64).build_from(0..n).unwrap()
}

#[test]
fn filters_can_be_sent_and_shared() {
    fn is_sent_and_shared<T: Send + Sync>() {}
    is_sent_and_shared::<Filter>();
    is_sent_and_shared::<SharedFilter>();
    is_sent_and_shared::<bloomery::Error>();
}

#[test]
fn all_kinds_find_their_keys() {
    for kind in kinds() {
        if matches!(kind.name, "egh" | "stable") || kind.can(Ability::Separate) {
            continue;
        }
        let keys = 0..1000_i64;
        let builder = Filter::builder().kind(kind.name).items(1000);
        let f = match kind.can(Ability::Label) && !kind.can(Ability::Add) {
            true => builder.build_from_labels(keys.clone().map(|i| (i, 1))),
            false => builder.build_from(keys.clone()),
        };
        let f = f.unwrap_or_else(|error| panic!("{}: {error}", kind.name));
        assert_eq!(f.kind(), kind.name);
        assert!(f.contains_many(keys).unwrap().into_iter().all(|found| found), "{}", kind.name);
        let again = Filter::from_bytes(&f.to_bytes().unwrap()).unwrap();
        assert!(again.contains(&999).unwrap(), "{}", kind.name);
        assert_eq!(again.info().unwrap().keys, "number");
    }
}

#[test]
fn batches_of_any_size_and_layout_answer_as_single_keys_do() {
    let f = built("blocked", 10_000);
    for n in [0, 1, 2047, 2048, 2049, 9000] {
        let many = f.contains_many(0..n).unwrap();
        assert_eq!(many.len(), n as usize);
        assert!(many.into_iter().all(|found| found));
    }
    // Texts of 8 bytes, and then others.
    let words: Vec<String> =
        (0..5000).map(|i| "x".repeat(if i < 3000 { 8 } else { i % 40 })).collect();
    let mut f = Filter::builder().items(5000).build().unwrap();
    let new = f.add_many(&words).unwrap();
    assert_eq!(new.len(), 5000);
    let one_by_one: Vec<bool> = words.iter().map(|word| f.contains(word).unwrap()).collect();
    assert_eq!(f.contains_many(&words).unwrap(), one_by_one);
    assert!(one_by_one.into_iter().all(|found| found));
    assert!(!f.contains(&"x".repeat(41)).unwrap());
}

#[test]
fn counts_removals_and_labels() {
    let mut f = Filter::builder().kind("counting").items(1000).build().unwrap();
    f.extend(["a", "b", "a"]).unwrap();
    assert_eq!(f.count_many(["a", "b", "c"]).unwrap(), [Some(2), Some(1), Some(0)]);
    assert_eq!(f.remove_many(["a", "c"]).unwrap(), [true, false]);
    assert_eq!(f.count("a").unwrap(), Some(1));
    let standard = Filter::builder().build_from(["a"]).unwrap();
    assert_eq!(standard.count("a").unwrap(), None);
    assert_eq!(standard.get("a").unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(standard.copy().unwrap().remove("a").unwrap_err().kind(), ErrorKind::Unsupported);

    let pairs = [("a", 1), ("b", 2)];
    let mut f = Filter::builder().kind("bloomier").build_from_labels(pairs).unwrap();
    assert_eq!(f.get_many(["a", "b"]).unwrap(), [Some(1), Some(2)]);
    assert!(f.put("a", 2).unwrap());
    assert_eq!(f.get("a").unwrap(), Some(2));
    let cascade = Filter::builder()
        .kind("cascade")
        .build_from_labels((0..3000).map(|i| (i, u64::from(i < 1000))))
        .unwrap();
    let found = cascade.contains_many(0..3000).unwrap();
    assert!((0..3000).all(|i| found[i] == (i < 1000)));
}

#[test]
fn sets_are_combined() {
    let mut a = Filter::builder().items(1000).rate(1e-6).build().unwrap();
    let mut b = a.like().unwrap();
    a.extend(0..20).unwrap();
    b.extend(10..30).unwrap();
    let overlap = a.overlap(&b).unwrap();
    assert!((overlap.both.value - 10.0).abs() < 5.0 && overlap.both.sd > 0.0);
    let mut both = a.copy().unwrap();
    both.intersect(&b).unwrap();
    assert!(both.contains(&15).unwrap() && !both.contains(&25).unwrap());
    a.unite(&b).unwrap();
    assert!(a.contains_many(0..30).unwrap().into_iter().all(|found| found));
    assert_eq!(a.subtract(&b).unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(a.unite(&built("blocked", 10)).unwrap_err().kind(), ErrorKind::Mismatch);
}

#[test]
fn keys_within_others_have_markers_and_no_labels() {
    let made = || Filter::builder().keys("domain").rate(1e-6);
    let built = made().kind("standard").build_from(["a.org", "b.a.org"]).unwrap();
    assert_eq!(built.info().unwrap().capacity, 4); // two levels
    let mut f = made().kind("attenuated").items(10).build().unwrap();
    assert_eq!(f.put("a.org", 1).unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(f.put_many([("a.org", 1)]).unwrap_err().kind(), ErrorKind::Unsupported);
    f.add("a.org").unwrap();
    assert!(f.contains("b.a.org").unwrap());
}

#[test]
fn a_rate_is_above_0_and_below_1() {
    for rate in [0.0, 1.0, -0.5, f64::NAN, f64::INFINITY] {
        let error = Filter::builder().items(10).rate(rate).build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Parameter, "{rate}");
    }
}

#[test]
fn a_file_mapped_for_reading_is_not_changed() {
    let path = std::env::temp_dir().join(format!("mapped-{}.bly", std::process::id()));
    let empty = Filter::builder().items(10).build().unwrap();
    empty.save(&path).unwrap();
    let mut other = empty.like().unwrap();
    other.add("a").unwrap();
    // SAFETY: nobody else knows the file.
    let mut mapped = unsafe { Filter::options().map(&path) }.unwrap();
    assert_eq!(mapped.unite(&other).unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(mapped.add("a").unwrap_err().kind(), ErrorKind::ReadOnly);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn filters_are_resized_and_folded() {
    let mut f = built("cuckoo", 1000);
    f.resize(4000).unwrap();
    assert!(f.info().unwrap().capacity >= 4000);
    assert!(f.contains(&999).unwrap());
    let mut f = Filter::builder().kind("standard:m=1024,k=2").build().unwrap();
    f.add(&1).unwrap();
    f.fold(4).unwrap();
    assert_eq!(f.info().unwrap().geometry[0], 256);
    assert!(f.contains(&1).unwrap());
    assert_eq!(f.fold(0).unwrap_err().kind(), ErrorKind::Parameter);
}

#[test]
fn many_threads_add_and_query() {
    let shared =
        Filter::builder().kind("blocked").items(100_000).keys("number").build_shared().unwrap();
    thread::scope(|scope| {
        for part in 0..4_u32 {
            let shared = &shared;
            scope.spawn(move || {
                shared.extend((part * 20_000)..((part + 1) * 20_000 - 1)).unwrap();
                shared.add(&((part + 1) * 20_000 - 1)).unwrap();
                assert!(shared.contains(&(part * 20_000)).unwrap());
            });
        }
    });
    assert!(shared.contains_many(0..80_000).unwrap().into_iter().all(|found| found));
    assert_eq!(shared.add("text").unwrap_err().kind(), ErrorKind::Form);
    let filter = shared.into_filter();
    assert_eq!(filter.info().unwrap().items, 80_000);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert!(filter.contains(&1).unwrap() && filter.info().is_ok()));
        }
    });
    let domains =
        Filter::builder().kind("blocked").items(8000).keys("domain").build_shared().unwrap();
    thread::scope(|scope| {
        for part in 0..4 {
            let domains = &domains;
            scope.spawn(move || {
                domains.extend((1..2000).map(|i| format!("n{i}.part{part}.org"))).unwrap();
                domains.add(&format!("n0.part{part}.org")).unwrap();
            });
        }
    });
    for part in 0..4 {
        let within = (0..2000).map(|i| format!("www.n{i}.part{part}.org"));
        assert!(domains.contains_many(within).unwrap().into_iter().all(|found| found));
        assert!(domains.contains(&format!("a.b.n7.part{part}.org")).unwrap());
    }
    let unstated = Filter::builder().kind("blocked").items(10);
    assert_eq!(unstated.build_shared().unwrap_err().kind(), ErrorKind::Parameter);
    let cuckoo = Filter::builder().kind("cuckoo").items(10).keys("text");
    assert_eq!(cuckoo.build_shared().unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn files_are_saved_opened_and_mapped() {
    let folder = std::env::temp_dir().join(format!("bloomery-rust-files-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("f.bly");
    built("blocked", 1000).save(&path).unwrap();
    assert!(Filter::open(&path).unwrap().contains(&999).unwrap());
    // SAFETY: no other program uses the files of this test.
    let mut mapped = unsafe { Filter::options().verify(true).map(&path) }.unwrap();
    assert!(mapped.contains(&999).unwrap());
    assert_eq!(mapped.add(&1).unwrap_err().kind(), ErrorKind::ReadOnly);
    // SAFETY: as above.
    let mut written = unsafe { Filter::options().map_mut(&path) }.unwrap();
    written.add(&5000).unwrap();
    written.seal().unwrap();
    drop(written);
    let shared = Filter::options().open_shared(&path).unwrap();
    assert!(shared.contains(&5000).unwrap());
    shared.add(&6000).unwrap();
    assert!(shared.into_filter().contains(&6000).unwrap());

    let missing = Filter::open(folder.join("missing.bly")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Io);
    assert_eq!(missing.raw_os_error(), Some(2));
    assert_eq!(std::io::Error::from(missing).kind(), std::io::ErrorKind::NotFound);
    assert_eq!(Filter::open("a\0b").unwrap_err().kind(), ErrorKind::Parameter);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn secrets_are_needed_and_not_shown() {
    let builder = Filter::builder().items(10).secret([7; 16]);
    assert!(!format!("{builder:?}").contains('7'));
    let bytes = builder.build_from(["a"]).unwrap().to_bytes().unwrap();
    assert_eq!(Filter::from_bytes(&bytes).unwrap_err().kind(), ErrorKind::Secret);
    let wrong = Filter::options().secret([8; 16]).from_bytes(&bytes);
    assert_eq!(wrong.unwrap_err().kind(), ErrorKind::Secret);
    let opened = Filter::options().secret([7; 16]).from_bytes(&bytes).unwrap();
    assert!(opened.contains("a").unwrap());
}

#[test]
fn wrong_parameters_are_errors() {
    let error = |builder: bloomery::Builder| builder.build().unwrap_err().kind();
    assert_eq!(error(Filter::builder().kind("nothing").items(9)), ErrorKind::Kind);
    assert_eq!(error(Filter::builder().kind("a\0b").items(9)), ErrorKind::Parameter);
    assert_eq!(error(Filter::builder().kind("standard:k=zero").items(9)), ErrorKind::Option);
    assert_eq!(error(Filter::builder().kind("standard")), ErrorKind::Parameter);
    assert_eq!(error(Filter::builder().kind("fuse").items(9)), ErrorKind::Unsupported);
    assert_eq!(error(Filter::builder().items(9).rate(f64::NAN)), ErrorKind::Parameter);
    assert_eq!(error(Filter::builder().items(9).hash("sha0")), ErrorKind::Hash);
    assert_eq!(error(Filter::builder().items(9).keys("words")), ErrorKind::Parameter);
    assert_eq!(error(Filter::builder().items(1 << 62)), ErrorKind::Parameter);
    let message = Filter::builder().kind("fuse").items(9).build().unwrap_err().to_string();
    assert!(message.contains("build_from") && !message.contains("bly_"), "{message}");
}

#[test]
fn damaged_bytes_are_refused() {
    let bytes = built("standard", 100).to_bytes().unwrap();
    for end in 0..bytes.len() {
        assert!(Filter::from_bytes(&bytes[..end]).is_err());
    }
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        assert!(Filter::from_bytes(&damaged).is_err(), "byte {at}");
    }
}

#[test]
fn a_failing_iterator_keeps_what_came_before() {
    let mut f = Filter::builder().items(10_000).rate(1e-6).build().unwrap();
    let keys = (0..5000).map(bloomery_value);
    assert_eq!(f.add_many(keys).unwrap_err().kind(), ErrorKind::Form);
    assert!(f.contains_many(0..3999).unwrap().into_iter().all(|found| found));
    assert!(!f.contains(&4001).unwrap());
}

/// A number, or a text in place of 4000.
fn bloomery_value(i: i64) -> bloomery::Value<'static> {
    match i {
        4000 => bloomery::Value::Text("4000"),
        _ => bloomery::Value::Integer(i.into()),
    }
}

#[test]
fn debug_shows_a_line() {
    let shown = format!("{:?}", built("blocked", 10));
    assert!(shown.starts_with("Filter { kind: \"blocked\", items: Some(10)"), "{shown}");
}
