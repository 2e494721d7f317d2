//! The one binary. Reads the command line, calls the engine, speaks through `text`.

mod app;
mod args;
mod build;
mod chat;
mod commands;
mod complaint;
mod context;
mod database;
mod exit;
mod help;
mod home;
mod key;
mod learnt;
mod means;
mod near;
mod own;
mod place;
mod prices;
mod secrets;
mod settings;
mod setup;
mod show;
mod signals;
mod terminal;

use app::App;
use args::{Chat, Command, Format, Print};
use exit::{Exit, Failure};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = match help::parse() {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    // These must start in a moment and need nothing of what follows.
    match cli.command {
        Some(Command::Guard { command }) => return everloop_tools::guard_main(command),
        Some(Command::Wall { command }) => return everloop_tools::wall_main(command),
        _ => {}
    }
    std::panic::set_hook(Box::new(|panic| terminal::complain(&panic.to_string())));
    // These must work where the settings do not: they show what is wrong, repair it, or need none.
    let started = match cli.command {
        Some(
            Command::Config(_)
            | Command::Doctor(_)
            | Command::Completion(_)
            | Command::Man(_)
            | Command::Secrets(_),
        ) => App::start_anyway(&cli.common),
        _ => App::start(&cli.common),
    };
    let app = match started {
        Ok(app) => app,
        Err(failure) => return report(&failure),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(app.threads(cli.command.as_ref()))
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return report(&app.failure(Exit::Failed, "error.system", &error)),
    };
    if let (None, Some(word), false) = (&cli.command, &cli.message, cli.print)
        && let Some(failure) = help::no_such_command(app.lang, word)
    {
        return report(&failure);
    }
    let again = cli.resume.map(|id| format!("/resume {}", id.unwrap_or_default()));
    let message = cli.message.or(again);
    let command = cli.command.or_else(|| no_command(message, cli.print, cli.output_format));
    let ended = runtime.block_on(dispatch(&app, command));
    // A reader thread may still wait for a line of input: it must not hold the process.
    runtime.shutdown_background();
    match ended {
        Ok(exit) => exit.into(),
        Err(failure) => report(&failure),
    }
}

/// Without a command it is a question to be printed, or the chat.
fn no_command(message: Option<String>, print: bool, output_format: Format) -> Option<Command> {
    match message {
        Some(question) if print => Some(Command::Print(Print { question, output_format })),
        message => Some(Command::Chat(Chat { message, ..Chat::default() })),
    }
}

async fn dispatch(app: &App, command: Option<Command>) -> Result<Exit, Failure> {
    match command {
        None => unreachable!("without a command it is the chat"),
        Some(Command::Print(args)) => commands::print::print(app, args).await,
        Some(Command::Chat(args)) => chat::chat(app, &args).await,
        Some(Command::Tour) => commands::tour::tour(app).await,
        Some(Command::Loops(args)) => commands::loops::loops(app, &args),
        Some(Command::Tools(args)) => commands::tools::tools(app, &args),
        Some(Command::Run(args)) => commands::run::run(app, args).await,
        Some(Command::Runs(args)) => commands::runs::runs(app, args).await,
        Some(Command::Replay(args)) => commands::replay::replay(app, &args).await,
        Some(Command::Fork(args)) => commands::fork::fork(app, args).await,
        Some(Command::Diff(args)) => commands::diff::diff(app, &args).await,
        Some(Command::Compare(args)) => commands::compare::compare(app, args).await,
        Some(Command::Export(args)) => commands::portable::export(app, &args).await,
        Some(Command::Import(args)) => commands::portable::import(app, &args).await,
        Some(Command::Todo(args)) => commands::keep::todo(app, args).await,
        Some(Command::View(args)) => commands::keep::view(app, args).await,
        Some(Command::Schedule(args)) => commands::keep::schedule(app, args).await,
        Some(Command::Inbox(args)) => commands::keep::inbox(app, &args).await,
        Some(Command::Approvals(args)) => commands::approvals::approvals(app, args).await,
        Some(Command::Worker(args)) => commands::worker::worker(app, &args).await,
        Some(Command::Models(args)) => commands::models::models(app, args).await,
        Some(Command::Mcp(args)) => commands::mcp::mcp(app, args).await,
        Some(Command::Skills(args)) => commands::skills::skills(app, &args),
        Some(Command::Personas(args)) => commands::personas::personas(app, &args),
        Some(Command::Memory(args)) => commands::memory::memory(app, &args).await,
        Some(Command::Doctor(args)) => commands::doctor::doctor(app, &args).await,
        Some(Command::Config(args)) => commands::config::config(app, args).await,
        Some(Command::Secrets(args)) => commands::secrets::secrets(app, args),
        Some(Command::Audit(args)) => commands::audit::audit(app, &args).await,
        Some(Command::Backup(args)) => commands::copies::backup(app, args).await,
        Some(Command::Restore(args)) => commands::copies::restore(app, args).await,
        Some(Command::Completion(args)) => commands::pages::completion(app, &args),
        Some(Command::Man(args)) => commands::pages::man(app, &args),
        Some(Command::Guard { .. } | Command::Wall { .. }) => {
            unreachable!("these were started before")
        }
    }
}

fn report(failure: &Failure) -> ExitCode {
    terminal::complain(&failure.words);
    failure.exit.into()
}
