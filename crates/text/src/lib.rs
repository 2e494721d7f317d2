//! Every message that a user sees, in Simplified Chinese and English.
//!
//! Translators edit the files in `texts/`. The build script turns each message into a function
//! (`run::not_found(id)`) that takes its arguments and returns a [`Text`]; with three arguments or
//! more it is a struct with named fields and a method `text`. A missing language, an unknown or
//! unused argument, a key that is defined twice, or a plural without a count stops the build.
//! Never translated: command and flag names, settings, JSON fields, tool names, a provider's own
//! errors.

mod answers;
mod generated;
mod observed;
mod permission_answers;

pub use generated::*;
pub use observed::{is_persons_no, observed};
pub use permission_answers::{
    AlwaysWord, PermissionAnswer, always_word, permission_answer, reason_of,
};

pub use answers::{
    BareCommand, Meaning, OutcomeReport, bare, bare_word, corrected, is_later, is_stop, meaning,
    means_yes, reported_outcome,
};

use everloop_types::{Lang, Status, TextKey, Words};
use std::borrow::Cow;

/// A message in both languages.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Template {
    key: &'static str,
    args: &'static [&'static str],
    /// Which argument picks the English form, and the form for one.
    one: Option<(usize, &'static str)>,
    en: &'static str,
    /// What people read of a pattern, if it is not what the model reads.
    shown: Option<&'static str>,
    zh: &'static str,
}

/// A message with the values of its arguments, not yet in a language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    template: &'static Template,
    values: Vec<String>,
}

/// A message that still needs its only argument.
pub type TextOf = fn(&dyn std::fmt::Display) -> Text;

impl Text {
    pub(crate) fn new(index: usize, values: Vec<String>) -> Self {
        Self { template: &generated::TEMPLATES[index], values }
    }

    pub(crate) fn named(area: &str, name: &str) -> Option<Self> {
        let template = find(&format!("{area}{name}"))?;
        Some(Self { template, values: Vec::new() })
    }

    /// The message in a language.
    ///
    /// Some arguments are translated too, by their name: a `status`, the actor (`by`), the result
    /// of a tool (`seen`), and the `detail` of a failure.
    #[must_use]
    pub fn in_lang(&self, lang: Lang) -> String {
        let args = self.template.args.iter().zip(&self.values);
        self.template.render(lang, |name| {
            args.clone().find(|(known, _)| **known == name).map(|(_, value)| value.as_str())
        })
    }

    /// The name of the message, as journals record it.
    #[must_use]
    pub fn key(&self) -> TextKey {
        TextKey::new(self.template.key)
    }

    /// The message as words of a run, which are recorded by key and can be shown in any language.
    #[must_use]
    pub fn words(self) -> Words {
        let names = self.template.args.iter().map(|name| (*name).to_owned());
        Words::Key(TextKey::new(self.template.key), names.zip(self.values).collect())
    }
}

impl Template {
    fn render<'a>(&self, lang: Lang, value: impl Fn(&str) -> Option<&'a str>) -> String {
        let text = match (lang, self.one) {
            (Lang::ZhCn, _) => self.zh,
            (Lang::En, Some((at, one))) if value(self.args[at]) == Some("1") => one,
            (Lang::En, _) => self.en,
        };
        let shown: Vec<(&str, Cow<'_, str>)> = self
            .args
            .iter()
            .filter_map(|name| Some((*name, translate(lang, name, value(name)?))))
            .collect();
        fill(text, |name| shown.iter().find(|(known, _)| *known == name).map(|(_, it)| it.as_ref()))
    }
}

/// A value in the language of the message around it.
fn translate<'v>(lang: Lang, name: &str, value: &'v str) -> Cow<'v, str> {
    match name {
        "status" => Cow::Borrowed(Status::parse(value).map_or(value, |known| status(lang, known))),
        "by" if value == "user" => Cow::Owned(by::user().in_lang(lang)),
        "seen" => Cow::Owned(one_line(lang, value)),
        "detail" | "error" | "reason" | "why" => observed::fault(lang, value),
        _ => Cow::Borrowed(value),
    }
}

/// Characters of a tool result on one line.
const SEEN_CHARS: usize = 160;

/// A tool result as one line.
fn one_line(lang: Lang, text: &str) -> String {
    let seen = observed(lang, text);
    // A sentence of our own ends where the next line begins.
    let between = match lang {
        _ if !observed::is_known(text.lines().next().unwrap_or_default()) => " ",
        Lang::ZhCn => "；",
        Lang::En => "; ",
    };
    let lines = seen.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    let line = lines.join(between);
    match line.char_indices().nth(SEEN_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The word for the status of a run. Programs read [`Status::as_str`].
#[must_use]
pub fn status(lang: Lang, status: Status) -> &'static str {
    let text = match status {
        Status::Queued => status::queued(),
        Status::Running => status::running(),
        Status::Waiting => status::waiting(),
        Status::Succeeded => status::succeeded(),
        Status::Unsettled => status::unsettled(),
        Status::Failed => status::failed(),
        Status::Canceled => status::canceled(),
        Status::Quarantined => status::quarantined(),
    };
    match lang {
        Lang::ZhCn => text.template.zh,
        Lang::En => text.template.en,
    }
}

/// Words of a run in one language. Words of a newer program that this one does not know show their
/// key.
#[must_use]
pub fn render(words: &Words, lang: Lang) -> String {
    match words {
        Words::Said(text) => text.clone(),
        Words::Key(key, args) => match find(key.as_str()) {
            Some(template) => template.render(lang, |name| args.get(name).map(String::as_str)),
            None => key.as_str().to_owned(),
        },
        Words::All(all) => {
            let parts: Vec<String> =
                all.iter().map(|part| render(part, lang)).filter(|part| !part.is_empty()).collect();
            parts.join("\n")
        }
    }
}

/// Other names of commands, each with the canonical one. People type in their language.
#[must_use]
pub fn command_names() -> &'static [(&'static str, &'static str)] {
    &[
        ("?", "help"),
        ("exit", "quit"),
        ("tasks", "runs"),
        ("todos", "todo"),
        ("帮助", "help"),
        ("待办", "todo"),
        ("分析", "analyze"),
        ("日程", "schedule"),
        ("查看", "view"),
        ("推迟", "snooze"),
        ("完成", "done"),
        ("收件箱", "inbox"),
        ("未读", "inbox"),
        ("取消", "cancel"),
        ("计划", "plan"),
        ("任务", "runs"),
        ("继续", "resume"),
        ("确认", "settle"),
        ("后台", "bg"),
        ("分叉", "fork"),
        ("历史", "history"),
        ("循环", "loop"),
        ("模型", "model"),
        ("人设", "persona"),
        ("批准", "approve"),
        ("图片", "image"),
        ("新对话", "new"),
        ("对话", "conversations"),
        ("改名", "rename"),
        ("导出", "export"),
        ("导入", "import"),
        ("语言", "lang"),
        ("演示", "tour"),
        ("复制", "copy"),
        ("用量", "usage"),
        ("记忆", "memory"),
        ("检查", "doctor"),
        ("设置", "setup"),
        ("清屏", "clear"),
        ("退出", "quit"),
    ]
}

/// The canonical name of a command, in lower case, for any of its names; other names stay.
#[must_use]
pub fn command_name(said: &str) -> String {
    let said = said.to_lowercase();
    let known = command_names().iter().find(|(name, _)| *name == said);
    known.map_or(said, |(_, canonical)| (*canonical).to_owned())
}

/// The message with this key, as recorded in a journal.
fn find(key: &str) -> Option<&'static Template> {
    let at = generated::TEMPLATES.binary_search_by(|template| template.key.cmp(key)).ok()?;
    generated::TEMPLATES.get(at)
}

/// What follows `area` in the keys that begin with it.
pub(crate) fn names(area: &'static str) -> impl Iterator<Item = &'static str> {
    generated::TEMPLATES.iter().filter_map(move |template| template.key.strip_prefix(area))
}

fn fill<'a>(template: &str, value: impl Fn(&str) -> Option<&'a str>) -> String {
    let mut out = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        match after.split_once('}').and_then(|(name, tail)| Some((value(name)?, tail))) {
            Some((value, tail)) => {
                out.push_str(value);
                rest = tail;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::{cancel, confirm, door, fill, limit, plan, progress, reason, render};
    use everloop_types::{Lang, TextKey, Words};

    #[test]
    fn texts_fixed_by_the_specification_are_byte_exact() {
        let zh = |text: super::Text| text.in_lang(Lang::ZhCn);
        assert_eq!(zh(confirm::prefix()), "请确认：");
        assert_eq!(zh(confirm::missing()), "请补充必要信息");
        assert_eq!(zh(reason::step_limit(&25)), "[达到最大工具调用次数 25]");
        assert_eq!(zh(limit::reached(&20)), "已达到最大执行步数（20）");
        assert_eq!(zh(limit::done()), "已完成部分");
        assert_eq!(zh(limit::why()), "未完成原因");
        assert_eq!(zh(limit::next()), "下一步建议");
        assert!(zh(plan::unavailable()).starts_with("抱歉，当前计划执行服务暂时不可用"));
        assert_eq!(zh(plan::repeated_question()), "无法完成重规划，请直接用 /todo 或 /schedule");
        assert_eq!(zh(plan::too_many_questions()), "澄清次数过多，请直接用 /todo 或 /schedule");
        assert_eq!(zh(cancel::phrase()), "取消当前任务");
        assert_eq!(zh(door::canceled()), "已取消当前任务。");
        assert_eq!(zh(door::nothing_to_cancel()), "当前没有进行中的任务。");
        assert!(zh(door::no_model()).starts_with("当前未配置 LLM"));
        assert!(!zh(door::no_model()).contains('\n'), "it is one line");
        assert_eq!(zh(progress::replan_failed()), "重规划失败，准备重试");
        assert_eq!(zh(progress::thought_failed()), "思考失败，准备重试");
    }

    #[test]
    fn unknown_placeholders_and_keys_of_newer_programs_stay_visible() {
        assert_eq!(fill("a {x} {y", |_| None), "a {x} {y");
        let newer = Words::Key(TextKey::new("no.such.key"), Default::default());
        assert_eq!(render(&newer, Lang::En), "no.such.key");
    }

    #[test]
    fn words_render_line_by_line_in_any_language() {
        let words = Words::All(vec![Words::Said("one".into()), limit::done().words()]);
        assert_eq!(
            render(&words, Lang::ZhCn),
            format!("one\n{}", limit::done().in_lang(Lang::ZhCn))
        );
        let words = limit::reached(&7).words();
        assert_eq!(render(&words, Lang::ZhCn), limit::reached(&7).in_lang(Lang::ZhCn));
    }
}
