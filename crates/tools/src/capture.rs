//! Keeps a bounded part of an unbounded output: its beginning and its end.

use crate::clean::{Cleaner, clean};
use crate::clip::{self, ClipGap};
use everloop_ports::OnOutput;
use std::collections::VecDeque;

/// What is kept of an output. The writer never blocks: the excess is read and dropped.
pub(crate) struct Capture {
    half_max: usize,
    start: Vec<u8>,
    end: VecDeque<u8>,
    gap: ClipGap,
    live: Option<LiveOutput>,
}

/// Forwards the output while it arrives, as far as it is kept in memory.
struct LiveOutput {
    cleaner: Cleaner,
    on_output: OnOutput,
    bytes_left: usize,
}

impl Capture {
    pub(crate) fn new(bytes_max: usize, on_output: Option<OnOutput>) -> Self {
        let live = on_output.map(|on_output| LiveOutput {
            cleaner: Cleaner::default(),
            on_output,
            bytes_left: bytes_max,
        });
        let half_max = bytes_max / 2;
        Self { half_max, start: Vec::new(), end: VecDeque::new(), gap: ClipGap::default(), live }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if let Some(live) = &mut self.live {
            live.push(bytes);
        }
        let to_start = bytes.len().min(self.half_max - self.start.len());
        self.start.extend_from_slice(&bytes[..to_start]);
        self.end.extend(&bytes[to_start..]);
        let excess = self.end.len().saturating_sub(self.half_max);
        self.drop_first(excess);
    }

    fn drop_first(&mut self, n: usize) {
        let lines = self.end.drain(..n).filter(|byte| *byte == b'\n').count();
        self.gap.bytes += n as u64;
        self.gap.lines += lines as u64;
    }

    /// The clean text of it, in at most `chars_max` characters.
    pub(crate) fn text(mut self, chars_max: usize) -> String {
        if self.gap.bytes == 0 {
            self.start.extend(&self.end);
            return clip::ends(&clean(&self.start), chars_max);
        }
        // The end starts at a line, or at least not within a character.
        let newline = self.end.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let whole = self.end.iter().position(|byte| byte & 0xc0 != 0x80);
        self.drop_first(newline.filter(|at| *at < self.end.len()).or(whole).unwrap_or(0));
        // So does the beginning end with a line: a secret that the gap tears apart is left out.
        let last = self.start.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
        if let Some(torn) = last.map(|at| self.start.split_off(at)) {
            self.gap.bytes += torn.len() as u64;
        }
        // Without `finish` a character that the gap tore apart is left out.
        let start = Cleaner::default().push(&self.start);
        clip::around(&start, self.gap, &clean(self.end.make_contiguous()), chars_max)
    }

    /// The bytes that were kept: all of them, if no more came than are kept.
    pub(crate) fn bytes(mut self) -> Vec<u8> {
        self.start.extend(&self.end);
        self.start
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start.is_empty()
    }
}

impl LiveOutput {
    fn push(&mut self, bytes: &[u8]) {
        let shown = bytes.len().min(self.bytes_left);
        self.bytes_left -= shown;
        let text = self.cleaner.push(&bytes[..shown]);
        if !text.is_empty() {
            (self.on_output)(&text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[test]
    fn a_short_output_is_kept_whole_even_if_it_comes_in_torn_pieces() {
        let mut capture = Capture::new(100, None);
        for byte in "größe\n漢字\n".bytes() {
            capture.push(&[byte]);
        }
        assert_eq!(capture.text(100), "größe\n漢字\n");
    }

    #[test]
    fn a_long_output_keeps_its_ends_and_counts_the_rest() {
        let mut capture = Capture::new(20, None);
        for n in 0..100_000 {
            capture.push(format!("line {n}\n").as_bytes());
            assert!(capture.start.len() + capture.end.len() <= 20);
        }
        let text = capture.text(1_000);
        assert!(text.starts_with("line 0\n"), "{text}");
        assert!(text.ends_with("left out]\nline 99999\n") || text.ends_with("e 99999\n"), "{text}");
    }

    #[test]
    fn a_character_torn_by_the_gap_is_left_out() {
        let mut capture = Capture::new(8, None);
        capture.push("漢".repeat(10).as_bytes());
        let text = capture.text(1_000);
        assert_eq!(text, "漢\n[0 lines, 23 bytes left out]\n漢");
    }

    #[test]
    fn a_watcher_gets_clean_text_up_to_the_limit() {
        let seen = Arc::new(Mutex::new(String::new()));
        let sink = Arc::clone(&seen);
        let watcher: OnOutput = Arc::new(move |text| sink.lock().unwrap().push_str(text));
        let mut capture = Capture::new(12, Some(watcher));
        capture.push(b"\x1b[1");
        capture.push(b"mbold\0\n");
        capture.push(&[b'x'; 1_000]);
        assert_eq!(*seen.lock().unwrap(), "bold\nxx");
    }
}
