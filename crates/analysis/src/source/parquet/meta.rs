//! The footer: columns, and where each of their parts lies.

use super::ParquetResult;
use super::thrift::{ThriftReader, ThriftStruct, ThriftValue};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Bytes of the largest footer.
const FOOTER_MAX: u64 = 256 << 20;

/// How values lie in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PhysicalType {
    Boolean,
    Int32,
    Int64,
    Int96,
    Float,
    Double,
    Bytes,
    FixedBytes(usize),
}

/// What values mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogicalType {
    Plain,
    Text,
    Decimal {
        scale: u32,
    },
    Date,
    /// Fractions of a second that one unit is.
    Time {
        units: i64,
    },
    Timestamp {
        units: i64,
        /// Whether the file says that it is in UTC, and not the time of some place.
        is_utc: bool,
    },
    Unsigned,
    Uuid,
    Float16,
}

/// A column that holds values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ColumnMeta {
    /// Its name; of a struct, with the names around it.
    pub(super) name: String,
    /// Its place among all columns of the file.
    pub(super) leaf: usize,
    pub(super) physical: PhysicalType,
    pub(super) logical: LogicalType,
    /// The level at which a value is there.
    pub(super) max_def: u32,
}

/// A part of a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ChunkMeta {
    pub(super) codec: i64,
    pub(super) values: u64,
    pub(super) start: u64,
    pub(super) bytes: u64,
}

/// Rows that lie together.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GroupMeta {
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) chunks: Vec<ChunkMeta>,
}

/// The footer.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ParquetMeta {
    pub(super) columns: Vec<ColumnMeta>,
    /// Columns of lists and maps.
    pub(super) left_out: Vec<String>,
    pub(super) groups: Vec<GroupMeta>,
}

impl ParquetMeta {
    pub(super) fn read(file: &File, size: u64) -> ParquetResult<Self> {
        let cut = || "it is Parquet that is cut off: its end is missing".to_owned();
        let mut end = [0; 8];
        file.read_exact_at(&mut end, size.checked_sub(8).ok_or_else(cut)?).map_err(|_| cut())?;
        match &end[4..] {
            b"PAR1" => {}
            b"PARE" => return Err("it is Parquet that is encrypted".to_owned()),
            _ => return Err(cut()),
        }
        let length = u64::from(u32::from_le_bytes([end[0], end[1], end[2], end[3]]));
        let start = size.checked_sub(8 + length).filter(|_| length <= FOOTER_MAX);
        let mut footer = vec![0; usize::try_from(length).unwrap_or(0)];
        file.read_exact_at(&mut footer, start.ok_or_else(cut)?).map_err(|_| cut())?;
        Self::of(&ThriftReader::new(&footer).read()?)
    }

    fn of(footer: &ThriftStruct) -> ParquetResult<Self> {
        let mut meta = Self::default();
        let mut schema = SchemaWalk { elements: footer.list(2), at: 0, leaf: 0, meta: &mut meta };
        schema.group("", 0, false, 0)?;
        for group in footer.list(4).iter().filter_map(ThriftValue::as_struct) {
            let mut chunks = Vec::new();
            for chunk in group.list(1).iter().filter_map(ThriftValue::as_struct) {
                let found = chunk.fields(3).ok_or("a column lies in another file")?;
                let data = found.count(9)?;
                let dictionary = found.count(11).ok().filter(|at| *at > 0);
                chunks.push(ChunkMeta {
                    codec: found.int(4).unwrap_or(0),
                    values: found.count(5)? as u64,
                    start: dictionary.unwrap_or(data).min(data) as u64,
                    bytes: found.count(7)? as u64,
                });
            }
            let (rows, bytes) = (group.count(3)? as u64, group.count(2).unwrap_or(0) as u64);
            meta.groups.push(GroupMeta { rows, bytes, chunks });
        }
        Ok(meta)
    }
}

/// Goes through the tree of columns.
struct SchemaWalk<'a> {
    elements: &'a [ThriftValue],
    at: usize,
    leaf: usize,
    meta: &'a mut ParquetMeta,
}

impl SchemaWalk<'_> {
    /// One element and all below it.
    fn group(&mut self, path: &str, def: u32, repeated: bool, depth: u32) -> ParquetResult<()> {
        let element = self.elements.get(self.at).and_then(ThriftValue::as_struct);
        let element = element.ok_or("its list of columns is cut off")?.clone();
        self.at += 1;
        if depth > 64 {
            return Err("its columns lie too deep".to_owned());
        }
        let is_root = depth == 0;
        let repetition = if is_root { 0 } else { element.int(3).unwrap_or(0) };
        let def = def + u32::from(repetition != 0);
        let repeated = repeated || repetition == 2;
        let name = element.text(4).unwrap_or_default();
        let path = match (is_root, path) {
            (true, _) => String::new(),
            (_, "") => name,
            (_, path) => format!("{path}.{name}"),
        };
        let children = element.int(5).unwrap_or(0);
        if children > 0 || is_root {
            for _ in 0..children {
                self.group(&path, def, repeated, depth + 1)?;
            }
            return Ok(());
        }
        let leaf = self.leaf;
        self.leaf += 1;
        if repeated {
            let outer = path.split('.').next().unwrap_or_default().to_owned();
            if !self.meta.left_out.contains(&outer) {
                self.meta.left_out.push(outer);
            }
            return Ok(());
        }
        let physical = physical(&element)?;
        let logical = logical(&element, physical);
        self.meta.columns.push(ColumnMeta { name: path, leaf, physical, logical, max_def: def });
        Ok(())
    }
}

fn physical(element: &ThriftStruct) -> ParquetResult<PhysicalType> {
    Ok(match element.int(1) {
        Some(0) => PhysicalType::Boolean,
        Some(1) => PhysicalType::Int32,
        Some(2) => PhysicalType::Int64,
        Some(3) => PhysicalType::Int96,
        Some(4) => PhysicalType::Float,
        Some(5) => PhysicalType::Double,
        Some(6) => PhysicalType::Bytes,
        Some(7) => PhysicalType::FixedBytes(element.count(2)?.min(1 << 20)),
        other => return Err(format!("a column has an unknown type {other:?}")),
    })
}

fn logical(element: &ThriftStruct, physical: PhysicalType) -> LogicalType {
    let scale =
        |fields: &ThriftStruct, field| u32::try_from(fields.int(field).unwrap_or(0)).unwrap_or(0);
    let units = |fields: &ThriftStruct| {
        let unit = fields.fields(2);
        let is = |field| unit.is_some_and(|unit| unit.fields(field).is_some());
        match () {
            () if is(1) => 1_000,
            () if is(2) => 1_000_000,
            () => 1_000_000_000,
        }
    };
    if let Some(union) = element.fields(10) {
        let has = |field| union.fields(field).is_some();
        if let Some(decimal) = union.fields(5) {
            return LogicalType::Decimal { scale: scale(decimal, 1) };
        }
        if let Some(time) = union.fields(7) {
            return LogicalType::Time { units: units(time) };
        }
        if let Some(timestamp) = union.fields(8) {
            let is_utc = timestamp.bool(1) == Some(true);
            return LogicalType::Timestamp { units: units(timestamp), is_utc };
        }
        if let Some(integer) = union.fields(10) {
            return match integer.bool(2) {
                Some(false) => LogicalType::Unsigned,
                _ => LogicalType::Plain,
            };
        }
        return match () {
            () if has(1) || has(4) || has(12) => LogicalType::Text,
            () if has(6) => LogicalType::Date,
            () if has(14) => LogicalType::Uuid,
            () if has(15) => LogicalType::Float16,
            () => LogicalType::Plain,
        };
    }
    match element.int(6) {
        Some(0 | 4 | 19) => LogicalType::Text,
        Some(5) => LogicalType::Decimal { scale: scale(element, 7) },
        Some(6) => LogicalType::Date,
        Some(7) => LogicalType::Time { units: 1_000 },
        Some(8) => LogicalType::Time { units: 1_000_000 },
        // Old writers gave times of places as UTC: what they say is not relied on.
        Some(9) => LogicalType::Timestamp { units: 1_000, is_utc: false },
        Some(10) => LogicalType::Timestamp { units: 1_000_000, is_utc: false },
        Some(11..=14) => LogicalType::Unsigned,
        None if physical == PhysicalType::Int96 => {
            LogicalType::Timestamp { units: 1_000_000_000, is_utc: false }
        }
        _ => LogicalType::Plain,
    }
}
