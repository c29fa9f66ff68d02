//! Selects a part of a suite by command-line options: `--only 'full/1.3/*' --library rustls`.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use tls_harness::implementation::Implementation;
use tls_harness::scenario::{Operation, Resumption, Scenario};

use crate::files::sha256;
use crate::libraries::Libraries;
use crate::lines::suggestion;
use crate::listed::{Build, Listed, slug};
use crate::suite::{Suite, SuiteFile};

/// The selected part of a suite; empty selects all of it.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub struct Selection {
    /// Only scenarios whose KIND/PROTOCOL/NAME matches this pattern, as `tlsbench list` prints them;
    /// * matches any number of characters, ? exactly one. May be given several times
    #[arg(long, value_name = "PATTERN")]
    pub only: Vec<String>,
    /// Only implementations of this library (openssl) or with this name (tls-rustls-*), even if the
    /// suite does not have the program. May be given several times
    #[arg(long, value_name = "LIBRARY")]
    pub library: Vec<String>,
    /// Also a local tree of a library, such as a fork of rustls, in each build of that library in the
    /// suite. May be given several times
    #[arg(long, value_name = "LIBRARY=FOLDER", value_parser = source)]
    pub source: Vec<Source>,
    /// Implementations to measure instead of the suite's.
    #[arg(skip)]
    pub instead: Vec<Listed>,
}

/// A local tree of a library.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    pub library: String,
    pub folder: PathBuf,
}

fn source(text: &str) -> Result<Source, String> {
    match text.split_once('=') {
        Some((library, folder)) if !library.is_empty() && !folder.is_empty() => Ok(Source {
            library: library.to_owned(),
            folder: folder.into(),
        }),
        _ => Err("expected a library and a folder such as rustls=../rustls".to_owned()),
    }
}

impl Selection {
    /// The command-line options, each preceded by a space.
    pub fn arguments(&self) -> String {
        let only = self.only.iter().map(|it| format!(" --only '{it}'"));
        let library = self.library.iter().map(|it| format!(" --library '{it}'"));
        // A run records no path of this machine.
        let source = self.source.iter().map(|Source { library, folder }| {
            let folder = match folder.is_absolute() {
                true => Path::new(folder.file_name().unwrap_or_default()),
                false => folder,
            };
            format!(" --source '{library}={}'", folder.display())
        });
        let sides = ["a", "b"].iter().zip(&self.instead);
        let sides = sides.map(|(name, side)| format!(" --{name} '{side}'"));
        only.chain(library).chain(source).chain(sides).collect()
    }

    /// Reduces a suite to what is selected. A part of a suite has its own name, family and checksum.
    pub fn apply(
        &self,
        file: &mut SuiteFile,
        libraries: &Libraries,
        describe: impl Fn(&str) -> Result<Implementation>,
    ) -> Result<()> {
        if *self == Self::default() {
            return Ok(());
        }
        file.sha256 = sha256(format!("{}{}", file.sha256, self.arguments()));
        let (suite, places) = (&mut file.suite, &mut file.places);
        self.choose_scenarios(suite)?;
        self.choose_implementations(suite, places, libraries)?;
        if !self.instead.is_empty() {
            suite.implementations.clone_from(&self.instead);
            *places = self.instead.iter().map(ToString::to_string).collect();
        }
        for source in &self.source {
            let mut found = false;
            for listed in suite.implementations.clone() {
                if let Some(counterpart) = source.counterpart(&listed, libraries, &describe)? {
                    found = true;
                    if !suite.implementations.contains(&counterpart) {
                        suite.implementations.push(counterpart);
                        places.push(format!("--source {}", source.library));
                    }
                }
            }
            if !found {
                bail!(
                    "--source {0}=…: the suite {1} has no build of {0}, expected a library that it \
                     measures; choose another suite, or add --library {0}",
                    source.library,
                    suite.name
                );
            }
        }
        for name in [&mut suite.name, &mut suite.family] {
            name.push_str("-part");
        }
        Ok(())
    }

    fn choose_scenarios(&self, suite: &mut Suite) -> Result<()> {
        let paths: Vec<String> = suite.scenarios.iter().map(path_of).collect();
        for pattern in &self.only {
            if !paths.iter().any(|path| matches(pattern, path)) {
                bail!(
                    "--only '{pattern}': no scenario of the suite {} matches, expected a pattern of: {}",
                    suite.name,
                    paths.join(" ")
                );
            }
        }
        if !self.only.is_empty() {
            let mut paths = paths.iter();
            suite.scenarios.retain(|_| {
                let path = paths.next();
                path.is_some_and(|path| self.only.iter().any(|it| matches(it, path)))
            });
        }
        Ok(())
    }

    fn choose_implementations(
        &self,
        suite: &mut Suite,
        places: &mut Vec<String>,
        libraries: &Libraries,
    ) -> Result<()> {
        if self.library.is_empty() {
            return Ok(());
        }
        let all = suite.implementations.drain(..).zip(places.drain(..));
        let all: Vec<_> = all.collect();
        let is_chosen = |it: &(Listed, String), wanted: &String| is_of(&it.0, wanted, libraries);
        let is_wanted =
            |it: &&(Listed, String)| self.library.iter().any(|wanted| is_chosen(it, wanted));
        let mut chosen: Vec<_> = all.iter().filter(is_wanted).cloned().collect();
        for wanted in &self.library {
            if chosen.iter().any(|it| is_chosen(it, wanted)) {
                continue;
            }
            let measured = libraries.iter().flat_map(|it| it.programs.iter().cloned());
            let measured = measured.map(Listed::Program);
            let others: Vec<_> = measured.filter(|it| is_of(it, wanted, libraries)).collect();
            if others.is_empty() {
                let ids = libraries.iter().map(|it| it.id.as_str());
                let programs = libraries.iter().flat_map(|it| &it.programs);
                let names: Vec<_> = ids.chain(programs.map(String::as_str)).collect();
                bail!(
                    "--library {wanted}: found no such library and no such implementation in the \
                     suite {}, expected one of: {}{}",
                    suite.name,
                    names.join(", "),
                    suggestion(wanted, names.iter().copied())
                );
            }
            let place = format!("--library {wanted}");
            chosen.extend(others.into_iter().map(|it| (it, place.clone())));
        }
        (suite.implementations, *places) = chosen.into_iter().unzip();
        Ok(())
    }
}

impl Source {
    /// The build of this tree that otherwise equals an implementation; `None` if that is of another
    /// library, or not a build of the matrix.
    fn counterpart(
        &self,
        listed: &Listed,
        libraries: &Libraries,
        describe: impl Fn(&str) -> Result<Implementation>,
    ) -> Result<Option<Listed>> {
        let build = match listed {
            Listed::Build(build) if build.library == self.library => build.clone(),
            Listed::Program(name)
                if libraries
                    .of_program(name)
                    .is_some_and(|it| it.id == self.library) =>
            {
                let program = describe(name)?;
                if program.build.is_some() {
                    return Ok(None);
                }
                Build {
                    library: self.library.clone(),
                    provider: program.provider,
                    ..Build::default()
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(Listed::Build(Build {
            version: None,
            source: Some(self.folder.display().to_string()),
            ..build
        })))
    }
}

/// Whether an implementation belongs to a library, or its name matches a pattern.
fn is_of(listed: &Listed, wanted: &str, libraries: &Libraries) -> bool {
    let library = match listed {
        Listed::Program(name) => libraries.of_program(name).map(|it| it.id.as_str()),
        Listed::Build(build) => Some(build.library.as_str()),
    };
    library == Some(wanted) || matches(wanted, &listed.to_string())
}

/// `KIND/PROTOCOL/NAME` of a scenario: `full/1.3/rsa-2048-x25519`, `primitive/rsa-2048-sign`.
pub fn path_of(scenario: &Scenario) -> String {
    let kind = match (scenario.operation, scenario.resumption) {
        (Operation::Handshake, None | Some(Resumption::None)) => "full",
        (Operation::Handshake, Some(_)) => "resumed",
        (operation, _) => operation.as_str(),
    };
    let name = scenario.name();
    let name = slug(name.split_once(", ").unwrap_or_default().1);
    let parts = [
        Some(kind.to_owned()),
        scenario.protocol.map(|it| it.to_string()),
        (!name.is_empty()).then_some(name),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("/")
}

/// Whether a pattern matches a whole text, ignoring case.
fn matches(pattern: &str, text: &str) -> bool {
    fn rest(pattern: &[u8], text: &[u8]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some((b'*', pattern)) => (0..=text.len()).any(|from| rest(pattern, &text[from..])),
            Some((letter, pattern)) => text.split_first().is_some_and(|(found, text)| {
                (*letter == b'?' || letter.eq_ignore_ascii_case(found)) && rest(pattern, text)
            }),
        }
    }
    // Consecutive stars mean the same as one, but would multiply the ways to match.
    let mut stars = pattern.to_owned();
    while stars.contains("**") {
        stars = stars.replace("**", "*");
    }
    rest(stars.as_bytes(), text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(text: &str) -> Scenario {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_scenario_has_a_path_of_kind_protocol_and_name() {
        for (text, path) in [
            (
                r#"{"operation":"handshake","protocol":"1.3","certificate":"rsa-2048",
                "key_exchange":"X25519","resumption":"none"}"#,
                "full/1.3/rsa-2048-x25519",
            ),
            (
                r#"{"operation":"handshake","protocol":"1.2","resumption":"ticket"}"#,
                "resumed/1.2/ticket",
            ),
            (
                r#"{"operation":"primitive","variant":"rsa-2048-sign"}"#,
                "primitive/rsa-2048-sign",
            ),
            (
                r#"{"operation":"client-hello","protocol":"1.3","variant":"X25519MLKEM768+X25519"}"#,
                "client-hello/1.3/x25519mlkem768-x25519",
            ),
            (
                r#"{"operation":"quic-packet","cipher_suite":"TLS_AES_128_GCM_SHA256","size":1200}"#,
                "quic-packet/aes-128-gcm-1200-b",
            ),
        ] {
            assert_eq!(path_of(&scenario(text)), path);
        }
    }

    #[test]
    fn a_pattern_matches_the_whole_path() {
        let path = "full/1.3/rsa-2048-x25519";
        for pattern in [
            "full/1.3/*",
            "*",
            "FULL/1.?/RSA*",
            "*x25519",
            "full**x25519",
        ] {
            assert!(matches(pattern, path), "{pattern}");
        }
        for pattern in ["full", "full/1.2/*", "*x2551", ""] {
            assert!(!matches(pattern, path), "{pattern}");
        }
    }
}
