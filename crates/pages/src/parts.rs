//! Small pieces that every page uses: icons, states, forms that do something.

use crate::assets;
use everloop_text::Text;
use everloop_types::{Lang, Status, spelled};
use maud::{Markup, html};

/// An icon of the sprite.
#[must_use]
pub fn icon(name: &str) -> Markup {
    html! { svg.icon aria-hidden="true" { use href={ (assets::url(assets::ICONS)) "#" (name) } {} } }
}

/// The icon of a state, turning while something works.
#[must_use]
pub fn state_icon(state: &str) -> Markup {
    let turning = state == "running";
    html! {
        svg.icon.s-icon.spin[turning] aria-hidden="true" {
            use href={ (assets::url(assets::ICONS)) "#s-" (state) } {}
        }
    }
}

/// A state in shape, word and color.
#[must_use]
pub fn state_mark(state: &str, words: &str) -> Markup {
    html! { span.st.sm data-s=(state) { (state_icon(state)) span { (words) } } }
}

/// The word of a run's status in a language.
#[must_use]
pub fn status_words(status: Status, lang: Lang) -> String {
    let named = everloop_text::pages::status::named(status.as_str());
    named.map_or_else(|| status.as_str().to_owned(), |words| words.in_lang(lang))
}

/// How a form is sent.
#[derive(Debug, Clone, Copy)]
pub struct ActionForm<'a> {
    /// Where to.
    pub to: &'a str,
    /// The token of the session.
    pub csrf: &'a str,
    /// The page to come back to.
    pub back: &'a str,
}

impl ActionForm<'_> {
    /// The fields that every form has.
    #[must_use]
    pub fn hidden(&self) -> Markup {
        html! {
            input type="hidden" name="csrf" value=(self.csrf);
            input type="hidden" name="back" value=(self.back);
        }
    }

    /// A form that is one button.
    #[must_use]
    pub fn button(&self, class: &str, fields: &[(&str, &str)], inside: Markup) -> Markup {
        html! {
            form.one method="post" action=(self.to) data-do {
                (self.hidden())
                @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
                button class=(class) { (inside) }
            }
        }
    }
}

/// The form of the page that buttons without fields of their own belong to: [`short_button`].
pub(crate) const SHARED_FORM: &str = "act";

/// A button that sends to an address. It has no form of its own, because a thread has many of them.
pub(crate) fn short_button(to: &str, class: &str, inside: &Markup) -> Markup {
    html! { button class=(class) form=(SHARED_FORM) formaction=(to) { (inside) } }
}

/// Words in a language.
#[must_use]
pub fn say(lang: Lang, text: Text) -> String {
    text.in_lang(lang)
}

/// A text in which backticks mark code.
#[must_use]
pub fn coded(text: &str) -> Markup {
    html! {
        @for (at, part) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// The lines of a unified diff. Characters that a reader would not see are spelled out. It is a
/// group and no region: a page has many of the same name.
#[must_use]
pub fn diff(lines: &[String], name: &str) -> Markup {
    let lines: Vec<String> = lines.iter().map(|line| spelled(line)).collect();
    html! {
        div.diff tabindex="0" role="group" aria-label=(name) {
            @for line in &lines {
                @if let Some(added) = line.strip_prefix('+') { ins { (added) } }
                @else if let Some(gone) = line.strip_prefix('-') { del { (gone) } }
                @else { p { (line) } }
            }
        }
    }
}

/// A number with commas.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A duration as people write it: `12 ms`, `0.4 s`, `12 s`, `5 min 12 s`, `3 h 5 min`.
#[must_use]
pub fn duration(lang: Lang, ms: i64) -> String {
    use everloop_text::pages::time;
    let ms = ms.max(0);
    if ms < 100 {
        return say(lang, time::milliseconds(&ms));
    }
    if ms < 10_000 {
        return say(lang, time::seconds(&format!("{}.{}", ms / 1_000, ms % 1_000 / 100)));
    }
    let seconds = ms / 1_000;
    match seconds {
        0..60 => say(lang, time::seconds(&seconds)),
        60..3_600 => say(lang, time::minutes(&(seconds / 60), &(seconds % 60))),
        _ => say(lang, time::hours(&(seconds / 3_600), &(seconds % 3_600 / 60))),
    }
}

/// A duration in a column of a table: from a minute on as a clock shows it, `24:12`, `3:05:00`.
pub(crate) fn in_column(lang: Lang, ms: i64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        ..60 => duration(lang, ms),
        60..3_600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("{}:{:02}:{:02}", seconds / 3_600, seconds % 3_600 / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas_and_durations_have_units() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(61_204), "61,204");
        assert_eq!(grouped(1_000_000), "1,000,000");
        assert_eq!(duration(Lang::En, 450), "0.4 s");
        assert_eq!(duration(Lang::En, 312_000), "5 min 12 s");
        assert_eq!(duration(Lang::ZhCn, 11_100_000), "3 小时 5 分");
    }

    #[test]
    fn a_column_has_minutes_as_a_clock_shows_them() {
        assert_eq!(in_column(Lang::En, 59_900), "59 s");
        assert_eq!(in_column(Lang::En, 1_452_000), "24:12");
        assert_eq!(in_column(Lang::ZhCn, 11_105_000), "3:05:05");
    }

    #[test]
    fn a_change_of_a_file_is_no_landmark() {
        let html = diff(&["+a".to_owned()], "File change").into_string();
        assert!(html.contains(r#"role="group""#), "{html}");
    }
}
