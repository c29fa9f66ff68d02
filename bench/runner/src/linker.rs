//! Scripts that Cargo uses as compiler and linker: they link a program, and then again in other
//! layouts, from the same objects.

use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// The variable with which Cargo uses [`Linker::rustc`] for the packages of a workspace.
pub const WRAPPER: &str = "RUSTC_WORKSPACE_WRAPPER";

/// Unit of padding: compilers align functions to it.
const STEP: u64 = 16;

/// Largest padding: it covers all sets of the first-level cache, and several pages.
const MOST_PADDING: u64 = 64 << 10;

/// Compiler for [`WRAPPER`]: the script beside it links the programs.
const RUSTC: &str = r#"#!/bin/sh
case "$CARGO_BIN_NAME" in
"") exec "$@" ;;
*) exec "$@" -C linker="$(dirname "$0")/cc" ;;
esac
"#;

/// The scripts in a folder, and the programs that they link: a numbered folder for each layout.
pub struct Linker {
    folder: PathBuf,
    count: u32,
}

impl Linker {
    /// `folder` exists; its path becomes part of symbol names, so it is always the same one.
    pub fn new(folder: PathBuf, count: u32) -> Self {
        Self { folder, count }
    }

    /// The compiler for [`WRAPPER`].
    pub fn rustc(&self) -> PathBuf {
        self.folder.join("rustc")
    }

    pub fn program(&self, layout: u32, name: &str) -> PathBuf {
        self.folder.join(layout.to_string()).join(name)
    }

    /// The first missing program.
    pub fn missing(&self, names: &[&str]) -> Option<PathBuf> {
        (0..self.count)
            .flat_map(|layout| names.iter().map(move |name| self.program(layout, name)))
            .find(|path| !path.exists())
    }

    /// Removes a program in each layout, so that none of another build is taken for it.
    ///
    /// # Errors
    ///
    /// A program cannot be removed.
    pub fn clear(&self, name: &str) -> Result<()> {
        (0..self.count).try_for_each(|layout| remove(&self.program(layout, name)))
    }

    /// Writes the scripts. `others` links layouts 1, 2, … of the arguments `"$@"` into numbered
    /// folders of `$here`; `outputs` receives the path that Cargo chose for each program.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn write(&self, outputs: &Path, others: &str) -> Result<()> {
        for layout in 1..self.count {
            let folder = self.folder.join(layout.to_string());
            fs::create_dir_all(&folder)?;
            fs::write(folder.join("pad.s"), pad(layout.into()))?;
        }
        fs::create_dir_all(outputs).with_context(|| outputs.display().to_string())?;
        let text = format!(
            "#!/bin/sh\nset -e\ncc \"$@\"\nhere=$(dirname \"$0\")\nprevious=\nfor argument; do\n  \
             [ \"$previous\" = -o ] && output=$argument\n  previous=$argument\ndone\n\
             name=$CARGO_BIN_NAME\nmkdir -p \"$here/0\"\ncp \"$output\" \"$here/0/$name\"\n\
             printf %s \"$output\" > '{}'/\"$name\"\n{others}",
            outputs.display()
        );
        write_script(&self.rustc(), RUSTC)?;
        write_script(&self.folder.join("cc"), &text)
    }

    /// The lines that link layouts 1, 2, …; `how` returns the arguments for one.
    pub fn each(&self, how: impl Fn(u32) -> String) -> String {
        let mut text = String::new();
        for layout in 1..self.count {
            let _ = writeln!(
                text,
                "mkdir -p \"$here/{layout}\"\n\
                 [ -e \"$here/{layout}/pad.o\" ] || \
                 cc -c \"$here/{layout}/pad.s\" -o \"$here/{layout}/pad.o\"\n\
                 cc {} -o \"$here/{layout}/$name\"",
                how(layout)
            );
        }
        text
    }

    /// The lines that link layouts whose code begins behind padding.
    pub fn shifted(&self) -> String {
        self.each(|layout| format!("\"$here/{layout}/pad.o\" \"$@\""))
    }
}

/// Removes the outputs that the linker script recorded, so that Cargo links again although nothing
/// changed.
///
/// # Errors
///
/// An output cannot be removed.
pub fn forget(outputs: &Path, names: &[&str]) -> Result<()> {
    for name in names {
        if let Ok(output) = fs::read_to_string(outputs.join(name)) {
            remove(Path::new(&output))?;
        }
    }
    Ok(())
}

/// Removes a file if it exists.
fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| path.display().to_string())
        }
        _ => Ok(()),
    }
}

/// The padding of a layout as assembly of an object that is linked first. The flag `R` makes the
/// linker keep it although nothing refers to it.
fn pad(seed: u64) -> String {
    format!(
        ".section .text.padding,\"axR\",%progbits\n.balign {STEP}\n.zero {}\n\
         .section .note.GNU-stack,\"\",%progbits\n",
        padding(seed)
    )
}

/// Bytes of padding, determined by a seed.
fn padding(seed: u64) -> u64 {
    let steps = ChaCha8Rng::seed_from_u64(seed).random_range(1..=MOST_PADDING / STEP);
    steps * STEP
}

/// Writes a script if its content differs: Cargo compares the modification times of wrappers.
fn write_script(path: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|found| found == text) {
        return Ok(());
    }
    fs::write(path, text).with_context(|| path.display().to_string())?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_determines_padding_that_keeps_functions_aligned() {
        let all: Vec<_> = (1..=8).map(padding).collect();
        assert_eq!(all, (1..=8).map(padding).collect::<Vec<_>>());
        assert!(
            all.iter()
                .all(|it| it % STEP == 0 && (STEP..=MOST_PADDING).contains(it))
        );
        let mut different = all.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), all.len(), "{all:?}");
    }
}
