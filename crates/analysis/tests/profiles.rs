//! What a profile says of tables, small and large; and how soon work that is canceled stops.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use everloop_analysis::{
    AnalysisError, DataFolder, DataProfile, DateStep, LoadPhase, LoadProgress, LoadedTable,
    QueryEngine, QueryLimits, ReadLimits, profile,
};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// How soon canceled work stops.
const SOON: Duration = Duration::from_secs(1);

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

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn load(&self, name: &str, text: &str) -> LoadedTable {
        let file = self.file(name, text);
        self.data.load(&file, &ReadLimits::default(), &|_| {}).unwrap().remove(0)
    }

    fn profile(&self) -> DataProfile {
        let tables = self.data.tables().unwrap();
        profile(&self.data, &tables, &QueryLimits::default(), &|_| {}).unwrap()
    }
}

#[test]
fn keys_of_other_names_are_found_by_the_name_of_the_table_and_by_values() {
    let desk = Desk::new();
    desk.load("customers.csv", "id,code\n1,north-1\n2,north-2\n3,south-1\n4,south-2\n5,west-1\n");
    let orders = "number,customer_id,place\n11,1,north-1\n12,2,north-2\n13,2,south-1\n\
                  14,5,south-2\n15,9,west-1\n16,1,north-1\n";
    desk.load("orders.csv", orders);
    let joins = desk.profile().joins;
    let told: Vec<(&str, &str, u64, u64)> = joins
        .iter()
        .map(|join| (join.by.as_str(), join.key.as_str(), join.found, join.values))
        .collect();
    let expected =
        [("orders.customer_id", "customers.id", 3, 4), ("orders.place", "customers.code", 5, 5)];
    assert_eq!(told, expected);
    assert!(joins.iter().all(|join| !join.is_repeated));
}

#[test]
fn a_key_that_is_there_twice_is_told_with_the_join_that_it_multiplies() {
    let desk = Desk::new();
    desk.load("customers.csv", "id,name\n1,Ann\n2,Bo\n2,Bo\n3,Cy\n");
    desk.load("orders.csv", "nr,customer_id\n10,1\n11,2\n12,2\n13,3\n14,1\n");
    let joins = desk.profile().joins;
    let told: Vec<_> = joins.iter().map(|join| (join.by.as_str(), join.is_repeated)).collect();
    assert_eq!(told, [("orders.customer_id", true)]);
}

#[test]
fn spellings_blanks_dates_to_come_and_weekly_gaps_are_told() {
    let desk = Desk::new();
    let text = "week,region,until\n2024-01-05,East,2999-01-01\n2024-01-12,EAST,2024-01-02\n\
                2024-01-19,\" East\",2024-01-03\n2024-02-02,West,2024-01-04\n\
                2024-02-09,West,2024-01-05\n";
    desk.load("weeks.csv", text);
    let table = desk.profile().tables.remove(0);
    let [week, region, until] = table.columns.as_slice() else { panic!("three columns") };
    let gaps = week.gaps.as_ref().unwrap();
    assert_eq!((gaps.step, gaps.missing), (DateStep::Week, 1));
    assert_eq!(gaps.longest_from, "2024-01-26");
    assert_eq!((region.spelling.variants, region.spelling.with_blanks), (2, 1));
    assert_eq!(region.odd, ["with_blanks", "variants"]);
    assert_eq!(until.odd, ["future"]);
}

/// Rows enough for several threads, for samples and for estimates.
fn many(rows: u64) -> String {
    let mut text = "id,twice,amount,word\n".to_owned();
    for at in 0..rows {
        writeln!(text, "{at},{},{}.5,w{}", at % (rows / 2), at % 1_000, at % 10).unwrap();
    }
    text
}

#[test]
fn a_large_table_has_its_keys_means_and_ends_exactly_and_its_values_counted() {
    let desk = Desk::new();
    let rows = 450_000;
    assert_eq!(desk.load("many.csv", &many(rows)).rows, rows);
    let table = desk.profile().tables.remove(0);
    assert_eq!(table.sampled, 2);
    assert_eq!(table.keys, ["id"]);
    let [id, twice, amount, word] = table.columns.as_slice() else { panic!("four columns") };
    assert_eq!((id.min.as_str(), id.max.as_str()), ("0", "449999"));
    let near = |found: Option<u64>, exact: u64| found.unwrap().abs_diff(exact) * 100 < exact * 3;
    assert_eq!((id.distinct, id.is_distinct_rough), (Some(rows), false), "a key is counted");
    assert!(twice.is_distinct_rough && near(twice.distinct, rows / 2), "{:?}", twice.distinct);
    assert_eq!((amount.distinct, amount.is_distinct_rough), (Some(1_000), false));
    assert_eq!((amount.spread.mean, amount.spread.outliers), (Some(500.0), Some(0)));
    assert_eq!((amount.min.as_str(), amount.max.as_str()), ("0.5", "999.5"));
    let histogram = amount.spread.histogram.as_ref().unwrap();
    let counted: u64 = histogram.counts.iter().sum();
    assert!(counted.abs_diff(rows) <= table.sampled, "{counted}");
    // Rows at equal distances would show half of these words, each twice as often as it is there.
    assert_eq!(word.distinct, Some(10));
    assert_eq!(word.top.len(), 5);
    assert!(word.top.iter().all(|top| top.count == rows / 10 && !top.is_rough), "{:?}", word.top);
    let quartiles = amount.spread.quartiles.unwrap();
    let off = quartiles.iter().zip([250.25, 500.0, 749.75]).map(|(own, all)| (own - all).abs());
    assert!(off.fold(0.0, f64::max) < 5.0, "{quartiles:?}");
}

#[test]
fn a_column_that_seems_a_key_and_has_one_value_twice_is_none() {
    let desk = Desk::new();
    let mut text = "code\n".to_owned();
    (0..120_000).for_each(|at| writeln!(text, "c{at}").unwrap());
    text += "c119999\n";
    desk.load("codes.csv", &text);
    let table = desk.profile().tables.remove(0);
    assert!(table.columns[0].is_distinct_rough && table.keys.is_empty());
    assert_eq!(table.duplicate_rows, Some(1));
}

/// Work that is canceled when it tells of some rows, and how long it went on after that.
fn canceled_in(
    phase: LoadPhase,
    work: impl FnOnce(
        &CancellationToken,
        &(dyn Fn(LoadProgress) + Send + Sync),
    ) -> Result<(), AnalysisError>,
) -> Duration {
    let cancel = CancellationToken::new();
    let canceled: Mutex<Option<Instant>> = Mutex::new(None);
    let ended = work(&cancel, &|progress| {
        if progress.phase == phase && progress.rows >= 20_000 {
            canceled.lock().unwrap().get_or_insert_with(Instant::now);
            cancel.cancel();
        }
    });
    assert!(matches!(ended, Err(AnalysisError::Canceled)), "{ended:?}");
    canceled.lock().unwrap().expect("it was canceled in the middle").elapsed()
}

#[test]
fn loads_profiles_and_queries_stop_within_a_second() {
    let desk = Desk::new();
    let file = desk.file("many.csv", &many(300_000));
    let load = canceled_in(LoadPhase::Loading, |cancel, tell| {
        let limits = ReadLimits { cancel: cancel.clone(), ..ReadLimits::default() };
        desk.data.load(&file, &limits, tell).map(drop)
    });
    assert!(load < SOON, "{load:?}");
    assert!(desk.data.tables().unwrap().is_empty(), "nothing is left of it");
    desk.data.load(&file, &ReadLimits::default(), &|_| {}).unwrap();
    let tables = desk.data.tables().unwrap();
    let profiled = canceled_in(LoadPhase::Profiling, |cancel, tell| {
        let limits = QueryLimits { cancel: cancel.clone(), ..QueryLimits::default() };
        profile(&desk.data, &tables, &limits, tell).map(drop)
    });
    assert!(profiled < SOON, "{profiled:?}");
    let cancel = CancellationToken::new();
    let limits = QueryLimits { cancel: cancel.clone(), ..QueryLimits::default() };
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let (ended, took) = std::thread::scope(|scope| {
        let query = scope.spawn(|| desk.data.query(endless, &limits));
        let began = Instant::now();
        cancel.cancel();
        (query.join().unwrap(), began.elapsed())
    });
    assert!(matches!(ended, Err(AnalysisError::Canceled)), "{ended:?}");
    assert!(took < SOON, "{took:?}");
}

#[test]
fn a_file_that_is_loaded_again_says_so_and_counts_its_bytes_from_the_start() {
    let desk = Desk::new();
    let mut text = "v\n".to_owned();
    (0..30_000).for_each(|at| writeln!(text, "{at}").unwrap());
    (0..30_000).for_each(|at| writeln!(text, "w{at}").unwrap());
    let file = desk.file("late.csv", &text);
    let told: Mutex<Vec<LoadProgress>> = Mutex::new(Vec::new());
    let tell = |progress| told.lock().unwrap().push(progress);
    desk.data.load(&file, &ReadLimits::default(), &tell).unwrap();
    let told = told.into_inner().unwrap();
    let first_again = told.iter().position(|progress| progress.phase == LoadPhase::Again).unwrap();
    assert!(first_again > 0 && told[first_again].rows < told[first_again - 1].rows);
    assert!(told.iter().all(|progress| progress.percent() <= 100));
    assert_eq!(told.last().unwrap().rows, 60_000);
}
