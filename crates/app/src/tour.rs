//! The tour: a run is killed and goes on, offline; then every loop does the same small task.
//!
//! Nothing is staged but the model, which is scripted and said to be: the processes are this very
//! program, the kills are real signals, the journal is a real database in a folder that is removed
//! afterwards.

mod scripts;

use crate::app::App;
use everloop_loops::LoopSpec;
use everloop_text as text;
use everloop_tools::own_program;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

/// Looks, ten milliseconds apart, for a file that must appear.
const FILE_LOOKS_MAX: u32 = 500;

/// One thing that the tour shows.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TourStep {
    /// The explanation of what comes next.
    Explain {
        /// Which one.
        part: TourPart,
    },
    /// A command that is run now, as a person would type it.
    Command {
        /// The whole command line.
        line: String,
    },
    /// What a command printed: one or more lines.
    Output {
        /// The lines.
        text: String,
    },
    /// The process of a run was killed.
    Killed {
        /// Its process id.
        pid: u32,
        /// The signal that ended it.
        signal: i32,
    },
    /// How one loop did the small task.
    LoopEnded(TourLoopResult),
}

/// The explanations of the tour, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TourPart {
    /// What will be shown.
    Welcome,
    /// A run is killed between two steps.
    KillBetweenSteps,
    /// A journal is shown as a story.
    Story,
    /// A journal is verified.
    Verify,
    /// A run is killed during a call that cannot be repeated.
    KillDuringCall,
    /// What the call wrote.
    Ledger,
    /// Every loop does the same task.
    EveryLoop,
    /// What to do next.
    End,
}

/// How one loop did the small task.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TourLoopResult {
    /// The loop.
    #[serde(rename = "loop")]
    pub loop_name: String,
    /// Calls of the model.
    pub model_calls: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// How the run ended.
    pub status: String,
    /// The last words of the run.
    pub text: String,
}

/// Plays the tour; every step is shown as it happens.
///
/// # Errors
/// If a process cannot be started, or a file cannot be written.
pub async fn play_tour(app: &App, show: &mut dyn FnMut(TourStep)) -> io::Result<()> {
    let mut rehearsal = TourRehearsal::prepare(app, show)?;
    let played = rehearsal.play().await;
    // Whatever happened, the folder is ours and goes.
    let _ = std::fs::remove_dir_all(&rehearsal.folder);
    played
}

/// The program, and the folder in which it is run.
struct TourRehearsal<'a> {
    app: &'a App,
    program: PathBuf,
    folder: PathBuf,
    show: &'a mut dyn FnMut(TourStep),
}

/// When the tour kills a process.
#[derive(Debug, Clone, Copy)]
enum KillMoment {
    /// After so many tool results.
    AfterResults(usize),
    /// Once a tool was called and its first trace is in the workspace.
    WhenFileAppears(&'static str),
}

impl<'a> TourRehearsal<'a> {
    fn prepare(app: &'a App, show: &'a mut dyn FnMut(TourStep)) -> io::Result<Self> {
        let program = own_program().ok_or(io::ErrorKind::NotFound)?;
        let folder = std::env::temp_dir().join(format!("everloop-tour-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("workspace"))?;
        Ok(Self { app, program, folder, show })
    }

    async fn play(&mut self) -> io::Result<()> {
        let lang = self.app.lang;
        self.explain(TourPart::Welcome);
        self.explain(TourPart::KillBetweenSteps);
        let goal = text::tour::poem_goal().in_lang(lang);
        let moment = KillMoment::AfterResults(2);
        let first = self.kill_and_resume("poem", &goal, &scripts::poem(lang), moment).await?;
        self.explain(TourPart::Story);
        self.run_and_show(&["replay", &first]).await?;
        self.explain(TourPart::Verify);
        self.run_and_show(&["replay", "--verify", &first]).await?;
        self.explain(TourPart::KillDuringCall);
        let goal = text::tour::pay_goal().in_lang(lang);
        let moment = KillMoment::WhenFileAppears("ledger.txt");
        let second = self.kill_and_resume("pay", &goal, &scripts::pay(lang), moment).await?;
        self.explain(TourPart::Ledger);
        let ledger = std::fs::read_to_string(self.workspace().join("ledger.txt"));
        self.output(&ledger.unwrap_or_default());
        self.explain(TourPart::Story);
        self.run_and_show(&["replay", &second]).await?;
        self.explain(TourPart::EveryLoop);
        self.run_every_loop().await?;
        self.explain(TourPart::End);
        Ok(())
    }

    /// One run: begun, killed, taken up again by another process.
    async fn kill_and_resume(
        &mut self,
        name: &str,
        goal: &str,
        script: &Value,
        moment: KillMoment,
    ) -> io::Result<String> {
        let script = self.write_script(name, script)?;
        let workspace = self.workspace().display().to_string();
        let args = ["run", "--loop", "react", "--yes", "--workspace", &workspace, goal];
        self.command(&format!("run --loop react --yes \"{goal}\""));
        let mut child = self.start(&script, &args)?;
        let id = self.follow_and_kill(&mut child, moment).await?;
        self.command(&format!("runs resume {id}"));
        let mut child = self.start(&script, &["runs", "resume", &id])?;
        let mut progress = child.stderr.take().map(lines);
        while let Some(line) = next_line(&mut progress).await {
            self.output(&line);
        }
        let output = child.wait_with_output().await?;
        self.output(&String::from_utf8_lossy(&output.stdout));
        Ok(id)
    }

    /// Shows the progress of a run until it is time, then kills it and proves it. The id of the
    /// run.
    async fn follow_and_kill(
        &mut self,
        child: &mut Child,
        moment: KillMoment,
    ) -> io::Result<String> {
        let mut results = 0;
        let mut id = String::new();
        let mut progress = child.stderr.take().map(lines);
        while let Some(line) = next_line(&mut progress).await {
            self.output(&line);
            if let Some(start) = line.find("run_") {
                let found = line[start..].chars().take_while(|c| c.is_alphanumeric() || *c == '_');
                id = found.collect();
            }
            results += usize::from(line.starts_with(' '));
            let called = !line.starts_with(' ') && !line.contains("run_");
            match moment {
                KillMoment::AfterResults(wanted) if results >= wanted => break,
                KillMoment::WhenFileAppears(name) if called => {
                    self.wait_for_file(name).await;
                    break;
                }
                KillMoment::AfterResults(_) | KillMoment::WhenFileAppears(_) => {}
            }
        }
        let pid = child.id().unwrap_or_default();
        child.start_kill()?;
        let signal = child.wait().await?.signal().unwrap_or_default();
        (self.show)(TourStep::Killed { pid, signal });
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

    /// Each loop reads the poem once and says how long it is.
    async fn run_every_loop(&mut self) -> io::Result<()> {
        let goal = text::tour::count_goal().in_lang(self.app.lang);
        let workspace = self.workspace().display().to_string();
        self.command(&format!("run --loop … \"{goal}\""));
        for spec in LoopSpec::all() {
            let script = self.write_script(spec.name, &scripts::count(spec, self.app.lang))?;
            let args = ["run", "--loop", spec.name, "--workspace", &workspace, "--output-format"];
            let child = self.start(&script, &[&args[..], &["json", &goal]].concat())?;
            let output = child.wait_with_output().await?;
            let ended: TourLoopResult = serde_json::from_slice(&output.stdout).unwrap_or_default();
            let ended = TourLoopResult { loop_name: spec.name.to_owned(), ..ended };
            (self.show)(TourStep::LoopEnded(ended));
        }
        Ok(())
    }

    async fn run_and_show(&mut self, args: &[&str]) -> io::Result<()> {
        self.command(&args.join(" "));
        let child = self.start(&self.folder.join("poem.json"), args)?;
        let output = child.wait_with_output().await?;
        self.output(&String::from_utf8_lossy(&output.stdout));
        Ok(())
    }

    fn write_script(&self, name: &str, script: &Value) -> io::Result<PathBuf> {
        let path = self.folder.join(format!("{name}.json"));
        std::fs::write(&path, script.to_string())?;
        Ok(path)
    }

    fn start(&self, script: &Path, args: &[&str]) -> io::Result<Child> {
        let lang = match self.app.lang {
            everloop_types::Lang::En => "en",
            everloop_types::Lang::ZhCn => "zh-CN",
        };
        Command::new(&self.program)
            .args(args)
            .env("EVERLOOP_HOME", self.folder.join("home"))
            .env("EVERLOOP_MODEL", format!("scripted/{}", script.display()))
            .env("EVERLOOP_LANG", lang)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
    }

    fn workspace(&self) -> PathBuf {
        self.folder.join("workspace")
    }

    fn explain(&mut self, part: TourPart) {
        (self.show)(TourStep::Explain { part });
    }

    fn command(&mut self, args: &str) {
        (self.show)(TourStep::Command { line: format!("everloop {args}") });
    }

    fn output(&mut self, text: &str) {
        (self.show)(TourStep::Output { text: text.trim_end().to_owned() });
    }
}

fn lines(stderr: ChildStderr) -> Lines<BufReader<ChildStderr>> {
    BufReader::new(stderr).lines()
}

async fn next_line(lines: &mut Option<Lines<BufReader<ChildStderr>>>) -> Option<String> {
    lines.as_mut()?.next_line().await.ok().flatten()
}
