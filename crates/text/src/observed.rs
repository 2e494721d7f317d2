//! Tool results in the language of the user.
//!
//! Tools and the engine write English, because the model reads it. Their own sentences are
//! translated with `texts/observations.txt`, whose English is the pattern; what is meant for the
//! model alone has another English form for people. Foreign text (files,
//! pages, output of commands, errors of other programs) stays as it is.

use crate::{Template, fill, generated};
use everloop_types::Lang;
use std::borrow::Cow;

/// Templates that occur on their own line within foreign text.
const NOTE: &str = "seen.note.";
/// The rows of the model's list, which follow its head.
const ROW: &str = "seen.row.";
const HEAD: &str = "seen.list";
/// The rows of a folder, all of which are such.
const ENTRY: &str = "seen.entry.";

/// A tool result in the language of the user.
#[must_use]
pub fn observed(lang: Lang, text: &str) -> Cow<'_, str> {
    let lines: Vec<&str> = text.split('\n').collect();
    let last = lines.len() - 1;
    // Text that ends with an exit line is the output of a command.
    let is_output = lines[last].starts_with("[exit code ");
    let is_list = find(lines[0]).is_some_and(|(text, _)| text.key == HEAD);
    let is_folder = is_folder(&lines);
    let shown = lines.iter().enumerate().map(|(at, line)| match find(line) {
        Some((text, _)) if text.key.starts_with(ENTRY) && !is_folder => Cow::Borrowed(*line),
        Some((text, found)) if text.key.starts_with(ENTRY) => {
            Cow::Owned(filled(lang, text, &found))
        }
        Some((text, _)) if text.key.starts_with(ROW) && !is_list => Cow::Borrowed(*line),
        Some((text, found))
            if text.key.starts_with(NOTE) || is_list || (!is_output && (at == 0 || at == last)) =>
        {
            Cow::Owned(filled(lang, text, &found))
        }
        _ => Cow::Borrowed(*line),
    });
    Cow::Owned(shown.collect::<Vec<_>>().join("\n"))
}

/// Whether all lines are entries of a folder.
fn is_folder(lines: &[&str]) -> bool {
    lines.iter().all(|line| {
        let is_kind = |prefix| find(line).is_some_and(|(text, _)| text.key.starts_with(prefix));
        line.ends_with('/') || is_kind(ENTRY) || is_kind(NOTE)
    })
}

/// Templates for failures reported by the system and the store.
const FAULT: &str = "seen.fault.";

/// A longer failure is not matched against templates.
const FAULT_CHARS_MAX: usize = 400;

/// A failure reported by the system or the store, with each of its causes, in the language of the
/// user. Messages of providers and other programs stay as they are.
pub(crate) fn fault(lang: Lang, text: &str) -> Cow<'_, str> {
    if lang == Lang::En || text.len() > FAULT_CHARS_MAX {
        return Cow::Borrowed(text);
    }
    let known = |text: &str| {
        let (template, found) = find(text)?;
        template.key.starts_with(FAULT).then(|| filled(lang, template, &found))
    };
    if let Some(whole) = known(text) {
        return Cow::Owned(whole);
    }
    let parts: Vec<(&str, Option<String>)> =
        text.split(": ").map(|part| (part, known(part))).collect();
    if parts.iter().all(|(_, known)| known.is_none()) {
        return Cow::Borrowed(text);
    }
    let said = parts.into_iter().map(|(part, known)| known.unwrap_or_else(|| part.to_owned()));
    Cow::Owned(said.collect::<Vec<_>>().join("："))
}

type PlaceholderValues<'t> = Vec<(&'static str, &'t str)>;

fn find(line: &str) -> Option<(&'static Template, PlaceholderValues<'_>)> {
    generated::PATTERNS.iter().find_map(|text| {
        let mut found = Vec::new();
        matches(text.en, line, &mut found).then_some((text, found))
    })
}

/// The text for people; a reason in it is said the same way.
fn filled(lang: Lang, text: &'static Template, found: &PlaceholderValues<'_>) -> String {
    let (reasons, counts) = match lang {
        Lang::ZhCn => ("；", "，"),
        Lang::En => ("; ", ", "),
    };
    let values: Vec<(&str, String)> = found
        .iter()
        .map(|(name, value)| {
            let parts = |between: &str| {
                value.split(between).map(|text| part(lang, text)).collect::<Vec<_>>()
            };
            let value = match *name {
                "why" | "wrong" => parts("; ").join(reasons),
                "counts" => parts(", ").join(counts),
                _ => (*value).to_owned(),
            };
            (*name, value)
        })
        .collect();
    let text = fill(form(lang, text), |name| {
        values.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    });
    match lang {
        Lang::ZhCn => text,
        Lang::En => {
            let is_one = values.iter().any(|(name, value)| *name == "n" && value == "1");
            text.replace("(s)", if is_one { "" } else { "s" })
        }
    }
}

fn part(lang: Lang, text: &str) -> String {
    find(text).map_or_else(|| text.to_owned(), |(text, found)| filled(lang, text, &found))
}

/// What people read in a language.
fn form(lang: Lang, text: &Template) -> &'static str {
    match lang {
        Lang::ZhCn => text.zh,
        Lang::En => text.shown.unwrap_or(text.en),
    }
}

/// Whether a line is a sentence of our own that ends without a full stop, and no note or heading.
pub(crate) fn is_known(line: &str) -> bool {
    let is_other = |key: &str| key.starts_with(NOTE) || key == HEAD || key.starts_with(ENTRY);
    find(line).is_some_and(|(text, _)| !is_other(text.key)) && !line.ends_with(['.', ':', ']'])
}

/// Whether a result says no more than that a person did not allow the call.
#[must_use]
pub fn is_persons_no(result: &str) -> bool {
    find(result).is_some_and(|(text, _)| text.key.starts_with("seen.denied_"))
}

/// Whether a text is made by a template; `found` gets the values of its placeholders.
fn matches<'t>(template: &'static str, text: &'t str, found: &mut PlaceholderValues<'t>) -> bool {
    if let Some(rest) = template.strip_prefix("(s)") {
        let many = text.strip_prefix('s').is_some_and(|text| matches(rest, text, found));
        return many || matches(rest, text, found);
    }
    let Some((name, rest)) = template.strip_prefix('{').and_then(|t| t.split_once('}')) else {
        let end = template.find('{').unwrap_or(template.len());
        let end = template.find("(s)").map_or(end, |plural| plural.min(end));
        let (literal, rest) = template.split_at(end);
        return match text.strip_prefix(literal) {
            Some(text) if rest.is_empty() => text.is_empty(),
            Some(text) => matches(rest, text, found),
            None => false,
        };
    };
    let is_number = matches!(name, "n" | "m");
    let known = found.len();
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    for end in ends {
        let value = &text[..end];
        if is_number && !value.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        found.push((name, value));
        let is_whole =
            if rest.is_empty() { end == text.len() } else { matches(rest, &text[end..], found) };
        if is_whole {
            return true;
        }
        found.truncate(known);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{fault, is_persons_no, observed};
    use everloop_types::Lang;

    fn zh(text: &str) -> String {
        observed(Lang::ZhCn, text).into_owned()
    }

    #[test]
    fn what_tools_say_themselves_is_said_in_chinese() {
        for (english, chinese) in [
            ("the folder is empty", "文件夹是空的"),
            ("不存在.txt does not exist", "不存在.txt 不存在"),
            ("wrote 1 byte to a.txt", "已写入 a.txt（1 字节）"),
            ("wrote 50 bytes to my poem.txt", "已写入 my poem.txt（50 字节）"),
            ("edited ui.html at line 1; its hash is now ab12", "已修改 ui.html 第 1 行"),
            ("nothing was found in 1 file", "在 1 个文件里没有找到"),
            (
                "the arguments do not fit (task: is missing; goal: is not an argument); nothing \
                 was done",
                "参数不对（缺少 task；没有参数 goal），没有执行",
            ),
            (
                "search failed: http: 127.0.0.1 answered with status 503",
                "搜索失败：127.0.0.1 返回状态 503",
            ),
            (
                "this call may not be made: the rule shell rm* denies it; nothing was done",
                "不允许：规则 shell rm* 禁止，没有执行",
            ),
            (
                "a/\npoem.txt (64 bytes)\nl (symbolic link)",
                "a/\npoem.txt（64 字节）\nl（符号链接）",
            ),
            (
                "this call may not be made: this run only plans (approval mode: plan), so \
                 nothing that changes or sends anything is done; do not call it again, say in \
                 your answer what you would do; nothing was done",
                "不允许：现在只做计划（批准方式：plan），会改动或外发的操作不执行；打算怎么做会写在回答里，没有执行",
            ),
            (
                "[the user changed the arguments of this call before allowing it; it was made \
                 with {\"command\":\"ls\"}]\na.txt\n[exit code 0]",
                "[按你改过的内容执行]\na.txt\n[退出码 0]",
            ),
            (
                "3 items: 2 pending, 1 in_progress\n- a [in_progress] 读\n- b [pending] 写",
                "共 3 项：2 项待做，1 项进行中\n◐ 读\n○ 写",
            ),
        ] {
            assert_eq!(zh(english), chinese);
        }
    }

    #[test]
    fn people_read_no_words_that_are_meant_for_the_model() {
        for (told, shown) in [
            ("edited ui.html at line 1; its hash is now ab12", "edited ui.html at line 1"),
            (
                "this call may not be made: this run only plans (approval mode: plan), so \
                 nothing that changes or sends anything is done; do not call it again, say in \
                 your answer what you would do; nothing was done",
                "this call may not be made: this run only plans (approval mode: plan); the answer \
                 says what it would do; nothing was done",
            ),
            (
                "[the user changed the arguments of this call before allowing it; it was made \
                 with {\"command\":\"ls\"}]\na.txt\n[exit code 0]",
                "[run with your changes]\na.txt\n[exit code 0]",
            ),
            (
                "the user did not allow this call; nothing was done; they said: later",
                "you did not allow it; nothing was done; you said: later",
            ),
            ("wrote 1 byte to a.txt", "wrote 1 byte to a.txt"),
            ("wrote 20 bytes to a.txt", "wrote 20 bytes to a.txt"),
            (
                "3 items: 2 pending, 1 in_progress\n- a [in_progress] 读",
                "3 items: 2 pending, 1 in_progress\n- a [in_progress] 读",
            ),
        ] {
            assert_eq!(observed(Lang::En, told), shown);
        }
    }

    #[test]
    fn a_no_of_a_person_is_told_from_a_rule_that_denies() {
        assert!(is_persons_no("the user did not allow this call; nothing was done"));
        let said = "the user did not allow this call; nothing was done; they said: later";
        assert!(is_persons_no(said));
        assert!(!is_persons_no("this call may not be made: a rule; nothing was done"));
    }

    #[test]
    fn failures_of_the_system_and_the_store_are_said_in_chinese() {
        for (english, chinese) in [
            ("No such file or directory (os error 2)", "没有这个文件或文件夹（系统错误 2）"),
            ("open /x: Permission denied (os error 13)", "open /x：没有权限（系统错误 13）"),
            (
                "cannot make /a b/c; choose another data folder: File exists (os error 17)",
                "无法建立 /a b/c，请换一个数据文件夹：文件已存在（系统错误 17）",
            ),
            ("quota: nothing is left", "quota: nothing is left"),
        ] {
            assert_eq!(fault(Lang::ZhCn, english), chinese);
            assert_eq!(fault(Lang::En, english), english);
        }
    }

    #[test]
    fn what_others_wrote_stays_as_it_is() {
        let output = "the folder is empty\n- a [pending] x\nx does not exist\n[exit code 0]";
        let shown = "the folder is empty\n- a [pending] x\nx does not exist\n[退出码 0]";
        assert_eq!(zh(output), shown);
        let file = "first\nthe folder is empty\n[3 lines left out]\nlast";
        assert_eq!(zh(file), "first\nthe folder is empty\n[省略 3 行]\nlast");
        assert_eq!(zh(""), "");
    }
}
