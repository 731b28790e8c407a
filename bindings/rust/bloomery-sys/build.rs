//! Compiles the library from its single file. A published package has that file
//! in `amalgamation/`; in a checkout of the project, its tool makes it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let packaged = here.join("amalgamation");
    let source = if packaged.join("bloomery.c").exists() { packaged } else { amalgamate(&here) };
    println!("cargo:rerun-if-changed={}", source.join("bloomery.c").display());
    println!("cargo:rustc-env=BLOOMERY_INCLUDE={}", source.display());
    println!("cargo:include={}", source.display());

    let mut build = cc::Build::new();
    build
        .file(source.join("bloomery.c"))
        .include(&source)
        .define("BLY_STATIC", None)
        .define("NDEBUG", None)
        .define("BLY_KINDS", kinds())
        .flag("-ffp-contract=off")
        .warnings(false);
    if has_feature("NETTLE") {
        build.define("BLY_WITH_NETTLE", None);
    }
    if has_feature("ICU") {
        build.define("BLY_WITH_ICU", None);
    }
    build.compile("bloomery");

    println!("cargo:rustc-link-lib=m");
    println!("cargo:rustc-link-lib=pthread");
    // gcc calls libatomic for bytes, before version 13, or for 64 bits.
    let processor = env::var("CARGO_CFG_TARGET_ARCH").expect("set by cargo");
    if ["riscv64", "riscv32", "mips", "powerpc"].contains(&processor.as_str()) {
        println!("cargo:rustc-link-lib=atomic");
    }
    if has_feature("NETTLE") {
        println!("cargo:rustc-link-lib=nettle");
    }
    if has_feature("ICU") {
        println!("cargo:rustc-link-lib=dl");
    }
}

fn has_feature(name: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{name}")).is_some()
}

fn kinds() -> &'static str {
    if has_feature("ALL") {
        "all"
    } else if has_feature("CORE") {
        "core,sets"
    } else {
        "sets"
    }
}

/// Makes the single file from the checkout around this package.
fn amalgamate(here: &Path) -> PathBuf {
    let root = here.join("../../..");
    let tool = root.join("tools/make/amalgamate");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo")).join("amalgamation");
    for folder in ["include", "src", "search", "similar", "programs/redis", "tools/make"] {
        println!("cargo:rerun-if-changed={}", root.join(folder).display());
    }
    match Command::new(&tool).arg(&out).status() {
        Ok(status) if status.success() => out,
        other => panic!(
            "{} failed ({other:?}): build a published package, which has \
             amalgamation/bloomery.c, or in a checkout of the project",
            tool.display()
        ),
    }
}
