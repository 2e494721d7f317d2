//! The slash commands: the table of all, and what each does.
//!
//! A new one is a row in [`SLASH_COMMANDS`], a handler below, and its texts (`command.does.NAME`
//! and `usage.NAME`). Completion, `/help`, the nearest name and the router read the table.

mod analyze;
mod approve;
mod conversations;
mod copy;
mod facts;
mod history;
mod screens;
mod undo;

pub use copy::CopyPart;
pub use facts::{FactList, FactReply};
pub use history::history_text;
pub use screens::ChatScreen;
pub use undo::{RewindReport, RewindTurn};

use super::{
    AgendaReply, ChatReply, Conversation, GoalOptions, InboxChange, Reaction, model_state,
};
use crate::briefing;
use crate::context::images::IMAGES_MAX;
use crate::conversations as all;
use crate::error::{AppError, ChoiceError};
use crate::exchange;
use crate::forks::{self, ForkOptions};
use crate::frames;
use crate::models::lists;
use crate::place;
use crate::runs::RunDetails;
use crate::slash::{self, SlashCommand, SlashKind, SlashLine, SlashResult, find};
use everloop_agenda::commands::AgendaVerb;
use everloop_agenda::desk::CommandOutcome;
use everloop_agenda::portable::PortableContent;
use everloop_loops::LoopSpec;
use everloop_store::{ConversationMessage, RunFilter};
use everloop_text::command::does;
use everloop_text::scheduled::usage as scheduled;
use everloop_text::usage::{self, schedule, todo};
use everloop_types::{Lang, RunId, Status};
use std::future::ready;
use std::path::{Path, PathBuf};

/// Characters that are enough to mean a run among words.
const ID_CHARS_MIN: usize = 6;

/// Runs, messages and reminders that are listed at once.
const RUNS_LISTED: usize = 20;
const SAID_LISTED: usize = 20;
const UNREAD_LISTED: usize = 100;

/// Messages that `/export chat` writes.
const SAID_EXPORTED: usize = 1_000;

/// Every slash command, by how often people need it.
pub static SLASH_COMMANDS: &[SlashCommand] = &[
    SlashCommand::new("help", does::help, &[usage::help], |c, line| Box::pin(ready(help(c, line))))
        .kind(SlashKind::Help),
    SlashCommand::new(
        AgendaVerb::Todo.name(),
        does::todo,
        &[
            todo::add,
            todo::list,
            todo::done,
            todo::get,
            todo::update,
            todo::delete,
            todo::search,
            todo::reopen,
            todo::undo,
            todo::snooze,
        ],
        |chat, line| Box::pin(agenda(chat, line)),
    )
    .kind(SlashKind::Agenda)
    .parts(&[
        "add", "list", "done", "get", "update", "delete", "search", "reopen", "undo", "snooze",
    ])
    .options(|part| match part {
        "add" | "update" => &["--tag", "--priority", "--due", "--remind"],
        "list" | "done" | "delete" | "reopen" => &["--tag", "--view", "--open"],
        "search" => &["--tag", "--open"],
        _ => &[],
    }),
    SlashCommand::new(
        AgendaVerb::Schedule.name(),
        does::schedule,
        &[
            schedule::add,
            schedule::list,
            schedule::view,
            schedule::get,
            schedule::update,
            schedule::repeat,
            schedule::delete,
            scheduled::pause,
            scheduled::resume,
            scheduled::run,
            scheduled::runs,
        ],
        |chat, line| Box::pin(agenda(chat, line)),
    )
    .kind(SlashKind::Agenda)
    .parts(&[
        "add", "list", "view", "get", "update", "repeat", "delete", "pause", "resume", "run",
        "runs",
    ])
    .options(|part| match part {
        "add" | "update" => &[
            "--duration",
            "--remind",
            "--interval",
            "--times",
            "--remind-start",
            "--repeat",
            "--catch-up",
            "--allow-conflict",
            "--run",
            "--cron",
            "--zone",
            "--loop",
            "--persona",
            "--workspace",
            "--conversation",
            "--overlap",
            "--pause-after",
        ],
        _ => &[],
    }),
    SlashCommand::new(AgendaVerb::View.name(), does::view, &[usage::view], |chat, line| {
        Box::pin(agenda(chat, line))
    })
    .kind(SlashKind::Agenda)
    .parts(&["today", "overdue", "upcoming", "inbox", "all", "list"])
    .options(|_| &["--tag", "--open"]),
    SlashCommand::new(AgendaVerb::Done.name(), does::done, &[usage::done], |chat, line| {
        Box::pin(agenda(chat, line))
    })
    .kind(SlashKind::Agenda),
    SlashCommand::new(AgendaVerb::Snooze.name(), does::snooze, &[usage::snooze], |chat, line| {
        Box::pin(agenda(chat, line))
    })
    .kind(SlashKind::Agenda),
    SlashCommand::new("inbox", does::inbox, &[usage::inbox], |c, line| Box::pin(inbox(c, line)))
        .parts(&["read"]),
    SlashCommand::new("cancel", does::cancel, &[usage::cancel], |c, _| Box::pin(cancel(c)))
        .kind(SlashKind::Cancel),
    SlashCommand::new("plan", does::plan, &[usage::plan], |c, _| Box::pin(plan(c))),
    SlashCommand::new("runs", does::runs, &[usage::runs], |c, line| Box::pin(runs(c, line))),
    SlashCommand::new("resume", does::resume, &[usage::resume], |c, line| {
        Box::pin(conversations::resume(c, line))
    })
    .kind(SlashKind::Follow),
    SlashCommand::new("settle", does::settle, &[usage::settle], |c, line| {
        Box::pin(c.settle(&line.rest))
    })
    .kind(SlashKind::Follow)
    .parts(&["happened", "not", "probe"]),
    SlashCommand::new("bg", does::bg, &[usage::bg], |c, line| Box::pin(background(c, line))),
    SlashCommand::new("analyze", does::analyze, &[usage::analyze], |c, line| {
        Box::pin(analyze::analyze(c, line))
    })
    .kind(SlashKind::Follow),
    SlashCommand::new("fork", does::fork, &[usage::fork], |c, line| Box::pin(fork(c, line)))
        .kind(SlashKind::Follow),
    SlashCommand::new("history", does::history, &[usage::history], |c, line| {
        Box::pin(history(c, line))
    }),
    SlashCommand::new("loop", does::r#loop, &[usage::r#loop], |c, line| {
        Box::pin(choose_loop(c, line))
    })
    .kind(SlashKind::Loop),
    SlashCommand::new("model", does::model, &[usage::model], |c, line| {
        Box::pin(choose_model(c, line))
    }),
    SlashCommand::new("persona", does::persona, &[usage::persona], |c, line| {
        Box::pin(ready(choose_persona(c, line)))
    }),
    SlashCommand::new("approve", does::approve, &[usage::approve], |c, line| {
        Box::pin(ready(approve::approve(c, line)))
    })
    .parts(&["ask", "edits", "plan", "all"]),
    SlashCommand::new("image", does::image, &[usage::image], |c, line| {
        Box::pin(ready(attach_image(c, line)))
    }),
    SlashCommand::new("new", does::new, &[usage::new], |c, line| {
        Box::pin(conversations::begin_anew(c, line))
    })
    .kind(SlashKind::Follow),
    SlashCommand::new("conversations", does::conversations, &[usage::conversations], |c, line| {
        Box::pin(conversations::list(c, line))
    }),
    SlashCommand::new("rename", does::rename, &[usage::rename], |c, line| {
        Box::pin(conversations::rename(c, line))
    }),
    SlashCommand::new("undo", does::undo, &[usage::undo], |c, line| Box::pin(undo::undo(c, line)))
        .parts(&["redo"]),
    SlashCommand::new("rewind", does::rewind, &[usage::rewind], |c, line| {
        Box::pin(undo::rewind(c, line))
    })
    .kind(SlashKind::Follow),
    SlashCommand::new("export", does::export, &[usage::export], |c, line| {
        Box::pin(export(c, line))
    })
    .parts(&["chat", "todos", "schedule"]),
    SlashCommand::new("import", does::import, &[usage::import], |c, line| {
        Box::pin(import(c, line))
    })
    .parts(&["todos", "schedule"]),
    SlashCommand::new("copy", does::copy, &[usage::copy], |c, line| Box::pin(copy::copy(c, line)))
        .parts(&["code"]),
    SlashCommand::new("usage", does::usage, &[usage::usage], |c, _| Box::pin(screens::usage(c))),
    SlashCommand::new("memory", does::memory, &[usage::memory], |c, line| {
        Box::pin(facts::memory(c, line))
    })
    .kind(SlashKind::Follow)
    .parts(&["add", "accept", "reject", "forget", "on", "off", "show", "edit"]),
    SlashCommand::new("mcp", does::mcp, &[usage::mcp], |_, _| {
        Box::pin(ready(Ok(Reaction::Screen(ChatScreen::Mcp))))
    })
    .kind(SlashKind::Follow),
    SlashCommand::new("doctor", does::doctor, &[usage::doctor], |_, _| {
        Box::pin(ready(Ok(Reaction::Screen(ChatScreen::Doctor))))
    })
    .kind(SlashKind::Follow),
    SlashCommand::new("setup", does::setup, &[usage::setup], |_, _| {
        Box::pin(ready(Ok(Reaction::Screen(ChatScreen::Setup))))
    })
    .kind(SlashKind::Follow),
    SlashCommand::new("lang", does::lang, &[usage::lang], |c, line| {
        Box::pin(ready(choose_language(c, line)))
    })
    .parts(&["zh-CN", "en"]),
    SlashCommand::new("tour", does::tour, &[usage::tour], |_, _| {
        Box::pin(ready(Ok(Reaction::Tour)))
    })
    .kind(SlashKind::Follow),
    SlashCommand::new("clear", does::clear, &[usage::clear], |_, _| {
        Box::pin(ready(Ok(Reaction::Clear)))
    }),
    SlashCommand::new("quit", does::quit, &[usage::quit], |_, _| {
        Box::pin(ready(Ok(Reaction::Quit)))
    })
    .kind(SlashKind::Quit),
];

fn help(chat: &Conversation, line: &SlashLine) -> SlashResult {
    let name = line.rest.trim_start_matches(['/', '\u{ff0f}', '\u{3001}']);
    if name.is_empty() {
        return Ok(ChatReply::Help(None).into());
    }
    if let Some(command) = find(name) {
        return Ok(ChatReply::Help(Some(command)).into());
    }
    if let Some(custom) = chat.commands().custom().get(&name.to_lowercase()) {
        return Ok(ChatReply::HelpCustom(Box::new(custom.clone())).into());
    }
    match slash::read(&format!("/{name}")) {
        Ok(line) => Ok(ChatReply::Help(Some(line.command)).into()),
        Err(wrong) => Ok(ChatReply::Wrong(wrong).into()),
    }
}

/// `/todo`, `/schedule` and `/view`: the agenda understands and performs them.
async fn agenda(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    let reply = chat.perform_line(&line.line).await?;
    Ok(match &reply {
        // Many at once are asked about first.
        ChatReply::Agenda(AgendaReply {
            result: Ok(CommandOutcome::Proposed(mark, todos)),
            ..
        }) => {
            let ids: Vec<String> = todos.iter().map(|todo| todo.id.to_string()).collect();
            Reaction::Confirm(format!("/todo {} {}", mark.as_str(), ids.join(" ")))
        }
        _ => Reaction::Reply(reply),
    })
}

async fn cancel(chat: &mut Conversation) -> SlashResult {
    chat.cancel().await.map(Reaction::Reply)
}

async fn inbox(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    let unread = chat.store().agenda().unread_firings(UNREAD_LISTED).await?;
    if line.rest != "read" || unread.is_empty() {
        return Ok(ChatReply::Inbox(unread, InboxChange::Kept).into());
    }
    chat.store().agenda().read_firings(&unread, chat.engine.clock().now()).await?;
    Ok(ChatReply::Inbox(unread, InboxChange::MarkedRead).into())
}

async fn plan(chat: &mut Conversation) -> SlashResult {
    let Some(run) = named_run(chat, "").await? else { return Ok(ChatReply::NoRun.into()) };
    let details = RunDetails::read(&chat.app, chat.store(), &run).await?;
    if details.progress.items.is_empty() {
        let name = &details.row.loop_name;
        let planless =
            (!LoopSpec::named(name).is_some_and(|spec| spec.makes_plan())).then(|| name.clone());
        return Ok(ChatReply::NoPlan { run, planless }.into());
    }
    Ok(ChatReply::Plan(Box::new(details)).into())
}

async fn runs(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    if !matches!(line.rest.as_str(), "" | "list" | "ls") {
        return Ok(ChatReply::Usage(line.command).into());
    }
    let filter = RunFilter { statuses: Vec::new(), before: None, most: RUNS_LISTED };
    let rows = chat.store().runs().list(&filter).await?;
    Ok(if rows.is_empty() { ChatReply::NoRun.into() } else { ChatReply::Runs(rows).into() })
}

/// The run that an id means, or the newest of this conversation.
async fn named_run(chat: &Conversation, id: &str) -> Result<Option<RunId>, AppError> {
    if !id.is_empty() {
        return chat.app.find_run(chat.store(), id).await.map(Some);
    }
    let open = chat.questions.open_runs().await?;
    let open = open.into_iter().map(|(run, _)| run).find(|run| chat.questions.terminals.has(run));
    if open.is_some() {
        return Ok(open);
    }
    let newest = chat.store().conversations().runs_of(&chat.place.id, 1).await?;
    Ok(newest.into_iter().next())
}

/// `/bg`: the run in front works on unwatched. `/bg GOAL`: a new one does.
async fn background(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    if line.rest.is_empty() {
        return Ok(Reaction::Background);
    }
    if chat.choice.model.is_empty() {
        return Ok(ChatReply::NoModel.into());
    }
    Ok(ChatReply::InBackground(
        chat.begin(line.rest.clone(), None, &GoalOptions::default()).await?.run,
    )
    .into())
}

/// `/fork [ID] [WORD]`: the first word is an id if a run has it.
async fn fork(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    let (first, word) = first_word(&line.rest);
    let (id, word) = match chat.app.find_run(chat.store(), first).await {
        // A short word may be the end of some run's id by chance.
        Ok(_) if first.chars().count() >= ID_CHARS_MIN => (first, word),
        _ if first.starts_with("run_") => (first, word),
        _ => ("", line.rest.as_str()),
    };
    let Some(run) = named_run(chat, id).await? else { return Ok(ChatReply::NoRun.into()) };
    let row = chat.store().runs().get(&run).await?;
    // A copy of a good end has nothing to do.
    if word.is_empty() && row.is_some_and(|row| row.status == Status::Succeeded) {
        return Ok(ChatReply::ForkAsks(run).into());
    }
    let approve_all = chat.choice.policy.approve_all;
    let options = ForkOptions { message: word.to_owned(), approve_all, ..ForkOptions::default() };
    let forked = forks::continue_run(&chat.app, &chat.engine, &run, options, None).await?;
    Ok(Reaction::Follow(forked, None))
}

async fn history(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    let most = line.rest.parse().unwrap_or(SAID_LISTED);
    Ok(ChatReply::History(messages(chat, most).await?).into())
}

async fn messages(chat: &Conversation, most: usize) -> Result<Vec<ConversationMessage>, AppError> {
    let most = most.clamp(1, SAID_EXPORTED);
    let mut said = all::messages(chat.store(), &chat.place.id, Some(2 * most)).await?;
    Ok(said.split_off(said.len().saturating_sub(most)))
}

/// `/loop [NAME]`: of the run whose question the person has before them, and of new goals.
async fn choose_loop(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    if line.rest.is_empty() {
        return Ok(ChatReply::Loops.into());
    }
    let Some(open) = chat.questions.seen.clone() else {
        chat.choice.loop_name = frames::loop_name(&line.rest)?;
        return Ok(ChatReply::LoopChosen(chat.choice.loop_name.clone()).into());
    };
    let reply = chat.request_switch(&open.run, &line.rest).await;
    if matches!(&reply, ChatReply::Switch { requested: Ok(_), .. }) {
        chat.questions.clear();
        return Ok(Reaction::Follow(open.run, Some(reply)));
    }
    Ok(reply.into())
}

/// `/model [NAME]`: the one in force with those that its provider offers, or another one from now
/// on.
async fn choose_model(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    if line.rest.is_empty() {
        let name = chat.choice.model.clone();
        if name.is_empty() {
            return Ok(ChatReply::NoModel.into());
        }
        let offered = lists::offered(&chat.app, place::provider(&name)).await;
        return Ok(ChatReply::ModelIs { name, offered }.into());
    }
    let name = frames::model(&chat.app, line.rest.clone())?;
    chat.router.model = model_state(&name);
    chat.choice.model.clone_from(&name);
    let provider = place::provider(&name);
    let offered = lists::offered(&chat.app, provider).await;
    let bare = name.strip_prefix(provider).map_or("", |rest| rest.trim_start_matches('/'));
    let is_unknown = !offered.is_empty() && !offered.iter().any(|one| *one == name || one == bare);
    Ok(ChatReply::ModelChosen { name, others: if is_unknown { offered } else { Vec::new() } }
        .into())
}

fn choose_persona(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    if line.rest.is_empty() {
        return Ok(ChatReply::Personas.into());
    }
    chat.choice.persona = briefing::persona(&chat.app, Some(&line.rest))?.name;
    Ok(ChatReply::PersonaChosen(chat.choice.persona.clone()).into())
}

/// `/image FILE`: an image that goes with the next goal.
fn attach_image(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    if line.rest.is_empty() {
        return Ok(ChatReply::Usage(line.command).into());
    }
    if chat.choice.images.len() >= IMAGES_MAX {
        return Err(ChoiceError::TooManyImages(IMAGES_MAX).into());
    }
    let file = PathBuf::from(&line.rest);
    chat.choice.images.push(briefing::image(&chat.app, &file)?);
    let files = [file.clone()];
    let held = briefing::pictured(&chat.app, &chat.choice.workspace, &files);
    chat.choice.policy.inherited.join(&held);
    Ok(ChatReply::ImageAttached(file, chat.choice.images.len()).into())
}

fn choose_language(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    let Some(lang) = Lang::parse(&line.rest) else {
        return Ok(ChatReply::Usage(line.command).into());
    };
    chat.app.lang = lang;
    Ok(ChatReply::LanguageChosen.into())
}

/// `/export chat|todos|schedule [FILE]`.
async fn export(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    let (name, file) = first_word(&line.rest);
    let text = match (name, PortableContent::parse(name)) {
        ("chat" | "conversation" | "", _) => {
            let said = messages(chat, SAID_EXPORTED).await?;
            if file.is_empty() {
                return Ok(ChatReply::History(said).into());
            }
            history_text(&chat.app, &chat.app.reader_at(None), &said)
        }
        (_, Some(what)) => exchange::export(&chat.app.reader_at(None), chat.store(), what).await?,
        _ => return Ok(ChatReply::Usage(line.command).into()),
    };
    if file.is_empty() {
        return Ok(ChatReply::Exported(text).into());
    }
    exchange::write_new(Path::new(file), &text)?;
    Ok(ChatReply::Written(PathBuf::from(file)).into())
}

/// `/import todos|schedule FILE`.
async fn import(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    let (name, file) = first_word(&line.rest);
    let Some(what) = PortableContent::parse(name).filter(|_| !file.is_empty()) else {
        return Ok(ChatReply::Usage(line.command).into());
    };
    let reader = chat.app.reader_at(None);
    let done = exchange::import(&chat.app, &reader, chat.store(), what, Path::new(file));
    Ok(ChatReply::Imported(done.await?).into())
}

/// The first word of a text, and the rest of it.
fn first_word(text: &str) -> (&str, &str) {
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (first, rest.trim())
}
