//! Loads a large CSV file, profiles it and asks one question, with times and peak memory.
//!
//! ```text
//!   analysis_bench make 1000 /tmp/big.csv     a file of 1,000 MB
//!   analysis_bench run /tmp/big.csv           fails if it takes more memory than it may
//!   compare.py /tmp/big.csv all BENCH         the same by pandas, polars and DuckDB, as a table
//! ```

use everloop_analysis::{DataFolder, QueryEngine, QueryLimits, ReadLimits, profile};
use std::error::Error;
use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

/// Memory that a load, a profile and a query may take, however large the file is.
const PEAK_MB_MAX: u64 = 400;

const REGIONS: [&str; 7] = ["East", "West", "North", "South", "Centre", "Islands", "Abroad"];

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["make", megabytes, file] => make(megabytes.parse()?, file),
        ["run", file] => run(file),
        _ => Err("make MEGABYTES FILE | run FILE".into()),
    }
}

fn make(megabytes: u64, file: &str) -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::new(std::fs::File::create(file)?);
    writeln!(out, "id,day,region,product,amount,quantity,note")?;
    let (mut written, mut id, mut seed) = (0_u64, 0_u64, 42_u64);
    while written < megabytes * 1_000_000 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let random = seed >> 33;
        let region = REGIONS[usize::try_from(random % 7)?];
        let line = format!(
            "{id},2026-{:02}-{:02},{region},p{},{}.{:02},{},note {random}\n",
            random % 12 + 1,
            random % 28 + 1,
            random % 500,
            random % 10_000,
            random % 100,
            random % 20,
        );
        out.write_all(line.as_bytes())?;
        written += line.len() as u64;
        id += 1;
    }
    Ok(())
}

fn run(file: &str) -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("analysis-bench-{}", std::process::id()));
    let measured = measured(file, &folder);
    std::fs::remove_dir_all(folder)?;
    measured
}

fn measured(file: &str, folder: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let data = DataFolder::new(folder);
    let limits = QueryLimits { timeout: Duration::from_mins(30), ..QueryLimits::default() };
    let whole = Instant::now();
    let tables = data.load(file.as_ref(), &ReadLimits::default(), &|_| {})?;
    told("load", whole);
    let began = Instant::now();
    let found = profile(&data, &tables, &limits, &|_| {})?;
    told("profile", began);
    let began = Instant::now();
    let sql = format!(
        "SELECT region, substr(day, 1, 7) AS month, sum(amount) AS total FROM \"{}\" GROUP BY 1, 2",
        tables[0].name
    );
    let answer = data.query(&sql, &limits)?;
    told("query", began);
    told("all", whole);
    let columns = &found.tables[0].columns;
    let is_whole = columns.len() == 7 && columns.iter().all(|column| column.distinct.is_some());
    let totals = answer.rows.iter().filter_map(|row| row[2].number());
    let total = totals.fold(0.0, |sum, total| sum + total.to_f64());
    println!("rows {}\ngroups {}\ntotal {total:.2}", tables[0].rows, answer.rows.len());
    let peak_mb = peak_kb()? / 1_024;
    println!("peak_mb {peak_mb}");
    if peak_mb > PEAK_MB_MAX {
        return Err(format!("it took {peak_mb} MB of memory, and may take {PEAK_MB_MAX}").into());
    }
    if !is_whole || found.tables[0].keys != ["id"] {
        return Err("the profile is not that of the file".into());
    }
    Ok(())
}

fn peak_kb() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    Ok(peak.ok_or("no VmHWM")?.trim().trim_end_matches(" kB").parse()?)
}

fn told(what: &str, began: Instant) {
    println!("{what} {:.2}", began.elapsed().as_secs_f64());
}
