//! The files of the runner depend on each other in one direction only. The compiler accepts circles.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The files below a folder, each with the name of its module: `host::facts`.
fn modules(folder: &Path, above: &str) -> BTreeMap<String, PathBuf> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let name = match stem {
            "mod" => above.to_owned(),
            _ if above.is_empty() => stem.to_owned(),
            _ => format!("{above}::{stem}"),
        };
        match path.is_dir() {
            true => all.extend(modules(&path, &name)),
            false => drop(all.insert(name, path)),
        }
    }
    all
}

/// The paths in code: of `use a::{b, c::d};` the paths `a::b` and `a::c::d`.
fn paths(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut groups: Vec<String> = Vec::new();
    let mut path = String::new();
    for letter in code.chars() {
        match letter {
            '{' if path.ends_with("::") => groups.push(std::mem::take(&mut path)),
            _ if letter.is_alphanumeric() || letter == '_' || letter == ':' => path.push(letter),
            _ => {
                if !path.is_empty() {
                    found.push(groups.concat() + &std::mem::take(&mut path));
                }
                if letter == '}' {
                    groups.pop();
                }
            }
        }
    }
    found
}

/// The modules that a module names in its code, without its unit tests.
fn named(module: &str, text: &str, all: &BTreeMap<String, PathBuf>) -> BTreeSet<String> {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let code = text.lines().map(|line| line.split("//").next().unwrap());
    let (above, _) = module.rsplit_once("::").unwrap_or_default();
    let absolute = |path: String| match path.split_once("::") {
        Some(("crate", rest)) => rest.to_owned(),
        Some(("super", rest)) => format!("{above}::{rest}"),
        _ => format!("{module}::{path}"),
    };
    let paths = paths(&code.collect::<Vec<_>>().join("\n")).into_iter();
    let found = paths.map(absolute).filter_map(|path| {
        let parts: Vec<&str> = path.split("::").filter(|it| !it.is_empty()).collect();
        let mut starts = (1..=parts.len()).rev().map(|end| parts[..end].join("::"));
        starts.find(|it| all.contains_key(it))
    });
    found.filter(|it| it != module).collect()
}

/// Files that depend on each other, if there are any.
fn circle(source: &Path) -> Vec<String> {
    let mut all = modules(source, "");
    for root in ["lib", "main"] {
        all.remove(root);
    }
    let mut left: BTreeMap<String, BTreeSet<String>> = all
        .iter()
        .map(|(name, path)| {
            let text = fs::read_to_string(path).unwrap();
            (name.clone(), named(name, &text, &all))
        })
        .collect();
    // Takes away files that depend on no other, until only circles and what depends on them is left.
    loop {
        let before = left.len();
        let names: BTreeSet<String> = left.keys().cloned().collect();
        left.retain(|_, named| !named.is_disjoint(&names));
        if left.len() == before {
            return left.into_keys().collect();
        }
    }
}

#[test]
fn no_file_depends_on_a_file_that_depends_on_it() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    assert!(modules(&source, "").contains_key("matrix::build"));
    assert_eq!(circle(&source), Vec::<String>::new());
}

#[test]
fn a_circle_is_found_in_any_form_of_a_path() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("c")).unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("c/mod.rs", "mod d;\npub use d::D;\n");
    write("b.rs", "use crate::{\n    c::{D, E},\n};\n");
    write(
        "a.rs",
        "// crate::b\n#[cfg(test)]\nmod tests { use crate::b; }\n",
    );
    for (text, expected) in [
        ("use std::fs;\n", &[][..]),
        ("use crate::a::A;\n", &[]),
        ("fn f() { crate::b::f() }\n", &["b", "c", "c::d"]),
        ("use super::D;\n", &["b", "c", "c::d"]),
    ] {
        write("c/d.rs", text);
        let found = circle(folder.path());
        let is_circle = !expected.is_empty();
        assert_eq!(!found.is_empty(), is_circle, "{text}: {found:?}");
        assert!(
            expected
                .iter()
                .all(|it| found.iter().any(|name| name == it)),
            "{text}: {found:?}"
        );
    }
}
