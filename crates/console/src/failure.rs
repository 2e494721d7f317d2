//! Errors and notices of the application as sentences and exit codes. The only place that makes
//! them.

mod copies;
mod facts;

use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::show::mention::mention;
use crate::show::{answering, conversations, settling};
use crate::trouble;
use everloop_app::answers::AnswerError;
use everloop_app::config::ConfigError;
use everloop_app::context::images::ImageError;
use everloop_app::conversations::TitleError;
use everloop_app::error::{RetryError, SettlingError, UndoError, chain};
use everloop_app::place::{self, ModelPlace};
use everloop_app::rehearsal::RehearsalError;
use everloop_app::secrets::kept::KeptSecretError;
use everloop_app::settings::{SettingError, SettingOrigin};
use everloop_app::setup::provider_called;
use everloop_app::show::call_args;
use everloop_app::trouble::{AdviceFor, ModelTrouble};
use everloop_app::{
    AppError, AppNotice, ChoiceError, ConversationError, FileError, ModelChoiceError, RunError,
};
use everloop_engine::{DriveError, ForkError};
use everloop_loops::{LOOPS, UnknownEffect};
use everloop_models::providers;
use everloop_text::{self as text, Text};
use everloop_types::{Lang, ModelErrorKind, RunId, Status};
use std::path::Path;

/// A setting that cannot be used.
pub(crate) fn of_setting(lang: Lang, fault: &SettingError) -> Failure {
    let exit = match fault.origin {
        SettingOrigin::Flag => Exit::Usage,
        _ => Exit::Configuration,
    };
    Failure { exit, words: fault.words(lang) }
}

/// Any error of the application.
pub fn of(app: &Console, error: AppError) -> Failure {
    match error {
        AppError::Home(error) => app.failure(Exit::Data, text::error::system(&error)),
        AppError::Setting(error) => of_setting(app.lang, &error),
        AppError::Store(error) => app.store_failure(&error),
        AppError::Run(error) => of_run(app, &error),
        AppError::Model(error) => of_model(app, &error),
        AppError::Choice(error) => of_choice(app, &error),
        AppError::Conversation(error) => of_conversation(app, &error),
        AppError::File(error) => of_file(app, error),
        AppError::Config(error) => of_config(app, &error),
        AppError::Copy(error) => copies::of_copy(app, &error),
    }
}

/// Why nothing was done with a conversation.
fn of_conversation(app: &Console, error: &ConversationError) -> Failure {
    let (exit, text) = match error {
        ConversationError::NotFound(words) => (Exit::Usage, text::conversations::not_found(words)),
        ConversationError::Ambiguous { words, all } => {
            let all = conversations::table(app, all);
            (Exit::Usage, text::conversations::ambiguous(words, &all))
        }
        ConversationError::RequestId(most) => (Exit::Usage, text::turns::request_id(most)),
        ConversationError::BadTitle(most) => (Exit::Usage, text::conversations::bad_title(most)),
        ConversationError::InUse(title) => (Exit::Failed, text::conversations::in_use(title)),
        ConversationError::Working { title, run } => {
            (Exit::Failed, text::conversations::working(title, &run.short()))
        }
        ConversationError::Fact(error) => return facts::of_fact(app, error),
        ConversationError::NoMessage(id) => (Exit::Usage, text::search::no_message(id)),
        ConversationError::NoTitle(error) => {
            let cause = match error {
                TitleError::NoAnswer => app.text(text::search::no_answer_yet()),
                TitleError::TooSlow(ms) => app.text(text::search::title_too_slow(ms)),
                TitleError::Empty => app.text(text::search::title_empty()),
                TitleError::Model(error) => error.detail.clone(),
            };
            (Exit::Failed, text::search::no_title(&cause))
        }
    };
    app.failure(exit, text)
}

/// Why the settings were not changed.
fn of_config(app: &Console, error: &ConfigError) -> Failure {
    let path = app.sources.path.display();
    let (exit, text) = match error {
        ConfigError::Setting(fault) => {
            return Failure { exit: Exit::Usage, words: fault.words(app.lang) };
        }
        ConfigError::ValueIsKey => (Exit::Usage, text::config::is_a_key()),
        ConfigError::UnknownDatabase => (Exit::Usage, text::settings::no_such_database()),
        ConfigError::NotEditable(error) => {
            (Exit::Configuration, text::config::cannot_change(&path, error))
        }
        ConfigError::NotWritten(detail) => {
            (Exit::Configuration, text::config::unwritable(&path, detail))
        }
        ConfigError::KeyNotKept { file, source } => {
            (Exit::Configuration, text::setup::key_not_kept(&file.display(), source))
        }
    };
    app.failure(exit, text)
}

/// Why a secret was not kept or removed.
fn of_secret(app: &Console, error: KeptSecretError) -> Failure {
    match error {
        KeptSecretError::Keychain(error) => {
            Failure { exit: Exit::Failed, words: error.words(app.lang) }
        }
        KeptSecretError::NotWritten { folder, source } => {
            app.failure(Exit::Failed, text::secrets::unwritten(&folder.display(), &source))
        }
        KeptSecretError::NotThere(name) => {
            app.failure(Exit::Usage, text::secrets::not_there(&name))
        }
    }
}

/// Why the reminders cannot be rehearsed.
pub fn of_rehearsal(app: &Console, error: &RehearsalError) -> Failure {
    let text = match error {
        RehearsalError::Backwards(value) => text::simulate::backwards(value),
        RehearsalError::NotNumbers(value) => text::simulate::no_number(value),
        RehearsalError::NotRange(value) => text::simulate::no_range(value),
        RehearsalError::NotDate(value) => text::command::not_a_date(value),
        RehearsalError::Store(error) => return app.store_failure(error),
        RehearsalError::BrokenOff(why) => {
            return app.failure(Exit::Failed, text::simulate::broken_off(&why));
        }
    };
    app.failure(Exit::Usage, text)
}

/// Why a run was not answered.
pub fn of_answer(app: &Console, run: &RunId, error: AnswerError) -> Failure {
    let text = match error {
        AnswerError::Empty => text::run::empty_answer(&run.short()),
        AnswerError::AsksNothing => text::run::asks_nothing(&run.short()),
        AnswerError::OtherQuestion(asked) => text::run::other_question(&asked),
        AnswerError::Unclear { question, text } => {
            return Failure { exit: Exit::Usage, words: answering::unclear(app, &question, &text) };
        }
        AnswerError::App(error) => return of(app, error),
    };
    app.failure(Exit::Usage, text)
}

fn of_run(app: &Console, error: &RunError) -> Failure {
    let text = match error {
        RunError::NotFound(id) => text::run::not_found(id),
        RunError::Ambiguous { id, all } => {
            let all: Vec<&str> = all.iter().map(RunId::as_str).collect();
            text::run::ambiguous(id, &all.join(", "))
        }
        RunError::Finished { run, status } => text::run::already_finished(&run.short(), status),
        RunError::Type(error) => error.text(),
        RunError::Retry(error) => match error {
            RetryError::NotOver { run, status } => text::tasks::not_over(&run.short(), status),
            RetryError::NotWhole(run) => text::tasks::not_whole(&run.short()),
            RetryError::IsTask(run) => text::tasks::is_task(&run.short()),
        },
        RunError::Undo(UndoError::StillWorking(run)) => text::undo::still_working(&run.short()),
        RunError::Undo(UndoError::Imported(run)) => text::undo::imported(&run.short()),
        RunError::SameLoop { run, loop_name } => text::switch::same(loop_name, &run.short()),
        RunError::Fork { parent, source } => return fork(app, parent, source),
        RunError::Drive { run, source } => return drive(app, run, source),
        RunError::Settle(error) => of_settling(app, error),
    };
    app.failure(Exit::Usage, text)
}

fn of_settling(app: &Console, error: &SettlingError) -> Text {
    match error {
        SettlingError::UnknownCall { run, call } => text::settle::no_such(&run.short(), call),
        SettlingError::Several { run, calls } => {
            let lines: Vec<String> = calls.iter().map(|open| settling::line(app, open)).collect();
            let (count, all) = (&calls.len(), &lines.join("\n"));
            text::settle::Several { id: &run.short(), count, all }.text()
        }
        SettlingError::Nothing(run) => text::settle::nothing_open(&run.short()),
        SettlingError::AlreadySettled { call, first } => {
            let said =
                first.as_ref().map_or_else(String::new, |first| settling::settlement(app, first));
            text::settle::already(call, &said)
        }
    }
}

fn of_model(app: &Console, error: &ModelChoiceError) -> Failure {
    let words = match error {
        ModelChoiceError::NoModel => trouble::no_model(app),
        ModelChoiceError::NoModelName(name) => app.text(text::model::no_model_name(name)),
        ModelChoiceError::Secret(error) => error.words(app.lang),
        ModelChoiceError::UnknownProvider(name) => provider_hint(app, name),
        ModelChoiceError::Unusable { name, error } if error.kind == ModelErrorKind::NoKey => {
            trouble::words(app, &ModelTrouble::of(app, name, error), AdviceFor::Shell)
        }
        ModelChoiceError::Unusable { name, error } => {
            app.text(text::model::unusable(name, &error.detail))
        }
        ModelChoiceError::NotConnected(error) => app.text(text::error::system(&error.detail)),
        ModelChoiceError::NoPrice { model, file } => {
            app.text(text::prices::missing(&file.display(), model))
        }
    };
    Failure { exit: Exit::Configuration, words }
}

fn of_choice(app: &Console, error: &ChoiceError) -> Failure {
    let exit = match error {
        ChoiceError::PersonaTool { .. } => Exit::Configuration,
        _ => Exit::Usage,
    };
    let words = match error {
        ChoiceError::UnknownLoop(name) => {
            let near = app.near(name, LOOPS);
            let all = LOOPS.join(", ");
            app.text(text::run::NoLoop { name, near: &near, all: &all }.text())
        }
        ChoiceError::Workspace { folder, source } => workspace(app, folder, source.as_ref()),
        ChoiceError::UnknownPersona { name, all } => {
            app.text(text::persona::unknown(name, &all.join(", ")))
        }
        ChoiceError::UnknownApproval(id) => app.text(text::approvals::not_found(id)),
        ChoiceError::UnknownStatus(name) => {
            let all = Status::ALL.map(Status::as_str).join(", ");
            app.text(text::runs::no_status(name, &all))
        }
        ChoiceError::UnknownSkill { name, all } => {
            app.text(text::skills::unknown(name, &all.join(", ")))
        }
        ChoiceError::PersonaTool { persona, tool, nearest } => {
            app.text(text::persona::NoTool { name: persona, tool, nearest }.text())
        }
        ChoiceError::UnknownTool { name, nearest } => app.text(text::tools::no_such(name, nearest)),
        ChoiceError::TooManyImages(most) => app.text(text::image::too_many(most)),
        ChoiceError::Image { file, most, source } => image(app, file, *most, source),
    };
    Failure { exit, words }
}

fn of_file(app: &Console, error: FileError) -> Failure {
    let (exit, text) = match error {
        FileError::Audit { file, source } => {
            (Exit::Configuration, text::audit::no_file(&file.display(), &source))
        }
        FileError::Log { file, source } => {
            (Exit::Configuration, text::log::no_file(&file.display(), &source))
        }
        FileError::NotWritten { file, source } => {
            (Exit::Usage, text::chat::not_written(&file.display(), &source))
        }
        FileError::NotRead { file, source } => {
            (Exit::Usage, text::exchange::not_read(&file.display(), &source))
        }
        FileError::BrokenOff(error) => (Exit::Failed, text::error::system(&error)),
        FileError::KeptSecret(error) => return of_secret(app, error),
        FileError::TooLong(most) => (Exit::Usage, text::exchange::too_long(&(most >> 20))),
    };
    app.failure(exit, text)
}

fn workspace(app: &Console, folder: &Path, error: Option<&std::io::Error>) -> String {
    let detail = match error {
        Some(error) => error.to_string(),
        None => app.text(text::run::not_a_folder()),
    };
    let folder = folder.display().to_string();
    app.text(text::run::no_workspace(&folder, &detail))
}

/// That nobody knows where a provider is, and which names are like it.
pub fn provider_hint(app: &Console, name: &str) -> String {
    let provider = ModelPlace::of(&app.settings, name).provider.to_owned();
    let names: Vec<&str> = providers().map(|known| known.name).collect();
    let near = match provider_called(&provider) {
        Some(known) => app.text(text::near::hint(&format!("{known}/…"))),
        None => app.near(&provider, names.iter().copied()),
    };
    let all = names.join(", ");
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if !provider.chars().all(is_name) {
        let (provider, near, all) = (&provider, &near, &all);
        return app.text(text::model::StrangeProvider { provider, near, all }.text());
    }
    let variable = place::address_variable(&provider);
    app.text(
        text::model::UnknownProvider {
            provider: &provider,
            near: &near,
            all: &all,
            variable: &variable,
        }
        .text(),
    )
}

fn image(app: &Console, file: &Path, most: u64, error: &ImageError) -> String {
    let file = file.display();
    app.text(match error {
        ImageError::Unreadable(_) => text::image::unreadable(&file, &chain(error)),
        ImageError::NoFile => text::image::no_file(&file),
        ImageError::TooLarge { .. } => text::image::too_large(&file, &most),
        ImageError::WrongType => text::image::wrong_type(&file),
    })
}

/// Why a run could not be driven any further.
fn drive(app: &Console, run: &RunId, error: &DriveError) -> Failure {
    let text = match error {
        DriveError::Quarantined { .. } => text::run::put_aside,
        _ => text::run::stopped,
    };
    app.failure(Exit::Data, text(&run.short(), &chain(error)))
}

/// Why there is no fork.
pub fn fork(app: &Console, parent: &RunId, error: &ForkError) -> Failure {
    let id = parent.as_str();
    let (exit, words) = match error {
        ForkError::NoRun(_) => (Exit::Usage, app.text(text::run::not_found(&id))),
        ForkError::NoEntry { at, last } => {
            let (at, last) = (at.to_string(), last.to_string());
            (Exit::Usage, app.text(text::replay::no_event(&at, &last)))
        }
        ForkError::NotWhole(_) => (Exit::Failed, app.text(text::fork::not_whole(&id))),
        ForkError::ChildAtWork(child) => {
            (Exit::Failed, app.text(text::fork::child_at_work(&id, &child)))
        }
        ForkError::Unsettled(open) => return unsettled(app, parent, open),
        ForkError::Store(error) => return app.store_failure(error),
    };
    Failure { exit, words }
}

/// That calls are to be settled before a fork.
pub fn unsettled(app: &Console, parent: &RunId, open: &[UnknownEffect]) -> Failure {
    let calls = open.iter().map(|unknown| {
        let place = unknown.effect.place();
        format!("  {place}  {} {}", unknown.call.tool, call_args(&unknown.call.args))
    });
    let calls = calls.collect::<Vec<_>>().join("\n");
    Failure { exit: Exit::Unsettled, words: app.text(text::fork::unsettled(&parent, &calls)) }
}

/// A notice in words, and whether it is left out where the person wants quiet.
pub fn of_notice(lang: Lang, notice: &AppNotice) -> (String, bool) {
    let text = |text: Text| text.in_lang(lang);
    match notice {
        AppNotice::Setting(fault) => (fault.words(lang), false),
        AppNotice::Prices { file, detail } => {
            (text(text::prices::bad(&file.display(), detail)), true)
        }
        AppNotice::ZoneWithoutName(zone) => (text(text::settings::zone_without_name(&zone)), true),
        AppNotice::Persona { file, detail } => {
            (text(text::persona::bad(&file.display(), detail)), true)
        }
        AppNotice::Guidance(detail) => (text(text::context::no_guidance(&detail)), true),
        AppNotice::Memory(detail) => (text(text::context::no_memory(&detail)), true),
        AppNotice::MemoryFull(most) => (text(text::memory::full(&most)), false),
        AppNotice::MemoryNotWritten(detail) => (text(text::memory::not_written(&detail)), false),
        AppNotice::Secret { key, error } => {
            let detail = error.words(lang);
            (text(text::secret::missing(&key, &detail)), false)
        }
        AppNotice::AuditNotWritten(file) => {
            (text(text::audit::not_written(&file.display())), false)
        }
        AppNotice::AuditReplaced(file) => (text(text::audit::replaced(&file.display())), false),
        AppNotice::AddressUnused { owner, provider, variable } => (
            text(
                text::model::AddressUnused {
                    owner: &owner,
                    provider: &provider,
                    variable: &variable,
                }
                .text(),
            ),
            false,
        ),
        AppNotice::Mention(note) => (mention(lang, note), note.is_good()),
        AppNotice::WorkspaceNotTrusted { mode, folder } => {
            let folder = folder.display().to_string();
            (text(text::workspace::not_trusted(&mode, &folder)), true)
        }
    }
}
