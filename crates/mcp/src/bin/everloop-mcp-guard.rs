//! Replaces `everloop __guard` and `everloop __sandbox` in the tests of this crate.

fn main() -> std::process::ExitCode {
    let args = std::env::args_os().skip(2);
    match std::env::args_os().nth(1) {
        Some(word) if word == "__sandbox" => everloop_tools::sandbox_main(args),
        _ => everloop_tools::guard_main(args),
    }
}
