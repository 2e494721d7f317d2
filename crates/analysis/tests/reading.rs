//! What files say late, far away or with many digits is read as it is, or refused with words.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use everloop_analysis::{
    ColumnKind, DataFolder, DataValue, LoadedTable, QueryEngine, QueryLimits, ReadLimits,
    ResultStore, profile,
};
use std::io::Write as _;
use std::path::PathBuf;
use tempfile::TempDir;

struct Desk {
    folder: TempDir,
    data: DataFolder,
}

impl Desk {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let data = DataFolder::new(folder.path().join("session"));
        Self { folder, data }
    }

    fn try_load(&self, name: &str, bytes: impl AsRef<[u8]>) -> Result<Vec<LoadedTable>, String> {
        let path = self.folder.path().join(name);
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
}

fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in parts {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// A workbook of one sheet; cells are `A1` and either a number or words.
fn workbook(cells: &[(&str, &str)]) -> Vec<u8> {
    let row = |place: &str| place.trim_start_matches(char::is_alphabetic).to_owned();
    let mut data = String::new();
    for (at, (place, value)) in cells.iter().enumerate() {
        if at == 0 || row(cells[at - 1].0) != row(place) {
            data += &format!("{}<row r=\"{}\">", if at == 0 { "" } else { "</row>" }, row(place));
        }
        data += &match value.parse::<f64>() {
            Ok(_) => format!("<c r=\"{place}\"><v>{value}</v></c>"),
            Err(_) if value.starts_with('#') => {
                format!("<c r=\"{place}\" t=\"e\"><v>{value}</v></c>")
            }
            Err(_) => format!("<c r=\"{place}\" t=\"inlineStr\"><is><t>{value}</t></is></c>"),
        };
    }
    let relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let package = "http://schemas.openxmlformats.org/package/2006/relationships";
    archive(&[
        ("[Content_Types].xml", "<Types/>"),
        (
            "_rels/.rels",
            &format!(
                "<Relationships xmlns=\"{package}\"><Relationship Id=\"r1\" \
                 Type=\"{relations}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/workbook.xml",
            &format!(
                "<workbook xmlns=\"{main}\" xmlns:r=\"{relations}\"><sheets><sheet name=\"S\" \
                 sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            &format!(
                "<Relationships xmlns=\"{package}\"><Relationship Id=\"r1\" \
                 Type=\"{relations}/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/worksheets/sheet1.xml",
            &format!("<worksheet xmlns=\"{main}\"><sheetData>{data}</row></sheetData></worksheet>"),
        ),
    ])
}

#[test]
fn a_stray_cell_at_the_end_of_a_sheet_costs_one_column_and_one_row() {
    let desk = Desk::new();
    let cells = [("A1", "name"), ("B1", "n"), ("A2", "x"), ("B2", "1"), ("XFD1048576", "far")];
    let table = desk.load("far.xlsx", workbook(&cells));
    assert_eq!((table.rows, table.columns.len()), (2, 3));
    assert_eq!(desk.one("SELECT sum(n) FROM far"), DataValue::Int(1));
    assert_eq!(desk.one("SELECT max(column_3) FROM far"), DataValue::Text("far".into()));
}

#[test]
fn an_open_document_that_repeats_a_cell_over_the_whole_sheet_is_refused() {
    let row = |repeats: &str, cell: &str| {
        format!(
            "<table:table-row {repeats}><table:table-cell office:value-type=\"string\" {cell}>\
             <text:p>x</text:p></table:table-cell></table:table-row>"
        )
    };
    let content = |rows: &str| {
        format!(
            "<?xml version=\"1.0\"?><office:document-content xmlns:office=\"o\" \
             xmlns:table=\"t\" xmlns:text=\"x\"><office:body><office:spreadsheet><table:table \
             table:name=\"S\">{rows}</table:table></office:spreadsheet></office:body>\
             </office:document-content>"
        )
    };
    let mime = "application/vnd.oasis.opendocument.spreadsheet";
    let ods = |rows: &str| {
        let content = content(rows);
        let manifest = "<manifest:manifest xmlns:manifest=\"m\"/>";
        archive(&[
            ("mimetype", mime),
            ("META-INF/manifest.xml", manifest),
            ("content.xml", &content),
        ])
    };
    let desk = Desk::new();
    let wide = "table:number-columns-repeated=\"16384\"";
    let long = "table:number-rows-repeated=\"1048576\"";
    let refused = desk.try_load("bomb.ods", ods(&row(long, wide))).unwrap_err();
    assert!(refused.contains("20 million"), "{refused}");
    let small = desk.load("small.ods", ods(&(row("", "") + &row("", ""))));
    assert_eq!(small.rows, 1);
}

/// Two sectors of a compound file are enough for the stream of an XLS file with a far cell.
#[test]
fn an_old_workbook_with_a_far_cell_is_refused() {
    let record = |kind: u16, data: &[u8]| {
        let length = u16::try_from(data.len()).unwrap();
        [&kind.to_le_bytes()[..], &length.to_le_bytes(), data].concat()
    };
    let number = |row: u16, column: u16| {
        let head = [row.to_le_bytes(), column.to_le_bytes(), [0, 0]].concat();
        record(0x0203, &[head, 1.5_f64.to_le_bytes().to_vec()].concat())
    };
    let stream = [
        record(0x0809, &[0, 6, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        number(0, 0),
        number(u16::MAX, u16::MAX),
        record(0x000a, &[]),
    ]
    .concat();
    let mut file = cfb::CompoundFile::create(std::io::Cursor::new(Vec::new())).unwrap();
    file.create_stream("/Workbook").unwrap().write_all(&stream).unwrap();
    let desk = Desk::new();
    let refused = desk.try_load("far.xls", file.into_inner().into_inner()).unwrap_err();
    assert!(refused.contains("20 million"), "{refused}");
}

#[test]
fn years_are_names_of_columns_in_text_and_in_workbooks() {
    let desk = Desk::new();
    let csv = desk.load("pivot.csv", "region,2023,2024,2025\nEast,1,2,3\nWest,4,5,6\n");
    let cells = [
        ("A1", "region"),
        ("B1", "2023"),
        ("C1", "2024"),
        ("A2", "East"),
        ("B2", "1"),
        ("C2", "2"),
    ];
    let excel = desk.load("pivot.xlsx", workbook(&cells));
    let names = |table: &LoadedTable| -> Vec<String> {
        table.columns.iter().map(|column| column.name.clone()).collect()
    };
    assert_eq!(names(&csv), ["region", "2023", "2024", "2025"]);
    assert_eq!(names(&excel), ["region", "2023", "2024"]);
    assert!(csv.notes.has_header && excel.notes.has_header);
    assert_eq!(desk.one("SELECT sum(\"2024\") FROM pivot"), DataValue::Int(7));
}

#[test]
fn what_is_no_number_of_its_column_is_nothing_there_and_kept_beside_it() {
    let desk = Desk::new();
    let text = "k,rate\n".to_owned() + &"a,10%\n".repeat(100) + "b,12\nc,oops\n";
    let table = desk.load("pct.csv", text);
    assert_eq!(
        (table.columns[1].plan.kind, table.columns[1].misfits.misfits),
        (ColumnKind::Decimal, 2)
    );
    assert_eq!(desk.one("SELECT sum(rate) FROM pct"), DataValue::Real(10.0));
    assert_eq!(desk.one("SELECT avg(rate) FROM pct"), DataValue::Real(0.1));
    // Text would be larger than every number.
    assert_eq!(desk.one("SELECT count(*) FROM pct WHERE rate > 1000"), DataValue::Int(0));
    assert_eq!(desk.one("SELECT max(rate) FROM pct"), DataValue::Real(0.1));
    assert_eq!(table.misfits_table, "pct_misfits");
    let kept = "SELECT k || ' ' || value FROM pct JOIN pct_misfits ON pct.rowid = \"row\" \
                WHERE \"column\" = 'rate' ORDER BY k DESC";
    assert_eq!(desk.one(kept), DataValue::Text("c oops".into()));
    let fine = desk.load("fine.csv", "a,b\n1,2\n");
    assert_eq!(fine.misfits_table, "");
    assert!(desk.data.query("SELECT * FROM fine_misfits", &QueryLimits::default()).is_err());
}

#[test]
fn times_with_a_zone_among_times_without_one_are_counted() {
    let desk = Desk::new();
    let table = desk.load(
        "log.csv",
        "at,n\n2026-01-31T10:00:00Z,1\n2026-01-31 11:00:00,2\n2026-01-31 12:00:00.5,3\n",
    );
    let at = &table.columns[0];
    assert_eq!((at.plan.kind, at.plan.zone, at.misfits.odd_zones), (ColumnKind::DateTime, None, 1));
    assert_eq!(
        desk.one("SELECT max(at) FROM log"),
        DataValue::Text("2026-01-31 12:00:00.5".into())
    );
}

#[test]
fn a_column_of_numbers_alone_is_compared_with_quoted_numbers() {
    let desk = Desk::new();
    desk.load("shops.csv", "shop,amount\n5,1.5\n6,2.5\n");
    assert_eq!(desk.one("SELECT amount FROM shops WHERE shop = '5'"), DataValue::Real(1.5));
    let declared = "SELECT group_concat(type) FROM pragma_table_info('shops')";
    // Only SELECT from tables is allowed; the schema is read beside it.
    assert!(desk.data.query(declared, &QueryLimits::default()).is_err());
}

#[test]
fn no_digit_of_a_long_number_is_lost() {
    let desk = Desk::new();
    let text = "id,v\n".to_owned()
        + &(1..40).map(|at| format!("{at},{at}.5\n")).collect::<String>()
        + "40,12345678901234.567\n41,0.30000000000000004\n42,123456789012345678\n";
    let table = desk.load("long.csv", text);
    assert_eq!((table.columns[1].misfits.misfits, table.columns[1].misfits.long), (0, 2));
    let one = |id: u32| desk.one(&format!("SELECT v FROM long WHERE id = {id}"));
    assert_eq!(one(40), DataValue::Text("12345678901234.567".into()));
    assert_eq!(one(41), DataValue::Real(0.300_000_000_000_000_04));
    // As a number with a point it would lose digits.
    assert_eq!(one(42), DataValue::Text("123456789012345678".into()));
    let sum = "SELECT sum(v) FROM long WHERE id IN (1, 40)";
    assert_eq!(desk.one(sum), DataValue::Text("12345678901236.067".into()));
    let json = r#"[{"v":0.1234567890123456789,"big":12345678901234567890123},{"v":1.5,"big":2}]"#;
    desk.load("exact.json", json);
    let first = |column: &str| desk.one(&format!("SELECT {column} FROM exact"));
    assert_eq!(first("v"), DataValue::Text("0.1234567890123456789".into()));
    assert_eq!(first("big"), DataValue::Text("12345678901234567890123".into()));
}

#[test]
fn numbers_that_begin_after_the_sample_are_numbers() {
    let desk = Desk::new();
    let mut text = "id,discount,level,when,code\n".to_owned();
    for at in 0..30_000 {
        let late = at >= 25_000;
        let discount = if late { format!("{}.5", at % 100) } else { String::new() };
        let level = if late { "2.5" } else { "2" };
        let when = if late { "2026-03-04 10:30:00" } else { "2026-03-04" };
        let code = if late { "007" } else { "12" };
        text += &format!("{at},{discount},{level},{when},{code}\n");
    }
    let table = desk.load("late.csv", text);
    let kinds: Vec<ColumnKind> = table.columns.iter().map(|column| column.plan.kind).collect();
    use ColumnKind::{DateTime, Decimal, Integer, Text};
    assert_eq!(kinds, [Integer, Decimal, Decimal, DateTime, Text]);
    assert_eq!(desk.one("SELECT min(discount) FROM late"), DataValue::Real(0.5));
    // 25,000 times 2 and 5,000 times 2.5.
    assert_eq!(desk.one("SELECT sum(level) FROM late"), DataValue::Real(62_500.0));
    assert_eq!(desk.one("SELECT max(code) FROM late"), DataValue::Text("12".into()));
    assert!(table.columns.iter().all(|column| column.misfits.misfits == 0));
}

#[test]
fn an_encoding_that_shows_after_the_first_megabyte_is_found() {
    let desk = Desk::new();
    let (city, _, _) = encoding_rs::GB18030.encode("上海市浦东新区");
    let mut bytes = b"id,city\n".to_vec();
    for at in 0..80_000 {
        bytes.extend_from_slice(format!("{at},").as_bytes());
        bytes.extend_from_slice(if at < 60_000 { b"Berlin-Mitte-long-name" } else { &city });
        bytes.push(b'\n');
    }
    let table = desk.load("lateenc.csv", bytes);
    assert_eq!((table.notes.encoding.as_str(), table.notes.bad_characters), ("gb18030", 0));
    let last = desk.one("SELECT city FROM lateenc WHERE id = 79999");
    assert_eq!(last, DataValue::Text("上海市浦东新区".into()));
}

#[test]
fn a_date_in_iso_form_among_others_is_a_date() {
    let desk = Desk::new();
    let text = "when\n".to_owned() + &"25/01/2026\n".repeat(30) + "2026-01-05\n";
    let table = desk.load("dates.csv", text);
    assert_eq!(table.columns[0].misfits.misfits, 0);
    assert_eq!(desk.one("SELECT min(\"when\") FROM dates"), DataValue::Text("2026-01-05".into()));
}

#[test]
fn what_is_worked_out_from_decimals_has_no_digits_that_nobody_wrote() {
    let desk = Desk::new();
    desk.load("dec.csv", "a,b\n0.1,0.2\n2.675,1.1\n");
    assert_eq!(desk.one("SELECT a + b FROM dec"), DataValue::Real(0.3));
    assert_eq!(desk.one("SELECT round(a, 2) FROM dec WHERE a > 1"), DataValue::Real(2.68));
    assert_eq!(desk.one("SELECT sum(a * b) FROM dec"), DataValue::Real(2.9625));
    assert_eq!(desk.one("SELECT median(b) FROM dec"), DataValue::Real(0.65));
    let third = desk.one("SELECT 1.0 / 3");
    assert_eq!(third, DataValue::Real(1.0 / 3.0));
}

#[test]
fn a_kept_result_is_read_back_to_the_last_digit() {
    let desk = Desk::new();
    let rows: String = (1..1_000).map(|at| format!("{},{}\n", at * 7, at % 13 + 1)).collect();
    desk.load("shares.csv", format!("part,whole\n{rows}"));
    let sql = "SELECT part * 1.0 / whole AS share FROM shares";
    let found = desk.data.query(sql, &QueryLimits::default()).unwrap();
    let store = ResultStore::open(&desk.data).unwrap();
    store.keep_query("call", sql, found.clone(), 1).unwrap();
    let kept = ResultStore::open(&desk.data).unwrap().queries().unwrap();
    assert_eq!(kept[0].result, found);
}

#[test]
fn numbers_of_json_are_read_as_they_are_written_whatever_other_columns_hold() {
    let desk = Desk::new();
    let lines = (0..200).map(|at| format!("{{\"price\":\"0,{at}\",\"ms\":{at}.125}}\n"));
    let table = desk.load("times.jsonl", lines.collect::<String>());
    let kinds: Vec<ColumnKind> = table.columns.iter().map(|column| column.plan.kind).collect();
    assert_eq!(kinds, [ColumnKind::Decimal, ColumnKind::Decimal]);
    assert_eq!(desk.one("SELECT max(ms) FROM times"), DataValue::Real(199.125));
    let three = "{\"id\":1,\"ms\":12.345}\n".repeat(3);
    let table = desk.load("three.jsonl", three);
    assert_eq!(table.columns[1].plan.kind, ColumnKind::Decimal);
    assert_eq!(desk.one("SELECT sum(ms) FROM three"), DataValue::Real(37.035));
}

#[test]
fn words_such_as_na_are_missing_numbers_and_kept_texts() {
    let desk = Desk::new();
    let table = desk.load("sales.csv", "country,amount\nNA,1\nDE,NA\n\"\",3\nNA,4\nFR,5\n");
    let [country, amount] = table.columns.as_slice() else { panic!("two columns") };
    assert_eq!(desk.one("SELECT sum(amount) FROM sales WHERE country = 'NA'"), DataValue::Int(5));
    assert_eq!((country.misfits.missing, country.misfits.present), (1, 4));
    assert_eq!(country.misfits.kept_words.get("NA"), Some(&2));
    assert!(country.misfits.null_words.is_empty());
    assert_eq!((amount.misfits.missing, amount.misfits.null_words.get("NA")), (1, Some(&1)));
}

#[test]
fn numbers_with_many_digits_are_in_the_ends_the_mean_and_the_quartiles() {
    let desk = Desk::new();
    let text = "v\n0.123456789012345678\n9.5\n10.123456789012345678\n2\n";
    let table = desk.load("long.csv", text);
    assert_eq!(table.columns[0].misfits.long, 2);
    let tables = desk.data.tables().unwrap();
    let found = profile(&desk.data, &tables, &QueryLimits::default(), &|_| {}).unwrap();
    let column = &found.tables[0].columns[0];
    assert_eq!(column.min, "0.123456789012345678");
    assert_eq!(column.max, "10.123456789012345678");
    let mean = 5.436_728_394_506_173;
    assert!((column.spread.mean.unwrap() - mean).abs() < 1e-12, "{:?}", column.spread.mean);
    let median = desk.one("SELECT median(v) FROM long");
    assert_eq!(median, DataValue::Real(5.75));
    assert_eq!(column.spread.quartiles.unwrap()[1], 5.75);
    // Also digits that are smaller than a millionth of a millionth are added.
    let sum = DataValue::Text("21.746913578024691356".into());
    assert_eq!(desk.one("SELECT sum(v) FROM long"), sum);
}

#[test]
fn two_loads_at_once_load_each_file_once() {
    let desk = Desk::new();
    let file = |name: &str, bytes: Vec<u8>| {
        let path = desk.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let rows: String = (0..20_000).map(|at| format!("{at},{at}\n")).collect();
    let rows = format!("a,b\n{rows}");
    let one = file("one.zip", archive(&[("ta.csv", &rows), ("tb.csv", &rows)]));
    let two = file("two.zip", archive(&[("tc.csv", &rows), ("td.csv", &rows)]));
    let files = [&one, &two, &one, &two];
    let loaded: Vec<Vec<String>> = std::thread::scope(|scope| {
        let load = |file: &PathBuf| {
            let tables = desk.data.load(file, &ReadLimits::default(), &|_| {}).unwrap();
            tables.into_iter().map(|table| table.name).collect()
        };
        let loads: Vec<_> = files.map(|file| scope.spawn(move || load(file))).into_iter().collect();
        loads.into_iter().map(|load| load.join().unwrap()).collect()
    });
    let (first, second) = (["ta", "tb"], ["tc", "td"]);
    assert_eq!(loaded, [first, second, first, second]);
    assert_eq!(desk.data.tables().unwrap().len(), 4);
    assert!(!desk.data.path().join("unpacked").exists());
}

#[test]
fn nothing_is_left_of_an_archive_that_could_not_be_loaded() {
    let desk = Desk::new();
    let refused =
        desk.try_load("bad.zip", archive(&[("a.csv", "a,b\n1,2\n"), ("b.parquet", "PAR1 cut")]));
    assert!(refused.is_err(), "{refused:?}");
    assert!(desk.data.tables().unwrap().is_empty());
    assert!(!desk.data.path().join("unpacked").exists());
}

#[test]
fn errors_of_formulas_are_missing_values_and_named() {
    let desk = Desk::new();
    let book = workbook(&[
        ("A1", "shop"),
        ("B1", "amount"),
        ("A2", "one"),
        ("B2", "2"),
        ("A3", "two"),
        ("B3", "#DIV/0!"),
    ]);
    let table = desk.load("shops.xlsx", book);
    let amount = &table.columns[1];
    assert_eq!((amount.plan.kind, amount.misfits.missing), (ColumnKind::Integer, 1));
    assert_eq!(amount.misfits.null_words.get("#DIV/0!"), Some(&1));
    assert_eq!((table.notes.broken_rows, table.rows), (0, 2));
    assert_eq!(desk.one("SELECT sum(amount) FROM shops"), DataValue::Int(2));
}

#[test]
fn decimals_that_happen_to_be_whole_are_divided_as_decimals() {
    let desk = Desk::new();
    let text = "id,price,qty,share\n1,5.00,2,7%\n2,7.50,2,100%\n3,10.00,4,200%\n5,1.00,3,25%\n";
    let table = desk.load("div.csv", text);
    assert_eq!(table.columns[1].plan.kind, ColumnKind::Decimal);
    let sql = "SELECT group_concat(price / qty, ' ') FROM (SELECT * FROM div WHERE id < 4)";
    assert_eq!(desk.one(sql), DataValue::Text("2.5 3.75 2.5".into()));
    assert_eq!(desk.one("SELECT share / 2 FROM div WHERE id = 2"), DataValue::Real(0.5));
    let of_sums = "SELECT sum(price) / sum(qty) FROM div WHERE id IN (1, 3)";
    assert_eq!(desk.one(of_sums), DataValue::Real(2.5));
    assert_eq!(desk.one("SELECT total(qty) / 2 FROM div WHERE id = 5"), DataValue::Real(1.5));
    desk.load("div.json", r#"[{"p":5.00,"q":2},{"p":7.5,"q":2},{"p":9,"q":2}]"#);
    assert_eq!(desk.one("SELECT max(p) / 2 FROM div_2"), DataValue::Real(4.5));
    assert_eq!(desk.one("SELECT sum(p) FROM div_2"), DataValue::Real(21.5));
}

#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let desk = Desk::new();
    let pipe = desk.folder.path().join("pipe.csv");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let refused = desk.data.load(&pipe, &ReadLimits::default(), &|_| {}).unwrap_err();
    assert!(refused.to_string().contains("not a file but"), "{refused}");
}

#[test]
fn lines_of_utf8_among_lines_of_a_western_encoding_are_noticed() {
    let desk = Desk::new();
    let latin = encoding_rs::WINDOWS_1252.encode("straße und höhe\n").0.into_owned();
    let text =
        [b"word\n".as_slice(), &"café\n".repeat(50).into_bytes(), &latin.repeat(60)].concat();
    let table = desk.load("mixed.csv", text);
    assert!(table.notes.mixed_encodings, "{:?}", table.notes);
    let pure = desk.load("pure.csv", [b"word\n".as_slice(), &latin.repeat(60)].concat());
    assert!(!pure.notes.mixed_encodings && pure.notes.encoding == "windows-1252");
}
