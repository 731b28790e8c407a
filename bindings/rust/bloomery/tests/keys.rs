//! Keys have the same bytes in every language, and a class that a filter keeps.

use std::borrow::Cow;
use std::process::{Command, Stdio};

use bloomery::{kinds, Ability, Error, ErrorKind, Filter, Key, Value};

/// A filter that keeps whole keys, to see their bytes.
fn bytes_of(form: &str, key: &(impl Key + ?Sized)) -> Result<Vec<u8>, Error> {
    let mut f = Filter::builder().kind("invertible:key=40").items(10).keys(form).build()?;
    f.add(key)?;
    Ok(f.list_keys()?.next().expect("one key").key.expect("it is kept"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn keys_have_the_bytes_of_the_specification() {
    let vectors: &[(Value<'_>, &str, &str)] = &[
        (Value::Text("Café "), "any", "436166c3a920"),
        (Value::Text("Café "), "text", "436166c3a920"),
        (Value::Text("Café "), "text:case=lower,trim", "636166c3a9"),
        (Value::Text("Café "), "utf16", "430061006600e9002000"),
        (Value::Text("7"), "text", "37"),
        (Value::Integer(7), "number", "0700000000000000"),
        (Value::Real(7.0), "number", "0700000000000000"),
        (Value::Integer(-1), "number", "ffffffffffffffff"),
        (Value::Real(-1.0), "any", "ffffffffffffffff"),
        (Value::Real(2.5), "number", "0000000000000440"),
        (Value::Real(f64::NAN), "number", "000000000000f87f"),
        (Value::Real(-0.0), "number", "0000000000000000"),
        (Value::Real(9.3e18), "number", "40643f970722e043"),
        (Value::Integer(i64::MIN as i128), "number", "0000000000000080"),
        (Value::Real(-9223372036854775808.0), "number", "0000000000000080"),
        (Value::Integer(u64::MAX as i128), "int64", "ffffffffffffffff"),
        (Value::Integer(7), "int32", "07000000"),
        (Value::Integer(7), "float", "0000e040"),
        (Value::Integer(1 << 63), "double", "000000000000e043"),
        (Value::Bytes(b"\xff\0"), "bytes", "ff00"),
        (Value::Bytes(b"\xff\0"), "hex", "ff00"),
        (Value::Bytes(b""), "bytes", ""),
    ];
    for (value, form, expected) in vectors {
        if expected.is_empty() {
            let f = Filter::builder().keys(form).build_from([value]).unwrap();
            assert!(f.contains(value).unwrap());
            continue;
        }
        let bytes = bytes_of(form, value).unwrap_or_else(|e| panic!("{value:?}, {form}: {e}"));
        assert_eq!(hex(&bytes), *expected, "{value:?}, {form}");
    }
}

#[test]
fn types_of_rust_have_the_values_of_their_classes() {
    let text = Value::Text("a");
    assert_eq!("a".value(), text);
    assert_eq!(String::from("a").value(), text);
    assert_eq!(Cow::Borrowed("a").value(), text);
    assert_eq!((&&Box::new("a")).value(), text);
    assert_eq!([97_u8].value(), Value::Bytes(b"a"));
    assert_eq!(vec![97_u8].value(), Value::Bytes(b"a"));
    assert_eq!([97_u8][..].value(), Value::Bytes(b"a"));
    assert_eq!(7_u8.value(), Value::Integer(7));
    assert_eq!((-7_isize).value(), Value::Integer(-7));
    assert_eq!(u64::MAX.value(), Value::Integer(u64::MAX as i128));
    assert_eq!(0.5_f32.value(), Value::Real(0.5));
}

const CLASSES: &[(&str, &[Value<'static>])] = &[
    ("text", &[Value::Text("a"), Value::Text("7"), Value::Text(""), Value::Text("grün")]),
    ("bytes", &[Value::Bytes(b"a"), Value::Bytes(b"7"), Value::Bytes(b""), Value::Bytes(b"\xff")]),
    ("number", &[Value::Integer(7), Value::Real(7.0), Value::Integer(-3), Value::Real(2.5)]),
];

/// Every way in: of a key, whether it is found, or an error.
fn verbs(f: &Filter, key: Value<'_>) -> Vec<(&'static str, Result<bool, Error>)> {
    let after = |change: &dyn Fn(&mut Filter) -> Result<(), Error>| {
        let mut copy = f.copy()?;
        change(&mut copy)?;
        copy.contains(&key)
    };
    vec![
        ("contains", f.contains(&key)),
        ("contains_many", f.contains_many([key]).map(|found| found[0])),
        ("count", f.count(&key).map(|count| count != Some(0))),
        ("count_many", f.count_many([key]).map(|counts| counts[0] != Some(0))),
        ("hash", f.hash(&key).map(|_| true)),
        ("remove", f.copy().and_then(|mut copy| copy.remove(&key))),
        ("remove_many", f.copy().and_then(|mut copy| copy.remove_many([key])).map(|each| each[0])),
        ("add", after(&|copy| copy.add(&key).map(drop))),
        ("add_many", after(&|copy| copy.add_many([key]).map(drop))),
        ("extend", after(&|copy| copy.extend([key]))),
    ]
}

#[test]
fn every_class_is_asked_for_by_every_verb() {
    for (own, keys) in CLASSES {
        let mut f = Filter::builder().kind("counting").items(1000).rate(1e-9).build().unwrap();
        f.extend(*keys).unwrap();
        assert_eq!(f.keys(), *own);
        assert_eq!(f.info().unwrap().keys, *own);
        for (class, keys) in CLASSES {
            for key in *keys {
                for (verb, result) in verbs(&f, *key) {
                    match result {
                        Ok(found) => assert!(own == class && found, "{own}, {verb}, {key:?}"),
                        Err(error) => {
                            assert_ne!(own, class, "{own}, {verb}, {key:?}: {error}");
                            assert_eq!(error.kind(), ErrorKind::Form);
                            assert!(error.to_string().contains("the filter's keys"));
                        }
                    }
                }
            }
        }
        let large = f.contains(&(1_u64 << 63)).unwrap_err().kind();
        let expected = if *own == "number" { ErrorKind::Parameter } else { ErrorKind::Form };
        assert_eq!(large, expected, "{own}");
    }
}

#[test]
fn failed_calls_state_no_form() {
    let mut f = Filter::builder().items(100).build().unwrap();
    let mut larger = Filter::builder().items(100_000).build().unwrap();
    larger.add("x").unwrap();
    assert_eq!(f.unite(&larger).unwrap_err().kind(), ErrorKind::Mismatch);
    assert_eq!(f.intersect(&larger).unwrap_err().kind(), ErrorKind::Mismatch);
    assert_eq!(f.keys(), "any");
    f.add(&5).unwrap();
    assert_eq!(f.keys(), "number");
    let mut f = Filter::builder().kind("spatial:areas=3").items(10).build().unwrap();
    assert_eq!(f.put_many([("x", 99999)]).unwrap_err().kind(), ErrorKind::Parameter);
    assert_eq!(f.put("x", 99999).unwrap_err().kind(), ErrorKind::Parameter);
    assert_eq!(f.keys(), "any");
    f.put(&7, 1).unwrap();
    assert_eq!((f.keys().as_str(), f.get(&7).unwrap()), ("number", Some(1)));
}

#[test]
fn empty_filters_take_the_form_of_what_they_are_united_with() {
    let mut a = Filter::builder().items(100).build().unwrap();
    let mut b = a.like().unwrap();
    b.add("x").unwrap();
    assert_eq!(a.overlap(&b).unwrap().both.value, 0.0);
    a.unite(&b).unwrap();
    assert!(a.contains("x").unwrap());
    assert_eq!(a.contains(&1).unwrap_err().kind(), ErrorKind::Form);
    a.unite(&Filter::builder().items(100).build().unwrap()).unwrap();
    a.clear().unwrap();
    assert!(!a.contains("x").unwrap());
    assert_eq!(a.add(&1).unwrap_err().kind(), ErrorKind::Form);
}

#[test]
fn keys_of_batches_are_numbered() {
    let mut f = Filter::builder().kind("attenuated").items(5000).build().unwrap();
    let labels = (0..5000).map(|i| (i, if i == 4321 { 1 << 40 } else { 1 }));
    let error = f.put_many(labels).unwrap_err();
    assert!(error.to_string().contains("key 4321 of the batch"), "{error}");
    assert!(f.contains(&4320).unwrap());
}

#[test]
fn empty_filters_of_all_kinds_go_with_others() {
    for kind in kinds() {
        if !(kind.can(Ability::Unite) && kind.can(Ability::Add)) || kind.family == "foreign" {
            continue;
        }
        let empty = |form: Option<&str>| {
            let builder = Filter::builder().kind(kind.name).items(99);
            form.map_or(builder.clone(), |form| builder.keys(form)).build().unwrap()
        };
        let (mut a, mut b, mut c, mut lists) =
            (empty(None), empty(None), empty(None), empty(Some("domain")));
        a.add("a").unwrap();
        b.unite(&a).unwrap();
        a.unite(&c).unwrap();
        assert!(a.contains("a").unwrap() && b.contains("a").unwrap(), "{}", kind.name);
        assert_eq!(b.contains(&1).unwrap_err().kind(), ErrorKind::Form);
        lists.add("example.com").unwrap();
        c.unite(&lists).unwrap();
        assert!(c.contains("www.example.com").unwrap(), "{}", kind.name);
        assert_eq!(b.unite(&c).unwrap_err().kind(), ErrorKind::Mismatch);
    }
    let mut none = Filter::builder().items(9).build().unwrap();
    let mut full = Filter::builder().items(9).build().unwrap();
    full.add("a").unwrap();
    none.intersect(&full).unwrap();
    assert!(none.add(&1).unwrap());
    assert_eq!(none.keys(), "number");
}

#[test]
fn a_filter_of_any_class_takes_mixtures() {
    let keys = [Value::Text("a"), Value::Integer(-1), Value::Real(0.5), Value::Bytes(b"\0")];
    let mut f = Filter::builder().items(10).keys("any").build().unwrap();
    f.extend(keys).unwrap();
    let built = Filter::builder().items(10).keys("any").build_from(keys).unwrap();
    assert_eq!(f.to_bytes().unwrap(), built.to_bytes().unwrap());
    assert!(built.contains_many(keys).unwrap().into_iter().all(|found| found));
    assert_eq!(Filter::builder().build_from(keys).unwrap_err().kind(), ErrorKind::Form);
}

#[test]
fn domains_and_networks_lie_within_others() {
    let mut f = Filter::builder().items(100).rate(1e-6).keys("domain").build().unwrap();
    assert!(f.add("example.com").unwrap());
    assert!(!f.add("Example.COM.").unwrap());
    f.extend(["a.test"]).unwrap();
    let built = Filter::builder()
        .items(100)
        .rate(1e-6)
        .keys("domain")
        .build_from(["example.com", "a.test"])
        .unwrap();
    for f in [&f, &built] {
        assert!(f.contains("www.example.com").unwrap());
        let found = f.contains_many(["b.a.test", "test", "example.org"]).unwrap();
        assert_eq!(found, [true, false, false]);
        assert_eq!(f.contains("a..b").unwrap_err().kind(), ErrorKind::Parameter);
    }
    let nets = Filter::builder().keys("cidr").build_from(["192.0.2.0/24"]).unwrap();
    assert!(nets.contains("192.0.2.7").unwrap());
}

/// The command makes the same file, if BLOOMERY_COMMAND names it.
#[test]
fn the_command_makes_the_same_bytes() {
    let command = match std::env::var_os("BLOOMERY_COMMAND") {
        Some(command) => command,
        None => return println!("skipped: BLOOMERY_COMMAND is not set"),
    };
    let words: Vec<String> = (0..1000).map(|i| format!("key number {i}")).collect();
    let lines = words.iter().map(|word| word.clone() + "\n").collect::<String>();
    let numbers = (0..1000).map(|i| format!("{}\n", i * i - 500)).collect::<String>();
    let path = std::env::temp_dir().join(format!("bloomery-rust-{}.bly", std::process::id()));
    for kind in ["standard", "blocked", "split", "fuse", "ribbon", "cuckoo", "gcs", "quotient"] {
        for (class, lines) in [("text", &lines), ("number", &numbers)] {
            let mut child = Command::new(&command)
                .args(["build", "-k", kind, "-n", "1000", "-p", "1%", "--as", class, "-o"])
                .arg(&path)
                .stdin(Stdio::piped())
                .spawn()
                .unwrap();
            std::io::Write::write_all(&mut child.stdin.take().unwrap(), lines.as_bytes()).unwrap();
            assert!(child.wait().unwrap().success());
            let builder = Filter::builder().kind(kind).items(1000).rate(0.01);
            let f = match class {
                "text" => builder.build_from(&words),
                _ => builder.build_from((0..1000).map(|i| i * i - 500)),
            };
            let bytes = f.unwrap().to_bytes().unwrap();
            assert!(bytes == std::fs::read(&path).unwrap(), "{kind} of {class}");
        }
    }
    std::fs::remove_file(path).unwrap();
}
