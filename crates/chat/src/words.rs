//! What a conversation says, in words of the person's language.

use super::{placing, replies};
use everloop_agenda::commands::{self, AgendaCommand, TodoCommand};
use everloop_agenda::desk::CommandOutcome;
use everloop_agenda::portable::exchange_words;
use everloop_agenda::show::{self, TextTable, firing_line};
use everloop_app::AppError;
use everloop_app::analysis::preview_words;
use everloop_app::conversation::{
    AgendaReply, ChatReply, Conversation, InboxChange, Leftover, Leftovers, News, NewsElsewhere,
    RunStop, history_text, is_at_limit,
};
use everloop_app::router::OpenQuestion;
use everloop_app::runs::RunDetails;
use everloop_app::settling::SettleReport;
use everloop_app::slash;
use everloop_app::trouble::{AdviceFor, ModelTrouble, final_words};
use everloop_console::show::{
    answering, approval, backed_plan_lines, choices, facts, plan_head, preview, settling,
    summary_line, undoing,
};
use everloop_console::terminal::marks;
use everloop_console::{Console, notices, terminal, trouble};
use everloop_engine::{OpenUnknown, SettleResult};
use everloop_markdown::{StyledLine, Tone};
use everloop_store::{ConversationMessage, Firing, RunRow};
use everloop_text as text;
use everloop_types::{Lang, PlanItem, QuestionKind, RunId, Status};

/// Something to show. Every reply is named here, so that the compiler asks for the words of a new
/// one; those of a kind are together in a function of their own.
pub(super) fn reply(app: &Console, conversation: &Conversation, reply: ChatReply) -> String {
    match reply {
        ChatReply::Empty => app.text(text::door::empty()),
        ChatReply::Wrong(wrong) => show::wrong(&app.reader(), &wrong),
        ChatReply::NothingToCancel => app.text(text::door::nothing_to_cancel()),
        ChatReply::Canceled => app.text(text::door::canceled()),
        ChatReply::NoModel if terminal::answers_are_seen() => trouble::no_model_in_chat(app),
        ChatReply::NoModel => trouble::no_model_line(app),
        ChatReply::Agenda(done) => agenda(app, &done),
        ChatReply::Help(None) => replies::help(app, conversation),
        ChatReply::Help(command) => slash::help_text(command, app.lang),
        ChatReply::HelpCustom(command) => replies::help_custom(app, &command),
        ChatReply::Usage(command) => {
            app.text(text::command::usage(&command.usages(app.lang).join("\n")))
        }
        ChatReply::Inbox(firings, change) => inbox(app, &firings, change),
        ChatReply::Totals(report) => replies::totals(app, &report),
        ChatReply::Memory(file, text) => replies::memory(app, &file, &text),
        ChatReply::Facts(reply) => facts::reply(app, &reply),
        ChatReply::NothingToCopy(part) => replies::nothing_to_copy(app, part),
        ChatReply::Mentions(notes) => replies::mentions(app, &notes),
        ChatReply::Exported(text) => text,
        ChatReply::Written(file) => app.text(text::chat::written(&file.display())),
        ChatReply::Imported(done) => exchange_words(&app.reader(), &done),
        ChatReply::DataPreview(preview) => preview_words(&preview, app.lang),
        ChatReply::WhichScope(_) | ChatReply::HowToEdit(_) | ChatReply::UnclearPermission(_) => {
            answer_words(app, reply)
        }
        ChatReply::ApprovalModeIs(_) | ChatReply::ApprovalModeChosen(_) => answer_words(app, reply),
        ChatReply::UnknownApprovalMode(_) | ChatReply::Answered(_) => answer_words(app, reply),
        ChatReply::AnsweredElsewhere(_) | ChatReply::AlreadyAnswered => answer_words(app, reply),
        ChatReply::Plan(_) | ChatReply::NoPlan { .. } | ChatReply::Runs(_) => run_words(app, reply),
        ChatReply::ForkAsks(_) | ChatReply::NoRun => run_words(app, reply),
        ChatReply::History(_) | ChatReply::InBackground(_) => run_words(app, reply),
        ChatReply::Loops | ChatReply::LoopChosen(_) | ChatReply::Switch { .. } => {
            choice_words(app, conversation, reply)
        }
        ChatReply::ModelIs { .. } | ChatReply::ModelChosen { .. } | ChatReply::LanguageChosen => {
            choice_words(app, conversation, reply)
        }
        ChatReply::Personas | ChatReply::PersonaChosen(_) | ChatReply::ImageAttached(..) => {
            choice_words(app, conversation, reply)
        }
        ChatReply::BeganAnew | ChatReply::BeganAnewAs(_) => choice_words(app, conversation, reply),
        ChatReply::ConversationOpened(..) | ChatReply::FolderGone(..) => {
            placing::reply(app, conversation, reply)
        }
        ChatReply::Conversations(_) | ChatReply::Renamed(_) => {
            placing::reply(app, conversation, reply)
        }
        ChatReply::Changes(_) | ChatReply::Undone(_) | ChatReply::Rewound(_) => {
            undo_words(app, reply)
        }
        ChatReply::NothingToUndo | ChatReply::NothingToRedo => undo_words(app, reply),
        ChatReply::ToSettle(_) | ChatReply::Settled(..) => settle_words(app, reply),
        ChatReply::NothingToSettle | ChatReply::SettleLater => settle_words(app, reply),
        ChatReply::UnclearSettling(..) => settle_words(app, reply),
    }
}

/// The words on runs of the conversation.
fn run_words(app: &Console, reply: ChatReply) -> String {
    match reply {
        ChatReply::Plan(details) => {
            plan(app, &details).iter().map(StyledLine::plain).collect::<Vec<_>>().join("\n")
        }
        ChatReply::NoPlan { planless: Some(name), .. } => app.text(text::chat::planless(&name)),
        ChatReply::NoPlan { run, planless: None } => app.text(text::chat::no_plan(&run.short())),
        ChatReply::ForkAsks(run) => app.text(text::chat::fork_asks(&run.short())),
        ChatReply::NoRun => app.text(text::chat::no_run()),
        ChatReply::Runs(rows) => runs(app, rows),
        ChatReply::History(said) if said.is_empty() => app.text(text::chat::nothing_said()),
        ChatReply::History(said) => history(app, &said),
        ChatReply::InBackground(run) => app.text(text::chat::in_background(&run.short())),
        _ => unreachable!("`reply` sends only runs here"),
    }
}

/// The words on what new goals use.
fn choice_words(app: &Console, conversation: &Conversation, reply: ChatReply) -> String {
    match reply {
        ChatReply::Loops => choices::loop_choices(app, conversation.choice().loop_name()),
        ChatReply::LoopChosen(name) => app.text(text::chat::loop_now(&name)),
        ChatReply::Switch { run, requested, chosen } => switched(app, &run, requested, chosen),
        ChatReply::ModelIs { name, offered } => replies::model_is(app, &name, &offered),
        ChatReply::ModelChosen { name, others } => replies::model_chosen(app, &name, &others),
        ChatReply::Personas => choices::persona_choices(app, conversation.choice().persona()),
        ChatReply::PersonaChosen(name) => app.text(text::persona::now(&name)),
        ChatReply::ImageAttached(file, count) => {
            app.text(text::image::attached(&count, &file.display()))
        }
        ChatReply::LanguageChosen => app.text(text::chat::lang_now()),
        ChatReply::BeganAnew => app.text(text::chat::anew()),
        ChatReply::BeganAnewAs(title) => app.text(text::chat::anew_as(&title)),
        _ => unreachable!("`reply` sends only choices here"),
    }
}

/// The words on calls whose outcome is unknown.
fn settle_words(app: &Console, reply: ChatReply) -> String {
    match reply {
        ChatReply::NothingToSettle => app.text(text::chat::nothing_to_settle()),
        ChatReply::ToSettle(open) => how_to_settle(app, &open),
        ChatReply::UnclearSettling(line, open) => unclear_settling(app, &line, &open),
        ChatReply::SettleLater => app.text(text::chat::settle_later()),
        ChatReply::Settled(report, next) => settled(app, &report, next.as_ref()),
        _ => unreachable!("`reply` sends only settlements here"),
    }
}

fn switched(
    app: &Console,
    run: &RunId,
    requested: Result<String, AppError>,
    chosen: Option<String>,
) -> String {
    let words = match requested {
        Ok(name) => app.text(text::switch::wanted(&name, &run.short())),
        Err(error) => app.fail(error).words,
    };
    let now = chosen.map(|name| app.text(text::chat::loop_now(&name)));
    [Some(words), now].into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// The words on answers to questions, and on `/approve`.
fn answer_words(app: &Console, reply: ChatReply) -> String {
    match reply {
        ChatReply::Answered(meaning) => answering::answered(app, &meaning),
        ChatReply::WhichScope(question) => approval::scope_lines(app, &question),
        ChatReply::HowToEdit(question) => approval::edit_lines(app, &question),
        ChatReply::ApprovalModeIs(mode) => approval::mode_lines(app, mode),
        ChatReply::ApprovalModeChosen(mode) => approval::chosen_lines(app, mode),
        ChatReply::UnknownApprovalMode(name) => approval::unknown_mode(app, &name),
        ChatReply::UnclearPermission(text) => app.text(text::answer::unclear(&text.trim())),
        ChatReply::AnsweredElsewhere(line) => app.text(text::chat::answered_elsewhere(&line)),
        ChatReply::AlreadyAnswered => app.text(text::run::already_answered()),
        _ => unreachable!("`reply` sends only answers here"),
    }
}

/// The words on `/undo` and `/rewind`.
fn undo_words(app: &Console, reply: ChatReply) -> String {
    match reply {
        ChatReply::Undone(reports) => {
            let lines = reports.iter().flat_map(|report| undoing::report_lines(app, report));
            lines.collect::<Vec<_>>().join("\n")
        }
        ChatReply::Changes(changes) => undoing::change_lines(app, &changes).join("\n"),
        ChatReply::NothingToUndo => app.text(text::undo::nothing()),
        ChatReply::NothingToRedo => app.text(text::undo::nothing_to_redo()),
        ChatReply::Rewound(report) => undoing::rewind_words(app, &report),
        _ => unreachable!("`reply` sends only changes here"),
    }
}

/// What a command about todos or the schedule did; its dates are said back first.
fn agenda(app: &Console, done: &AgendaReply) -> String {
    let mut answer = show::answer(&app.reader(), &done.result);
    if matches!(
        done.result,
        Ok(CommandOutcome::TodosDeleted(_) | CommandOutcome::EntriesDeleted(_))
    ) {
        answer.push('\n');
        answer.push_str(&app.text(text::todo::undo_hint(&"/todo undo")));
    }
    let understood =
        done.understood.as_ref().map(|line| app.text(text::command::understood(&line)));
    let reader = app.reader();
    let notes = done.notes.iter().map(|note| show::note(&reader, note));
    let lines = understood.into_iter().chain(notes).chain([answer]);
    lines.collect::<Vec<_>>().join("\n")
}

/// A question as the person reads it.
pub(super) fn question_lines(app: &Console, open: &OpenQuestion) -> Vec<StyledLine> {
    approval::question_lines(app, &open.question, &open.text)
}

/// How a question is to be answered, beside by any words.
pub(super) fn how_to_answer(app: &Console, open: &OpenQuestion) -> String {
    match open.question.kind {
        QuestionKind::Settle => app.text(text::chat::settle()),
        QuestionKind::Ask => app.text(text::ask::later()),
        QuestionKind::Approve => approval::answers_line(app, &open.question),
    }
}

/// The same at a terminal, where it is wrapped between words.
pub(super) fn show_answers(app: &Console, open: &OpenQuestion) {
    terminal::print_styled(&StyledLine::new(Tone::Plain, &how_to_answer(app, open)));
}

/// The question for a command that rules made of a sentence.
pub(super) fn confirmation(app: &Console, command: &str) -> String {
    let reader = app.reader();
    let count = match commands::parse(command, &reader.now) {
        Ok(AgendaCommand::Todo(TodoCommand::Mark(mark, ids))) if ids.len() > 1 => {
            Some(show::proposal_line(&reader, mark, ids.len()))
        }
        _ => None,
    };
    let command = commands::shown(command, &reader.now, reader.lang);
    let asks = app.text(text::rule::understood(&command));
    count.map_or(asks.clone(), |count| format!("{count}\n{asks}"))
}

/// The line that a question still waits, after something else was said.
pub(super) fn reminder_of_question(app: &Console, conversation: &Conversation) -> Option<String> {
    let seen = conversation.questions().seen()?;
    // A question for permission shows the call below its head.
    let shown = if seen.question.kind == QuestionKind::Approve { 2 } else { 1 };
    let lines = question_lines(app, seen);
    let lines: Vec<String> = lines.iter().take(shown).map(StyledLine::plain).collect();
    let question = preview(&lines.join(" "));
    Some(app.text(text::chat::still_open(&question)))
}

fn inbox(app: &Console, unread: &[Firing], change: InboxChange) -> String {
    if unread.is_empty() {
        return app.text(text::inbox::empty());
    }
    let reader = app.reader();
    let mut lines: Vec<String> = unread.iter().map(|row| firing_line(&reader, row)).collect();
    lines.push(match change {
        InboxChange::MarkedRead => app.text(text::inbox::read(&unread.len())),
        InboxChange::Kept => app.text(text::inbox::how_to_read()),
    });
    lines.join("\n")
}

/// The plan of a run, with what stands behind each closed item.
pub(super) fn plan(app: &Console, details: &RunDetails) -> Vec<StyledLine> {
    let mut lines = vec![plan_head(app, &details.progress)];
    lines.extend(backed_plan_lines(app, &details.progress, &marks()));
    let has_entries = |item: &PlanItem| item.evidence.as_ref().is_some_and(|all| !all.is_empty());
    if details.progress.items.iter().any(has_entries) {
        let words = app.text(text::chat::plan_entries(&details.row.run.short()));
        lines.push(StyledLine::new(Tone::Dim, &words));
    }
    lines
}

fn runs(app: &Console, rows: Vec<RunRow>) -> String {
    let reader = app.reader();
    let heads = [
        text::chat::runs::id(),
        text::chat::runs::status(),
        text::chat::runs::r#loop(),
        text::chat::runs::at(),
        text::chat::runs::goal(),
    ];
    let mut table = TextTable::new(heads.map(|head| app.text(head)).to_vec());
    table.may_drop(&[2, 3]);
    for row in rows {
        table.row(vec![
            row.run.short().to_owned(),
            everloop_text::status(app.lang, row.status).to_owned(),
            row.loop_name,
            reader.moment(row.times.created_at),
            preview(&row.goal),
        ]);
    }
    table.show(reader.width)
}

/// The call that a run waits with or has ended with, and how to settle it.
fn how_to_settle(app: &Console, open: &OpenUnknown) -> String {
    format!("{}\n{}", settling::asked_line(app, open), app.text(text::chat::settle()))
}

/// That a line does not say what happened, and how to say it.
fn unclear_settling(app: &Console, line: &str, open: &OpenUnknown) -> String {
    let unclear = app.text(text::answer::unclear_settle(&line));
    format!("{unclear}\n{}", how_to_settle(app, open))
}

fn settled(app: &Console, report: &SettleReport, next: Option<&OpenUnknown>) -> String {
    let mut lines: Vec<String> = settling::probed(app, report).into_iter().collect();
    match &report.settling {
        None => lines.push(app.text(text::chat::settle())),
        Some((_, SettleResult::Answered)) => {}
        Some((settled, settling)) => {
            let run = &report.open.effect.run;
            lines.push(settling::written(app, run, report, *settled, settling));
            lines.extend(next.map(|next| how_to_settle(app, next)));
        }
    }
    lines.join("\n")
}

/// What follows the answer of a run that has ended: its numbers, and what can be done.
pub(super) fn afterword(app: &Console, details: &RunDetails) -> Vec<StyledLine> {
    let trouble = ModelTrouble::of_run(app, details);
    let mut lines = Vec::new();
    lines.extend(
        trouble.iter().map(|trouble| {
            StyledLine::new(Tone::Bad, &trouble::words(app, trouble, AdviceFor::Chat))
        }),
    );
    lines.push(summary_line(app, details));
    let unknown = details.open_unknowns().take(1).map(|open| how_to_settle(app, open));
    lines.extend(unknown.map(|words| StyledLine::new(Tone::Warning, &words)));
    let proposed = facts::proposed_line(app, &details.facts);
    lines.extend(proposed.map(|words| StyledLine::new(Tone::Plain, &words)));
    // Words that say already how to go on are enough. The fixed Chinese ones do not name the two
    // lines that do.
    let says_how = |text: &String| text.contains(&text::limit::next_text().in_lang(Lang::En));
    if is_at_limit(details) && !details.text().as_ref().is_some_and(says_how) {
        lines.push(StyledLine::new(Tone::Plain, &app.text(text::chat::at_limit())));
    }
    // What has done nothing leaves nothing to go on from.
    if details.row.status == Status::Canceled && details.counts.tool_calls > 0 {
        let words = app.text(text::chat::fork_goes_on(&details.row.run.short()));
        lines.push(StyledLine::new(Tone::Dim, &words));
    }
    lines
}

/// The answer of a run that has ended, if it has one.
pub(super) fn last_words(app: &Console, details: &RunDetails) -> Option<String> {
    final_words(details, ModelTrouble::of_run(app, details).as_ref())
}

/// That a run waits for its model.
pub(super) fn model_unavailable(
    app: &Console,
    run: &everloop_types::RunId,
    trouble: Option<&ModelTrouble>,
) -> String {
    let words = trouble.map(|trouble| trouble::words(app, trouble, AdviceFor::Chat));
    app.text(text::chat::model_down(&words.as_deref().unwrap_or_default(), &run.short()))
}

/// That another run continues one that has ended.
pub(super) fn continued(
    app: &Console,
    run: &everloop_types::RunId,
    to: &everloop_types::RunId,
    loop_name: &str,
) -> String {
    app.text(text::switch::Done { id: &run.short(), r#loop: &loop_name, to: &to.short() }.text())
}

/// Shows that a run that nobody looked at has stopped; its answer is laid out as that of any other.
pub(super) fn show_news(app: &Console, news: &News) {
    let run = &news.run;
    let line = match &news.stop {
        RunStop::Ended(details) => return show_end(app, run, details),
        RunStop::Continued { to, loop_name } => continued(app, run, to, loop_name),
        RunStop::Asks(_) => app.text(text::chat::will_ask(&run.short())),
        RunStop::ModelUnavailable(trouble) => model_unavailable(app, run, trouble.as_deref()),
    };
    terminal::print_line(&line);
}

/// Shows what a run does that another terminal has.
pub(super) fn show_news_elsewhere(app: &Console, news: &NewsElsewhere) {
    match news {
        NewsElsewhere::Works { run, goal } => {
            let (id, goal) = (run.short(), preview(goal));
            let words = text::chat::WorksElsewhere { mark: &marks().now, id: &id, goal: &goal };
            terminal::print_line(&app.text(words.text()));
        }
        NewsElsewhere::Stopped(news) => show_news(app, news),
    }
}

fn show_end(app: &Console, run: &RunId, details: &RunDetails) {
    let status = everloop_text::status(app.lang, details.row.status);
    let ended = app.text(text::chat::ended(&run.short(), &status));
    terminal::print_line(&ended);
    notices::call(app, &[ended]);
    let trouble = ModelTrouble::of_run(app, details);
    if let Some(answer) = final_words(details, trouble.as_ref()) {
        terminal::print_markdown(&answer);
    }
    if let Some(trouble) = &trouble {
        let words = trouble::words(app, trouble, AdviceFor::Chat);
        terminal::print_styled(&StyledLine::new(Tone::Bad, &words));
    }
}

/// What earlier processes left: when it was, and a line for each run.
pub(super) fn leftovers(app: &Console, left: &Leftovers) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(left_at) = left.left_at {
        let reader = app.reader();
        let now = reader.now.strftime("%Y-%m-%d %H:%M").to_string();
        let at = reader.moment(left_at);
        lines.push(app.text(text::recovered::head(&at, &now)));
    }
    let mut is_first_queued = true;
    for one in &left.all {
        if matches!(one, Leftover::Queued { .. }) && is_first_queued {
            is_first_queued = false;
            lines.push(app.text(text::left::head()));
        }
        lines.push(leftover(app, one));
    }
    lines
}

fn leftover(app: &Console, one: &Leftover) -> String {
    match one {
        Leftover::Interrupted { run, goal, done, items } if *items > 0 => {
            let (goal, done, all) = (preview(goal), done.to_string(), items.to_string());
            let run = run.short();
            app.text(
                text::recovered::RunAt { id: &run, goal: &goal, done: &done, all: &all }.text(),
            )
        }
        Leftover::Interrupted { run, goal, .. } | Leftover::Queued { run, goal } => {
            app.text(text::recovered::run(&run.short(), &preview(goal)))
        }
        Leftover::Unseen { run, goal } => {
            app.text(text::left::unseen(&run.short(), &preview(goal)))
        }
        Leftover::Quarantined { run, goal } => {
            app.text(text::recovered::put_aside(&run.short(), &preview(goal)))
        }
        Leftover::Elsewhere { goal, folder, conversation, .. } => {
            placing::recovered(app, goal, folder, conversation)
        }
        Leftover::WaitsForModel { run, goal, model, detail } => {
            let (goal, run) = (preview(goal), run.short());
            app.text(
                text::left::Parked { id: &run, goal: &goal, model: &model, detail: &detail }.text(),
            )
        }
    }
}

/// That a conversation was left while runs work on.
pub(super) fn note_working(app: &Console, count: usize) {
    if count > 0 {
        app.note(text::chat::left_open(&count));
    }
}

/// What was said. A person reads the answers laid out, a program as they were written.
pub(crate) fn history(app: &Console, said: &[ConversationMessage]) -> String {
    let laid_out = |one: &ConversationMessage| match one.role.as_str() {
        "user" => one.clone(),
        _ => ConversationMessage { body: terminal::laid_out(&one.body), ..one.clone() },
    };
    let said: Vec<ConversationMessage> = said.iter().map(laid_out).collect();
    history_text(app, &app.reader(), &said)
}
