//! `raw/records.jsonl` of a run: each record is appended and flushed, and never rewritten.

use std::fs::{self, File};
use std::io::ErrorKind::{QuotaExceeded, StorageFull};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::fs::{FlockOperation, flock};
use sha2::{Digest as _, Sha256};
use tls_harness::record::Record;

use crate::files::{hex, sha256};
use crate::stop;

/// Its path in the folder of a run.
pub const RECORDS: &str = "raw/records.jsonl";

/// How often to try again while the disk is full: for half an hour.
const TRIES: u32 = 180;
const PAUSE: Duration = Duration::from_secs(10);

/// The journal of a run. It ends with a commit mark (a block or round record), or with an
/// incomplete block if the runner was killed. Opening it removes the incomplete block.
pub struct Journal {
    file: File,
    path: PathBuf,
    length: u64,
    /// Checksum of the whole content.
    digest: Sha256,
}

impl Journal {
    /// Opens or creates the journal, removes an incomplete block, and returns the records. Only one
    /// process at a time can open it.
    pub fn open(path: &Path) -> Result<(Self, Vec<Record>)> {
        let name = path.display().to_string();
        let mut options = File::options();
        let opened = options.read(true).append(true).create(true).open(path);
        let mut file = opened.with_context(|| name.clone())?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)
            .with_context(|| format!("{name}: another tlsbench is writing it"))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).with_context(|| name.clone())?;
        let (records, length) = committed(&bytes).context(name)?;
        let journal = Self {
            file,
            path: path.to_owned(),
            length: length as u64,
            digest: Sha256::new_with_prefix(&bytes[..length]),
        };
        journal.cut()?;
        Ok((journal, records))
    }

    /// Reads the journal again: it must contain exactly the appended bytes.
    pub fn verify(&self) -> Result<()> {
        let path = self.path.display();
        let found = sha256(&fs::read(&self.path).with_context(|| path.to_string())?);
        let expected = hex(&self.digest.clone().finalize());
        ensure!(
            found == expected,
            "{path}: the records were changed while the run measured: found sha256 {found}, \
             expected {expected}; begin another run with another --out"
        );
        Ok(())
    }

    /// The records that were appended.
    pub fn records(&self) -> Result<Vec<Record>> {
        let name = || self.path.display().to_string();
        let bytes = fs::read(&self.path).with_context(name)?;
        let (records, _) = committed(&bytes).with_context(name)?;
        Ok(records)
    }

    /// Appends complete lines that end with a commit mark: all of them, or none.
    pub fn append(&mut self, lines: &[u8], say: impl FnMut(&str)) -> Result<()> {
        if let Some(how) = self.changed() {
            bail!(
                "the records were changed while the run measured: {how}; begin another run with \
                 another --out"
            );
        }
        let write = || -> io::Result<()> {
            let written = self.file.write_all(lines);
            match written.and_then(|()| self.file.sync_data()) {
                // What cannot be cut off ends the run: another try would write behind it.
                Err(error) => self.cut().map_err(io::Error::other).and(Err(error)),
                written => written,
            }
        };
        until_there_is_space(write, PAUSE, say).context(
            "could not write a record; what was measured before is kept: free some space and run \
             the same command again to resume",
        )?;
        self.length += lines.len() as u64;
        self.digest.update(lines);
        Ok(())
    }

    /// Removes what follows the last commit mark.
    fn cut(&self) -> io::Result<()> {
        self.file.set_len(self.length)?;
        self.file.sync_data()
    }

    /// How the stored bytes differ from the appended ones, if their path or length shows that.
    fn changed(&self) -> Option<String> {
        let (Ok(there), Ok(own)) = (fs::metadata(&self.path), self.file.metadata()) else {
            return Some("it was deleted".to_owned());
        };
        if (there.dev(), there.ino()) != (own.dev(), own.ino()) {
            return Some("another file is in its place".to_owned());
        }
        let (found, expected) = (there.len(), self.length);
        (found != expected).then(|| format!("found {found} bytes, expected {expected}"))
    }
}

/// Writes, and again after a pause while the disk is full; it says so each time.
fn until_there_is_space(
    mut write: impl FnMut() -> io::Result<()>,
    pause: Duration,
    mut say: impl FnMut(&str),
) -> io::Result<()> {
    for attempt in 1..TRIES {
        match write() {
            Err(error) if [StorageFull, QuotaExceeded].contains(&error.kind()) => {
                say(&format!(
                    "the disk is full; waiting for space, {attempt} of {TRIES}"
                ));
                stop::sleep(pause).map_err(io::Error::other)?;
            }
            written => return written,
        }
    }
    write()
}

/// The records up to the last commit mark, and the length of their lines in bytes.
fn committed(bytes: &[u8]) -> Result<(Vec<Record>, usize)> {
    let mut records = Vec::new();
    let (mut kept, mut length, mut position) = (0, 0, 0);
    for (index, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let record = line
            .ends_with(b"\n")
            .then(|| serde_json::from_slice::<Record>(line));
        position += line.len();
        match record {
            Some(Ok(record)) => {
                let mark = matches!(record, Record::Block(_) | Record::RoundState(_));
                records.push(record);
                if mark {
                    (kept, length) = (records.len(), position);
                }
            }
            // Only one block can be incomplete, and it is written at once. So two or more marks
            // after an unreadable line mean that the file was damaged in another way.
            Some(Err(error)) if marks(&bytes[position..]) > 1 => {
                bail!("line {}: {error}: expected a record", index + 1);
            }
            Some(Err(_)) | None => break,
        }
    }
    records.truncate(kept);
    Ok((records, length))
}

fn marks(bytes: &[u8]) -> usize {
    bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<Record>(line).ok())
        .filter(|record| matches!(record, Record::Block(_) | Record::RoundState(_)))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = include_str!("../../../data/schema/record.example.jsonl");

    #[test]
    fn a_journal_cut_at_any_byte_keeps_only_whole_blocks() {
        let bytes = EXAMPLE.as_bytes();
        let mut ends_of_marks = vec![0];
        let mut position = 0;
        for line in EXAMPLE.split_inclusive('\n') {
            position += line.len();
            if line.contains(r#""kind":"block""#) || line.contains(r#""kind":"round""#) {
                ends_of_marks.push(position);
            }
        }
        assert_eq!(ends_of_marks.len(), 6);
        for end in 0..=bytes.len() {
            let (records, length) = committed(&bytes[..end]).unwrap();
            let last = ends_of_marks.iter().rfind(|mark| **mark <= end);
            assert_eq!(Some(&length), last, "cut at {end}");
            assert_eq!(records.len(), EXAMPLE[..length].lines().count());
        }
    }

    /// Only the last block can have been written in part.
    #[test]
    fn a_damaged_line_ends_what_is_read_or_is_an_error_if_two_marks_follow() {
        for (lines, damaged, expected) in [
            (10, 10, Ok(9)),
            (9, 8, Ok(7)),
            (10, 8, Err("line 8: ")),
            (10, 2, Err("line 2: ")),
        ] {
            let lines: Vec<_> = EXAMPLE.split_inclusive('\n').take(lines).collect();
            let length = |count: usize| lines[..count].concat().len();
            let mut bytes = lines.concat().into_bytes();
            let start = length(damaged - 1);
            bytes[start..start + 10].fill(0);
            match (committed(&bytes), expected) {
                (Ok((records, kept)), Ok(count)) => {
                    assert_eq!((records.len(), kept), (count, length(count)));
                }
                (Err(error), Err(start)) => assert!(error.to_string().starts_with(start)),
                (found, expected) => panic!("{found:?}, expected {expected:?}"),
            }
        }
    }

    #[test]
    fn a_reopened_journal_is_truncated_to_its_last_mark() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.jsonl");
        fs::write(&path, format!("{EXAMPLE}{{\"in flight")).unwrap();
        let (journal, records) = Journal::open(&path).unwrap();
        assert_eq!(records.len(), EXAMPLE.lines().count());
        journal.verify().unwrap();
        assert_eq!(journal.records().unwrap(), records);
        assert_eq!(fs::read_to_string(&path).unwrap(), EXAMPLE);
    }

    /// The result of writing to a disk that becomes free after so many failures, and what is said.
    fn written(failures: usize, kind: io::ErrorKind) -> (io::Result<()>, Vec<String>) {
        let (mut left, mut said) = (failures, Vec::new());
        let write = || match left {
            0 => Ok(()),
            _ => {
                left -= 1;
                Err(kind.into())
            }
        };
        let say = |text: &str| said.push(text.to_owned());
        (until_there_is_space(write, Duration::ZERO, say), said)
    }

    #[test]
    fn a_full_disk_is_reported_and_writing_is_retried() {
        for kind in [StorageFull, QuotaExceeded] {
            let (result, said) = written(2, kind);
            result.unwrap();
            let all = [1, 2].map(|it| format!("the disk is full; waiting for space, {it} of 180"));
            assert_eq!(said, all);
        }
        assert!(written(179, StorageFull).0.is_ok());
        let (result, said) = written(180, StorageFull);
        assert_eq!((result.unwrap_err().kind(), said.len()), (StorageFull, 179));
        let (result, said) = written(1, io::ErrorKind::FileTooLarge);
        assert!(result.is_err() && said.is_empty());
    }

    #[test]
    fn a_deleted_replaced_or_edited_journal_is_not_appended_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.jsonl");
        let line = EXAMPLE.split_inclusive('\n').next().unwrap();
        let expect = |change: &dyn Fn(), reason: &str| {
            let _ = fs::remove_file(&path);
            let (mut journal, _) = Journal::open(&path).unwrap();
            let mut append = || journal.append(line.as_bytes(), |_| {});
            append().unwrap();
            change();
            let error = append().unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        };
        expect(&|| fs::remove_file(&path).unwrap(), "it was deleted");
        let other = folder.path().join("other");
        let replaced = || {
            fs::write(&other, line).unwrap();
            fs::rename(&other, &path).unwrap();
        };
        expect(&replaced, "another file is in its place");
        let longer = line.len() + 1;
        let grown = format!("found {longer} bytes, expected {}", line.len());
        expect(&|| fs::write(&path, format!("{line}\n")).unwrap(), &grown);
    }

    #[test]
    fn an_edit_that_keeps_the_length_is_found_by_the_checksum() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.jsonl");
        fs::write(&path, EXAMPLE).unwrap();
        let (mut journal, _) = Journal::open(&path).unwrap();
        let line = EXAMPLE.lines().last().unwrap().to_owned() + "\n";
        journal.append(line.as_bytes(), |_| {}).unwrap();
        journal.verify().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen("6012.25", "6112.25", 1)).unwrap();
        let error = format!("{:#}", journal.verify().unwrap_err());
        assert!(error.contains("records.jsonl: the records were"), "{error}");
    }
}
