use super::*;
use everloop_types::{CallStream, EffectId, Fragment, StreamPiece};
use std::os::unix::fs::PermissionsExt;

fn run() -> RunId {
    RunId::new("run_1")
}

fn piece(cause: i64, offset: u64, text: &str) -> LiveMessage {
    let effect = EffectId { run: run(), cause, index: 0 };
    let stream = CallStream { effect, epoch: 1, attempt: 0 };
    LiveMessage::Piece(StreamPiece { stream, offset, fragment: Fragment::Text(text.to_owned()) })
}

fn text_of(messages: &[LiveMessage]) -> String {
    let pieces = messages.iter().filter_map(|message| match message {
        LiveMessage::Piece(piece) => Some(piece.fragment.text()),
        _ => None,
    });
    pieces.collect()
}

#[tokio::test]
async fn what_one_process_appends_another_reads_from_its_beginning_on() {
    let home = tempfile::tempdir().expect("a folder");
    let database = home.path().join("data.db");
    let (driver, other) = (LiveFiles::beside(&database), LiveFiles::beside(&database));
    driver.send(piece(1, 0, "The "));
    driver.send(piece(1, 4, "quick"));
    let mut listener = other.listen();
    listener.add(&run());
    let mut seen = String::new();
    while seen != "The quick" {
        seen.push_str(&text_of(&listener.next().await));
    }
    let folder = home.path().join("live");
    let file = folder.join("run_1.jsonl");
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
    driver.send(LiveMessage::Left { run: run() });
    assert!(!file.exists(), "nothing is left of a run that is over");
    assert_eq!(listener.next().await, [LiveMessage::Wrote { run: run() }]);
}

#[tokio::test]
async fn a_file_that_a_dead_process_left_is_replaced_and_not_continued() {
    let home = tempfile::tempdir().expect("a folder");
    let database = home.path().join("data.db");
    let folder = home.path().join("live");
    fs::create_dir(&folder).expect("made");
    let stale = piece(1, 0, "stale").to_line();
    fs::write(folder.join("run_1.jsonl"), format!("{stale}\n{{\"kind\":\"pie")).expect("written");
    let driver = LiveFiles::beside(&database);
    let mut listener = driver.listen();
    listener.add(&run());
    assert_eq!(text_of(&listener.next().await), "stale");
    driver.send(piece(1, 0, "new"));
    let mut seen = Vec::new();
    while text_of(&seen).is_empty() {
        seen.extend(listener.next().await);
    }
    assert_eq!(seen, [LiveMessage::Wrote { run: run() }, piece(1, 0, "new")]);
    fs::write(folder.join("run_2.jsonl"), "").expect("written");
    driver.clear();
    let left: Vec<_> = fs::read_dir(&folder).expect("read").flatten().collect();
    assert_eq!(left.len(), 1, "only the run that is driven keeps its file");
}

#[test]
fn a_file_has_a_limit_and_is_begun_anew_with_the_next_call() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = home.path().join("live");
    let mut open = OpenFiles::default();
    let text = "x".repeat(64 << 10);
    let length = |folder: &Path| fs::metadata(path_of(folder, &run())).expect("there").len();
    for n in 0..80_u64 {
        open.write(&folder, &piece(1, n * text.len() as u64, &text)).expect("written");
    }
    assert!((FILE_BYTES_MAX / 2..=FILE_BYTES_MAX).contains(&length(&folder)));
    open.write(&folder, &piece(2, 0, "next")).expect("written");
    assert!(length(&folder) < 200, "the finished call is gone");
}

#[test]
fn words_are_taken_while_the_disk_works() {
    let home = tempfile::tempdir().expect("a folder");
    let driver = Arc::new(LiveFiles::beside(&home.path().join("data.db")));
    // The thread that writes holds this lock for as long as the disk takes.
    let slow_disk = lock(&driver.shared.open);
    let (done, ready) = std::sync::mpsc::channel();
    let sender = driver.clone();
    let sent = std::thread::spawn(move || {
        sender.send(piece(1, 0, "words"));
        done.send(()).expect("somebody waits");
    });
    ready.recv_timeout(std::time::Duration::from_secs(20)).expect("the driver does not wait");
    drop(slow_disk);
    sent.join().expect("no panic");
}
