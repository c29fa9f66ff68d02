//! The compilers of a build, and its environment variables for them.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::listed::{Build, Compiler};

/// An environment variable and its value.
pub type Variable = (String, String);

/// Compilers, by the version that they print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compilers {
    pub rust: String,
    /// Version of Rust's LLVM: a clang of this version compiled the C code in Rust's standard
    /// library.
    pub llvm: String,
    pub c: String,
    pub cxx: String,
    /// The C compiler to select, if it is not the one that is used without.
    pub named: Option<Compiler>,
}

impl Compilers {
    /// Determines the versions of a build's compilers. `default` is the library's own, if it is not
    /// the host's.
    pub fn of(build: &Build, default: Option<Compiler>) -> Result<Self> {
        let rust = version("rustc", "rustc")?;
        let llvm = output_of("rustc", "-vV", "rustc")?;
        let llvm = llvm
            .lines()
            .find_map(|line| line.strip_prefix("LLVM version: "));
        let llvm = llvm.context("rustc -vV prints no LLVM version")?.to_owned();
        let own = version("cc", "g++").and_then(|c| Ok((c, version("c++", "g++")?)));
        let ((c, cxx), named) = match build.compiler.or(default) {
            None => (own?, None),
            Some(compiler) => {
                let package = match compiler {
                    Compiler::Gcc => "g++",
                    Compiler::Clang => "clang",
                };
                let wanted = (
                    version(compiler.c(), package)?,
                    version(compiler.cxx(), package)?,
                );
                // The version line of GCC starts with the name of the command.
                let unnamed = |text: &str| text.split_once(' ').map(|(_, rest)| rest.to_owned());
                match own {
                    Ok(own) if default.is_none() && unnamed(&own.0) == unnamed(&wanted.0) => {
                        (own, None)
                    }
                    _ => (wanted, Some(compiler)),
                }
            }
        };
        Ok(Self {
            rust,
            llvm,
            c,
            cxx,
            named,
        })
    }

    /// Environment variables that make all parts of a build use these compilers.
    pub fn environment(&self, build: &Build) -> Vec<Variable> {
        let mut all = Vec::new();
        let mut set = |name: &str, value: String| all.push((name.to_owned(), value));
        if let Some(compiler) = self.named {
            set("CC", compiler.c().to_owned());
            set("CXX", compiler.cxx().to_owned());
        }
        let mut flags: Vec<String> = build.flags.iter().cloned().collect();
        if let Some(cpu) = &build.target_cpu {
            flags.push(format!("-march={cpu}"));
            set("RUSTFLAGS", format!("-C target-cpu={cpu}"));
        }
        if !flags.is_empty() {
            set("CFLAGS", flags.join(" "));
            set("CXXFLAGS", flags.join(" "));
        }
        all
    }
}

/// The first line that a compiler prints about itself; `package` is the Debian package that
/// contains it.
fn version(name: &str, package: &str) -> Result<String> {
    let output = output_of(name, "--version", package)?;
    Ok(output.lines().next().unwrap_or_default().to_owned())
}

/// Output of a compiler for one option.
fn output_of(name: &str, question: &str, package: &str) -> Result<String> {
    let output = Command::new(name).arg(question).output();
    let output = output
        .with_context(|| format!("no {name} here; install it: apt-get install -y {package}"))?;
    ensure!(output.status.success(), "{name} {question} failed");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BoringSSL's build chooses Clang unless it is told otherwise, so GCC is named too.
    #[test]
    fn a_compiler_is_named_where_a_library_has_a_default_of_its_own() {
        for (requested, default, expected) in [
            (None, None, None),
            (None, Some(Compiler::Clang), Some(Compiler::Clang)),
            (
                Some(Compiler::Gcc),
                Some(Compiler::Clang),
                Some(Compiler::Gcc),
            ),
            (Some(Compiler::Clang), None, Some(Compiler::Clang)),
        ] {
            let build = Build {
                compiler: requested,
                ..Build::default()
            };
            let found = Compilers::of(&build, default).unwrap();
            assert_eq!(found.named, expected, "{requested:?} {default:?}");
        }
    }
}
