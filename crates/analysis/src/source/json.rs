//! JSON: an array of objects, an object that holds one, or a value a line.

mod stream;

use super::encoding::{TextChunks, TextEncoding};
use super::{
    AnalysisError, COLUMNS_MAX, RawField, ReadLimits, ReadNotes, RowSink, TableSource, Unpacked,
    WantMore, sniff, unpack,
};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::cell::RefCell;
use std::fmt;
use stream::each_of_value;

/// Records whose keys are looked at to find the columns.
const KEYS_FROM: usize = 20_000;

/// How deep objects are spread into columns; deeper ones stay JSON.
const DEPTH_MAX: usize = 3;

/// Takes one record; false if no more are wanted.
type OnRecord<'a> = dyn FnMut(&RawValue) -> Result<WantMore, AnalysisError> + 'a;

/// Bytes of the longest line.
const LINE_BYTES_MAX: usize = 64 << 20;

/// Reads one JSON value.
pub(super) fn read(
    source: &TableSource,
    limits: &ReadLimits,
    sink: &mut dyn RowSink,
) -> Result<ReadNotes, AnalysisError> {
    spread(source, limits, sink, |notes, take| each_of_value(source, limits, notes, take))
}

/// Reads one value a line.
pub(super) fn read_lines(
    source: &TableSource,
    limits: &ReadLimits,
    sink: &mut dyn RowSink,
) -> Result<ReadNotes, AnalysisError> {
    spread(source, limits, sink, |notes, take| each_line(source, limits, notes, take))
}

/// Finds the columns in the first records, then hands on all.
fn spread(
    source: &TableSource,
    limits: &ReadLimits,
    sink: &mut dyn RowSink,
    each: impl Fn(&mut ReadNotes, &mut OnRecord<'_>) -> Result<(), AnalysisError>,
) -> Result<ReadNotes, AnalysisError> {
    let mut columns: Vec<String> = Vec::new();
    let mut known = std::collections::HashSet::new();
    let mut seen = 0_usize;
    each(&mut ReadNotes::default(), &mut |record| {
        for (name, _) in fields_of(record) {
            if known.insert(name.clone()) {
                columns.push(name);
            }
        }
        seen += 1;
        Ok(if seen < KEYS_FROM { WantMore::Yes } else { WantMore::No })
    })?;
    if columns.is_empty() {
        return Err(source.no_table("it holds no objects or values"));
    }
    limits.start_again();
    let mut notes = ReadNotes { encoding: "UTF-8".to_owned(), ..ReadNotes::default() };
    notes.dropped_columns = columns.len().saturating_sub(COLUMNS_MAX) as u64;
    columns.truncate(COLUMNS_MAX);
    sink.begin(&columns)?;
    let places: std::collections::HashMap<&str, usize> =
        columns.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    let mut line = 0;
    let late = RefCell::new(ReadNotes::default());
    let most = limits.cell_bytes_max;
    each(&mut notes, &mut |record| {
        line += 1;
        let mut found = fields_of(record);
        let cut = found.iter_mut().map(|(_, field)| u64::from(field.cut(most))).sum::<u64>();
        late.borrow_mut().cut_cells += cut;
        let mut row: Vec<JsonField> = vec![JsonField::Null; columns.len()];
        for (name, value) in found {
            match places.get(name.as_str()) {
                Some(at) => row[*at] = value,
                None => {
                    let mut late = late.borrow_mut();
                    late.uneven_rows += 1;
                    late.example(line, &format!("the key {name} comes too late to be a column"));
                }
            }
        }
        let fields: Vec<RawField<'_>> = row.iter().map(JsonField::raw).collect();
        sink.row(&fields)
    })?;
    let late = late.into_inner();
    notes.uneven_rows += late.uneven_rows;
    notes.cut_cells += late.cut_cells;
    notes.examples.extend(late.examples);
    Ok(notes)
}

/// One field of a record. Numbers are kept as they are written, so that no digit is lost.
#[derive(Debug, Clone, PartialEq)]
enum JsonField {
    Null,
    Bool(bool),
    Int(i64),
    /// Any other number, as it is written.
    Number(String),
    Text(String),
}

impl JsonField {
    fn of(value: &RawValue) -> Self {
        let text = value.get().trim();
        match text.bytes().next() {
            None | Some(b'n') => Self::Null,
            Some(b't') => Self::Bool(true),
            Some(b'f') => Self::Bool(false),
            Some(b'"') => {
                let inside = serde_json::from_str::<String>(text);
                Self::Text(inside.unwrap_or_else(|_| text.to_owned()).replace('\0', ""))
            }
            // Lists and objects that are too deep stay JSON.
            Some(b'[' | b'{') => Self::Text(text.to_owned()),
            Some(_) => text.parse().map_or_else(|_| Self::Number(text.to_owned()), Self::Int),
        }
    }

    /// Cuts a text that is too long; whether it was.
    fn cut(&mut self, most: usize) -> bool {
        match self {
            Self::Text(text) if text.len() > most => {
                text.truncate(text.floor_char_boundary(most));
                true
            }
            _ => false,
        }
    }

    fn raw(&self) -> RawField<'_> {
        match self {
            Self::Null => RawField::Null,
            Self::Bool(yes) => RawField::Bool(*yes),
            Self::Int(number) => RawField::Int(*number),
            Self::Number(digits) => RawField::Number(digits),
            Self::Text(text) => RawField::Text(text),
        }
    }
}

/// The fields of an object, in the order of the file.
struct ObjectFields(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for ObjectFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;
        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = ObjectFields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ObjectFields, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry::<String, Box<RawValue>>()? {
                    fields.push(field);
                }
                Ok(ObjectFields(fields))
            }
        }
        deserializer.deserialize_map(FieldsVisitor)
    }
}

fn is_object(value: &RawValue) -> bool {
    value.get().trim_start().starts_with('{')
}

/// The fields of a record; objects within are spread as `a.b`.
fn fields_of(record: &RawValue) -> Vec<(String, JsonField)> {
    let mut fields = Vec::new();
    let text = record.get().trim();
    if let Ok(ObjectFields(own)) = serde_json::from_str(text) {
        flatten(own, "", 1, &mut fields);
    } else if let Ok(values) = serde_json::from_str::<Vec<Box<RawValue>>>(text) {
        for (at, value) in values.iter().enumerate() {
            fields.push((format!("column_{}", at + 1), JsonField::of(value)));
        }
    } else {
        fields.push(("value".to_owned(), JsonField::of(record)));
    }
    fields
}

fn flatten(
    own: Vec<(String, Box<RawValue>)>,
    before: &str,
    depth: usize,
    into: &mut Vec<(String, JsonField)>,
) {
    for (key, value) in own {
        let name = if before.is_empty() { key } else { format!("{before}.{key}") };
        let inner = (depth < DEPTH_MAX && is_object(&value))
            .then(|| serde_json::from_str::<ObjectFields>(value.get()).ok())
            .flatten();
        match inner {
            Some(ObjectFields(inner)) if !inner.is_empty() => {
                flatten(inner, &name, depth + 1, into);
            }
            _ => into.push((name, JsonField::of(&value))),
        }
    }
}

/// A file as UTF-8, whatever it is encoded in.
struct Utf8Reader<'a> {
    chunks: TextChunks<'a>,
    notes: ReadNotes,
}

impl<'a> Utf8Reader<'a> {
    fn open(source: &'a TableSource, limits: &'a ReadLimits) -> Result<Self, AnalysisError> {
        let part = Unpacked {
            file: source.file.clone(),
            shown: source.shown.clone(),
            packing: source.packing,
            name: source.name.clone(),
        };
        let found = TextEncoding::detect(&sniff::sample(&part, limits)?);
        let encoding = source.encoding.unwrap_or(found);
        limits.start_again();
        let reader = unpack::open(&source.file, &source.shown, source.packing, limits)?;
        let chunks = TextChunks::new(reader, &source.shown, limits, encoding);
        let notes = ReadNotes { encoding: encoding.name(), ..ReadNotes::default() };
        Ok(Self { chunks, notes })
    }
}

fn each_line(
    source: &TableSource,
    limits: &ReadLimits,
    notes: &mut ReadNotes,
    take: &mut OnRecord<'_>,
) -> Result<(), AnalysisError> {
    let mut reader = Utf8Reader::open(source, limits)?;
    notes.encoding.clone_from(&reader.notes.encoding);
    let mut held: Vec<u8> = Vec::new();
    let mut line = 0_u64;
    loop {
        let chunk = reader.chunks.next(notes)?.to_vec();
        let is_end = chunk.is_empty();
        held.extend_from_slice(&chunk);
        let whole = match is_end {
            true => held.len(),
            false => held.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1),
        };
        if whole == 0 && held.len() > LINE_BYTES_MAX {
            return Err(source.no_table("a line is longer than 64 MiB"));
        }
        let rest = held.split_off(whole);
        for bytes in held.split(|byte| *byte == b'\n') {
            let text = String::from_utf8_lossy(bytes);
            if let std::borrow::Cow::Owned(lossy) = &text {
                notes.bad_characters += lossy.chars().filter(|c| *c == '\u{fffd}').count() as u64;
                notes.odd_record(bytes);
            } else if !text.is_ascii() {
                notes.letters.good += 1;
            }
            if text.trim().is_empty() {
                continue;
            }
            line += 1;
            match serde_json::from_str::<&RawValue>(text.trim()) {
                Ok(value) => {
                    if take(value)? == WantMore::No {
                        return Ok(());
                    }
                }
                Err(_) => {
                    notes.broken_rows += 1;
                    notes.example(line, &text);
                }
            }
        }
        held = rest;
        if is_end {
            return Ok(());
        }
    }
}
