//! The one binary. Reads the command line, calls the engine, speaks through `text`.

mod args;
mod build;
mod commands;
mod complaint;
mod help;
mod reminding;
mod remote;
mod setup;

use args::{AnalyzeArgs, ChatArgs, Cli, Command, CommonArgs, PrintArgs, RunArgs, ServeArgs};
use everloop_app::log::{self, LogSurface};
use everloop_app::settings::SettingFlags;
use everloop_chat::ChatTarget;
use everloop_console::{Console, ConsoleOptions, Exit, Failure, terminal};
use everloop_text as text;
use std::process::ExitCode;

/// Files that the runtime opens for itself, and a few more.
const SPARE_FILES: usize = 8;

/// What must come before any key is read and any thread is started.
fn shut_off() {
    everloop_tools::leave_no_core();
    everloop_tools::hand_on_no_files();
}

/// How long the program waits for looks through workspaces before it ends.
const LOOK_MAX: std::time::Duration = std::time::Duration::from_secs(120);

fn main() -> ExitCode {
    shut_off();
    let cli = match help::parse() {
        Ok(cli) => cli,
        Err(code) => return terminal::unwritten().map_or(code, |error| not_written(&error)),
    };
    // These must start in a moment and need nothing of what follows.
    match cli.command {
        Some(Command::Guard { command }) => return everloop_tools::guard_main(command),
        Some(Command::Sandbox { command }) => return everloop_tools::sandbox_main(command),
        _ => {}
    }
    everloop_tools::clip::screen_with(|text| {
        everloop_app::secrets::redactor().text(text).into_owned()
    });
    std::panic::set_hook(Box::new(|panic| terminal::eprint_fatal(&panic.to_string())));
    let app = match start(&cli) {
        Ok(app) => app,
        Err(failure) => return report(&failure),
    };
    if let Err(failure) = start_log(&app, &cli) {
        return report(&failure);
    }
    if let Err(error) = spare_files() {
        return report(&app.failure(Exit::Failed, text::error::few_files(&error)));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads(cli.command.as_ref()))
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return report(&app.failure(Exit::Failed, text::error::system(&error))),
    };
    if let (None, Some(_), Some(_), false) = (&cli.command, &cli.message, &cli.resume, cli.print) {
        return report(&help::answer_needs_print(app.lang));
    }
    if let (None, Some(word), false) = (&cli.command, &cli.message, cli.print)
        && !cli.continued
        && let Some(failure) = help::no_such_command(app.lang, word)
    {
        return report(&failure);
    }
    let named = remote::NamedServer::of(&cli.common);
    let ended = runtime.block_on(async {
        match remote::perform(&app, named.as_ref(), wanted(cli)).await? {
            Ok(exit) => Ok(exit),
            Err(command) => dispatch(&app, command).await,
        }
    });
    // A reader thread may still wait for a line of input: it must not hold the process.
    everloop_tools::finish_checks(LOOK_MAX);
    runtime.shutdown_background();
    match (ended, terminal::unwritten()) {
        (Ok(_), Some(error)) => report(&app.failure(Exit::Failed, text::error::unwritten(&error))),
        (Ok(exit), None) => exit.into(),
        (Err(failure), _) => report(&failure),
    }
}

fn start(cli: &Cli) -> Result<Console, Failure> {
    if works_without_settings(cli) {
        Console::start_anyway(options(&cli.common))
    } else {
        Console::start(options(&cli.common))
    }
}

fn options(common: &CommonArgs) -> ConsoleOptions {
    let flags = SettingFlags {
        set: common.set.clone(),
        time_zone: common.tz.clone(),
        database: common.database.clone(),
        lang: common.lang,
    };
    let build = build::VERSION.to_owned();
    ConsoleOptions { flags, quiet: common.quiet, may_ask: !common.no_input, build }
}

/// One thread drives one run; only a worker, a server and a comparison have more to do.
fn threads(command: Option<&Command>) -> usize {
    match command {
        Some(Command::Worker(_) | Command::Serve(_) | Command::Compare(_)) => {
            std::thread::available_parallelism().map_or(2, std::num::NonZero::get)
        }
        _ => 1,
    }
}

/// Whether a command must work where the settings do not: it shows what is wrong, repairs it, or
/// needs none.
fn works_without_settings(cli: &Cli) -> bool {
    use Command::{Completion, Config, Doctor, Help, Man, Secrets};
    matches!(
        cli.command,
        Some(Config(_) | Doctor(_) | Completion(_) | Man(_) | Help(_) | Secrets(_))
    )
}

/// A worker that is not to be quiet logs by itself; everything else only if it is asked to.
fn start_log(app: &Console, cli: &Cli) -> Result<(), Failure> {
    let surface = match &cli.command {
        Some(Command::Worker(args)) if !args.drain && !app.quiet => LogSurface::Service,
        Some(Command::Serve(_)) if !app.quiet => LogSurface::Service,
        _ => LogSurface::Command,
    };
    let started = app.checked(log::start(app, surface));
    if works_without_settings(cli) { Ok(()) } else { started }
}

/// Whether as many files can be opened as the runtime needs, which gives up without a word.
fn spare_files() -> std::io::Result<()> {
    let files = (0..SPARE_FILES).map(|_| std::fs::File::open("/dev/null"));
    files.collect::<std::io::Result<Vec<_>>>().map(drop)
}

/// Without a command it is a question to be printed, or the chat.
fn wanted(cli: Cli) -> Command {
    let Cli { message, print, output_format, json, continued, resume, how, command, common } = cli;
    let output_format = output_format.or_json(json);
    match command {
        // A flag before the command means what it means behind it.
        Some(Command::Chat(args)) => {
            let wanted = target(continued, resume);
            Command::Chat(ChatArgs { how: args.how.or(how), wanted, ..args })
        }
        Some(Command::Run(args)) => {
            let output_format = args.output_format.or_json(args.json);
            Command::Run(RunArgs { how: args.how.or(how), output_format, ..args })
        }
        Some(Command::Serve(args)) => {
            Command::Serve(ServeArgs { insecure: common.insecure, ..args })
        }
        Some(Command::Analyze(args)) => {
            let output_format = args.output_format.or_json(args.json);
            Command::Analyze(AnalyzeArgs { how: args.how.or(how), output_format, ..args })
        }
        Some(command) => command,
        None if print => {
            Command::Print(PrintArgs { question: message, output_format, continued, resume, how })
        }
        None => Command::Chat(ChatArgs { message, how, wanted: target(continued, resume) }),
    }
}

/// What `-c` and `-r` mean for a chat.
fn target(continued: bool, resume: Option<Option<String>>) -> ChatTarget {
    match resume {
        Some(Some(words)) => ChatTarget::Found(words),
        Some(None) => ChatTarget::Picked,
        None if continued => ChatTarget::Joined,
        None => ChatTarget::Newest,
    }
}

async fn dispatch(app: &Console, command: Command) -> Result<Exit, Failure> {
    everloop_console::outlive_length_limits();
    match command {
        Command::Print(args) => commands::print::print(app, args).await,
        Command::Chat(args) => commands::chat::chat(app, args).await,
        Command::Tour(args) => commands::tour::tour(app, &args).await,
        Command::Conversations(args) => commands::conversations::conversations(app, args).await,
        Command::Loops(args) => commands::loops::loops(app, &args),
        Command::Decide(args) => commands::decide::decide(app, &args).await,
        Command::Tools(args) => commands::tools::tools(app, &args),
        Command::Run(args) => commands::run::run(app, args).await,
        Command::Analyze(args) => commands::analyze::analyze(app, args).await,
        Command::Runs(args) => commands::runs::runs(app, args.verb()).await,
        Command::Replay(args) => commands::replay::replay(app, &args).await,
        Command::Fork(args) => commands::fork::fork(app, args).await,
        Command::Diff(args) => commands::diff::diff(app, &args).await,
        Command::Compare(args) => commands::compare::compare(app, args).await,
        Command::Export(args) => commands::portable::export(app, &args).await,
        Command::Import(args) => commands::portable::import(app, &args).await,
        Command::Todo(args) => commands::keep::todo(app, args).await,
        Command::View(args) => commands::keep::view(app, args).await,
        Command::Schedule(args) => commands::keep::schedule(app, args).await,
        Command::Inbox(args) => commands::keep::inbox(app, &args).await,
        Command::Approvals(args) => commands::approvals::approvals(app, args).await,
        Command::Worker(args) => commands::worker::worker(app, &args).await,
        Command::Serve(args) => commands::serve::serve(app, &args).await,
        Command::Token(args) => commands::serve::token(app, &args),
        Command::Models(args) => commands::models::models(app, args).await,
        Command::Mcp(args) => commands::mcp::mcp(app, args).await,
        Command::Skills(args) => commands::skills::skills(app, &args),
        Command::Personas(args) => commands::personas::personas(app, &args),
        Command::Memory(args) => commands::memory::memory(app, &args).await,
        Command::Doctor(args) => commands::doctor::doctor(app, &args).await,
        Command::Config(args) => commands::config::config(app, args.verb()).await,
        Command::Secrets(args) => commands::secrets::secrets(app, args.verb()),
        Command::Audit(args) => commands::audit::audit(app, &args).await,
        Command::Clean(args) => commands::clean::clean(app, &args).await,
        Command::Backup(args) => commands::copies::backup(app, args).await,
        Command::Restore(args) => commands::copies::restore(app, args).await,
        Command::Migrate(args) => commands::migrate::migrate(app, &args).await,
        Command::Completion(args) => commands::pages::completion(app, &args),
        Command::Man(args) => commands::pages::man(app, &args),
        Command::Help(args) => help::topic(app, &args.topic),
        Command::Guard { .. } | Command::Sandbox { .. } => {
            unreachable!("these were started before")
        }
    }
}

/// For a page of help that was not written; there are no settings yet.
fn not_written(error: &std::io::Error) -> ExitCode {
    let detail = error.to_string();
    let lang = everloop_console::early_language(None);
    let words = text::error::unwritten(&detail).in_lang(lang);
    report(&Failure { exit: Exit::Failed, words })
}

fn report(failure: &Failure) -> ExitCode {
    terminal::eprint_fatal(&failure.words);
    failure.exit.into()
}
