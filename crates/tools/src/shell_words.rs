//! A command line, taken apart into the simple commands it is made of.
//!
//! ```text
//!   a 'b c' | d && e > f; g    ──►   [a, b c]  [d]  [e]  [g]
//! ```
//!
//! What a shell would only know when it runs (variables, substitutions, patterns) and what changes
//! how the rest is read (`eval`, `bash -c`, functions, loops) is not guessed at: such a line is
//! still split where that is certain, so that it can be denied, but it is never plain.

mod inner;
mod reader;

/// One simple command: its words without quotes.
pub(crate) type ShellWords = Vec<String>;

/// A command line as far as it is understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParsedCommandLine {
    pub(crate) commands: Vec<ShellWords>,
    /// Whether that is all there is to it, so that a rule can vouch for it.
    pub(crate) is_plain: bool,
    /// The words of a command whose program only the running shell knows, or a line that cannot be
    /// read with certainty.
    pub(crate) unknown_program: Option<String>,
}

/// Programs that run what their arguments say.
const RUNNERS: [&str; 58] = [
    "eval", "exec", "source", ".", "sh", "bash", "dash", "zsh", "ksh", "fish", "busybox", "env",
    "xargs", "sudo", "doas", "su", "nohup", "setsid", "time", "timeout", "nice", "command",
    "builtin", "trap", "alias", "watch", "parallel", "find", "stdbuf", "ionice", "chrt", "taskset",
    "chroot", "unshare", "nsenter", "setpriv", "prlimit", "flock", "script", "strace", "ltrace",
    "toybox", "ash", "mksh", "runuser", "setarch", "linux64", "unbuffer", "entr", "fd", "coproc",
    "linux32", "i386", "i486", "i586", "i686", "x86_64", "uname26",
];

/// Shells that read their commands from somewhere if no argument holds them.
const SHELLS: [&str; 9] = ["sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "mksh", "busybox"];

/// Programs that start a shell if no argument names a program.
const SHELL_STARTERS: [&str; 9] =
    ["su", "sudo", "doas", "script", "unshare", "nsenter", "runuser", "setarch", "parallel"];

/// Programs that take commands from their input.
const TAKERS: [&str; 2] = ["at", "batch"];

/// Options of `xargs` and `parallel` whose value is the next word.
const XARGS_VALUES: [&str; 9] = ["-I", "-n", "-P", "-L", "-s", "-d", "-E", "-a", "-j"];

/// Programs that add words to the command that they run.
const FILLERS: [&str; 3] = ["xargs", "parallel", "fd"];

/// Names of what a program reads.
const INPUTS: [&str; 3] = ["/dev/stdin", "/dev/fd/", "/proc/self/fd/"];

/// Words of `find` and `fd` after which a command stands.
const EXEC: [&str; 8] =
    ["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];

/// Keywords after which a name or a value stands, and no program.
const NAMING: [&str; 4] = ["for", "case", "select", "function"];

/// Words that begin something bigger than a simple command.
const KEYWORDS: [&str; 18] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "function", "coproc", "{", "}", "!",
];

/// Lines within words of lines are looked into so deep.
const DEPTH_MAX: usize = 3;

/// Substitutions within substitutions are looked into so deep.
const INNER_DEPTH_MAX: usize = 8;

/// Takes a line apart. What a command would run is listed after it, as far as that can be seen.
pub(crate) fn parse(line: &str) -> ParsedCommandLine {
    let ParsedCommandLine { commands, is_plain, unknown_program } = split(line);
    let is_plain = is_plain && commands.iter().all(is_simple);
    let (mut all, mut unknown_program) = (Vec::new(), unknown_program);
    for words in commands {
        unfold(words, DEPTH_MAX, &mut all, &mut unknown_program);
    }
    ParsedCommandLine { commands: all, is_plain, unknown_program }
}

/// A command, and what it would run.
fn unfold(
    words: ShellWords,
    depth: usize,
    all: &mut Vec<ShellWords>,
    unknown_program: &mut Option<String>,
) {
    if is_unknown_program(&words) {
        unknown_program.get_or_insert_with(|| words.join(" "));
    }
    if !is_simple(&words) {
        let mut lines: Vec<String> = words.iter().skip(1).flat_map(|w| lines_in(w)).collect();
        if let Some(place) = words.iter().position(|word| program(word) == "eval") {
            lines.push(words[place + 1..].join(" "));
        }
        all.extend((1..words.len()).map(|place| words[place..].to_vec()));
        if words.iter().any(|word| FILLERS.contains(&program(word))) {
            let filled = |place| [&words[place..], &["$".to_owned()]].concat();
            all.extend((1..words.len()).map(filled));
        }
        if !matches!(program(&words[0]), "find" | "fd") {
            let tail = words.iter().skip(1).position(|word| RUNNERS.contains(&program(word)));
            let tail =
                tail.map(|place| &words[place + 1..]).filter(|tail| is_unknown_program(tail));
            if let Some(tail) = tail {
                unknown_program.get_or_insert_with(|| tail.join(" "));
            }
        }
        for line in lines {
            match depth {
                0 => drop(unknown_program.get_or_insert(line)),
                _ => {
                    let inner = split(&line);
                    *unknown_program = unknown_program.take().or(inner.unknown_program);
                    for words in inner.commands {
                        unfold(words, depth - 1, all, unknown_program);
                    }
                }
            }
        }
    }
    all.push(words);
}

/// Command lines that an argument of a program which runs others may hold: the word, or the value
/// of an option in it. A word without shell syntax is only a name.
fn lines_in(word: &str) -> Vec<String> {
    let has_signs =
        |text: &str| text.contains(|c: char| c.is_whitespace() || ";|&<>()`".contains(c));
    if !has_signs(word) {
        return Vec::new();
    }
    let mut lines = vec![word.to_owned()];
    if let Some(option) = word.strip_prefix("--") {
        lines.extend(option.split_once('=').map(|(_, line)| line.to_owned()));
    } else if let Some(option) = word.strip_prefix('-') {
        let letters = option.char_indices().take_while(|(_, c)| c.is_ascii_alphabetic());
        lines.extend(letters.map(|(at, _)| option[at + 1..].to_owned()));
    }
    lines.retain(|line| !line.trim().is_empty());
    lines
}

/// The name of a program without its folder.
fn program(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Whether only the running shell knows which program a command runs. What runs others is believed
/// only if all of its words are known.
fn is_unknown_program(words: &[String]) -> bool {
    let leads_in = |word: &&String| {
        is_assignment(word) || KEYWORDS.contains(&word.as_str()) && !NAMING.contains(&word.as_str())
    };
    let start = words.iter().take_while(leads_in).count();
    let Some((first, rest)) = words[start..].split_first() else { return false };
    if NAMING.contains(&first.as_str()) || matches!(first.as_str(), "[" | "[[") {
        return false;
    }
    if is_unknown(first) {
        return true;
    }
    let reads_input = |word: &String| INPUTS.iter().any(|input| word.starts_with(input));
    let only_options = rest.iter().all(|word| word.starts_with('-'));
    let from_input = |word: &String| word == "-s" || word == "-";
    match program(first) {
        // Later words of the line may mean something else.
        "alias" => rest.iter().any(|word| word.contains('=')),
        "find" | "fd" => {
            let mut after = rest.iter().skip_while(|word| !EXEC.contains(&word.as_str())).skip(1);
            after.any(|word| word != "{}" && is_unknown(word))
        }
        "." | "source" if rest.first().is_some_and(reads_input) => true,
        "xargs" | "parallel" => fills_in_program(program(first), rest),
        name if TAKERS.contains(&name) => true,
        name if SHELLS.contains(&name) => {
            let begins = rest.iter().take_while(|word| word.starts_with('-'));
            only_options
                || begins.clone().any(from_input)
                || rest.iter().any(reads_input)
                || rest.iter().any(|word| is_filled_in(word))
        }
        name if SHELL_STARTERS.contains(&name) && only_options => true,
        name if RUNNERS.contains(&name) => rest.iter().any(|word| is_filled_in(word)),
        _ => false,
    }
}

/// Whether the input of `xargs` or `parallel` says what is run: it is the program, or the words of
/// something that runs its words.
fn fills_in_program(name: &str, rest: &[String]) -> bool {
    let (mut words, mut mark) = (rest.iter(), "{}".to_owned());
    let named = loop {
        let Some(word) = words.next() else { break None };
        match word.strip_prefix("-I").or_else(|| word.strip_prefix("--replace=")) {
            Some("") => mark = words.next().cloned().unwrap_or_default(),
            Some(own) => own.clone_into(&mut mark),
            None if XARGS_VALUES.contains(&word.as_str()) => drop(words.next()),
            None if word.starts_with('-') => {}
            None => break Some(word),
        }
    };
    match named {
        // Without a program `xargs` prints, and `parallel` runs its input.
        None => name == "parallel",
        Some(word) => {
            is_unknown(word)
                || !mark.is_empty() && word.contains(&mark)
                || RUNNERS.contains(&program(word))
                || words.any(|word| word.contains(['$', '`']))
        }
    }
}

/// Whether a word is made of what a shell fills in.
fn is_unknown(word: &str) -> bool {
    word.contains(['$', '`', '*', '?', '[', '{'])
}

/// Whether the words that a program runs are filled in, by a value or by `{a,b}`.
fn is_filled_in(word: &str) -> bool {
    word.contains(['$', '`']) || is_list(word)
}

/// Whether a shell makes several words of one: `{a,b}`.
pub(crate) fn is_list(word: &str) -> bool {
    word.split('{').skip(1).any(|part| {
        let list = part.split('}').next().unwrap_or_default();
        list.contains(',') && part.contains('}') && !list.contains(char::is_whitespace)
    })
}

/// `NAME=value`, before a command.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name.strip_suffix('+').unwrap_or(name));
    let plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    name.is_some_and(|name| !name.is_empty() && plain(name))
}

/// Takes a line apart, by its signs alone.
pub(crate) fn split(line: &str) -> ParsedCommandLine {
    split_within(line, INNER_DEPTH_MAX)
}

fn split_within(line: &str, depth: usize) -> ParsedCommandLine {
    let reading = reader::read(line);
    let mut commands = reading.commands;
    let mut unknown_program = reading.is_unsure.then(|| line.to_owned());
    for inner in reading.inner {
        match depth {
            0 => drop(unknown_program.get_or_insert(inner)),
            _ => {
                let inner = split_within(&inner, depth - 1);
                commands.extend(inner.commands);
                unknown_program = unknown_program.or(inner.unknown_program);
            }
        }
    }
    ParsedCommandLine { commands, is_plain: reading.is_plain, unknown_program }
}

/// Whether a command is what it looks like.
fn is_simple(words: &ShellWords) -> bool {
    let Some(first) = words.first() else { return true };
    let assigns = first.contains('=');
    !assigns && !RUNNERS.contains(&program(first)) && !KEYWORDS.contains(&first.as_str())
}

#[cfg(test)]
#[path = "shell_words_tests.rs"]
mod tests;
