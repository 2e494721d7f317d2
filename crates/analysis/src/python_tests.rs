use super::*;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// The worker without a sandbox.
struct BareWorker {
    folder: TempDir,
    process: Child,
    answers: BufReader<ChildStdout>,
    asked: u64,
}

impl BareWorker {
    /// None without Python.
    fn start() -> Option<Self> {
        let folder = TempDir::new().unwrap();
        let mut command = Command::new("python3");
        command.args(["-I", "-u", "-c", WORKER]).current_dir(folder.path());
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = pipes.spawn().ok()?;
        let answers = BufReader::new(process.stdout.take()?);
        let mut worker = Self { folder, process, answers, asked: 0 };
        let _: PythonHello = serde_json::from_str(&worker.line()).unwrap();
        Some(worker)
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        assert!(line.len() < ANSWER_BYTES_MAX, "{}", line.len());
        line
    }

    fn run(&mut self, code: &str) -> CellAnswer {
        self.asked += 1;
        let request = serde_json::json!({ "code": code, "number": self.asked });
        writeln!(self.process.stdin.as_mut().unwrap(), "{request}").unwrap();
        let answer: CellAnswer = serde_json::from_str(&self.line()).unwrap();
        assert_eq!(answer.number, self.asked);
        answer
    }
}

impl Drop for BareWorker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn large_files_and_odd_text_leave_the_state_alone() {
    let Some(mut worker) = BareWorker::start() else { return };
    let answer = worker.run(
        "kept = 7\n\
         for n in range(8):\n    _ = open(f'large{n}.bin', 'wb').write(bytes(7 << 20))\n\
         print('\\udc80 odd')\nprint('x' * 2_100_000)",
    );
    assert!(answer.ok);
    let data: Vec<_> = answer.files.iter().filter_map(|file| file.data.as_ref()).collect();
    assert_eq!((answer.files.len(), data.len()), (8, 3));
    assert_eq!(STANDARD.decode(data[0]).unwrap().len(), 7 << 20);
    let end = &answer.output[answer.output.len() - 40..];
    assert!(answer.output.starts_with("? odd") && end.contains("[cut: it printed 2100"), "{end}");
    assert_eq!(worker.run("print(kept)").output, "7\n");
}

#[test]
fn what_a_cell_reads_is_seen_and_not_guessed() {
    let Some(mut worker) = BareWorker::start() else { return };
    std::fs::write(worker.folder.path().join("sales.csv"), "a\n1\n").unwrap();
    for (code, has_read) in [
        ("import a_module_that_is_not_there", false),
        ("print('globally', 99999)", false),
        ("import json, csv, decimal\nprint(json.loads('5'))", false),
        ("_ = open('own.txt', 'w').write('99999')\nprint(open('own.txt').read())", false),
        ("name = 'sales' + '.csv'\nprint(open(name).read())", true),
        ("import os\nprint(len(os.listdir()))", true),
        ("print('of', 'sales.csv')", true),
    ] {
        assert_eq!(worker.run(code).reads, Some(has_read), "{code}");
    }
}
