//! Every word that a user sees, in Simplified Chinese and English, by key.
//!
//! Both languages of a text stand side by side in `catalog`, so neither can be missing.
//! Never translated: command and flag names, settings, JSON fields, tool names, a provider's own
//! errors.

mod answers;
mod catalog;
mod observed;

pub use observed::observed;

pub use answers::{
    Bare, Meaning, Told, bare, bare_word, corrected, is_later, is_stop, meaning, means_yes, told,
};

use everloop_types::{Lang, Status, Words};
use std::borrow::Cow;

/// One text in both languages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text {
    key: &'static str,
    zh: &'static str,
    en: &'static str,
}

/// The text of `key` with its placeholders filled.
///
/// A status among the values is said in that language, too, and so are who did something, what a
/// tool `seen` said and what the system said of a failure.
///
/// A key that the catalogue does not have shows as itself; `xtask tidy` finds such keys before a
/// user does.
#[must_use]
pub fn get(lang: Lang, key: &str, args: &[(&str, &str)]) -> String {
    let template = match (find(key), lang) {
        (Some(text), Lang::ZhCn) => text.zh,
        (Some(text), Lang::En) => text.en,
        (None, _) => return key.to_owned(),
    };
    let said: Vec<(&str, Cow<'_, str>)> =
        args.iter().map(|(name, value)| (*name, said(lang, name, value))).collect();
    fill(template, |name| said.iter().find(|(known, _)| *known == name).map(|(_, it)| it.as_ref()))
}

/// A value in the language of the text that it stands in.
fn said<'v>(lang: Lang, name: &str, value: &'v str) -> Cow<'v, str> {
    match name {
        "status" => Cow::Borrowed(word(lang, &format!("status.{value}")).unwrap_or(value)),
        "by" => Cow::Borrowed(word(lang, &format!("by.{value}")).unwrap_or(value)),
        "seen" => Cow::Owned(one_line(lang, value)),
        "detail" | "error" | "reason" | "why" => observed::fault(lang, value),
        _ => Cow::Borrowed(value),
    }
}

/// Characters of one line of what a tool came back with.
const SEEN_CHARS: usize = 160;

/// What a tool came back with, as one line.
fn one_line(lang: Lang, text: &str) -> String {
    let line = observed(lang, text).split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SEEN_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The word for where a run stands. Programs read [`Status::as_str`].
#[must_use]
pub fn status(lang: Lang, status: Status) -> &'static str {
    word(lang, &format!("status.{}", status.as_str())).unwrap_or(status.as_str())
}

fn word(lang: Lang, key: &str) -> Option<&'static str> {
    find(key).map(|text| match lang {
        Lang::ZhCn => text.zh,
        Lang::En => text.en,
    })
}

/// Words for the user in one language.
#[must_use]
pub fn render(words: &Words, lang: Lang) -> String {
    match words {
        Words::Said(text) => text.clone(),
        Words::Key(key, args) => {
            let args: Vec<_> = args.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
            get(lang, key.as_str(), &args)
        }
        Words::All(all) => {
            let parts: Vec<String> =
                all.iter().map(|part| render(part, lang)).filter(|part| !part.is_empty()).collect();
            parts.join("\n")
        }
    }
}

/// Names that mean a command beside its canonical one, and that one. People type in their language.
#[must_use]
pub fn command_names() -> &'static [(&'static str, &'static str)] {
    &[
        ("?", "help"),
        ("exit", "quit"),
        ("tasks", "runs"),
        ("todos", "todo"),
        ("帮助", "help"),
        ("待办", "todo"),
        ("日程", "schedule"),
        ("查看", "view"),
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
        ("图片", "image"),
        ("新对话", "new"),
        ("导出", "export"),
        ("导入", "import"),
        ("语言", "lang"),
        ("演示", "tour"),
        ("清屏", "clear"),
        ("退出", "quit"),
    ]
}

/// Every key of the catalogue.
pub fn keys() -> impl Iterator<Item = &'static str> {
    catalog::ALL.iter().flat_map(|part| part.iter()).map(|text| text.key)
}

fn find(key: &str) -> Option<&'static Text> {
    catalog::ALL.iter().flat_map(|part| part.iter()).find(|text| text.key == key)
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
    use super::{catalog, fill, get, render};
    use everloop_types::{Lang, Words};
    use std::collections::BTreeSet;

    fn placeholders(text: &str) -> BTreeSet<&str> {
        text.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(n, _)| n).collect()
    }

    #[test]
    fn both_languages_have_the_same_placeholders_and_no_text_is_empty() {
        for text in catalog::ALL.iter().flat_map(|part| part.iter()) {
            // The English of these is a pattern; people need not be told all that it finds.
            let is_pattern = text.key.starts_with("seen.");
            let same = placeholders(text.zh) == placeholders(text.en);
            let fewer = is_pattern && placeholders(text.zh).is_subset(&placeholders(text.en));
            assert!(same || fewer, "{}", text.key);
            assert!(!text.zh.trim().is_empty() && !text.en.trim().is_empty(), "{}", text.key);
        }
    }

    #[test]
    fn every_key_stands_once() {
        let mut seen = BTreeSet::new();
        for text in catalog::ALL.iter().flat_map(|part| part.iter()) {
            assert!(seen.insert(text.key), "{} stands twice", text.key);
        }
    }

    #[test]
    fn texts_fixed_by_the_specification_are_byte_exact() {
        let zh = |key, args: &[(&str, &str)]| get(Lang::ZhCn, key, args);
        assert_eq!(zh("confirm.prefix", &[]), "请确认：");
        assert_eq!(zh("confirm.missing", &[]), "请补充必要信息");
        assert_eq!(zh("reason.step_limit", &[("limit", "25")]), "[达到最大工具调用次数 25]");
        assert_eq!(zh("limit.reached", &[("limit", "20")]), "已达到最大执行步数（20）");
        assert_eq!(zh("limit.done", &[]), "已完成部分");
        assert_eq!(zh("limit.why", &[]), "未完成原因");
        assert_eq!(zh("limit.next", &[]), "下一步建议");
        assert!(zh("plan.unavailable", &[]).starts_with("抱歉，当前计划执行服务暂时不可用"));
        assert_eq!(
            zh("plan.repeated_question", &[]),
            "无法完成重规划，请直接用 /todo 或 /schedule"
        );
        assert_eq!(zh("plan.too_many_questions", &[]), "澄清次数过多，请直接用 /todo 或 /schedule");
        assert_eq!(zh("cancel.phrase", &[]), "取消当前任务");
        assert_eq!(zh("door.canceled", &[]), "已取消当前任务。");
        assert_eq!(zh("door.nothing_to_cancel", &[]), "当前没有进行中的任务。");
        assert!(zh("door.no_model", &[]).starts_with("当前未配置 LLM"));
        assert!(!zh("door.no_model", &[]).contains('\n'), "it is one line");
        assert_eq!(zh("progress.replan_failed", &[]), "重规划失败，准备重试");
        assert_eq!(zh("progress.thought_failed", &[]), "思考失败，准备重试");
    }

    #[test]
    fn unknown_placeholders_and_keys_stay_visible() {
        assert_eq!(fill("a {x} {y", |_| None), "a {x} {y");
        assert_eq!(get(Lang::En, "no.such.key", &[]), "no.such.key");
    }

    #[test]
    fn words_render_line_by_line() {
        let words = Words::All(vec![Words::Said("one".into()), Words::key("limit.done")]);
        assert_eq!(render(&words, Lang::En), "one\nDone so far");
    }
}
