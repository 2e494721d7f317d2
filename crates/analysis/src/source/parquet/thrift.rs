//! Thrift's compact form, as far as Parquet uses it: any struct as numbers of fields and values.

use super::ParquetResult;
use std::collections::BTreeMap;

/// How deep structs may lie in each other.
const DEPTH_MAX: u32 = 24;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ThriftValue {
    Bool(bool),
    Int(i64),
    Bytes(Vec<u8>),
    List(Vec<ThriftValue>),
    Struct(ThriftStruct),
}

/// The fields of a struct, by their numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ThriftStruct(BTreeMap<i16, ThriftValue>);

impl ThriftStruct {
    pub(super) fn int(&self, field: i16) -> Option<i64> {
        match self.0.get(&field)? {
            ThriftValue::Int(number) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn bool(&self, field: i16) -> Option<bool> {
        match self.0.get(&field)? {
            ThriftValue::Bool(yes) => Some(*yes),
            _ => None,
        }
    }

    pub(super) fn count(&self, field: i16) -> ParquetResult<usize> {
        let number = self.int(field).and_then(|number| usize::try_from(number).ok());
        number.ok_or_else(|| format!("its header lacks a count (field {field})"))
    }

    pub(super) fn text(&self, field: i16) -> Option<String> {
        match self.0.get(&field)? {
            ThriftValue::Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    pub(super) fn list(&self, field: i16) -> &[ThriftValue] {
        match self.0.get(&field) {
            Some(ThriftValue::List(values)) => values,
            _ => &[],
        }
    }

    pub(super) fn fields(&self, field: i16) -> Option<&ThriftStruct> {
        match self.0.get(&field)? {
            ThriftValue::Struct(fields) => Some(fields),
            _ => None,
        }
    }
}

impl ThriftValue {
    pub(super) fn as_struct(&self) -> Option<&ThriftStruct> {
        match self {
            Self::Struct(fields) => Some(fields),
            _ => None,
        }
    }
}

/// Bytes that are read one after the other.
pub(super) struct ThriftReader<'a> {
    bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> ThriftReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn byte(&mut self) -> ParquetResult<u8> {
        let byte = self.bytes.get(self.at).copied().ok_or("its header is cut off")?;
        self.at += 1;
        Ok(byte)
    }

    fn varint(&mut self) -> ParquetResult<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err("its header has a number that is too long".to_owned())
    }

    fn zigzag(&mut self) -> ParquetResult<i64> {
        let number = self.varint()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// One struct.
    pub(super) fn read(&mut self) -> ParquetResult<ThriftStruct> {
        self.fields(0)
    }

    fn fields(&mut self, depth: u32) -> ParquetResult<ThriftStruct> {
        let mut found = ThriftStruct::default();
        let mut number = 0_i16;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(found);
            }
            number = match head >> 4 {
                0 => i16::try_from(self.zigzag()?).unwrap_or(-1),
                more => number.saturating_add(i16::from(more)),
            };
            let value = match head & 0x0f {
                1 => ThriftValue::Bool(true),
                2 => ThriftValue::Bool(false),
                kind => self.value(kind, depth)?,
            };
            found.0.insert(number, value);
        }
    }

    fn value(&mut self, kind: u8, depth: u32) -> ParquetResult<ThriftValue> {
        if depth > DEPTH_MAX {
            return Err("its header lies too deep".to_owned());
        }
        Ok(match kind {
            1 | 2 => ThriftValue::Bool(self.byte()? == 1),
            3 => ThriftValue::Int(i64::from(self.byte()?.cast_signed())),
            4..=6 => ThriftValue::Int(self.zigzag()?),
            7 => {
                self.skip(8)?;
                ThriftValue::Bytes(Vec::new())
            }
            8 => {
                let size = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
                let start = self.at;
                self.skip(size)?;
                ThriftValue::Bytes(self.bytes[start..self.at].to_vec())
            }
            9 | 10 => self.list(depth)?,
            12 => ThriftValue::Struct(self.fields(depth + 1)?),
            _ => return Err(format!("its header has an unknown type {kind}")),
        })
    }

    fn list(&mut self, depth: u32) -> ParquetResult<ThriftValue> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => usize::try_from(self.varint()?).unwrap_or(usize::MAX),
            count => usize::from(count),
        };
        // Each value takes up at least a byte.
        if count > self.bytes.len() - self.at {
            return Err("its header is cut off".to_owned());
        }
        let values = (0..count).map(|_| self.value(head & 0x0f, depth + 1));
        Ok(ThriftValue::List(values.collect::<ParquetResult<_>>()?))
    }

    fn skip(&mut self, count: usize) -> ParquetResult<()> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len());
        self.at = end.ok_or("its header is cut off")?;
        Ok(())
    }
}
