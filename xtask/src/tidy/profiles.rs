//! Build profiles name packages that are in the lock file. Cargo only warns about others, so a
//! package that is renamed or gone would lose its profile unseen.

use crate::{Complaint, Tree};
use regex_lite::Regex;

/// Every package of a profile is built.
#[must_use]
pub fn check_profiles(tree: &Tree) -> Vec<Complaint> {
    let (Some(manifest), Some(lock)) = (tree.file("Cargo.toml"), tree.file("Cargo.lock")) else {
        return Vec::new();
    };
    let name = Regex::new(r#"^\[profile\.[a-z]+\.package\.([A-Za-z0-9_-]+)\]"#).expect("valid");
    let mut complaints = Vec::new();
    for (line, text) in (1..).zip(manifest.text.lines()) {
        let Some(package) = name.captures(text).and_then(|found| found.get(1)) else { continue };
        let package = package.as_str();
        if !lock.text.lines().any(|line| line == format!("name = \"{package}\"")) {
            let text = format!("no package {package} is built; take its profile out or rename it");
            complaints.push(manifest.complain(line, text));
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    #[test]
    fn a_profile_of_a_package_that_is_not_built_is_complained_about() {
        let lock = "[[package]]\nname = \"serde\"\n";
        let profile = |name: &str| format!("[profile.dev.package.{name}]\nopt-level = 1\n");
        let check = |name: &str| {
            said(check_profiles, &[("Cargo.toml", &profile(name)), ("Cargo.lock", lock)])
        };
        assert_eq!(check("serde"), Vec::<String>::new());
        assert_eq!(
            check("serde-json"),
            ["Cargo.toml:1: no package serde-json is built; take its profile out or rename it"]
        );
    }
}
