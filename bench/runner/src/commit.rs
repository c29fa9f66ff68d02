//! The commit of a local tree.

use std::path::Path;
use std::process::Command;

/// Digits of a commit in an id.
const DIGITS: usize = 10;

/// The commit that is checked out in a tree, with `-dirty` if there are changes; `None` without
/// git, or if the checkout around the tree ignores it, as a folder of built files.
pub fn commit(tree: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git")
            .arg("-C")
            .arg(tree)
            .args(arguments)
            .output();
        output.ok().filter(|output| output.status.success())
    };
    if git(&["check-ignore", "--quiet", "."]).is_some() {
        return None;
    }
    let output = git(&[
        "describe",
        "--always",
        "--dirty",
        "--abbrev=40",
        "--exclude=*",
    ])?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The commit that is checked out in a tree, if nothing else is in it.
pub fn clean_commit(tree: &Path) -> Option<String> {
    let is_top = tree.join(".git").exists();
    let commit = is_top.then(|| commit(tree)).flatten()?;
    (!commit.ends_with("-dirty")).then(|| commit.chars().take(DIGITS).collect())
}

#[cfg(test)]
pub mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    /// A tree with one commit, which is another in each folder, and with a folder that it ignores.
    pub fn checkout(tree: &Path) -> PathBuf {
        fs::create_dir_all(tree.join("build")).unwrap();
        fs::create_dir_all(tree.join("library")).unwrap();
        fs::write(tree.join(".gitignore"), "/build/\n").unwrap();
        fs::write(tree.join("library/file"), tree.display().to_string()).unwrap();
        for arguments in [
            "init --quiet",
            "add .",
            "-c user.name=x -c user.email=x commit --quiet -m x",
        ] {
            let mut git = Command::new("git");
            let git = git.arg("-C").arg(tree).args(arguments.split(' ')).status();
            assert!(git.unwrap().success());
        }
        tree.to_owned()
    }

    #[test]
    fn a_tree_has_the_commit_of_its_checkout_unless_that_ignores_it() {
        let folder = tempfile::tempdir().unwrap();
        let tree = checkout(folder.path());
        let all = commit(&tree).unwrap();
        assert_eq!(all.len(), 40);
        assert_eq!(commit(&tree.join("library")).as_ref(), Some(&all));
        assert_eq!(commit(&tree.join("build")), None);
        assert_eq!(commit(&tree.join("absent")), None);
        // Only the top of a checkout has a commit of its own.
        assert_eq!(clean_commit(&tree).as_deref(), Some(&all[..10]));
        assert_eq!(clean_commit(&tree.join("library")), None);
        fs::write(tree.join("library/file"), "changed").unwrap();
        assert_eq!(commit(&tree), Some(format!("{all}-dirty")));
        assert_eq!(clean_commit(&tree), None);
    }
}
