//! The records of one JSON value, cut out of its text one by one: nothing but a record is held.
//!
//! ```text
//!   [ {…}, {…} ]                       each element is a record
//!   { "total": 2, "data": [ {…} ] }    the first list of objects is the table, the rest is named
//!   { "name": "x", "tags": [1, 2] }    without such a list, the object is one record
//! ```

use super::{AnalysisError, OnRecord, ReadLimits, ReadNotes, TableSource, Utf8Reader, WantMore};
use serde_json::value::RawValue;

/// Bytes of the longest record; a longer one is left out.
const RECORD_BYTES_MAX: usize = 64 << 20;

/// Names of what was left out that are told.
const NAMES_MAX: usize = 20;

/// Why the rest of a file is not read.
pub(super) enum StreamEnd {
    /// It cannot be, or somebody asked to stop.
    Failed(AnalysisError),
    /// Nothing more is wanted.
    Enough,
    /// It is no JSON from here on.
    Broken(&'static str),
}

type Streamed<T> = Result<T, StreamEnd>;

/// A value that was cut out.
struct JsonPiece {
    bytes: Vec<u8>,
    /// Whether there was more of it than is held.
    is_cut: bool,
}

/// The fields of an object that is one record, or that holds a table.
#[derive(Default)]
struct OwnFields {
    has_table: bool,
    /// The fields as JSON, as long as there is no table.
    text: String,
    /// Their names.
    names: Vec<String>,
    is_cut: bool,
}

impl OwnFields {
    fn take(&mut self, name: String, value: &JsonPiece) {
        self.is_cut |= value.is_cut;
        if !self.has_table && !value.is_cut {
            if !self.text.is_empty() {
                self.text.push(',');
            }
            self.text.push_str(&serde_json::Value::from(name.as_str()).to_string());
            self.text.push(':');
            self.text.push_str(&String::from_utf8_lossy(&value.bytes));
        }
        if self.names.len() < NAMES_MAX {
            self.names.push(name);
        }
    }
}

/// Cuts records out of a stream.
pub(super) struct RecordStream<'a, 'b> {
    reader: Utf8Reader<'a>,
    limits: &'a ReadLimits,
    chunk: Vec<u8>,
    at: usize,
    line: u64,
    notes: &'b mut ReadNotes,
    take: &'b mut OnRecord<'b>,
}

/// Hands on the records of a file that is one value.
pub(super) fn each_of_value(
    source: &TableSource,
    limits: &ReadLimits,
    notes: &mut ReadNotes,
    take: &mut OnRecord<'_>,
) -> Result<(), AnalysisError> {
    let reader = Utf8Reader::open(source, limits)?;
    let mut own = ReadNotes::default();
    let mut hand_on = |record: &RawValue| take(record);
    let mut stream = RecordStream {
        reader,
        limits,
        chunk: Vec::new(),
        at: 0,
        line: 1,
        notes: &mut own,
        take: &mut hand_on,
    };
    let ended = stream.whole();
    let (line, read) = (stream.line, stream.reader.notes);
    notes.broken_rows += own.broken_rows;
    notes.cut_cells += own.cut_cells;
    notes.bad_characters += read.bad_characters;
    notes.nul_bytes += read.nul_bytes;
    notes.encoding = read.encoding;
    notes.left_out = own.left_out;
    notes.examples.extend(own.examples);
    match ended {
        Ok(()) | Err(StreamEnd::Enough) => Ok(()),
        Err(StreamEnd::Failed(error)) => Err(error),
        Err(StreamEnd::Broken(why)) => {
            // What was whole before is kept, and the break is told.
            notes.broken_rows += 1;
            notes.example(line, why);
            Ok(())
        }
    }
}

impl RecordStream<'_, '_> {
    fn whole(&mut self) -> Streamed<()> {
        match self.peek_value()? {
            b'[' => {
                self.at += 1;
                self.elements()?;
            }
            b'{' => {
                self.at += 1;
                self.object()?;
            }
            _ => {
                let value = self.value(Vec::new(), RECORD_BYTES_MAX)?;
                self.hand_on(&value)?;
            }
        }
        match self.peek_after_space()? {
            None => Ok(()),
            Some(_) => Err(StreamEnd::Broken("something follows the end of the value")),
        }
    }

    /// The elements of a list whose bracket was read, each a record.
    fn elements(&mut self) -> Streamed<()> {
        if self.peek_value()? == b']' {
            self.at += 1;
            return Ok(());
        }
        loop {
            let value = self.value(Vec::new(), RECORD_BYTES_MAX)?;
            self.hand_on(&value)?;
            if self.separator(b']')? == b']' {
                return Ok(());
            }
        }
    }

    /// The fields of an object whose brace was read.
    fn object(&mut self) -> Streamed<()> {
        let mut own = OwnFields::default();
        if self.peek_value()? == b'}' {
            self.at += 1;
            return Ok(());
        }
        loop {
            let name = self.field_name()?;
            let mut start = Vec::new();
            let mut is_table = false;
            if self.peek_value()? == b'[' {
                self.at += 1;
                start.push(b'[');
                is_table = !own.has_table && self.peek_value()? == b'{';
            }
            if is_table {
                (own.has_table, own.text) = (true, String::new());
                self.elements()?;
            } else {
                // Beside a table nothing is held but the names.
                let most =
                    if own.has_table { 0 } else { RECORD_BYTES_MAX.saturating_sub(own.text.len()) };
                own.take(name, &self.value(start, most)?);
            }
            if self.separator(b'}')? == b'}' {
                break;
            }
        }
        if own.has_table {
            self.notes.left_out = own.names;
            return Ok(());
        }
        self.notes.broken_rows += u64::from(own.is_cut);
        let bytes = format!("{{{}}}", own.text).into_bytes();
        self.hand_on(&JsonPiece { bytes, is_cut: false })
    }

    /// The name of a field, with its colon.
    fn field_name(&mut self) -> Streamed<String> {
        let key = self.value(Vec::new(), RECORD_BYTES_MAX)?;
        let Ok(name) = serde_json::from_slice::<String>(&key.bytes) else {
            return Err(StreamEnd::Broken("a name is expected here"));
        };
        if self.peek_value()? != b':' {
            return Err(StreamEnd::Broken("a colon is expected here"));
        }
        self.at += 1;
        Ok(name)
    }

    /// What stands between two elements, or ends them.
    fn separator(&mut self, end: u8) -> Streamed<u8> {
        let found = self.peek_value()?;
        if found != b',' && found != end {
            return Err(StreamEnd::Broken("a comma is expected here"));
        }
        self.at += 1;
        Ok(found)
    }

    fn hand_on(&mut self, piece: &JsonPiece) -> Streamed<()> {
        let text = String::from_utf8_lossy(&piece.bytes);
        let record = serde_json::from_str::<&RawValue>(text.trim()).ok().filter(|_| !piece.is_cut);
        let Some(record) = record else {
            self.notes.broken_rows += 1;
            self.notes.example(self.line, &text);
            return Ok(());
        };
        match (self.take)(record) {
            Ok(WantMore::Yes) => Ok(()),
            Ok(WantMore::No) => Err(StreamEnd::Enough),
            Err(error) => Err(StreamEnd::Failed(error)),
        }
    }

    /// One value as it is written, from where the stream is; `start` was read of it before. What is
    /// beyond `most` is read and dropped.
    fn value(&mut self, start: Vec<u8>, most: usize) -> Streamed<JsonPiece> {
        let mut depth = start.len();
        let mut piece = JsonPiece { bytes: start, is_cut: false };
        let first = self.peek_value()?;
        if depth == 0 && b",:]}".contains(&first) {
            return Err(StreamEnd::Broken("a value is expected here"));
        }
        let (mut in_string, mut is_escaped) = (false, false);
        loop {
            let Some(byte) = self.peek()? else {
                return match depth == 0 && !in_string {
                    true => Ok(piece),
                    false => Err(StreamEnd::Broken("the file ends within a value")),
                };
            };
            let is_plain = depth == 0 && !in_string;
            let has_begun = !piece.bytes.is_empty() || piece.is_cut;
            if is_plain && has_begun && (b",:]}".contains(&byte) || byte.is_ascii_whitespace()) {
                return Ok(piece);
            }
            self.at += 1;
            self.line += u64::from(byte == b'\n');
            match piece.bytes.len() < most {
                true => piece.bytes.push(byte),
                false => piece.is_cut = true,
            }
            match (in_string, byte) {
                (true, _) if is_escaped => is_escaped = false,
                (true, b'\\') => is_escaped = true,
                (true, b'"') => in_string = false,
                (true, _) => continue,
                (false, b'"') => in_string = true,
                (false, b'[' | b'{') => depth += 1,
                (false, b']' | b'}') => depth -= 1,
                (false, _) => {}
            }
            let is_closed = depth == 0 && !in_string && b"\"]}".contains(&byte);
            if is_closed {
                return Ok(piece);
            }
        }
    }

    /// The next byte that is no blank, which must be there.
    fn peek_value(&mut self) -> Streamed<u8> {
        let found = self.peek_after_space()?;
        found.ok_or(StreamEnd::Broken("the file ends within a value"))
    }

    fn peek_after_space(&mut self) -> Streamed<Option<u8>> {
        while let Some(byte) = self.peek()? {
            if !byte.is_ascii_whitespace() {
                return Ok(Some(byte));
            }
            self.line += u64::from(byte == b'\n');
            self.at += 1;
        }
        Ok(None)
    }

    fn peek(&mut self) -> Streamed<Option<u8>> {
        if self.at == self.chunk.len() {
            self.limits.check().map_err(StreamEnd::Failed)?;
            let Utf8Reader { chunks, notes } = &mut self.reader;
            self.chunk = chunks.next(notes).map_err(StreamEnd::Failed)?.to_vec();
            self.at = 0;
        }
        Ok(self.chunk.get(self.at).copied())
    }
}
