//! The words of `--help`, in the person's language.
//!
//! ```text
//!   parse without words ──fits──► the command
//!          └──help is wanted──► parse again with words, print what clap says
//!          └──it does not fit──► what is wrong with it, in our words
//! ```
//!
//! A command line that fits never pays for the words.

mod pages;

use crate::args::{Cli, LoopsArgs};
use crate::build;
use crate::complaint::complaint;
use clap::builder::{PossibleValue, Styles};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Command, CommandFactory, Parser};
use everloop_app::agenda::arguments::{is_about_agenda, one_dash, plain_dashes};
use everloop_app::near::near;
use everloop_console::{Console, Exit, Failure, early_language, terminal};
use everloop_loops::LOOPS;
use everloop_text::{self as text, Text};
use everloop_types::Lang;
use serde_json::json;
use std::ffi::OsString;
use std::process::ExitCode;

/// Reads the command line, or prints help or a complaint and says how to exit.
pub(crate) fn parse() -> Result<Cli, ExitCode> {
    let args = plain_dashes(std::env::args_os().collect());
    Cli::try_parse_from(&args).map_err(|error| explain(error, args))
}

fn explain(mut error: clap::Error, args: Vec<OsString>) -> ExitCode {
    if wants_version_as_json(&args) {
        let (version, commit, date) = (build::NUMBER, build::COMMIT, build::DATE);
        let told = json!({"name": "everloop", "version": version, "commit": commit, "date": date});
        terminal::print_line(&told.to_string());
        return ExitCode::SUCCESS;
    }
    let lang = early_language(wanted_language(&args));
    if let Some(path) = asks_for_help(&error, &args) {
        return match page(&path, lang) {
            Ok(page) => {
                terminal::print_line(page.trim_end());
                ExitCode::SUCCESS
            }
            Err(failure) => {
                terminal::eprint_line(&failure.words);
                ExitCode::from(failure.exit.code())
            }
        };
    }
    if let Some(failure) = mistyped_command(&error, &args, lang) {
        terminal::eprint_line(&failure.words);
        return ExitCode::from(failure.exit.code());
    }
    if shows_help(error.kind()) {
        let again = worded(Cli::command(), lang).try_get_matches_from(&args);
        error = again.err().unwrap_or(error);
    }
    let is_complaint = error.exit_code() != 0 && !shows_help(error.kind());
    if is_complaint {
        let hint = one_dash(&args).map(|name| text::command::one_dash(&name).in_lang(lang));
        let complaint = complaint(&error, lang);
        let words = hint.map_or(complaint.clone(), |hint| format!("{hint}\n{complaint}"));
        if is_about_agenda(&args) && args.iter().any(|arg| arg == "--json") {
            let told = json!({"ok": false, "error": "usage", "message": words});
            terminal::print_line(&told.to_string());
        } else {
            terminal::eprint_line(&words);
        }
    } else {
        print_help(&error, lang);
    }
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Prints what clap says, where it is due: help on stdout, what is wrong on stderr.
fn print_help(error: &clap::Error, lang: Lang) {
    let help = error.render();
    let help = if terminal::has_color() { help.ansi().to_string() } else { help.to_string() };
    let help = usage_words(help, lang);
    match error.use_stderr() {
        true => terminal::eprint_line(help.trim_end()),
        false => terminal::print_line(help.trim_end()),
    }
}

/// Clap writes these two words into the usage itself.
pub(crate) fn usage_words(help: String, lang: Lang) -> String {
    let words = [
        ("[OPTIONS]", text::usage::options()),
        ("[COMMAND]", text::usage::optional_command()),
        ("<COMMAND>", text::usage::command()),
    ];
    words.into_iter().fold(help, |help, (word, text)| help.replace(word, &text.in_lang(lang)))
}

/// One plain word is a command that was mistyped, not a first message: no script should find
/// itself in a chat.
pub(crate) fn no_such_command(lang: Lang, word: &str) -> Option<Failure> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    if word.is_empty() || !word.chars().all(is_plain) {
        return None;
    }
    let command = Cli::command();
    let nearest = near(word, names(&command));
    let text = match nearest {
        Some(nearest) => text::usage::no_command(&word, &nearest),
        None => text::usage::no_such_command(&word),
    };
    Some(Failure { exit: Exit::Usage, words: text.in_lang(lang) })
}

/// `-r ID "WORDS"` without `-p`: the answer would go to a question that nobody has seen.
pub(crate) fn answer_needs_print(lang: Lang) -> Failure {
    Failure { exit: Exit::Usage, words: text::usage::answer_needs_print().in_lang(lang) }
}

/// The names of the commands that are shown.
fn names(command: &Command) -> impl Iterator<Item = &str> {
    command.get_subcommands().filter(|known| !known.is_hide_set()).map(Command::get_name)
}

/// `everloop help [TOPIC]`: a page of the manual, a command, a command of a command, or a loop.
pub(crate) fn topic(app: &Console, topic: &[String]) -> Result<Exit, Failure> {
    if let [name] = topic
        && LOOPS.contains(&name.as_str())
    {
        let args = LoopsArgs { name: Some(name.clone()), json: false };
        return crate::commands::loops::loops(app, &args);
    }
    if let [name] = topic
        && let Some(page) = pages::find_page(name)
    {
        terminal::print_markdown(page.text(app.lang).trim_end());
        return Ok(Exit::Done);
    }
    terminal::print_line(page(topic, app.lang)?.trim_end());
    if topic.is_empty() {
        terminal::print_line(&format!("\n{}", list_of_pages(app.lang)));
    }
    Ok(Exit::Done)
}

fn list_of_pages(lang: Lang) -> String {
    text::usage::pages(&pages::page_names()).in_lang(lang)
}

/// The help of the command that this path leads to.
fn page(path: &[String], lang: Lang) -> Result<String, Failure> {
    let mut command = worded(Cli::command(), lang);
    // Fills in what is inherited: flags of every command, and whole names.
    command.build();
    let mut inner = &mut command;
    for word in path.iter().map(|word| word.trim_start_matches(['/', '-'])) {
        let known: Vec<String> = names(inner).map(str::to_owned).collect();
        if !known.iter().any(|name| name == word) {
            let of_pages = pages::PAGES.iter().map(|page| page.name);
            let topics = LOOPS.iter().copied().chain(of_pages).filter(|_| path.len() == 1);
            let near = near(word, known.iter().map(String::as_str).chain(topics));
            return Err(no_topic(lang, &path.join(" "), near));
        }
        inner = inner.find_subcommand_mut(word).unwrap_or_else(|| unreachable!("it is known"));
    }
    Ok(usage_words(inner.render_help().to_string(), lang))
}

fn no_topic(lang: Lang, topic: &str, nearest: Option<&str>) -> Failure {
    let hint = nearest.map_or_else(String::new, |nearest| text::near::hint(&nearest).in_lang(lang));
    let words = text::usage::no_topic(&topic, &hint).in_lang(lang);
    Failure { exit: Exit::Usage, words: format!("{words}\n{}", list_of_pages(lang)) }
}

/// `everloop todo help`, `everloop todo help add`: the path that help is wanted of.
fn asks_for_help(error: &clap::Error, args: &[OsString]) -> Option<Vec<String>> {
    let wrong = matches!(error.kind(), ErrorKind::InvalidSubcommand | ErrorKind::UnknownArgument);
    let words: Vec<&str> = args.iter().skip(1).filter_map(|arg| arg.to_str()).collect();
    let at = words.iter().position(|word| *word == "help").filter(|at| wrong && *at > 0)?;
    let whole = Cli::command();
    let mut command = &whole;
    // Only where a command was expected: a title may hold the word.
    for word in &words[..at] {
        command = command.find_subcommand(word)?;
    }
    let path = words[..at].iter().chain(&words[at + 1..]);
    command.has_subcommands().then(|| path.map(|word| (*word).to_owned()).collect())
}

/// `everloop tod list`: the first word was meant as a command, so the second is not what is wrong.
fn mistyped_command(error: &clap::Error, args: &[OsString], lang: Lang) -> Option<Failure> {
    let first = args.get(1)?.to_str().filter(|first| !first.starts_with('-'))?;
    let command = Cli::command();
    let is_known = command.get_subcommands().any(|known| known.get_name() == first);
    let is_meant = error.kind() == ErrorKind::UnknownArgument && !is_known;
    is_meant.then(|| no_such_command(lang, first)).flatten()
}

fn shows_help(kind: ErrorKind) -> bool {
    let on_missing = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    kind == ErrorKind::DisplayHelp || kind == on_missing
}

/// Clap prints a version as soon as it sees the flag, and knows no form of it.
fn wants_version_as_json(args: &[OsString]) -> bool {
    let is_version = |arg: &OsString| arg == "--version" || arg == "-V";
    match args {
        [_, one, other] => {
            (is_version(one) && other == "--json") || (one == "--json" && is_version(other))
        }
        _ => false,
    }
}

/// `--lang` in arguments that clap did not accept, or that ask for help before it is read.
fn wanted_language(args: &[OsString]) -> Option<Lang> {
    let flags = args.iter().map_while(|arg| arg.to_str().filter(|arg| *arg != "--"));
    let next = args.iter().skip(1).map(|arg| arg.to_str().unwrap_or_default());
    flags.zip(next.chain([""])).find_map(|(flag, next)| match flag {
        "--lang" => Lang::parse(next),
        _ => Lang::parse(flag.strip_prefix("--lang=")?),
    })
}

/// The whole command line with its words. The flags for help and version are our own, because
/// clap's come with English words.
pub(crate) fn worded(command: Command, lang: Lang) -> Command {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help).global(true);
    let version = Arg::new("version").short('V').long("version").action(ArgAction::Version);
    // What every command takes comes after what only this one takes.
    let command = command
        .mut_args(|arg| arg.display_order(900))
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args([help.display_order(998), version.display_order(999)]);
    let about = about(command.get_name(), lang);
    words_inside(command, ("", &about), lang).about(about)
}

/// Gives words to the arguments and subcommands of `command`, whose path is `path`.
fn words_inside(command: Command, (path, about): (&str, &str), lang: Lang) -> Command {
    let template = template(&command, about, lang);
    command.help_template(template).mut_args(|arg| words_of(arg, path, lang)).mut_subcommands(
        |inner| {
            if inner.is_hide_set() {
                return inner;
            }
            let path = inside(path, inner.get_name());
            let about = self::about(&path, lang);
            words_inside(inner, (&path, &about), lang).about(in_short(&about))
        },
    )
}

/// Columns that a list of commands has for what one of them is for.
const LIST_COLUMNS: usize = 72;

/// The beginning of a text that is too long for a list: its first sentence, or what comes before a
/// semicolon or a colon.
fn in_short(text: &str) -> String {
    let ends = [". ", "。", "; ", "；", ": ", "："];
    let cut = ends.iter().filter_map(|end| text.find(end)).min();
    let is_long = unicode_width::UnicodeWidthStr::width(text) > LIST_COLUMNS;
    cut.filter(|_| is_long).map_or(text, |at| &text[..at]).to_owned()
}

fn words_of(arg: Arg, path: &str, lang: Lang) -> Arg {
    let text = about(&inside(path, arg.get_id().as_str()), lang);
    if !arg.get_action().takes_values() {
        return arg.help(text);
    }
    let help = with_values(text, &arg, lang);
    let arg = with_placeholders(arg, lang);
    arg.help(help).hide_default_value(true).hide_possible_values(true)
}

/// The names of the values in the person's language, where they have one.
fn with_placeholders(arg: Arg, lang: Lang) -> Arg {
    let names: Vec<String> = match arg.get_value_names() {
        Some(names) => names.iter().map(ToString::to_string).collect(),
        None => vec![arg.get_id().as_str().to_uppercase()],
    };
    let worded = names.iter().map(|name| {
        let text = text::placeholder::named(&name.to_lowercase());
        text.map_or_else(|| name.clone(), |text| text.in_lang(lang))
    });
    let worded: Vec<String> = worded.collect();
    if worded == names {
        return arg;
    }
    // Clap keeps names for as long as the process lives, which ends with the help.
    arg.value_names(worded.into_iter().map(|name| &*name.leak()))
}

/// Adds the values that an argument takes and the one that it has, which clap tells in English.
fn with_values(text: String, arg: &Arg, lang: Lang) -> String {
    let choices = arg.get_possible_values();
    let all: Vec<&str> = choices.iter().map(PossibleValue::get_name).collect();
    let default = arg.get_default_values().first().map(|value| value.to_string_lossy());
    let (text, all) = (&text, &all.join(" | "));
    let text = match (choices.is_empty(), &default) {
        (true, None) => return text.clone(),
        (true, Some(default)) => text::usage::default(text, default),
        (false, None) => text::usage::choices(text, all),
        (false, Some(default)) => text::usage::ChoicesDefault { text, all, default }.text(),
    };
    text.in_lang(lang)
}

/// The layout of one command's help: clap's own, with headings in the person's language.
fn template(command: &Command, about: &str, lang: Lang) -> String {
    let style = *Styles::styled().get_header();
    let heading = |text: Text| format!("{style}{}{style:#}", text.in_lang(lang));
    let mut layout = format!("{about}\n\n{}{{usage}}", heading(text::heading::usage()));
    let mut section = |text, tag| layout.push_str(&format!("\n\n{}\n{{{tag}}}", heading(text)));
    if command.has_subcommands() {
        section(text::heading::commands(), "subcommands");
    }
    if command.get_positionals().next().is_some() {
        section(text::heading::arguments(), "positionals");
    }
    section(text::heading::options(), "options");
    layout
}

fn inside(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// What a command or an argument is for. The names are clap's, so a test holds them against the
/// messages.
fn about(path: &str, lang: Lang) -> String {
    text::help::named(path).map(|text| text.in_lang(lang)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The names that the visible commands and arguments ask for.
    fn asked_for(command: &Command, path: &str, keys: &mut BTreeSet<String>) {
        keys.extend(command.get_arguments().map(|a| inside(path, a.get_id().as_str())));
        for inner in command.get_subcommands().filter(|inner| !inner.is_hide_set()) {
            let path = inside(path, inner.get_name());
            keys.insert(path.clone());
            asked_for(inner, &path, keys);
        }
    }

    #[test]
    fn each_command_and_argument_has_its_text_and_no_text_is_left_over() {
        let mut asked = BTreeSet::from(["everloop".to_owned()]);
        asked_for(&worded(Cli::command(), Lang::En), "", &mut asked);
        assert_eq!(asked, text::help::names().map(str::to_owned).collect());
    }

    #[test]
    fn no_word_of_the_command_line_comes_from_elsewhere() {
        fn bare(command: &Command) {
            assert!(command.get_about().is_none(), "{}", command.get_name());
            for arg in command.get_arguments() {
                assert!(arg.get_help().is_none(), "{} of {}", arg.get_id(), command.get_name());
            }
            command.get_subcommands().for_each(bare);
        }
        bare(&Cli::command());
    }

    #[test]
    fn the_command_line_with_words_is_sound_and_takes_what_the_one_without_takes() {
        for lang in [Lang::En, Lang::ZhCn] {
            worded(Cli::command(), lang).debug_assert();
        }
        let args = ["everloop", "runs", "list", "-q", "--set", "a.b=c", "--limit", "3"];
        assert!(worded(Cli::command(), Lang::ZhCn).try_get_matches_from(args).is_ok());
        assert!(Cli::try_parse_from(args).is_ok());
    }

    #[test]
    fn the_language_is_found_before_the_rest_is_understood() {
        let found =
            |args: &[&str]| wanted_language(&args.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(found(&["everloop", "--help", "--lang", "zh-CN"]), Some(Lang::ZhCn));
        assert_eq!(found(&["everloop", "--lang=en", "--nonsense"]), Some(Lang::En));
        assert_eq!(found(&["everloop", "run", "--lang"]), None);
        assert_eq!(found(&["everloop", "run", "--", "--lang=zh-CN"]), None);
    }
}
