//! The completion mark, taken out of what people read, also where it comes in pieces (TD-4).

/// Removes the mark from a streamed text. Text that may begin the mark is held back.
#[derive(Debug, Clone)]
pub struct MarkFilter {
    mark: String,
    held: String,
    /// Whether the mark was right before the next text.
    cut: bool,
    /// Whether the text released so far ends in a blank, or is empty.
    blank: bool,
}

impl MarkFilter {
    /// A text that has not begun.
    #[must_use]
    pub fn new(mark: &str) -> Self {
        Self { mark: mark.to_owned(), held: String::new(), cut: false, blank: true }
    }

    /// What can be shown once this piece has come.
    pub fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let mut shown = String::new();
        while let Some(at) = self.held.find(&self.mark).filter(|_| !self.mark.is_empty()) {
            let rest = self.held.split_off(at + self.mark.len());
            let mut before = std::mem::replace(&mut self.held, rest);
            before.truncate(at);
            self.let_go(&before, &mut shown);
            self.cut = true;
        }
        let rest = self.held.split_off(self.held.len() - self.begun());
        let sure = std::mem::replace(&mut self.held, rest);
        self.let_go(&sure, &mut shown);
        shown
    }

    /// The end of the text: what was held back was no mark.
    pub fn finish(&mut self) -> String {
        let mut shown = String::new();
        let held = std::mem::take(&mut self.held);
        self.let_go(&held, &mut shown);
        (self.cut, self.blank) = (false, true);
        shown
    }

    /// How many bytes at the end may be the beginning of the mark.
    fn begun(&self) -> usize {
        let mut parts = self.mark.char_indices().map(|(at, _)| at).rev();
        parts.find(|at| self.held.ends_with(&self.mark[..*at])).unwrap_or(0)
    }

    /// Where the mark stood between two blanks, one is left.
    fn let_go(&mut self, text: &str, shown: &mut String) {
        let doubled = self.cut && self.blank;
        let text = match text.strip_prefix(char::is_whitespace) {
            Some(rest) if doubled => rest,
            _ => text,
        };
        if let Some(last) = text.chars().next_back() {
            (self.cut, self.blank) = (false, last.is_whitespace());
            shown.push_str(text);
        }
    }
}

/// A whole text without the mark, and without blanks at its ends where it had one.
#[must_use]
pub fn without_mark(text: &str, mark: &str) -> String {
    if mark.is_empty() || !text.contains(mark) {
        return text.to_owned();
    }
    let mut unmarked = MarkFilter::new(mark);
    let shown = unmarked.push(text) + &unmarked.finish();
    shown.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::{MarkFilter, without_mark};

    const MARK: &str = "[完成 DONE]";

    fn streamed(pieces: &[&str]) -> String {
        let mut unmarked = MarkFilter::new(MARK);
        let shown: String = pieces.iter().map(|piece| unmarked.push(piece)).collect();
        shown + &unmarked.finish()
    }

    #[test]
    fn a_mark_in_pieces_is_not_shown_wherever_it_is_torn() {
        let whole = format!("All is well! {MARK} 5 [done] 完");
        for (at, _) in whole.char_indices() {
            let (one, other) = whole.split_at(at);
            assert_eq!(streamed(&[one, other]), "All is well! 5 [done] 完", "torn at {at}");
        }
        let letters: Vec<String> = whole.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(streamed(&letters), "All is well! 5 [done] 完");
    }

    #[test]
    fn what_only_begins_like_the_mark_is_shown_as_soon_as_that_is_sure() {
        let mut unmarked = MarkFilter::new(MARK);
        assert_eq!(unmarked.push("see [完成"), "see ");
        assert_eq!(unmarked.push(" or not"), "[完成 or not");
        assert_eq!(unmarked.push(" [[完"), " [");
        assert_eq!(unmarked.finish(), "[完");
    }

    #[test]
    fn where_it_stood_one_blank_is_left() {
        for (text, shown) in [
            (format!("a {MARK} b"), "a b"),
            (format!("a{MARK}b"), "ab"),
            (format!("a\n{MARK}\n\nb"), "a\n\nb"),
            (format!("{MARK}\na {MARK}"), "a"),
            (format!("a {MARK} {MARK} b"), "a b"),
            (" plain  text ".to_owned(), " plain  text "),
        ] {
            assert_eq!(without_mark(&text, MARK), shown, "{text:?}");
        }
        assert_eq!(without_mark("as it is", ""), "as it is");
    }
}
