//! The pure crates do no IO: the same events always give the same state.
//!
//! Three checks, since each has a gap: their dependencies, the modules of `std` that they name, and
//! the methods and types that clippy refuses (`crates/*/clippy.toml`).

use super::arrows::{dependencies, line_of};
use crate::{Complaint, RustToken, Tree, TreeFile};
use toml::Table;

const PURE: [&str; 2] = ["types", "loops"];

/// Allowed dependencies: crates that only compute.
const EXTERNAL: [&str; 4] = ["blake3", "serde", "serde_json", "thiserror"];

/// Modules of `std` that reach out of the process, or differ from one process to the next.
const STD: [&str; 7] = ["env", "fs", "net", "os", "process", "random", "thread"];

/// What the clippy.toml of a pure crate must refuse at least.
const REFUSED: [&str; 10] = [
    "std::collections::HashMap",
    "std::collections::HashSet",
    "std::env::var",
    "std::fs::File",
    "std::fs::read",
    "std::net::TcpStream",
    "std::process::Command",
    "std::thread::spawn",
    "std::time::Instant",
    "std::time::SystemTime",
];

/// `types` and `loops` neither depend on nor name anything that does IO.
#[must_use]
pub fn check_purity(tree: &Tree) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for crate_name in PURE {
        let home = format!("crates/{crate_name}/");
        if let Some(manifest) = tree.file(&format!("{home}Cargo.toml")) {
            complaints.extend(check_external(manifest, crate_name));
            complaints.extend(check_refusals(tree, manifest, &home));
        }
        let sources = format!("{home}src/");
        for file in tree.rust().filter(|file| file.path.starts_with(&sources)) {
            complaints.extend(check_std(file));
        }
    }
    complaints
}

fn check_external(manifest: &TreeFile, crate_name: &str) -> Vec<Complaint> {
    let table: Table = manifest.text.parse().unwrap_or_default();
    let strangers = dependencies(&table).into_iter().filter(|used| {
        used.kind != "dev-dependencies"
            && !used.name.starts_with("everloop-")
            && !EXTERNAL.contains(&used.name.as_str())
    });
    let complaints = strangers.map(|used| {
        let text = format!("pure crate `{crate_name}` may not use `{}`", used.name);
        manifest.complain(line_of(manifest, &used.name), text + "; do this around the loop instead")
    });
    complaints.collect()
}

fn check_refusals(tree: &Tree, manifest: &TreeFile, home: &str) -> Vec<Complaint> {
    let path = format!("{home}clippy.toml");
    let Some(file) = tree.file(&path) else {
        return vec![manifest.complain(1, format!("{path} is missing; copy a pure crate's"))];
    };
    let refused = refused_by(file);
    let missing = REFUSED.iter().filter(|want| !refused.iter().any(|path| path == *want));
    missing.map(|want| file.complain(1, format!("does not refuse `{want}`; add it"))).collect()
}

fn refused_by(file: &TreeFile) -> Vec<String> {
    let table: Table = file.text.parse().unwrap_or_default();
    let lists = ["disallowed-methods", "disallowed-types"]
        .into_iter()
        .filter_map(|list| table.get(list).and_then(toml::Value::as_array));
    let paths = lists.flatten().filter_map(|entry| {
        entry.as_str().or_else(|| entry.get("path").and_then(toml::Value::as_str))
    });
    paths.map(str::to_owned).collect()
}

fn check_std(file: &TreeFile) -> Vec<Complaint> {
    let code = file.code();
    let mut complaints = Vec::new();
    for at in 0..code.len() {
        let is_std = code[at].is("std")
            && code.get(at + 1).is_some_and(|t| t.is(":"))
            && code.get(at + 2).is_some_and(|t| t.is(":"));
        if !is_std || file.is_test_line(code[at].line) {
            continue;
        }
        for module in modules_after(&code[at + 3..]) {
            if STD.contains(&module.text.as_str()) {
                let text = format!("pure code names `std::{}`", module.text);
                let remedy = "; let the engine do it and take the outcome as an event";
                complaints.push(file.complain(module.line, text + remedy));
            }
        }
    }
    complaints
}

/// Of `fs::read` the `fs`, of `{fs, io::{Read, Write}}` the `fs` and the `io`.
fn modules_after<'a>(code: &[&'a RustToken]) -> Vec<&'a RustToken> {
    let Some(first) = code.first() else { return Vec::new() };
    if !first.is("{") {
        return vec![first];
    }
    let mut depth = 0_usize;
    let mut modules = Vec::new();
    let mut starts = false;
    for token in code {
        match token.text.as_str() {
            "{" => depth += 1,
            "}" if depth == 1 => break,
            "}" => depth -= 1,
            _ if starts && depth == 1 => modules.push(*token),
            _ => {}
        }
        starts = depth == 1 && (token.is("{") || token.is(","));
    }
    modules
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::said;

    fn refusals() -> String {
        let list: Vec<String> = REFUSED
            .iter()
            .map(|path| format!("{{ path = \"{path}\", reason = \"x\" }},"))
            .collect();
        format!("disallowed-methods = [\n{}\n]\n", list.join("\n"))
    }

    fn purity_of(manifest: &str, source: &str, clippy: &str) -> Vec<String> {
        said(
            check_purity,
            &[
                ("crates/loops/Cargo.toml", manifest),
                ("crates/loops/src/lib.rs", source),
                ("crates/loops/clippy.toml", clippy),
            ],
        )
    }

    #[test]
    fn pure_code_is_fine() {
        let manifest = "[dependencies]\nserde.workspace = true\neverloop-types.workspace = true\n\
                        [dev-dependencies]\nproptest.workspace = true\n";
        let source = "use std::{collections::BTreeMap, fmt::{self, Write}};\n\
                      #[cfg(test)]\nmod tests { use std::fs; }\n";
        assert_eq!(purity_of(manifest, source, &refusals()), Vec::<String>::new());
    }

    #[test]
    fn a_stranger_among_the_dependencies_is_complained_about() {
        let found = purity_of("[dependencies]\ntokio.workspace = true\n", "", &refusals());
        assert_eq!(
            found,
            ["crates/loops/Cargo.toml:2: pure crate `loops` may not use `tokio`; \
              do this around the loop instead"]
        );
    }

    #[test]
    fn a_module_of_std_that_reaches_out_is_complained_about() {
        let bad = [
            "use std::fs;\n",
            "use std::{fmt, thread};\n",
            "fn f() { std::env::var(\"A\"); }\n",
            "use std::{\n    io::{self, Read},\n    net::TcpStream,\n};\n",
        ];
        for source in bad {
            assert_eq!(purity_of("", source, &refusals()).len(), 1, "{source}");
        }
    }

    #[test]
    fn a_clippy_toml_that_refuses_too_little_is_complained_about() {
        let weaker = refusals().replace("std::fs::read", "std::fs::write");
        assert_eq!(
            purity_of("", "", &weaker),
            ["crates/loops/clippy.toml:1: does not refuse `std::fs::read`; add it"]
        );
        assert_eq!(said(check_purity, &[("crates/types/Cargo.toml", "")]).len(), 1);
    }
}
