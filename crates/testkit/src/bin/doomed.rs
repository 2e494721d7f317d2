//! A process that plays its part and dies where it is told to. The part is its one argument.

use everloop_testkit::{Part, play};
use std::process::ExitCode;

fn main() -> ExitCode {
    let told = std::env::args().nth(1).unwrap_or_default();
    if told == "__guard" {
        return everloop_tools::guard_main(std::env::args_os().skip(2));
    }
    if told == "__sandbox" {
        return everloop_tools::sandbox_main(std::env::args_os().skip(2));
    }
    let part: Part = match serde_json::from_str(&told) {
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
