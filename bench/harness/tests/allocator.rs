//! The allocator that is named is the one whose `malloc` the process has: a library that takes
//! malloc's place, as `LD_PRELOAD` does, is named by its file.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use tls_harness::allocator;

/// Passes on to the C library's, under another file's name.
const OTHER: &str = "#include <stddef.h>\nextern void *__libc_malloc(size_t);\n\
                     void *malloc(size_t size) { return __libc_malloc(size); }\n";

const NAME: &str = "the_allocator_of_this_process_is_printed";

/// A shared library with a `malloc` of its own.
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

/// What this program prints of itself when it is started with these variables.
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
#[ignore = "a part of the other test"]
fn the_allocator_of_this_process_is_printed() {
    let count = allocator::in_use().map_or_else(|error| error.to_string(), |_| "counted".into());
    println!("allocator: {}, {count}", allocator::found().unwrap());
}

#[test]
fn the_allocator_is_named_as_it_is_found_in_the_process() {
    if cfg!(feature = "jemalloc") {
        return; // linked into the program, it takes the place of any other
    }
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("allocator");
    fs::create_dir_all(&folder).unwrap();
    assert_eq!(printed(&[]), "system, counted");
    let library = other(&folder);
    assert_eq!(
        printed(&[("LD_PRELOAD", &library)]),
        "libother.so, the allocator in use keeps no count that the harness knows"
    );
}
