//! Versions of a library that consist of other packages than older versions.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use toml::{Table, Value};

use crate::listed::Build;
use crate::matrix::manifest::{library_package, numbers, table};
use crate::matrix::metadata::{Generation, Metadata};

impl Generation {
    /// The settings for the version of a build, if they differ from the adapter's own manifest.
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
    pub fn apply(&self, manifest: &mut Table, build: &Build, metadata: &Metadata) -> Result<()> {
        let library = library_package(manifest, metadata)?;
        library.insert("features".to_owned(), self.features.clone().into());
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
        let mut dependency = Table::from_iter([("optional".to_owned(), true.into())]);
        if let Some(tree) = &build.source {
            let path = Path::new(tree).join(package);
            dependency.insert("path".to_owned(), path.display().to_string().into());
        } else if let Some(version) = &build.version {
            dependency.insert("version".to_owned(), format!("={version}").into());
        }
        table(manifest, "dependencies")?.insert(package.clone(), dependency.into());
        let feature = table(manifest, "features")?.get_mut(provider);
        let brings = feature.and_then(Value::as_array_mut);
        let brings = brings.with_context(|| format!("features.{provider}: expected an array"))?;
        // In older versions the other entries were features of the library's package.
        brings.retain(|it| it.as_str().is_some_and(|it| it.starts_with("dep:")));
        brings.push(format!("dep:{package}").into());
        Ok(())
    }
}

/// The version that the package in a folder states.
fn tree_version(folder: &Path) -> Result<String> {
    let path = folder.join("Cargo.toml");
    let place = || path.display().to_string();
    let text = fs::read_to_string(&path).with_context(place)?;
    let manifest: Table = toml::from_str(&text).with_context(place)?;
    let version = manifest
        .get("package")
        .and_then(|it| it.get("version")?.as_str());
    let version = version.with_context(|| {
        let path = place();
        format!("{path}: found no version of the package, expected one such as \"0.23.46\"")
    })?;
    Ok(version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::lock::Lock;
    use crate::matrix::package::derive;

    const WORKSPACE: &str = include_str!("../../../Cargo.toml");
    const RUSTLS: &str = include_str!("../../../libraries/rustls/Cargo.toml");

    fn lock() -> Lock {
        toml::from_str("version = 4").unwrap()
    }

    fn build(version: &str, provider: &str) -> Build {
        Build {
            library: "rustls".into(),
            version: Some(version.into()),
            provider: Some(provider.into()),
            ..Build::default()
        }
    }

    fn manifest(build: &Build) -> toml::Table {
        let package = derive(RUSTLS, WORKSPACE, &lock(), build).unwrap();
        toml::from_str(&package.manifest).unwrap()
    }

    #[test]
    fn newer_versions_take_their_provider_from_a_package() {
        let older = manifest(&build("0.23.46", "ring"));
        assert_eq!(older["dependencies"].get("rustls-ring"), None);
        for version in ["0.24.0-dev.2", "0.24.0", "0.25.1"] {
            for provider in ["aws-lc-rs", "ring"] {
                let found = manifest(&build(version, provider));
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
        let error = derive(RUSTLS, WORKSPACE, &lock(), &tree)
            .unwrap_err()
            .to_string();
        let expected = "rustls/Cargo.toml: found no version of the package, expected one";
        assert!(error.contains(expected), "{error}");
    }
}
