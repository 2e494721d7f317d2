//! The repository is tidy.

use std::path::Path;
use xtask::{Tree, tidy};

#[test]
fn the_repository_is_tidy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask has a parent");
    let tree = Tree::read(root).expect("the repository can be read");
    assert!(tree.file("Cargo.toml").is_some(), "read the wrong folder: {}", root.display());
    let complaints: Vec<String> = tidy::check_all(&tree).iter().map(ToString::to_string).collect();
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}
