//! A file of scenarios that suites share: `bench/suites/_*.toml`.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use toml::Table;

use crate::entry::Entry;

/// `"_main.toml"`, or `{ file = "_main.toml", key_exchange = "X25519" }`: the fields beside `file`
/// replace those that the file's scenarios have; a scenario without the field stays without.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Include {
    File(String),
    Changed {
        file: String,
        #[serde(flatten)]
        fields: Table,
    },
}

/// The content of an included file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shared {
    scenarios: Vec<Table>,
}

impl Include {
    /// The bytes of the file, which is in `folder`, and its scenarios.
    pub fn read(&self, folder: &Path) -> Result<(Vec<u8>, Vec<Entry>)> {
        let unchanged = Table::new();
        let (file, fields) = match self {
            Self::File(file) => (file, &unchanged),
            Self::Changed { file, fields } => (file, fields),
        };
        let path = folder.join(file);
        let bytes = std::fs::read(&path).with_context(|| path.display().to_string())?;
        let entries = entries(&bytes, fields).with_context(|| path.display().to_string())?;
        Ok((bytes, entries))
    }
}

fn entries(bytes: &[u8], fields: &Table) -> Result<Vec<Entry>> {
    let Shared { mut scenarios } = toml::from_slice(bytes)?;
    for (field, value) in fields {
        let mut found = false;
        for old in scenarios.iter_mut().filter_map(|it| it.get_mut(field)) {
            *old = value.clone();
            found = true;
        }
        ensure!(found, "no scenario has {field}, which the suite replaces");
    }
    let entries = scenarios.into_iter().map(Table::try_into);
    Ok(entries.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARED: &[u8] =
        b"[[scenarios]]\noperation = \"handshake\"\nkey_exchange = \"secp256r1\"\n\
                            [[scenarios]]\noperation = \"memory\"\n";

    fn names(fields: &str) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in entries(SHARED, &toml::from_str(fields)?)? {
            names.extend(entry.scenarios(None)?.iter().map(|it| it.name()));
        }
        Ok(names)
    }

    #[test]
    fn a_field_replaces_that_of_the_scenarios_which_have_it() {
        let as_written = names("").unwrap();
        assert_eq!(as_written, ["handshake, secp256r1", "memory"]);
        let changed = names("key_exchange = \"X25519\"").unwrap();
        assert_eq!(changed, ["handshake, X25519", "memory"]);
    }

    #[test]
    fn a_field_that_no_scenario_has_is_refused() {
        let error = names("certificate = \"ed25519\"").unwrap_err().to_string();
        assert!(error.contains("no scenario has certificate"), "{error}");
    }

    #[test]
    fn a_file_of_scenarios_holds_nothing_else() {
        let error = entries(b"rounds = 1\nscenarios = []\n", &Table::new());
        let error = format!("{:#}", error.unwrap_err());
        assert!(error.contains("rounds"), "{error}");
    }
}
