//! The two sides of a comparison: local trees, versions or programs of a library.

use std::path::{Path, PathBuf};

use crate::commit::clean_commit;
use crate::libraries::Libraries;
use crate::listed::{Build, Listed, slug};

/// Reads one side: a local tree `rustls=../rustls`, a version `rustls@0.23.40`, a table as a suite
/// has it, or the name of a program.
pub fn side(text: &str) -> Result<Listed, String> {
    let build = |library: &str, version: Option<&str>, source: Option<&str>| {
        Listed::Build(Build {
            library: library.to_owned(),
            version: version.map(str::to_owned),
            source: source.map(str::to_owned),
            ..Build::default()
        })
    };
    if text.starts_with('{') {
        let mut table: toml::Table =
            toml::from_str(&format!("side = {text}")).map_err(|error| error.to_string())?;
        let value = table.remove("side").unwrap_or_else(|| text.into());
        return Listed::read(value).map_err(|error| error.to_string());
    }
    let split = |sign| {
        let parts: Option<(&str, &str)> = text.split_once(sign);
        parts.filter(|(library, rest)| !library.is_empty() && !rest.is_empty())
    };
    if let Some((library, folder)) = split('=') {
        return Ok(build(library, None, Some(folder)));
    }
    if let Some((library, version)) = split('@') {
        return Ok(build(library, Some(version), None));
    }
    if text.starts_with("tls-") {
        return Ok(Listed::Program(text.to_owned()));
    }
    Err(
        "expected a local tree such as rustls=../rustls, a version such as rustls@0.23.40, or a \
         program such as tls-openssl"
            .to_owned(),
    )
}

/// Gives both sides what they need to be built beside each other: a provider where the library has
/// several, and local trees a name.
pub fn completed(sides: [Listed; 2], provider: Option<&str>, libraries: &Libraries) -> [Listed; 2] {
    let trees = sides.each_ref().map(|side| match side {
        Listed::Build(Build {
            source: Some(source),
            name: None,
            ..
        }) => Some(PathBuf::from(source)),
        _ => None,
    });
    let names = match &trees {
        [Some(a), Some(b)] => names([a, b]).map(Some),
        [a, b] => [a, b].map(|tree| {
            tree.as_deref()
                .map(|it| clean_commit(it).unwrap_or(folder(it)))
        }),
    };
    let mut names = names.into_iter();
    sides.map(|side| {
        let name = names.next().flatten();
        match side {
            Listed::Build(build) => Listed::Build(Build {
                provider: build
                    .provider
                    .clone()
                    .or_else(|| provider.map(str::to_owned))
                    .or_else(|| first_provider(&build.library, libraries)),
                name: build.name.clone().or(name),
                ..build
            }),
            program @ Listed::Program(_) => program,
        }
    })
}

/// The provider of the first program of a library, where its programs have one.
fn first_provider(library: &str, libraries: &Libraries) -> Option<String> {
    let library = libraries.iter().find(|it| it.id == library)?;
    let prefix = format!("tls-{}-", library.id);
    let first = library.programs.first()?;
    first.strip_prefix(&prefix).map(str::to_owned)
}

/// Two names that differ: the commits, else the folders, else `a` and `b`.
fn names([a, b]: [&Path; 2]) -> [String; 2] {
    let differ = |names: &[String; 2]| names[0] != names[1];
    let commits = clean_commit(a).zip(clean_commit(b)).map(|(a, b)| [a, b]);
    let folders = [folder(a), folder(b)];
    commits
        .filter(differ)
        .or_else(|| Some(folders).filter(differ))
        .unwrap_or_else(|| ["a", "b"].map(str::to_owned))
}

/// The name of a folder, as a part of an id.
fn folder(tree: &Path) -> String {
    let name = tree.canonicalize().unwrap_or_else(|_| tree.to_owned());
    let name = name.file_name().unwrap_or_default().to_string_lossy();
    format!("tree-{}", slug(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::tests::checkout;

    fn source(text: &str) -> Build {
        match side(text) {
            Ok(Listed::Build(build)) => build,
            other => panic!("{other:?} is no build"),
        }
    }

    #[test]
    fn a_side_is_a_tree_a_version_a_table_or_a_program() {
        let tree = source("rustls=../rustls@2");
        assert_eq!(
            (tree.library.as_str(), tree.source.as_deref(), tree.version),
            ("rustls", Some("../rustls@2"), None)
        );
        let version = source("openssl@300.5.5+3.5.5");
        assert_eq!(version.version.as_deref(), Some("300.5.5+3.5.5"));
        let table = source("{ library = \"rustls\", version = \"0.22.4\", compiler = \"clang\" }");
        assert_eq!(table.name(), "rustls-0.22.4-clang");
        let program = side("tls-openssl");
        assert_eq!(program, Ok(Listed::Program("tls-openssl".to_owned())));
        for wrong in ["", "rustls", "=x", "rustls=", "@1", "rustls@"] {
            let error = side(wrong).unwrap_err();
            assert!(error.contains("rustls=../rustls"), "{wrong}: {error}");
        }
        let error = side("{ library = \"rustls\", versoin = \"1\" }").unwrap_err();
        assert!(error.contains("versoin"), "{error}");
    }

    #[test]
    fn trees_are_named_by_their_commits_only_if_these_identify_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let [base, head] = ["base", "head"].map(|name| checkout(&path.join(name)));
        let [a, b] = names([&base, &head]);
        assert_eq!((a.len(), b.len()), (10, 10));
        assert_ne!(a, b);
        // The commit does not name a change that was not committed.
        std::fs::write(head.join("library/file"), "changed").unwrap();
        assert_eq!(names([&base, &head]), ["tree-base", "tree-head"]);
        std::fs::create_dir_all(path.join("other/base")).unwrap();
        assert_eq!(names([&base, &path.join("other/base")]), ["a", "b"]);
        assert_eq!(self::folder(&path.join("Two  words_3")), "tree-two-words-3");
    }

    #[test]
    fn a_side_without_a_provider_gets_the_first_one() {
        let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let libraries = Libraries::read(&bench).unwrap();
        let sides = || ["rustls=base", "rustls@0.23.46"].map(|it| side(it).unwrap());
        let ids = |provider| completed(sides(), provider, &libraries).map(|it| it.to_string());
        assert_eq!(
            ids(None),
            ["rustls-aws-lc-rs-tree-base", "rustls-0.23.46-aws-lc-rs"]
        );
        assert_eq!(ids(Some("ring"))[1], "rustls-0.23.46-ring");
        let openssl = ["openssl@3.5.5", "tls-openssl"].map(|it| side(it).unwrap());
        let ids = completed(openssl, None, &libraries).map(|it| it.to_string());
        assert_eq!(ids, ["openssl-3.5.5", "tls-openssl"]);
    }
}
