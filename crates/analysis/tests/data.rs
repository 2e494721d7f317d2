//! Data sets with known answers: what is loaded, asked and reported is what was put in.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use everloop_analysis::{
    ColumnKind, DataFolder, DataValue, LoadedTable, QueryEngine, QueryLimits, QueryResult,
    ReadLimits, ReportParts, ResultStore, check_report, check_report_folder, profile, write_report,
};
use everloop_types::Lang;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

struct Bench {
    folder: TempDir,
    data: DataFolder,
}

impl Bench {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let data = DataFolder::new(folder.path().join("session"));
        Self { folder, data }
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn load(&self, file: &Path) -> LoadedTable {
        let mut tables = self.data.load(file, &ReadLimits::default(), &|_| {}).unwrap();
        tables.remove(0)
    }

    fn loaded(&self, name: &str, bytes: impl AsRef<[u8]>) -> LoadedTable {
        self.load(&self.file(name, bytes))
    }

    fn refused(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let file = self.file(name, bytes);
        let refused = self.data.load(&file, &ReadLimits::default(), &|_| {});
        refused.expect_err("it is refused").to_string()
    }

    fn query(&self, sql: &str) -> QueryResult {
        self.data.query(sql, &QueryLimits::default()).unwrap()
    }

    fn one(&self, sql: &str) -> DataValue {
        self.query(sql).rows[0][0].clone()
    }

    fn ask(&self, call: &str, sql: &str) {
        let result = self.query(sql);
        ResultStore::open(&self.data).unwrap().keep_query(call, sql, result, 1).unwrap();
    }

    fn report(&self, words: &str) -> (PathBuf, usize, usize) {
        let out = self.folder.path().join("report");
        let parts = ReportParts {
            words: words.to_owned(),
            question: "which region?".to_owned(),
            run: "run_1".to_owned(),
            made_at: "2026-11-18 10:00".to_owned(),
            lang: Lang::En,
        };
        let written = write_report(&self.data, &out, &parts).unwrap();
        (out, written.counts.proven, written.counts.numbers)
    }

    fn check(&self, out: &Path) -> everloop_analysis::CheckReport {
        let scratch = self.folder.path().join("scratch");
        let _ = std::fs::remove_dir_all(&scratch);
        let limits = (&ReadLimits::default(), &QueryLimits::default());
        check_report(out, &scratch, limits, &|_| {}).unwrap()
    }
}

fn kinds(table: &LoadedTable) -> Vec<ColumnKind> {
    table.columns.iter().map(|column| column.plan.kind).collect()
}

/// A year of sales in three regions: East rises by one a day, West is level, North falls.
fn sales() -> String {
    let mut text = "day,region,amount\n".to_owned();
    for day in 0..300_i64 {
        let (month, of_month) = (day / 28 + 1, day % 28 + 1);
        for (region, amount) in [("East", 100 + day), ("West", 250), ("North", 900 - 2 * day)] {
            text += &format!("2026-{month:02}-{of_month:02},{region},{amount}.10\n");
        }
    }
    text
}

#[test]
fn trends_are_found_and_sums_are_exact() {
    let bench = Bench::new();
    let table = bench.loaded("sales.csv", sales());
    assert_eq!((table.name.as_str(), table.rows), ("sales", 900));
    assert_eq!(kinds(&table), [ColumnKind::Date, ColumnKind::Text, ColumnKind::Decimal]);
    let east = "SELECT sum(amount) FROM sales WHERE region = 'East'";
    // 300 times 100.10, and 0 + 1 + … + 299.
    assert_eq!(bench.one(east), DataValue::Real(74_880.0));
    let tenths = bench.loaded("tenths.csv", "v\n".to_owned() + &"0.1\n".repeat(1_000));
    assert_eq!(tenths.rows, 1_000);
    assert_eq!(bench.one("SELECT sum(v) = 100 FROM tenths"), DataValue::Int(1));
    assert_eq!(bench.one("SELECT avg(v) FROM tenths"), DataValue::Real(0.1));
    let running = "SELECT sum(v) OVER (ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM tenths \
                   LIMIT 1 OFFSET 5";
    assert_eq!(bench.one(running), DataValue::Real(0.2));
}

#[test]
fn joins_with_duplicates_are_told() {
    let bench = Bench::new();
    bench.loaded("orders.csv", "order_id,customer_id,total\n1,a,10\n2,b,20\n3,a,30\n4,z,5\n");
    bench.loaded("customers.csv", "customer_id,city\na,Rome\nb,Oslo\na,Roma\n");
    let tables = bench.data.tables().unwrap();
    let found = profile(&bench.data, &tables, &QueryLimits::default(), &|_| {}).unwrap();
    assert_eq!(found.joins.len(), 1);
    let join = &found.joins[0];
    assert_eq!((join.by.as_str(), join.found, join.values), ("orders.customer_id", 2, 3));
    assert!(join.is_repeated, "customer a is there twice");
    assert_eq!(found.tables[0].keys, ["order_id", "total"]);
}

#[test]
fn dirty_numbers_and_dates_are_read_and_what_does_not_fit_is_counted() {
    let bench = Bench::new();
    let mut text = "when;paid;code\n".to_owned();
    for at in 0..40 {
        text += &format!("{:02}.01.2026;\"1.{at:03},50\";00{at}\n", at % 28 + 1);
    }
    text += "31.01.2026;oops;7\nN/A;--;8\n";
    let table = bench.loaded("dirty.csv", text);
    assert_eq!(kinds(&table), [ColumnKind::Date, ColumnKind::Decimal, ColumnKind::Text]);
    let paid = &table.columns[1].misfits;
    assert_eq!(
        (paid.misfits, paid.missing, paid.examples.as_slice()),
        (1, 1, &["oops".to_owned()][..])
    );
    assert_eq!(bench.one("SELECT max(\"when\") FROM dirty"), DataValue::Text("2026-01-31".into()));
    let sum = "SELECT sum(paid) FROM dirty";
    // 40 times 1000.50, and 0 + … + 39; the word counts as nothing.
    assert_eq!(bench.one(sum), DataValue::Real(40_800.0));
}

#[test]
fn outliers_duplicates_and_gaps_are_in_the_profile() {
    let bench = Bench::new();
    let mut text = "day,load\n".to_owned();
    for day in (1..=28).filter(|day| !(10..=14).contains(day)) {
        text += &format!("2026-02-{day:02},{}\n", 100 + day % 7);
    }
    text += "2026-02-28,9999\n2026-02-28,9999\n";
    bench.loaded("load.csv", text);
    let tables = bench.data.tables().unwrap();
    let found = profile(&bench.data, &tables, &QueryLimits::default(), &|_| {}).unwrap();
    let table = &found.tables[0];
    assert_eq!(table.duplicate_rows, Some(1));
    let gaps = table.columns[0].gaps.clone().unwrap();
    assert_eq!((gaps.missing, gaps.longest_from.as_str()), (5, "2026-02-10"));
    assert_eq!(table.columns[1].spread.outliers, Some(2));
    assert!(table.columns[1].odd.contains(&"outliers"));
}

#[test]
fn chinese_columns_in_gb18030_are_read() {
    let bench = Bench::new();
    let mut text = "地区,销售额,日期\n".to_owned();
    for at in 1..=60 {
        text += &format!(
            "华东地区,{at}.5,2026年3月{}日\n华南地区,{at},2026年4月{}日\n",
            at % 28 + 1,
            at % 28 + 1
        );
    }
    let (bytes, _, _) = encoding_rs::GB18030.encode(&text);
    let table = bench.loaded("销售.csv", bytes);
    assert_eq!((table.name.as_str(), table.notes.encoding.as_str()), ("销售", "gb18030"));
    assert_eq!(kinds(&table), [ColumnKind::Text, ColumnKind::Decimal, ColumnKind::Date]);
    let sql = "SELECT sum(销售额) FROM 销售 WHERE 地区 = '华东地区'";
    assert_eq!(bench.one(sql), DataValue::Real(1_860.0));
}

#[test]
fn utf_16_with_and_without_a_mark_is_read() {
    let bench = Bench::new();
    let utf_16 =
        |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let plain = bench.loaded("plain.csv", utf_16("name,n\nzoë,1\nanna,2\nbert,3\n"));
    assert_eq!((plain.notes.encoding.as_str(), plain.rows), ("UTF-16LE", 3));
    let marked = bench.loaded("marked.csv", [vec![0xff, 0xfe], utf_16("name,n\nzoë,1\n")].concat());
    assert_eq!(marked.columns[0].name, "name");
}

#[test]
fn json_json_lines_gzip_and_zip_are_tables() {
    use std::io::Write as _;
    let bench = Bench::new();
    let json = r#"[{"a": 1, "b": {"c": "x"}}, {"a": 2.5, "d": true}]"#;
    let table = bench.loaded("list.json", json);
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!((names.as_slice(), table.rows), (&["a", "b_c", "d"][..], 2));
    let lines = bench.loaded("wrong.csv", "{\"a\": 1}\n{\"a\": 2}\nnot json\n{\"a\": 3}\n");
    assert_eq!((lines.rows, lines.notes.broken_rows), (3, 1));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"a,b\n1,2\n").unwrap();
    assert_eq!(bench.loaded("small.csv.gz", packed.finish().unwrap()).name, "small");
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for name in ["../../one.csv", "two.csv"] {
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(b"a,b\n1,2\n").unwrap();
    }
    let file = bench.file("both.zip", archive.finish().unwrap().into_inner());
    let tables = bench.data.load(&file, &ReadLimits::default(), &|_| {}).unwrap();
    let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["one", "two"]);
}

#[test]
fn quoted_newlines_across_buffers_stay_in_their_cells() {
    let bench = Bench::new();
    let long = "line\n\"\"quoted\"\", and more\n".repeat(20_000);
    let text = format!("id,note\n1,\"{long}\"\n2,short\n");
    let table = bench.loaded("notes.csv", text);
    assert_eq!((table.rows, table.notes.uneven_rows), (2, 0));
    let kept = bench.one("SELECT length(note) FROM notes WHERE id = 1");
    assert_eq!(kept, DataValue::Int(i64::try_from(long.replace("\"\"", "\"").len()).unwrap()));
}

/// Rows of 16 bytes: a line end is the last byte of each chunk, however large chunks are.
#[test]
fn no_row_is_lost_where_a_chunk_ends_with_a_line() {
    let bench = Bench::new();
    let mut text = "idnumber,amount\n".to_owned();
    (0..50_000).for_each(|row| text.push_str(&format!("{row:08},{:06}\n", row % 1_000)));
    let table = bench.loaded("fixed.csv", text);
    assert_eq!((table.rows, table.notes.broken_rows), (50_000, 0));
    assert_eq!(bench.one("SELECT count(*) FROM fixed"), DataValue::Int(50_000));
}

#[test]
fn a_quote_that_is_never_closed_is_told() {
    let bench = Bench::new();
    let table = bench.loaded("open.csv", "id,note\n1,fine\n2,\"never closed\n3,gone\n4,gone\n");
    assert_eq!((table.rows, table.notes.broken_rows), (1, 1));
    assert!(table.notes.examples[0].contains("never closed"), "{:?}", table.notes.examples);
    let table = bench.loaded("shut.csv", "id,note\n1,fine\n2,\"two\nlines\"");
    assert_eq!((table.rows, table.notes.broken_rows), (2, 0));
}

#[test]
fn hostile_files_are_refused_or_read_and_told() {
    use std::io::Write as _;
    let bench = Bench::new();
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    bomb.write_all(b"a,b\n").unwrap();
    for _ in 0..300 {
        bomb.write_all(&[b'0'; 1 << 20]).unwrap();
    }
    assert!(bench.refused("bomb.csv.gz", bomb.finish().unwrap()).contains("unpacks to more"));
    assert!(
        bench
            .refused("picture.csv", [0x89, b'P', b'N', b'G', 13, 10, 26, 10, 1, 2, 3])
            .contains("no text")
    );
    assert!(bench.refused("empty.csv", "").contains("empty"));
    let header: Vec<String> = (0..10_000).map(|at| format!("c{at}")).collect();
    let row = vec!["1"; 10_000].join(",");
    let wide = bench.loaded("wide.csv", format!("{}\n{row}\n", header.join(",")));
    assert_eq!((wide.columns.len(), wide.notes.dropped_columns), (2_000, 8_000));
    let nul = bench.loaded("nul.csv", "a,b\n1,x\0y\n2,z\n");
    assert_eq!((nul.rows, nul.notes.nul_bytes), (2, 1));
    let mixed = [b"name,n\n".as_slice(), "zoë,1\n".repeat(200).as_bytes(), b"ren\xe9,2\n"].concat();
    let mixed = bench.loaded("mixed.csv", mixed);
    assert_eq!((mixed.notes.encoding.as_str(), mixed.notes.bad_characters), ("UTF-8", 1));
    let huge = format!("a,b\n1,\"{}\"\n", "x".repeat(3 << 20));
    assert_eq!(bench.loaded("huge.csv", huge).notes.cut_cells, 1);
    let odd = bench.loaded("odd.csv", "a,a,,\"x\"\"; DROP TABLE t;--\"\n1,2,3,4\n1,2\n");
    assert_eq!((odd.columns.len(), odd.notes.uneven_rows, odd.rows), (4, 1, 2));
}

#[test]
fn queries_only_read() {
    let bench = Bench::new();
    bench.loaded("t.csv", "a,b\n1,2\n3,4\n");
    let refused = [
        "DELETE FROM t",
        "DROP TABLE t",
        "ATTACH 'x' AS y",
        "PRAGMA query_only = off",
        "SELECT 1; SELECT 2",
        "",
        "CREATE TABLE u (a)",
        "SELECT load_extension('x')",
        "VACUUM",
        "INSERT INTO t VALUES (1, 2)",
    ];
    for sql in refused {
        assert!(bench.data.query(sql, &QueryLimits::default()).is_err(), "{sql}");
    }
    assert_eq!(bench.one("SELECT count(*) FROM t"), DataValue::Int(2));
}

#[test]
fn a_query_without_end_is_stopped_in_time() {
    let bench = Bench::new();
    bench.loaded("t.csv", "a\n1\n2\n");
    let endless =
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT sum(x) FROM n";
    let limits =
        QueryLimits { timeout: std::time::Duration::from_millis(200), ..QueryLimits::default() };
    let error = bench.data.query(endless, &limits).unwrap_err().to_string();
    assert!(error.contains("stopped after"), "{error}");
    let limits = QueryLimits::default();
    limits.cancel.cancel();
    assert_eq!(bench.data.query(endless, &limits).unwrap_err().to_string(), "canceled");
}

#[test]
fn a_load_that_is_canceled_leaves_nothing_and_one_that_was_done_is_not_done_again() {
    let bench = Bench::new();
    let file = bench.file("big.csv", "a,b\n".to_owned() + &"1,2\n".repeat(50_000));
    let limits = ReadLimits::default();
    let cancel = limits.cancel.clone();
    let stopped = bench.data.load(&file, &limits, &move |_| cancel.cancel());
    assert_eq!(stopped.unwrap_err().to_string(), "canceled");
    assert_eq!(bench.data.tables().unwrap(), []);
    let first = bench.load(&file);
    let again =
        bench.data.load(&file, &ReadLimits::default(), &|_| panic!("loaded again")).unwrap();
    assert_eq!(again, [first]);
}

#[test]
fn a_report_has_all_its_files_and_its_numbers_are_computed_again() {
    let bench = Bench::new();
    bench.loaded("sales.csv", sales());
    let sql = "SELECT region, sum(amount) AS total FROM sales GROUP BY region ORDER BY total DESC";
    bench.ask("call-1", sql);
    bench.ask("call-1", sql);
    let (out, proven, numbers) = bench.report(
        "# North sells {{q1.r1.total|0}}\n\nEast sells 74,880 and <script>alert()</script> West \
         75,030. One is invented: 12,345.\n",
    );
    assert_eq!((proven, numbers), (3, 4));
    for name in ["report.md", "report.html", "analysis.sql", "analysis.py", "data_manifest.json"] {
        assert!(out.join(name).exists(), "{name}");
    }
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(!page.contains("<script") && page.contains("class=\"n bad\""));
    assert!(!page.contains("http://") || page.contains("www.w3.org"));
    let words = std::fs::read_to_string(out.join("report.md")).unwrap();
    assert!(words.contains("12,345 ⚠") && words.contains("| 74,880 |"), "{words}");
    let checked = bench.check(&out);
    assert_eq!((checked.agree, checked.without_source, checked.differences.len()), (3, 1, 0));
}

#[test]
fn a_report_replaces_an_earlier_one_and_nothing_else() {
    let bench = Bench::new();
    bench.loaded("sales.csv", "region,amount\nEast,100\nWest,250\n");
    bench.ask("call-1", "SELECT region, amount FROM sales ORDER BY region");
    bench.ask("call-2", "SELECT sum(amount) AS total FROM sales");
    let (out, ..) = bench.report("East has 100, West 250.");
    assert!(out.join("results/q2.csv").exists());
    std::fs::write(out.join("results/own.csv"), "mine").unwrap();
    // The next run makes one query.
    std::fs::remove_file(bench.data.path().join("results.sqlite")).unwrap();
    bench.ask("call-1", "SELECT region, amount FROM sales ORDER BY region");
    bench.report("East has 100.");
    assert!(!out.join("results/q2.csv").exists(), "of the earlier report");
    assert!(out.join("results/own.csv").exists() && out.join("results/q1.csv").exists());
    let other = bench.folder.path().join("thesis");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("report.md"), "a year of work").unwrap();
    let refused = check_report_folder(&other).unwrap_err().to_string();
    assert!(refused.contains("holds no report"), "{refused}");
    check_report_folder(&out).unwrap();
    check_report_folder(&bench.folder.path().join("none")).unwrap();
}

#[test]
fn a_check_finds_changed_data_and_changed_words() {
    let bench = Bench::new();
    let file = bench.file("sales.csv", "region,amount\nEast,100\nWest,250\n");
    bench.load(&file);
    bench.ask("call-1", "SELECT region, amount FROM sales ORDER BY region");
    let (out, proven, numbers) = bench.report("East has 100, West 250.");
    assert_eq!((proven, numbers), (2, 2));
    let words = std::fs::read_to_string(out.join("report.md")).unwrap();
    std::fs::write(out.join("report.md"), words.replacen("West 250", "West 260", 1)).unwrap();
    assert_eq!(bench.check(&out).differences.len(), 1, "the words say another number");
    std::fs::write(out.join("report.md"), &words).unwrap();
    assert_eq!(bench.check(&out).differences.len(), 0);
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    std::fs::write(out.join("report.html"), page.replacen("250", "260", 1)).unwrap();
    assert_eq!(bench.check(&out).differences.len(), 1, "the page says another number");
    std::fs::write(out.join("report.html"), page).unwrap();
    std::fs::write(&file, "region,amount\nEast,100\nWest,251\n").unwrap();
    let changed = bench.check(&out).differences;
    assert!(changed.len() >= 3, "data, result and number: {changed:?}");
}

#[test]
fn a_query_that_reads_no_data_gives_a_constant() {
    let bench = Bench::new();
    bench.loaded("sales.csv", sales());
    for sql in [
        "SELECT 99999 AS total",
        "SELECT 'East' AS region, 99990 + 9 AS total FROM sales LIMIT 1",
        "WITH sales AS (SELECT 99999 AS total) SELECT total FROM sales",
        "SELECT value AS total FROM json_each('[99999]')",
        "SELECT count(*) FROM (VALUES (1), (2))",
        "SELECT length(told) FROM everloop_tables",
    ] {
        assert!(bench.query(sql).is_constant, "{sql}");
    }
    for sql in [
        "SELECT count(*) AS rows FROM sales",
        "SELECT sum(amount) AS total FROM sales",
        "WITH t AS (SELECT amount AS a FROM sales) SELECT max(a) AS a FROM t",
    ] {
        assert!(!bench.query(sql).is_constant, "{sql}");
    }
    bench.ask("a", "SELECT 'East' AS region, 99999 AS total FROM sales LIMIT 1");
    let (out, proven, numbers) = bench.report("East sold 99,999, or {{q1.r1.total}}.");
    assert_eq!((proven, numbers), (0, 2));
    assert_eq!(bench.check(&out).agree, 0);
}

#[test]
fn a_column_that_is_called_like_a_cell_of_code_is_computed_again() {
    let bench = Bench::new();
    bench.loaded("sales.csv", sales());
    bench.ask("call-1", "SELECT sum(amount) AS c3 FROM sales");
    let (out, _, _) = bench.report("All of it is {{q1.r1.c3}}.");
    let report = bench.check(&out);
    assert_eq!((report.agree, report.from_code), (1, 0), "{report:?}");
}

#[test]
fn a_check_that_is_stopped_says_so_and_a_file_elsewhere_is_not_looked_at() {
    let bench = Bench::new();
    bench.loaded("a..b.csv", sales());
    // Long enough for a look at whether to stop.
    let pairs = "SELECT sum(a.amount) AS s FROM a_b AS a, (SELECT 1 FROM a_b LIMIT 100) AS b";
    bench.ask("call-1", pairs);
    let (out, _, _) = bench.report("All of it is {{q1.r1.s}}.");
    assert_eq!(bench.check(&out).differences, []);
    let outside = bench.file("outside.txt", "x");
    let mut manifest = everloop_analysis::DataManifest::read(&out).unwrap();
    let hash = manifest.files.values().next().unwrap().clone();
    manifest.files.insert(outside.display().to_string(), hash.clone());
    manifest.files.insert("../outside.txt".to_owned(), hash);
    let text = serde_json::to_string(&manifest).unwrap();
    std::fs::write(out.join("data_manifest.json"), text).unwrap();
    let found = bench.check(&out).differences;
    assert_eq!(found.len(), 2, "{found:?}");
    let limits = ReadLimits::default();
    let bounds = QueryLimits::default();
    bounds.cancel.cancel();
    let scratch = bench.folder.path().join("scratch-2");
    let stopped = check_report(&out, &scratch, (&limits, &bounds), &|_| {});
    assert_eq!(stopped.unwrap_err().to_string(), "canceled");
}

#[test]
fn numbers_of_the_question_are_not_said_to_be_computed_again() {
    let bench = Bench::new();
    bench.loaded("sales.csv", sales());
    bench.ask("a", "SELECT region, sum(amount) AS total FROM sales GROUP BY 1");
    let out = bench.folder.path().join("report");
    let parts = ReportParts {
        words: "East sold {{q1.r1.total}}; sales doubled; above 99,999 there is one.".to_owned(),
        question: "who sold above 99,999?".to_owned(),
        run: "run_1".to_owned(),
        made_at: String::new(),
        lang: Lang::En,
    };
    let counts = write_report(&bench.data, &out, &parts).unwrap().counts;
    assert_eq!((counts.proven, counts.numbers, counts.asked, counts.in_words), (1, 1, 1, 1));
    let checked = bench.check(&out);
    assert_eq!((checked.agree, checked.not_checkable, checked.numbers), (1, 2, 3));
    assert!(checked.differences.is_empty(), "{checked:?}");
}
