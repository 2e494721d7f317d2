//! Runs of small numbers: levels and places in a dictionary, read without being unrolled, so that
//! a few bytes cannot fill the memory.

use super::ParquetResult;

/// Numbers of a few bits, in runs of equal ones and in packs of eight.
#[derive(Debug, Clone, Default)]
pub(super) struct LevelReader {
    at: usize,
    end: usize,
    bits: u32,
    /// Equal numbers that are left, and which.
    equal: (u64, u32),
    /// Packed numbers that are left, and the bit at which the next begins.
    packed: (u64, usize),
}

impl LevelReader {
    /// Numbers of `bits` bits each, in these bytes of the page.
    pub(super) fn new(at: usize, end: usize, bits: u32) -> Self {
        Self { at, end, bits, ..Self::default() }
    }

    pub(super) fn next(&mut self, page: &[u8]) -> ParquetResult<u32> {
        if self.bits == 0 {
            return Ok(0);
        }
        if self.equal.0 == 0 && self.packed.0 == 0 {
            self.begin_run(page)?;
        }
        if self.equal.0 > 0 {
            self.equal.0 -= 1;
            return Ok(self.equal.1);
        }
        let number = bits_at(page, self.packed.1, self.bits);
        self.packed = (self.packed.0 - 1, self.packed.1 + self.bits as usize);
        u32::try_from(number).map_err(|_| "a level is too large".to_owned())
    }

    fn begin_run(&mut self, page: &[u8]) -> ParquetResult<()> {
        let bytes = &page[..self.end.min(page.len())];
        let head = varint(bytes, &mut self.at)?;
        if head & 1 == 1 {
            let packs = head >> 1;
            let size = usize::try_from(packs.saturating_mul(u64::from(self.bits)));
            // Writers leave out the end of the last pack.
            let size = size.unwrap_or(usize::MAX).min(bytes.len() - self.at);
            let whole = (size as u64 * 8) / u64::from(self.bits);
            self.packed = ((packs.saturating_mul(8)).min(whole), self.at * 8);
            self.at += size;
        } else {
            let width = self.bits.div_ceil(8) as usize;
            let value = bytes.get(self.at..self.at + width).ok_or("a page is cut off")?;
            let value = value.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
            self.equal = (head >> 1, value);
            self.at += width;
        }
        match self.equal.0 + self.packed.0 {
            0 => Err("a page has an empty run".to_owned()),
            _ => Ok(()),
        }
    }
}

/// A number of up to 64 bits that begins at a bit.
pub(super) fn bits_at(bytes: &[u8], bit: usize, bits: u32) -> u64 {
    let mut value = 0_u128;
    for (place, byte) in bytes[bit / 8..].iter().take(9).enumerate() {
        value |= u128::from(*byte) << (8 * place);
    }
    let mask = (1_u128 << bits) - 1;
    u64::try_from((value >> (bit % 8)) & mask).unwrap_or(u64::MAX)
}

/// An unsigned number of seven bits a byte.
pub(super) fn varint(bytes: &[u8], at: &mut usize) -> ParquetResult<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at).ok_or("a page is cut off")?;
        *at += 1;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err("a page has a number that is too long".to_owned())
}

/// Whole numbers as differences, in blocks.
#[derive(Debug, Clone, Default)]
pub(super) struct DeltaReader {
    pub(super) at: usize,
    per_block: usize,
    minis: usize,
    left: u64,
    last: i64,
    is_first: bool,
    least: i64,
    /// Bits of each miniature block of this block, which one is next, and what is left of it.
    widths: Vec<u8>,
    mini: usize,
    in_mini: usize,
    bit: usize,
}

impl DeltaReader {
    pub(super) fn new(page: &[u8], mut at: usize) -> ParquetResult<Self> {
        let per_block = usize::try_from(varint(page, &mut at)?).unwrap_or(usize::MAX);
        let minis = usize::try_from(varint(page, &mut at)?).unwrap_or(usize::MAX);
        let left = varint(page, &mut at)?;
        let last = zigzag(varint(page, &mut at)?);
        if minis == 0 || per_block == 0 || per_block > 1 << 20 || per_block % minis != 0 {
            return Err("a page has blocks of no size".to_owned());
        }
        Ok(Self { at, per_block, minis, left, last, is_first: true, ..Self::default() })
    }

    /// How many numbers are left.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    pub(super) fn next(&mut self, page: &[u8]) -> ParquetResult<i64> {
        self.left = self.left.checked_sub(1).ok_or("a page has too few numbers")?;
        if std::mem::take(&mut self.is_first) {
            return Ok(self.last);
        }
        if self.in_mini == 0 {
            self.next_mini(page)?;
        }
        let width = u32::from(self.widths[self.mini - 1]);
        let delta = if width == 0 { 0 } else { bits_at(page, self.bit, width) };
        self.bit += width as usize;
        self.in_mini -= 1;
        self.last = self.last.wrapping_add(self.least).wrapping_add(delta.cast_signed());
        Ok(self.last)
    }

    fn next_mini(&mut self, page: &[u8]) -> ParquetResult<()> {
        if self.mini == self.widths.len() {
            self.least = zigzag(varint(page, &mut self.at)?);
            let widths = page.get(self.at..self.at + self.minis).ok_or("a page is cut off")?;
            if widths.iter().any(|width| *width > 64) {
                return Err("a page has numbers of more than 64 bits".to_owned());
            }
            (self.widths, self.mini) = (widths.to_vec(), 0);
            self.at += self.minis;
        }
        self.in_mini = self.per_block / self.minis;
        self.bit = self.at * 8;
        let size = self.in_mini * usize::from(self.widths[self.mini]) / 8;
        self.mini += 1;
        self.at += size;
        if self.at > page.len() {
            return Err("a page is cut off".to_owned());
        }
        Ok(())
    }

    /// The byte after the last number, once all are read.
    pub(super) fn end(&self) -> usize {
        self.at
    }
}

fn zigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}
