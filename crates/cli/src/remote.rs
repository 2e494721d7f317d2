//! `--server`: the same commands on a server elsewhere.
//!
//! Deliberately absent: what a person types in the chat, and everything that needs the files of the
//! other machine. Such a command says so and does nothing.

mod agenda;
mod failure;
mod follow;
mod lines;
mod runs;
mod start;

use crate::args::{Command, CommonArgs};
use everloop_app::access_token;
use everloop_console::Console;
use everloop_console::{Exit, Failure};
use everloop_remote::{RemoteOptions, RemoteServer};
use everloop_text as text;

/// The variable that names a server.
const VARIABLE: &str = "EVERLOOP_SERVER";

/// The server that somebody named.
#[derive(Debug, Clone)]
pub(crate) struct NamedServer {
    url: String,
    may_be_plain: bool,
    /// By the flag, not by the variable.
    is_flag: bool,
}

impl NamedServer {
    /// What the flag names, else the variable.
    pub(crate) fn of(common: &CommonArgs) -> Option<Self> {
        let may_be_plain = common.insecure;
        let named = |url: String, is_flag| Self { url, may_be_plain, is_flag };
        let variable = || std::env::var(VARIABLE).ok().filter(|url| !url.trim().is_empty());
        match &common.server {
            Some(url) => Some(named(url.clone(), true)),
            None => variable().map(|url| named(url, false)),
        }
    }

    /// An address may hold a password: nothing before its last `@` is shown.
    fn shown(&self) -> &str {
        self.url.rsplit('@').next().unwrap_or_default()
    }
}

/// A command on a server elsewhere, and who reads the answer.
pub(crate) struct RemoteConsole<'a> {
    app: &'a Console,
    server: RemoteServer,
}

/// What a command is about.
enum CommandPlace {
    /// Data, which a server elsewhere has.
    There,
    /// Data, which only a process on its machine can reach.
    OnlyHere(&'static str),
    /// This machine: the variable does not concern it.
    ThisMachine(&'static str),
}

/// Performs a command on the server that was named; gives it back if it is to be performed here.
pub(crate) async fn perform(
    app: &Console,
    named: Option<&NamedServer>,
    command: Command,
) -> Result<Result<Exit, Command>, Failure> {
    let Some(named) = named else { return Ok(Err(command)) };
    match place(&command) {
        CommandPlace::ThisMachine(_) if !named.is_flag => return Ok(Err(command)),
        CommandPlace::ThisMachine(name) | CommandPlace::OnlyHere(name) => {
            return Err(refused(app, named.shown(), name));
        }
        CommandPlace::There => {}
    }
    let remote = connect(app, named).await?;
    let exit = match command {
        Command::Print(args) => remote.print(args).await,
        Command::Run(args) => remote.run(args).await,
        Command::Runs(args) => remote.runs(args.verb()).await,
        Command::Todo(args) => remote.todo(args).await,
        Command::View(args) => remote.view(args).await,
        Command::Schedule(args) => remote.schedule(args).await,
        _ => unreachable!("only these are elsewhere"),
    };
    exit.map(Ok)
}

fn place(command: &Command) -> CommandPlace {
    use CommandPlace::{OnlyHere, There, ThisMachine};
    match command {
        Command::Print(_)
        | Command::Run(_)
        | Command::Runs(_)
        | Command::Todo(_)
        | Command::View(_)
        | Command::Schedule(_) => There,
        Command::Analyze(_) => OnlyHere("everloop analyze"),
        Command::Chat(_) => OnlyHere("everloop chat"),
        Command::Conversations(_) => OnlyHere("everloop conversations"),
        Command::Decide(_) => OnlyHere("everloop decide"),
        Command::Replay(_) => OnlyHere("everloop replay"),
        Command::Fork(_) => OnlyHere("everloop fork"),
        Command::Diff(_) => OnlyHere("everloop diff"),
        Command::Export(_) => OnlyHere("everloop export"),
        Command::Import(_) => OnlyHere("everloop import"),
        Command::Inbox(_) => OnlyHere("everloop inbox"),
        Command::Approvals(_) => OnlyHere("everloop approvals"),
        Command::Memory(_) => OnlyHere("everloop memory"),
        Command::Audit(_) => OnlyHere("everloop audit"),
        Command::Clean(_) => OnlyHere("everloop clean"),
        Command::Backup(_) => OnlyHere("everloop backup"),
        Command::Restore(_) => OnlyHere("everloop restore"),
        Command::Migrate(_) => OnlyHere("everloop migrate"),
        Command::Compare(_) => ThisMachine("everloop compare"),
        Command::Loops(_) => ThisMachine("everloop loops"),
        Command::Tools(_) => ThisMachine("everloop tools"),
        Command::Worker(_) => ThisMachine("everloop worker"),
        Command::Serve(_) => ThisMachine("everloop serve"),
        Command::Token(_) => ThisMachine("everloop token"),
        Command::Tour(_) => ThisMachine("everloop tour"),
        Command::Models(_) => ThisMachine("everloop models"),
        Command::Mcp(_) => ThisMachine("everloop mcp"),
        Command::Skills(_) => ThisMachine("everloop skills"),
        Command::Personas(_) => ThisMachine("everloop personas"),
        Command::Doctor(_) => ThisMachine("everloop doctor"),
        Command::Config(_) => ThisMachine("everloop config"),
        Command::Secrets(_) => ThisMachine("everloop secrets"),
        Command::Completion(_) => ThisMachine("everloop completion"),
        Command::Man(_) => ThisMachine("everloop man"),
        Command::Help(_) => ThisMachine("everloop help"),
        Command::Guard { .. } | Command::Sandbox { .. } => ThisMachine("everloop"),
    }
}

fn refused(app: &Console, url: &str, command: &str) -> Failure {
    app.failure(Exit::Usage, text::remote::not_there(&command, &url))
}

async fn connect<'a>(app: &'a Console, named: &NamedServer) -> Result<RemoteConsole<'a>, Failure> {
    let token = std::env::var(access_token::VARIABLE).unwrap_or_default();
    if token.is_empty() {
        return Err(app.failure(Exit::Configuration, text::remote::no_token()));
    }
    let language = app.lang.tag();
    let NamedServer { url, may_be_plain, .. } = named.clone();
    let options = RemoteOptions { url, token, may_be_plain, language };
    let server = RemoteServer::connect(&options).await;
    let server = server.map_err(|error| failure::of(app, named.shown(), &error))?;
    Ok(RemoteConsole { app, server })
}

impl RemoteConsole<'_> {
    /// A part of a command that works on this machine only.
    fn refuse(&self, command: &str) -> Failure {
        refused(self.app, self.server.shown(), command)
    }

    fn checked<T>(&self, done: Result<T, everloop_remote::RemoteError>) -> Result<T, Failure> {
        done.map_err(|error| failure::of(self.app, self.server.shown(), &error))
    }
}
