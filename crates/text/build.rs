//! Turns the data files in `texts/` into one function a message.
//!
//! Whatever is wrong in a data file stops the build with its file and line.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

#[path = "build/catalog.rs"]
mod catalog;
#[path = "build/generate.rs"]
mod generate;

fn main() -> io::Result<()> {
    let folder = Path::new("texts");
    println!("cargo::rerun-if-changed=texts");
    println!("cargo::rerun-if-changed=build");
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        let text = fs::read_to_string(&path)?;
        files.push((format!("crates/text/{}", path.display()), text));
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("messages.rs");
    match catalog::read(&files) {
        Ok(messages) => fs::write(out, generate::code(&messages)),
        Err(problems) => {
            for problem in problems {
                println!("cargo::error={problem}");
            }
            Ok(())
        }
    }
}
