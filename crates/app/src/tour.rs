//! The tour: a talk, an approval, a kill and the recovery, the agenda; offline, scene by scene.
//!
//! Nothing is staged but the model, which is scripted and said to be: the processes are this very
//! program, the kill is a real signal, the journal is a real database in a folder that is removed
//! afterwards. Deliberately absent: pauses and colors (the surface's).

mod scripts;

use crate::app::App;
use everloop_text as text;
use everloop_tools::own_program;
use everloop_types::Lang;

/// Characters of the id of a run that people read.
const ID_CHARS: usize = 8;
use serde::Serialize;
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

/// Variables that would lead the processes of the tour to somebody's data or model.
const FOREIGN_VARIABLES: [&str; 4] = ["EVERLOOP_", "OPENAI_", "AGENT_", "DATABASE_URL"];

/// The scenes, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TourScene {
    /// A question and its answer.
    Talk,
    /// A command that waits for a yes.
    Approval,
    /// A process is killed during a payment; another one goes on.
    Kill,
    /// Todos and reminders.
    Agenda,
}

impl TourScene {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Talk, Self::Approval, Self::Kill, Self::Agenda];
}

/// One thing that the tour shows.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TourStep {
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
    /// An answer of the model, in Markdown.
    Answer {
        /// The text.
        text: String,
    },
    /// The process of a run was killed.
    Killed {
        /// Its process id.
        pid: u32,
        /// The signal that ended it.
        signal: i32,
    },
    /// What is to be seen here.
    Remark {
        /// Which one.
        remark: TourRemark,
    },
}

/// What is said within a scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TourRemark {
    /// The command runs after the yes.
    Allowed,
    /// What the interrupted call wrote.
    Ledger,
    /// The journal can be replayed and forked.
    Replay,
}

/// The program, and the folder in which it is run. The folder goes with it.
pub struct Tour {
    lang: Lang,
    program: PathBuf,
    folder: PathBuf,
}

impl Drop for Tour {
    fn drop(&mut self) {
        // Whatever happened, the folder is ours.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Where the steps of a scene go.
type ShowStep<'a> = &'a mut (dyn FnMut(TourStep) + Send);

impl Tour {
    /// Prepares a folder for it.
    ///
    /// # Errors
    /// If this program cannot be found, or the folder cannot be made.
    pub fn prepare(app: &App) -> io::Result<Self> {
        let program = own_program().ok_or(io::ErrorKind::NotFound)?;
        let folder = std::env::temp_dir().join(format!("everloop-tour-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("workspace/old-logs"))?;
        Ok(Self { lang: app.lang, program, folder })
    }

    /// Plays a scene; every step is shown as it happens.
    ///
    /// # Errors
    /// If a process cannot be started, or a file cannot be written.
    pub async fn play(&self, scene: TourScene, show: ShowStep<'_>) -> io::Result<()> {
        match scene {
            TourScene::Talk => self.talk(show).await,
            TourScene::Approval => self.approve(show).await,
            TourScene::Kill => self.kill(show).await,
            TourScene::Agenda => self.keep_agenda(show).await,
        }
    }

    async fn talk(&self, show: ShowStep<'_>) -> io::Result<()> {
        let goal = text::tour::talk_goal().in_lang(self.lang);
        let script = self.write_script("talk", &scripts::talk(self.lang))?;
        show(command(&format!("-p \"{goal}\"")));
        let child = self.start(&script, &["run", "--loop", "react", &goal])?;
        let output = child.wait_with_output().await?;
        show(TourStep::Answer { text: lines_of(&output.stdout) });
        Ok(())
    }

    /// Nobody sits at this process, so it leaves its question and ends; the answer comes later.
    async fn approve(&self, show: ShowStep<'_>) -> io::Result<()> {
        let goal = text::tour::clean_goal().in_lang(self.lang);
        let script = self.write_script("clean", &scripts::clean(self.lang))?;
        show(command(&format!("run \"{goal}\"")));
        let child = self.start(&script, &["run", "--loop", "react", &goal])?;
        let output = child.wait_with_output().await?;
        show(output_step(&lines_of(&output.stderr)));
        let id = run_id(&lines_of(&output.stderr)).unwrap_or_default();
        show(command(&format!("runs resume {id} --answer y")));
        let child = self.start(&script, &["runs", "resume", &id, "--answer", "y"])?;
        let output = child.wait_with_output().await?;
        show(output_step(&lines_of(&output.stderr)));
        show(TourStep::Remark { remark: TourRemark::Allowed });
        show(TourStep::Answer { text: lines_of(&output.stdout) });
        Ok(())
    }

    /// A run begins, is killed in the middle of a payment, and is taken up by another process.
    async fn kill(&self, show: ShowStep<'_>) -> io::Result<()> {
        let goal = text::tour::pay_goal().in_lang(self.lang);
        let script = self.write_script("pay", &scripts::pay(self.lang))?;
        show(command(&format!("run --yes \"{goal}\"")));
        let mut child = self.start(&script, &["run", "--loop", "react", "--yes", &goal])?;
        let id = self.follow_and_kill(&mut child, show).await?;
        show(command(&format!("runs resume {id}")));
        let mut child = self.start(&script, &["runs", "resume", &id])?;
        let mut progress = child.stderr.take().map(lines);
        while let Some(line) = next_line(&mut progress).await {
            show(output_step(&line));
        }
        let output = child.wait_with_output().await?;
        show(TourStep::Answer { text: lines_of(&output.stdout) });
        show(TourStep::Remark { remark: TourRemark::Ledger });
        let ledger = std::fs::read_to_string(self.workspace().join("ledger.txt"));
        show(output_step(&ledger.unwrap_or_default()));
        show(TourStep::Remark { remark: TourRemark::Replay });
        self.run_and_show(&["replay", "--verify", &id], show).await
    }

    async fn keep_agenda(&self, show: ShowStep<'_>) -> io::Result<()> {
        let lang = self.lang;
        let todo = text::tour::todo_text().in_lang(lang);
        let other = text::tour::other_todo().in_lang(lang);
        let entry = text::tour::entry_text().in_lang(lang);
        self.run_and_show(&["todo", "add", &todo], show).await?;
        self.run_and_show(&["todo", "add", &other], show).await?;
        self.run_and_show(&["schedule", "add", &entry], show).await?;
        self.run_and_show(&["todo", "list"], show).await?;
        self.run_and_show(&["todo", "delete", "1", "2"], show).await?;
        self.run_and_show(&["todo", "undo"], show).await
    }

    /// Shows the progress of a run until its payment has begun, then kills it and proves it. The id
    /// of the run.
    async fn follow_and_kill(&self, child: &mut Child, show: ShowStep<'_>) -> io::Result<String> {
        let mut id = String::new();
        let mut progress = child.stderr.take().map(lines);
        while let Some(line) = next_line(&mut progress).await {
            show(output_step(&line));
            match run_id(&line) {
                Some(found) => id = found,
                None if !line.starts_with(' ') => {
                    self.wait_for_file("ledger.txt").await;
                    break;
                }
                None => {}
            }
        }
        let pid = child.id().unwrap_or_default();
        child.start_kill()?;
        let signal = child.wait().await?.signal().unwrap_or_default();
        show(TourStep::Killed { pid, signal });
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

    async fn run_and_show(&self, args: &[&str], show: ShowStep<'_>) -> io::Result<()> {
        let quoted = |arg: &&str| match arg.contains(' ') {
            true => format!("\"{arg}\""),
            false => (*arg).to_owned(),
        };
        show(command(&args.iter().map(quoted).collect::<Vec<_>>().join(" ")));
        let child = self.start(Path::new("talk.json"), args)?;
        let output = child.wait_with_output().await?;
        show(output_step(&lines_of(&output.stdout)));
        Ok(())
    }

    fn write_script(&self, name: &str, script: &Value) -> io::Result<PathBuf> {
        let path = self.folder.join(format!("{name}.json"));
        std::fs::write(&path, script.to_string())?;
        Ok(path)
    }

    fn start(&self, script: &Path, args: &[&str]) -> io::Result<Child> {
        let lang = self.lang.tag();
        let mut command = Command::new(&self.program);
        for (name, _) in std::env::vars_os() {
            let is_foreign = |name: &str| FOREIGN_VARIABLES.iter().any(|it| name.starts_with(it));
            if name.to_str().is_some_and(is_foreign) {
                command.env_remove(&name);
            }
        }
        command
            .args(args)
            .current_dir(self.workspace())
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
}

fn command(args: &str) -> TourStep {
    TourStep::Command { line: format!("everloop {args}") }
}

fn output_step(text: &str) -> TourStep {
    TourStep::Output { text: text.trim_end().to_owned() }
}

fn lines_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

/// The id of a run in the line that says that it started: its second word.
fn run_id(line: &str) -> Option<String> {
    let word = line.split_whitespace().nth(1)?;
    let is_id = word.len() == ID_CHARS
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    is_id.then(|| word.to_owned())
}

fn lines(stderr: ChildStderr) -> Lines<BufReader<ChildStderr>> {
    BufReader::new(stderr).lines()
}

async fn next_line(lines: &mut Option<Lines<BufReader<ChildStderr>>>) -> Option<String> {
    lines.as_mut()?.next_line().await.ok().flatten()
}
