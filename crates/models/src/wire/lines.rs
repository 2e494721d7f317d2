//! Bytes into lines, and lines into the data of server-sent events.

use memchr::memchr;

/// Cuts a stream into lines. A line that lies whole within a chunk is borrowed from it; only one
/// that spans chunks is copied.
#[derive(Debug, Default)]
pub(super) struct LineBuffer {
    open: Vec<u8>,
}

impl LineBuffer {
    /// Gives each finished line, without its line end, to `each` until that fails.
    pub(super) fn feed<E>(
        &mut self,
        mut chunk: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some(end) = memchr(b'\n', chunk) {
            let (line, rest) = (&chunk[..end], &chunk[end + 1..]);
            chunk = rest;
            if self.open.is_empty() {
                each(trim_cr(line))?;
            } else {
                self.open.extend_from_slice(line);
                let whole = std::mem::take(&mut self.open);
                each(trim_cr(&whole))?;
                self.open = whole;
                self.open.clear();
            }
        }
        self.open.extend_from_slice(chunk);
        Ok(())
    }

    /// How much of a line is held back because its end is not there yet.
    pub(super) fn held(&self) -> usize {
        self.open.len()
    }

    /// The last line, if the stream ended without a line end.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        let mut last = std::mem::take(&mut self.open);
        last.truncate(trim_cr(&last).len());
        last
    }
}

fn trim_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// What a line of the stream means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SseLine<'a> {
    /// The end of an event.
    Blank,
    /// A piece of an event's data.
    Data(&'a [u8]),
    /// A comment, a keep-alive, or a field that carries nothing for us.
    Nothing,
    /// Not a server-sent event.
    Stranger(&'a [u8]),
}

/// The fields that carry nothing for us; the first begins a comment.
const SILENT: [&[u8]; 4] = [b":", b"event:", b"id:", b"retry:"];

/// `error:` is what older llama.cpp servers write in place of `data:`.
const SPEAKING: [&[u8]; 2] = [b"data:", b"error:"];

impl<'a> SseLine<'a> {
    /// Whether a stream that ends in this line, which lacks its end, broke off inside of the name
    /// of a field.
    pub(super) fn is_torn(last: &[u8]) -> bool {
        SILENT.iter().chain(&SPEAKING).any(|field| field.starts_with(last))
    }

    /// A bare object in the middle of a stream is an error of a gateway.
    pub(super) fn read(line: &'a [u8]) -> Self {
        if line.is_empty() {
            return Self::Blank;
        }
        for field in SPEAKING {
            if let Some(value) = line.strip_prefix(field) {
                return Self::Data(value.strip_prefix(b" ").unwrap_or(value));
            }
        }
        if SILENT.iter().any(|field| line.starts_with(field)) || line == b"data" {
            return Self::Nothing;
        }
        if line.trim_ascii_start().starts_with(b"{") {
            return Self::Data(line);
        }
        Self::Stranger(line)
    }
}
