//! Files that are packed, nested, damaged or hostile; and reports that are moved and run again.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use everloop_analysis::{
    CheckDifference, CheckOptions, CheckReport, ColumnKind, DataFolder, DataValue, LoadedTable,
    QueryEngine, QueryLimits, ReadLimits, ReportParts, ResultStore, check_report_with,
    write_report,
};
use everloop_types::Lang;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

struct FileBench {
    folder: TempDir,
    data: DataFolder,
}

impl FileBench {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let data = DataFolder::new(folder.path().join("session"));
        Self { folder, data }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn try_load(&self, name: &str, bytes: impl AsRef<[u8]>) -> Result<Vec<LoadedTable>, String> {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        let loaded = self.data.load(&path, &ReadLimits::default(), &|_| {});
        loaded.map_err(|error| error.to_string())
    }

    fn load(&self, name: &str, bytes: impl AsRef<[u8]>) -> LoadedTable {
        self.try_load(name, bytes).unwrap().remove(0)
    }

    fn one(&self, sql: &str) -> DataValue {
        self.data.query(sql, &QueryLimits::default()).unwrap().rows[0][0].clone()
    }

    fn ask(&self, call: &str, sql: &str) {
        let result = self.data.query(sql, &QueryLimits::default()).unwrap();
        ResultStore::open(&self.data).unwrap().keep_query(call, sql, result, 1).unwrap();
    }

    fn report(&self, out: &str, words: &str) -> PathBuf {
        let out = self.path(out);
        let parts = ReportParts {
            words: words.to_owned(),
            question: "which region?".to_owned(),
            run: "run_1".to_owned(),
            made_at: "2026-11-18 10:00".to_owned(),
            lang: Lang::En,
        };
        write_report(&self.data, &out, &parts).unwrap();
        out
    }

    fn check(&self, report: &Path, data: Option<&Path>) -> CheckReport {
        let scratch = self.path("scratch");
        let _ = std::fs::remove_dir_all(&scratch);
        let (limits, bounds) = (&ReadLimits::default(), &QueryLimits::default());
        let options = CheckOptions { limits, bounds, data, code: None };
        check_report_with(report, &scratch, options, &|_| {}).unwrap()
    }
}

fn names(table: &LoadedTable) -> Vec<&str> {
    table.columns.iter().map(|column| column.name.as_str()).collect()
}

fn zipped(parts: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        archive.start_file(name.as_str(), zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// A workbook with a sheet for each text, which is the XML of its rows.
fn workbook(sheets: &[(&str, &str)]) -> Vec<u8> {
    let relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let package = "http://schemas.openxmlformats.org/package/2006/relationships";
    let (mut listed, mut related) = (String::new(), String::new());
    let mut parts = Vec::new();
    for (at, (name, rows)) in sheets.iter().enumerate() {
        let id = at + 1;
        listed += &format!("<sheet name=\"{name}\" sheetId=\"{id}\" r:id=\"r{id}\"/>");
        related += &format!(
            "<Relationship Id=\"r{id}\" Type=\"{relations}/worksheet\" \
             Target=\"worksheets/sheet{id}.xml\"/>"
        );
        let sheet = format!("<worksheet xmlns=\"{main}\"><sheetData>{rows}");
        let sheet =
            if rows.ends_with("</row>") { sheet + "</sheetData></worksheet>" } else { sheet };
        parts.push((format!("xl/worksheets/sheet{id}.xml"), sheet.into_bytes()));
    }
    let book = format!(
        "<workbook xmlns=\"{main}\" xmlns:r=\"{relations}\"><sheets>{listed}</sheets></workbook>"
    );
    let root = format!(
        "<Relationships xmlns=\"{package}\"><Relationship Id=\"r1\" \
         Type=\"{relations}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
    );
    let related = format!("<Relationships xmlns=\"{package}\">{related}</Relationships>");
    let mut all = vec![
        ("[Content_Types].xml".to_owned(), b"<Types/>".to_vec()),
        ("_rels/.rels".to_owned(), root.into_bytes()),
        ("xl/workbook.xml".to_owned(), book.into_bytes()),
        ("xl/_rels/workbook.xml.rels".to_owned(), related.into_bytes()),
    ];
    all.extend(parts);
    zipped(&all)
}

/// A header `n` and the number 1 below it.
const ROWS: &str = "<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t>n</t></is></c></row>\
                    <row r=\"2\"><c r=\"A2\"><v>1</v></c></row>";

#[test]
fn the_table_of_an_object_is_read_and_what_stands_beside_it_is_named() {
    let bench = FileBench::new();
    let json = r#"{"total": 2, "note": ["a", {"b": "]"}], "data": [{"a": 1, "s": "x\"}]"},
        {"a": 2}], "more": [{"c": 1}]}"#;
    let table = bench.load("nested.json", json);
    assert_eq!((table.rows, names(&table)), (2, vec!["a", "s"]));
    assert_eq!(table.notes.left_out, ["total", "note", "more"]);
    assert_eq!(bench.one("SELECT s FROM nested WHERE a = 1"), DataValue::Text("x\"}]".into()));
    let single = bench.load("single.json", r#" {"name": "x", "tags": [1, 2], "n": 1.50} "#);
    assert_eq!((single.rows, names(&single)), (1, vec!["name", "tags", "n"]));
    assert_eq!(bench.one("SELECT tags FROM single"), DataValue::Text("[1, 2]".into()));
    let values = bench.load("values.json", "[1, 2.5, null, \"4\"]");
    assert_eq!((values.rows, names(&values)), (4, vec!["value"]));
}

#[test]
fn a_broken_record_costs_one_record_and_a_file_that_ends_early_its_last() {
    let bench = FileBench::new();
    let table = bench.load("broken.json", "[{\"a\": 1},\n{\"a\" 2},\n{\"a\": 3}]");
    assert_eq!((table.rows, table.notes.broken_rows), (2, 1));
    assert!(table.notes.examples[0].starts_with("line 2"), "{:?}", table.notes.examples);
    let table = bench.load("short.json", "{\"data\": [{\"a\": 1}, {\"a\": 2}, {\"a\": ");
    assert_eq!((table.rows, table.notes.broken_rows), (2, 1));
}

#[test]
fn a_cell_of_json_that_is_too_long_is_cut_and_told() {
    let bench = FileBench::new();
    let json = format!("[{{\"a\": 1, \"t\": \"{}\"}}]", "x".repeat(3 << 20));
    assert_eq!(bench.load("long.json", json).notes.cut_cells, 1);
    assert_eq!(bench.one("SELECT length(t) FROM long"), DataValue::Int(1 << 20));
}

#[test]
fn no_file_of_an_archive_is_left_out_in_silence() {
    let bench = FileBench::new();
    let part = |at: usize| (format!("part{at}.csv"), b"a,b\n1,2\n".to_vec());
    let many: Vec<(String, Vec<u8>)> = (0..201).map(part).collect();
    let refused = bench.try_load("many.zip", zipped(&many)).unwrap_err();
    assert!(refused.contains("201 entries") && refused.contains("200"), "{refused}");
    assert_eq!(bench.try_load("fine.zip", zipped(&many[..200])).unwrap().len(), 200);
}

/// Each file is small enough by itself, and each says that it is smaller than it is.
#[test]
fn the_files_of_an_archive_share_one_limit_whatever_sizes_they_declare() {
    let bench = FileBench::new();
    let zeros = vec![b'0'; 40 << 20];
    let parts: Vec<(String, Vec<u8>)> =
        (0..2).map(|at| (format!("bomb{at}.csv"), zeros.clone())).collect();
    let mut archive = zipped(&parts);
    assert!(bench.try_load("bomb.zip", &archive).unwrap_err().contains("unpacks to more"));
    // The size stands behind the packed one, in both kinds of headers.
    let declared = u32::try_from(zeros.len()).unwrap().to_le_bytes();
    let places: Vec<usize> =
        (0..archive.len() - 4).filter(|at| archive[*at..at + 4] == declared).collect();
    assert!(places.len() >= 2, "the sizes were found");
    places.iter().for_each(|at| archive[*at..at + 4].copy_from_slice(&100_u32.to_le_bytes()));
    let refused = bench.try_load("lying.zip", &archive).unwrap_err();
    assert!(bench.data.tables().unwrap().is_empty(), "{refused}");
}

#[test]
fn a_workbook_that_unpacks_to_too_much_is_refused() {
    let bench = FileBench::new();
    let cell = "<c r=\"A1\" t=\"inlineStr\"><is><t>x</t></is></c>";
    let rows = format!("<row r=\"1\">{cell}{}</row>", " ".repeat(80 << 20));
    let refused = bench.try_load("bomb.xlsx", workbook(&[("S", &rows)])).unwrap_err();
    assert!(refused.contains("unpacks to more"), "{refused}");
}

#[test]
fn a_tar_archive_is_named_and_a_packed_workbook_is_read() {
    let bench = FileBench::new();
    let mut tar = vec![0_u8; 1024];
    tar[..8].copy_from_slice(b"data.csv");
    tar[257..262].copy_from_slice(b"ustar");
    tar.extend_from_slice(b"a,b\n1,2\n");
    tar.resize(4096, 0);
    for (name, bytes) in [("data.tar", tar.clone()), ("data.tar.gz", gzipped(&tar))] {
        let refused = bench.try_load(name, bytes).unwrap_err();
        assert!(refused.contains("tar archive"), "{refused}");
    }
    let table = bench.load("book.xlsx.gz", gzipped(&workbook(&[("S", ROWS)])));
    assert_eq!((table.name.as_str(), table.rows, names(&table)), ("book", 1, vec!["n"]));
    let inner = zipped(&[("one.csv".to_owned(), b"a,b\n1,2\n".to_vec())]);
    assert_eq!(bench.load("pack.zip.gz", gzipped(&inner)).name, "one");
}

#[test]
fn a_damaged_sheet_beside_a_whole_one_is_named() {
    let bench = FileBench::new();
    let damaged = "<row r=\"1\"><c r=\"A1\"><v>1</w></c>";
    let table = bench.load("half.xlsx", workbook(&[("Good", ROWS), ("Bad", damaged)]));
    assert_eq!(table.rows, 1);
    assert_eq!(table.notes.left_out, ["Bad (damaged)"]);
    let refused = bench.try_load("none.xlsx", workbook(&[("Bad", damaged)])).unwrap_err();
    assert!(refused.contains("sheet Bad"), "{refused}");
}

#[test]
fn fields_are_separated_by_what_the_file_says_or_shows() {
    let bench = FileBench::new();
    let said = bench.load("said.csv", "sep=;\r\nregion;amount\r\nEast;1,5\r\nWest;2,25\r\n");
    assert_eq!((said.rows, names(&said)), (2, vec!["region", "amount"]));
    assert_eq!(said.columns[1].plan.kind, ColumnKind::Decimal);
    let aligned = bench.load(
        "aligned.txt",
        "city          people\nNew York      8,000,000\nRome          2,800,000\n",
    );
    assert_eq!((aligned.rows, names(&aligned)), (2, vec!["city", "people"]));
    let most = "SELECT city FROM aligned ORDER BY people DESC";
    assert_eq!(bench.one(most), DataValue::Text("New York".into()));
    let hive = bench.load("hive.txt", "a\u{1}1, 2\u{1}3\nb\u{1}4\u{1}5\n");
    assert_eq!((hive.rows, hive.columns.len(), hive.notes.separator), (2, 3, Some('\u{1}')));
}

/// The first half is UTF-8, the second GB18030: either is wrong for half of the letters.
#[test]
fn a_file_that_is_half_in_another_encoding_is_told() {
    let bench = FileBench::new();
    let (other, _, _) = encoding_rs::GB18030.encode("北京\n");
    let bytes =
        [b"city\n".as_slice(), "上海\n".repeat(300).as_bytes(), &other.repeat(300)].concat();
    let table = bench.load("half.csv", bytes);
    assert_eq!(table.rows, 600);
    let notes = &table.notes;
    assert!(notes.mixed_encodings || notes.bad_characters > 0, "{notes:?}");
}

#[test]
fn a_formula_of_the_data_is_none_in_the_files_of_a_report() {
    let bench = FileBench::new();
    let formula = "=HYPERLINK(\"\"http://x.example\"\",\"\"y\"\")";
    bench.load("cells.csv", format!("region,n\n\"{formula}\",1\n@SUM(A1),2\n"));
    bench.ask("call-1", "SELECT region, n FROM cells ORDER BY n");
    let out = bench.report("report", "The largest is {{q1.r2.n}}.");
    let csv = std::fs::read_to_string(out.join("results/q1.csv")).unwrap();
    assert!(csv.contains("\"'=HYPERLINK(") && csv.contains("\n'@SUM(A1),2"), "{csv}");
    assert!(!csv.contains("\n=") && !csv.contains("\n\"="), "{csv}");
    let checked = bench.check(&out, None);
    assert_eq!((checked.agree, checked.differences), (1, vec![]));
}

#[test]
fn a_value_that_a_query_makes_has_a_limit_and_rows_may_be_longer() {
    let bench = FileBench::new();
    bench.load("t.csv", "a\n1\n");
    for sql in ["SELECT length(zeroblob(100000000))", "SELECT length(printf('%99999999d', 1))"] {
        let refused = bench.data.query(sql, &QueryLimits::default()).unwrap_err().to_string();
        assert!(refused.contains("too big"), "{sql}: {refused}");
    }
    let cell = "x".repeat(1 << 20);
    let json: Vec<String> = (0..40).map(|at| format!("\"c{at}\": \"{cell}\"")).collect();
    bench.load("wide.json", format!("[{{{}}}]", json.join(",")));
    assert_eq!(bench.one("SELECT length(c0) + length(c39) FROM wide"), DataValue::Int(2 << 20));
}

const SALES: &str = "region,amount\nEast,100\nWest,250\n";

#[test]
fn a_report_is_checked_where_it_was_moved_with_its_data() {
    let bench = FileBench::new();
    bench.load("work/sales.csv", SALES);
    bench.ask("call-1", "SELECT region, amount FROM sales ORDER BY region");
    bench.report("work/report", "East has 100, West 250.");
    std::fs::rename(bench.path("work"), bench.path("shared")).unwrap();
    let report = bench.path("shared/report");
    let checked = bench.check(&report, None);
    assert_eq!((checked.agree, checked.differences), (2, vec![]));
    // The same bytes under another name, in a folder that is named.
    std::fs::create_dir(bench.path("other")).unwrap();
    std::fs::rename(bench.path("shared/sales.csv"), bench.path("other/copy.dat")).unwrap();
    let checked = bench.check(&report, Some(&bench.path("other")));
    assert_eq!((checked.agree, checked.differences), (2, vec![]));
    let checked = bench.check(&report, None);
    let is_missing = |told: &CheckDifference| matches!(told, CheckDifference::DataMissing { .. });
    assert!(checked.differences.len() == 1 && is_missing(&checked.differences[0]), "{checked:?}");
    assert_eq!((checked.agree, checked.not_computed), (0, 2));
}

#[test]
fn a_report_runs_again_in_python_and_tells_when_the_data_has_changed() {
    let python = Path::new("/usr/bin/python3");
    let python = if python.exists() { python } else { Path::new("python3") };
    if Command::new(python).arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no Python on this machine");
        return;
    }
    let bench = FileBench::new();
    let mut text = "Sales\nday;region;amount;share;at;code;part;land\n".to_owned();
    for at in 0..40 {
        text += &format!(
            "{:02}.01.2026;东{};\"1.{at:03},5{}\";{at}%;2026-01-01T{:02}:15:00.5+0{}:00;0{at};MARK-{:02}-2024;{}\n",
            at % 28 + 1,
            at % 3,
            at % 7,
            at % 24,
            at % 2 + 1,
            at % 28 + 1,
            if at % 2 == 0 { "NA" } else { "DE" },
        );
    }
    text += "N/A;x;oops;--;2026-01-02 12:30 AM;7;MAY-01-2024;\n";
    let (bytes, _, _) = encoding_rs::GB18030.encode(&text);
    let table = bench.load("sales.csv", bytes);
    assert_eq!(table.columns[4].plan.kind, ColumnKind::DateTime);
    bench.load("more.json", r#"{"n": 1, "rows": [{"a": 0.1, "b": {"c": "x"}}, {"a": 0.2}]}"#);
    bench.ask("call-1", "SELECT region, sum(amount) AS s, avg(share) AS m FROM sales GROUP BY 1");
    bench.ask("call-2", "SELECT min(day), max(day), min(at), max(at), min(code) FROM sales");
    bench.ask("call-3", "SELECT * FROM sales ORDER BY rowid");
    bench.ask("call-4", "SELECT * FROM sales_misfits");
    bench.ask("call-5", "SELECT a, b_c FROM more");
    bench.ask("call-6", "SELECT land, count(*), min(part), max(part) FROM sales GROUP BY land");
    let results = ResultStore::open(&bench.data).unwrap();
    let code = "found = query('SELECT count(*) AS n FROM sales')\nprint('rows', len(found))";
    let done = everloop_analysis::CellState::Done;
    let cell = everloop_analysis::KeptCell::new(code, true);
    results
        .keep_cell("c", |number| everloop_analysis::KeptCell { number, state: done, ..cell })
        .unwrap();
    let out = bench.report("report", "Done.");
    let run = || Command::new(python).arg(out.join("analysis.py")).output().unwrap();
    let ran = run();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let all = format!("{said}{}", String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{all}");
    assert_eq!(said.matches("the same as in the report").count(), 6, "{all}");
    assert!(said.contains("sales: 41 rows") && said.contains("rows 1"), "{all}");
    let sql = std::fs::read_to_string(out.join("analysis.sql")).unwrap();
    assert!(sql.contains("-- CREATE TABLE \"sales\" (\"day\" TEXT"), "{sql}");
    let changed = encoding_rs::GB18030.encode(&text.replace("1.001,5", "1.002,5")).0.into_owned();
    std::fs::write(bench.path("sales.csv"), changed).unwrap();
    let ran = run();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(!ran.status.success() && said.contains("q1: 4 rows, NOT the same"), "{said}");
}
