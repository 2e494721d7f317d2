//! Which crate may depend on which.

use crate::{Complaint, Tree, TreeFile};
use toml::Table;

/// Each crate with its allowed dependencies. A new one needs an ADR.
const MAY_USE: [(&str, &[&str]); 22] = [
    ("types", &[]),
    ("loops", &["types", "text"]),
    ("text", &["types"]),
    ("ports", &["types"]),
    // Text as lines of a terminal and as HTML; it knows nothing of runs.
    ("markdown", &[]),
    // Keys, lines and rows; it knows nothing of chats.
    ("terminal", &[]),
    // Views of models that it declares itself; it knows nothing of runs or of HTTP.
    // The highlighter of code is the terminal's.
    ("pages", &["types", "text", "markdown"]),
    ("store", &["types"]),
    ("models", &["types", "ports"]),
    ("tools", &["types", "ports"]),
    // The tools' guard starts the servers, and their addresses are checked as those of tools are.
    ("mcp", &["types", "ports", "tools"]),
    // Neither models nor tools: the engine knows only their contracts.
    ("engine", &["types", "loops", "text", "ports", "store"]),
    // A client of the API: it reads the engine's events. Models only in its tests.
    ("remote", &["types", "ports", "models", "engine"]),
    ("analysis", &["types", "loops", "text", "ports", "store", "tools", "engine"]),
    // Models only in its tests.
    ("agenda", &["types", "loops", "text", "ports", "store", "models", "tools", "engine"]),
    (
        "compare",
        &["types", "loops", "text", "ports", "store", "models", "tools", "engine", "agenda"],
    ),
    (
        "app",
        &[
            "types", "loops", "text", "ports", "store", "models", "tools", "mcp", "engine",
            "analysis", "agenda",
        ],
    ),
    (
        "server",
        &[
            "types", "loops", "text", "ports", "store", "models", "tools", "mcp", "engine",
            "analysis", "agenda", "app", "pages",
        ],
    ),
    // The application with a person at a terminal; it knows neither arguments nor commands.
    (
        "console",
        &[
            "types", "loops", "text", "ports", "store", "models", "tools", "engine", "agenda",
            "app", "markdown", "terminal",
        ],
    ),
    // Commands of the shell that it shows are lent by `cli`.
    (
        "chat",
        &[
            "types", "loops", "text", "ports", "store", "tools", "engine", "agenda", "app",
            "markdown", "terminal", "console",
        ],
    ),
    // The testkit is here for `everloop prove`; no other crate may ship it.
    (
        "cli",
        &[
            "types", "loops", "text", "ports", "store", "models", "tools", "mcp", "engine",
            "analysis", "agenda", "app", "compare", "markdown", "console", "chat", "remote",
            "server", "testkit",
        ],
    ),
    (
        "testkit",
        &[
            "types", "loops", "text", "ports", "store", "models", "tools", "mcp", "engine",
            "analysis", "agenda", "server",
        ],
    ),
];

/// The crates depend on each other only as the map allows. Tests may use the testkit anywhere.
#[must_use]
pub fn check_arrows(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for file in tree.files() {
        if file.path == "xtask/Cargo.toml" {
            complaints.extend(check_manifest(file, "xtask", Some(&[])));
        } else if let Some(crate_name) = crate_name_of(&file.path) {
            let allowed =
                MAY_USE.iter().find(|(name, _)| *name == crate_name).map(|(_, uses)| *uses);
            complaints.extend(check_manifest(file, crate_name, allowed));
        }
    }
    complaints
}

fn check_manifest(file: &TreeFile, crate_name: &str, allowed: Option<&[&str]>) -> Vec<Complaint> {
    let Some(allowed) = allowed else {
        let text =
            format!("`{crate_name}` is not on the map; add it to xtask's arrows, with an ADR");
        return vec![file.complain(1, text)];
    };
    let manifest: Table = match file.text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return vec![file.complain(1, format!("{}; fix it", error.message()))],
    };
    let mut complaints = Vec::new();
    if let Some(text) = wrong_name(&manifest, crate_name) {
        complaints.push(file.complain(1, text));
    }
    if crate_name_of(&file.path).is_some() && !inherits_lints(&manifest) {
        let text = "no `[lints] workspace = true`; add it, or the lints do not hold here";
        complaints.push(file.complain(1, text));
    }
    for used in dependencies(&manifest) {
        let Some(other) = short_crate_name(&used.name) else { continue };
        let in_tests = used.kind == "dev-dependencies";
        if !(allowed.contains(&other) || in_tests && other == "testkit" && crate_name != "xtask") {
            let text = format!(
                "`{crate_name}` may not use `{other}`; move the thing down, or write an ADR"
            );
            complaints.push(file.complain(line_of(file, &used.name), text));
        }
    }
    complaints
}

fn wrong_name(manifest: &Table, crate_name: &str) -> Option<String> {
    let name = manifest.get("package")?.get("name")?.as_str()?;
    let want = match crate_name {
        "cli" => "everloop".to_owned(),
        "xtask" => "xtask".to_owned(),
        _ => format!("everloop-{crate_name}"),
    };
    (name != want).then(|| format!("the package is called `{name}`; call it `{want}`"))
}

fn inherits_lints(manifest: &Table) -> bool {
    let lints = manifest.get("lints").and_then(|lints| lints.get("workspace"));
    lints.and_then(toml::Value::as_bool) == Some(true)
}

fn crate_name_of(path: &str) -> Option<&str> {
    let crate_name = path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?;
    (!crate_name.contains('/')).then_some(crate_name)
}

fn short_crate_name(package: &str) -> Option<&str> {
    match package {
        "everloop" => Some("cli"),
        _ => package.strip_prefix("everloop-"),
    }
}

/// One entry of a dependency table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DependencyEntry {
    /// The package's own name, even if the dependency is renamed.
    pub(super) name: String,
    /// Name of the table, such as `dev-dependencies`.
    pub(super) kind: &'static str,
}

/// All dependencies of a manifest, those for a single platform included.
pub(super) fn dependencies(manifest: &Table) -> Vec<DependencyEntry> {
    let mut tables = vec![manifest];
    if let Some(targets) = manifest.get("target").and_then(toml::Value::as_table) {
        tables.extend(targets.values().filter_map(toml::Value::as_table));
    }
    let mut found = Vec::new();
    for table in tables {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let entries = table.get(kind).and_then(toml::Value::as_table);
            for (key, value) in entries.into_iter().flatten() {
                let renamed = value.get("package").and_then(toml::Value::as_str);
                found.push(DependencyEntry { name: renamed.unwrap_or(key).to_owned(), kind });
            }
        }
    }
    found
}

pub(super) fn line_of(file: &TreeFile, name: &str) -> usize {
    file.text.lines().position(|line| line.contains(name)).map_or(1, |n| n + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    fn manifest(name: &str, rest: &str) -> String {
        format!("[package]\nname = \"{name}\"\n[lints]\nworkspace = true\n{rest}")
    }

    fn arrows_of(path: &str, name: &str, rest: &str) -> Vec<String> {
        said(check_arrows, &[(path, &manifest(name, rest))])
    }

    #[test]
    fn an_arrow_of_the_map_is_fine() {
        let rest = "[dependencies]\neverloop-types.workspace = true\nserde = \"1\"\n\
                    [dev-dependencies]\neverloop-testkit.workspace = true\n";
        let found = arrows_of("crates/loops/Cargo.toml", "everloop-loops", rest);
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn an_arrow_against_the_map_is_complained_about() {
        let bad = [
            "[dependencies]\neverloop-store.workspace = true\n",
            "[dependencies]\neverloop-testkit.workspace = true\n",
            "[dev-dependencies]\neverloop-engine.workspace = true\n",
            "[dependencies]\nwords = { package = \"everloop-store\", path = \"../store\" }\n",
            "[target.'cfg(unix)'.dependencies]\neverloop-store.workspace = true\n",
        ];
        for rest in bad {
            let found = arrows_of("crates/loops/Cargo.toml", "everloop-loops", rest);
            assert_eq!(found.len(), 1, "{rest}");
        }
        assert_eq!(
            arrows_of("crates/loops/Cargo.toml", "everloop-loops", bad[0]),
            ["crates/loops/Cargo.toml:6: `loops` may not use `store`; \
              move the thing down, or write an ADR"]
        );
    }

    #[test]
    fn xtask_uses_no_crate_of_ours() {
        let rest = "[dependencies]\neverloop-types.workspace = true\n";
        assert_eq!(arrows_of("xtask/Cargo.toml", "xtask", rest).len(), 1);
        assert_eq!(arrows_of("xtask/Cargo.toml", "xtask", ""), Vec::<String>::new());
    }

    #[test]
    fn a_crate_that_is_not_on_the_map_is_complained_about() {
        assert_eq!(arrows_of("crates/web/Cargo.toml", "everloop-web", "").len(), 1);
        assert_eq!(arrows_of("crates/text/Cargo.toml", "everloop-words", "").len(), 1);
    }

    #[test]
    fn a_crate_without_the_lints_of_the_workspace_is_complained_about() {
        let text = "[package]\nname = \"everloop-text\"\n";
        assert_eq!(said(check_arrows, &[("crates/text/Cargo.toml", text)]).len(), 1);
    }
}
