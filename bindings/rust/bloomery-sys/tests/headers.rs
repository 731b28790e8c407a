//! The C compiler compares every declaration of this crate with the headers: each
//! constant, each field of each struct, and each function.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Returns a declaration in C of a name with a type of Rust.
fn declare(name: &str, rust: &str) -> String {
    let rust = rust.trim();
    if let Some(to) = rust.strip_prefix("*const ") {
        return declare(&format!("*{name}"), &format!("const {to}"));
    }
    if let Some(to) = rust.strip_prefix("*mut ") {
        return declare(&format!("*{name}"), to);
    }
    if let Some(to) = rust.strip_prefix("const ") {
        // A constant pointer has its `const` behind the asterisk.
        return match to.starts_with('*') {
            true => declare(&format!("const {name}"), to),
            false => format!("const {}", declare(name, to)),
        };
    }
    if let Some(array) = rust.strip_prefix('[') {
        let (of, n) = array.trim_end_matches(']').split_once(';').expect("an array");
        return declare(&format!("{name}[{}]", n.trim()), of);
    }
    let c = match rust {
        "c_char" => "char",
        "c_uchar" => "unsigned char",
        "c_int" => "int",
        "c_uint" => "unsigned",
        "c_void" => "void",
        "u16" => "uint16_t",
        "u32" => "uint32_t",
        "u64" => "uint64_t",
        "i64" => "int64_t",
        "f64" => "double",
        "usize" => "size_t",
        "bly_visit_key" => "bly_visit_key *",
        own => own,
    };
    format!("{c} {name}")
}

/// Returns the parts of `name: type, name: type`.
fn fields(list: &str) -> Vec<(&str, &str)> {
    list.split(',')
        .filter_map(|one| one.trim().trim_start_matches("pub ").split_once(':'))
        .map(|(name, rust)| (name.trim().trim_start_matches("r#"), rust))
        .collect()
}

/// Writes a program of C that compiles only if all declarations are right.
fn program(source: &str) -> (String, usize) {
    let mut c = String::from(
        "#include <stddef.h>\n#include <bloomery/advice.h>\n\
         #include <bloomery/nested.h>\n#include <bloomery/sketch.h>\n",
    );
    let mut count = 0;
    for part in source.split("pub const ").skip(1) {
        let (name, rest) = part.split_once(':').expect("a type");
        let value = rest.split_once('=').expect("a value").1;
        let value = value.split_once(';').expect("an end").0;
        writeln!(c, "_Static_assert({name} == {value}, \"{name}\");").unwrap();
        count += 1;
    }
    for part in source.split("pub struct ").skip(1) {
        let (name, body) = part.split_once('{').expect("a body");
        let (name, body) = (name.trim(), body.split_once('}').expect("an end").0);
        if body.contains("_opaque") {
            continue;
        }
        write!(c, "struct own_{name} {{ ").unwrap();
        for (field, rust) in fields(body) {
            write!(c, "{}; ", declare(field, rust)).unwrap();
        }
        writeln!(c, "}};").unwrap();
        writeln!(c, "_Static_assert(sizeof({name}) == sizeof(struct own_{name}), \"{name}\");")
            .unwrap();
        for (field, _) in fields(body) {
            writeln!(
                c,
                "_Static_assert(offsetof({name}, {field}) == offsetof(struct own_{name}, \
                 {field}) && __builtin_types_compatible_p(__typeof__((({name} *)0)->{field}), \
                 __typeof__(((struct own_{name} *)0)->{field})), \"{name}.{field}\");"
            )
            .unwrap();
        }
        count += 1;
    }
    for part in source.split("pub fn ").skip(1) {
        let (head, _) = part.split_once(';').expect("an end");
        let (name, rest) = head.split_once('(').expect("parameters");
        let (list, result) = rest.split_once(')').expect("parameters");
        let list: Vec<String> = fields(list).iter().map(|(n, t)| declare(n, t)).collect();
        let list = if list.is_empty() { "void".into() } else { list.join(", ") };
        let result = result.trim().strip_prefix("->").unwrap_or("c_void");
        writeln!(c, "{};", declare(&format!("{name}({list})"), result)).unwrap();
        count += 1;
    }
    (c, count)
}

#[test]
fn declarations_are_those_of_the_headers() {
    let (c, count) = program(include_str!("../src/lib.rs"));
    assert!(count > 100, "only {count} declarations were found");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let mut child = Command::new(compiler)
        .args(["-x", "c", "-std=gnu11", "-fsyntax-only", "-Werror", "-DBLY_STATIC", "-I"])
        .args([env!("BLOOMERY_INCLUDE"), "-"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("a C compiler");
    child.stdin.take().unwrap().write_all(c.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "see the compiler's messages");
}
