//! What a conversation says, in words of the person's language.

use crate::commands::{loops, personas, settle};
use crate::console::Console;
use crate::show::{backed_plan_lines, plan_head, preview, summary};
use crate::terminal::marks;
use crate::trouble;
use everloop_agenda::commands;
use everloop_agenda::portable::exchange_words;
use everloop_agenda::show::{self, TextTable, firing_line};
use everloop_app::answers::{AlwaysScope, AnswerMeaning};
use everloop_app::conversation::{
    AgendaReply, ChatReply, Conversation, InboxChange, Leftover, Leftovers, News, RunStop,
    history_text, is_at_limit,
};
use everloop_app::router::OpenQuestion;
use everloop_app::runs::RunDetails;
use everloop_app::settling::{SettleReport, SettleWord};
use everloop_app::slash;
use everloop_app::trouble::{AdviceFor, ModelTrouble, final_words};
use everloop_engine::{OpenUnknown, SettleResult};
use everloop_store::{Firing, RunRow};
use everloop_text as text;
use everloop_types::{QuestionKind, Status};

/// Something to show.
pub(super) fn reply(app: &Console, conversation: &Conversation, reply: ChatReply) -> String {
    match reply {
        ChatReply::Empty => app.text(text::door::empty()),
        ChatReply::Wrong(wrong) => show::wrong(&app.reader(), &wrong),
        ChatReply::NothingToSteer => app.text(text::chat::nothing_to_steer()),
        ChatReply::NothingToCancel => app.text(text::door::nothing_to_cancel()),
        ChatReply::Canceled => app.text(text::door::canceled()),
        ChatReply::NoModel => trouble::no_model_line(app),
        ChatReply::Agenda(done) => agenda(app, &done),
        ChatReply::Answered(meaning) => answered(app, &meaning),
        ChatReply::UnclearPermission(text) => app.text(text::answer::unclear(&text.trim())),
        ChatReply::AnsweredElsewhere(line) => app.text(text::chat::answered_elsewhere(&line)),
        ChatReply::AlreadyAnswered => app.text(text::run::already_answered()),
        ChatReply::Help(command) => slash::help_text(command, app.lang),
        ChatReply::Usage(command) => {
            app.text(text::command::usage(&command.usages(app.lang).join("\n")))
        }
        ChatReply::Inbox(firings, change) => inbox(app, &firings, change),
        ChatReply::Plan(details) => plan(app, &details),
        ChatReply::NoPlan(run) => app.text(text::chat::no_plan(&run)),
        ChatReply::NoRun => app.text(text::chat::no_run()),
        ChatReply::Runs(rows) => runs(app, rows),
        ChatReply::History(said) if said.is_empty() => app.text(text::chat::nothing_said()),
        ChatReply::History(said) => history_text(app, &app.reader(), &said),
        ChatReply::Loops => loops::short_list(app, conversation.loop_name()),
        ChatReply::LoopChosen(name) => app.text(text::chat::loop_now(&name)),
        ChatReply::Switch { run, requested, chosen } => {
            let words = match requested {
                Ok(name) => app.text(text::switch::wanted(&name, &run)),
                Err(error) => app.fail(error).words,
            };
            let now = chosen.map(|name| app.text(text::chat::loop_now(&name)));
            [Some(words), now].into_iter().flatten().collect::<Vec<_>>().join("\n")
        }
        ChatReply::ModelIs(name) => app.text(text::chat::model_is(&name)),
        ChatReply::ModelChosen(name) => app.text(text::chat::model_now(&name)),
        ChatReply::Personas => personas::short_list(app, conversation.persona()),
        ChatReply::PersonaChosen(name) => app.text(text::persona::now(&name)),
        ChatReply::ImageAttached(file, count) => {
            let (file, count) = (file.display().to_string(), count.to_string());
            app.text(text::image::attached(&count, &file))
        }
        ChatReply::LanguageChosen => app.text(text::chat::lang_now()),
        ChatReply::BeganAnew => app.text(text::chat::anew()),
        ChatReply::InBackground(run) => app.text(text::chat::in_background(&run)),
        ChatReply::Exported(text) => text,
        ChatReply::Written(file) => app.text(text::chat::written(&file.display())),
        ChatReply::Imported(done) => exchange_words(&app.reader(), &done),
        ChatReply::NothingToSettle => app.text(text::chat::nothing_to_settle()),
        ChatReply::ToSettle(open) => how_to_settle(app, &open),
        ChatReply::UnclearSettling(line, open) => {
            let unclear = app.text(text::answer::unclear_settle(&line));
            format!("{unclear}\n{}", how_to_settle(app, &open))
        }
        ChatReply::SettleLater => app.text(text::chat::settle_later()),
        ChatReply::Settled(report, next) => settled(app, &report, next.as_ref()),
    }
}

/// What a command about todos or the schedule did; its dates are said back first.
fn agenda(app: &Console, done: &AgendaReply) -> String {
    let understood =
        done.understood.as_ref().map(|line| app.text(text::command::understood(&line)));
    let year = done.other_year.map(|year| app.text(text::notice::other_year(&year)));
    let lines = [understood, year, Some(done.answer.clone())];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// How an answer was understood.
pub(crate) fn answered(app: &Console, meaning: &AnswerMeaning) -> String {
    let marks = marks();
    match meaning {
        AnswerMeaning::Words(text) => app.text(text::answer::given(&preview(text))),
        AnswerMeaning::AllowedOnce => app.text(text::answer::once(&marks.done)),
        AnswerMeaning::AllowedAlways(scope) => {
            let key = match scope {
                AlwaysScope::Standing => text::answer::always,
                AlwaysScope::AskedEachTime => text::answer::always_asked,
                AlwaysScope::ThisPlace => text::answer::always_here,
            };
            app.text(key(&marks.done))
        }
        AnswerMeaning::Denied(None) => app.text(text::answer::denied(&marks.skipped)),
        AnswerMeaning::Denied(Some(reason)) => {
            app.text(text::answer::denied_for(&marks.skipped, &reason))
        }
        AnswerMeaning::Settled(word) => {
            let key = match word {
                SettleWord::Happened => text::settle::happened(),
                SettleWord::DidNot => text::settle::not(),
                SettleWord::Probe => text::settle::unsure(),
            };
            app.text(text::answer::given(&app.text(key)))
        }
    }
}

/// How a question is to be answered, beside by any words.
pub(super) fn how_to_answer(app: &Console, open: &OpenQuestion) -> String {
    match open.question.kind {
        QuestionKind::Settle => app.text(text::chat::settle()),
        QuestionKind::Ask => app.text(text::ask::later()),
        QuestionKind::Approve => app.text(text::answer::approve()),
    }
}

/// The question for a command that rules made of a sentence.
pub(super) fn confirmation(app: &Console, command: &str) -> String {
    let reader = app.reader();
    let command = commands::shown(command, &reader.now, reader.lang);
    app.text(text::rule::understood(&command))
}

/// The line that a question still waits, after something else was said.
pub(super) fn reminder_of_question(app: &Console, conversation: &Conversation) -> Option<String> {
    let seen = conversation.questions().seen()?;
    let question = preview(seen.text.lines().next().unwrap_or_default());
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

fn plan(app: &Console, details: &RunDetails) -> String {
    let mut lines = vec![plan_head(app, &details.progress)];
    lines.extend(backed_plan_lines(app, &details.progress, &marks()));
    lines.join("\n")
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
    for row in rows {
        table.row(vec![
            row.run.to_string(),
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
    format!("{}\n{}", settle::line(app, open), app.text(text::chat::settle()))
}

fn settled(app: &Console, report: &SettleReport, next: Option<&OpenUnknown>) -> String {
    let mut lines: Vec<String> = settle::probed(app, report).into_iter().collect();
    match &report.settling {
        None => lines.push(app.text(text::chat::settle())),
        Some((_, SettleResult::Answered)) => {}
        Some((settled, settling)) => {
            let run = &report.open.effect.run;
            lines.push(settle::written(app, run, report, *settled, settling));
            lines.extend(next.map(|next| how_to_settle(app, next)));
        }
    }
    lines.join("\n")
}

/// What follows the answer of a run that has ended: its numbers, and what can be done.
pub(super) fn afterword(app: &Console, details: &RunDetails) -> Vec<String> {
    let trouble = ModelTrouble::of_run(app, details);
    let mut lines: Vec<String> =
        trouble.iter().map(|trouble| trouble::words(app, trouble, AdviceFor::Chat)).collect();
    lines.push(summary(app, details));
    lines.extend(details.open_unknowns().take(1).map(|open| how_to_settle(app, open)));
    if is_at_limit(details) {
        lines.push(app.text(text::chat::at_limit()));
    }
    if details.row.status == Status::Canceled {
        lines.push(app.text(text::chat::fork_goes_on(&details.row.run.as_str())));
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
    app.text(text::chat::model_down(&words.as_deref().unwrap_or_default(), &run))
}

/// That another run continues one that has ended.
pub(super) fn continued(
    app: &Console,
    run: &everloop_types::RunId,
    to: &everloop_types::RunId,
    loop_name: &str,
) -> String {
    app.text(text::switch::Done { id: &run, r#loop: &loop_name, to: &to }.text())
}

/// A run that nobody looked at has stopped.
pub(super) fn news(app: &Console, news: &News) -> String {
    let run = &news.run;
    match &news.stop {
        RunStop::Ended(details) => {
            let status = everloop_text::status(app.lang, details.row.status);
            let ended = app.text(text::chat::ended(&run, &status));
            let trouble = ModelTrouble::of_run(app, details);
            let words = trouble.as_ref().map(|it| trouble::words(app, it, AdviceFor::Chat));
            let lines = [Some(ended), final_words(details, trouble.as_ref()), words];
            lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
        }
        RunStop::Continued { to, loop_name } => continued(app, run, to, loop_name),
        RunStop::Asks(_) => app.text(text::chat::will_ask(&run)),
        RunStop::ModelUnavailable(trouble) => model_unavailable(app, run, trouble.as_deref()),
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
            app.text(
                text::recovered::RunAt { id: &run, goal: &goal, done: &done, all: &all }.text(),
            )
        }
        Leftover::Interrupted { run, goal, .. } | Leftover::Queued { run, goal } => {
            app.text(text::recovered::run(&run, &preview(goal)))
        }
        Leftover::Quarantined { run, goal } => {
            app.text(text::recovered::put_aside(&run, &preview(goal)))
        }
        Leftover::WaitsForModel { run, goal, model, detail } => {
            let goal = preview(goal);
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
