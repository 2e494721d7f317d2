//! Text with a separator: CSV, TSV and what calls itself so.

mod blanks;
mod layout;

use super::encoding::{TextChunks, TextEncoding, decode_all, has_lines_of_utf8};
use super::sniff::sample;
use super::{
    AnalysisError, COLUMNS_MAX, RawField, ReadLimits, ReadNotes, RowSink, TableSource, Unpacked,
    WantMore, unpack,
};
use blanks::BlankRuns;
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use layout::layout_of;

/// Bytes of one record; what is more is dropped.
const RECORD_BYTES_MAX: usize = 64 << 20;

/// Reads all rows.
pub(super) fn read(
    source: &TableSource,
    limits: &ReadLimits,
    sink: &mut dyn RowSink,
) -> Result<ReadNotes, AnalysisError> {
    let part = Unpacked {
        file: source.file.clone(),
        shown: source.shown.clone(),
        packing: source.packing,
        name: source.name.clone(),
    };
    let head = sample(&part, limits)?;
    limits.start_again();
    let encoding = source.encoding.unwrap_or_else(|| TextEncoding::detect(&head));
    let text = decode_all(encoding, &head).replace('\0', "");
    let layout = layout_of(text.trim_start_matches('\u{feff}'));
    let mut notes = ReadNotes {
        encoding: encoding.name(),
        mixed_encodings: encoding.is_of_bytes() && has_lines_of_utf8(encoding, &head),
        separator: Some(layout.blanks.map_or(char::from(layout.separator), |_| ' ')),
        separator_line: layout.has_separator_line,
        wide_blanks: layout.blanks.is_some_and(|least| least > 1),
        title_rows: layout.skip as u64,
        has_header: layout.has_header,
        dropped_columns: layout.header.len().saturating_sub(COLUMNS_MAX) as u64,
        ..ReadNotes::default()
    };
    let width = layout.header.len().min(COLUMNS_MAX);
    sink.begin(&layout.header[..width])?;
    let reader = unpack::open(&source.file, &source.shown, source.packing, limits)?;
    let mut chunks = TextChunks::new(reader, &source.shown, limits, encoding);
    let before = layout.skip + usize::from(layout.has_separator_line);
    let skip = before + usize::from(layout.has_header);
    let mut rows =
        RecordRows { sink, notes: &mut notes, limits, width, full: layout.header.len(), skip };
    let mut records = Records::new(layout.separator, layout.blanks.map(BlankRuns::new));
    while records.step(&mut chunks, &mut rows)? == WantMore::Yes {}
    Ok(notes)
}

/// Splits chunks into records.
struct Records {
    reader: Reader,
    blanks: Option<BlankRuns>,
    output: Vec<u8>,
    ends: Vec<usize>,
    written: usize,
    ended: usize,
    line: u64,
    too_long: bool,
    /// The last byte of the file so far.
    last_byte: u8,
}

impl Records {
    fn new(separator: u8, blanks: Option<BlankRuns>) -> Self {
        let reader = ReaderBuilder::new().delimiter(separator).build();
        let (output, ends) = (vec![0; 64 * 1024], vec![0; 256]);
        let (written, ended, line, too_long, last_byte) = (0, 0, 1, false, 0);
        Self { reader, blanks, output, ends, written, ended, line, too_long, last_byte }
    }

    /// Whether the record that the end of the file ended was inside of a quoted field: it has line
    /// ends, and no quote is the last of it.
    fn has_open_quote(&self) -> bool {
        self.output[..self.written].contains(&b'\n') && self.last_byte != b'"'
    }

    /// Takes one chunk.
    fn step(
        &mut self,
        chunks: &mut TextChunks<'_>,
        rows: &mut RecordRows<'_>,
    ) -> Result<WantMore, AnalysisError> {
        let mut input = chunks.next(rows.notes)?;
        // Without input the reader believes that the file ends here.
        let is_end = input.is_empty();
        let even: Vec<u8>;
        if let Some(blanks) = &mut self.blanks {
            even = blanks.take(input);
            input = &even;
        }
        self.last_byte = input.last().copied().unwrap_or(self.last_byte);
        loop {
            if input.is_empty() && !is_end {
                return Ok(WantMore::Yes);
            }
            let (result, read, written, ended) = self.reader.read_record(
                input,
                &mut self.output[self.written..],
                &mut self.ends[self.ended..],
            );
            input = &input[read..];
            self.written += written;
            self.ended += ended;
            match result {
                ReadRecordResult::InputEmpty => return Ok(WantMore::Yes),
                ReadRecordResult::OutputFull if self.output.len() >= RECORD_BYTES_MAX => {
                    // The rest of the record is read and dropped.
                    self.too_long = true;
                    self.written = self.ends[..self.ended].last().copied().unwrap_or(0);
                }
                ReadRecordResult::OutputFull => self.output.resize(self.output.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::Record => {
                    let line = std::mem::replace(&mut self.line, self.reader.line());
                    if is_end && self.has_open_quote() {
                        rows.notes.broken_rows += 1;
                        rows.notes
                            .example(line, "a quote is never closed; what follows it is lost");
                    } else if std::mem::take(&mut self.too_long) {
                        rows.notes.broken_rows += 1;
                        rows.notes.example(line, "longer than 64 MiB: is a quote never closed?");
                    } else {
                        let fields = (&self.output[..self.written], &self.ends[..self.ended]);
                        if rows.take(fields.0, fields.1, line)? == WantMore::No {
                            return Ok(WantMore::No);
                        }
                    }
                    (self.written, self.ended) = (0, 0);
                }
                ReadRecordResult::End => return Ok(WantMore::No),
            }
        }
    }
}

/// Hands records on as rows of the right width.
struct RecordRows<'a> {
    sink: &'a mut dyn RowSink,
    notes: &'a mut ReadNotes,
    limits: &'a ReadLimits,
    /// Columns that are kept.
    width: usize,
    /// Columns that the header has.
    full: usize,
    skip: usize,
}

impl RecordRows<'_> {
    fn take(&mut self, bytes: &[u8], ends: &[usize], line: u64) -> Result<WantMore, AnalysisError> {
        if self.skip > 0 {
            self.skip -= 1;
            return Ok(WantMore::Yes);
        }
        let lossy;
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => {
                self.notes.letters.good += u64::from(!text.is_ascii());
                text
            }
            Err(_) => {
                self.notes.odd_record(bytes);
                lossy = LossyRecord::new(bytes, ends);
                self.notes.bad_characters += lossy.bad;
                if self.notes.bad_characters == lossy.bad {
                    self.notes.example(line, &lossy.text);
                }
                return self.hand_on(&lossy.text, &lossy.ends, line);
            }
        };
        self.hand_on(text, ends, line)
    }

    fn hand_on(
        &mut self,
        text: &str,
        ends: &[usize],
        line: u64,
    ) -> Result<WantMore, AnalysisError> {
        // A line with nothing on it, or blanks alone, is no row.
        if ends.len() == 1 && text.trim().is_empty() && self.full > 1 {
            return Ok(WantMore::Yes);
        }
        if ends.len() != self.full {
            self.notes.uneven_rows += 1;
            self.notes.example(line, &format!("{} fields, not {}: {text}", ends.len(), self.full));
        }
        let mut fields = Vec::with_capacity(self.width);
        let mut start = 0;
        for end in ends.iter().take(self.width) {
            let field = text.get(start..*end).unwrap_or_default();
            start = *end;
            fields.push(RawField::Text(self.cut(field)));
        }
        fields.resize(self.width, RawField::Null);
        self.sink.row(&fields)
    }

    fn cut<'t>(&mut self, field: &'t str) -> &'t str {
        if field.len() <= self.limits.cell_bytes_max {
            return field;
        }
        self.notes.cut_cells += 1;
        &field[..field.floor_char_boundary(self.limits.cell_bytes_max)]
    }
}

/// A record with bytes that are no UTF-8.
struct LossyRecord {
    text: String,
    ends: Vec<usize>,
    bad: u64,
}

impl LossyRecord {
    fn new(bytes: &[u8], ends: &[usize]) -> Self {
        let mut lossy = Self { text: String::new(), ends: Vec::new(), bad: 0 };
        let mut start = 0;
        for end in ends {
            let field = String::from_utf8_lossy(&bytes[start..*end]);
            lossy.bad += field.chars().filter(|c| *c == '\u{fffd}').count() as u64;
            lossy.text.push_str(&field);
            lossy.ends.push(lossy.text.len());
            start = *end;
        }
        lossy
    }
}
