//! Archives: what is inside, unpacked with a limit, so that a small file cannot fill the disk.

use super::ReadLimits;
use crate::error::AnalysisError;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many times its size a file may unpack to, once it is large at all.
const RATIO_MAX: u64 = 250;

/// Bytes that any file may unpack to, however small it is.
const ALWAYS_FINE: u64 = 64 << 20;

/// Files of one archive; one with more is refused, because nothing is left out unnoticed.
const ENTRIES_MAX: usize = 200;

/// How a file that is no archive is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    None,
    Gzip,
    Zstandard,
}

/// A file that is not an archive, though it may be packed.
#[derive(Debug, Clone)]
pub(crate) struct Unpacked {
    pub(crate) file: PathBuf,
    pub(crate) shown: PathBuf,
    pub(crate) packing: Packing,
    pub(crate) name: String,
}

/// Refuses to go on beyond the limit.
pub(crate) struct LimitedReader<R> {
    inner: R,
    seen: u64,
    most: u64,
}

impl<R> LimitedReader<R> {
    fn new(inner: R, packed: u64, limits: &ReadLimits) -> Self {
        Self { inner, seen: 0, most: most_of(packed, limits) }
    }
}

/// Bytes that a file of this size may unpack to.
fn most_of(packed: u64, limits: &ReadLimits) -> u64 {
    packed.saturating_mul(RATIO_MAX).max(ALWAYS_FINE).min(limits.bytes_max)
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.seen += count as u64;
        if self.seen > self.most {
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, "unpacks to too much"));
        }
        Ok(count)
    }
}

/// Counts what is read of a file.
struct CountedFile {
    inner: File,
    count: Arc<AtomicU64>,
}

impl Read for CountedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.count.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Opens a file for reading from its start, unpacking on the way.
pub(crate) fn open(
    file: &Path,
    shown: &Path,
    packing: Packing,
    limits: &ReadLimits,
) -> Result<Box<dyn Read>, AnalysisError> {
    let opened = File::open(file).map_err(AnalysisError::read(shown))?;
    let size = opened.metadata().map_err(AnalysisError::read(shown))?.len();
    let counted = CountedFile { inner: opened, count: Arc::clone(&limits.bytes_read) };
    Ok(match packing {
        Packing::Gzip => {
            let unpacked = flate2::read::MultiGzDecoder::new(BufReader::new(counted));
            Box::new(LimitedReader::new(unpacked, size, limits))
        }
        Packing::Zstandard => {
            let unpacked = ZstandardReader { source: BufReader::new(counted), frame: None };
            Box::new(LimitedReader::new(unpacked, size, limits))
        }
        Packing::None => Box::new(counted),
    })
}

/// Unpacks Zstandard, one frame after the other.
struct ZstandardReader<R: Read> {
    source: R,
    frame: Option<Box<FrameDecoder>>,
}

impl<R: Read> Read for ZstandardReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(frame) = &mut self.frame else {
                let mut next = Box::new(FrameDecoder::new());
                match next.init(&mut self.source) {
                    Ok(()) => self.frame = Some(next),
                    Err(error) if is_at_end(&error) => return Ok(0),
                    Err(error) => return Err(io::Error::other(error.to_string())),
                }
                continue;
            };
            let step = BlockDecodingStrategy::UptoBytes(buffer.len().max(1));
            if frame.can_collect() == 0 && !frame.is_finished() {
                let decoded = frame.decode_blocks(&mut self.source, step);
                decoded.map_err(|error| io::Error::other(error.to_string()))?;
            }
            let count = frame.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            if frame.is_finished() {
                self.frame = None;
            }
        }
    }
}

/// Whether there is no further frame.
fn is_at_end(error: &FrameDecoderError) -> bool {
    matches!(error, FrameDecoderError::ReadFrameHeaderError(
        ReadFrameHeaderError::MagicNumberReadError(error)
    ) if error.kind() == io::ErrorKind::UnexpectedEof)
}

/// What an error while reading means.
pub(crate) fn read_error(shown: &Path, limits: &ReadLimits, source: io::Error) -> AnalysisError {
    match source.kind() {
        io::ErrorKind::QuotaExceeded => too_large(shown, limits),
        _ => AnalysisError::Read { path: shown.to_owned(), source },
    }
}

fn too_large(shown: &Path, limits: &ReadLimits) -> AnalysisError {
    let path = shown.to_owned();
    AnalysisError::TooLarge { path, limit: limits.bytes_max, ratio: RATIO_MAX }
}

/// The files of a file: itself, or what an archive holds.
pub(crate) fn unpack(
    file: &Path,
    folder: &Path,
    limits: &ReadLimits,
) -> Result<Vec<Unpacked>, AnalysisError> {
    let shown = file.to_owned();
    let mut start = [0_u8; 4];
    let mut opened = File::open(file).map_err(AnalysisError::read(file))?;
    let is_file = opened.metadata().map_err(AnalysisError::read(file))?.is_file();
    if !is_file {
        let why = "it is not a file".to_owned();
        return Err(AnalysisError::NoTable { path: shown, why });
    }
    let count = opened.read(&mut start).map_err(AnalysisError::read(file))?;
    let name = stem(file);
    let whole = Unpacked { file: file.to_owned(), shown, packing: Packing::None, name };
    match &start[..count] {
        [0x1f, 0x8b, ..] => Ok(vec![Unpacked { packing: Packing::Gzip, ..whole }]),
        b"PK\x03\x04" => unpack_zip(&whole, folder, limits),
        [0x28, 0xb5, 0x2f, 0xfd] => Ok(vec![Unpacked { packing: Packing::Zstandard, ..whole }]),
        [b'B', b'Z', b'h', _] => Err(packed_with(whole.shown, "bzip2", "bunzip2")),
        [0xfd, b'7', b'z', b'X'] => Err(packed_with(whole.shown, "xz", "unxz")),
        [b'7', b'z', 0xbc, 0xaf] => Err(packed_with(whole.shown, "7-Zip", "7z x")),
        _ => Ok(vec![whole]),
    }
}

fn packed_with(path: PathBuf, how: &str, program: &str) -> AnalysisError {
    let why = format!("it is packed with {how}: unpack it with `{program}` first");
    AnalysisError::NoTable { path, why }
}

/// A name without folder and endings: `sales.csv.gz` is `sales`.
fn stem(file: &Path) -> String {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut name = name.unwrap_or_default();
    const ENDINGS: [&str; 15] = [
        ".gz", ".zst", ".zip", ".csv", ".tsv", ".txt", ".tab", ".jsonl", ".ndjson", ".json",
        ".xlsx", ".xls", ".xlsm", ".ods", ".parquet",
    ];
    while let Some(ending) =
        ENDINGS.iter().find(|ending| name.to_lowercase().ends_with(*ending) && name.len() > 4)
    {
        name.truncate(name.len() - ending.len());
    }
    name
}

/// The names of the parts of a workbook, after a look at what they unpack to: sizes that an archive
/// declares may be wrong.
pub(super) fn workbook_parts(
    bytes: &[u8],
    shown: &Path,
    shared_max: u64,
    limits: &ReadLimits,
) -> Result<Vec<String>, AnalysisError> {
    let no_table = |why: String| AnalysisError::NoTable { path: shown.to_owned(), why };
    let mut archive = zip::ZipArchive::new(io::Cursor::new(bytes))
        .map_err(|error| no_table(error.to_string()))?;
    let mut left = most_of(bytes.len() as u64, limits);
    let mut names = Vec::new();
    for at in 0..archive.len() {
        limits.check()?;
        let entry = archive.by_index(at).map_err(|error| no_table(error.to_string()))?;
        let name = entry.name().map_err(|error| no_table(error.to_string()))?.into_owned();
        let is_shared = name.ends_with("sharedStrings.xml") || name.ends_with("styles.xml");
        let most = if is_shared { left.min(shared_max) } else { left };
        let mut bounded = LimitedReader { inner: entry, seen: 0, most };
        io::copy(&mut bounded, &mut io::sink()).map_err(|e| read_error(shown, limits, e))?;
        left -= bounded.seen;
        names.push(name);
    }
    Ok(names)
}

/// A workbook or an archive that is packed once more, unpacked into a file.
pub(super) fn inflate(
    part: &Unpacked,
    folder: &Path,
    limits: &ReadLimits,
) -> Result<Vec<Unpacked>, AnalysisError> {
    std::fs::create_dir_all(folder).map_err(AnalysisError::write(folder))?;
    let name = blake3::hash(part.shown.as_os_str().as_encoded_bytes()).to_hex();
    let file = folder.join(format!("{name}-inflated"));
    let mut out = File::create(&file).map_err(AnalysisError::write(&file))?;
    let mut packed = open(&part.file, &part.shown, part.packing, limits)?;
    io::copy(&mut packed, &mut out).map_err(|error| read_error(&part.shown, limits, error))?;
    let whole = Unpacked { file, packing: Packing::None, ..part.clone() };
    let mut start = [0_u8; 4];
    let mut opened = File::open(&whole.file).map_err(AnalysisError::read(&whole.shown))?;
    let count = opened.read(&mut start).map_err(AnalysisError::read(&whole.shown))?;
    match &start[..count] {
        b"PK\x03\x04" => unpack_zip(&whole, folder, limits),
        _ => Ok(vec![whole]),
    }
}

/// The files of an archive, or the one workbook that it is.
fn unpack_zip(
    whole: &Unpacked,
    folder: &Path,
    limits: &ReadLimits,
) -> Result<Vec<Unpacked>, AnalysisError> {
    let file = &whole.shown;
    let no_table = |why: String| AnalysisError::NoTable { path: file.to_owned(), why };
    let opened = File::open(&whole.file).map_err(AnalysisError::read(file))?;
    let size = opened.metadata().map_err(AnalysisError::read(file))?.len();
    let mut archive = zip::ZipArchive::new(BufReader::new(opened))
        .map_err(|error| no_table(error.to_string()))?;
    let declared: u64 = (0..archive.len())
        .filter_map(|at| archive.by_index_raw(at).ok().map(|entry| entry.size()))
        .fold(0, u64::saturating_add);
    let mut left = most_of(size, limits);
    if declared > left {
        return Err(too_large(file, limits));
    }
    let is_workbook = archive
        .file_names()
        .filter_map(Result::ok)
        .any(|name| ["[Content_Types].xml", "mimetype", "content.xml"].contains(&name.as_ref()));
    if is_workbook {
        return Ok(vec![whole.clone()]);
    }
    std::fs::create_dir_all(folder).map_err(AnalysisError::write(folder))?;
    let count = archive.len();
    let mut parts = Vec::new();
    for at in 0..count {
        limits.check()?;
        let entry = archive.by_index(at).map_err(|error| no_table(error.to_string()))?;
        let name = entry.name().map_err(|error| no_table(error.to_string()))?.into_owned();
        let inner = Path::new(&name);
        let is_hidden = name.contains("__MACOSX") || stem(inner).starts_with('.');
        if entry.is_dir() || is_hidden || entry.size() == 0 {
            continue;
        }
        if parts.len() == ENTRIES_MAX {
            let why = format!(
                "it is an archive of {count} entries, and at most {ENTRIES_MAX} files are read of \
                 one: unpack it and name those that matter"
            );
            return Err(AnalysisError::NoTable { path: file.to_owned(), why });
        }
        // The name inside is never used as a path.
        let target = folder.join(format!("{}-{at}", blake3::hash(name.as_bytes()).to_hex()));
        let mut out = File::create(&target).map_err(AnalysisError::write(&target))?;
        // What sizes an archive declares may be wrong, and its files share one limit.
        let mut bounded = LimitedReader { inner: entry, seen: 0, most: left };
        io::copy(&mut bounded, &mut out).map_err(|error| read_error(file, limits, error))?;
        left -= bounded.seen;
        let shown = file.join(inner.file_name().unwrap_or_default());
        parts.push(Unpacked { file: target, shown, packing: Packing::None, name: stem(inner) });
    }
    Ok(parts)
}
