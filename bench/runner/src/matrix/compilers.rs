//! The compilers of a build, and what they find in its environment.

use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::matrix::subject::{Build, Compiler};

/// Compilers, by the version that they print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compilers {
    pub rust: String,
    /// Version of Rust's LLVM: its standard library holds C code by a clang of that.
    pub llvm: String,
    pub c: String,
    pub cxx: String,
    /// The one to name to the build, where it is not the host's own anyway.
    pub named: Option<Compiler>,
}

impl Compilers {
    /// Asks the compilers of a build what they are.
    pub fn of(build: &Build) -> Result<Self> {
        let rust = version("rustc", "rustc")?;
        let llvm = output_of("rustc", "-vV", "rustc")?;
        let llvm = llvm
            .lines()
            .find_map(|line| line.strip_prefix("LLVM version: "));
        let llvm = llvm.context("rustc -vV prints no LLVM version")?.to_owned();
        let own = version("cc", "g++").and_then(|c| Ok((c, version("c++", "g++")?)));
        let ((c, cxx), named) = match build.compiler {
            None => (own?, None),
            Some(compiler) => {
                let package = match compiler {
                    Compiler::Gcc => "g++",
                    Compiler::Clang => "clang",
                };
                let asked = (
                    version(compiler.c(), package)?,
                    version(compiler.cxx(), package)?,
                );
                // What a compiler prints begins with the name that it was called by, if it is GCC.
                let unnamed = |text: &str| text.split_once(' ').map(|(_, rest)| rest.to_owned());
                match own {
                    Ok(own) if unnamed(&own.0) == unnamed(&asked.0) => (own, None),
                    _ => (asked, Some(compiler)),
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

    /// What compiles all parts of a build, as its environment states.
    pub fn environment(&self, build: &Build) -> Vec<(String, String)> {
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

/// The first line of what a compiler prints about itself; `package` is Debian's that brings it.
fn version(name: &str, package: &str) -> Result<String> {
    let output = output_of(name, "--version", package)?;
    Ok(output.lines().next().unwrap_or_default().to_owned())
}

/// What a compiler answers.
fn output_of(name: &str, question: &str, package: &str) -> Result<String> {
    let output = Command::new(name).arg(question).output();
    let output = output
        .with_context(|| format!("no {name} here; install it: apt-get install -y {package}"))?;
    ensure!(output.status.success(), "{name} {question} failed");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
