//! Pages: a header, and bytes that are unpacked.

use super::ParquetResult;
use super::thrift::{ThriftReader, ThriftStruct};
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;

/// Bytes of the largest header of a page.
const HEADER_MAX: usize = 1 << 20;

/// Bytes of the largest page, unpacked.
const PAGE_MAX: usize = 256 << 20;

/// What a page holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageKind {
    Dictionary,
    Data,
    /// With levels that are not packed, of these sizes.
    DataTwo {
        repetitions: usize,
        definitions: usize,
    },
}

/// A page, unpacked.
#[derive(Debug, Clone)]
pub(super) struct ParquetPage {
    pub(super) kind: PageKind,
    pub(super) values: u64,
    pub(super) encoding: i64,
    pub(super) bytes: Vec<u8>,
}

/// Reads the page at a place; gives the place of the next one. Indexes and the like are no pages.
pub(super) fn read(
    file: &File,
    at: u64,
    end: u64,
    codec: i64,
) -> ParquetResult<(Option<ParquetPage>, u64)> {
    let left = usize::try_from(end.saturating_sub(at)).unwrap_or(usize::MAX);
    let mut head = vec![0; left.min(4_096)];
    read_at(file, &mut head, at)?;
    let parse = |head: &[u8]| {
        let mut reader = ThriftReader::new(head);
        reader.read().map(|header| (header, reader.at))
    };
    let (header, size) = match parse(&head) {
        Err(_) if left > head.len() => {
            // Statistics of long texts make long headers.
            head = vec![0; left.min(HEADER_MAX)];
            read_at(file, &mut head, at)?;
            parse(&head)?
        }
        parsed => parsed?,
    };
    let (unpacked, packed) = (header.count(2)?, header.count(3)?);
    if unpacked > PAGE_MAX || packed > PAGE_MAX || size + packed > left {
        return Err("a page is too large, or is cut off".to_owned());
    }
    let next = at + (size + packed) as u64;
    let Some((kind, fields)) = kind_of(&header)? else { return Ok((None, next)) };
    let mut bytes = vec![0; packed];
    read_at(file, &mut bytes, at + size as u64)?;
    let values = fields.count(1)? as u64;
    let encoding = match kind {
        PageKind::Data | PageKind::Dictionary => fields.int(2),
        PageKind::DataTwo { .. } => fields.int(4),
    };
    let plain = match kind {
        PageKind::DataTwo { repetitions, definitions } => repetitions.saturating_add(definitions),
        _ => 0,
    };
    if plain > bytes.len() || plain > unpacked {
        return Err("a page is cut off".to_owned());
    }
    // Only pages of the second version say that they are not packed.
    let is_packed = !matches!(kind, PageKind::DataTwo { .. }) || fields.bool(7) != Some(false);
    let bytes = match codec {
        0 => bytes,
        _ if !is_packed => bytes,
        codec => {
            let mut out = bytes[..plain].to_vec();
            out.extend(unpack(&bytes[plain..], unpacked - plain, codec)?);
            out
        }
    };
    let encoding = encoding.unwrap_or(0);
    Ok((Some(ParquetPage { kind, values, encoding, bytes }), next))
}

fn kind_of(header: &ThriftStruct) -> ParquetResult<Option<(PageKind, &ThriftStruct)>> {
    let missing = "a page has no description";
    Ok(match header.int(1) {
        Some(0) => Some((PageKind::Data, header.fields(5).ok_or(missing)?)),
        Some(2) => Some((PageKind::Dictionary, header.fields(7).ok_or(missing)?)),
        Some(3) => {
            let fields = header.fields(8).ok_or(missing)?;
            let (definitions, repetitions) = (fields.count(5)?, fields.count(6)?);
            Some((PageKind::DataTwo { repetitions, definitions }, fields))
        }
        _ => None,
    })
}

fn read_at(file: &File, buffer: &mut [u8], at: u64) -> ParquetResult<()> {
    file.read_exact_at(buffer, at).map_err(|_| "a page is cut off".to_owned())
}

fn unpack(bytes: &[u8], size: usize, codec: i64) -> ParquetResult<Vec<u8>> {
    let damaged = |error: &dyn std::fmt::Display| format!("a page cannot be unpacked: {error}");
    let bounded = |reader: &mut dyn Read| {
        let mut out = Vec::with_capacity(size.min(1 << 20));
        let read = reader.take(size as u64).read_to_end(&mut out);
        read.map_err(|error| damaged(&error)).map(|_| out)
    };
    if size == 0 {
        return Ok(Vec::new());
    }
    let out = match codec {
        1 => {
            let said = snap::raw::decompress_len(bytes).map_err(|error| damaged(&error))?;
            if said != size {
                return Err("a page is not as long as it says".to_owned());
            }
            snap::raw::Decoder::new().decompress_vec(bytes).map_err(|error| damaged(&error))?
        }
        2 => bounded(&mut flate2::read::MultiGzDecoder::new(bytes))?,
        6 => {
            let mut reader =
                ruzstd::decoding::StreamingDecoder::new(bytes).map_err(|error| damaged(&error))?;
            bounded(&mut reader)?
        }
        other => {
            let name = match other {
                3 => "LZO",
                4 => "Brotli",
                5 | 7 => "LZ4",
                _ => "an unknown way",
            };
            return Err(format!(
                "its pages are packed with {name}: write it again with Snappy, gzip or Zstandard"
            ));
        }
    };
    match out.len() == size {
        true => Ok(out),
        false => Err("a page is not as long as it says".to_owned()),
    }
}
