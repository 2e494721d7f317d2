//! A command line, taken apart into the simple commands it is made of.
//!
//! ```text
//!   a 'b c' | d && e > f; g    ──►   [a, b c]  [d]  [e]  [g]
//! ```
//!
//! What a shell would only know when it runs (variables, substitutions, patterns) and what changes
//! how the rest is read (`eval`, `bash -c`, functions, loops) is not guessed at: such a line is
//! still split where that is certain, so that it can be denied, but it is never plain.

/// One simple command: its words without quotes.
pub(crate) type Words = Vec<String>;

/// A command line as far as it is understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) commands: Vec<Words>,
    /// Whether that is all there is to it, so that a rule can vouch for it.
    pub(crate) is_plain: bool,
    /// The words of a command whose program only the running shell knows.
    pub(crate) veiled: Option<String>,
}

/// Programs that run what their arguments say.
const RUNNERS: [&str; 51] = [
    "eval", "exec", "source", ".", "sh", "bash", "dash", "zsh", "ksh", "fish", "busybox", "env",
    "xargs", "sudo", "doas", "su", "nohup", "setsid", "time", "timeout", "nice", "command",
    "builtin", "trap", "alias", "watch", "parallel", "find", "stdbuf", "ionice", "chrt", "taskset",
    "chroot", "unshare", "nsenter", "setpriv", "prlimit", "flock", "script", "strace", "ltrace",
    "toybox", "ash", "mksh", "runuser", "setarch", "linux64", "unbuffer", "entr", "fd", "coproc",
];

/// Shells that read their commands from somewhere if no argument holds them.
const SHELLS: [&str; 9] = ["sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "mksh", "busybox"];

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

/// Takes a line apart. What a command would run is listed after it, as far as that can be seen.
pub(crate) fn parse(line: &str) -> Line {
    let Line { commands, is_plain, .. } = split(line);
    let is_plain = is_plain && commands.iter().all(is_simple);
    let (mut all, mut veiled) = (Vec::new(), None);
    for words in commands {
        unfold(words, DEPTH_MAX, &mut all, &mut veiled);
    }
    Line { commands: all, is_plain, veiled }
}

/// A command, and what it would run.
fn unfold(words: Words, depth: usize, all: &mut Vec<Words>, veiled: &mut Option<String>) {
    if is_veiled(&words) {
        veiled.get_or_insert_with(|| words.join(" "));
    }
    if !is_simple(&words) {
        for place in 1..words.len() {
            all.push(words[place..].to_vec());
            if !words[place].contains(char::is_whitespace) {
                continue;
            }
            match depth {
                0 => drop(veiled.get_or_insert_with(|| words.join(" "))),
                _ => split(&words[place])
                    .commands
                    .into_iter()
                    .for_each(|inner| unfold(inner, depth - 1, all, veiled)),
            }
        }
    }
    all.push(words);
}

/// Whether only the running shell knows which program a command runs. What runs others is believed
/// only if all of its words are known.
fn is_veiled(words: &[String]) -> bool {
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
    let program = first.rsplit('/').next().unwrap_or(first);
    match program {
        // Later words of the line may mean something else.
        "alias" => rest.iter().any(|word| word.contains('=')),
        "find" | "fd" => {
            let mut after = rest.iter().skip_while(|word| !EXEC.contains(&word.as_str())).skip(1);
            after.any(|word| word != "{}" && is_unknown(word))
        }
        _ if SHELLS.contains(&program) && rest.iter().all(|word| word.starts_with('-')) => true,
        _ if RUNNERS.contains(&program) => rest.iter().any(|word| word.contains(['$', '`'])),
        _ => false,
    }
}

/// Whether a word is made of what a shell fills in.
fn is_unknown(word: &str) -> bool {
    word.contains(['$', '`', '*', '?', '[', '{'])
}

/// `NAME=value`, before a command.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name.strip_suffix('+').unwrap_or(name));
    let plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    name.is_some_and(|name| !name.is_empty() && plain(name))
}

/// Takes a line apart, by its signs alone.
pub(crate) fn split(line: &str) -> Line {
    let mut reader = Reader {
        rest: line.chars().peekable(),
        commands: Vec::new(),
        words: Vec::new(),
        word: None,
        is_plain: true,
        in_backticks: false,
    };
    reader.read();
    Line { commands: reader.commands, is_plain: reader.is_plain, veiled: None }
}

/// Whether a command is what it looks like.
fn is_simple(words: &Words) -> bool {
    let Some(first) = words.first() else { return true };
    let program = first.rsplit('/').next().unwrap_or(first);
    let assigns = first.contains('=');
    !assigns && !RUNNERS.contains(&program) && !KEYWORDS.contains(&first.as_str())
}

struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    commands: Vec<Words>,
    words: Words,
    /// The word being read; an empty one in quotes is a word too.
    word: Option<String>,
    is_plain: bool,
    in_backticks: bool,
}

impl Reader<'_> {
    fn read(&mut self) {
        while let Some(next) = self.rest.next() {
            match next {
                ' ' | '\t' => self.end_word(),
                '\n' | ';' => self.end_command(),
                '|' | '&' => self.operator(next),
                '<' | '>' => self.redirection(next),
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(),
                '\\' => self.escaped(),
                '#' if self.word.is_none() => self.comment(),
                '$' | '`' | '*' | '?' | '[' | '~' | '(' | ')' | '{' | '}' | '!' => {
                    self.is_plain = false;
                    // What is in brackets is a command of its own, and may be denied.
                    match next {
                        '(' | ')' => self.end_command(),
                        '`' => self.backtick(),
                        _ => self.push(next),
                    }
                }
                // Invisible ones could make a line look like another.
                next if next.is_control() => self.is_plain = false,
                next => self.push(next),
            }
        }
        self.end_command();
    }

    /// One that opens stays as the mark of a word that nobody knows.
    fn backtick(&mut self) {
        self.in_backticks = !self.in_backticks;
        if self.in_backticks {
            self.push('`');
        }
        self.end_command();
    }

    fn push(&mut self, next: char) {
        self.word.get_or_insert_default().push(next);
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        }
    }

    /// `|`, `||`, `&&` part two commands; a lone `&` leaves one in the background.
    fn operator(&mut self, first: char) {
        let doubled = self.rest.next_if_eq(&first).is_some();
        if first == '&' && !doubled {
            self.is_plain = false;
        }
        if first == '|' && !doubled && self.rest.next_if_eq(&'&').is_some() {
            self.is_plain = false;
        }
        self.end_command();
    }

    /// A file is written or read that no rule sees; only what goes nowhere and what joins outputs
    /// is harmless.
    fn redirection(&mut self, first: char) {
        let digits =
            self.word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit()));
        if digits {
            self.word = None;
        }
        self.end_word();
        let appends = self.rest.next_if_eq(&first).is_some();
        let joins = self.rest.next_if_eq(&'&').is_some();
        while self.rest.next_if(|next| matches!(next, ' ' | '\t')).is_some() {}
        let mut target = String::new();
        let ends = |next: &char| " \t\n;|&<>()".contains(*next);
        while let Some(next) = self.rest.next_if(|next| !ends(next)) {
            target.push(next);
        }
        let harmless = match (first, joins) {
            ('>', true) => matches!(target.as_str(), "1" | "2"),
            ('>', false) => target == "/dev/null",
            _ => !appends && target == "/dev/null",
        };
        self.is_plain &= harmless;
    }

    fn single_quoted(&mut self) {
        self.word.get_or_insert_default();
        loop {
            match self.rest.next() {
                Some('\'') => return,
                Some(next) => self.push(next),
                None => return self.is_plain = false,
            }
        }
    }

    fn double_quoted(&mut self) {
        self.word.get_or_insert_default();
        loop {
            match self.rest.next() {
                Some('"') => return,
                Some('\\') => match self.rest.next() {
                    Some(next @ ('$' | '`' | '"' | '\\')) => self.push(next),
                    Some('\n') => {}
                    Some(next) => {
                        self.push('\\');
                        self.push(next);
                    }
                    None => return self.is_plain = false,
                },
                Some(next) => {
                    self.is_plain &= !matches!(next, '$' | '`');
                    self.push(next);
                }
                None => return self.is_plain = false,
            }
        }
    }

    fn escaped(&mut self) {
        match self.rest.next() {
            Some('\n') => {}
            Some(next) => self.push(next),
            None => self.is_plain = false,
        }
    }

    fn comment(&mut self) {
        while self.rest.next_if(|next| *next != '\n').is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(line: &str) -> (Vec<Vec<String>>, bool) {
        let Line { commands, is_plain, .. } = parse(line);
        (commands, is_plain)
    }

    fn words(commands: &[&[&str]]) -> Vec<Vec<String>> {
        commands.iter().map(|words| words.iter().map(|&word| word.to_owned()).collect()).collect()
    }

    #[test]
    fn a_line_is_taken_apart_where_the_shell_does() {
        for (line, expected) in [
            ("git status", &[&["git", "status"][..]][..]),
            ("  a   b\t'c d' ", &[&["a", "b", "c d"]]),
            (r#"a "b \" c"d e\ f '' "" "#, &[&["a", "b \" cd", "e f", "", ""]]),
            ("a | b && c || d; e\nf", &[&["a"], &["b"], &["c"], &["d"], &["e"], &["f"]]),
            ("a 2>&1 | b > /dev/null 2>/dev/null </dev/null", &[&["a"], &["b"]]),
            ("a # b; c\nd", &[&["a"], &["d"]]),
            ("a#b", &[&["a#b"]]),
            ("g''it sta\\tus", &[&["git", "status"]]),
            ("a '$b `c` *'", &[&["a", "$b `c` *"]]),
        ] {
            assert_eq!(commands(line), (words(expected), true), "{line}");
        }
    }

    #[test]
    fn what_cannot_be_known_is_never_plain() {
        for line in [
            "a $(b)",
            "a `b`",
            "a $b",
            "a \"$b\"",
            "a \"`b`\"",
            "a > f",
            "a >> f",
            "a < f",
            "a 2> f",
            "a <<END",
            "a <<<x",
            "a >&f",
            "a &> f",
            "a & b",
            "a |& b",
            "(a)",
            "{ a; }",
            "! a",
            "if a; then b; fi",
            "for x in a; do b; done",
            "while a; do b; done",
            "a() { b; }",
            "eval a",
            "bash -c a",
            "/bin/sh -c a",
            "env a",
            "xargs a",
            "sudo a",
            "exec a",
            ". a",
            "source a",
            "A=b c",
            "a *",
            "a ?",
            "a [b]",
            "a ~",
            "a {b,c}",
            "a 'b",
            "a \"b",
            "a \\",
            "a \u{1b}b",
            "a\rb",
            "nohup a",
            "timeout 1 a",
            "command a",
            "a 3>&2 4<&1",
        ] {
            assert!(!parse(line).is_plain, "{line}");
        }
    }

    #[test]
    fn what_is_hidden_in_a_line_is_still_seen() {
        for (line, hidden) in [
            ("echo $(rm -rf x)", &["rm", "-rf", "x"][..]),
            ("echo `rm -rf x`", &["rm", "-rf", "x"]),
            ("(rm -rf x)", &["rm", "-rf", "x"]),
            ("a & rm x", &["rm", "x"]),
            ("sudo env A=b rm x", &["rm", "x"]),
            ("bash -c 'cd /; rm x'", &["rm", "x"]),
            ("sh -c \"sudo bash -c 'rm x'\"", &["rm", "x"]),
            ("A=b rm x", &["rm", "x"]),
            ("find . -name y -exec rm x \\;", &["rm", "x", ";"]),
            ("find . -execdir rm x +", &["rm", "x", "+"]),
            ("find . -ok rm x ;", &["rm", "x"]),
            ("stdbuf -o0 rm x", &["rm", "x"]),
            ("ionice -c3 rm x", &["rm", "x"]),
            ("chrt -i 0 rm x", &["rm", "x"]),
            ("setsid rm x", &["rm", "x"]),
            ("nice -n 5 rm x", &["rm", "x"]),
            ("timeout 5 rm x", &["rm", "x"]),
            ("xargs -n1 rm x", &["rm", "x"]),
            ("env -S 'rm x'", &["rm", "x"]),
            ("busybox rm x", &["rm", "x"]),
            ("unshare -r rm x", &["rm", "x"]),
            ("flock f -c 'rm x'", &["rm", "x"]),
        ] {
            let hidden: Vec<String> = hidden.iter().map(|&word| word.to_owned()).collect();
            assert!(parse(line).commands.contains(&hidden), "{line}: {:?}", parse(line));
        }
    }

    #[test]
    fn a_program_that_only_the_shell_knows_is_told_and_no_other() {
        for line in [
            "x=rm; $x -rf d",
            "$(echo rm) -rf d",
            "`echo rm` -rf d",
            "${X:-rm} -rf d",
            "rm${IFS}-rf${IFS}d",
            "\"$x\" -rf d",
            "A=b $x d",
            "if true; then $x d; fi",
            "for i in a; do $i d; done",
            "/bin/r? d",
            "/bin/r* d",
            "{rm,-rf,d}",
            "sudo $x d",
            "env $x d",
            "eval \"$x\"",
            "sh -c \"$x\"",
            "sh -c '$0 d' rm",
            "xargs $x",
            "find . -exec $x {} ;",
            "echo 'rm -rf d' | sh",
            "echo 'rm -rf d' | bash -s",
            "alias x=rm; x -rf d",
            "ls & $x",
            "sh -c \"sh -c 'sh -c \\\"sh -c \\\\\\\"rm -rf d\\\\\\\"\\\"'\"",
        ] {
            assert!(parse(line).veiled.is_some(), "{line}: {:?}", parse(line));
        }
        for line in [
            "echo $x",
            "rm -rf $x",
            "A=$b ls",
            "x=$(date); ls",
            "if [ \"$x\" = y ]; then ls; fi",
            "for i in $list; do echo $i; done",
            "case $x in a) ls;; esac",
            "find $dir -name '*.rs'",
            "find . -name '*.rs' -exec ls {} ;",
            "sh build.sh",
            "bash -c 'ls; pwd'",
            "timeout 5 ls",
            "ls *.rs",
        ] {
            assert_eq!(parse(line).veiled, None, "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_quoted_word_comes_out_as_it_went_in(word in "[^'\u{0}]{0,20}") {
            let line = format!("a '{word}'");
            proptest::prop_assert_eq!(parse(&line).commands, vec![vec!["a".to_owned(), word]]);
        }

        #[test]
        fn no_line_is_too_odd(line in ".{0,60}") {
            parse(&line);
        }
    }
}
