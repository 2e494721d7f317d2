//! The inbox: what needs a person, what is unread, what runs, what failed.

use super::asks::{is_about, is_settled_since};
use super::chat::run_title;
use super::firings::{firing_state, firing_words};
use super::forms::FormFields;
use super::frame::PageRequest;
use super::inbox_groups::{GROUP_MAX, RunPiece, listed_group, run_group, runs_before};
use super::respond::{page, see_other};
use crate::problem::Problem;
use crate::state::ServerState;
use axum::extract::{Query, State};
use axum::response::Response;
use everloop_app::conversations::{self, ListedConversation, short_id};
use everloop_app::interrupts::OpenInterrupt;
use everloop_app::scheduling;
use everloop_engine::OpenUnknown;
use everloop_pages::ask::{ApprovalCard, AskCard, AskKind};
use everloop_pages::inbox::{
    self as view, FiringMark, InboxAction, InboxGroup, InboxRow, InboxView, ScheduleFold,
};
use everloop_pages::layout::NavPlace;
use everloop_pages::parts::{say, status_words};
use everloop_store::RunRow;
use everloop_text::pages as words;
use everloop_text::{self as text, Text};
use everloop_types::{
    ApprovalCause, ApprovalRequest, ApprovalScope, CallPreview, QuestionKind, RunId, Status,
    visible_call,
};
use serde::Deserialize;
use std::collections::BTreeSet;

/// Firings of a schedule that are drawn.
const STRIP_MAX: usize = 14;

/// Firings of a schedule whose runs are not listed on their own.
const FIRINGS_MAX: usize = 60;

/// The part that is wanted.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct InboxParams {
    #[serde(default)]
    part: String,
    /// The question that is shown whole.
    #[serde(default)]
    open: String,
    /// Where the part goes on: a number, or the last run of the page before.
    #[serde(default)]
    from: String,
}

/// A question as a card.
pub(crate) async fn ask_card(
    request: &PageRequest,
    state: &ServerState,
    open: &OpenInterrupt,
) -> Result<AskCard, Problem> {
    let question = &open.question;
    let row = state.store().runs().get(&question.run).await?;
    let kind = match question.question.kind {
        QuestionKind::Ask => AskKind::Question,
        QuestionKind::Approve => AskKind::Approval,
        QuestionKind::Settle => AskKind::Settle,
    };
    let asked = question.question.request.as_deref();
    let own = match (kind, asked) {
        (AskKind::Settle, _) => settle_words(request, state, open).await?,
        (_, Some(asked)) => say(request.lang(), asks(asked)),
        (_, None) => question.text.clone(),
    };
    let (text, choices) = match kind {
        AskKind::Question => with_choices(&own),
        AskKind::Approval | AskKind::Settle => (own, Vec::new()),
    };
    Ok(AskCard {
        id: open.question.id(),
        run: question.run.to_string(),
        short_run: short_id(question.run.as_str()).to_owned(),
        kind,
        text,
        choices,
        request: asked.map(|asked| approval(request, asked, &question.question.text)),
        when: row.map(|row| request.short_time(row.times.updated_at)).unwrap_or_default(),
        conversation: None,
        is_aside: false,
    })
}

/// What is asked about a call whose outcome is unknown, in the reader's language.
async fn settle_words(
    request: &PageRequest,
    state: &ServerState,
    open: &OpenInterrupt,
) -> Result<String, Problem> {
    let question = &open.question;
    let unknown = state.engine().open_unknowns(&question.run).await?;
    let is_it = |call: &OpenUnknown| is_about(&question.question.id, call);
    let Some(unknown) = unknown.into_iter().find(is_it) else { return Ok(question.text.clone()) };
    let (tool, args) = (&unknown.call.tool, visible_call(&unknown.call.args));
    Ok(say(request.lang(), text::settle::question(tool, &args)))
}

/// A question and the answers that it ends with: lines that are numbered from 1, as `ask_user`
/// writes them.
pub(super) fn with_choices(text: &str) -> (String, Vec<String>) {
    let lines: Vec<&str> = text.lines().collect();
    let is_first = |line: &&str| line.starts_with("1. ");
    let Some(from) = lines.iter().rposition(is_first).filter(|from| *from > 0) else {
        return (text.to_owned(), Vec::new());
    };
    let choices: Option<Vec<String>> = lines[from..]
        .iter()
        .zip(1..)
        .map(|(line, number)| Some(line.strip_prefix(&format!("{number}. "))?.to_owned()))
        .collect();
    match choices.filter(|choices| (2..=9).contains(&choices.len())) {
        Some(choices) => (lines[..from].join("\n"), choices),
        None => (text.to_owned(), Vec::new()),
    }
}

/// What is to be approved, in the reader's language: the journal has that of the run.
fn asks(asked: &ApprovalRequest) -> Text {
    match &asked.preview {
        CallPreview::Command { .. } => text::approval::command(),
        CallPreview::FileChange { path, is_new: true, .. } => text::approval::new_file(path),
        CallPreview::FileChange { path, .. } => text::approval::change_file(path),
        CallPreview::Call => text::approval::call(&asked.tool),
    }
}

fn approval(request: &PageRequest, asked: &ApprovalRequest, arguments: &str) -> ApprovalCard {
    let lang = request.lang();
    let (shown, diff, command) = match &asked.preview {
        CallPreview::Call => (arguments.to_owned(), Vec::new(), None),
        CallPreview::Command { command, .. } => {
            (command.clone(), Vec::new(), Some(command.clone()))
        }
        CallPreview::FileChange { path, diff, .. } => {
            (path.clone(), diff.lines().map(str::to_owned).collect(), None)
        }
    };
    let editable = asked.editable.as_ref().map(|name| {
        let value = serde_json::from_str::<serde_json::Value>(arguments).ok();
        let value = value.and_then(|value| value[name.as_str()].as_str().map(str::to_owned));
        command.or(value).unwrap_or_default()
    });
    let covered =
        |scope: &ApprovalScope| say(lang, words::ask::always_for(&say(lang, of(asked, scope))));
    let scopes = asked.scopes.iter().map(|scope| (scope.word().to_owned(), covered(scope)));
    ApprovalCard {
        tool: asked.tool.clone(),
        folder: asked.folder.clone(),
        cause: say(lang, cause(&asked.cause)),
        shown,
        diff,
        scopes: scopes.collect(),
        editable,
    }
}

/// What a scope covers, in the words of the terminal.
fn of(asked: &ApprovalRequest, scope: &ApprovalScope) -> Text {
    let tool = &asked.tool;
    match scope {
        ApprovalScope::Exact { resource } => match (resource.split_once(':'), &asked.preview) {
            (Some(("path", path)), _) => text::approval::scope_path(tool, &path),
            (Some(("host", host)), _) => text::approval::scope_host(tool, &host),
            (_, CallPreview::Command { .. }) => text::approval::scope_command(),
            _ => text::approval::scope_call(tool),
        },
        ApprovalScope::Prefix { pattern } => text::approval::scope_prefix(pattern),
        ApprovalScope::Conversation => text::approval::scope_conversation(tool),
        ApprovalScope::Place { place } => text::approval::scope_place(place),
    }
}

fn cause(cause: &ApprovalCause) -> Text {
    match cause {
        ApprovalCause::Tool => words::ask::cause::tool(),
        ApprovalCause::Rule { rule } => words::ask::cause::rule(rule),
        ApprovalCause::SensitiveFile => words::ask::cause::sensitive(),
        ApprovalCause::Labels { place, .. } => words::ask::cause::labels(place),
        ApprovalCause::Unsandboxed { .. } => words::ask::cause::unsandboxed(),
        ApprovalCause::Unclear { part } => words::ask::cause::unclear(part),
    }
}

fn row(request: &PageRequest, row: &RunRow) -> InboxRow {
    let lang = request.lang();
    let (verb, name, done) = match row.status.is_final() {
        true => ("retry", words::inbox::retry(), words::done::retried()),
        false => ("cancel", words::inbox::cancel(), words::done::canceled()),
    };
    let status = status_words(row.status, lang);
    let line = match (row.quarantine_reason(), row.times.wake_at) {
        (Some(reason), _) => format!("{status} · {reason}"),
        (None, Some(at)) if row.status == Status::Waiting => {
            let until = say(lang, words::chat::waits_until(&request.short_time(at)));
            format!("{until} · {}", row.loop_name)
        }
        (None, _) => format!("{status} · {}", row.loop_name),
    };
    InboxRow {
        to: format!("/runs/{}", row.run),
        title: run_title(row),
        state: row.status.as_str(),
        when: request.short_time(row.times.updated_at),
        line,
        actions: vec![InboxAction {
            to: format!("/do/runs/{}/{verb}", row.run),
            name: say(lang, name),
            done: say(lang, done),
            undo: None,
            key: None,
        }],
        is_open: false,
    }
}

async fn schedules(
    request: &PageRequest,
    state: &ServerState,
) -> Result<(Vec<ScheduleFold>, BTreeSet<RunId>), Problem> {
    let (mut folds, mut runs) = (Vec::new(), BTreeSet::new());
    for entry in scheduling::run_schedules(state.store()).await? {
        let mut firings = scheduling::firings(state.store(), entry.id, FIRINGS_MAX).await?;
        runs.extend(firings.iter().filter_map(|firing| firing.run.clone()));
        firings.truncate(STRIP_MAX);
        let Some(last) = firings.first() else { continue };
        let when = request.short_time(last.due_at);
        let line = words::inbox::schedule_line(&firings.len(), &when);
        let strip = firings.iter().rev().map(|firing| {
            let to = firing.run.as_ref().map(|run| format!("/runs/{run}"));
            let when = request.short_time(firing.due_at);
            FiringMark {
                state: firing_state(firing),
                words: format!("{when} {}", firing_words(request, firing)),
                to: to.unwrap_or_else(|| "/agenda".to_owned()),
            }
        });
        folds.push(ScheduleFold {
            title: entry.said.title.clone(),
            strip: strip.collect(),
            line: say(request.lang(), line),
            state: firing_state(last),
        });
    }
    Ok((folds, runs))
}

/// A question in the list; the whole of it is beside the list.
fn needs_row(card: &AskCard, place: &str, is_open: bool) -> InboxRow {
    let title = card.conversation.as_ref().map(|(_, title)| title);
    let title = title.filter(|title| !title.is_empty()).unwrap_or(&card.short_run);
    let first = card.text.lines().next().unwrap_or_default();
    let shown = card.request.as_ref().and_then(|request| request.shown.lines().next());
    InboxRow {
        to: format!("/inbox?part={place}&open={}#card-{}", card.id, card.id),
        title: title.clone(),
        state: if card.kind == AskKind::Settle { "unsettled" } else { "you" },
        when: card.when.clone(),
        line: shown.map_or_else(|| first.to_owned(), |shown| format!("{first} {shown}")),
        actions: Vec::new(),
        is_open,
    }
}

fn unread_row(request: &PageRequest, one: &ListedConversation) -> InboxRow {
    let (lang, id) = (request.lang(), &one.row.id);
    InboxRow {
        to: format!("/chat/{id}"),
        title: one.title(),
        state: "unread",
        when: request.short_time(one.row.updated_at),
        line: say(lang, words::inbox::unread_count(&one.row.counts.unread)),
        actions: vec![InboxAction {
            to: format!("/do/chat/{id}/read"),
            name: say(lang, words::inbox::mark_read()),
            done: say(lang, words::done::read()),
            undo: Some(format!("/do/chat/{id}/unread")),
            key: Some("u"),
        }],
        is_open: false,
    }
}

pub(super) async fn conversation_title(
    state: &ServerState,
    ask: &OpenInterrupt,
) -> Result<Option<String>, Problem> {
    let row = state.store().conversations().get(&ask.conversation).await?;
    Ok(row.map(|row| ListedConversation::new(row).title()))
}

/// A question as a card that says where it was asked.
async fn placed_card(
    request: &PageRequest,
    state: &ServerState,
    ask: &OpenInterrupt,
) -> Result<AskCard, Problem> {
    let mut card = ask_card(request, state, ask).await?;
    let title = conversation_title(state, ask).await?;
    card.conversation = title.map(|title| (ask.conversation.to_string(), title));
    Ok(card)
}

/// The questions, and the one that is shown whole.
async fn asked(
    request: &PageRequest,
    state: &ServerState,
    asks: &[OpenInterrupt],
    part: &str,
    params: &InboxParams,
) -> Result<(InboxGroup, Option<AskCard>), Problem> {
    let from = if part == "needs" { params.from.parse::<usize>().unwrap_or(0) } else { 0 };
    let place = if from > 0 { format!("{part}&from={from}") } else { part.to_owned() };
    let chosen = asks.iter().find(|ask| ask.question.id() == params.open).or(asks.get(from));
    let chosen = match chosen {
        Some(ask) => Some(placed_card(request, state, ask).await?),
        None => None,
    };
    let chosen_id = chosen.as_ref().map(|card| card.id.as_str());
    let mut needs = Vec::new();
    for ask in asks.iter().skip(from).take(GROUP_MAX) {
        let card = placed_card(request, state, ask).await?;
        needs.push(needs_row(&card, &place, chosen_id == Some(&card.id)));
    }
    Ok((listed_group("needs", from, asks.len(), needs), chosen))
}

pub(crate) async fn show(
    State(state): State<ServerState>,
    Query(params): Query<InboxParams>,
    request: PageRequest,
) -> Result<Response, Problem> {
    let lang = request.lang();
    let (frame, asks) =
        request.frame(&state, NavPlace::Inbox, say(lang, words::nav::inbox())).await?;
    let all = conversations::unread(&state.app, state.store()).await?;
    let all: Vec<_> =
        all.into_iter().filter(|one| one.row.channel != scheduling::CHANNEL).collect();
    let known = ["needs", "unread", "running", "failed"];
    let part = known.into_iter().find(|part| *part == params.part).unwrap_or("all");
    let (folds, scheduled) = schedules(&request, &state).await?;
    let asking = |run: &RunRow| asks.iter().any(|ask| ask.question.run == run.run);
    let alone = |run: &RunRow| !scheduled.contains(&run.run) && !asking(run);
    let running = [Status::Running, Status::Queued, Status::Waiting];
    let failed = [Status::Failed, Status::Unsettled, Status::Quarantined];
    // Only the part that is chosen can be turned over.
    let from = |name: &str| if part == name { params.from.as_str() } else { "" };
    let before = |name: &str| Some(from(name)).filter(|id| !id.is_empty()).map(RunId::new);
    let running = runs_before(&state, &running, before("running"), alone).await?;
    let failed = runs_before(&state, &failed, before("failed"), alone).await?;
    let failed = without_settled(&state, failed).await?;
    let shown = |run: &RunRow| row(&request, run);
    let (needs, open) = asked(&request, &state, &asks, part, &params).await?;
    // Beside a list of something else the request of another list says nothing.
    let open = open.filter(|_| matches!(part, "all" | "needs"));
    let first = from("unread").parse::<usize>().unwrap_or(0);
    let unread = all.iter().skip(first).take(GROUP_MAX).map(|one| unread_row(&request, one));
    let inbox = InboxView {
        part: part.to_owned(),
        needs,
        open,
        unread: listed_group("unread", first, all.len(), unread.collect()),
        running: run_group("running", &running, shown),
        failed: run_group("failed", &failed, shown),
        schedules: folds,
        told: state.flashes.get(request.session_name(), "inbox"),
    };
    Ok(page(view::view(&frame, &inbox)))
}

/// Without the runs of which every call is settled by now: nothing is left to do about them.
async fn without_settled(state: &ServerState, mut piece: RunPiece) -> Result<RunPiece, Problem> {
    let mut kept = Vec::new();
    for row in std::mem::take(&mut piece.runs) {
        if !is_settled_since(state, &row).await? {
            kept.push(row);
        }
    }
    piece.runs = kept;
    Ok(piece)
}

pub(crate) async fn read_all(
    State(state): State<ServerState>,
    fields: FormFields,
) -> Result<Response, Problem> {
    for one in conversations::unread(&state.app, state.store()).await? {
        conversations::mark_read(state.store(), &one.row.id, None).await?;
    }
    Ok(see_other(fields.back()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_always_covers_is_said_in_words_and_not_as_a_resource() {
        let asked = |preview| ApprovalRequest {
            tool: "shell".to_owned(),
            folder: "/work".to_owned(),
            cause: ApprovalCause::Tool,
            preview,
            scopes: Vec::new(),
            editable: None,
        };
        let exact = |resource: &str| ApprovalScope::Exact { resource: resource.to_owned() };
        let said = |preview, scope| say(everloop_types::Lang::En, of(&asked(preview), &scope));
        let command = CallPreview::Command {
            command: "mail a".to_owned(),
            sandboxed: true,
            network: false,
            pattern: None,
        };
        let whole = said(command, exact("args:{\"command\":\"mail a\"}"));
        assert_eq!(whole, "exactly this command, in this folder");
        let path = said(CallPreview::Call, exact("path:notes.md"));
        assert_eq!(path, "shell on notes.md, with any content, in this folder");
        let call = said(CallPreview::Call, exact("args:{}"));
        assert_eq!(call, "shell with exactly these arguments, in this folder");
    }

    #[test]
    fn the_answers_that_a_question_ends_with_can_be_chosen() {
        let (text, choices) = with_choices("Which one?\n1. red\n2. green");
        assert_eq!((text.as_str(), choices.len()), ("Which one?", 2));
        for plain in ["Which one?", "1. red\n2. green", "What?\n1. only", "A\n1. b\nthen?"] {
            assert_eq!(with_choices(plain), (plain.to_owned(), Vec::new()));
        }
    }
}
