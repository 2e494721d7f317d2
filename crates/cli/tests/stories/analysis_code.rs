//! `run_code` as a person meets it: what a cell cannot reach, and what becomes of one that a kill
//! cuts short. A file that a cell writes to counts how often it ran.

use crate::analysis::has_python;
use crate::support::{Home, calls, eventually, of_type, says, slow};
use serde_json::{Value, json};
use std::net::TcpListener;

const SALES: &str = "region,amount\nEast,10\nEast,20\nWest,5\n";

fn home() -> Home {
    let home = Home::scripted(&[]);
    std::fs::write(home.work("sales.csv"), SALES).unwrap();
    home
}

fn cell(code: &str, repeatable: bool) -> Value {
    calls("run_code", json!({"code": code, "repeatable": repeatable}))
}

fn todo(items: &[(&str, &str)], merge: bool) -> Value {
    let todos: Vec<Value> = items
        .iter()
        .map(|(id, status)| json!({"id": id, "content": format!("part {id}"), "status": status}))
        .collect();
    calls("todo_write", json!({"todos": todos, "merge": merge}))
}

const ARGS: [&str; 8] = [
    "analyze",
    "--yes",
    "--output-format",
    "stream-json",
    "--out",
    "report",
    "sales.csv",
    "how much does East sell?",
];

const END: &str = "That is all. [ANALYSIS_COMPLETE]";

/// How often a cell ran that writes a line each time.
fn times(home: &Home) -> usize {
    home.read("ran.txt").lines().count()
}

#[test]
fn a_cell_reaches_neither_the_network_nor_files_outside_of_the_workspace() {
    if !has_python() {
        return;
    }
    let home = home();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let outside = home.path("user").join("escaped");
    std::fs::create_dir_all(home.data()).unwrap();
    std::fs::write(home.data().join("secret.txt"), "the-secret-words").unwrap();
    let code = format!(
        "import os, socket, subprocess\n\
         def attempt(name, work):\n\
         \x20   try:\n\
         \x20       print(name, 'got', work())\n\
         \x20   except BaseException as error:\n\
         \x20       print(name, 'refused', type(error).__name__)\n\
         attempt('net', lambda: socket.create_connection(('127.0.0.1', {port}), 2))\n\
         attempt('write', lambda: open({outside:?}, 'w').write('x'))\n\
         attempt('shell', lambda: subprocess.run(['sh', '-c', 'echo x > {outside}'], check=True))\n\
         attempt('link', lambda: (os.symlink({folder:?}, 'link'), \
         open('link/escaped', 'w').write('x')))\n\
         attempt('read', lambda: open({secret:?}).read())\n\
         attempt('keys', lambda: [os.environ[k] for k in os.environ if 'KEY' in k])\n",
        outside = outside.display().to_string(),
        folder = home.path("user").display().to_string(),
        secret = home.data().join("secret.txt").display().to_string(),
    );
    let home = home.with("SOME_API_KEY", "the-secret-words");
    home.rewrite(&[cell(&code, true), says(END)]);
    home.run(ARGS).ends_with(0);
    let events = json!(home.events(&home.newest())).to_string();
    for name in ["net", "read"] {
        assert!(events.contains(&format!("{name} refused")), "{name}: {events}");
    }
    assert!(!events.contains("the-secret-words"), "{events}");
    assert!(!outside.exists(), "a cell wrote outside of the workspace");
    assert!(listener.accept().is_err(), "a cell reached the network");
}

#[test]
fn a_cell_that_is_not_repeatable_and_was_killed_has_an_unknown_outcome() {
    if !has_python() {
        return;
    }
    let home = home();
    let long = "open('ran.txt', 'a').write('x\\n')\nimport time\ntime.sleep(600)";
    home.rewrite(&[cell(long, false), says(END)]);
    let killed = home.spawn(ARGS);
    eventually("the cell to begin", || (times(&home) == 1).then_some(()));
    killed.kill9();
    let run = home.newest();
    let resumed = home.run(["runs", "resume", &run]).ends_with(7);
    let told = "Outcome unknown, not repeated: run_code";
    assert!(resumed.stdout.starts_with(told), "{}", resumed.stdout);
    assert_eq!(times(&home), 1, "it ran a second time");
}

#[test]
fn a_cell_that_had_ended_before_a_kill_does_not_run_again() {
    if !has_python() {
        return;
    }
    let home = home();
    let code = "open('ran.txt', 'a').write('x\\n')\n\
                print('East', sum(int(l.split(',')[1]) for l in open('sales.csv') if l[0] == 'E'))";
    let whole = |second: Value| {
        let words = format!("East sells 30. {END}");
        vec![todo(&[("1", "in_progress")], false), cell(code, false), second, says(&words)]
    };
    let last = todo(&[("1", "completed")], true);
    home.rewrite(&whole(slow(last.clone())));
    let mut killed = home.spawn(ARGS);
    killed.until("East 30");
    killed.kill9();
    home.rewrite(&whole(last));
    let run = home.newest();
    home.run(["runs", "resume", &run]).ends_with(0);
    assert_eq!(times(&home), 1, "it ran a second time");
    assert!(
        home.read("report/report.md").contains("1 of 1 numbers"),
        "{}",
        home.read("report/report.md")
    );
    home.verified(&run);
}

#[test]
fn without_python_there_are_sql_and_charts() {
    let home = home();
    let sql = "SELECT region, sum(amount) AS total FROM sales GROUP BY region ORDER BY 2 DESC";
    let chart =
        json!({"kind": "bar", "query": "q1", "x": "region", "y": ["total"], "title": "Totals"});
    home.rewrite(&[
        cell("print('East', 30)", true),
        calls("query_dataset", json!({"sql": sql})),
        calls("make_chart", chart),
        says(&format!("East sells {{{{q1.r1.total}}}}. {END}")),
    ]);
    let missing = ["--set", "analysis.python=/nowhere/python3"];
    home.run(ARGS.iter().chain(&missing)).ends_with(0);
    let events = home.events(&home.newest());
    let failed = of_type(&events, "tool.failed");
    let failed: Vec<_> = failed.iter().filter(|event| event["tool"] == "run_code").collect();
    assert_eq!(failed.len(), 1, "{events:?}");
    assert!(json!(failed).to_string().contains("/nowhere/python3"), "{failed:?}");
    assert!(home.read("report/report.md").contains("1 of 1 numbers"));
    assert!(home.work("report/charts/chart1.svg").exists());
}

#[test]
fn three_items_are_begun_worked_on_with_code_and_completed_one_by_one() {
    if !has_python() {
        return;
    }
    let home = home();
    let mut replies = vec![
        calls("read_dataset", json!({"path": "sales.csv"})),
        todo(&[("1", "pending"), ("2", "pending"), ("3", "pending")], false),
    ];
    let mut expected = vec!["read_dataset", "todo_write"];
    for (id, name) in [("1", "East"), ("2", "West"), ("3", "E")] {
        let code = format!(
            "rows = [l.strip().split(',') for l in open('sales.csv')]\n\
             print({name:?}, sum(int(r[1]) for r in rows if r[0].startswith({name:?})))"
        );
        replies.extend([todo(&[(id, "in_progress")], true), cell(&code, true)]);
        replies.push(todo(&[(id, "completed")], true));
        expected.extend(["todo_write", "run_code", "todo_write"]);
    }
    replies.push(says(&format!("East sells 30, West 5. {END}")));
    home.rewrite(&replies);
    home.run(ARGS).ends_with(0);
    let run = home.newest();
    let events = home.events(&run);
    let told = of_type(&events, "tool.completed");
    let tools: Vec<&str> = told.iter().filter_map(|event| event["tool"].as_str()).collect();
    assert_eq!(tools, expected);
    assert!(
        home.read("report/report.md").contains("2 of 2 numbers"),
        "{}",
        home.read("report/report.md")
    );
    home.verified(&run);
}

/// Whether the system's Python has a package; says so if it has not.
fn has_package(name: &str) -> bool {
    let python = std::process::Command::new("/usr/bin/python3");
    let asked = { python }.args(["-I", "-c", &format!("import {name}")]).output();
    let found = asked.is_ok_and(|asked| asked.status.success());
    if !found {
        eprintln!("SKIPPED: {name} is not installed for /usr/bin/python3");
    }
    found
}

#[test]
fn pandas_gets_the_tables_as_frames() {
    if !has_package("pandas") {
        return;
    }
    let home = home();
    let code = "f = query('SELECT region, sum(amount) AS total FROM sales GROUP BY region')\n\
                print('East', f.set_index('region')['total']['East'])";
    home.rewrite(&[cell(code, true), says(&format!("East sells 30. {END}"))]);
    home.run(ARGS).ends_with(0);
    assert!(home.read("report/report.md").contains("1 of 1 numbers"));
}

#[test]
fn figures_of_matplotlib_are_in_the_report() {
    if !has_package("matplotlib") {
        return;
    }
    let home = home();
    let code = "import matplotlib.pyplot as plt\nplt.plot([1, 2, 3])\nplt.title('East')";
    home.rewrite(&[cell(code, true), says(END)]);
    home.run(ARGS).ends_with(0);
    let picture = std::fs::read(home.work("report/charts/c1-1.png")).unwrap();
    assert!(picture.starts_with(b"\x89PNG"));
}
