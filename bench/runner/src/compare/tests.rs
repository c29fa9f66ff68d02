use anstream::adapter::strip_str;

use tls_harness::request::Counter;

use super::*;

fn source(text: &str) -> Build {
    match subject(text) {
        Ok(Subject::Build(build)) => build,
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
    let program = subject("tls-openssl");
    assert_eq!(program, Ok(Subject::Program("tls-openssl".to_owned())));
    for wrong in ["", "rustls", "=x", "rustls=", "@1", "rustls@"] {
        let error = subject(wrong).unwrap_err();
        assert!(error.contains("rustls=../rustls"), "{wrong}: {error}");
    }
    let error = subject("{ library = \"rustls\", versoin = \"1\" }").unwrap_err();
    assert!(error.contains("versoin"), "{error}");
}

/// A checkout with one commit below a folder.
fn checkout(folder: &Path, name: &str, text: &str) -> PathBuf {
    let tree = folder.join(name);
    std::fs::create_dir_all(&tree).unwrap();
    std::fs::write(tree.join("file"), text).unwrap();
    for arguments in [
        &["init", "--quiet"][..],
        &["add", "file"],
        &[
            "-c",
            "user.name=x",
            "-c",
            "user.email=x",
            "commit",
            "--quiet",
            "-m",
            "x",
        ],
    ] {
        let mut git = std::process::Command::new("git");
        let git = git.arg("-C").arg(&tree).args(arguments).status();
        assert!(git.unwrap().success());
    }
    tree
}

#[test]
fn trees_are_named_by_their_commits_only_if_these_identify_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let (base, head) = (checkout(path, "base", "1"), checkout(path, "head", "2"));
    let [a, b] = names([&base, &head]);
    assert_eq!((a.len(), b.len()), (COMMIT, COMMIT));
    assert_ne!(a, b);
    // The commit does not name a change that was not committed.
    std::fs::write(head.join("file"), "3").unwrap();
    assert_eq!(names([&base, &head]), ["tree-base", "tree-head"]);
    std::fs::create_dir_all(path.join("other/base")).unwrap();
    assert_eq!(names([&base, &path.join("other/base")]), ["a", "b"]);
    assert_eq!(self::folder(&path.join("Two  words_3")), "tree-two-words-3");
    // A folder in another project's checkout has no commit of its own.
    std::fs::create_dir_all(base.join("vendored")).unwrap();
    assert_eq!(commit(&base.join("vendored")), None);
}

#[test]
fn a_side_without_a_provider_gets_the_first_one() {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let libraries = Libraries::read(&bench).unwrap();
    let sides = || ["rustls=base", "rustls@0.23.46"].map(|it| subject(it).unwrap());
    let ids = |provider| completed(sides(), provider, &libraries).map(|it| it.to_string());
    assert_eq!(
        ids(None),
        ["rustls-aws-lc-rs-tree-base", "rustls-0.23.46-aws-lc-rs"]
    );
    assert_eq!(ids(Some("ring"))[1], "rustls-0.23.46-ring");
    let openssl = ["openssl@3.5.5", "tls-openssl"].map(|it| subject(it).unwrap());
    let ids = completed(openssl, None, &libraries).map(|it| it.to_string());
    assert_eq!(ids, ["openssl-3.5.5", "tls-openssl"]);
}

fn row(a: Option<f64>, b: Option<f64>) -> Row {
    let scenario = r#"{"operation":"handshake","protocol":"1.3","certificate":"rsa-2048",
            "key_exchange":"X25519","resumption":"none","side":"server"}"#;
    Row {
        scenario: serde_json::from_str(scenario).unwrap(),
        unit: "instructions/handshake".to_owned(),
        counts: [a, b],
    }
}

#[test]
fn a_difference_is_shown_from_the_bound_on() {
    for (b, verdict) in [
        (1010.0, Verdict::More),
        (1009.9, Verdict::NoDifference),
        (990.1, Verdict::NoDifference),
        (990.0, Verdict::Fewer),
    ] {
        assert_eq!(row(Some(1000.0), Some(b)).verdict(0.01), verdict, "{b}");
    }
    for [a, b] in [[Some(1.0), None], [None, Some(1.0)], [Some(0.0), Some(1.0)]] {
        assert_eq!(row(a, b).verdict(0.01), Verdict::Absent);
    }
    assert!(check_bound(0.002).is_ok());
    let error = check_bound(0.001).unwrap_err().to_string();
    assert!(
        error.starts_with("--bound 0.1%: expected at least 0.2%"),
        "{error}"
    );
}

fn comparison(rows: Vec<Row>) -> Comparison {
    let function = Function {
        name: "a|b`c".to_owned(),
        a: 1000.0,
        b: 31_000.0,
    };
    Comparison {
        ids: ["rustls-base", "rustls-head"].map(str::to_owned),
        bound: 0.01,
        counter: RunCounter {
            name: Counter::Callgrind,
            version: "3.19.0".to_owned(),
            processor: Some("amd64-avx2".to_owned()),
        },
        compilers: ["rustc 1.95.0, gcc 12.2.0", "rustc 1.95.0, clang 14.0.6"].map(str::to_owned),
        functions: vec![(rows[0].clone(), vec![function])],
        rows,
    }
}

#[test]
fn a_comparison_prints_each_row_with_its_verdict() {
    let rows = vec![row(Some(1e6), Some(1.03e6)), row(Some(2e6), None)];
    let all = comparison(rows);
    let text = strip_str(&all.to_text()).to_string();
    let expected = "\
instructions, counted by callgrind 3.19.0 on amd64-avx2
  A  rustls-base
     rustc 1.95.0, gcc 12.2.0
  B  rustls-head
     rustc 1.95.0, clang 14.0.6
scenario (unit)                                                                A          B  B over A       B takes
TLS 1.3 full handshake, RSA-2048, X25519, server (instructions/handshake)  1,000,000  1,030,000    +3.00%          more
TLS 1.3 full handshake, RSA-2048, X25519, server (instructions/handshake)  2,000,000          –         –  not compared

TLS 1.3 full handshake, RSA-2048, X25519, server: functions that differ most
           A       B  B less A
a|b`c  1,000  31,000   +30,000

2 rows: more instructions in 1, fewer in 0, no difference of 1% or more in 0, not compared 1
";
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(plain(&text), plain(expected));
    assert!(all.is_more());
    assert!(!comparison(vec![row(Some(1e6), Some(0.5e6))]).is_more());
}

#[test]
fn markdown_has_the_answer_first_and_no_broken_table() {
    let text = comparison(vec![row(Some(1e6), Some(1.03e6))]).to_markdown();
    assert!(
        text.starts_with("**1 row: more instructions in 1, "),
        "{text}"
    );
    assert!(
        text.contains("- B: `rustls-head` (rustc 1.95.0, clang 14.0.6)\n"),
        "{text}"
    );
    assert!(
        text.contains("| 1,000,000 | 1,030,000 | +3.00% | more |\n"),
        "{text}"
    );
    assert!(
        text.contains("| `a\\|b'c` | 1,000 | 31,000 | +30,000 |\n"),
        "{text}"
    );
}

#[test]
fn fewer_instructions_have_a_minus_and_equal_ones_a_plus() {
    assert_eq!(signed_percent(-0.0314), "−3.14%");
    assert_eq!(signed_percent(0.0), "+0.00%");
    assert_eq!(signed_percent(0.5), "+50.00%");
    assert_eq!([0.0125, 0.1, 1.0].map(percent), ["1.25%", "10%", "100%"]);
    let of = |a, b| {
        let name = String::new();
        function(&Function { name, a, b })
    };
    let [_, a, b, change] = of(31_000.0, 1000.0);
    assert_eq!([a, b, change], ["31,000", "1,000", "−30,000"]);
    assert_eq!(of(0.0, 500.0)[3], "+500");
    let all = comparison(vec![row(Some(2e6), Some(1e6)), row(Some(1e6), Some(1e6))]);
    let sentence = all.sentence();
    assert_eq!(
        sentence,
        "2 rows: more instructions in 0, fewer in 1, no difference of 1% or more in 1"
    );
    assert!(all.to_text().contains("−50.00%"));
}

/// A record of both sides' counts, or of other figures.
fn measured(implementation: &str, round: u32, side: &str, metric: &str, value: f64) -> Record {
    let unit = match metric {
        "rate" => "handshakes/s",
        _ => "instructions/handshake",
    };
    serde_json::from_value(serde_json::json!({
        "schema": 1, "kind": "measurement", "time": "2026-11-21T08:00:00Z", "round": round,
        "implementation": implementation, "operations": 1, "elapsed_seconds": 0.5,
        "scenario": {"operation": "handshake", "protocol": "1.3", "side": side},
        "observations": [{"phase": "total", "metric": metric, "statistic": "value",
            "value": value, "unit": unit}],
    }))
    .unwrap()
}

#[test]
fn a_row_has_the_mean_of_its_rounds_for_each_build() {
    let count = |id, round, side, value| measured(id, round, side, "instructions", value);
    let records = [
        measured("a", 1, "client", "rate", 9e9),
        count("a", 1, "client", 100.0),
        count("other", 1, "client", 9e9),
        count("b", 1, "client", 30.0),
        count("b", 1, "server", 7.0),
        count("a", 2, "client", 200.0),
        count("b", 2, "client", 10.0),
    ];
    let found = rows(&records, &["a", "b"].map(str::to_owned));
    let counts: Vec<_> = found.iter().map(|row| row.counts).collect();
    assert_eq!(counts, [[Some(150.0), Some(20.0)], [None, Some(7.0)]]);
    assert_eq!(found[0].scenario.name(), "TLS 1.3 handshake, client");
    assert_eq!(found[1].unit, "instructions/handshake");
}

#[test]
fn a_program_is_named_with_the_compilers_that_it_states() {
    let of = |rust: Option<&str>, c: Option<&str>| {
        compilers(&Implementation {
            rust_compiler: rust.map(str::to_owned),
            c_compiler: c.map(str::to_owned),
            ..Implementation::new("rustls", "1.0").unwrap()
        })
    };
    assert_eq!(of(Some("rustc 1"), Some("gcc 2")), "rustc 1, gcc 2");
    assert_eq!(of(None, Some("gcc 2")), "gcc 2");
}
