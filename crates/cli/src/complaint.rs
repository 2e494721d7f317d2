//! What is wrong with a command line, in the person's language.
//!
//! Clap knows what is wrong and says it in English; here the same facts get our words.

use crate::args::Cli;
use crate::help::usage_words;
use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use everloop_text as text;
use everloop_types::Lang;
use std::num::{ParseFloatError, ParseIntError};

/// The complaint, how the command is used, and where help is.
pub(crate) fn complaint(error: &clap::Error, lang: Lang) -> String {
    let facts = ClapFacts(error);
    let mut lines = vec![facts.wrong(lang)];
    lines.extend(facts.nearest().map(|nearest| text::usage::did_you_mean(&nearest).in_lang(lang)));
    let usage = facts.all(ContextKind::Usage);
    // Clap's own heading stands before it.
    if let Some((_, usage)) = usage.split_once(": ") {
        if facts.may_be_text(usage) {
            lines.push(text::usage::option_as_text().in_lang(lang));
        }
        let usage = usage_words(plain_usage(usage), lang);
        lines.push(text::heading::usage().in_lang(lang) + &usage);
    }
    lines.push(text::usage::hint().in_lang(lang));
    lines.join("\n")
}

/// How a command is used, without the option that clap took for the nearest one.
fn plain_usage(usage: &str) -> String {
    let mut whole = Cli::command();
    whole.build();
    let (mut command, mut words) = (&whole, usage.split(' ').skip(1));
    while let Some(inner) = words.next().and_then(|word| command.find_subcommand(word)) {
        command = inner;
    }
    let plain = command.clone().render_usage().to_string();
    plain.split_once(": ").map_or(usage, |(_, plain)| plain).trim().to_owned()
}

struct ClapFacts<'e>(&'e clap::Error);

impl ClapFacts<'_> {
    fn wrong(&self, lang: Lang) -> String {
        let arg = &self.all(ContextKind::InvalidArg);
        let value = &self.all(ContextKind::InvalidValue);
        let all = &self.all(ContextKind::ValidValue);
        let source = std::error::Error::source(self.0);
        let why = &source.map(ToString::to_string).unwrap_or_default();
        let word = &self.all(ContextKind::InvalidSubcommand);
        let prior = &self.all(ContextKind::PriorArg);
        let text = match self.0.kind() {
            ErrorKind::UnknownArgument if arg.starts_with('-') => text::usage::unknown_option(arg),
            ErrorKind::UnknownArgument => text::usage::unknown_argument(arg),
            ErrorKind::InvalidSubcommand => text::usage::unknown_command(word),
            ErrorKind::MissingSubcommand => text::usage::missing_command(),
            ErrorKind::MissingRequiredArgument => text::usage::missing_argument(arg),
            ErrorKind::ArgumentConflict if arg == prior => text::usage::argument_twice(arg),
            ErrorKind::ArgumentConflict => text::usage::argument_conflict(arg, prior),
            ErrorKind::InvalidValue if value.is_empty() => text::usage::missing_value(arg),
            ErrorKind::InvalidValue if !all.is_empty() => {
                text::usage::NotAChoice { value, arg, all }.text()
            }
            ErrorKind::InvalidValue | ErrorKind::ValueValidation
                if source.is_some_and(is_about_digits) =>
            {
                text::usage::not_a_number(arg, value)
            }
            ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
                text::usage::BadValue { value, arg, why }.text()
            }
            ErrorKind::InvalidUtf8 => text::usage::not_text(),
            ErrorKind::TooManyValues | ErrorKind::TooFewValues | ErrorKind::NoEquals => {
                text::usage::wrong_values(arg)
            }
            _ => text::usage::wrong(),
        };
        text.in_lang(lang)
    }

    /// Whether the option that is not known may be a word of what the command writes down.
    fn may_be_text(&self, usage: &str) -> bool {
        let writes = [" todo add ", " todo update ", " schedule add ", " schedule update "];
        self.0.kind() == ErrorKind::UnknownArgument
            && self.all(ContextKind::InvalidArg).starts_with('-')
            && writes.iter().any(|command| usage.contains(command))
    }

    fn nearest(&self) -> Option<String> {
        let kinds = [
            ContextKind::SuggestedSubcommand,
            ContextKind::SuggestedArg,
            ContextKind::SuggestedValue,
        ];
        let mut near = kinds.into_iter().map(|kind| self.all(kind));
        near.find(|all| !all.is_empty()).filter(|_| !self.is_far())
    }

    /// Whether the option that clap proposes is another one: it finds `--set` near `--sort`.
    fn is_far(&self) -> bool {
        let (typed, near) =
            (self.all(ContextKind::InvalidArg), self.all(ContextKind::SuggestedArg));
        let begins = |word: &str| word.trim_start_matches('-').chars().take(2).collect::<String>();
        typed.starts_with("--") && !near.is_empty() && begins(&typed) != begins(&near)
    }

    /// What clap knows of a kind, as one text.
    fn all(&self, kind: ContextKind) -> String {
        match self.0.get(kind) {
            Some(ContextValue::String(one)) => one.clone(),
            Some(ContextValue::Strings(all)) => all.join(", "),
            Some(ContextValue::StyledStr(text)) => text.to_string(),
            Some(ContextValue::Number(number)) => number.to_string(),
            _ => String::new(),
        }
    }
}

/// Whether a value was refused because it is not a number, or too large for one.
fn is_about_digits(error: &(dyn std::error::Error + 'static)) -> bool {
    error.is::<ParseIntError>() || error.is::<ParseFloatError>()
}

#[cfg(test)]
mod tests {
    use super::complaint;
    use crate::args::Cli;
    use clap::Parser;
    use everloop_types::Lang;

    fn said(args: &str, lang: Lang) -> String {
        let args = std::iter::once("everloop").chain(args.split(' '));
        complaint(&Cli::try_parse_from(args).unwrap_err(), lang)
    }

    #[test]
    fn each_mistake_is_named_in_both_languages() {
        for (args, zh, en) in [
            ("run --bogus x", "没有选项 --bogus", "Unknown option --bogus"),
            ("--foo", "没有选项 --foo", "Unknown option --foo"),
            ("--modle x hi", "是否想写 --model？", "Did you mean --model?"),
            ("-p hi --lop react", "没有选项 --lop", "Did you mean --loop?"),
            ("doctor now", "多出来的参数 now", "Unexpected argument now"),
            ("todo ad x", "没有命令 ad", "Unknown command ad"),
            ("todo ad x", "是否想写 add？", "Did you mean add?"),
            ("todo add fix --verbose x", "请给内容加引号", "put the text in quotes"),
            ("fork", "还缺：<ID>", "Missing argument: <ID>"),
            ("fork run_1 --at x", "--at <N> 要一个数，不能是 x", "--at <N> needs a number, not x"),
            ("run hello --output-format no", "可以是：text", "can be: text"),
            ("run hello --loop", "--loop <LOOP> 后面要有值", "--loop <LOOP> needs a value"),
            ("compare --runs 0", "不能是 0", "cannot be 0"),
        ] {
            let (zh_said, en_said) = (said(args, Lang::ZhCn), said(args, Lang::En));
            assert!(zh_said.contains(zh), "{args}: {zh_said}");
            assert!(en_said.contains(en), "{args}: {en_said}");
        }
        let usage = said("fork", Lang::ZhCn);
        assert!(usage.contains("用法：everloop fork [选项] <ID> [MESSAGE]"), "{usage}");
        let usage = said("run --nope", Lang::ZhCn);
        assert!(usage.contains("用法：everloop run [选项]"), "{usage}");
        assert!(!usage.contains("Usage"), "{usage}");
    }
}
