//! `everloop tour`: a run is killed and goes on, offline, in front of the person who watches; then
//! every loop has its turn.
//!
//! Nothing is staged but the model, which is scripted and said to be: the processes are this very
//! program,
//! the kills are real signals, the journal is a real database in a folder that is removed
//! afterwards.

mod loops;

use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::terminal;
use everloop_text::{self as text, Text};
use everloop_tools::own_program;
use serde_json::{Value, json};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

/// How long the scripted model thinks where the tour kills it: long enough to be caught.
const THINKS_MS: u64 = 1_500;

/// Looks, ten milliseconds apart, for a file that must appear.
const FILE_LOOKS_MAX: u32 = 500;

pub(crate) async fn tour(app: &Console) -> Result<Exit, Failure> {
    let stage = Stage::set(app)?;
    let played = stage.play().await;
    // Whatever happened, the folder is ours and goes.
    let _ = std::fs::remove_dir_all(&stage.folder);
    played
}

struct Stage<'a> {
    app: &'a Console,
    program: PathBuf,
    folder: PathBuf,
}

/// When the tour pulls the plug.
enum Kill {
    /// After so many tool results.
    AfterResults(usize),
    /// Once a tool was called and its first trace is in the workspace.
    WhenFileAppears(&'static str),
}

impl<'a> Stage<'a> {
    fn set(app: &'a Console) -> Result<Self, Failure> {
        let system = |error: std::io::Error| app.failure(Exit::Failed, text::error::system(&error));
        let program = own_program().ok_or(std::io::ErrorKind::NotFound.into()).map_err(system)?;
        let name = format!("everloop-tour-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(folder.join("workspace")).map_err(system)?;
        Ok(Self { app, program, folder })
    }

    async fn play(&self) -> Result<Exit, Failure> {
        self.say(text::tour::welcome());
        self.say(text::tour::scene_one());
        let first = self.scene("poem", &self.poem_script(), Kill::AfterResults(2)).await?;
        self.say(text::tour::story());
        self.echo(&["replay", &first]).await?;
        self.say(text::tour::verify());
        self.echo(&["replay", "--verify", &first]).await?;
        self.say(text::tour::scene_two());
        let second =
            self.scene("pay", &self.pay_script(), Kill::WhenFileAppears("ledger.txt")).await?;
        self.say(text::tour::ledger());
        let ledger = std::fs::read_to_string(self.workspace().join("ledger.txt"));
        terminal::answer(&indented(ledger.unwrap_or_default().trim_end()));
        self.say(text::tour::story());
        self.echo(&["replay", &second]).await?;
        self.say(text::tour::scene_three());
        self.every_loop().await?;
        self.say(text::tour::end());
        Ok(Exit::Done)
    }

    /// One run: begun, killed, taken up again by another process.
    async fn scene(&self, name: &str, script: &Value, kill: Kill) -> Result<String, Failure> {
        let path = self.folder.join(format!("{name}.json"));
        std::fs::write(&path, script.to_string()).map_err(|error| self.system(&error))?;
        let goal = self.text(if name == "poem" {
            text::tour::poem_goal()
        } else {
            text::tour::pay_goal()
        });
        let workspace = self.workspace().display().to_string();
        let args = ["run", "--loop", "react", "--yes", "--workspace", &workspace, &goal];
        terminal::answer(&format!("$ everloop run --loop react --yes \"{goal}\""));
        let mut child = self.start(&path, &args)?;
        let id = self.follow_and_kill(&mut child, kill).await?;
        terminal::answer(&format!("$ everloop runs resume {id}"));
        let mut child = self.start(&path, &["runs", "resume", &id])?;
        let stderr = child.stderr.take();
        echo_lines(stderr.map(lines)).await;
        let output = child.wait_with_output().await.map_err(|error| self.system(&error))?;
        terminal::answer(&indented(String::from_utf8_lossy(&output.stdout).trim_end()));
        Ok(id)
    }

    /// Echoes a run's progress until it is time, then kills it for good and proves it.
    async fn follow_and_kill(&self, child: &mut Child, kill: Kill) -> Result<String, Failure> {
        let (mut results, mut id) = (0, String::new());
        let mut progress = child.stderr.take().map(lines);
        while let Some(line) = next_line(&mut progress).await {
            terminal::answer(&indented(&line));
            if let Some(start) = line.find("run_") {
                let found = line[start..].chars().take_while(|c| c.is_alphanumeric() || *c == '_');
                id = found.collect();
            }
            results += usize::from(line.starts_with(' '));
            let called = !line.starts_with(' ') && !line.contains("run_");
            match kill {
                Kill::AfterResults(wanted) if results >= wanted => break,
                Kill::WhenFileAppears(name) if called => {
                    self.wait_for_file(name).await;
                    break;
                }
                Kill::AfterResults(_) | Kill::WhenFileAppears(_) => {}
            }
        }
        let pid = child.id().unwrap_or_default().to_string();
        child.start_kill().map_err(|error| self.system(&error))?;
        let status = child.wait().await.map_err(|error| self.system(&error))?;
        let signal = status.signal().unwrap_or_default().to_string();
        let words = self.app.text(text::tour::killed(&pid, &signal));
        terminal::answer(&words);
        Ok(id)
    }

    async fn wait_for_file(&self, name: &str) {
        for _ in 0..FILE_LOOKS_MAX {
            let written = std::fs::metadata(self.workspace().join(name));
            if written.is_ok_and(|file| file.len() > 0) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn echo(&self, args: &[&str]) -> Result<(), Failure> {
        terminal::answer(&format!("$ everloop {}", args.join(" ")));
        let child = self.start(&self.folder.join("poem.json"), args)?;
        let output = child.wait_with_output().await.map_err(|error| self.system(&error))?;
        terminal::answer(&indented(String::from_utf8_lossy(&output.stdout).trim_end()));
        Ok(())
    }

    fn start(&self, script: &Path, args: &[&str]) -> Result<Child, Failure> {
        let lang = match self.app.lang {
            everloop_types::Lang::En => "en",
            everloop_types::Lang::ZhCn => "zh-CN",
        };
        let child = Command::new(&self.program)
            .args(args)
            .env("EVERLOOP_HOME", self.folder.join("home"))
            .env("EVERLOOP_MODEL", format!("scripted/{}", script.display()))
            .env("EVERLOOP_LANG", lang)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn();
        child.map_err(|error| self.system(&error))
    }

    fn workspace(&self) -> PathBuf {
        self.folder.join("workspace")
    }

    fn system(&self, error: &std::io::Error) -> Failure {
        self.app.failure(Exit::Failed, text::error::system(&error))
    }

    fn text(&self, text: Text) -> String {
        self.app.text(text)
    }

    fn say(&self, text: Text) {
        terminal::answer(&format!("\n{}", self.text(text)));
    }

    fn poem_script(&self) -> Value {
        let poem = self.text(text::tour::poem());
        json!({"replies": [
            {"calls": [{"tool": "write_file", "args": {"path": "poem.txt", "content": poem}}]},
            {"calls": [{"tool": "read_file", "args": {"path": "poem.txt"}}]},
            {"text": self.text(text::tour::poem_answer()), "delay_ms": THINKS_MS},
        ]})
    }

    fn pay_script(&self) -> Value {
        let pay = "echo paid >> ledger.txt; sleep 60";
        json!({"replies": [
            {"calls": [{"tool": "shell", "args": {"command": pay}}]},
            {"calls": [{"tool": "read_file", "args": {"path": "ledger.txt"}}]},
            {"text": self.text(text::tour::pay_answer())},
        ]})
    }
}

fn lines<R: AsyncRead + Unpin>(reader: R) -> Lines<BufReader<R>> {
    BufReader::new(reader).lines()
}

async fn next_line(lines: &mut Option<Lines<BufReader<ChildStderr>>>) -> Option<String> {
    lines.as_mut()?.next_line().await.ok().flatten()
}

async fn echo_lines(mut lines: Option<Lines<BufReader<ChildStderr>>>) {
    while let Some(line) = next_line(&mut lines).await {
        terminal::answer(&indented(&line));
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}
