//! A process that drives a run and dies at a given point. Its only argument is its specification.

use everloop_testkit::{ProcessSpec, play};
use std::process::ExitCode;

fn main() -> ExitCode {
    let told = std::env::args().nth(1).unwrap_or_default();
    if told == "__guard" {
        return everloop_tools::guard_main(std::env::args_os().skip(2));
    }
    if told == "__sandbox" {
        return everloop_tools::sandbox_main(std::env::args_os().skip(2));
    }
    let part: ProcessSpec = match serde_json::from_str(&told) {
        Ok(part) => part,
        Err(error) => return broken(&error.to_string()),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let played = match runtime {
        Ok(runtime) => runtime.block_on(play(&part)),
        Err(error) => return broken(&error.to_string()),
    };
    match played {
        Ok((run, points, troubles)) => {
            println!("{run} {points} {troubles}");
            ExitCode::SUCCESS
        }
        Err(why) => broken(&why),
    }
}

fn broken(why: &str) -> ExitCode {
    eprintln!("{why}");
    ExitCode::FAILURE
}
