//! The allocator is named after the file that defines the process's `malloc`. So a library that
//! replaces malloc by `LD_PRELOAD` is named after its own file.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use tls_harness::allocator;

/// Calls the C library's malloc, from another file.
const OTHER: &str = "#include <stddef.h>\nextern void *__libc_malloc(size_t);\n\
                     void *malloc(size_t size) { return __libc_malloc(size); }\n";

const NAME: &str = "the_allocator_of_this_process_is_printed";

/// Builds a shared library with its own `malloc`.
fn other(folder: &Path) -> PathBuf {
    let (source, library) = (folder.join("other.c"), folder.join("libother.so"));
    fs::write(&source, OTHER).unwrap();
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status();
    assert!(built.unwrap().success());
    library
}

/// Output of this program with these environment variables.
fn printed(variables: &[(&str, &Path)]) -> String {
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", NAME, "--nocapture", "--include-ignored"])
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| line.split_once("allocator: "));
    line.unwrap_or_else(|| panic!("{text}")).1.to_owned()
}

#[test]
#[ignore = "the other test runs it"]
fn the_allocator_of_this_process_is_printed() {
    let count = allocator::in_use().map_or_else(|error| error.to_string(), |_| "counted".into());
    println!("allocator: {}, {count}", allocator::found().unwrap());
}

#[test]
fn the_allocator_is_named_after_the_file_that_defines_malloc() {
    if cfg!(feature = "jemalloc") {
        return; // jemalloc is linked in, and LD_PRELOAD cannot replace it
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("allocator");
    fs::create_dir_all(&folder).unwrap();
    assert_eq!(printed(&[]), "system, counted");
    let library = other(&folder);
    assert_eq!(
        printed(&[("LD_PRELOAD", &library)]),
        "libother.so, the harness cannot read a byte count from the allocator in use"
    );
}
