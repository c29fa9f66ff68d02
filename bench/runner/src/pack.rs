//! Packs a run into one file, to copy it from the host that measured.
//!
//! The archive is a gzip-compressed tar (POSIX ustar) of the run's folder. Its first member is
//! `SHA256SUMS` in the format of sha256sum(1). Equal runs give equal bytes: members are sorted, and
//! have no times, owners or modes of this machine.

use std::fs;
use std::path::{Path, PathBuf};

use crate::manifest::{Run, stored_bytes};
use anyhow::{Context, Result, ensure};
use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

use crate::files::{replace, sha256};
use crate::id::{EXPECTED, is_id};
use crate::lines;

/// Packs the complete run in `folder` into the folder `out`; returns the archive, `<run>.tar.gz`,
/// and the file with its checksum, `<run>.tar.gz.sha256`.
pub fn pack(folder: &Path, out: &Path) -> Result<(PathBuf, PathBuf)> {
    let manifest = folder.join("run.toml");
    ensure!(
        manifest.exists() || !folder.join("run.partial.toml").exists(),
        "{}: the run is not complete, expected a complete run: resume it with the command in its \
         run.partial.toml",
        folder.display()
    );
    let text = fs::read(&manifest)
        .with_context(|| format!("{}: expected a complete run", manifest.display()))?;
    let run: Run = lines::parse(&manifest.display().to_string(), std::str::from_utf8(&text)?)?;
    // It is part of the names of files.
    ensure!(
        is_id(&run.id),
        "{}: id is {:?}, {EXPECTED}",
        manifest.display(),
        run.id
    );
    let mut members = vec![("run.toml".to_owned(), text)];
    for file in &run.files {
        let path = folder.join(&file.path);
        let bytes = stored_bytes(folder, file)?;
        let found = sha256(&bytes);
        ensure!(
            found == file.sha256,
            "{}: sha256 is {found}, expected {} as {} says",
            path.display(),
            file.sha256,
            manifest.display()
        );
        members.push((file.path.clone(), bytes));
    }
    members.sort();
    let sums: String = members
        .iter()
        .map(|(name, bytes)| format!("{}  {}/{name}\n", sha256(bytes), run.id))
        .collect();

    // The gzip header contains neither time nor name.
    let mut archive = Builder::new(GzBuilder::new().write(Vec::new(), Compression::best()));
    let sums_name = format!("{}/SHA256SUMS", run.id);
    add(&mut archive, &sums_name, sums.as_bytes())?;
    for (name, bytes) in &members {
        add(&mut archive, &format!("{}/{name}", run.id), bytes)?;
    }
    let bytes = archive.into_inner()?.finish()?;
    let name = format!("{}.tar.gz", run.id);
    let (path, checksum) = (out.join(&name), out.join(format!("{name}.sha256")));
    replace(&path, &bytes)?;
    let sum = format!("{}  {name}\n", sha256(&bytes));
    replace(&checksum, sum.as_bytes())?;
    Ok((path, checksum))
}

fn add(archive: &mut Builder<impl std::io::Write>, name: &str, bytes: &[u8]) -> Result<()> {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    header.set_size(bytes.len() as u64);
    header.set_mode(0o644);
    header.set_mtime(0);
    archive.append_data(&mut header, name, bytes)?;
    Ok(())
}
