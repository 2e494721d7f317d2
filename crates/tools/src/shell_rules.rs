//! Rules on commands: which may run without a question, which never.
//!
//! A pattern is made of words. `*` as a word matches one word, and at the end any number of words
//! including none; within a word it matches any letters.
//!
//! A denial applies if any command of the line matches; so does a rule that asks. A permission
//! needs every command to fit a rule that allows it, and a line without anything that only a
//! running shell could know. So denials win over questions, and questions over permissions. Where
//! there is a denial, a line whose program only the running shell knows is asked about: it might be
//! the denied one. So is a line that names all words of a denial in another place. All are a
//! person's convenience, not protection: what a program does once it runs is up to the sandbox.

use crate::shell_words::{self as words, ParsedCommandLine, ShellWords};

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleAction {
    /// It may run without a question.
    Allow,
    /// A person is asked.
    Ask,
    /// It never runs.
    Deny,
}

/// One rule on commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellRule {
    say: RuleAction,
    pattern: ShellWords,
    shown: String,
}

/// Why a rule cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// The pattern is not a plain command.
    #[error("the pattern is not the words of one command: {0}")]
    Pattern(String),
    /// An example that the rule should fit, and does not.
    #[error("the rule {pattern} does not fit its example: {example}")]
    NoMatch {
        /// The pattern.
        pattern: String,
        /// The example.
        example: String,
    },
    /// An example that the rule should not fit, and does.
    #[error("the rule {pattern} fits what it should not: {example}")]
    Match {
        /// The pattern.
        pattern: String,
        /// The example.
        example: String,
    },
    /// A rule without examples says nothing about what it is for.
    #[error("the rule {0} has no example in match")]
    NoExample(String),
}

/// What a rule is to fit and not to fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleExamples {
    /// Lines that the rule decides.
    pub fits: Vec<String>,
    /// Lines that it does not.
    pub fits_not: Vec<String>,
}

impl ShellRule {
    /// A rule, held against its examples.
    ///
    /// # Errors
    /// See [`RuleError`].
    pub fn new(say: RuleAction, pattern: &str, examples: &RuleExamples) -> Result<Self, RuleError> {
        let shown = pattern.trim().to_owned();
        let words = pattern_words(&shown).ok_or_else(|| RuleError::Pattern(shown.clone()))?;
        let rule = Self { say, pattern: words, shown };
        if examples.fits.is_empty() {
            return Err(RuleError::NoExample(rule.shown));
        }
        let decides = |line: &String| rule.decides(&words::parse(line));
        if let Some(example) = examples.fits.iter().find(|line| !decides(line)) {
            let example = example.clone();
            return Err(RuleError::NoMatch { pattern: rule.shown, example });
        }
        if let Some(example) = examples.fits_not.iter().find(|line| decides(line)) {
            let example = example.clone();
            return Err(RuleError::Match { pattern: rule.shown, example });
        }
        Ok(rule)
    }

    /// Whether the rule alone would decide about the line.
    fn decides(&self, line: &ParsedCommandLine) -> bool {
        match self.say {
            RuleAction::Allow => allowing_rule(std::slice::from_ref(self), line).is_some(),
            RuleAction::Ask | RuleAction::Deny => {
                line.commands.iter().any(|words| self.fits(words))
            }
        }
    }

    /// Whether the rule might match once the shell has substituted the words: all words of the
    /// pattern match up to one that only the running shell knows.
    fn could_fit(&self, words: &[String]) -> bool {
        let pattern = self.pattern.iter().filter(|own| *own != "*");
        for (own, word) in pattern.zip(words) {
            if word.contains(['$', '`']) || words::is_list(word) || could_become(own, word) {
                return true;
            }
            if !fits_word(own, word) && !fits_word(own, word.rsplit('/').next().unwrap_or(word)) {
                return false;
            }
        }
        false
    }

    /// Whether the words of a pattern with several occur anywhere in the line: an unknown program,
    /// a script or an alias may run its arguments.
    fn is_named_in(&self, line: &str) -> bool {
        let pattern: Vec<&String> = self.pattern.iter().filter(|own| *own != "*").collect();
        let bare: String = line.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
        let ends_word = |c: char| c.is_whitespace() || ";|&()<>`!={}[],".contains(c);
        let said: Vec<&str> = bare.split(ends_word).filter(|word| !word.is_empty()).collect();
        let name = |word: &'_ str| word.rsplit('/').next().unwrap_or_default().to_owned();
        pattern.len() > 1
            && said.windows(pattern.len()).any(|said| {
                let fits = |(own, word): (&&String, &&str)| fits_word(own, word);
                fits_word(pattern[0], &name(said[0])) && pattern.iter().zip(said).skip(1).all(fits)
            })
    }

    fn fits(&self, words: &[String]) -> bool {
        let (open, pattern) = match self.pattern.split_last() {
            Some((last, before)) if last == "*" => (true, before),
            _ => (false, self.pattern.as_slice()),
        };
        let long_enough = words.len() == pattern.len() || open && words.len() > pattern.len();
        long_enough
            && pattern.iter().zip(words).enumerate().all(|(place, (own, word))| {
                // A program may be called by its path.
                let name = if place == 0 { word.rsplit('/').next().unwrap_or(word) } else { word };
                fits_word(own, word) || self.say != RuleAction::Allow && fits_word(own, name)
            })
    }
}

/// Whether a word with `*`, `?` or `[` in it may become the pattern's: a file of that name is
/// soon made.
fn could_become(pattern: &str, word: &str) -> bool {
    let is_sign = |c: char| "*?[]".contains(c);
    let (Some(first), Some(last)) = (word.find(is_sign), word.rfind(is_sign)) else { return false };
    let (head, tail) = (&word[..first], &word[last + 1..]);
    pattern.contains('*') || pattern.starts_with(head) && pattern.ends_with(tail)
}

/// `*` matches any letters.
fn fits_word(pattern: &str, word: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == word };
    let Some(rest) = word.strip_prefix(head) else { return false };
    (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| fits_word(tail, &rest[at..]))
}

/// The words of a pattern: those of one command in which only `*` is special.
fn pattern_words(pattern: &str) -> Option<ShellWords> {
    let has_no_other_sign = words::split(&pattern.replace('*', "x")).is_plain;
    let mut commands = words::split(pattern).commands;
    let words = commands.pop().filter(|_| commands.is_empty() && has_no_other_sign)?;
    (!words.first()?.starts_with('*')).then_some(words)
}

/// The decision of the rules about a line, and the rule; `None` if no rule matches.
pub(crate) fn decision<'r>(rules: &'r [ShellRule], line: &str) -> Option<(RuleAction, &'r str)> {
    let line = words::parse(line);
    for say in [RuleAction::Deny, RuleAction::Ask] {
        let fits = |rule: &&ShellRule| rule.say == say && rule.decides(&line);
        if let Some(rule) = rules.iter().find(fits) {
            return Some((say, &rule.shown));
        }
    }
    allowing_rule(rules, &line).map(|rule| (RuleAction::Allow, rule))
}

/// The part of a line of which no denial can be ruled out, where there are denials: only the
/// running shell knows what it runs.
pub(crate) fn unknown_program(rules: &[ShellRule], line: &str) -> Option<String> {
    let mut denials = rules.iter().filter(|rule| rule.say == RuleAction::Deny).peekable();
    denials.peek()?;
    let read = words::parse(line);
    let could_fit = |words: &&ShellWords| denials.clone().any(|rule| rule.could_fit(words));
    let filled_in = || read.commands.iter().find(could_fit).map(|words| words.join(" "));
    let named = || denials.clone().any(|rule| rule.is_named_in(line)).then(|| line.to_owned());
    read.unknown_program.clone().or_else(filled_in).or_else(named)
}

/// The rule that allows the line's last command, if every command has one.
fn allowing_rule<'r>(rules: &'r [ShellRule], line: &ParsedCommandLine) -> Option<&'r str> {
    if !line.is_plain {
        return None;
    }
    let allowing = |words: &ShellWords| {
        rules.iter().find(|rule| rule.say == RuleAction::Allow && rule.fits(words))
    };
    let found: Option<Vec<&ShellRule>> = line.commands.iter().map(allowing).collect();
    found?.last().map(|rule| rule.shown.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(say: RuleAction, pattern: &str, example: &str) -> ShellRule {
        let examples = RuleExamples { fits: vec![example.to_owned()], fits_not: Vec::new() };
        ShellRule::new(say, pattern, &examples).unwrap()
    }

    fn rules() -> Vec<ShellRule> {
        vec![
            rule(RuleAction::Allow, "git *", "git status -s"),
            rule(RuleAction::Allow, "ls *", "ls"),
            rule(RuleAction::Allow, "npm run test*", "npm run test:unit"),
            rule(RuleAction::Ask, "git push *", "git push origin"),
            rule(RuleAction::Deny, "rm -rf *", "rm -rf ."),
        ]
    }

    #[test]
    fn denials_win_over_questions_and_questions_over_permissions() {
        for (line, expected) in [
            ("git status", Some(RuleAction::Allow)),
            ("git", Some(RuleAction::Allow)),
            ("git log | ls && git diff", Some(RuleAction::Allow)),
            ("git log 2>/dev/null", Some(RuleAction::Allow)),
            ("npm run test:unit", Some(RuleAction::Allow)),
            ("npm run build", None),
            ("git push", Some(RuleAction::Ask)),
            ("ls; git push origin main", Some(RuleAction::Ask)),
            ("git push; rm -rf .", Some(RuleAction::Deny)),
            ("/bin/rm -rf .", Some(RuleAction::Deny)),
            ("ls $(rm -rf .)", Some(RuleAction::Deny)),
            ("git log | sh", None),
            ("git log > f", None),
            ("git $(x)", None),
            ("bash -c ls", None),
            ("bash -c 'ls; rm -rf .'", Some(RuleAction::Deny)),
            ("./git status", None),
            ("cat f", None),
            ("", None),
        ] {
            assert_eq!(decision(&rules(), line).map(|(said, _)| said), expected, "{line}");
        }
    }

    #[test]
    fn a_word_that_is_filled_in_may_be_the_denied_one() {
        for line in ["rm -rf$Z d", "rm $x d", "rm -r{f,} d", "/bin/rm \"$x\"", "rm `x` d"] {
            assert!(unknown_program(&rules(), line).is_some(), "{line}");
        }
        let ordinary = ["git log $x", "rm -i $x", "rm *.o", "rm a b", "ls -rf $x", "echo rm $x"];
        for line in ordinary {
            assert_eq!(unknown_program(&rules(), line), None, "{line}");
        }
        assert_eq!(unknown_program(&rules()[..4], "rm -rf$Z d"), None, "where nothing is denied");
    }

    /// Lines that shells read otherwise than they look.
    #[test]
    fn what_a_denial_is_about_is_denied_or_asked_about_however_it_is_written() {
        for line in [
            "rm -rf d",
            "echo ${x:- #}; rm -rf d",
            "true &>f rm -rf d",
            "echo $( (true)# )' \n rm -rf d) #'",
            "cat <\\\n<X\n'\nX\nrm -rf d\n#'",
            "cat <<X\na\\\nX\n'\nX\nrm -rf d\n#'",
            "cat <<X\r\nX\n'\nX\r\nrm -rf d\n#'",
            "echo \"${x#'\"'}\"; rm -rf d; #'",
            "command eval rm '-rf d'",
            "! eval rm '-rf d'",
            "echo -rf d | xargs rm",
            "echo \"$(ca\\\nse x in x) rm -rf d;; esac)\"",
            "echo \"`: \\\"'\\\"; rm -rf d; : \\\"'\\\"`\"",
            "echo \"$\\\n(rm -rf d)\"",
            "cat <<X\n$\\\n(rm -rf d)\nX",
            "echo $((${x:+'}1)); rm -rf d; #'))",
            "echo $((${x:+ #}1)); rm -rf d\n))",
            ": > -rf; rm [-]rf d",
            "touch -- -rf; rm *",
            "choom -n 0 -- rm -rf d",
            "/lib64/ld-linux-x86-64.so.2 /bin/rm -rf d",
            "bash -c \"mapfile -C 'rm -rf d #' -c 1 <<<x\"",
            "bash -c \"compgen -C 'rm -rf d'\"",
            "echo x | split --filter='rm -rf d'",
            "x86_64 rm -rf d",
            "git -c alias.x='!rm -rf d' x",
            "A=1 eval rm '-rf d'",
            "printf 'rm -rf d' > s; . ./s",
            "tar cf /dev/null --checkpoint=1 --checkpoint-action=exec='rm -rf d' /etc/hostname",
            "case x in x) rm -rf d;; esac",
            "r\\\nm -r\\\nf d",
            "bash -c 'time rm -rf d'",
            "bash -c 'coproc rm -rf d; wait'",
            "bash -c '[[ -n x ]] && rm -rf d'",
            "while rm -rf d; do break; done",
            "setsid -w rm -rf d",
            "timeout 5 nohup nice env -u X rm -rf d",
            "trap 'rm -rf d' EXIT",
            "busybox rm -rf d",
            "echo d | while read x; do rm -rf $x; done",
            "alias q='rm -rf'\nq d",
            "unset x; echo \"${x-`rm -rf d`}\"",
            "{ eval rm '-rf d'; }",
            "if eval rm '-rf d'; then :; fi",
            "f() { rm \"$@\"; }; f -rf d",
            "echo $((rm -rf d); (true))",
            "(( x = 1 #)); rm -rf d",
            "echo $'a\\'; rm -rf d; #'",
            "echo \"$(true # )\"; rm -rf d\n)\"",
            "echo ${x:-'}; rm -rf d; '}",
            "find . | fd -x rm",
            "awk 'BEGIN { system(\"rm -rf d\") }'",
            "python3 -c 'import os; os.system(\"rm -rf d\")'",
            "make -f - <<X\nall:\n\trm -rf d\nX",
        ] {
            let denied = matches!(decision(&rules(), line), Some((RuleAction::Deny, _)));
            assert!(denied || unknown_program(&rules(), line).is_some(), "{line}");
        }
    }

    #[test]
    fn a_rule_is_held_against_its_examples() {
        let new = |say, pattern: &str, fits: &[&str], fits_not: &[&str]| {
            let texts = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect();
            let examples = RuleExamples { fits: texts(fits), fits_not: texts(fits_not) };
            ShellRule::new(say, pattern, &examples)
        };
        assert!(
            new(RuleAction::Allow, "git status *", &["git status"], &["git push", "ls"]).is_ok()
        );
        let example = "git push".to_owned();
        let pattern = "git *".to_owned();
        let wrong = new(RuleAction::Allow, "git *", &["git log"], &["git push"]);
        assert_eq!(wrong, Err(RuleError::Match { pattern, example }));
        // Nothing that a rule may not vouch for is an example of its permission.
        for line in ["git log > f", "git log; ls", "git $x", "eval git log", "bash -c 'git log'"] {
            let wrong = new(RuleAction::Allow, "git *", &[line], &[]);
            assert!(matches!(wrong, Err(RuleError::NoMatch { .. })), "{line}");
        }
        for pattern in ["", "*", "* x", "a | b", "a; b", "a $b", "a > b"] {
            let wrong = new(RuleAction::Deny, pattern, &["a"], &[]);
            assert!(matches!(wrong, Err(RuleError::Pattern(_))), "{pattern}");
        }
        assert!(matches!(new(RuleAction::Deny, "a", &[], &[]), Err(RuleError::NoExample(_))));
    }
}
