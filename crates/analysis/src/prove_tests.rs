use super::*;
use crate::query::QueryResult;
use crate::results::{CellState, KeptCell, KeptQuery};
use crate::value::DataValue;

fn text(word: &str) -> DataValue {
    DataValue::Text(word.to_owned())
}

fn query(number: u32, columns: &[&str], rows: Vec<Vec<DataValue>>) -> KeptQuery {
    let columns = columns.iter().map(|name| (*name).to_owned()).collect();
    let result = QueryResult { columns, rows, ..QueryResult::default() };
    KeptQuery { number, sql: String::new(), result, took_ms: 0 }
}

/// Sales of three regions in two quarters.
fn regions() -> NumberEvidence {
    let row = |name: &str, before: f64, after: f64| {
        vec![text(name), DataValue::Real(before), DataValue::Real(after)]
    };
    let rows = vec![
        row("East", 4812.6, 3927.1),
        row("West", 2050.25, 2134.75),
        row("North", 1011.0, 963.5),
    ];
    NumberEvidence::new(&[query(1, &["region", "q2_sales", "q3_sales"], rows)], &[], &[])
}

fn statuses(report: &str) -> Vec<(String, NumberStatus)> {
    let proven = prove(report, "top 3 regions", &regions());
    proven.numbers.into_iter().map(|number| (number.text, number.status)).collect()
}

fn only(report: &str) -> NumberStatus {
    let found = statuses(report);
    assert_eq!(found.len(), 1, "{report}: {found:?}");
    found[0].1
}

#[test]
fn references_are_inserted_and_formatted() {
    let proven = prove(
        "East sold {{q1.r1.q3_sales}}, a change of {{(q1.r1.q3_sales - q1.r1.q2_sales) / \
         q1.r1.q2_sales|%1}}, {{sum(q1.q3_sales)|k2}} in all.",
        "",
        &regions(),
    );
    assert_eq!(proven.text, "East sold 3,927.1, a change of -18.4%, 7.03k in all.");
    assert_eq!(proven.proven(), 3);
}

#[test]
fn a_reference_that_leads_nowhere_stays_and_is_counted() {
    assert_eq!(only("It is {{q9.r1.x}}."), NumberStatus::BadReference);
    assert_eq!(only("It is {{q1.r9.region}}."), NumberStatus::BadReference);
}

#[test]
fn numbers_of_cells_are_found_also_when_rounded_or_in_other_units() {
    assert_eq!(only("East sold 3,927.1."), NumberStatus::Found);
    assert_eq!(only("East sold 3,927."), NumberStatus::Found);
    assert_eq!(only("East sold 3.93k."), NumberStatus::Found);
    assert_eq!(only("East sold about 3,900."), NumberStatus::Found);
}

#[test]
fn shares_changes_sums_and_differences_are_worked_out() {
    assert_eq!(only("East fell by 18.4%."), NumberStatus::Derived);
    assert_eq!(only("East lost 885.5."), NumberStatus::Derived);
    assert_eq!(only("All regions sold 7,025.35."), NumberStatus::Derived);
    assert_eq!(only("East and West sold 6,061.85 together."), NumberStatus::Derived);
    assert_eq!(only("East has 55.9% of all."), NumberStatus::Derived);
}

#[test]
fn an_invented_number_is_caught() {
    assert_eq!(only("East sold 5,555.5."), NumberStatus::NoSource);
    assert_eq!(only("East fell by 43.7%."), NumberStatus::NoSource);
}

#[test]
fn two_numbers_that_were_swapped_are_caught() {
    let swapped = statuses("East sold 2,134.75 and West sold 3,927.1.");
    assert!(swapped.iter().all(|(_, status)| *status == NumberStatus::Misplaced), "{swapped:?}");
    let listed = statuses("East and West sold 2,134.75 and 3,927.1.");
    assert!(listed.iter().all(|(_, status)| *status == NumberStatus::Misplaced), "{listed:?}");
    let table =
        statuses("| region | sales |\n|---|---|\n| West | 3,927.1 |\n| East | 2,134.75 |\n");
    assert!(table.iter().all(|(_, status)| *status == NumberStatus::Misplaced), "{table:?}");
    let right =
        statuses("East and West sold 3,927.1 and 2,134.75; 963.5 in North and 3,927.1 in East");
    assert!(right.iter().all(|(_, status)| status.is_proven()), "{right:?}");
}

#[test]
fn a_wrong_rounding_is_caught() {
    assert_eq!(only("East sold 3,928."), NumberStatus::Misrounded);
}

#[test]
fn a_wrong_unit_is_caught() {
    assert!(!only("East sold 3,927.1万.").is_proven());
}

#[test]
fn numbers_of_the_question_and_of_the_data_need_no_query() {
    assert_eq!(only("The top 3 are shown."), NumberStatus::Found);
    assert_eq!(only("There are 3 regions."), NumberStatus::Found);
    assert_eq!(only("The result has 3 rows."), NumberStatus::Found);
}

#[test]
fn a_number_of_the_question_is_neither_proven_nor_marked() {
    let proven = prove("Above 6,500 there is none.", "which are above 6,500?", &regions());
    assert_eq!(proven.numbers[0].status, NumberStatus::Asked);
    let counts = NumberCounts::of(&proven.numbers);
    assert_eq!((counts.proven, counts.numbers, counts.asked), (0, 0, 1));
    // What the person asks does not make another row's number right, nor a wrong rounding.
    let status =
        |report: &str, question: &str| prove(report, question, &regions()).numbers[0].status;
    let swapped = status("East sold 2,134.75.", "did East sell 2,134.75?");
    assert_eq!(swapped, NumberStatus::Misplaced);
    assert_eq!(status("East sold 3,928.", "was it 3,928?"), NumberStatus::Misrounded);
}

#[test]
fn a_number_in_a_reference_has_no_source_of_its_own() {
    for report in [
        "It is {{99999}}.",
        "It is {{q1.r1.q3_sales + 4000}}.",
        "It is {{4000 + q1.r1.q3_sales}}.",
        "It is {{q1.r1.q3_sales * 1.5}}.",
        "It is {{q1.r1.q3_sales / q1.r1.q3_sales}}.",
        "It is {{(q1.r1.q3_sales) / q1.r1.q3_sales * 100 * 12}}.",
        "It is {{q1.rows * 1000 * 12 * 7}}.",
        "It is {{q1.r1.q3_sales - q1.r1.q3_sales + 1}}.",
        "It is {{q1.r1.q3_sales}} million.",
        "It is {{q1.rows}}9999.",
        "It is {{q1.r1.q3_sales}}{{q1.r1.q2_sales}}.",
        "It fell by -{{q1.r1.q3_sales}}.",
    ] {
        let proven = prove(report, "", &regions());
        let bad = proven.numbers.iter().any(|number| number.status.is_marked());
        assert!(bad, "{report}: {:?}", proven.numbers);
    }
    for report in [
        "As much again makes {{q1.r1.q3_sales * 2}}.",
        "In thousands, {{q1.r1.q3_sales / 1000}}.",
        "{{(q1.r1.q3_sales + q1.r2.q3_sales + q1.r3.q3_sales) / 3}} on average.",
        "It grew by {{q1.r2.q3_sales / q1.r2.q2_sales - 1|%1}}.",
        "It grew by {{q1.r2.q3_sales / q1.r2.q2_sales * 100 - 100|1}}.",
        "It grew by {{100.0 * q1.r2.q3_sales / q1.r2.q2_sales|1}}.",
        "The others have {{1 - q1.r1.q3_sales / sum(q1.q3_sales)|%1}}.",
        "There are {{distinct(q1.region)}} of them, {{q1.rows}}.",
    ] {
        let proven = prove(report, "", &regions());
        let mut judged = proven.numbers.iter().filter(|own| own.status != NumberStatus::InWords);
        let all = judged.all(|own| own.status == NumberStatus::Inserted);
        assert!(all, "{report}: {:?}", proven.numbers);
    }
}

#[test]
fn no_form_of_writing_hides_an_invented_number() {
    for report in [
        "East lost 99999USD.",
        "East lost CNY99999.",
        "East lost 7777kg.",
        "East sold a total of 2000.",
        "East rose to 2045.",
        "East fell by 1950.",
        "# 12,345 units were lost",
        "East lost １２，３４５.",
        "East lost `12,345`.",
        "```\n12,345\n```",
        "East lost twelve thousand units.",
        "East lost 一万二千.",
        "It took 3年.",
        "East lost 3 customers.",
        "East lost 12 of them.",
        "East lost _12,345_.",
    ] {
        let proven = prove(report, "", &regions());
        let bad = proven.numbers.iter().any(|number| number.status.is_marked());
        assert!(bad, "{report}: {:?}", proven.numbers);
    }
    let proven = prove("Sales doubled, 增长三倍.", "", &regions());
    let counts = NumberCounts::of(&proven.numbers);
    assert_eq!((counts.in_words, counts.numbers), (2, 0), "{:?}", proven.numbers);
}

#[test]
fn a_constant_of_a_query_or_of_code_is_no_source() {
    let number = |amount| DataValue::Int(amount);
    let made = |sql: &str, is_constant: bool, rows: Vec<Vec<DataValue>>| {
        let asked = query(1, &["region", "total"], rows);
        let result = QueryResult { is_constant, ..asked.result };
        NumberEvidence::new(&[KeptQuery { sql: sql.to_owned(), result, ..asked }], &[], &[])
    };
    let row = |amount| vec![text("East"), number(amount)];
    let status =
        |report: &str, evidence: &NumberEvidence| prove(report, "", evidence).numbers[0].status;
    let plain = made("SELECT 'East' AS region, 99990 + 9 AS total", true, vec![row(99_999)]);
    let beside = made("SELECT region, 99999 AS total FROM sales", false, vec![row(99_999)]);
    let read =
        made("SELECT region, sum(x) AS total FROM s WHERE x > 99999", false, vec![row(99_999)]);
    for report in ["East sold 99,999.", "East sold {{q1.r1.total}}."] {
        assert_eq!(status(report, &plain), NumberStatus::Constant, "{report}");
        assert_eq!(status(report, &beside), NumberStatus::Constant, "{report}");
        assert!(status(report, &read).is_proven(), "{report}");
    }
    let printed = |code: &str| {
        let output = "East 99999\n".to_owned();
        let cell =
            KeptCell { number: 1, state: CellState::Done, output, ..KeptCell::new(code, true) };
        status("East sold 99,999.", &NumberEvidence::new(&[], &[cell], &[]))
    };
    assert_eq!(printed("print('East', 99_999)"), NumberStatus::Constant);
    assert_eq!(printed("print('East', 99990 + 9)"), NumberStatus::Constant);
    assert_eq!(printed("query('SELECT 1'); print('East 99,999')"), NumberStatus::Constant);
    assert_eq!(printed("print('East', query('SELECT sum(x) FROM s'))"), NumberStatus::Found);
}

#[test]
fn a_constant_is_no_source_inside_of_an_aggregate_or_under_a_quoted_name() {
    let row = |region: &str, sold| vec![text(region), DataValue::Int(sold), DataValue::Int(77_777)];
    let rows = vec![row("East", 500), row("West", 700)];
    let asked = query(1, &["region", "sold", "net sales"], rows.clone());
    let sql = "SELECT region, sum(x) AS sold, 77777 AS \"net sales\" FROM sales GROUP BY 1";
    let asked = KeptQuery { sql: sql.to_owned(), ..asked };
    let one = query(2, &["net sales"], vec![vec![DataValue::Int(77_777)]]);
    let one = KeptQuery { sql: "SELECT 77777 AS \"net sales\" FROM sales".to_owned(), ..one };
    let made_up = query(3, &["n"], vec![vec![DataValue::Int(1)], vec![DataValue::Int(2)]]);
    let made_up =
        KeptQuery { result: QueryResult { is_constant: true, ..made_up.result }, ..made_up };
    let evidence = NumberEvidence::new(&[asked, one, made_up], &[], &[]);
    let status = |reference: &str| {
        let proven = prove(&format!("All sold {{{{{reference}}}}}."), "", &evidence);
        proven.numbers[0].status
    };
    for reference in [
        "q1.r1.\"net sales\"",
        "q2.\"net sales\"",
        "max(q1.\"net sales\")",
        "sum(q1.\"net sales\")",
        "avg(q1.\"net sales\") - sum(q1.sold)",
        "q3.rows",
        "count(q3.n)",
    ] {
        assert_eq!(status(reference), NumberStatus::Constant, "{reference}");
    }
    for reference in ["sum(q1.sold)", "max(q1.sold)", "q1.rows", "count(q1.\"net sales\")"] {
        assert_eq!(status(reference), NumberStatus::Inserted, "{reference}");
    }
}

#[test]
fn a_reference_to_a_text_gives_the_text_and_no_markup() {
    let evidence = |name: &str| {
        NumberEvidence::new(
            &[query(1, &["name", "n"], vec![vec![text(name), text("5")]])],
            &[],
            &[],
        )
    };
    let proven = |name: &str| prove("It is {{q1.r1.name}}.", "", &evidence(name));
    assert_eq!(proven("East").text, "It is East.");
    assert_eq!(proven("East").numbers, []);
    assert_eq!(proven("[a](b)\n<c>").text, "It is \\[a\\](b) &lt;c>.");
    assert!(proven("no less than 99,999 $").numbers[0].status != NumberStatus::Inserted);
}

/// Revenue, profit and growth of two regions.
fn growth() -> NumberEvidence {
    let row = |name: &str, revenue: f64, profit: f64, growth: f64| {
        let numbers = [revenue, profit, growth].map(DataValue::Real);
        [vec![text(name)], numbers.to_vec()].concat()
    };
    let rows = vec![row("East", 49_992.1, 4_149.74, -2.2), row("West", 40_101.52, 3_898.5, 3.1)];
    NumberEvidence::new(&[query(1, &["region", "revenue", "profit", "growth_pct"], rows)], &[], &[])
}

fn is_marked(report: &str) -> bool {
    prove(report, "", &growth()).numbers.iter().any(|number| number.status.is_marked())
}

#[test]
fn a_unit_behind_a_blank_counts() {
    for report in [
        "East sold 49,992.10 \u{4e07}.",
        "East sold 49,992.10 \u{4ebf}\u{5143}.",
        "East sold 49,992.10 bn.",
        "West grew 310%.",
        "West grew {{q1.r2.growth_pct}} million percent.",
    ] {
        assert!(is_marked(report), "{report}");
    }
    assert!(!is_marked("West grew by 3.1%.") && !is_marked("East sold 49.99 thousand."));
    let rows = vec![vec![text("East"), DataValue::Real(49.5)]];
    let millions = NumberEvidence::new(&[query(1, &["region", "revenue_mn"], rows)], &[], &[]);
    assert_eq!(prove("East took 49.5 million.", "", &millions).proven(), 1);
}

#[test]
fn words_of_rise_and_fall_agree_with_the_sign() {
    for report in [
        "East grew by 2.2%.",
        "East \u{589e}\u{957f} 2.2%\u{3002}",
        "The growth of East was 2.2%.",
        "West fell by 3.1%.",
        "East lost 4,149.74.",
    ] {
        assert!(is_marked(report), "{report}");
    }
    for report in [
        "East fell by 2.2%.",
        "East \u{4e0b}\u{964d} 2.2%\u{3002}",
        "The growth of East was -2.2%.",
        "West grew by 3.1%.",
        "The growth of West fell to 3.1%.",
        "The profit of East was 4,149.74.",
    ] {
        assert!(!is_marked(report), "{report}");
    }
}

#[test]
fn the_head_of_a_table_says_which_column_is_meant() {
    let table =
        |numbers: &str| format!("| Region | Revenue | Profit |\n|---|--:|--:|\n{numbers}\n");
    assert!(!is_marked(&table("| East | 49,992.10 | 4,149.74 |")));
    assert!(is_marked(&table("| East | 4,149.74 | 49,992.10 |")));
}

#[test]
fn an_inserted_number_is_shown_with_what_was_written_beside_it() {
    let numbers = |report: &str| prove(report, "", &growth()).numbers;
    let changed = numbers("West sold {{q1.r2.revenue}} million.");
    assert_eq!(
        (changed[0].text.as_str(), changed[0].status),
        ("40,101.52 million", NumberStatus::NoSource)
    );
    let kept = numbers("West grew by {{q1.r2.growth_pct}}%.");
    assert_eq!((kept[0].text.as_str(), kept[0].status), ("3.1%", NumberStatus::Inserted));
}

#[test]
fn dates_with_blanks_and_numbers_of_tables_are_no_numbers() {
    for text in [
        "\u{6570}\u{636e}\u{4e3a} 2025 \u{5e74} 1 \u{6708}\u{81f3} 2025 \u{5e74} 12 \u{6708}\u{3002}",
        "\u{5728} 2025 \u{5e74}\u{5185}",
        "2025 \u{5e74} 3 \u{6708} 5 \u{65e5}",
        "Figure 1 and Table 2 are of Step 3.",
    ] {
        assert_eq!(prove(text, "", &growth()).numbers, [], "{text}");
    }
    assert!(is_marked("Table 99999"));
    assert!(is_marked("It took 7 \u{5e74}."));
}

#[test]
fn a_column_that_is_called_rows_is_meant_where_there_is_one_row() {
    let one = query(1, &["rows"], vec![vec![DataValue::Int(812)]]);
    let evidence = NumberEvidence::new(&[one], &[], &[]);
    assert_eq!(prove("It has {{q1.rows}}.", "", &evidence).text, "It has 812.");
}

#[test]
fn a_result_is_named_before_the_first_dot_and_nowhere_else() {
    let named = |text: &str| results_named(text).join(" ");
    assert_eq!(named("q1.r1.c3"), "q1");
    assert_eq!(named("(q1.r1.\"a c2.x\" - sum(c12.n1)) / 1.5"), "q1 c12 1");
    assert_eq!(named("data.c4.rows"), "data");
}

#[test]
fn names_and_years_of_the_data_are_no_numbers() {
    let row = |sku: &str, year: i64, sold: i64| {
        vec![text(sku), DataValue::Int(year), DataValue::Int(sold)]
    };
    let rows = vec![row("SKU12345", 2024, 500), row("Model 300 XL", 2025, 700)];
    let evidence = NumberEvidence::new(&[query(1, &["sku", "year", "sold"], rows)], &[], &[]);
    let all = |report: &str| {
        let numbers = prove(report, "", &evidence).numbers.into_iter();
        numbers.map(|number| (number.text, number.status)).collect::<Vec<_>>()
    };
    let found = |number: &str| vec![(number.to_owned(), NumberStatus::Found)];
    assert_eq!(all("SKU12345 sold 500."), found("500"));
    assert_eq!(all("The Model 300 XL sold 700."), found("700"));
    assert_eq!(all("| 2024 | 500 |"), found("500"));
    assert_eq!(all("From 2024 to 2025 it rose, to 700."), found("700"));
    assert_eq!(all("SKU99999 sold 500.")[0].1, NumberStatus::NoSource);
    assert_eq!(all("A total of 2024.")[0].1, NumberStatus::NoSource);
}

#[test]
fn what_code_printed_is_a_source() {
    let cell = KeptCell {
        number: 1,
        state: CellState::Done,
        output: "East 10.5\nWest 20.25\n".to_owned(),
        ..KeptCell::new("print(query(sql))", true)
    };
    let evidence = NumberEvidence::new(&[], &[cell], &[]);
    let found = |report: &str| prove(report, "", &evidence).numbers[0].clone();
    assert_eq!(found("West has 20.25.").source, "c1.r2.n1");
    assert_eq!(found("East has 20.25.").status, NumberStatus::Misplaced);
}

#[test]
fn chinese_reports_are_checked_like_english_ones() {
    let rows = vec![
        vec![text("华东"), DataValue::Real(48_126_000.0)],
        vec![text("华南"), DataValue::Real(39_271_000.0)],
    ];
    let evidence = NumberEvidence::new(&[query(1, &["地区", "销售额"], rows)], &[], &[]);
    let all = |report: &str| -> Vec<NumberStatus> {
        prove(report, "", &evidence).numbers.iter().map(|number| number.status).collect()
    };
    assert_eq!(all("华东销售额为4,812.6万元，华南为3,927.1万元。"), [NumberStatus::Found; 2]);
    assert_eq!(all("华南销售额为4,812.6万元，华东为3,927.1万元。"), [NumberStatus::Misplaced; 2]);
    assert_eq!(all("华东比华南多885.5万元。"), [NumberStatus::Derived]);
    assert_eq!(all("华东为0.48亿元。"), [NumberStatus::Found]);
    assert_eq!(all("华东为6,000万元。"), [NumberStatus::NoSource]);
}

#[test]
fn references_that_were_swapped_are_caught() {
    let all = |report: &str| -> Vec<NumberStatus> {
        let proven = prove(report, "", &regions());
        proven.numbers.iter().map(|number| number.status).collect()
    };
    assert_eq!(
        all("West sold {{q1.r1.q3_sales}} and East sold {{q1.r2.q3_sales}}."),
        [NumberStatus::Misplaced; 2]
    );
    assert_eq!(
        all("| West | {{q1.r1.q3_sales}} |\n| East | {{q1.r2.q3_sales}} |\n"),
        [NumberStatus::Misplaced; 2]
    );
    let right = [
        "East sold {{q1.r1.q3_sales}} and West sold {{q1.r2.q3_sales}}.",
        "{{q1.r1.q3_sales}} in East, {{q1.r2.q3_sales}} in West.",
        "East is ahead of West by {{q1.r1.q3_sales - q1.r2.q3_sales}}, {{sum(q1.q3_sales)}} in all.",
        "East fell by {{(q1.r1.q3_sales - q1.r1.q2_sales) / q1.r1.q2_sales|%1}}.",
        "The best sold {{q1.r1.q3_sales}}.",
    ];
    for report in right {
        assert!(all(report).iter().all(|status| *status == NumberStatus::Inserted), "{report}");
    }
    let change = "West fell by {{(q1.r1.q3_sales - q1.r1.q2_sales) / q1.r1.q2_sales|%1}}.";
    assert_eq!(all(change), [NumberStatus::Misplaced]);
}

/// Numbers without a pattern.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

fn proven_of(report: &str, evidence: &NumberEvidence) -> usize {
    prove(report, "", evidence).proven()
}

#[test]
fn invented_numbers_find_no_source_in_a_long_result() {
    let mut dice = Dice(7);
    let rows = (0..1_095).map(|_| {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let revenue = (60_000 + dice.below(120_000)) as f64 / 100.0;
        vec![DataValue::Real(revenue), DataValue::Int(dice.below(50) as i64 + 1)]
    });
    let evidence =
        NumberEvidence::new(&[query(1, &["revenue", "units"], rows.collect())], &[], &[]);
    let invented: String = (0..40)
        .map(|_| format!("The shop sold {} in a day with much revenue.\n", 1 + dice.below(2_000)))
        .collect();
    let proven = proven_of(&invented, &evidence);
    assert!(proven <= 1, "{proven} of 40 invented numbers were found");
    let highest =
        evidence.cells.iter().filter(|cell| cell.column == 0).map(|cell| cell.value).max();
    let text = format!("The highest revenue of a day is {}.", highest.unwrap());
    assert_eq!(proven_of(&text, &evidence), 1, "{text}");
}

#[test]
fn invented_percentages_do_not_follow_from_a_grouped_result() {
    let mut dice = Dice(11);
    let mut rows = Vec::new();
    for region in ["East", "West", "North"] {
        for month in 1..=12 {
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let revenue = (2_500_000 + dice.below(2_000_000)) as f64 / 100.0;
            let units = DataValue::Int(600 + dice.below(300) as i64);
            let month = text(&format!("2026-{month:02}"));
            rows.push(vec![text(region), month, DataValue::Real(revenue), units]);
        }
    }
    let query = query(1, &["region", "m", "revenue", "units"], rows);
    let evidence = NumberEvidence::new(&[query], &[], &[]);
    let invented: String = (0..40)
        .map(|_| format!("The share was {}.{}%.\n", dice.below(100), dice.below(10)))
        .collect();
    let proven = proven_of(&invented, &evidence);
    assert!(proven <= 1, "{proven} of 40 invented percentages were derived");
}
