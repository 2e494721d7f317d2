//! A pattern for commands like one that a person was asked about: `git status *`.
//!
//! A pattern is proposed only for one plain command whose beginning says what it does: every shell
//! reads it alike, and it has no redirection, substitution, variable or second command. A program
//! that may do anything (an interpreter, `rm`, `curl`) has none. A later command is covered if the
//! same pattern would be proposed for it, so nothing is matched that was not read in the same way.

use crate::shell_words;

/// Programs that read or check and take files as arguments.
const READERS: [&str; 27] = [
    "ls",
    "cat",
    "head",
    "tail",
    "wc",
    "grep",
    "du",
    "df",
    "stat",
    "diff",
    "cmp",
    "pwd",
    "echo",
    "which",
    "cut",
    "tr",
    "md5sum",
    "sha256sum",
    "basename",
    "dirname",
    "realpath",
    "nl",
    "pytest",
    "tsc",
    "eslint",
    "ruff",
    "mypy",
];

/// Programs with subcommands, and those that are safe enough to be proposed.
const SUBCOMMANDS: [(&str, &[&str]); 10] = [
    ("git", &["status", "log", "diff", "show", "blame", "describe", "shortlog"]),
    ("cargo", &["build", "check", "test", "clippy", "fmt", "doc", "bench", "nextest", "tree"]),
    ("npm", &["test", "ls", "outdated", "audit"]),
    ("pnpm", &["test", "list", "outdated", "audit"]),
    ("yarn", &["test", "list", "outdated", "audit"]),
    ("go", &["build", "test", "vet", "fmt", "list", "doc"]),
    ("make", &["all", "build", "check", "test", "lint", "docs"]),
    ("just", &["build", "check", "test", "lint", "docs"]),
    ("docker", &["ps", "images", "logs", "inspect"]),
    ("kubectl", &["get", "describe", "logs"]),
];

/// Programs whose `run NAME` is a script of the project.
const SCRIPT_RUNNERS: [&str; 3] = ["npm", "pnpm", "yarn"];

/// Options that make a program write or run something else, wherever they stand. Programs take
/// their beginnings too.
const REFUSED_OPTIONS: [&str; 12] = [
    "--output",
    "--ext-diff",
    "--textconv",
    "--exec",
    "--upload-pack",
    "--config",
    "--delete",
    "--fix",
    "--script-shell",
    "-exec",
    "-toolexec",
    "-vettool",
];

/// The pattern for commands like this one, if one can be proposed.
pub(crate) fn propose_pattern(line: &str) -> Option<String> {
    let read = shell_words::parse(line);
    if !read.is_plain || read.unknown_program.is_some() || line.contains(['<', '>', '\n', '\r']) {
        return None;
    }
    let [words] = read.commands.as_slice() else { return None };
    if words.iter().any(|word| is_refused(word)) {
        return None;
    }
    let program = words.first()?.as_str();
    if READERS.contains(&program) {
        return Some(format!("{program} *"));
    }
    let second = words.get(1)?.as_str();
    if SCRIPT_RUNNERS.contains(&program) && second == "run" {
        let name = words.get(2).filter(|name| is_script_name(name))?;
        return Some(format!("{program} run {name} *"));
    }
    let (_, known) = SUBCOMMANDS.iter().find(|(name, _)| *name == program)?;
    known.contains(&second).then(|| format!("{program} {second} *"))
}

/// Whether a word is one of the refused options, or a beginning of it that a program would take.
fn is_refused(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    let is_beginning = |option: &&str| name.len() > 2 && option.starts_with(name);
    name.starts_with('-') && REFUSED_OPTIONS.iter().any(is_beginning)
}

fn is_script_name(word: &str) -> bool {
    !word.starts_with('-') && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c))
}

#[cfg(test)]
mod tests {
    use super::propose_pattern;

    #[test]
    fn one_plain_command_has_the_pattern_of_its_beginning() {
        for (line, pattern) in [
            ("git status", "git status *"),
            ("git status -s src", "git status *"),
            ("cargo test --all", "cargo test *"),
            ("npm run test:unit -- -t x", "npm run test:unit *"),
            ("ls -la 'a b'", "ls *"),
            ("pytest tests", "pytest *"),
        ] {
            assert_eq!(propose_pattern(line).as_deref(), Some(pattern), "{line}");
        }
    }

    #[test]
    fn what_is_compound_dangerous_or_unclear_has_none() {
        for line in [
            "",
            "git status; rm -rf x",
            "git status && ls",
            "git status | sh",
            "git status & rm x",
            "git status $(rm -rf x)",
            "git status `rm x`",
            "git status $X",
            "git status > f",
            "git status 2>&1",
            "git status < f",
            "git status\nrm -rf x",
            "git status\rrm -rf x",
            "X=1 git status",
            "GIT_PAGER=x git log",
            "./git status",
            "/tmp/git status",
            "git -c alias.x=!sh x",
            "git -c core.pager=sh status",
            "git push origin main",
            "git reset --hard",
            "git clean -fd",
            "git diff --output=f",
            "git diff --outp=f",
            "git log --ext-diff",
            "go test -exec=x",
            "cargo test --config x",
            "git branch --delete main",
            "rm -rf x",
            "sudo ls",
            "env ls",
            "bash -c ls",
            "eval git status",
            "python3 x.py",
            "curl https://a.example",
            "find . -exec rm {} ;",
            "xargs ls",
            "npm run $X",
            "npm run",
            "npm install x",
            "make",
            "ls *; rm x",
            "cat <(rm x)",
            "git {status,push}",
            "git sta*",
            "if ls; then rm x; fi",
            "ls \\\n; rm x",
        ] {
            assert_eq!(propose_pattern(line), None, "{line}");
        }
    }
}
