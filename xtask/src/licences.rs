//! Licences of our dependencies, and crates that we refuse, by the lists in `deny.toml`.
//!
//! A small replacement for `cargo deny` on machines that do not have it.
//! Deliberately absent: advisories and duplicate versions, which need cargo-deny itself.

use crate::Complaint;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use toml::Table;

/// A dependency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its licence expression, if it states one.
    pub licence: Option<String>,
}

/// What `deny.toml` says about licences and refused crates.
#[derive(Debug, Default)]
pub struct LicenceRules {
    allowed: BTreeSet<String>,
    exceptions: Vec<(String, BTreeSet<String>)>,
    refused: BTreeSet<String>,
}

/// Asks cargo for all dependencies on this platform, with all features, and checks them.
///
/// # Errors
/// If cargo cannot list them, for example because the lock file is stale.
pub fn check(root: &Path) -> Result<Vec<Complaint>> {
    let text = std::fs::read_to_string(root.join("deny.toml")).context("reading deny.toml")?;
    let rules = LicenceRules::parse(&text.parse().context("deny.toml")?);
    ensure!(!rules.allowed.is_empty(), "deny.toml allows no licence at all; see [licenses] allow");
    Ok(judge(&rules, &packages(root)?))
}

/// The complaints about `packages`.
#[must_use]
pub fn judge(rules: &LicenceRules, packages: &[Package]) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for package in packages {
        let mut complain = |text: String| {
            complaints.push(Complaint { path: "Cargo.lock".to_owned(), line: 1, text });
        };
        let name = format!("{} {}", package.name, package.version);
        if rules.refused.contains(&package.name) {
            complain(format!("{name} is refused by deny.toml; find who brings it: cargo tree -i"));
        }
        match &package.licence {
            None => complain(format!("{name} states no licence; do without it")),
            Some(licence) if !rules.allow(&package.name, licence) => {
                complain(format!("{name} is under {licence}; do without it, or see deny.toml"));
            }
            Some(_) => {}
        }
    }
    complaints
}

impl LicenceRules {
    /// Reads the parts of `deny.toml` that matter here.
    #[must_use]
    pub fn parse(deny: &Table) -> Self {
        let licences = deny.get("licenses");
        let exceptions = licences.and_then(|table| table.get("exceptions"));
        let refused = deny.get("bans").and_then(|table| table.get("deny"));
        Self {
            allowed: strings(licences.and_then(|table| table.get("allow"))),
            exceptions: list(exceptions)
                .filter_map(|entry| Some((name_of(entry)?, strings(entry.get("allow")))))
                .collect(),
            refused: list(refused).filter_map(name_of).collect(),
        }
    }

    fn allow(&self, name: &str, licence: &str) -> bool {
        // An old way to write OR.
        let licence = licence.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
        let words: Vec<&str> = licence.split_whitespace().collect();
        let allowed = |one: &str| {
            let excepted = self.exceptions.iter().filter(|(other, _)| other == name);
            self.allowed.contains(one) || excepted.into_iter().any(|(_, all)| all.contains(one))
        };
        let mut expression = Expression { words: &words, allowed: &allowed };
        let fits = expression.any();
        fits && expression.words.is_empty()
    }
}

/// A licence expression: OR of ANDs of names and parentheses; `WITH` belongs to its name.
struct Expression<'a> {
    words: &'a [&'a str],
    allowed: &'a dyn Fn(&str) -> bool,
}

impl Expression<'_> {
    fn next_is(&mut self, word: &str) -> bool {
        let found = self.words.first() == Some(&word);
        if found {
            self.words = &self.words[1..];
        }
        found
    }

    fn any(&mut self) -> bool {
        let mut fits = self.all();
        while self.next_is("OR") {
            fits |= self.all();
        }
        fits
    }

    fn all(&mut self) -> bool {
        let mut fits = self.one();
        while self.next_is("AND") {
            fits &= self.one();
        }
        fits
    }

    fn one(&mut self) -> bool {
        if self.next_is("(") {
            let fits = self.any();
            return self.next_is(")") && fits;
        }
        let Some((name, rest)) = self.words.split_first() else { return false };
        self.words = rest;
        if self.next_is("WITH") {
            let Some((exception, rest)) = self.words.split_first() else { return false };
            self.words = rest;
            return (self.allowed)(&format!("{name} WITH {exception}"));
        }
        (self.allowed)(name)
    }
}

fn list(value: Option<&toml::Value>) -> impl Iterator<Item = &toml::Value> {
    value.and_then(toml::Value::as_array).into_iter().flatten()
}

fn strings(value: Option<&toml::Value>) -> BTreeSet<String> {
    list(value).filter_map(toml::Value::as_str).map(str::to_owned).collect()
}

/// `"name"`, or the `crate` or `name` of a table; a version after `@` or `:` is left out.
fn name_of(entry: &toml::Value) -> Option<String> {
    let named = || entry.get("crate").or_else(|| entry.get("name")).and_then(toml::Value::as_str);
    let name = entry.as_str().or_else(named)?;
    name.split(['@', ':']).next().map(str::to_owned)
}

fn packages(root: &Path) -> Result<Vec<Package>> {
    let host = output(Command::new("rustc").arg("-vV"))?;
    let host = host.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc's host")?;
    let metadata = output(
        Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
            .args(["metadata", "--format-version", "1", "--locked", "--all-features"])
            .args(["--filter-platform", host])
            .current_dir(root),
    )?;
    Ok(from_metadata(&serde_json::from_str(&metadata)?))
}

fn output(command: &mut Command) -> Result<String> {
    let done = command.output().with_context(|| format!("running {command:?}"))?;
    ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr).trim());
    Ok(String::from_utf8(done.stdout)?)
}

/// The packages that are really in the graph and not our own.
fn from_metadata(metadata: &Value) -> Vec<Package> {
    let nodes = metadata["resolve"]["nodes"].as_array().into_iter().flatten();
    let used: BTreeSet<&str> = nodes.filter_map(|node| node["id"].as_str()).collect();
    let all = metadata["packages"].as_array().into_iter().flatten();
    let foreign = all.filter(|package| {
        !package["source"].is_null() && package["id"].as_str().is_some_and(|id| used.contains(id))
    });
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let packages = foreign.map(|package| Package {
        name: text(&package["name"]).unwrap_or_default(),
        version: text(&package["version"]).unwrap_or_default(),
        licence: text(&package["license"]),
    });
    packages.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> LicenceRules {
        let text = "[licenses]\nallow = [\"MIT\", \"ISC\", \"Apache-2.0 WITH LLVM-exception\"]\n\
                    exceptions = [{ crate = \"roots\", allow = [\"CDLA\"] }]\n\
                    [bans]\ndeny = [\"openssl-sys\", { crate = \"aws-lc-sys@1\" }]\n";
        LicenceRules::parse(&text.parse().unwrap())
    }

    fn complaints(name: &str, licence: Option<&str>) -> usize {
        let licence = licence.map(str::to_owned);
        judge(&rules(), &[Package { name: name.into(), version: "1.0.0".into(), licence }]).len()
    }

    #[test]
    fn allowed_licences_are_fine() {
        let good = [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-3.0/MIT",
            "MIT AND ISC",
            "(GPL-3.0 OR ISC) AND MIT",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
        ];
        for licence in good {
            assert_eq!(complaints("a", Some(licence)), 0, "{licence}");
        }
        assert_eq!(complaints("roots", Some("CDLA")), 0);
    }

    #[test]
    fn other_licences_and_refused_crates_are_complained_about() {
        for licence in ["GPL-3.0", "MIT AND GPL-3.0", "Apache-2.0", "CDLA", "MIT ISC", "(MIT", ""] {
            assert_eq!(complaints("a", Some(licence)), 1, "{licence}");
        }
        assert_eq!(complaints("a", None), 1);
        assert_eq!(complaints("openssl-sys", Some("MIT")), 1);
        assert_eq!(complaints("aws-lc-sys", Some("ISC")), 1);
    }

    #[test]
    fn only_foreign_packages_in_the_graph_are_judged() {
        let package = |id: &str, source: Value| {
            serde_json::json!({"id": id, "name": id, "version": "1.0.0", "source": source,
                               "license": "MIT"})
        };
        let metadata = serde_json::json!({
            "packages": [package("ours", Value::Null), package("theirs", "registry".into()),
                         package("unused", "registry".into())],
            "resolve": {"nodes": [{"id": "ours"}, {"id": "theirs"}]},
        });
        let names: Vec<String> =
            from_metadata(&metadata).into_iter().map(|package| package.name).collect();
        assert_eq!(names, ["theirs"]);
    }
}
