//! Fields that blanks separate, as in text that is aligned for people.

/// Puts one separator in the place of each run of blanks.
#[derive(Debug, Clone)]
pub(super) struct BlankRuns {
    /// So many blanks separate; fewer are part of a field.
    least: usize,
    run: usize,
    at_start: bool,
    is_quoted: bool,
}

impl BlankRuns {
    /// What stands in the place of blanks; it is in no text.
    pub(super) const SEPARATOR: u8 = 0x1f;

    pub(super) fn new(least: usize) -> Self {
        Self { least, run: 0, at_start: true, is_quoted: false }
    }

    /// Takes the next part of a text. Blanks at both ends of a line go.
    pub(super) fn take(&mut self, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len());
        for byte in text {
            match byte {
                byte if self.is_quoted => {
                    self.is_quoted = *byte != b'"';
                    out.push(*byte);
                }
                b' ' => self.run += 1,
                b'\n' | b'\r' => {
                    (self.run, self.at_start) = (0, true);
                    out.push(*byte);
                }
                byte => {
                    let is_first = self.at_start || self.run >= self.least;
                    match self.run {
                        _ if self.at_start => {}
                        run if run >= self.least => out.push(Self::SEPARATOR),
                        run => out.extend(std::iter::repeat_n(b' ', run)),
                    }
                    (self.run, self.at_start) = (0, false);
                    self.is_quoted = is_first && *byte == b'"';
                    out.push(*byte);
                }
            }
        }
        out
    }
}
