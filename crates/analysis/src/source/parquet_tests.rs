use crate::load::{DataFolder, LoadedTable, quoted};
use crate::query::{QueryEngine, QueryLimits};
use crate::source::ReadLimits;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/parquet").join(name)
}

fn load(path: &Path) -> Result<(tempfile::TempDir, DataFolder, LoadedTable), String> {
    let folder = tempfile::tempdir().unwrap();
    let data = DataFolder::new(folder.path());
    let tables = data.load(path, &ReadLimits::default(), &|_| {});
    let table = tables.map_err(|error| error.to_string())?.remove(0);
    Ok((folder, data, table))
}

fn shown(data: &DataFolder, sql: &str) -> Vec<String> {
    let found = data.query(sql, &QueryLimits::default()).unwrap();
    found.rows[0].iter().map(crate::value::DataValue::shown).collect()
}

const SUMS: &str = "SELECT count(*), sum(id), count(small), sum(small), min(huge), sum(price), \
    count(price), max(wide), min(day), max(day), min(at), max(at), count(at), max(clock), \
    sum(ratio), sum(single), sum(open), count(open), count(region), \
    sum(region = '华东'), count(DISTINCT note), min(note), max(note) FROM ";

/// What every writer of the same rows has to give.
const SUMS_ARE: [&str; 23] = [
    "300",
    "44850",
    "257",
    "-150",
    "18446744073709551316",
    "1358",
    "257",
    "10000000000000000.0299",
    "2026-01-01",
    "2026-10-27",
    "2026-01-01 09:30:00",
    "2026-01-13 20:30:00",
    "257",
    "09:59:05",
    "5606.25",
    "4485",
    "85",
    "257",
    "257",
    "86",
    "300",
    "note number 0, shared beginning",
    "note number 99, shared beginning",
];

/// The column that each of these is of.
const SUM_COLUMNS: [&str; 23] = [
    "", "id", "small", "small", "huge", "price", "price", "wide", "day", "day", "at", "at", "at",
    "clock", "ratio", "single", "open", "open", "region", "region", "note", "note", "note",
];

#[test]
fn the_same_rows_are_read_from_every_writer_and_encoding() {
    for name in ["arrow", "gzip_v2", "encodings", "zstd", "duckdb"] {
        let (_folder, data, table) = load(&file(&format!("{name}.parquet"))).unwrap();
        assert_eq!(shown(&data, &format!("{SUMS}{}", table.name)), SUMS_ARE, "{name}");
    }
}

#[test]
fn structs_become_columns_and_lists_are_left_out_and_named() {
    let (_folder, data, table) = load(&file("arrow.parquet")).unwrap();
    let sql = "SELECT sum(place_lat), count(DISTINCT place_city) FROM arrow";
    assert_eq!(shown(&data, sql), ["11212.5", "5"]);
    assert_eq!(table.notes.dropped_columns, 0);
    assert_eq!(table.notes.left_out, ["tags (lists or maps)"]);
    assert!(table.notes.examples.is_empty());
}

#[test]
fn moments_of_old_writers_are_read() {
    let (_folder, data, _) = load(&file("int96.parquet")).unwrap();
    let sql = "SELECT min(at), max(at), count(at) FROM int96";
    assert_eq!(shown(&data, sql), ["2026-01-01 09:30:00", "2026-01-13 20:30:00", "257"]);
}

#[test]
fn a_packing_that_is_not_known_is_named() {
    let why = load(&file("lz4.parquet")).unwrap_err();
    assert!(why.contains("packed with LZ4: write it again with Snappy"), "{why}");
}

/// What a writer says of a number or a moment is kept.
#[test]
fn decimals_stay_numbers_and_moments_in_utc_say_so() {
    use super::meta::{LogicalType, PhysicalType::Int64};
    use super::values::{OwnedField, of_int, real};
    let decimal = of_int(12_345, Int64, LogicalType::Decimal { scale: 3 });
    assert_eq!(decimal, OwnedField::Number("12.345".into()));
    let moment = |is_utc| of_int(0, Int64, LogicalType::Timestamp { units: 1_000, is_utc });
    assert_eq!(moment(true), OwnedField::Text("1970-01-01 00:00:00Z".into()));
    assert_eq!(moment(false), OwnedField::Text("1970-01-01 00:00:00".into()));
    assert_eq!(real(f64::INFINITY), OwnedField::Error("inf"));
    assert_eq!(real(f64::NAN), OwnedField::Null);
}

/// How many of the columns have other sums than they should; all if there are no such columns.
fn columns_differing(data: &DataFolder, table: &LoadedTable) -> usize {
    let limits = QueryLimits::default();
    match data.query(&format!("{SUMS}{}", quoted(&table.name)), &limits) {
        Ok(found) => {
            let found = found.rows[0].iter().map(crate::value::DataValue::shown);
            let are_other = found.zip(SUMS_ARE).zip(SUM_COLUMNS);
            let other = are_other.filter(|((found, wanted), _)| found != wanted);
            other.map(|(_, column)| column).collect::<BTreeSet<_>>().len()
        }
        Err(_) => SUMS_ARE.len(),
    }
}

/// Whatever is wrong with a file, it is refused in words, soon and in little memory; or what is
/// damaged in one place costs the column that lies there, and no other.
#[test]
fn damaged_files_are_refused_and_never_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.parquet");
    let mut loaded = 0;
    for name in ["arrow", "encodings", "zstd", "int96"] {
        let whole = std::fs::read(file(&format!("{name}.parquet"))).unwrap();
        for cut in [whole.len() / 3, whole.len() - 9, whole.len() - 1] {
            std::fs::write(&path, &whole[..cut]).unwrap();
            assert!(load(&path).is_err(), "{name} cut at {cut}");
        }
        // Each change lies elsewhere; the same ones every time.
        for step in 0..60_usize {
            let mut bytes = whole.clone();
            let at = 4 + (step * 7_919) % (bytes.len() - 4);
            bytes[at] = bytes[at].wrapping_add(u8::try_from(1 + step * 37 % 255).unwrap());
            std::fs::write(&path, &bytes).unwrap();
            let Ok((_folder, data, table)) = load(&path) else { continue };
            let footer = whole[whole.len() - 8..whole.len() - 4].try_into().unwrap();
            let is_in_data = at < whole.len() - 8 - u32::from_le_bytes(footer) as usize;
            if is_in_data && name != "int96" {
                let other = columns_differing(&data, &table);
                assert!(other <= 1, "{name} changed at {at}: {other} columns");
                loaded += 1;
            }
        }
    }
    assert!(loaded > 20, "most places are in the values: {loaded}");
}

#[test]
fn text_that_is_packed_with_zstandard_is_read_and_other_packings_are_named() {
    let (_folder, data, table) = load(&file("../packed/rows.csv.zst")).unwrap();
    assert_eq!(table.name, "rows");
    assert_eq!(shown(&data, "SELECT count(*), sum(n) FROM rows"), ["3000", "4501500"]);
    let folder = tempfile::tempdir().unwrap();
    for (bytes, name) in [(&b"BZh9"[..], "bzip2"), (b"\xfd7zXZ\0", "xz"), (b"7z\xbc\xaf'", "7-Zip")]
    {
        let path = folder.path().join("packed.csv");
        std::fs::write(&path, bytes).unwrap();
        let why = load(&path).unwrap_err();
        assert!(why.contains(&format!("packed with {name}")), "{why}");
    }
}
