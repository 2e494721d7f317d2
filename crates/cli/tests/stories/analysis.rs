//! `everloop analyze`: from a file to a report whose numbers can be computed again.

use crate::support::{Home, calls, eventually, of_type, says, short, slow};
use everloop_models::ScriptedReply;
use everloop_models::testing::FakeServer;
use serde_json::{Value, json};

const SALES: &str =
    "region,quarter,amount\nEast,Q2,4812.6\nEast,Q3,3927.1\nWest,Q2,2050.25\nWest,Q3,2134.75\n";

const TOTALS: &str =
    "SELECT region, sum(amount) AS total FROM sales GROUP BY region ORDER BY total DESC";

fn todo(status: &str, merge: bool) -> Value {
    let todos = json!([{"id": "1", "content": "totals by region", "status": status}]);
    calls("todo_write", json!({"todos": todos, "merge": merge}))
}

/// The order of calls of the source's section 8.
fn replies(report: &str) -> Vec<Value> {
    vec![
        calls("read_dataset", json!({"path": "sales.csv"})),
        todo("pending", false),
        todo("in_progress", true),
        calls("query_dataset", json!({"sql": TOTALS})),
        calls(
            "make_chart",
            json!({"kind": "bar", "query": "q1", "x": "region", "y": ["total"], "title": "Totals"}),
        ),
        todo("completed", true),
        says(report),
    ]
}

fn home(report: &str) -> Home {
    let home = Home::scripted(&replies(report));
    std::fs::write(home.work("sales.csv"), SALES).unwrap();
    home
}

const REPORT: &str =
    "# East sells most\n\nEast sold {{q1.r1.total}}, West 4,185.\n\n[ANALYSIS_COMPLETE]";

#[test]
fn a_question_about_a_file_becomes_a_report_that_can_be_checked_without_a_model() {
    let home = home(REPORT);
    let args = ["analyze", "--out", "report", "sales.csv", "which region sells most?"];
    let ran = home.run(args).ends_with(0).says(&["Table sales: 4 rows", "ten sample rows"]);
    assert!(ran.stdout.contains("East sold 8,739.7, West 4,185."), "{}", ran.stdout);
    assert!(ran.stdout.contains("2 of 2 numbers have a source."), "{}", ran.stdout);
    assert!(!ran.stdout.contains("ANALYSIS_COMPLETE"));
    let run = home.newest();
    let tools: Vec<String> = of_type(&home.events(&run), "tool.completed")
        .iter()
        .map(|event| event["tool"].as_str().unwrap_or_default().to_owned())
        .collect();
    let expected =
        ["read_dataset", "todo_write", "todo_write", "query_dataset", "make_chart", "todo_write"];
    assert_eq!(tools, expected);
    for name in ["report.md", "report.html", "charts/chart1.svg", "analysis.sql", "analysis.py"] {
        assert!(home.work("report").join(name).exists(), "{name}");
    }
    home.verified(&run);
    let checked = home.run(["analyze", "--check", "report"]).ends_with(0);
    assert!(checked.stdout.contains("2 of 2 numbers were computed again"), "{}", checked.stdout);
    std::fs::write(home.work("sales.csv"), SALES.replace("3927.1", "3827.1")).unwrap();
    let changed = home.run(["analyze", "--json", "--check", "report"]).ends_with(1);
    assert!(!changed.json()["differences"].as_array().unwrap().is_empty());
    // Nothing of the data is left behind.
    let left = std::fs::read_dir(home.data().join("analysis")).unwrap().count();
    assert_eq!(left, 0);
}

#[test]
fn numbers_that_were_invented_swapped_or_rounded_wrongly_are_marked() {
    let cases = [
        ("East sold 9,999.9 in all.", "no source"),
        ("East sold 4,185 and West 8,739.7.", "belongs to another row"),
        ("East sold 8,740.5 in all.", "not what the result rounds to"),
        ("East sold {{q1.r2.total}} and West {{q1.r1.total}}.", "belongs to another row"),
    ];
    for (report, words) in cases {
        let home = home(&format!("{report} [ANALYSIS_COMPLETE]"));
        home.run(["analyze", "--out", "report", "sales.csv", "which region?"]).ends_with(0);
        let report = std::fs::read_to_string(home.work("report/report.md")).unwrap();
        assert!(report.contains(words) && report.contains('⚠'), "{report}");
    }
}

#[test]
fn an_analysis_that_was_killed_goes_on_and_ends_with_the_same_report() {
    let whole = replies(REPORT);
    let mut first = whole.clone();
    first[4] = slow(first[4].clone());
    let home = home(REPORT);
    home.rewrite(&first);
    let args =
        ["analyze", "--output-format", "stream-json", "--out", "report", "sales.csv", "which?"];
    let mut killed = home.spawn(args);
    killed.until("q1: 2 rows");
    killed.kill9();
    home.rewrite(&whole);
    let run = home.newest();
    // As the same file with other numbers: had it been loaded again, they would be in the report.
    let sales = home.work("sales.csv");
    let modified = sales.metadata().unwrap().modified().unwrap();
    let rewrite = |text: &str| {
        std::fs::write(&sales, text).unwrap();
        let file = std::fs::File::options().write(true).open(&sales).unwrap();
        file.set_modified(modified).unwrap();
    };
    rewrite(&SALES.replace("4812.6", "1111.1"));
    let resumed = home.run(["runs", "resume", &run]).ends_with(0);
    assert!(resumed.stdout.contains("East sold 8,739.7, West 4,185."), "{}", resumed.stdout);
    let events = home.events(&run);
    let loads = of_type(&events, "tool.completed");
    let loads = loads.iter().filter(|event| event["tool"] == "read_dataset").count();
    assert_eq!(loads, 1);
    rewrite(SALES);
    home.run(["analyze", "--check", "report"]).ends_with(0);
    home.verified(&run);
}

#[test]
fn a_profile_needs_no_model() {
    let home = Home::new();
    std::fs::write(home.work("sales.csv"), SALES).unwrap();
    let told = home.run(["analyze", "--profile", "sales.csv"]).ends_with(0);
    assert!(told.stdout.contains("amount") && told.stdout.contains("decimals"), "{}", told.stdout);
    let json = home.run(["analyze", "--json", "--profile", "sales.csv"]).ends_with(0).json();
    assert_eq!(json["tables"][0]["rows"], json!(4));
    home.run(["analyze", "--profile", "--out", "seen", "sales.csv"]).ends_with(0);
    let page = home.read("seen/report.html");
    assert!(page.contains("Profile of sales.csv") && page.contains("<svg"), "{page}");
    assert!(home.read("seen/report.md").contains("](charts/t1c1.svg)"));
    assert!(home.work("seen/charts/t1c3.svg").exists());
    home.run(["analyze", "--check", "seen"]).ends_with(0);
    let left = std::fs::read_dir(home.data().join("analysis")).unwrap().count();
    assert_eq!(left, 0, "nothing of the data is left behind");
}

#[test]
fn a_profile_that_was_killed_does_not_load_again() {
    let home = Home::new();
    let rows = "East,Q2,4812.6\n".repeat(200_000);
    std::fs::write(home.work("sales.csv"), format!("region,quarter,amount\n{rows}")).unwrap();
    let folder = || {
        let found = std::fs::read_dir(home.data().join("analysis")).into_iter().flatten().flatten();
        found.map(|entry| entry.path()).find(|path| path.is_dir())
    };
    let killed = home.spawn(["analyze", "--profile", "sales.csv"]);
    let first = eventually("the folder of the data", folder);
    killed.kill9();
    let second = home.spawn(["analyze", "--profile", "--json", "sales.csv"]);
    let found = eventually("the folder of the data", folder);
    assert_eq!(first, found, "it is the same folder");
    second.ended().ends_with(0);
    assert_eq!(folder(), None);
}

#[test]
fn a_run_of_the_type_analyze_is_the_same() {
    let home = home(REPORT);
    let input = json!({
        "files": ["sales.csv"], "question": "which region?", "out": "report", "share": "schema"
    });
    let args = ["run", "--type", "analyze", "--input", &input.to_string()];
    let ran = home.run(args).ends_with(0);
    let events = home.events(&home.newest());
    let seen = of_type(&events, "tool.completed")[0].to_string();
    assert!(seen.contains("region") && !seen.contains("4812.6"), "{seen}");
    assert!(ran.stdout.contains("East sold 8,739.7"), "{}", ran.stdout);
    assert!(home.work("report/report.html").exists());
    for wrong in [
        json!({"files": ["no.csv"], "question": "x"}),
        json!({"files": ["sales.csv"], "question": "x", "share": "everything"}),
    ] {
        home.run(["run", "--type", "analyze", "--input", &wrong.to_string()]).ends_with(2);
    }
}

#[test]
fn files_and_reports_of_a_requested_run_stay_in_the_workspace() {
    let home = home(REPORT);
    let outside = home.data().join("secret.csv");
    std::fs::create_dir_all(home.data()).unwrap();
    std::fs::write(&outside, SALES).unwrap();
    std::os::unix::fs::symlink(&outside, home.work("link.csv")).unwrap();
    let asked =
        |input: Value| home.run(["run", "--type", "analyze", "--input", &input.to_string()]);
    for file in ["/etc/passwd", "../../../etc/passwd", "link.csv"] {
        let ran = asked(json!({"files": [file], "question": "x"})).ends_with(2);
        assert!(ran.stderr.contains("files:"), "{}", ran.stderr);
    }
    for out in ["/tmp/elsewhere", "../elsewhere"] {
        let ran = asked(json!({"files": ["sales.csv"], "question": "x", "out": out})).ends_with(2);
        assert!(ran.stderr.contains("out:"), "{}", ran.stderr);
    }
}

#[test]
fn a_kill_while_data_is_loaded_leaves_no_second_copy() {
    let home = home(REPORT);
    let rows = "East,Q2,4812.6\n".repeat(60_000);
    std::fs::write(home.work("sales.csv"), format!("region,quarter,amount\n{rows}")).unwrap();
    let folders = || {
        let found = std::fs::read_dir(home.data().join("analysis")).into_iter().flatten().flatten();
        found.filter(|entry| entry.path().is_dir()).count()
    };
    let killed = home.spawn(["analyze", "--out", "report", "sales.csv", "which region?"]);
    while folders() == 0 {
        std::thread::yield_now();
    }
    killed.kill9();
    assert_eq!(folders(), 1);
    home.run(["analyze", "--out", "report", "sales.csv", "which region?"]).ends_with(0);
    assert_eq!(folders(), 0, "the folder became that of the run");
}

#[test]
fn a_chat_shows_the_data_before_the_model_answers_and_marks_what_has_no_source() {
    let home = home("# East\n\nEast sold {{q1.r1.total}}, invented 77,777. [ANALYSIS_COMPLETE]");
    let line = "/analyze --loop tool-driven --out report sales.csv which region sells most?";
    let told = home.chat(&[line]).ends_with(0);
    let all = format!("{}{}", told.stdout, told.stderr);
    assert!(all.contains("Table sales: 4 rows") && all.contains("77,777 ⚠"), "{all}");
    assert!(home.work("report/report.html").exists());
}

#[test]
fn an_analysis_over_the_api_gives_out_the_files_of_its_report() {
    let home = home(REPORT).with_token();
    let served = home.serve();
    let input = json!({"files": ["sales.csv"], "question": "which region?", "out": "report"});
    let made = served.post("/v1/runs", &json!({"type": "analyze", "input": input}));
    let run = made.json()["id"].as_str().expect("a run").to_owned();
    let is_over = |event: &Value| {
        ["run.succeeded", "run.failed"].contains(&event["type"].as_str().unwrap_or_default())
    };
    let events = served.events(&run, 0, is_over);
    assert_eq!(events.last().unwrap().1["type"], "run.succeeded");
    let listed = served.get(&format!("/v1/runs/{run}/artifacts")).is(200).json();
    let files = listed["data"].as_array().unwrap();
    let file = |name: &str| files.iter().find(|file| file["name"] == name).expect("listed");
    assert!(files.iter().all(|file| file["state"] == "as_written"), "{listed}");
    let words = served.get(file("report/report.md")["url"].as_str().unwrap()).is(200);
    assert!(words.body.contains("East sold 8,739.7"), "{}", words.body);
    served.get(file("report/charts/chart1.svg")["url"].as_str().unwrap()).is(200);
    // What somebody else wrote in its place is not the run's.
    std::fs::write(home.work("report/report.md"), "something else").unwrap();
    served.get(file("report/report.md")["url"].as_str().unwrap()).is(409);
}

/// Where there is no Python of the system, SQL and charts are all there is.
pub(crate) fn has_python() -> bool {
    let found = std::path::Path::new("/usr/bin/python3").exists();
    if !found {
        eprintln!("SKIPPED: /usr/bin/python3 is not there, so no code is run");
    }
    found
}

#[test]
fn code_keeps_its_state_also_over_a_kill_if_its_cells_are_repeatable() {
    if !has_python() {
        return;
    }
    let cell = |code: &str| calls("run_code", json!({"code": code, "repeatable": true}));
    let replies = |second: Value| {
        vec![
            calls("read_dataset", json!({"path": "sales.csv"})),
            cell("east = len(open('sales.csv').readlines()) * 4\nprint('East', east)"),
            second,
            says("East has 20. With the next one, East has 21. [ANALYSIS_COMPLETE]"),
        ]
    };
    let home = home(REPORT);
    home.rewrite(&replies(slow(cell("east + 1"))));
    let how = ["analyze", "--yes", "--output-format", "stream-json", "--out", "report"];
    let args = how.iter().chain(&["sales.csv", "?"]);
    let mut killed = home.spawn(args);
    killed.until("East 20");
    killed.kill9();
    home.rewrite(&replies(cell("east + 1")));
    let run = home.newest();
    home.run(["runs", "resume", &run]).ends_with(0);
    let report = home.read("report/report.md");
    assert!(report.contains("2 of 2 numbers have a source"), "{report}");
    assert!(home.read("report/analysis.py").contains("east = len("));
    home.verified(&run);
}

#[test]
fn a_cell_without_an_end_is_answered_and_the_next_ones_run() {
    if !has_python() {
        return;
    }
    let cell = |code: &str| calls("run_code", json!({"code": code, "repeatable": true}));
    let home = home(REPORT);
    home.rewrite(&[
        calls("read_dataset", json!({"path": "sales.csv"})),
        cell("east = len(open('sales.csv').readlines()) * 4"),
        cell("while True: pass"),
        cell("print('East', east + 1)"),
        says("East has 21. [ANALYSIS_COMPLETE]"),
    ]);
    let args = ["analyze", "--yes", "--set", "tools.shell_timeout=3s", "--out", "report"];
    home.run(args.iter().chain(&["sales.csv", "?"])).ends_with(0);
    let events = home.events(&home.newest());
    let code =
        of_type(&events, "tool.completed").into_iter().chain(of_type(&events, "tool.failed"));
    let code = code.filter(|event| event["tool"] == "run_code").count();
    assert_eq!(code, 3, "each cell ended once");
    assert!(home.read("report/report.md").contains("1 of 1 numbers have a source"));
}

#[test]
fn code_reads_the_tables_and_its_files_are_in_the_report() {
    if !has_python() {
        return;
    }
    let cell = |code: &str| calls("run_code", json!({"code": code, "repeatable": true}));
    let home = home(REPORT);
    let read = "found = query('SELECT sum(amount) AS total FROM sales')\n\
                found = found.to_dict('records') if hasattr(found, 'to_dict') else found\n\
                print('total', found[0]['total'])\n\
                open('made.csv', 'w').write('a\\n1\\n')";
    let asks = "try:\n    input()\nexcept EOFError:\n    print('nothing to read')";
    home.rewrite(&[cell(read), cell(asks), says("The total is 12,924.7. [ANALYSIS_COMPLETE]")]);
    let args = ["analyze", "--yes", "--out", "report", "sales.csv", "?"];
    home.run(args).ends_with(0);
    assert_eq!(home.read("report/files/made.csv"), "a\n1\n");
    let report = home.read("report/report.md");
    assert!(report.contains("files/made.csv") && report.contains("1 of 1 numbers"), "{report}");
}

/// What the model was sent over all requests of an analysis.
fn sent_with(share: &str) -> String {
    let server = FakeServer::openai(vec![
        ScriptedReply::calls("read_dataset", json!({"path": "people.csv"})),
        ScriptedReply::says("Nothing to say. [ANALYSIS_COMPLETE]"),
    ]);
    let home = Home::new().endpoint(&server.url());
    let mut people = "name,age,when\n".to_owned();
    for at in 0..30 {
        people += &format!("Person{at},{},2026-01-{:02}\n", 40 + at, at % 28 + 1);
    }
    people += "Zelda,Unknown-age,2026-02-01\nYorick,nIL,2026-02-02,spare-field\n";
    std::fs::write(home.work("people.csv"), people).unwrap();
    let set = format!("analysis.share={share}");
    home.run(["analyze", "--set", &set, "people.csv", "how old?"]).ends_with(0);
    let seen = server.seen();
    assert!(seen.len() >= 2, "{}", seen.len());
    seen.iter().map(|request| request.json().to_string()).collect()
}

#[test]
fn the_model_is_sent_as_much_of_the_data_as_the_person_shares() {
    let (values, ends) = (["Person7", "spare-field", "Unknown-age"], ["2026-02-02", "mean 54.5"]);
    let schema = sent_with("schema");
    assert!(schema.contains("32 rows") && schema.contains("1 value is no integer"), "{schema}");
    for value in values.iter().chain(&ends).chain(&["nIL", "Yorick"]) {
        assert!(!schema.contains(value), "{value} in {schema}");
    }
    let aggregates = sent_with("aggregates");
    assert!(ends.iter().all(|end| aggregates.contains(end)), "{aggregates}");
    assert!(values.iter().all(|value| !aggregates.contains(value)), "{aggregates}");
    let samples = sent_with("samples");
    assert!(samples.contains("Person0") && samples.contains("spare-field"), "{samples}");
    assert!(samples.contains("Unknown-age"), "{samples}");
}

#[test]
fn a_report_is_never_written_over_something_else() {
    let home = home(REPORT);
    std::fs::create_dir(home.work("thesis")).unwrap();
    std::fs::write(home.work("thesis/report.md"), "a year of work").unwrap();
    let ran = home.run(["analyze", "--out", "thesis", "sales.csv", "which?"]).ends_with(2);
    assert!(ran.stderr.contains("holds no report"), "{}", ran.stderr);
    assert_eq!(home.read("thesis/report.md"), "a year of work");
}

#[test]
fn a_fork_has_the_results_that_its_messages_speak_of_and_a_report_of_its_own() {
    let home = home(REPORT);
    home.run(["analyze", "--out", "report", "sales.csv", "which?"]).ends_with(0);
    let before = home.read("report/report.md");
    let more = "SELECT count(*) AS n FROM sales";
    let mut all = replies(REPORT);
    all.push(calls("query_dataset", json!({"sql": more})));
    all.push(says("East sold {{q1.r1.total}} in {{q2.r1.n}} rows.\n\n[ANALYSIS_COMPLETE]"));
    home.rewrite(&all);
    home.run(["fork", &home.newest(), "how many rows?"]).ends_with(0);
    let fork = home.newest();
    let own = format!("report-{}", short(&fork));
    let report = home.read(&format!("{own}/report.md"));
    assert!(report.contains("East sold 8,739.7 in 4 rows."), "{report}");
    assert!(home.work(&own).join("charts/chart1.svg").exists());
    assert_eq!(home.read("report/report.md"), before);
    home.run(["analyze", "--check", &own]).ends_with(0);
    home.verified(&fork);
}

#[test]
fn code_is_run_again_by_a_check_that_is_told_to() {
    if !has_python() {
        eprintln!("SKIPPED: there is no Python of the system");
        return;
    }
    let cell = |code: &str, repeatable: bool| {
        calls("run_code", json!({"code": code, "repeatable": repeatable}))
    };
    let home = home(REPORT);
    let read = "total = query('SELECT sum(amount) AS total FROM sales')\n\
                total = total.to_dict('records') if hasattr(total, 'to_dict') else total\n\
                print('total', total[0]['total'])\nopen('made.csv', 'w').write('a')";
    home.rewrite(&[
        cell(read, true),
        cell("print('lost', missing_name)", true),
        says("The total is 12,924.7. [ANALYSIS_COMPLETE]"),
    ]);
    home.run(["analyze", "--yes", "--out", "report", "sales.csv", "?"]).ends_with(0);
    std::fs::remove_file(home.work("made.csv")).unwrap();
    let checked = home.run(["analyze", "--check", "report"]).ends_with(7);
    assert!(checked.stdout.contains("--with-code"), "{}", checked.stdout);
    let checked = home.run(["analyze", "--check", "report", "--with-code"]).ends_with(0);
    assert!(checked.stdout.contains("1 of 1 numbers were computed again"), "{}", checked.stdout);
    assert!(!home.work("made.csv").exists(), "code runs in a folder of its own");
    std::fs::write(home.work("sales.csv"), SALES.replace("3927.1", "3827.1")).unwrap();
    let checked = home.run(["analyze", "--check", "report", "--with-code"]).ends_with(1);
    assert!(checked.stdout.contains("c1 now prints"), "{}", checked.stdout);
}
