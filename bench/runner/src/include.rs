//! Files of scenarios that suites include: `bench/suites/_*.toml`.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use toml::Table;
#[cfg(test)]
use toml::Value;

use crate::lines::Lines;

/// `"_main.toml"`, or `{ file = "_main.toml", key_exchange = "X25519" }`: each other field replaces
/// the values of that field in the file's scenarios. A scenario without the field stays without it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a file such as \"_main.toml\", or { file = \"_main.toml\", FIELD = VALUE }"
)]
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
    /// Reads the file from `folder`; returns its lines and the tables of its scenarios.
    pub fn read(&self, folder: &Path) -> Result<(Lines, Vec<Table>)> {
        let unchanged = Table::new();
        let (file, fields) = match self {
            Self::File(file) => (file, &unchanged),
            Self::Changed { file, fields } => (file, fields),
        };
        let lines = Lines::read(&folder.join(file))?;
        let Shared { scenarios } = lines.parse()?;
        let scenarios = changed(scenarios, fields).with_context(|| file.clone())?;
        Ok((lines, scenarios))
    }
}

fn changed(mut scenarios: Vec<Table>, fields: &Table) -> Result<Vec<Table>> {
    for (field, value) in fields {
        let mut found = false;
        for old in scenarios.iter_mut().filter_map(|it| it.get_mut(field)) {
            *old = value.clone();
            found = true;
        }
        ensure!(found, "no scenario has {field}, which the suite replaces");
    }
    Ok(scenarios)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARED: &str = "[[scenarios]]\noperation = \"handshake\"\nkey_exchange = \"secp256r1\"\n\
                          [[scenarios]]\noperation = \"memory\"\n";

    fn groups(fields: &str) -> Result<Vec<Option<Value>>> {
        let Shared { scenarios } = toml::from_str(SHARED)?;
        let scenarios = changed(scenarios, &toml::from_str(fields)?)?;
        let groups = scenarios.iter().map(|it| it.get("key_exchange").cloned());
        Ok(groups.collect())
    }

    #[test]
    fn a_field_is_replaced_only_in_scenarios_that_have_it() {
        assert_eq!(groups("").unwrap(), [Some("secp256r1".into()), None]);
        let changed = groups("key_exchange = \"X25519\"").unwrap();
        assert_eq!(changed, [Some("X25519".into()), None]);
    }

    #[test]
    fn replacing_a_field_that_no_scenario_has_is_an_error() {
        let error = groups("certificate = \"ed25519\"").unwrap_err().to_string();
        assert!(error.contains("no scenario has certificate"), "{error}");
    }

    #[test]
    fn an_included_file_contains_only_scenarios() {
        let error = toml::from_str::<Shared>("rounds = 1\nscenarios = []\n").err();
        assert!(error.unwrap().to_string().contains("rounds"));
    }
}
