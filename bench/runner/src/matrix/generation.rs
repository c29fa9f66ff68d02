//! Versions of a library that consist of other packages than older versions. The adapter's folder
//! has a separate crate for them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value, value};

use crate::matrix::manifest::{library_package, numbers, table};
use crate::matrix::package::Metadata;
use crate::matrix::subject::Build;

/// `[package.metadata.matrix.from."<version>"]`: settings for this version and later ones.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generation {
    /// The adapter's crate for these versions, in its folder.
    #[serde(rename = "crate")]
    root: String,
    /// Features of the library's package.
    features: Vec<String>,
    /// The packages of the providers, which have the library's version. In a local tree the folder
    /// of each has its name.
    providers: BTreeMap<String, String>,
}

impl Generation {
    /// The settings for the version of a build, if they differ from the adapter's own manifest.
    ///
    /// # Errors
    ///
    /// The version is invalid, or a local tree does not state it.
    pub fn of<'a>(build: &Build, metadata: &'a Metadata) -> Result<Option<&'a Self>> {
        let version = match (&build.version, &build.source, &metadata.folder) {
            (Some(version), _, _) => version.clone(),
            (None, Some(tree), Some(folder)) => tree_version(&Path::new(tree).join(folder))?,
            _ => return Ok(None),
        };
        let own = numbers(&version).with_context(|| format!("version = \"{version}\""))?;
        let mut found = None;
        for (first, generation) in &metadata.from {
            let first = numbers(first).with_context(|| format!("from.\"{first}\""))?;
            if first <= own && found.is_none_or(|(newest, _)| newest < first) {
                found = Some((first, generation));
            }
        }
        Ok(found.map(|(_, generation)| generation))
    }

    /// Changes the manifest for these versions, with the provider's package.
    ///
    /// # Errors
    ///
    /// These versions do not have the provider, or the manifest is invalid.
    pub fn apply(
        &self,
        manifest: &mut DocumentMut,
        build: &Build,
        metadata: &Metadata,
    ) -> Result<()> {
        let mut library = Table::new();
        library["path"] = value(self.root.as_str());
        manifest["lib"] = Item::Table(library);
        let library = library_package(manifest, metadata)?;
        let features = Array::from_iter(self.features.iter().map(String::as_str));
        library.insert("features", Value::Array(features));
        let Some(provider) = &build.provider else {
            return Ok(());
        };
        let package = self.providers.get(provider);
        let package = package.with_context(|| {
            let all: Vec<_> = self.providers.keys().map(String::as_str).collect();
            format!(
                "{}: found the provider {provider}, expected {}, the providers of this version",
                build.name(),
                all.join(" or ")
            )
        })?;
        let mut dependency = InlineTable::new();
        if let Some(tree) = &build.source {
            let path = Path::new(tree).join(package);
            dependency.insert("path", path.display().to_string().into());
        } else if let Some(version) = &build.version {
            dependency.insert("version", format!("={version}").into());
        }
        dependency.insert("optional", true.into());
        table(manifest, "dependencies")?[package] = value(dependency);
        let feature = &mut table(manifest, "features")?[provider];
        let brings = feature.as_array_mut();
        let brings = brings.with_context(|| format!("features.{provider}: expected an array"))?;
        // In older versions the other entries were features of the library's package.
        brings.retain(|it| it.as_str().is_some_and(|it| it.starts_with("dep:")));
        brings.push(format!("dep:{package}"));
        Ok(())
    }
}

/// The version that the package in a folder states.
fn tree_version(folder: &Path) -> Result<String> {
    let path = folder.join("Cargo.toml");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let manifest: DocumentMut = text.parse().with_context(|| path.display().to_string())?;
    let package = manifest.get("package").and_then(Item::as_table_like);
    let version = package.and_then(|it| it.get("version")?.as_str());
    let version = version.with_context(|| {
        let path = path.display();
        format!("{path}: found no version of the package, expected one such as \"0.23.46\"")
    })?;
    Ok(version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::package::derive;

    const WORKSPACE: &str = include_str!("../../../Cargo.toml");
    const RUSTLS: &str = include_str!("../../../libraries/rustls/Cargo.toml");

    fn build(version: &str, provider: &str) -> Build {
        Build {
            library: "rustls".into(),
            version: Some(version.into()),
            provider: Some(provider.into()),
            ..Build::default()
        }
    }

    fn manifest(build: &Build) -> toml::Table {
        let package = derive(RUSTLS, WORKSPACE, "", build).unwrap();
        toml::from_str(&package.manifest).unwrap()
    }

    #[test]
    fn newer_versions_take_their_provider_from_a_package() {
        let older = manifest(&build("0.23.46", "ring"));
        assert_eq!(older.get("lib"), None);
        for version in ["0.24.0-dev.2", "0.24.0", "0.25.1"] {
            for provider in ["aws-lc-rs", "ring"] {
                let found = manifest(&build(version, provider));
                assert_eq!(found["lib"]["path"].as_str(), Some("src/v0_24/lib.rs"));
                let dependencies = found["dependencies"].as_table().unwrap();
                let library = &dependencies["rustls"];
                assert_eq!(library["features"], vec!["webpki"].into());
                let package = format!("rustls-{provider}");
                for (name, version) in [("rustls", version), (&*package, version)] {
                    let pinned = format!("={version}");
                    assert_eq!(dependencies[name]["version"].as_str(), Some(&*pinned));
                }
                let optional = dependencies
                    .iter()
                    .filter(|(_, it)| it.get("optional").is_some());
                let optional: Vec<_> = optional.map(|(name, _)| name.as_str()).collect();
                assert_eq!(optional, [provider, &*package]);
                let brings = vec![format!("dep:{provider}"), format!("dep:{package}")];
                assert_eq!(found["features"][provider], brings.into());
            }
        }
    }

    #[test]
    fn a_local_tree_is_built_like_the_version_that_it_states() {
        let folder = tempfile::tempdir().unwrap();
        let stated = folder.path().join("rustls/Cargo.toml");
        fs::create_dir_all(stated.parent().unwrap()).unwrap();
        let tree = Build {
            version: None,
            source: Some(folder.path().display().to_string()),
            ..build("", "ring")
        };
        for (version, separate) in [("0.23.99", false), ("0.24.0-dev.2", true)] {
            fs::write(&stated, format!("package.version = \"{version}\"")).unwrap();
            let found = manifest(&tree);
            assert_eq!(found.get("lib").is_some(), separate, "{version}");
            let path = |name: &str| Some(folder.path().join(name).display().to_string());
            let placed = |name: &str| {
                let dependency = found["dependencies"].get(name)?;
                dependency["path"].as_str().map(str::to_owned)
            };
            assert_eq!(placed("rustls"), path("rustls"));
            let provider = path("rustls-ring").filter(|_| separate);
            assert_eq!(placed("rustls-ring"), provider);
        }
        fs::write(&stated, "package.name = \"rustls\"").unwrap();
        let error = derive(RUSTLS, WORKSPACE, "", &tree)
            .unwrap_err()
            .to_string();
        let expected = "rustls/Cargo.toml: found no version of the package, expected one";
        assert!(error.contains(expected), "{error}");
    }
}
