//! An adapter's manifest, and its changes for a build.
//!
//! `cargo add` and `cargo update --precise` cannot pin an older version: the first rejects a
//! version that lacks a requested feature, the second one outside the adapter's requirement.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::listed::Build;
use crate::matrix::metadata::{Generation, Metadata};

#[derive(Deserialize, Serialize)]
pub struct Manifest {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    features: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    dependencies: BTreeMap<String, Value>,
    #[serde(flatten)]
    others: Table,
}

impl Manifest {
    /// Makes it a member of another workspace: an adapter outside the workspace of `bench/` has
    /// these tables of its own.
    pub fn leave_workspace(&mut self) {
        for own in ["workspace", "profile"] {
            self.others.remove(own);
        }
    }

    /// Removes a feature, also from the default ones.
    pub fn remove_feature(&mut self, feature: &str) {
        self.features.remove(feature);
        if let Some(all) = self.features.get_mut("default") {
            all.retain(|it| it != feature);
        }
    }

    /// Leaves one provider, and no other feature of the adapter. The packages of other providers
    /// may require another version of the library, and Cargo resolves them even if it does not build
    /// them.
    pub fn leave_provider(&mut self, provider: &str) {
        for (name, brings) in &mut self.features {
            // The sources may test for the feature, so it stays, without dependencies.
            if name != provider {
                brings.clear();
            }
        }
        let default = vec![provider.to_owned()];
        self.features.insert("default".to_owned(), default);
        let brings = self.features.get(provider);
        self.dependencies.retain(|name, dependency| {
            let optional = dependency.get("optional").and_then(Value::as_bool);
            let feature = format!("dep:{name}");
            optional != Some(true) || brings.is_some_and(|all| all.contains(&feature))
        });
    }

    /// Changes it for versions that consist of other packages, with the provider's package.
    pub fn set_generation(
        &mut self,
        generation: &Generation,
        build: &Build,
        metadata: &Metadata,
    ) -> Result<()> {
        let library = self.library(metadata)?;
        library.insert("features".to_owned(), generation.features.clone().into());
        let Some(provider) = &build.provider else {
            return Ok(());
        };
        let package = generation.providers.get(provider).with_context(|| {
            let all: Vec<_> = generation.providers.keys().map(String::as_str).collect();
            format!(
                "{}: found the provider {provider}, expected {}, the providers of this version",
                build.name(),
                all.join(" or ")
            )
        })?;
        let mut dependency = Table::from_iter([("optional".to_owned(), true.into())]);
        match (&build.source, &build.version) {
            (Some(tree), _) => in_tree(&mut dependency, tree, package),
            (None, version) => dependency.extend(version.as_deref().map(exactly)),
        }
        self.dependencies.insert(package.clone(), dependency.into());
        let brings = self.features.entry(provider.clone()).or_default();
        // In older versions the other entries were features of the library's package.
        brings.retain(|it| it.starts_with("dep:"));
        brings.push(format!("dep:{package}"));
        Ok(())
    }

    /// Pins the version of the library's package, and removes features that this version lacks.
    pub fn pin(&mut self, version: &str, metadata: &Metadata) -> Result<()> {
        let library = self.library(metadata)?;
        library.extend([exactly(version)]);
        if let Some(all) = library.get_mut("features") {
            let requested = all.clone().try_into()?;
            *all = metadata.features_of(version, requested)?.into();
        }
        Ok(())
    }

    /// Takes the library's package from its folder in a local tree.
    pub fn take_from(&mut self, tree: &str, folder: &str, metadata: &Metadata) -> Result<()> {
        let library = self.library(metadata)?;
        library.remove("version");
        in_tree(library, tree, folder);
        Ok(())
    }

    /// The library's package in the dependencies, as a table, whatever its form was.
    fn library(&mut self, metadata: &Metadata) -> Result<&mut Table> {
        let package = &metadata.package;
        let found = self.dependencies.get_mut(package);
        let found =
            found.with_context(|| format!("{package} is not a dependency of the adapter"))?;
        if found.is_str() {
            *found = Table::from_iter([("version".to_owned(), found.clone())]).into();
        }
        let found = found.as_table_mut();
        found.context("a dependency is neither a version nor a table")
    }
}

/// The requirement of a dependency for one version.
fn exactly(version: &str) -> (String, Value) {
    ("version".to_owned(), format!("={version}").into())
}

fn in_tree(dependency: &mut Table, tree: &str, folder: &str) {
    let path = Path::new(tree).join(folder).display().to_string();
    dependency.insert("path".to_owned(), path.into());
}
