//! Colors of the agenda: what is overdue, what is due today, what is done.

use crate::terminal;
use everloop_text as text;
use everloop_types::Lang;

const RED: &str = "\x1b[31m";
const MAGENTA: &str = "\x1b[35m";
const DIM: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";

/// Prints an answer of the agenda; in color where the terminal shows it.
pub fn print(lang: Lang, words: &str) {
    if !terminal::has_color() {
        return terminal::print_line(words);
    }
    for line in words.lines() {
        let line = terminal::cleaned(line);
        let color = color_of(lang, &line);
        for part in terminal::wrapped(&line).lines() {
            terminal::print_painted(&painted(color, part));
        }
    }
}

fn painted(color: Option<&str>, line: &str) -> String {
    color.map_or_else(|| line.to_owned(), |color| format!("{color}{line}{PLAIN}"))
}

/// The color of a row: that of the todo's state, which is its second word.
fn color_of(lang: Lang, line: &str) -> Option<&'static str> {
    let mut words = line.split_whitespace();
    let is_row = words.next().is_some_and(|id| id.chars().all(|c| c.is_ascii_digit()));
    let state = words.next().filter(|_| is_row);
    match state {
        Some(word) if word == text::todo::state::overdue().in_lang(lang) => Some(RED),
        Some(word) if word == text::todo::state::today().in_lang(lang) => Some(MAGENTA),
        Some(word) if word == text::todo::state::done().in_lang(lang) => Some(DIM),
        _ if line.ends_with(&text::calendar::today().in_lang(lang)) => Some(MAGENTA),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::color_of;
    use everloop_types::Lang;

    #[test]
    fn overdue_and_today_have_their_colors_and_the_rest_has_none() {
        assert_eq!(color_of(Lang::En, "3   overdue  x"), Some("\x1b[31m"));
        assert_eq!(color_of(Lang::ZhCn, "12  今天  x"), Some("\x1b[35m"));
        assert_eq!(color_of(Lang::En, "4  done  x"), Some("\x1b[2m"));
        assert_eq!(color_of(Lang::En, "5  buy overdue milk"), None);
    }
}
