//! `cargo run -p xtask -- tidy` and `-- licences`: complaints on standard output, one per line.

use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::ExitCode;
use xtask::{Complaint, Tree, licences, tidy};

fn main() -> Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask has no parent")?;
    let complaints = match std::env::args().nth(1).as_deref() {
        Some("tidy") => tidy::check_all(&Tree::read(root)?),
        Some("licences") => licences::check(root)?,
        _ => bail!("usage: cargo run -p xtask -- (tidy | licences)"),
    };
    Ok(report(&complaints))
}

fn report(complaints: &[Complaint]) -> ExitCode {
    for complaint in complaints {
        println!("{complaint}");
    }
    match complaints.len() {
        0 => ExitCode::SUCCESS,
        n => {
            println!("{n} complaints");
            ExitCode::FAILURE
        }
    }
}
