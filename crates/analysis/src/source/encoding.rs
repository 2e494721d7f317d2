//! Text in any common encoding, as UTF-8.

use super::unpack;
use super::{AnalysisError, ReadLimits, ReadNotes};
use encoding_rs::{CoderResult, Decoder, Encoding, UTF_8};
use std::io::{self, Read};
use std::path::Path;

/// How text is encoded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TextEncoding(pub(crate) &'static Encoding);

impl TextEncoding {
    /// By its byte-order mark, else UTF-8 if it is that, else by the frequency of bytes.
    pub(crate) fn detect(sample: &[u8]) -> Self {
        if let Some((found, _)) = Encoding::for_bom(sample) {
            return Self(found);
        }
        if let Some(found) = without_mark(sample) {
            return Self(found);
        }
        // A sample may end within a character.
        let is_utf8 = match std::str::from_utf8(sample) {
            Ok(_) => true,
            Err(error) => error.error_len().is_none() && sample.len() - error.valid_up_to() < 4,
        };
        if is_utf8 || is_mostly_utf8(sample) {
            return Self(UTF_8);
        }
        let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
        detector.feed(sample, true);
        let found = detector.guess(None, chardetng::Utf8Detection::Allow);
        // GB18030 holds all of GBK, and files say GBK where they mean it.
        Self(if found == encoding_rs::GBK { encoding_rs::GB18030 } else { found })
    }

    /// Whether it is neither UTF-8 nor UTF-16.
    pub(crate) fn is_of_bytes(self) -> bool {
        self.0.output_encoding() == self.0 && self.0 != UTF_8
    }

    pub(crate) fn name(self) -> String {
        self.0.name().to_owned()
    }
}

/// UTF-16 without a mark has a NUL in every other place.
fn without_mark(sample: &[u8]) -> Option<&'static Encoding> {
    let head = &sample[..sample.len().min(4_096) & !1];
    if head.len() < 8 {
        return None;
    }
    let nuls = |odd: usize| head.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd, pairs) = (nuls(0), nuls(1), head.len() / 2);
    match () {
        () if odd * 10 > pairs * 4 && even * 20 < pairs => Some(encoding_rs::UTF_16LE),
        () if even * 10 > pairs * 4 && odd * 20 < pairs => Some(encoding_rs::UTF_16BE),
        () => None,
    }
}

/// A file in UTF-8 with a few damaged places, or a few lines in another encoding, stays UTF-8: the
/// places are counted. What is wrong must be rare among what is not ASCII.
fn is_mostly_utf8(sample: &[u8]) -> bool {
    let (mut rest, mut good, mut bad) = (sample, 0_usize, 0_usize);
    loop {
        match std::str::from_utf8(rest) {
            Ok(text) => {
                good += text.chars().filter(|c| !c.is_ascii()).count();
                return good > bad * 4;
            }
            Err(error) => {
                let (fine, broken) = rest.split_at(error.valid_up_to());
                let fine = std::str::from_utf8(fine).unwrap_or_default();
                good += fine.chars().filter(|c| !c.is_ascii()).count();
                bad += 1;
                rest = &broken[error.error_len().unwrap_or(broken.len()).min(broken.len())..];
            }
        }
    }
}

/// Whether some lines are UTF-8 in a text that is not: such bytes are letters in other encodings
/// too, but wrong ones, and nothing else shows it.
pub(crate) fn has_lines_of_utf8(encoding: TextEncoding, sample: &[u8]) -> bool {
    let (mut all, mut utf8) = (0_u64, 0_u64);
    // Where letters have several bytes, two may look like one of UTF-8 by chance, three hardly
    // ever. Where they have one, two are hardly ever like one of UTF-8.
    let bytes_min = if encoding.0.is_single_byte() { 2 } else { 3 };
    for line in sample.split(|byte| *byte == b'\n').filter(|line| !line.is_ascii()) {
        let is_long = |text: &str| text.chars().any(|c| c.len_utf8() >= bytes_min);
        all += 1;
        utf8 += u64::from(std::str::from_utf8(line).is_ok_and(is_long));
    }
    utf8 * 20 > all
}

/// Text of a sample; what cannot be decoded is marked.
pub(crate) fn decode_all(encoding: TextEncoding, bytes: &[u8]) -> String {
    encoding.0.decode(bytes).0.into_owned()
}

/// Bytes that are read at once.
const CHUNK: usize = 256 * 1024;

/// A file as UTF-8, in chunks. NUL bytes are left out and counted.
pub(crate) struct TextChunks<'a> {
    reader: Box<dyn Read>,
    shown: &'a Path,
    limits: &'a ReadLimits,
    decoder: Option<Decoder>,
    raw: Vec<u8>,
    text: Vec<u8>,
    ended: bool,
    at_start: bool,
}

impl<'a> TextChunks<'a> {
    pub(crate) fn new(
        reader: Box<dyn Read>,
        shown: &'a Path,
        limits: &'a ReadLimits,
        encoding: TextEncoding,
    ) -> Self {
        // UTF-8 is checked field by field, which is faster and counts the bad places.
        let decoder = (encoding.0 != UTF_8).then(|| encoding.0.new_decoder_with_bom_removal());
        let (raw, text) = (vec![0; CHUNK], Vec::with_capacity(CHUNK * 2));
        Self { reader, shown, limits, decoder, raw, text, ended: false, at_start: true }
    }

    /// The next chunk; empty at the end.
    pub(crate) fn next(&mut self, notes: &mut ReadNotes) -> Result<&[u8], AnalysisError> {
        self.text.clear();
        while self.text.is_empty() && !self.ended {
            self.limits.check()?;
            let count = loop {
                match self.reader.read(&mut self.raw) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    other => break other,
                }
            };
            let count =
                count.map_err(|error| unpack::read_error(self.shown, self.limits, error))?;
            self.ended = count == 0;
            self.take(count, notes);
            if self.at_start && !self.text.is_empty() {
                self.at_start = false;
                if self.text.starts_with(b"\xef\xbb\xbf") {
                    self.text.drain(..3);
                }
            }
        }
        Ok(&self.text)
    }

    fn take(&mut self, count: usize, notes: &mut ReadNotes) {
        let raw = &self.raw[..count];
        match &mut self.decoder {
            None => self.text.extend_from_slice(raw),
            Some(decoder) => {
                let need = decoder.max_utf8_buffer_length(count).unwrap_or(count * 3 + 16);
                self.text.resize(need, 0);
                let (result, _, written, had_errors) =
                    decoder.decode_to_utf8(raw, &mut self.text, self.ended);
                debug_assert_eq!(result, CoderResult::InputEmpty);
                self.text.truncate(written);
                if had_errors {
                    let marks = self.text.windows(3).filter(|part| *part == b"\xef\xbf\xbd");
                    notes.bad_characters += marks.count() as u64;
                }
            }
        }
        if self.text.contains(&0) {
            let before = self.text.len();
            self.text.retain(|byte| *byte != 0);
            notes.nul_bytes += (before - self.text.len()) as u64;
        }
    }
}
