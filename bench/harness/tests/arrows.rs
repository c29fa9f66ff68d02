//! Rules for dependencies between modules that visibility cannot enforce.

use std::{fs, path::Path};

/// The modules of `workloads` that kinds may share.
const SHARED: [&str; 3] = ["mod", "threads", "timed"];

fn source() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))
}

/// The files below a path, without comments.
fn files(path: &Path) -> Vec<(String, String)> {
    if path.is_dir() {
        let entries = fs::read_dir(path).unwrap();
        return entries.flat_map(|it| files(&it.unwrap().path())).collect();
    }
    let text = fs::read_to_string(path).unwrap();
    let code = text.lines().map(|line| line.split("//").next().unwrap());
    let name = path.strip_prefix(source()).unwrap().display().to_string();
    vec![(name, code.collect::<Vec<_>>().join("\n"))]
}

/// Whether code names a module, in a `use` or a path.
fn names(code: &str, module: &str) -> bool {
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    code.match_indices(module).any(|(start, _)| {
        let (before, after) = (&code[..start], &code[start + module.len()..]);
        let statement = before.rsplit(';').next().unwrap_or_default();
        let is_use = statement.split_whitespace().any(|it| it == "use");
        !before.ends_with(is_word)
            && !after.starts_with(is_word)
            && (is_use || after.starts_with("::"))
    })
}

fn assert_no_arrow(from: &Path, to: &str) {
    let files = files(from);
    assert!(!files.is_empty());
    for (name, code) in files {
        assert!(!names(&code, to), "{name} must not depend on {to}");
    }
}

/// The kinds, with the file or folder of each.
fn kinds() -> Vec<(String, std::path::PathBuf)> {
    let entries = fs::read_dir(source().join("workloads")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let kinds: Vec<_> = paths
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), path))
        .filter(|(name, _)| !SHARED.contains(&name.as_str()))
        .collect();
    assert!(kinds.len() >= 5, "{kinds:?}");
    kinds
}

#[test]
fn a_kind_depends_on_no_other_kind_and_on_no_counter() {
    for (kind, path) in kinds() {
        for (other, _) in kinds() {
            if other != kind {
                assert_no_arrow(&path, &other);
            }
        }
        assert_no_arrow(&path, "counters");
    }
}

#[test]
fn shared_modules_depend_on_no_kind_and_on_no_counter() {
    for name in ["threads", "timed"] {
        let path = source().join(format!("workloads/{name}.rs"));
        for (kind, _) in kinds() {
            assert_no_arrow(&path, &kind);
        }
        assert_no_arrow(&path, "counters");
    }
    assert_no_arrow(&source().join("workloads/mod.rs"), "counters");
}

#[test]
fn a_counter_names_no_kind() {
    for (kind, _) in kinds() {
        assert_no_arrow(&source().join("counters"), &kind);
    }
}

/// The only dependency of the vocabulary on the kinds: their list defines this enumeration.
const OPERATION: &str = "pub use crate::workloads::Operation;";

#[test]
fn the_vocabulary_and_the_session_depend_on_no_kind_and_on_no_counter() {
    for path in ["scenario.rs", "scenario", "session.rs", "transport.rs"] {
        for (name, code) in files(&source().join(path)) {
            let code = match name.as_str() {
                "scenario.rs" => code.replacen(OPERATION, "", 1),
                _ => code,
            };
            assert!(
                !names(&code, "workloads"),
                "{name} must not depend on kinds"
            );
            assert!(
                !names(&code, "counters"),
                "{name} must not depend on counters"
            );
        }
    }
}

#[test]
fn a_dependency_is_found_in_paths_and_lists() {
    assert!(names("use super::handshake::Handshake;", "handshake"));
    assert!(names("use crate::workloads::memory;", "memory"));
    assert!(names("use super::{Work, memory};", "memory"));
    assert!(names("workloads::memory::hold(library)", "memory"));
    assert!(!names("bench.handshake(true)", "handshake"));
    assert!(!names("Phase::Handshake", "handshake"));
    assert!(!names("client.handshake()", "handshake"));
    assert!(!names("in_memory::x", "memory"));
}
