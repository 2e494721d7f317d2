//! Stands in for `everloop __guard` in the tests of this crate.

fn main() -> std::process::ExitCode {
    everloop_tools::guard_main(std::env::args_os().skip(2))
}
