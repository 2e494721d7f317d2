use super::*;
use crate::chart::{ChartKind, ChartSpec};
use crate::load::DataFolder;
use crate::prove::NumberStatus;
use crate::query::{QueryEngine, QueryLimits};
use crate::report::{ReportParts, WrittenReport, write_report};
use crate::results::{KeptChart, ResultStore};
use crate::source::ReadLimits;

const DATA: &str = "day,region,amount\n2026-01-02,East,4812.6\n2026-02-03,East,3927.1\n\
                    2026-04-05,West,N/A\n2026-04-06,<b>West</b>,2134.75\n";

const WORDS: &str = "# East sold {{q1.r1.total}}\n\n- East: {{q1.r1.total}} in all\n- Rows: 4\n\n\
                     ## Totals\n\nEast sold {{q1.r1.total}}, invented 99,999.\n\n\
                     | region | total |\n|---|---:|\n| East | {{q1.r1.total}} |\n\n\
                     ![Totals](charts/chart1.svg)\n\n## <script>alert(1)</script>\n\nNothing.\n";

fn written(folder: &Path) -> WrittenReport {
    let file = folder.join("sales.csv");
    std::fs::write(&file, DATA).unwrap();
    let data = DataFolder::new(folder.join("data"));
    data.load(&file, &ReadLimits::default(), &|_| {}).unwrap();
    let sql = "SELECT region, sum(amount) AS total FROM sales GROUP BY region ORDER BY 2 DESC";
    let found = data.query(sql, &QueryLimits::default()).unwrap();
    let results = ResultStore::open(&data).unwrap();
    results.keep_query("a", sql, found.clone(), 7).unwrap();
    let spec = ChartSpec {
        kind: ChartKind::Bar,
        title: "Totals, East {{q1.r1.total|0}} and 88,888".to_owned(),
        x: "region".to_owned(),
        y: vec!["total".to_owned()],
        series: None,
        lang: Lang::En,
    };
    let drawn = crate::chart::draw(&spec, &found).unwrap();
    let kept = |number| KeptChart {
        number,
        title: spec.title.clone(),
        query: 1,
        alternative: drawn.alternative.clone(),
        svg: drawn.svg.clone(),
        spec: Some(spec.clone()),
    };
    results.keep_chart("b", kept).unwrap();
    let parts = ReportParts {
        words: WORDS.to_owned(),
        question: "which region?".to_owned(),
        run: "run_1".to_owned(),
        made_at: "2026-11-18 11:58".to_owned(),
        lang: Lang::En,
    };
    write_report(&data, &folder.join("report"), &parts).unwrap()
}

#[test]
fn a_report_is_read_back_from_its_folder_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let told = written(folder.path());
    let model = ReportModel::read(&told.folder).unwrap();
    assert_eq!(model.title, "East sold 8,739.7");
    assert_eq!(model.counts(), told.counts);
    let keys: Vec<&str> = model.keys.iter().map(|key| key.label.as_str()).collect();
    assert_eq!(keys, ["East", "Rows"]);
    assert_eq!(model.sections[0].queries, [1]);
    assert!(model.sections[0].html.contains("id=\"chart1\""), "{}", model.sections[0].html);
    assert!(model.sections[0].html.contains("<td align=\"right\"><a class=\"n\""));
    let facts: Vec<&str> = model.facts.iter().map(|fact| fact.value.as_str()).collect();
    assert!(facts.contains(&"day: 2026-01-02 to 2026-04-06"), "{facts:?}");
    assert!(facts.contains(&"taken for missing: N/A"), "{facts:?}");
    assert_eq!(super::super::html::page(&model), {
        std::fs::read_to_string(told.folder.join("report.html")).unwrap()
    });
}

#[test]
fn words_and_pictures_that_were_changed_in_the_folder_never_become_markup() {
    let folder = tempfile::tempdir().unwrap();
    let told = written(folder.path());
    let words = told.folder.join("report.md");
    let changed = std::fs::read_to_string(&words).unwrap();
    let changed = changed.replace("Nothing.", "<img src=x onerror=alert(1)> [x](javascript:a)");
    std::fs::write(&words, changed).unwrap();
    std::fs::write(told.folder.join("charts/chart1.svg"), "<svg onload=\"alert(1)\"/>").unwrap();
    let page = super::super::html::page(&ReportModel::read(&told.folder).unwrap());
    for bad in ["<script", "<img src=x", "onload=", "javascript:", "<b>West"] {
        assert!(!page.contains(bad), "{bad}");
    }
}

#[test]
fn the_page_leads_from_each_number_to_its_query_and_marks_those_without() {
    let folder = tempfile::tempdir().unwrap();
    let told = written(folder.path());
    let page = std::fs::read_to_string(told.folder.join("report.html")).unwrap();
    for there in [
        "<a href=\"#q1\">q1</a>.r1.total",
        "<h3 id=\"q1\">",
        "class=\"plot wide\"",
        "class=\"plot narrow\"",
        "3 have no source",
    ] {
        assert!(page.contains(there), "{there}");
    }
    assert!(!page.contains('`'));
    assert!(told.text.contains("99,999 ⚠"), "{}", told.text);
}

#[test]
fn numbers_in_the_title_of_a_chart_are_inserted_marked_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let told = written(folder.path());
    let manifest = DataManifest::read(&told.folder).unwrap();
    let title = "Totals, East 8,740 and 88,888 \u{26a0}";
    assert_eq!(manifest.charts[0].spec.title, title);
    let own: Vec<(&str, NumberStatus)> = manifest
        .numbers
        .iter()
        .filter(|number| number.chart == Some(1))
        .map(|number| (number.text.as_str(), number.status))
        .collect();
    assert_eq!(own, [("8,740", NumberStatus::Inserted), ("88,888", NumberStatus::NoSource)]);
    for name in ["charts/chart1.svg", "report.html"] {
        let text = std::fs::read_to_string(told.folder.join(name)).unwrap();
        assert!(text.contains(title), "{name}");
    }
    let words = std::fs::read_to_string(told.folder.join("report.md")).unwrap();
    assert!(words.contains("88,888 \u{b7} chart1"), "{words}");
    let scratch = folder.path().join("scratch");
    let limits = (&ReadLimits::default(), &QueryLimits::default());
    let checked = crate::check::check_report(&told.folder, &scratch, limits, &|_| {}).unwrap();
    assert!(checked.differences.is_empty(), "{checked:?}");
    assert_eq!(checked.without_source, 3);
}
