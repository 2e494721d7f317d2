//! Data that cannot be used: said clearly, and left as it is.

use crate::support::{Home, calls, says, short};
use rusqlite::Connection;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

const RUN: [&str; 4] = ["run", "--loop", "react", "go"];

/// A home with this many finished runs, newest last.
fn with_runs(count: usize) -> (Home, Vec<String>) {
    let home = Home::scripted(&[says("done")]);
    let ids = (0..count).map(|_| {
        home.run(RUN).ends_with(0);
        home.newest()
    });
    let ids = ids.collect();
    (home, ids)
}

/// Changes the database behind the program's back.
fn tamper(home: &Home, sql: &str) -> usize {
    let conn = Connection::open(home.database()).unwrap();
    let changed = conn.execute(sql, []).unwrap();
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    changed
}

/// A run killed in the middle, so that there is something to go on with.
fn interrupted(home: &Home) -> String {
    home.rewrite(&[json!({"text": "done", "delay_ms": 600_000})]);
    let mut run = home.spawn(["run", "--loop", "react", "--output-format", "stream-json", "go"]);
    run.until("step.started");
    run.kill9();
    home.rewrite(&[says("done")]);
    home.newest()
}

#[test]
fn a_data_folder_that_cannot_be_made_is_named() {
    let home = Home::scripted(&[says("done")]);
    std::fs::write(home.path("file"), "x").unwrap();
    let below = home.path("file").join("home");
    let home = home.with("EVERLOOP_HOME", below.to_str().unwrap());
    let ran = home.run(RUN).ends_with(6);
    assert!(ran.says(&["file/home", "data folder"]).stdout.is_empty());
    home.run(["runs", "list"]).ends_with(6);
    home.run(["worker", "--drain"]).ends_with(6);
    let doctor = home.run(["doctor"]).ends_with(6).stdout;
    assert!(doctor.contains("EVERLOOP_HOME"), "{doctor}");
}

#[test]
fn a_database_that_is_a_folder_or_garbage_is_named_and_left_alone() {
    let home = Home::scripted(&[says("done")]);
    std::fs::create_dir(home.database()).unwrap();
    home.run(RUN).ends_with(6).says(&["everloop.db"]);
    std::fs::remove_dir(home.database()).unwrap();
    let garbage = b"this is not a database, but a very important letter\n".repeat(100);
    std::fs::write(home.database(), &garbage).unwrap();
    for args in [&RUN[..], &["runs", "list"], &["worker", "--drain"], &["doctor"]] {
        let ran = home.run(args).ends_with(6);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("everloop.db"), "{said}");
    }
    assert_eq!(std::fs::read(home.database()).unwrap(), garbage);
}

#[test]
fn a_database_of_something_else_is_left_alone() {
    let home = Home::scripted(&[says("done")]);
    let conn = Connection::open(home.database()).unwrap();
    conn.execute_batch("CREATE TABLE recipes (name TEXT); INSERT INTO recipes VALUES ('soup')")
        .unwrap();
    drop(conn);
    home.run(RUN).ends_with(6).says(&["no Everloop database"]);
    let conn = Connection::open(home.database()).unwrap();
    let tables: i64 =
        conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 1);
}

#[test]
fn a_schema_of_a_newer_program_is_refused() {
    let (home, _) = with_runs(1);
    let sql = "UPDATE schema_meta SET v = '99' WHERE k IN ('schema_version', 'min_reader')";
    assert_eq!(tamper(&home, sql), 2);
    let before = std::fs::read(home.database()).unwrap();
    for args in [&RUN[..], &["runs", "list"], &["worker", "--drain"]] {
        home.run(args).ends_with(6).says(&["schema 99", "newer program"]);
    }
    assert_eq!(std::fs::read(home.database()).unwrap(), before);
}

#[test]
fn row_07_one_flipped_byte_puts_that_run_aside_in_words_and_no_other() {
    let (home, fine) = with_runs(2);
    let broken = interrupted(&home);
    let sql = format!(
        "UPDATE journal SET body = replace(body, 'think', 'thinc')
          WHERE run_id = '{broken}' AND kind = 'EffectPlanned'"
    );
    assert_eq!(tamper(&home, &sql), 1);
    let ran = home.run(["runs", "resume", &broken]).ends_with(6);
    ran.says(&[&broken, "was quarantined"]);
    let list = home.run(["runs", "list", "--json"]).ends_with(0).json();
    let row = &list["data"][0];
    assert_eq!((&row["run_id"], &row["status"]), (&json!(broken), &json!("quarantined")));
    assert!(row["note"].is_string(), "{row}");
    let cannot = home.run(["replay", &broken, "--verify", "--json"]).ends_with(1).json();
    assert_eq!(cannot["verdict"], "cannot");
    home.run(["runs", "show", &broken]).ends_with(6).says(&[&broken]);
    for run in &fine {
        assert_eq!(home.show(run)["text"], "done");
        home.verified(run);
    }
    let next = home.run(RUN).ends_with(0);
    assert!(!next.stderr.contains(&broken), "{}", next.stderr);
}

#[test]
fn a_worker_puts_a_damaged_run_aside_and_serves_the_others() {
    let home = Home::scripted(&[]);
    let broken = interrupted(&home);
    let fine = interrupted(&home);
    let sql = format!("UPDATE journal SET crc = crc + 1 WHERE run_id = '{broken}' AND seq = 3");
    assert_eq!(tamper(&home, &sql), 1);
    let drained = home.run(["worker", "--drain"]).ends_with(0);
    drained.says(&[&format!("{fine} ended: succeeded"), &format!("{broken} stopped: ")]);
    home.verified(&fine);
}

/// Gives an entry another kind and format, with the checksum that goes with it.
fn forge(home: &Home, run: &str, from: &str, to: &str, fmt: i64) {
    let conn = Connection::open(home.database()).unwrap();
    let sql = "SELECT seq, epoch, fmt, ts, COALESCE(effect_id, ''), body, COALESCE(blob_ref, '')
                 FROM journal WHERE run_id = ?1 AND kind = ?2";
    let (mut numbers, texts) = conn
        .query_row(sql, [run, from], |row| {
            let numbers: [i64; 4] = [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?];
            let texts: [String; 3] = [row.get(4)?, row.get(5)?, row.get(6)?];
            Ok((numbers, texts))
        })
        .unwrap();
    numbers[2] = fmt;
    let mut crc = 0;
    for number in numbers {
        crc = crc32c::crc32c_append(crc, &number.to_le_bytes());
    }
    for text in [run, to, &texts[0], &texts[1], &texts[2]] {
        let length = i64::try_from(text.len()).unwrap();
        crc = crc32c::crc32c_append(crc, &length.to_le_bytes());
        crc = crc32c::crc32c_append(crc, text.as_bytes());
    }
    let sql = "UPDATE journal SET kind = ?1, fmt = ?2, crc = ?3 WHERE run_id = ?4 AND seq = ?5";
    assert_eq!(conn.execute(sql, (to, fmt, i64::from(crc), run, numbers[0])).unwrap(), 1);
}

/// A made-up entry of the next version stops its run for this program, in words, and no other run.
fn refused(kind: &str, fmt: i64) {
    let home = Home::scripted(&[]);
    let (newer, other) = (interrupted(&home), interrupted(&home));
    forge(&home, &newer, "EffectPlanned", kind, fmt);
    let journal = |home: &Home| -> Vec<(i64, String, String)> {
        let conn = Connection::open(home.database()).unwrap();
        let sql = "SELECT seq, kind, body FROM journal WHERE run_id = ?1 ORDER BY seq";
        let mut all = conn.prepare(sql).unwrap();
        let rows = all.query_map([&newer], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        rows.unwrap().map(Result::unwrap).collect()
    };
    let before = journal(&home);
    let place = format!("entry 3 of {newer} is a {kind} in format {fmt}");
    let words = [place.as_str(), "use a newer program for this run"];
    let worked = home.run(["worker", "--drain"]).ends_with(0).says(&words);
    worked.says(&["left as it is", &format!("{other} ended: succeeded")]);
    for _ in 0..6 {
        home.run(["worker", "--drain"]).ends_with(0).says(&words);
    }
    home.run(["runs", "resume", &newer]).ends_with(6).says(&words);
    home.run(["runs", "show", &newer]).ends_with(6).says(&words);
    home.run(["replay", &newer]).ends_with(6).says(&words);
    assert_eq!(journal(&home), before);
    home.verified(&other);
    // The program that wrote it finds it as it was, and goes on by itself.
    forge(&home, &newer, kind, "EffectPlanned", 1);
    home.run(["worker", "--drain"]).ends_with(0).says(&["ended: succeeded"]);
    home.verified(&newer);
}

#[test]
fn row_24_a_kind_of_the_next_version_is_refused_again_and_again_and_nothing_is_changed() {
    refused("DreamDreamt", 1);
}

#[test]
fn row_24_a_format_of_the_next_version_is_refused_again_and_again_and_nothing_is_changed() {
    refused("EffectPlanned", 99);
}

#[test]
fn row_05_a_disk_that_takes_no_more_stops_the_run_and_loses_nothing() {
    let (home, _) = with_runs(1);
    let text = "x".repeat(20_000);
    let write = |n: u32| calls("write_file", json!({"path": format!("{n}.txt"), "content": text}));
    let mut replies: Vec<_> = (0..20).map(write).collect();
    replies.push(says("Twenty files."));
    home.rewrite(&replies);
    let room = ["--set", "context.tokens=1000000"];
    let full = home.run_on_small_disk(RUN.into_iter().chain(room)).ends_with(6);
    let id = home.newest();
    full.says(&[&format!("everloop runs resume {}", short(&id))]);
    assert_eq!(home.run(["runs", "resume", &id]).ends_with(0).stdout, "Twenty files.\n");
    for n in 0..20 {
        assert_eq!(home.read(&format!("{n}.txt")), text);
    }
    home.verified(&id);
}

#[test]
fn a_limit_to_the_length_of_files_stops_the_run_in_words_and_loses_nothing() {
    let (home, _) = with_runs(1);
    let text = "x".repeat(20_000);
    let write = |n: u32| calls("write_file", json!({"path": format!("{n}.txt"), "content": text}));
    let mut replies: Vec<_> = (0..20).map(write).collect();
    replies.push(says("Twenty files."));
    home.rewrite(&replies);
    let room = ["--set", "context.tokens=1000000"];
    let limited = home.run_after("ulimit -f 500", RUN.into_iter().chain(room)).ends_with(6);
    limited.says(&["ulimit -f", "runs resume"]);
    let id = home.newest();
    assert_eq!(home.run(["runs", "resume", &id]).ends_with(0).stdout, "Twenty files.\n");
    home.verified(&id);
}

#[test]
fn too_few_files_that_may_be_open_are_said_to_be_so_and_not_that_the_data_is_read_only() {
    let (home, ids) = with_runs(1);
    let (mut refused, mut shown) = (0, 0);
    for most in 5..40 {
        let show = ["runs", "show", &ids[0]];
        let ran = home.run_after(&format!("ulimit -n {most}"), show);
        let said = ran.stderr.to_lowercase();
        assert!(!said.contains("read-only") && !said.contains("panicked"), "{most}: {said}");
        match ran.code {
            Some(0) => shown += 1,
            // Not even the loader of programs gets along with so few.
            Some(127) => {}
            _ => {
                refused += 1;
                assert!(said.contains("open") && said.contains("files"), "{most}: {said}");
            }
        }
    }
    assert!(refused > 0 && shown > 0, "{refused} {shown}");
    let zh = home.run_after("ulimit -n 16", ["--lang", "zh-CN", "runs", "list"]).ends_with(6);
    zh.says(&["本进程打开的文件已达上限", "ulimit -n"]);
    home.verified(&ids[0]);
}

/// Everything that only reads, and what it must show.
fn readers<'a>(id: &'a str, copy: &'a str) -> Vec<(Vec<&'a str>, &'a str)> {
    vec![
        (vec!["runs", "list"], short(id)),
        (vec!["runs", "show", id], "done"),
        (vec!["runs", "events", id], "run.succeeded"),
        (vec!["runs", "tree", id], short(id)),
        (vec!["replay", id], "done"),
        (vec!["replay", id, "--verify"], ""),
        (vec!["audit"], "time"),
        (vec!["diff", id, id], ""),
        (vec!["todo", "list"], "milk"),
        (vec!["schedule", "list"], ""),
        (vec!["inbox"], ""),
        (vec!["approvals"], ""),
        (vec!["export", id], id),
        (vec!["export", "--all"], id),
        (vec!["backup", copy], "copy"),
    ]
}

#[test]
fn on_a_read_only_disk_what_reads_works_and_what_writes_says_why() {
    let (home, mut ids) = with_runs(1);
    home.run(["todo", "add", "milk"]).ends_with(0);
    let id = ids.remove(0);
    for left in [false, true] {
        if left {
            // A log that nobody took away.
            home.rewrite(&[json!({"text": "done", "delay_ms": 600_000})]);
            let stream = ["--output-format", "stream-json"];
            let mut run = home.spawn(RUN.into_iter().chain(stream));
            run.until("step.started");
            run.kill9();
        }
        let log = home.data().join("everloop.db-wal");
        assert_eq!(std::fs::metadata(log).is_ok_and(|log| log.len() > 0), left);
        let copy = home.path(&format!("copy-{left}.db"));
        for (args, words) in readers(&id, copy.to_str().unwrap()) {
            let Some(ran) = home.run_on_read_only_disk(args.iter().copied()) else { return };
            let ran = ran.ends_with(0);
            assert!(ran.stdout.contains(words), "{args:?}: {} {}", ran.stdout, ran.stderr);
        }
        let doctor = home.run_on_read_only_disk(["doctor"]).unwrap().ends_with(6).stdout;
        assert!(doctor.contains("quick_check: ok") && doctor.contains("none is damaged"));
        for args in [&RUN[..], &["todo", "add", "x"], &["worker", "--drain"], &["chat"]] {
            let ran = home.run_on_read_only_disk(args.iter().copied()).unwrap().ends_with(6);
            assert!(ran.stderr.to_lowercase().contains("read-only"), "{args:?} {}", ran.stderr);
        }
        let blamed = home.run_on_read_only_disk(["backup"]).unwrap().ends_with(6);
        blamed.says(&["home/backups", "ead-only"]);
    }
}

#[test]
fn damage_in_one_run_is_noticed_by_doctor_backup_audit_and_export() {
    let (home, ids) = with_runs(3);
    let doctor = home.run(["doctor", "--json"]).ends_with(0).json();
    assert_eq!((&doctor["runs_checked"], &doctor["damaged_runs"]), (&json!(3), &json!([])));
    home.run(["backup"]).ends_with(0).says(&["checked"]);
    for sql in ["UPDATE journal SET crc = crc + 1", "DELETE FROM journal"] {
        let sql = format!("{sql} WHERE run_id = '{}' AND kind = 'EffectFinished'", ids[1]);
        assert_eq!(tamper(&home, &sql), 1);
        let doctor = home.run(["doctor", "--json"]).ends_with(6).json();
        assert_eq!(doctor["damaged_runs"], json!([ids[1]]));
        assert_eq!(doctor["quick_check"], "ok");
        assert!(home.run(["doctor"]).ends_with(6).stdout.contains(&ids[1]));
        let copied = home.run(["backup"]).ends_with(6);
        assert!(std::path::Path::new(copied.stdout.trim_end()).is_file(), "{}", copied.stdout);
        copied.says(&[&ids[1], "damaged"]);
        let audited = home.run(["audit", "--run", &ids[1]]).ends_with(6).says(&[&ids[1]]);
        let words = ["Cannot read the journal", "Entries are missing"];
        assert!(words.iter().any(|words| audited.stderr.contains(words)), "{}", audited.stderr);
        let exported = home.run(["export", "--all"]).ends_with(6).says(&[&ids[1], "damaged"]);
        assert!(exported.stdout.contains(&ids[0]) && exported.stdout.contains(&ids[2]));
        assert!(!exported.stdout.contains(&ids[1]));
    }
}

#[test]
fn a_database_that_another_program_has_locked_is_named_and_can_still_be_read() {
    let (home, ids) = with_runs(1);
    let conn = Connection::open(home.database()).unwrap();
    conn.execute_batch("BEGIN EXCLUSIVE").unwrap();
    home.run(RUN).ends_with(6).says(&["everloop.db", "locked by another process"]);
    assert_eq!(home.show(&ids[0])["text"], "done");
    conn.execute_batch("ROLLBACK").unwrap();
    home.run(RUN).ends_with(0);
}

#[test]
fn only_the_user_can_read_the_data() {
    let (home, _) = with_runs(1);
    for entry in std::fs::read_dir(home.data()).unwrap().flatten() {
        let mode = entry.metadata().unwrap().permissions().mode() & 0o077;
        assert_eq!(mode, 0, "{}", entry.path().display());
    }
}

/// A tool that opened and closed the database would drop the locks of its own process; the next
/// process would then take the log away, and with it all that is committed later.
#[test]
fn a_model_in_the_data_folder_cannot_open_our_files_and_nothing_is_lost() {
    let replies = [
        calls("read_file", json!({"path": "data/everloop.db"})),
        calls("read_file", json!({"path": "data/everloop.db-shm"})),
        calls("write_file", json!({"path": "data/everloop.db-wal", "content": "x"})),
        calls("write_file", json!({"path": "data/config.toml", "content": "x"})),
        json!({"text": "Nothing to see.", "delay_ms": 3_000}),
    ];
    let home = Home::scripted(&replies);
    let data = home.work("data");
    let home = home.with("EVERLOOP_HOME", data.to_str().unwrap());
    let mut run = home.spawn(["run", "--loop", "react", "--output-format", "stream-json", "go"]);
    for _ in 0..4 {
        run.until("tool.failed");
    }
    let id = home.newest();
    assert!(data.join("everloop.db-wal").exists(), "the log was taken away");
    let ran = run.ended().ends_with(0);
    assert_eq!(ran.stdout.matches("belongs to everloop itself").count(), 4, "{}", ran.stdout);
    let shown = home.show(&id);
    assert_eq!(
        (&shown["status"], &shown["text"]),
        (&json!("succeeded"), &json!("Nothing to see."))
    );
    home.verified(&id);
    assert!(!data.join("config.toml").exists());
}
