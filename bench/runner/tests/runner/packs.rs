//! Archives of runs, and runs whose raw files are compressed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::process::Command;

use tlsbench::files::sha256;
use tlsbench::medians;
use tlsbench::pack::pack;

use crate::common::Bench;

fn measured() -> Bench {
    let bench = Bench::of(1, &["one"]);
    bench.measure();
    bench
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(content).unwrap();
    gzip.finish().unwrap()
}

/// The records with another figure.
fn changed(records: &[u8]) -> String {
    let text = std::str::from_utf8(records).unwrap();
    text.replacen("1001.0", "2002.0", 1)
}

#[test]
fn an_archive_contains_the_run_with_checksums_and_is_reproducible() {
    let bench = measured();
    let (archive, checksum) = pack(&bench.path("run"), bench.folder.path()).unwrap();
    let bytes = fs::read(&archive).unwrap();
    let text = fs::read_to_string(checksum).unwrap();
    assert_eq!(text, format!("{}  run.tar.gz\n", sha256(&bytes)));
    pack(&bench.path("run"), bench.folder.path()).unwrap();
    assert_eq!(fs::read(&archive).unwrap(), bytes);

    let mut unpacked = tar::Archive::new(flate2::read::GzDecoder::new(&bytes[..]));
    let mut members = BTreeMap::new();
    for entry in unpacked.entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        members.insert(entry.path().unwrap().display().to_string(), content);
    }
    let sums = String::from_utf8(members.remove("run/SHA256SUMS").unwrap()).unwrap();
    assert_eq!(members.len(), 2);
    for (name, content) in &members {
        assert!(sums.contains(&format!("{}  {name}\n", sha256(content))));
        assert_eq!(*content, fs::read(bench.path(name)).unwrap());
    }
}

#[test]
fn a_compressed_run_gives_the_archive_and_medians_of_the_same_run() {
    let bench = measured();
    let folder = bench.path("run");
    let results = || {
        let (archive, checksum) = pack(&folder, bench.folder.path()).unwrap();
        let files = [archive, checksum].map(|path| fs::read(&path).unwrap());
        (files, medians::table(&folder).unwrap().to_string())
    };
    let expected = results();
    let records = folder.join("raw/records.jsonl");
    let content = fs::read(&records).unwrap();
    fs::write(folder.join("raw/records.jsonl.gz"), gzip(&content)).unwrap();
    // A publication that was stopped leaves both files.
    assert_eq!(results(), expected);
    fs::remove_file(&records).unwrap();
    assert_eq!(results(), expected);
}

#[test]
fn only_regular_files_of_the_run_are_read() {
    let bench = measured();
    let folder = bench.path("run");
    let manifest = folder.join("run.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let raw = folder.join("raw");
    let records = raw.join("records.jsonl");
    fs::copy(&records, bench.path("secret.jsonl")).unwrap();
    fs::copy(&records, folder.join("secret.jsonl")).unwrap();
    symlink(&records, raw.join("link.jsonl")).unwrap();
    symlink("not-there", raw.join("nowhere.jsonl")).unwrap();
    symlink("/dev/zero", raw.join("zero.jsonl")).unwrap();
    symlink(bench.folder.path(), raw.join("out")).unwrap();
    fs::create_dir(raw.join("folder")).unwrap();
    let fifo = Command::new("mkfifo").arg(raw.join("fifo")).status();
    assert!(fifo.unwrap().success());
    let twice = fs::read(&records).unwrap().repeat(2);
    fs::write(raw.join("longer.jsonl"), twice).unwrap();
    let absolute = records.display().to_string();
    let refused = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        fs::write(&manifest, text.replacen(from, to, 1)).unwrap();
        pack(&folder, bench.folder.path()).unwrap_err().to_string()
    };
    let (outside, special) = ("run.toml: files.path is", "expected a regular file");
    for (path, expected) in [
        ("/dev/zero", outside),
        (&absolute, outside),
        ("../secret.jsonl", outside),
        ("secret.jsonl", outside),
        ("raw/../secret.jsonl", outside),
        ("raw/./records.jsonl", outside),
        ("raw//records.jsonl", outside),
        ("raw/", outside),
        ("raw/records.jsonl\\n", outside),
        ("raw/link.jsonl", special),
        ("raw/nowhere.jsonl", special),
        ("raw/zero.jsonl", special),
        ("raw/folder", special),
        ("raw/fifo", special),
        ("raw/out/secret.jsonl", "raw/out: expected a folder"),
        ("raw/longer.jsonl", "bytes, as run.toml says"),
    ] {
        let to = format!("path = \"{path}\"");
        let of_pack = refused("path = \"raw/records.jsonl\"", &to);
        assert!(of_pack.contains(expected), "{path}: {of_pack}");
        let of_medians = medians::table(&folder).err().unwrap();
        assert_eq!(of_medians.to_string(), of_pack);
    }
    let of_id = refused("id = \"run\"", "id = \"../elsewhere\"");
    assert!(
        of_id.contains("run.toml: id is \"../elsewhere\""),
        "{of_id}"
    );
}

#[test]
fn a_changed_damaged_or_incomplete_run_is_not_packed() {
    let bench = measured();
    let folder = bench.path("run");
    let error = || pack(&folder, bench.folder.path()).unwrap_err().to_string();
    let records = folder.join("raw/records.jsonl");
    let content = fs::read(&records).unwrap();
    let other = changed(&content);
    fs::write(&records, &other).unwrap();
    assert!(error().contains("raw/records.jsonl: sha256 is"));
    fs::remove_file(&records).unwrap();
    assert!(error().ends_with("raw/records.jsonl"), "{}", error());

    let compressed = folder.join("raw/records.jsonl.gz");
    let whole = gzip(&content);
    let cut = (0..whole.len()).map(|length| whole[..length].to_vec());
    // Of the header's ten bytes, those that only describe the file may change.
    let damaged = (0..3).chain(10..whole.len()).map(|place| {
        let mut bytes = whole.clone();
        bytes[place] ^= 0xff;
        bytes
    });
    let longer = [&content[..], b"\n"].concat();
    let lengths = [gzip(&content[1..]), gzip(&longer)];
    for (number, bytes) in cut.chain(damaged).chain(lengths).enumerate() {
        fs::write(&compressed, bytes).unwrap();
        let of_medians = medians::table(&folder).err().unwrap().to_string();
        for error in [error(), of_medians] {
            assert!(error.contains("raw/records.jsonl.gz"), "{number}: {error}");
        }
    }
    fs::write(&compressed, gzip(other.as_bytes())).unwrap();
    assert!(error().contains("raw/records.jsonl: sha256 is"));
    fs::remove_file(bench.path("run/run.toml")).unwrap();
    assert!(error().contains("expected a complete run"));
    assert!(!bench.path("run.tar.gz").exists());
}
