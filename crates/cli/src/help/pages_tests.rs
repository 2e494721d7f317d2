//! `docs/commands.md` says what the command line takes, and nothing else.

use super::{PAGES, find_page};
use crate::args::Cli;
use crate::help::{usage_words, worded};
use clap::{Arg, Command, CommandFactory};
use everloop_text as text;
use everloop_types::Lang;
use std::fmt::Write;
use std::path::Path;

/// The line of `docs/commands.md` below which everything is generated.
const MARKER: &str = "<!-- generated below this line -->\n";

/// Set to write stale pages anew in place of failing.
const WRITE_DOCS: &str = "EVERLOOP_WRITE_DOCS";

#[test]
fn the_page_on_commands_is_what_the_command_line_takes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (lang, file) in [(Lang::En, "commands.md"), (Lang::ZhCn, "commands.zh-CN.md")] {
        let path = root.join("docs").join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        let (intro, old) = text.split_once(MARKER).expect("the page has its marker");
        let new = commands_page(lang);
        if old == new {
            continue;
        }
        assert!(
            std::env::var_os(WRITE_DOCS).is_some(),
            "docs/{file} is stale; run this test with {WRITE_DOCS}=1 to write it anew"
        );
        std::fs::write(&path, format!("{intro}{MARKER}{new}")).unwrap();
    }
}

#[test]
fn every_page_has_both_languages_and_a_title() {
    for page in PAGES {
        for lang in [Lang::En, Lang::ZhCn] {
            assert!(page.text(lang).starts_with("# "), "{}", page.name);
        }
        assert_ne!(page.text(Lang::En), page.text(Lang::ZhCn), "{}", page.name);
    }
}

#[test]
fn no_page_hides_a_command_or_a_loop() {
    let command = Cli::command();
    let is_command = |name: &str| command.get_subcommands().any(|known| known.get_name() == name);
    for page in PAGES {
        assert!(!is_command(page.name), "{}", page.name);
        assert!(!everloop_loops::LOOPS.contains(&page.name), "{}", page.name);
        assert!(find_page(page.name).is_some());
    }
}

#[test]
fn every_command_that_a_page_shows_exists() {
    let readmes =
        [include_str!("../../../../README.md"), include_str!("../../../../README.zh-CN.md")];
    let pages = PAGES.iter().flat_map(|page| [page.text(Lang::En), page.text(Lang::ZhCn)]);
    let mut root = Cli::command();
    root.build();
    let mut seen = 0;
    // Clap prints a version before it reads the rest, so this one is read by hand.
    let by_hand = "everloop --version --json";
    let shown = readmes.into_iter().chain(pages).flat_map(shown_commands);
    for line in shown.filter(|line| *line != by_hand) {
        assert_eq!(unknown_word(&root, line), None, "{line}");
        seen += 1;
    }
    assert!(seen > 100, "only {seen} commands were found");
    assert_eq!(unknown_word(&root, "everloop runs lst"), Some("lst"));
    assert_eq!(unknown_word(&root, "everloop runs list --no-such"), Some("--no-such"));
    assert_eq!(unknown_word(&root, "everloop nothing"), Some("nothing"));
}

/// The command lines of a page: code within a line, and lines of examples.
fn shown_commands(page: &str) -> Vec<&str> {
    let of_line = |line| {
        let line: &str = line;
        let example = line.strip_prefix("$ ").unwrap_or(line);
        let spans = line.split('`').skip(1).step_by(2).filter(|_| !line.starts_with("```"));
        spans.chain([example]).filter(|code| code.starts_with("everloop "))
    };
    page.lines().flat_map(of_line).collect()
}

/// The first subcommand or option of this line that the program does not have.
fn unknown_word<'a>(root: &Command, line: &'a str) -> Option<&'a str> {
    // Without the comment, the redirection and quoted texts.
    let line = line.split(" #").next().unwrap_or_default();
    let line = line.split(" < ").next().unwrap_or_default();
    let unquoted = line.split('"').step_by(2).flat_map(str::split_whitespace);
    let mut command = root;
    for word in unquoted.skip(1) {
        if let Some(inner) = command.find_subcommand(word) {
            command = inner;
            continue;
        }
        let name = word.split('=').next().unwrap_or_default();
        let is_known = match name.strip_prefix("--") {
            Some(long) => command.get_arguments().any(|arg| arg.get_long() == Some(long)),
            // A word in capitals, in quotes or in Chinese stands for what the user writes.
            None if name.starts_with(|c: char| c.is_ascii_lowercase()) => {
                !command.has_subcommands() || command.get_name() == "help"
            }
            None => true,
        };
        if !is_known {
            return Some(word);
        }
    }
    None
}

/// Every visible command with its usage, arguments and options.
fn commands_page(lang: Lang) -> String {
    let mut root = worded(Cli::command(), lang);
    root.build();
    let mut page = String::new();
    push_command(&mut page, &mut root, "everloop", 2, lang);
    page
}

fn push_command(page: &mut String, command: &mut Command, path: &str, level: usize, lang: Lang) {
    let key = path.strip_prefix("everloop ").map_or(path.to_owned(), |path| path.replace(' ', "."));
    let about = crate::help::about(&key, lang);
    let usage = usage_words(command.render_usage().to_string(), lang);
    let usage = usage.trim_start_matches("Usage:").trim();
    writeln!(page, "\n{} {path}\n\n{about}\n\n```text\n{usage}\n```", "#".repeat(level)).unwrap();
    let is_root = level == 2;
    let (positionals, options): (Vec<&Arg>, Vec<&Arg>) = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && (is_root || !is_everywhere(arg)))
        .partition(|arg| arg.is_positional());
    for (heading, args) in
        [(text::heading::arguments(), positionals), (text::heading::options(), options)]
    {
        push_args(page, &heading.in_lang(lang), &args);
    }
    for inner in command.get_subcommands_mut().filter(|inner| !inner.is_hide_set()) {
        let path = format!("{path} {}", inner.get_name());
        push_command(page, inner, &path, 3.max(level), lang);
    }
}

/// Flags that every command takes are told once, with `everloop` itself.
fn is_everywhere(arg: &Arg) -> bool {
    arg.is_global_set() || matches!(arg.get_id().as_str(), "help" | "version")
}

fn push_args(page: &mut String, heading: &str, args: &[&Arg]) {
    if args.is_empty() {
        return;
    }
    writeln!(page, "\n{heading}\n").unwrap();
    for arg in args {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        writeln!(page, "- `{}`: {help}", written(arg)).unwrap();
    }
}

/// An argument as it is typed: `-p, --print`, `--limit <N>`, `<GOAL>`.
fn written(arg: &Arg) -> String {
    if arg.is_positional() {
        return arg.to_string();
    }
    let short = arg.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    format!("{short}{}", arg.to_string().trim_end_matches("..."))
}
