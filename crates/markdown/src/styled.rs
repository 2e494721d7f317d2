//! Lines of the program itself: parts with a tone, wrapped and painted as answers are.

use crate::paint::{Color, Look, TerminalStyle, TextSpan, paint};
use crate::wrap::{display_width, wrap};

/// What a part of a line means. A tone never carries meaning alone: words or marks say the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// As other text.
    Plain,
    /// Beside the point: usage, folded results.
    Dim,
    /// What is looked for first.
    Strong,
    /// It went well.
    Good,
    /// It went wrong.
    Bad,
    /// It wants attention.
    Warning,
    /// A name, a command.
    Accent,
}

impl Tone {
    fn look(self) -> Look {
        match self {
            Self::Plain => Look::default(),
            Self::Dim => Look::DIM,
            Self::Strong => Look { bold: true, ..Look::default() },
            Self::Good => Look::colored(Color::Green),
            Self::Bad => Look::colored(Color::Red),
            Self::Warning => Look::colored(Color::Magenta),
            Self::Accent => Look::colored(Color::Cyan),
        }
    }
}

/// One line of the program, of parts. Controls are removed from its text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StyledLine {
    parts: Vec<(Tone, String)>,
    indent: usize,
}

impl StyledLine {
    /// A line of one part.
    #[must_use]
    pub fn new(tone: Tone, text: &str) -> Self {
        Self::default().with(tone, text)
    }

    /// The line with another part behind it.
    #[must_use]
    pub fn with(mut self, tone: Tone, text: &str) -> Self {
        self.parts.push((tone, TextSpan::plain(text).text));
        self
    }

    /// The line with another part before it.
    #[must_use]
    pub fn after(mut self, tone: Tone, text: &str) -> Self {
        self.parts.insert(0, (tone, TextSpan::plain(text).text));
        self
    }

    /// The line where it is wrapped continues below this column.
    #[must_use]
    pub fn hanging(mut self, columns: usize) -> Self {
        self.indent = columns;
        self
    }

    /// The line with each part's text replaced.
    #[must_use]
    pub fn map_text(mut self, change: impl Fn(&str) -> String) -> Self {
        for (_, text) in &mut self.parts {
            *text = change(text);
        }
        self
    }

    /// Its text alone.
    #[must_use]
    pub fn plain(&self) -> String {
        self.parts.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// Wrapped to the width and painted.
    #[must_use]
    pub fn lines(&self, style: &TerminalStyle) -> Vec<String> {
        let spans = self.spans();
        if display_width(&self.plain()) <= style.width && !self.plain().contains('\n') {
            return vec![paint(&spans, style)];
        }
        let indent = self.indent.min(style.width / 2);
        let lines = wrap(&spans, style.width - indent);
        let below = TextSpan::plain(&" ".repeat(indent));
        let painted = lines.into_iter().enumerate().map(|(index, mut line)| {
            if index > 0 {
                line.insert(0, below.clone());
            }
            paint(&line, style)
        });
        painted.collect()
    }

    /// On one line of at most the width, painted; what does not fit is left out.
    #[must_use]
    pub fn clipped(&self, style: &TerminalStyle) -> String {
        let plain = self.plain();
        if display_width(&plain) <= style.width {
            return paint(&self.spans(), style);
        }
        let mut room = style.width.saturating_sub(1);
        let mut spans = Vec::new();
        for span in self.spans() {
            let kept = fitting(&span.text, room);
            room -= display_width(kept);
            let is_cut = kept.len() < span.text.len();
            spans.push(span.part(kept));
            if is_cut {
                break;
            }
        }
        spans.push(TextSpan::plain(if style.unicode { "…" } else { "~" }));
        paint(&spans, style)
    }

    fn spans(&self) -> Vec<TextSpan> {
        self.parts.iter().map(|(tone, text)| TextSpan::new(text, tone.look())).collect()
    }
}

/// The beginning of a text that fits into so many columns.
fn fitting(text: &str, columns: usize) -> &str {
    use unicode_segmentation::UnicodeSegmentation;
    let mut taken = 0;
    let end = text.grapheme_indices(true).find(|(_, character)| {
        taken += display_width(character);
        taken > columns
    });
    end.map_or(text, |(at, _)| &text[..at])
}
