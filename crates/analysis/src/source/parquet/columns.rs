//! One column of a row group, value by value: a page at a time is in memory, and its dictionary.

use super::ParquetResult;
use super::levels::{DeltaReader, LevelReader};
use super::meta::{ChunkMeta, ColumnMeta, GroupMeta, PhysicalType};
use super::pages::{self, PageKind, ParquetPage};
use super::values::{self, OwnedField};
use crate::source::ReadLimits;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How the values of a page follow each other.
#[derive(Debug)]
enum PageValues {
    Plain,
    Places(LevelReader),
    Runs(LevelReader),
    Deltas(DeltaReader),
    /// Lengths of texts, then all of them.
    Lengths(DeltaReader),
    /// Lengths of what is as before, lengths of what is not, then that.
    Shared {
        before: DeltaReader,
        rest: DeltaReader,
        last: Vec<u8>,
    },
    /// The first bytes of all numbers, then the second ones.
    Split {
        count: usize,
        next: usize,
    },
}

/// A column of a row group.
pub(super) struct ColumnReader<'a> {
    file: &'a Arc<File>,
    column: &'a ColumnMeta,
    chunk: &'a ChunkMeta,
    limits: &'a ReadLimits,
    next_page: u64,
    values_left: u64,
    dictionary: Vec<OwnedField>,
    page: Vec<u8>,
    in_page: u64,
    levels: LevelReader,
    values: PageValues,
    /// Where the next plain value begins; of booleans, the bit.
    at: usize,
}

impl<'a> ColumnReader<'a> {
    pub(super) fn new(
        file: &'a Arc<File>,
        column: &'a ColumnMeta,
        group: &'a GroupMeta,
        limits: &'a ReadLimits,
    ) -> ParquetResult<Self> {
        let chunk = group.chunks.get(column.leaf).ok_or("a column is missing in a row group")?;
        Ok(Self {
            file,
            column,
            chunk,
            limits,
            next_page: chunk.start,
            values_left: chunk.values,
            dictionary: Vec::new(),
            page: Vec::new(),
            in_page: 0,
            levels: LevelReader::default(),
            values: PageValues::Plain,
            at: 0,
        })
    }

    /// The next value.
    pub(super) fn next(&mut self) -> ParquetResult<OwnedField> {
        while self.in_page == 0 {
            self.load_page()?;
        }
        self.in_page -= 1;
        let level = match self.column.max_def {
            0 => 0,
            _ => self.levels.next(&self.page)?,
        };
        if level < self.column.max_def { Ok(OwnedField::Null) } else { self.value() }
    }

    fn load_page(&mut self) -> ParquetResult<()> {
        if self.values_left == 0 {
            return Err(format!("the column {} has too few values", self.column.name));
        }
        let end = self.chunk.start.saturating_add(self.chunk.bytes);
        let (page, next) = pages::read(self.file, self.next_page, end, self.chunk.codec)?;
        self.limits.bytes_read.fetch_add(next - self.next_page, Ordering::Relaxed);
        self.next_page = next;
        match page {
            None => Ok(()),
            Some(page) if page.kind == PageKind::Dictionary => self.load_dictionary(page),
            Some(page) => self.open(page),
        }
    }

    fn load_dictionary(&mut self, page: ParquetPage) -> ParquetResult<()> {
        (self.page, self.at, self.values) = (page.bytes, 0, PageValues::Plain);
        let mut dictionary = Vec::new();
        for _ in 0..page.values {
            // A value of no bytes would make an endless dictionary.
            if dictionary.len() > self.page.len() {
                return Err("a dictionary is longer than its page".to_owned());
            }
            dictionary.push(self.value()?);
        }
        self.dictionary = dictionary;
        Ok(())
    }

    fn open(&mut self, page: ParquetPage) -> ParquetResult<()> {
        let cut = || "a page is cut off".to_owned();
        (self.page, self.in_page) = (page.bytes, page.values);
        self.values_left = self.values_left.saturating_sub(page.values);
        self.at = 0;
        let bits = u32::BITS - self.column.max_def.leading_zeros();
        match page.kind {
            PageKind::DataTwo { repetitions, definitions } => {
                let end = repetitions + definitions;
                self.levels = LevelReader::new(repetitions, end, bits);
                self.at = end;
            }
            _ if self.column.max_def > 0 => {
                let size = self.page.get(..4).ok_or_else(cut)?;
                let size = u32::from_le_bytes([size[0], size[1], size[2], size[3]]) as usize;
                let end = size.checked_add(4).filter(|end| *end <= self.page.len());
                let end = end.ok_or_else(cut)?;
                self.levels = LevelReader::new(4, end, bits);
                self.at = end;
            }
            _ => {}
        }
        self.values = self.values_of(page.encoding, page.values)?;
        if matches!(self.values, PageValues::Plain) && self.column.physical == PhysicalType::Boolean
        {
            self.at *= 8;
        }
        Ok(())
    }

    fn values_of(&mut self, encoding: i64, values: u64) -> ParquetResult<PageValues> {
        let at = self.at;
        Ok(match encoding {
            0 => PageValues::Plain,
            2 | 8 => {
                let bits = self.page.get(at).copied().unwrap_or(0);
                if bits > 32 {
                    return Err("a page has places of more than 32 bits".to_owned());
                }
                PageValues::Places(LevelReader::new(at + 1, self.page.len(), u32::from(bits)))
            }
            3 => PageValues::Runs(LevelReader::new(at + 4, self.page.len(), 1)),
            5 => PageValues::Deltas(DeltaReader::new(&self.page, at)?),
            6 => {
                let lengths = DeltaReader::new(&self.page, at)?;
                self.at = end_of(&lengths, &self.page)?;
                PageValues::Lengths(lengths)
            }
            7 => {
                let before = DeltaReader::new(&self.page, at)?;
                let rest = DeltaReader::new(&self.page, end_of(&before, &self.page)?)?;
                self.at = end_of(&rest, &self.page)?;
                PageValues::Shared { before, rest, last: Vec::new() }
            }
            9 => {
                let width = self.width().ok_or("a page of texts is split into bytes")?;
                let count = (self.page.len() - at) / width;
                if count as u64 > values {
                    return Err("a page has too many values".to_owned());
                }
                PageValues::Split { count, next: 0 }
            }
            other => return Err(format!("a page is written in an unknown way ({other})")),
        })
    }

    /// Bytes of one value.
    fn width(&self) -> Option<usize> {
        match self.column.physical {
            PhysicalType::Int32 | PhysicalType::Float => Some(4),
            PhysicalType::Int64 | PhysicalType::Double => Some(8),
            PhysicalType::Int96 => Some(12),
            PhysicalType::FixedBytes(width) if width > 0 => Some(width),
            _ => None,
        }
    }

    fn value(&mut self) -> ParquetResult<OwnedField> {
        let (physical, logical) = (self.column.physical, self.column.logical);
        match &mut self.values {
            PageValues::Plain => self.plain(),
            PageValues::Places(places) => {
                let place = places.next(&self.page)? as usize;
                let found = self.dictionary.get(place).cloned();
                found.ok_or_else(|| "a place is outside of the dictionary".to_owned())
            }
            PageValues::Runs(runs) => Ok(OwnedField::Bool(runs.next(&self.page)? != 0)),
            PageValues::Deltas(deltas) => {
                let number = deltas.next(&self.page)?;
                #[expect(clippy::cast_possible_truncation, reason = "as the format has it")]
                let number = match physical {
                    PhysicalType::Int32 => i64::from(number as i32),
                    _ => number,
                };
                Ok(values::of_int(number, physical, logical))
            }
            PageValues::Lengths(lengths) => {
                let size = usize::try_from(lengths.next(&self.page)?).unwrap_or(usize::MAX);
                let bytes = slice(&self.page, self.at, size)?;
                self.at += size;
                Ok(values::of_bytes(bytes, logical))
            }
            PageValues::Shared { before, rest, last } => {
                let kept = usize::try_from(before.next(&self.page)?).unwrap_or(usize::MAX);
                let size = usize::try_from(rest.next(&self.page)?).unwrap_or(usize::MAX);
                if kept > last.len() {
                    return Err("a page refers to text that is not there".to_owned());
                }
                last.truncate(kept);
                last.extend_from_slice(slice(&self.page, self.at, size)?);
                self.at += size;
                Ok(values::of_bytes(last, logical))
            }
            PageValues::Split { count, next } => {
                let (count, place) = (*count, *next);
                *next += 1;
                let width = self.width().unwrap_or(1);
                if place >= count {
                    return Err("a page has too few values".to_owned());
                }
                let byte = |n: usize| self.page[self.at + n * count + place];
                let bytes: Vec<u8> = (0..width).map(byte).collect();
                self.fixed(&bytes)
            }
        }
    }

    fn plain(&mut self) -> ParquetResult<OwnedField> {
        if self.column.physical == PhysicalType::Boolean {
            let byte = self.page.get(self.at / 8).ok_or("a page is cut off")?;
            let yes = byte >> (self.at % 8) & 1 == 1;
            self.at += 1;
            return Ok(OwnedField::Bool(yes));
        }
        let size = match self.width() {
            Some(width) => width,
            None => {
                let size = slice(&self.page, self.at, 4)?;
                let size = u32::from_le_bytes([size[0], size[1], size[2], size[3]]) as usize;
                self.at += 4;
                size
            }
        };
        let start = self.at;
        slice(&self.page, start, size)?;
        self.at += size;
        self.fixed(&self.page[start..self.at])
    }

    /// A value of these bytes.
    fn fixed(&self, bytes: &[u8]) -> ParquetResult<OwnedField> {
        let (physical, logical) = (self.column.physical, self.column.logical);
        let cut = |_| "a page is cut off".to_owned();
        Ok(match physical {
            PhysicalType::Int32 => {
                let number = i32::from_le_bytes(bytes.try_into().map_err(cut)?);
                values::of_int(i64::from(number), physical, logical)
            }
            PhysicalType::Int64 => {
                let number = i64::from_le_bytes(bytes.try_into().map_err(cut)?);
                values::of_int(number, physical, logical)
            }
            PhysicalType::Int96 => values::of_int96(bytes.try_into().map_err(cut)?),
            PhysicalType::Float => {
                values::of_float(f32::from_le_bytes(bytes.try_into().map_err(cut)?))
            }
            PhysicalType::Double => {
                values::real(f64::from_le_bytes(bytes.try_into().map_err(cut)?))
            }
            PhysicalType::Boolean | PhysicalType::Bytes | PhysicalType::FixedBytes(_) => {
                values::of_bytes(bytes, logical)
            }
        })
    }
}

/// Where numbers end: they are read once to know.
fn end_of(numbers: &DeltaReader, page: &[u8]) -> ParquetResult<usize> {
    let mut numbers = numbers.clone();
    if numbers.left() > page.len() as u64 * 64 {
        return Err("a page has too many values".to_owned());
    }
    while numbers.left() > 0 {
        numbers.next(page)?;
    }
    Ok(numbers.end())
}

fn slice(page: &[u8], at: usize, size: usize) -> ParquetResult<&[u8]> {
    let end = at.checked_add(size).filter(|end| *end <= page.len());
    end.map(|end| &page[at..end]).ok_or_else(|| "a page is cut off".to_owned())
}
