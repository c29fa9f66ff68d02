//! `raw/records.jsonl` of a run: each record is appended and flushed, and never rewritten.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::fs::{FlockOperation, flock};
use sha2::{Digest as _, Sha256};
use tls_harness::record::Record;

use crate::files::{hex, sha256};

/// Storage of the journal: a file, or in tests an object that fails.
pub trait Store {
    /// Appends the bytes and flushes them to the disk.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Truncates to a length.
    fn cut(&mut self, length: u64) -> io::Result<()>;
    /// How the stored bytes differ from the appended ones, if their path or length shows that.
    fn changed(&self, length: u64) -> Option<String>;
}

pub struct Named {
    file: File,
    path: PathBuf,
}

impl Store for Named {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(io::SeekFrom::End(0))?;
        self.file.write_all(bytes)?;
        self.file.sync_data()
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)?;
        self.file.sync_data()
    }

    fn changed(&self, length: u64) -> Option<String> {
        let (Ok(there), Ok(own)) = (fs::metadata(&self.path), self.file.metadata()) else {
            return Some("it was deleted".to_owned());
        };
        if (there.dev(), there.ino()) != (own.dev(), own.ino()) {
            return Some("another file is in its place".to_owned());
        }
        let found = there.len();
        (found != length).then(|| format!("found {found} bytes, expected {length}"))
    }
}

/// The journal of a run. It ends with a commit mark (a block or round record), or with an
/// incomplete block if the runner was killed. Opening it removes the incomplete block.
pub struct Journal<S = Named> {
    store: S,
    length: u64,
    /// Checksum of the whole content.
    digest: Sha256,
}

impl Journal {
    /// Opens or creates the journal, removes an incomplete block, and returns the records. Only one
    /// process at a time can open it.
    pub fn open(path: &Path) -> Result<(Self, Vec<Record>)> {
        let name = path.display().to_string();
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .with_context(|| name.clone())?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)
            .with_context(|| format!("{name}: another tlsbench is writing it"))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).with_context(|| name.clone())?;
        let (records, length) = committed(&bytes).context(name)?;
        let digest = Sha256::new_with_prefix(&bytes[..length]);
        let mut store = Named {
            file,
            path: path.to_owned(),
        };
        store.cut(length as u64)?;
        let journal = Self {
            store,
            length: length as u64,
            digest,
        };
        Ok((journal, records))
    }

    /// Reads the journal again: it must contain exactly the appended bytes.
    pub fn verify(&self) -> Result<()> {
        let path = &self.store.path;
        let bytes = fs::read(path).with_context(|| path.display().to_string())?;
        self.is_unchanged(&sha256(&bytes))
            .with_context(|| path.display().to_string())
    }

    /// Compares a checksum of the journal with that of the appended bytes.
    pub fn is_unchanged(&self, sha256: &str) -> Result<()> {
        let expected = hex(&self.digest.clone().finalize());
        ensure!(
            sha256 == expected,
            "the records were changed while the run measured: found sha256 {sha256}, expected \
             {expected}; begin another run with another --out"
        );
        Ok(())
    }
}

impl<S: Store> Journal<S> {
    /// Appends complete lines that end with a commit mark: all of them, or none. If the disk is
    /// full, it reports that, waits `pause` and tries again, at most `tries` times.
    pub fn append(
        &mut self,
        lines: &[u8],
        tries: u32,
        pause: Duration,
        mut say: impl FnMut(&str),
    ) -> Result<()> {
        if let Some(how) = self.store.changed(self.length) {
            bail!(
                "the records were changed while the run measured: {how}; begin another run with \
                 another --out"
            );
        }
        for attempt in 1.. {
            let Err(error) = self.store.append(lines) else {
                self.length += lines.len() as u64;
                self.digest.update(lines);
                return Ok(());
            };
            self.store
                .cut(self.length)
                .context("could not cut off a record that was written in part")?;
            let full = [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded];
            if !full.contains(&error.kind()) || attempt >= tries {
                return Err(error).context(
                    "could not write a record; what was measured before is kept: free some \
                     space and run the same command again to resume",
                );
            }
            say(&format!(
                "the disk is full ({} bytes are needed); waiting for space, {attempt} of {tries}",
                lines.len()
            ));
            std::thread::sleep(pause);
        }
        unreachable!("the loop has no end but its returns")
    }
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

    #[test]
    fn an_error_names_the_line_of_damage_before_the_last_block() {
        let damaged = EXAMPLE.replacen("\"measurement\"", "\"measur\0ment\"", 1);
        let error = committed(damaged.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("line 2: "), "{error}");
    }

    #[test]
    fn a_partly_written_block_is_removed() {
        let zeroed = EXAMPLE.lines().last().unwrap().len() / 2;
        let mut bytes = EXAMPLE.as_bytes().to_vec();
        let last = bytes.len() - zeroed;
        bytes[last..last + 10].fill(0);
        let (records, _) = committed(&bytes).unwrap();
        assert_eq!(records.len(), EXAMPLE.lines().count() - 1);
    }

    #[test]
    fn a_block_whose_mark_was_written_before_its_figures_is_removed() {
        let lines: Vec<_> = EXAMPLE.split_inclusive('\n').collect();
        let [start, end] = [7, 9].map(|count| lines[..count].concat().len());
        assert!(lines[7].contains(r#""kind":"measurement""#));
        assert!(lines[8].contains(r#""kind":"block""#));
        let mut bytes = EXAMPLE.as_bytes()[..end].to_vec();
        bytes[start..start + 10].fill(0);
        let (records, length) = committed(&bytes).unwrap();
        assert_eq!((records.len(), length), (7, start));
    }

    #[test]
    fn a_reopened_journal_is_truncated_to_its_last_mark() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.jsonl");
        fs::write(&path, format!("{EXAMPLE}{{\"in flight")).unwrap();
        let (journal, records) = Journal::open(&path).unwrap();
        assert_eq!(records.len(), EXAMPLE.lines().count());
        journal.verify().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), EXAMPLE);
    }

    /// A disk with `room` free bytes, and `relief` more after each failure.
    struct Disk {
        bytes: Vec<u8>,
        room: usize,
        relief: usize,
    }

    impl Store for Disk {
        fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
            let fits = bytes.len().min(self.room);
            self.bytes.extend(&bytes[..fits]);
            self.room -= fits;
            if fits < bytes.len() {
                return Err(io::ErrorKind::StorageFull.into());
            }
            Ok(())
        }

        fn cut(&mut self, length: u64) -> io::Result<()> {
            let length = usize::try_from(length).unwrap();
            self.room += self.bytes.len() - length + self.relief;
            self.bytes.truncate(length);
            Ok(())
        }

        fn changed(&self, length: u64) -> Option<String> {
            (self.bytes.len() as u64 != length).then(|| "it was".to_owned())
        }
    }

    fn journal_in(store: Disk) -> Journal<Disk> {
        Journal {
            store,
            length: 0,
            digest: Sha256::new(),
        }
    }

    #[test]
    fn a_full_disk_is_reported_and_writing_is_retried() {
        let store = Disk {
            bytes: Vec::new(),
            room: 15,
            relief: 3,
        };
        let mut journal = journal_in(store);
        let mut said = Vec::new();
        journal
            .append(b"0123456789\n", 9, Duration::ZERO, |_| unreachable!())
            .unwrap();
        journal
            .append(b"abcdefghij\n", 9, Duration::ZERO, |text| {
                said.push(text.to_owned())
            })
            .unwrap();
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said[0].contains("disk is full (11 bytes"), "{said:?}");
        assert_eq!(journal.store.bytes, b"0123456789\nabcdefghij\n");
        assert_eq!(journal.length, 22);
        let digest = sha256(&journal.store.bytes);
        assert_eq!(hex(&journal.digest.finalize()), digest);
    }

    #[test]
    fn a_disk_that_stays_full_ends_the_run_without_a_partial_block() {
        let store = Disk {
            bytes: Vec::new(),
            room: 5,
            relief: 0,
        };
        let mut journal = journal_in(store);
        let error = journal
            .append(b"0123456789\n", 3, Duration::ZERO, |_| {})
            .unwrap_err();
        assert!(error.to_string().contains("free some"), "{error}");
        assert!(journal.store.bytes.is_empty());
    }

    #[test]
    fn a_deleted_replaced_or_edited_journal_is_not_appended_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.jsonl");
        let line = EXAMPLE.split_inclusive('\n').next().unwrap();
        let expect = |change: &dyn Fn(), reason: &str| {
            let _ = fs::remove_file(&path);
            let (mut journal, _) = Journal::open(&path).unwrap();
            let mut append = || journal.append(line.as_bytes(), 1, Duration::ZERO, |_| {});
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
        journal
            .append(line.as_bytes(), 1, Duration::ZERO, |_| {})
            .unwrap();
        journal.verify().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen("6012.25", "6112.25", 1)).unwrap();
        let error = format!("{:#}", journal.verify().unwrap_err());
        assert!(error.contains("records.jsonl: the records were"), "{error}");
    }
}
