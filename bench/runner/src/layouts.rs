//! Links programs several times from the same objects. The position of code changes a figure by
//! some per cent (`docs/bench-host.md`), so the sessions of a run may use several layouts: the
//! linker's own order, and the same order behind padding.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::files::remove;
use crate::libraries::Libraries;
use crate::suite::Suite;
use crate::words::say;

/// Unit of padding: compilers align functions to it.
const STEP: u64 = 16;

/// Largest padding: it covers all sets of the first-level cache, and several pages.
const MOST_PADDING: u64 = 64 << 10;

/// The compiler of the packages of a workspace: the script beside it links the programs.
const RUSTC: &str = r#"#!/bin/sh
case "$CARGO_BIN_NAME" in
"") exec "$@" ;;
*) exec "$@" -C linker="$(dirname "$0")/cc" ;;
esac
"#;

/// The scripts in a folder that Cargo uses as compiler and linker, and the programs that they link:
/// a numbered folder for each layout.
pub struct Layouts {
    folder: PathBuf,
    count: u32,
}

impl Layouts {
    /// The path of `folder` becomes part of symbol names, so it is always the same one.
    pub fn new(folder: PathBuf, count: u32) -> Self {
        Self { folder, count }
    }

    pub fn program(&self, layout: u32, name: &str) -> PathBuf {
        self.folder.join(layout.to_string()).join(name)
    }

    /// The first missing program.
    fn missing(&self, names: &[&str]) -> Option<PathBuf> {
        (0..self.count)
            .flat_map(|layout| names.iter().map(move |name| self.program(layout, name)))
            .find(|path| !path.exists())
    }

    /// The folder of the programs in the linker's own order. Each must be linked in each layout.
    pub fn check(&self, suite: &Suite) -> Result<PathBuf> {
        if let Some(path) = self.missing(&suite.programs()) {
            bail!(
                "there is no {}; link it: tlsbench build --suite {}.toml --layouts {}",
                path.display(),
                suite.name,
                self.count
            );
        }
        Ok(self.folder.join("0"))
    }

    /// Removes a program in each layout, so that none of another build is taken for it.
    pub fn clear(&self, name: &str) -> Result<()> {
        (0..self.count).try_for_each(|layout| remove(&self.program(layout, name)))
    }

    /// Writes the scripts. Returns the variable with which Cargo links the named programs in each
    /// layout, also if it finds nothing else to do. `outputs`, in Cargo's target folder, receives
    /// the path that Cargo chose for each program.
    pub fn variable(&self, outputs: &Path, names: &[&str]) -> Result<(String, String)> {
        fs::create_dir_all(outputs).with_context(|| outputs.display().to_string())?;
        if self.missing(names).is_some() {
            for name in names {
                if let Ok(output) = fs::read_to_string(outputs.join(name)) {
                    remove(Path::new(&output))?;
                }
            }
        }
        let mut script = format!(
            "#!/bin/sh\nset -e\ncc \"$@\"\nhere=$(dirname \"$0\")\nprevious=\nfor argument; do\n  \
             [ \"$previous\" = -o ] && output=$argument\n  previous=$argument\ndone\n\
             name=$CARGO_BIN_NAME\nmkdir -p \"$here/0\"\ncp \"$output\" \"$here/0/$name.new\"\n\
             mv \"$here/0/$name.new\" \"$here/0/$name\"\n\
             printf %s \"$output\" > '{}'/\"$name\"\n",
            outputs.display()
        );
        for layout in 1..self.count {
            let folder = self.folder.join(layout.to_string());
            fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
            fs::write(folder.join("pad.s"), pad(layout.into()))?;
            let _ = writeln!(
                script,
                "own=$here/{layout}/$name\ncc \"$here/{layout}/pad.s\" \"$@\" -o \"$own.new\"\nmv \"$own.new\" \"$own\""
            );
        }
        let rustc = self.folder.join("rustc");
        write_script(&rustc, RUSTC)?;
        write_script(&self.folder.join("cc"), &script)?;
        let rustc = rustc.display().to_string();
        Ok(("RUSTC_WORKSPACE_WRAPPER".to_owned(), rustc))
    }

    /// Links the programs of a suite in each layout, if anything changed. The builds of the matrix
    /// are linked when they are made.
    pub fn link(&self, suite: &Suite, bench: &Path) -> Result<()> {
        let names = suite.programs();
        if names.is_empty() {
            return Ok(());
        }
        let bench = bench.canonicalize();
        let bench = bench.context("programs are linked in a checkout, at its top")?;
        let libraries = Libraries::read(&bench)?;
        fs::create_dir_all(&self.folder).with_context(|| self.folder.display().to_string())?;
        let own = Self::new(self.folder.canonicalize()?, self.count);
        let outputs = bench.join("target/layouts").join(self.count.to_string());
        let wrapper = own.variable(&outputs, &names)?;
        say(&format!("linking in {} layouts", self.count));
        libraries.build(&bench, &names, Some(wrapper))?;
        match own.missing(&names) {
            Some(path) => bail!("{} was not linked", path.display()),
            None => Ok(()),
        }
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
        let all: Vec<_> = (1..=4).map(padding).collect();
        let layouts = "later runs have the layouts of earlier ones";
        assert_eq!(all, [26_384, 57_760, 40_832, 47_600], "{layouts}");
        assert!(all.iter().all(|it| it % STEP == 0));
    }
}
