//! What the engine needs to compile: no HTTP, no TLS of its own, no parser of pages.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::process::Command;

/// Crates that only models, tools or MCP servers need.
const HEAVY: [&str; 18] = [
    "cap-std",
    "dom_smoothie",
    "encoding_rs",
    "everloop-mcp",
    "everloop-models",
    "everloop-tools",
    "globset",
    "h2",
    "html5ever",
    "hyper",
    "ignore",
    "landlock",
    "regex",
    "reqwest",
    "rmcp",
    "seccompiler",
    "tiktoken-rs",
    "url",
];

/// Packages that the engine may need in all; raise it with a reason.
const PACKAGES_MAX: usize = 125;

/// The names of all packages that a package of the workspace needs on this platform.
fn closure_of(package: &str) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tree = ["tree", "--offline", "--locked", "-e", "normal", "--prefix", "none", "-f", "{p}"];
    let out = Command::new(cargo)
        .args(tree)
        .args(["-p", package])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).unwrap();
    let names = text.lines().filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).collect()
}

#[test]
fn the_engine_compiles_without_http_and_without_parsers_of_pages() {
    let packages = closure_of("everloop-engine");
    println!("everloop-engine needs {} packages, itself included", packages.len());
    let heavy: Vec<_> = HEAVY.iter().filter(|name| packages.contains(**name)).collect();
    assert!(heavy.is_empty(), "the engine needs {heavy:?}: hide them behind everloop-ports");
    assert!(packages.len() <= PACKAGES_MAX, "the engine needs {} packages", packages.len());
    // The list is about names that exist.
    let tools = closure_of("everloop-tools");
    assert!(tools.contains("reqwest") && tools.contains("dom_smoothie") && tools.contains("url"));
}

#[test]
fn tools_compile_without_the_client_of_mcp_servers() {
    assert!(!closure_of("everloop-tools").contains("rmcp"));
    assert!(closure_of("everloop-mcp").contains("rmcp"));
}
