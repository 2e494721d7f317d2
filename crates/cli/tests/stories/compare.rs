//! Comparing loops: what is printed, written and refused, and that the document is not stale.

use crate::support::{Home, calls, eventually, says};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

const OWN: &str = r#"
name = "hello"
kind = "files"
goal = 'Write "hello" to hello.txt.'
checks = [{ file_equals = { file = "hello.txt", text = "hello" } }]
"#;

/// A home with a folder of tasks.
fn with_tasks(files: &[(&str, &str)]) -> (Home, String) {
    let home = Home::new();
    let folder = home.path("tasks");
    std::fs::create_dir(&folder).unwrap();
    for (name, text) in files {
        std::fs::write(folder.join(name), text).unwrap();
    }
    (home, folder.to_str().unwrap().to_owned())
}

#[test]
fn one_command_prints_a_row_for_each_loop() {
    let home = Home::new();
    let args = ["compare", "--task", "files-copy", "--task", "todos-add"];
    let loops = everloop_loops::LOOPS.len();
    let last = format!("{0}/{0} ", 2 * loops);
    let told = home.run(args).ends_with(0).says(&[&last, " react files-copy ✔"]);
    let (sums, averages) = told.stdout.trim_end().split_once("\n\n").unwrap();
    let rows: Vec<&str> = sums.lines().collect();
    assert_eq!(rows.len(), loops + 2, "{sums}");
    assert!(rows[1].starts_with("Loop ") && rows[1].ends_with("Wall time"), "{sums}");
    assert!(rows[3].starts_with("react ") && rows[3].contains("2/2 (100%)"), "{sums}");
    assert!(averages.lines().any(|row| row.starts_with("react ") && row.ends_with("+0% (2)")));
    let chinese = home.run(["compare", "--task", "todos-add", "--lang", "zh-CN", "-q"]);
    let chinese = chinese.ends_with(0);
    assert!(chinese.stdout.contains("模型调用") && chinese.stderr.is_empty(), "{chinese:?}");
    assert_eq!(std::fs::read_dir(home.data()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn json_has_every_run_and_the_page_is_written() {
    let home = Home::new();
    let page = home.path("page.html");
    let file = page.to_str().unwrap();
    let args = ["compare", "--loops", "react,staged", "--task", "data-sum", "--runs", "2"];
    let told = home.run([&args[..], &["--json", "--html", file]].concat()).ends_with(0);
    let json = told.json();
    assert_eq!(json["runs"].as_array().unwrap().len(), 4);
    assert_eq!(json["loops"], json!(["react", "staged"]));
    let seeds: Vec<&Value> =
        json["runs"].as_array().unwrap().iter().map(|run| &run["seed"]).collect();
    assert_eq!(seeds, [1, 2, 1, 2]);
    assert_eq!(json["totals"][0]["succeeded"], 2);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("everloop compare --loops react,staged") && page.contains("<svg"));
    let nowhere = home.path("no/page.html");
    let args = ["compare", "--task", "todos-add", "--html", nowhere.to_str().unwrap()];
    home.run(args).ends_with(1).says(&["no/page.html"]);
}

/// The page and the figures are passed on; what was typed beside them is not.
#[test]
fn no_secret_of_the_command_line_is_in_the_figures_or_on_the_page() {
    let home = Home::new();
    let page = home.path("page.html");
    let args = ["compare", "--loops", "react", "--task", "todos-add", "--seed", "4", "--json"];
    let secret = ["--set", "loop.completion_mark=s3cret", "--html", page.to_str().unwrap()];
    let database = ["--database", "postgres://u:s3cret@127.0.0.1:9/none"];
    let told = home.run([&args[..], &secret, &database].concat()).ends_with(0);
    let command = "everloop compare --loops react --models competent --task todos-add --seed 4 \
                   --runs 1 --timeout 300000ms";
    assert_eq!(told.json()["command"], command);
    assert_eq!(told.json()["withheld_settings"], json!(["loop.completion_mark"]));
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains(command), "{page}");
    assert!(!page.contains("s3cret") && !told.stdout.contains("s3cret"), "{}", told.stdout);
}

/// Whoever was given the figures can make them again, wherever their settings came from.
#[test]
fn the_command_that_is_named_gives_the_same_figures() {
    let home = Home::new().with("EVERLOOP_BUDGET__WORK_TIME", "0s");
    home.run(["config", "set", "loop.max_iterations", "3"]).ends_with(0);
    let args = ["compare", "--loops", "plan-replan,react", "--task", "files-release", "--json"];
    let more = ["--set", "loop.max_steps=40", "--timeout", "90s", "--latency", "1s,20ms"];
    let told = home.run([&args[..], &more].concat()).ends_with(0).json();
    let command = told["command"].as_str().unwrap();
    for said in ["max_steps=40", "max_iterations=3", "work_time=0s", "--timeout 90000ms"] {
        assert!(command.contains(said), "{command}");
    }
    let limits = |name: &str| told["limits"][name]["steps"]["max_steps"].as_u64();
    assert_eq!((limits("plan-replan"), limits("react")), (Some(40), Some(3)));
    assert_eq!(told["limits"]["react"]["steps"]["rounds"]["max_rounds"], 5, "all are said");
    let words = command.split_whitespace().skip(1).chain(["--json"]);
    let again = Home::new().run(words).ends_with(0).json();
    assert_eq!(again["runs"], told["runs"]);
    assert_eq!((&again["limits"], &again["command"]), (&told["limits"], &told["command"]));
}

/// What was killed can take nothing away; the next one does.
#[test]
fn what_a_killed_comparison_left_is_taken_away_by_the_next() {
    let slow = OWN.replace(
        "'Write \"hello\" to hello.txt.'",
        "'Run \"sleep 60\". Write \"hello\" to hello.txt.'",
    );
    let (home, folder) = with_tasks(&[("slow.toml", &slow)]);
    let temporary = home.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let home = home.with("TMPDIR", temporary.to_str().unwrap());
    let left = || {
        let folders = std::fs::read_dir(&temporary).unwrap().map(|it| it.unwrap().path());
        folders.filter(|folder| folder.join("held").exists()).count()
    };
    let child = home.spawn(["compare", "--tasks", &folder, "--loops", "react"]);
    eventually("a stage", || (left() > 0).then_some(()));
    child.kill9();
    assert_eq!(left(), 1);
    home.run(["compare", "--loops", "react", "--task", "todos-add"]).ends_with(0);
    assert_eq!(left(), 0);
}

/// `auto` fits the rounds to each goal: two sentences get two rounds, and a flaky tool needs four.
#[test]
fn rounds_are_fitted_to_each_goal_where_the_settings_leave_them_to_it() {
    let home = Home::new();
    let args = ["compare", "--loops", "plan-execute-think", "--task", "recovery-flaky", "--json"];
    let calls = |more: &[&str]| {
        let told = home.run([&args[..], more].concat()).ends_with(0).json();
        told["runs"][0]["model_calls"].as_u64().unwrap()
    };
    let (whole, fitted) = (calls(&[]), calls(&["--set", "loop.preset=auto"]));
    assert!(fitted < whole, "{fitted} and {whole}");
}

#[test]
fn progress_names_the_policy_where_there_are_several() {
    let home = Home::new();
    let args = ["compare", "--loops", "react", "--task", "todos-add", "--models"];
    let told = home.run([&args[..], &["competent,format"]].concat()).ends_with(0);
    let told = told.says(&[" competent react todos-add", " format react todos-add"]);
    assert!(told.stderr.contains("2/2 "), "{}", told.stderr);
    let alone = home.run([&args[..], &["competent"]].concat()).ends_with(0);
    assert!(alone.stderr.contains("1/1 react todos-add"), "{}", alone.stderr);
}

#[test]
fn all_loops_may_stand_beside_a_name_and_each_runs_once() {
    let home = Home::new();
    let args = ["compare", "--task", "todos-add", "--json", "--loops"];
    let told = home.run([&args[..], &["staged, all"]].concat()).ends_with(0).json();
    let loops = told["loops"].as_array().unwrap();
    assert_eq!((loops.len(), &loops[0]), (everloop_loops::LOOPS.len(), &json!("staged")));
    home.run([&args[..], &["reakt,all"]].concat()).ends_with(2).says(&["Did you mean react?"]);
}

#[test]
fn a_name_that_is_not_known_gets_the_nearest_one() {
    let home = Home::new();
    for (args, words) in [
        (["--loops", "reakt"], "Did you mean react?"),
        (["--models", "competant"], "Did you mean competent?"),
        (["--task", "files-cpy"], "Did you mean files-copy?"),
        (["--timeout", "soon"], "500ms, 8s"),
        (["--latency", "1s"], "1s,20ms"),
        (["--min-success", "101"], "101"),
    ] {
        home.run([&["compare"][..], &args].concat()).ends_with(2).says(&[words]);
    }
    for args in [["--loops", "nope"], ["--models", "nope"], ["--task", "nope"]] {
        let told = home.run([&["compare"][..], &args].concat()).ends_with(2).says(&["nope"]);
        assert!(!told.stderr.contains("Did you mean"), "{}", told.stderr);
    }
    home.run(["compare", "--models", "hub/x"]).ends_with(5).says(&["hub"]);
}

#[test]
fn too_little_success_is_a_failure_where_it_was_required() {
    let home = Home::new();
    let args = ["compare", "--loops", "plan-replan", "--task", "long-move"];
    home.run(args).ends_with(0);
    let required = [&args[..], &["--min-success", "85"]].concat();
    let told = home.run(required).ends_with(1).says(&["0% of the runs", "85%"]);
    assert!(told.stdout.contains("0/1 (0%)"), "{}", told.stdout);
    home.run(["compare", "--task", "todos-add", "--min-success", "100"]).ends_with(0);
}

#[test]
fn tasks_are_listed_and_may_be_ones_own() {
    let list = Home::new().run(["compare", "--list"]).ends_with(0).stdout;
    assert!(list.lines().count() > 24 && list.contains("recovery-flaky"), "{list}");
    let json = Home::new().run(["compare", "--list", "--json"]).ends_with(0).json();
    assert!(json["tasks"].as_array().unwrap().iter().any(|task| task["name"] == "todos-add"));
    let chinese = Home::new().run(["compare", "--list", "--lang", "zh-CN"]).ends_with(0).stdout;
    assert!(chinese.contains("  恢复  ") && !chinese.contains("  recovery  "), "{chinese}");
    let (home, folder) = with_tasks(&[("hello.toml", OWN)]);
    let told = home.run(["compare", "--tasks", &folder, "--loops", "react", "--per-task"]);
    let told = told.ends_with(0);
    assert!(told.stdout.contains("1/1 (100%)") && told.stdout.contains("hello"), "{told:?}");
    home.run(["compare", "--tasks", &folder, "--task", "files-copy"]).ends_with(2);
    let bad = OWN.replace("file_equals", "file_equal");
    let (home, folder) = with_tasks(&[("a.toml", OWN), ("b.toml", &bad)]);
    home.run(["compare", "--tasks", &folder]).ends_with(2).says(&["b.toml:5: ", "file_equal"]);
    let idle = OWN.replace("file_equals = { file = \"hello.txt\", text = \"hello\" }", "asked = 0");
    let (home, folder) = with_tasks(&[("idle.toml", &idle)]);
    home.run(["compare", "--tasks", &folder]).ends_with(2).says(&["idle.toml:5: checks"]);
}

#[test]
fn an_endpoint_is_not_asked_unless_somebody_said_yes() {
    let home = Home::new().endpoint("http://127.0.0.1:9");
    let args = ["compare", "--models", "competent,openai/x", "--loops", "react"];
    let args = [&args[..], &["--task", "todos-add"]].concat();
    let told = home.run(args).ends_with(3).says(&["1 run with openai/x", "--yes"]);
    assert!(told.stdout.is_empty(), "{}", told.stdout);
}

/// A model that plays a script begins anew in every run, and its word is not believed.
#[test]
fn any_model_can_be_compared_and_a_claim_is_no_success() {
    let write = calls("write_file", json!({"path": "greeting.txt", "content": "Good morning"}));
    let home = Home::scripted(&[write, says("Both are done. Success!")]);
    let script = format!("scripted/{}", home.path("script.json").display());
    let args = ["compare", "--models", &script, "--loops", "react", "--json"];
    let told = home.run([&args[..], &["--task", "files-write", "--task", "todos-add"]].concat());
    let json = told.ends_with(0).json();
    let successes = json["runs"].as_array().unwrap().iter().map(|run| &run["succeeded"]);
    assert_eq!(successes.collect::<Vec<_>>(), [1, 0]);
    let failed = &json["runs"][1];
    assert_eq!(failed["ending"], json!({"ended": "succeeded"}), "{failed}");
    assert_eq!(failed["failed_checks"][0], r#"{"todo_open":"buy milk"}"#);
}

#[test]
fn an_interrupt_ends_it_with_the_table_of_what_is_done() {
    let (home, folder) = with_tasks(&[
        ("a.toml", OWN),
        (
            "b.toml",
            &OWN.replace("name = \"hello\"", "name = \"slow\"").replace(
                "'Write \"hello\" to hello.txt.'",
                "'Run \"touch begun; sleep 60\". Write \"hello\" to hello.txt.'",
            ),
        ),
    ]);
    let mut child = home.spawn(["compare", "--tasks", &folder, "--loops", "react"]);
    child.until("1/2 react hello");
    child.signal(rustix::process::Signal::INT);
    let told = child.ended().ends_with(130);
    assert!(told.stdout.contains("1/1 (100%)"), "{}", told.stdout);
    assert!(told.stdout.contains("only 1 of 2 runs"), "{}", told.stdout);
}

/// How long a table may take to be measured, on a machine that is busy with other tests.
const MEASURING: Duration = Duration::from_secs(240);

fn document() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/loops-compared.md")
}

/// Every table in the document is what its command prints today. With `UPDATE_EXPECT` set they are
/// written anew, as for the other expectations.
#[test]
fn the_measured_tables_of_the_document_are_not_stale() {
    let document_then = std::fs::read_to_string(document()).unwrap();
    let mut parts = document_then.split("<!-- measured: everloop ");
    let mut document_now = parts.next().unwrap().to_owned();
    let mut tables = 0;
    for part in parts {
        let (command, rest) = part.split_once(" -->\n").unwrap();
        let (_, after) = rest.split_once("<!-- end -->").unwrap();
        let args: Vec<&str> = command.split_whitespace().chain(["-q"]).collect();
        let printed = Home::new().spawn(&args).ended_within(MEASURING).ends_with(0).stdout;
        let whole = format!(" -->\n\n{}\n\n<!-- end -->", printed.trim());
        document_now += &format!("<!-- measured: everloop {command}{whole}{after}");
        tables += 1;
    }
    assert!(tables >= 2, "{tables}");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(document(), &document_now).unwrap();
    } else {
        assert_eq!(document_then, document_now, "set UPDATE_EXPECT=1 to write the tables anew");
    }
}

/// PET-10: the figures beside the source's claims are measured, not remembered.
#[test]
fn the_claims_of_the_source_stand_beside_today_s_figures() {
    let against = |other: &str, more: &[&str]| -> Value {
        let loops = format!("{other},plan-execute-think");
        let args = ["compare", "--loops", &loops, "--json", "-q"];
        Home::new().run([&args[..], more].concat()).ends_with(0).json()["totals"][1].clone()
    };
    let number = |value: &Value| value.as_u64().unwrap();
    // Over the runs that both finish: what was cut short is cheap.
    let change = |total: &Value| {
        let both = &total["where_both_succeed"];
        let [here, there] =
            ["tokens", "tokens_of_the_other"].map(|it| i128::from(number(&both[it])));
        let percent = (here - there) * 100 / there;
        let (with, runs) = (both["with"].as_str().unwrap(), &both["runs"]);
        format!("{percent:+}% against `{with}` in the {runs} runs that both finish")
    };
    let measured = against("react", &[]);
    let figure = |name: &str| number(&measured[name]);
    let tenths = (figure("model_calls") * 10 + figure("runs") / 2) / figure("runs");
    let words = figure("ended_with_words") * 100 / figure("runs");
    let document = std::fs::read_to_string(document()).unwrap();
    for said in [
        format!("| {}.{} model calls a run |", tenths / 10, tenths % 10),
        format!("| {words}% of the runs |"),
        format!("| {} |", change(&measured)),
        format!("| {} |", change(&against("plan-replan", &[]))),
        format!("| {} |", change(&against("plan-replan", &["--set", "loop.max_steps=60"]))),
        format!("| {}% of the runs |", figure("success_percent")),
    ] {
        assert!(document.contains(&said), "{said} is not in the document");
    }
}

/// The rows of the table of what a bad model costs at most: the loop, and its numbers.
fn most_wasted() -> Vec<(String, Vec<u64>)> {
    let document = std::fs::read_to_string(document()).unwrap();
    let (_, after) = document.split_once("| Loop | any model, calls in all |").unwrap();
    let rows = after.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let mut cells = row.trim_matches('|').split('|').map(str::trim);
        let name = cells.next().unwrap().to_owned();
        (name, cells.map(|cell| cell.parse().unwrap()).collect())
    })
    .collect()
}

/// Whatever the policy does, a run ends within its limits, with words, and wastes no more calls
/// than the document says.
#[test]
fn a_bad_model_ends_with_words_and_wastes_no_more_than_the_document_says() {
    wastes_no_more_than_the_document_says("1");
}

/// The same with other mistakes.
#[test]
fn with_another_seed_a_bad_model_wastes_no_more_either() {
    wastes_no_more_than_the_document_says("11");
}

fn wastes_no_more_than_the_document_says(seed: &str) {
    let models = "competent,format,forgets,repeats";
    // One after the other: all at once may take longer than a child is waited for.
    let told = models.split(',').flat_map(|model| {
        let args = ["compare", "--models", model, "--seed", seed, "--json", "-q"];
        let told = Home::new().run(args).ends_with(0).json();
        told["runs"].as_array().unwrap().clone()
    });
    let runs: Vec<Value> = told.collect();
    let calls = |run: &Value| run["model_calls"].as_u64().unwrap();
    let of = |model: &str, name: &str| -> Vec<&Value> {
        runs.iter().filter(|run| run["model"] == model && run["loop"] == *name).collect()
    };
    let table = most_wasted();
    assert_eq!(table.len(), everloop_loops::LOOPS.len());
    for (name, most) in &table {
        let able = of("competent", name);
        assert!(able.len() >= 24, "{name}: {} tasks", able.len());
        for (model, wasted_most) in models.split(',').skip(1).zip(&most[1..]) {
            for (run, able) in of(model, name).into_iter().zip(&able) {
                let place = format!("{name} {model} {} seed {seed}", run["task"]);
                assert_eq!(run["task"], able["task"]);
                assert_eq!(run["ended_with_words"], 1, "{place}");
                assert!(!run["answer"].as_str().unwrap().trim().is_empty(), "{place}");
                assert!(calls(run) <= most[0], "{place}: {} calls", calls(run));
                let wasted = calls(run).saturating_sub(calls(able));
                assert!(wasted <= *wasted_most, "{place}: {wasted} calls wasted");
            }
        }
    }
}

#[test]
fn loops_are_compared_over_http_with_progress_and_without_cost() {
    let home = Home::new().with_token();
    let served = home.serve();
    let body = json!({"loops": ["react"], "tasks": ["files-copy"]});
    let table = served.post("/v1/compare", &body).is(200).json();
    assert_eq!((&table["complete"], &table["loops"]), (&json!(true), &json!(["react"])));
    assert_eq!(table["runs"].as_array().unwrap().len(), 1, "{table}");
    let headers = ["Accept: text/event-stream", "Content-Type: application/json"];
    let streamed = served.request("POST /v1/compare", &headers, &body.to_string()).is(200).body;
    for event in ["event: compare.progress", "event: compare.table"] {
        assert!(streamed.contains(event), "{streamed}");
    }
    for bad in [
        json!({"loops": ["dancing"]}),
        json!({"models": ["openai/gpt"]}),
        json!({"tasks": ["none"]}),
        json!({"runs": 0}),
    ] {
        assert_eq!(served.post("/v1/compare", &bad).is(422).code(), "invalid_input", "{bad}");
    }
}
