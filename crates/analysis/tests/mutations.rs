//! Reports with known answers, and the same reports with one number made wrong: how many of the
//! wrong numbers are caught, and how many of the right ones are marked by mistake.
//!
//! `cargo nextest run -p everloop-analysis --test mutations --no-capture` prints the table.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use everloop_analysis::{
    DataFolder, DataManifest, QueryEngine, QueryLimits, ReadLimits, ReportParts, ResultStore,
    write_report,
};
use everloop_types::Lang;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use tempfile::TempDir;

/// Wrong reports of each kind for each data set.
const EACH: usize = 40;

/// Numbers without a pattern, the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most.max(1)
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + i64::try_from(self.below(u64::try_from(high - low).unwrap())).unwrap()
    }
}

/// A data set, what is asked of it, and a report of its known answers; numbers stand in `[…]`.
struct DataSet {
    name: &'static str,
    files: Vec<(&'static str, Vec<u8>)>,
    queries: Vec<&'static str>,
    report: String,
}

/// Hundredths with two places, and a comma after each three digits.
fn money(hundredths: i64) -> String {
    format!("{}.{:02}", grouped(hundredths / 100), hundredths % 100)
}

fn grouped(whole: i64) -> String {
    let digits = whole.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A part in percent with one place, halves away from nothing.
fn percent(part: i64, whole: i64) -> String {
    let tenths = (part * 2_000 + whole.signum() * part.signum() * whole.abs()) / (whole * 2);
    format!("{}.{}%", tenths.abs() / 10, tenths.abs() % 10)
}

fn trends(dice: &mut Dice) -> DataSet {
    let mut file = "date,region,revenue,units\n".to_owned();
    let mut totals: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
    let mut months: BTreeMap<(i64, &str), i64> = BTreeMap::new();
    for day in 0..364 {
        let (month, of_month) = (day / 31 + 1, day % 31 % 28 + 1);
        for (region, base, step) in
            [("East", 100_000, 250), ("West", 80_000, 0), ("North", 150_000, -150)]
        {
            let revenue = base + step * day + dice.between(-2_000, 2_000);
            let units = dice.between(1, 50);
            writeln!(
                file,
                "2026-{month:02}-{of_month:02},{region},{}.{:02},{units}",
                revenue / 100,
                revenue % 100
            )
            .unwrap();
            let total = totals.entry(region).or_default();
            (total.0, total.1) = (total.0 + revenue, total.1 + units);
            *months.entry((month, region)).or_default() += revenue;
        }
    }
    let all: i64 = totals.values().map(|total| total.0).sum();
    let (east, west, north) = (totals["East"], totals["West"], totals["North"]);
    let report = format!(
        "# East sells most\n\nEast sold [{}], which is [{}] of the total of [{}]. West sold [{}] \
         and North sold [{}].\n\nEast sold [{}] units, West [{}] and North [{}].\n\n| region | \
         revenue |\n|---|---|\n| East | [{}] |\n| West | [{}] |\n\nIn 2026-01 East took [{}]; in \
         2026-12 East took [{}].\n\nThe table has [{}] rows.\n\n## 1. Scope\n\nThe data are of 2026 \
         (2026-01-01 to 2026-12-28), that is [{}] regions over [{}] months, from Q1 to Q4 2026; \
         version v1.2 of the file is in UTF-8.\n",
        money(east.0),
        percent(east.0, all),
        money(all),
        money(west.0),
        money(north.0),
        grouped(east.1),
        grouped(west.1),
        grouped(north.1),
        money(east.0),
        money(west.0),
        money(months[&(1, "East")]),
        money(months[&(12, "East")]),
        grouped(364 * 3),
        3,
        12,
    );
    DataSet {
        name: "trends",
        files: vec![("trend.csv", file.into_bytes())],
        queries: vec![
            "SELECT region, sum(revenue) AS revenue, sum(units) AS units FROM trend GROUP BY 1 \
             ORDER BY 2 DESC",
            "SELECT region, substr(date, 1, 7) AS month, sum(revenue) AS revenue FROM trend GROUP \
             BY 1, 2 ORDER BY 1, 2",
        ],
        report,
    }
}

fn joins(dice: &mut Dice) -> DataSet {
    let cities = ["Rome", "Oslo", "Lima", "Bonn"];
    let mut orders = "order_id,customer_id,total\n".to_owned();
    let mut customers = "customer_id,city\n".to_owned();
    (0..20).for_each(|at| writeln!(customers, "c{at},{}", cities[at % 4]).unwrap());
    // Two customers are there twice: a join makes more rows than there are orders.
    customers += "c3,Bonn\nc7,Bonn\n";
    let mut totals = [0_i64; 4];
    let mut doubled = 0;
    let mut plain = 0;
    for at in 0..400_usize {
        let total = dice.between(500, 40_000);
        let customer = at % 20;
        writeln!(orders, "{at},c{customer},{}.{:02}", total / 100, total % 100).unwrap();
        let times = if customer == 3 || customer == 7 { 2 } else { 1 };
        totals[customer % 4] += total * times;
        (plain, doubled) = (plain + total, doubled + total * times);
    }
    let report = format!(
        "# A join that counts twice\n\nAll orders are worth [{}]. The join says [{}], which is \
         [{}] more.\n\nRome stands for [{}], Oslo for [{}], Lima for [{}] and Bonn for [{}].\n\n\
         Rome has [{}] of what the join says.\n",
        money(plain),
        money(doubled),
        money(doubled - plain),
        money(totals[0]),
        money(totals[1]),
        money(totals[2]),
        money(totals[3]),
        percent(totals[0], doubled),
    );
    DataSet {
        name: "joins",
        files: vec![("orders.csv", orders.into_bytes()), ("customers.csv", customers.into_bytes())],
        queries: vec![
            "SELECT sum(total) AS total FROM orders",
            "SELECT city, sum(total) AS total FROM orders JOIN customers USING (customer_id) GROUP \
             BY city ORDER BY city",
            "SELECT sum(total) AS joined FROM orders JOIN customers USING (customer_id)",
        ],
        report,
    }
}

fn dirty(dice: &mut Dice) -> DataSet {
    let mut file = "name;amount;when;kind\n".to_owned();
    let kinds = ["retail", "online", "export"];
    let (mut sums, mut counts) = ([0_i64; 3], [0_i64; 3]);
    for at in 0..300_usize {
        let kind = at % 3;
        let amount = dice.between(100_000, 999_999);
        let written = match at % 50 {
            7 => "oops".to_owned(),
            9 => String::new(),
            _ => {
                (sums[kind], counts[kind]) = (sums[kind] + amount, counts[kind] + 1);
                format!("{}.{:03},{:02}", amount / 100_000, amount / 100 % 1_000, amount % 100)
            }
        };
        writeln!(
            file,
            "n{at};{written};{:02}.{:02}.2026;{}",
            at % 28 + 1,
            at % 12 + 1,
            kinds[kind]
        )
        .unwrap();
    }
    let all: i64 = sums.iter().sum();
    let report = format!(
        "# Retail, online, export\n\n- retail: [{}] from [{}] sales\n- online: [{}] from [{}] \
         sales\n- export: [{}] from [{}] sales\n\nAll of them make [{}]. Retail has a share of \
         [{}] and online of [{}].\n\nDates such as 01.03.2026 (1 March 2026) and decimals with a \
         comma were read; two kinds of values did not fit. The 3rd kind is the smallest.\n",
        money(sums[0]),
        counts[0],
        money(sums[1]),
        counts[1],
        money(sums[2]),
        counts[2],
        money(all),
        percent(sums[0], all),
        percent(sums[1], all),
    );
    DataSet {
        name: "dirty",
        files: vec![("dirty.csv", file.into_bytes())],
        queries: vec![
            "SELECT kind, sum(amount) AS amount, count(amount) - sum(typeof(amount) = 'text') AS \
             sales FROM dirty GROUP BY kind ORDER BY kind",
        ],
        report,
    }
}

fn outliers(dice: &mut Dice) -> DataSet {
    let mut file = "host\tload\n".to_owned();
    let hosts = ["alpha", "beta", "gamma"];
    let mut loads: [Vec<i64>; 3] = Default::default();
    for at in 0..600_usize {
        let load = if at == 301 { 99_999 } else { dice.between(10_000, 13_000) };
        writeln!(file, "{}\t{load}", hosts[at % 3]).unwrap();
        loads[at % 3].push(load);
    }
    let top = |at: usize| grouped(*loads[at].iter().max().unwrap());
    let low = |at: usize| grouped(*loads[at].iter().min().unwrap());
    let sum = |at: usize| loads[at].iter().sum::<i64>();
    let report = format!(
        "# One value is far outside\n\nThe highest load of beta is [{}], while alpha has at most \
         [{}] and gamma at most [{}].\n\nThe lowest load is [{}] on alpha and [{}] on gamma.\n\n\
         In all, alpha carried [{}], beta [{}] and gamma [{}].\n",
        top(1),
        top(0),
        top(2),
        low(0),
        low(2),
        grouped(sum(0)),
        grouped(sum(1)),
        grouped(sum(2)),
    );
    DataSet {
        name: "outliers",
        files: vec![("load.tsv", file.into_bytes())],
        queries: vec![
            "SELECT host, max(load) AS highest, min(load) AS lowest, sum(load) AS carried FROM \
             load GROUP BY host ORDER BY host",
        ],
        report,
    }
}

fn chinese(dice: &mut Dice) -> DataSet {
    let mut file = "地区,销售额,日期\n".to_owned();
    let regions = ["华东", "华南", "华北"];
    let mut sums = [0_i64; 3];
    for at in 0..360_usize {
        let amount = dice.between(500_000, 900_000);
        let (month, day) = (at % 12 + 1, at % 28 + 1);
        writeln!(file, "{},{amount},2026年{month}月{day}日", regions[at % 3]).unwrap();
        sums[at % 3] += amount;
    }
    let all: i64 = sums.iter().sum();
    // Tens of thousands with two places.
    let wan = |amount: i64| format!("{}万", money((amount + 50) / 100));
    let report = format!(
        "# 华东、华南与华北\n\n华东销售额为[{}]元，华南为[{}]元，华北为[{}]元。\n\n三个地区合计[{}]元。\
         华东占[{}]。\n\n| 地区 | 销售额 |\n|---|---|\n| 华东 | [{}] |\n| 华南 | [{}] |\n\n\
         数据覆盖2026年1月至12月，共[{}]个地区，三个地区中华东排名第一。\n",
        wan(sums[0]),
        wan(sums[1]),
        wan(sums[2]),
        wan(all),
        percent(sums[0], all),
        grouped(sums[0]),
        grouped(sums[1]),
        3,
    );
    let (bytes, _, _) = encoding_rs::GB18030.encode(&file);
    DataSet {
        name: "chinese",
        files: vec![("销售.csv", bytes.into_owned())],
        queries: vec!["SELECT 地区, sum(销售额) AS 销售额 FROM 销售 GROUP BY 地区 ORDER BY 2 DESC"],
        report,
    }
}

/// How a right number is made wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mutation {
    Invent,
    Swap,
    Misround,
    Unit,
    Percent,
    Disguise,
}

const MUTATIONS: [Mutation; 6] = [
    Mutation::Invent,
    Mutation::Swap,
    Mutation::Misround,
    Mutation::Unit,
    Mutation::Percent,
    Mutation::Disguise,
];

const WORDS: [&str; 4] =
    ["ninety-one thousand", "four hundred and twelve thousand", "八万七千", "百分之八十七点三"];

/// Ways to write an invented number so that it may be taken for something else.
const DISGUISES: [&str; 14] = [
    "{{#}}",
    "{{data.#.rows + #}}",
    "#USD",
    "CNY#",
    "#kg",
    "_#_",
    "`#`",
    "`# USD`",
    "#th",
    "v-#",
    "\n\n# # units\n\n",
    "\n```\n#\n```\n",
    "__#__",
    "<!-- # -->",
];

/// Words and numbers in turn.
fn pieces(report: &str) -> Vec<String> {
    report.split(['[', ']']).map(str::to_owned).collect()
}

/// The same report with wrong numbers, and the places of these; none if they are right by chance.
fn mutated(
    pieces: &[String],
    kind: Mutation,
    dice: &mut Dice,
) -> Option<(Vec<String>, Vec<usize>)> {
    let numbers: Vec<usize> = (1..pieces.len()).step_by(2).collect();
    let at = numbers[usize::try_from(dice.below(numbers.len() as u64)).unwrap()];
    let own = &pieces[at];
    let mut wrong = pieces.to_vec();
    let places = match kind {
        Mutation::Invent => {
            let digit = |c: char, dice: &mut Dice, first: bool| match c {
                '0'..='9' => char::from_digit(
                    u32::try_from(dice.below(10)).unwrap().max(u32::from(first)),
                    10,
                )
                .unwrap(),
                other => other,
            };
            wrong[at] = own.chars().enumerate().map(|(nth, c)| digit(c, dice, nth == 0)).collect();
            vec![at]
        }
        Mutation::Swap => {
            // Two numbers of one kind, as somebody who mixes up rows would.
            let alike = |other: &&usize| {
                **other != at && pieces[**other].ends_with('%') == own.ends_with('%')
            };
            let others: Vec<usize> = numbers.iter().filter(alike).copied().collect();
            let near = others.iter().min_by_key(|other| other.abs_diff(at))?;
            wrong.swap(at, *near);
            vec![at, *near]
        }
        Mutation::Misround => {
            // The last digit is off by one.
            let last = own.rfind(|c: char| c.is_ascii_digit())?;
            let digit = own[last..].chars().next()?.to_digit(10)?;
            let other = if digit == 9 { 8 } else { digit + 1 };
            wrong[at].replace_range(last..=last, &other.to_string());
            vec![at]
        }
        Mutation::Disguise => {
            let number = (10_000 + dice.below(90_000)).to_string();
            let wide = |c: char| char::from_u32(c as u32 - '0' as u32 + 0xff10).unwrap();
            let form = usize::try_from(dice.below(DISGUISES.len() as u64 + 2)).unwrap();
            wrong[at] = match DISGUISES.get(form) {
                Some(form) if form.contains("# #") => form.replace("# #", &format!("# {number}")),
                Some(form) => form.replace('#', &number),
                None if form == DISGUISES.len() => number.chars().map(wide).collect(),
                None => WORDS[usize::try_from(dice.below(WORDS.len() as u64)).unwrap()].to_owned(),
            };
            vec![at]
        }
        Mutation::Unit => {
            wrong[at] = match own.strip_suffix('万') {
                Some(bare) => bare.to_owned(),
                None if own.ends_with('%') => return None,
                None => format!("{own}万"),
            };
            vec![at]
        }
        Mutation::Percent => {
            wrong[at] = match own.strip_suffix('%') {
                Some(bare) => bare.to_owned(),
                None if own.ends_with('万') => return None,
                None => format!("{own}%"),
            };
            vec![at]
        }
    };
    // What is right by chance, or the other number of a pair that is the same, is not wrong.
    let is_wrong = places.iter().all(|place| wrong[*place] != pieces[*place]);
    let is_known = kind == Mutation::Invent && pieces.contains(&wrong[at]);
    (is_wrong && !is_known).then_some((wrong, places))
}

/// The numbers of a report that have to have a source, as (text, whether it has one).
fn proven(data: &DataFolder, out: &Path, words: &str) -> Vec<(String, bool)> {
    let parts = ReportParts {
        words: words.to_owned(),
        question: "what is sold where?".to_owned(),
        run: String::new(),
        made_at: String::new(),
        lang: Lang::En,
    };
    write_report(data, out, &parts).unwrap();
    let manifest = DataManifest::read(out).unwrap();
    let numbers = manifest.numbers.into_iter();
    numbers.map(|own| (own.text, !own.status.is_marked())).collect()
}

#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    caught: usize,
    missed: usize,
}

#[test]
fn wrong_numbers_are_caught_and_right_ones_are_not_marked() {
    let mut dice = Dice(20_261_118);
    let sets = [
        trends(&mut dice),
        joins(&mut dice),
        dirty(&mut dice),
        outliers(&mut dice),
        chinese(&mut dice),
    ];
    let (mut tallies, mut right, mut marked) = (BTreeMap::<Mutation, Tally>::new(), 0, Vec::new());
    let mut missed = Vec::new();
    for set in &sets {
        let folder = TempDir::new().unwrap();
        let data = DataFolder::new(folder.path().join("session"));
        for (name, bytes) in &set.files {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            data.load(&path, &ReadLimits::default(), &|_| {}).unwrap();
        }
        let results = ResultStore::open(&data).unwrap();
        for (at, sql) in set.queries.iter().enumerate() {
            let result = data.query(sql, &QueryLimits::default()).unwrap();
            results.keep_query(&format!("call-{at}"), sql, result, 1).unwrap();
        }
        let out = folder.path().join("report");
        let pieces = pieces(&set.report);
        let found = proven(&data, &out, &pieces.concat());
        let expected = pieces.len() / 2;
        assert!(found.len() >= expected, "{}: {found:?}", set.name);
        right += found.len();
        let alarms = found.into_iter().filter(|(_, is_proven)| !is_proven);
        marked.extend(alarms.map(|(text, _)| format!("{}: {text}", set.name)));
        for kind in MUTATIONS {
            for _ in 0..EACH {
                let Some((wrong, places)) = mutated(&pieces, kind, &mut dice) else { continue };
                let found = proven(&data, &out, &wrong.concat());
                let is_caught = found.iter().any(|(_, is_proven)| !is_proven);
                let tally = tallies.entry(kind).or_default();
                match is_caught {
                    true => tally.caught += 1,
                    false => {
                        tally.missed += 1;
                        let shown: Vec<String> = places
                            .iter()
                            .map(|at| format!("{} for {}", wrong[*at], pieces[*at]))
                            .collect();
                        missed.push(format!("{} {kind:?}: {}", set.name, shown.join(", ")));
                    }
                }
            }
        }
    }
    println!("right numbers {right}, marked by mistake {}", marked.len());
    marked.iter().for_each(|alarm| println!("  marked: {alarm}"));
    let mut all = Tally::default();
    for (kind, tally) in &tallies {
        println!("{kind:?}: caught {} of {}", tally.caught, tally.caught + tally.missed);
        (all.caught, all.missed) = (all.caught + tally.caught, all.missed + tally.missed);
    }
    println!("all: caught {} of {}", all.caught, all.caught + all.missed);
    missed.iter().for_each(|line| println!("  missed: {line}"));
    assert!(marked.is_empty(), "right numbers that were marked: {marked:?}");
    assert!(all.caught + all.missed >= 500, "{all:?}");
    for (kind, tally) in tallies {
        let floor = (tally.caught + tally.missed) * 99;
        assert!(tally.caught * 100 >= floor, "{kind:?} {tally:?}");
    }
}
