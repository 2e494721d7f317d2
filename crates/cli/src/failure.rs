//! Errors and notices of the application as sentences and exit codes. The only place that makes
//! them.

use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::trouble::{self, Read};
use everloop_app::context::images::ImageError;
use everloop_app::error::chain;
use everloop_app::frames::is_of_unknown_provider;
use everloop_app::place::{self, Place};
use everloop_app::settings::{SettingError, SettingOrigin};
use everloop_app::show::{call_args, timestamp};
use everloop_app::trouble::ModelTrouble;
use everloop_app::{AppError, Notice};
use everloop_engine::ForkError;
use everloop_loops::{LOOPS, Unknown};
use everloop_models::providers;
use everloop_store::Settlement;
use everloop_types::{Lang, ModelErrorKind, RunId, Settled};
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
pub(crate) fn of(app: &Console, error: AppError) -> Failure {
    let usage = |words| Failure { exit: Exit::Usage, words };
    let configuration = |words| Failure { exit: Exit::Configuration, words };
    match error {
        AppError::NoHome(detail) => configuration(detail),
        AppError::Setting(fault) => of_setting(app.lang, &fault),
        AppError::Store(error) => app.store_failure(&error),
        AppError::Driver(detail) => app.failure(Exit::Data, "error.store", &detail),
        AppError::Home(error) => app.failure(Exit::Data, "error.system", &error),
        AppError::RunNotFound(id) => usage(app.text("run.not_found", &[("id", &id)])),
        AppError::RunAmbiguous { id, all } => {
            let all: Vec<&str> = all.iter().map(RunId::as_str).collect();
            usage(app.text("run.ambiguous", &[("id", &id), ("all", &all.join(", "))]))
        }
        AppError::RunFinished { run, status } => {
            let args = [("id", run.as_str()), ("status", status.as_str())];
            usage(app.text("run.already_finished", &args))
        }
        AppError::UnknownLoop(name) => {
            let (near, all) = (app.near(&name, LOOPS), LOOPS.join(", "));
            usage(app.text("run.no_loop", &[("name", &name), ("near", &near), ("all", &all)]))
        }
        AppError::SameLoop { run, loop_name } => {
            usage(app.text("switch.same", &[("id", run.as_str()), ("loop", &loop_name)]))
        }
        AppError::Workspace { folder, source } => usage(workspace(app, &folder, source.as_ref())),
        AppError::NoModel => configuration(trouble::no_model(app)),
        AppError::Secret(error) => configuration(error.words(app.lang)),
        AppError::UnknownProvider(name) => configuration(provider_hint(app, &name)),
        AppError::Model { name, error } if error.kind == ModelErrorKind::NoKey => {
            let trouble = ModelTrouble::of(app, &name, &error);
            configuration(trouble::words(app, &trouble, Read::InShell))
        }
        AppError::Model { name, error } => {
            let args = [("name", name.as_str()), ("detail", error.detail.as_str())];
            configuration(app.text("model.unusable", &args))
        }
        AppError::UnknownPersona { name, all } => {
            usage(app.text("persona.unknown", &[("name", &name), ("all", &all.join(", "))]))
        }
        AppError::PersonaTool { persona, tool, nearest } => {
            let args = [("name", persona.as_str()), ("tool", &tool), ("nearest", nearest)];
            configuration(app.text("persona.no_tool", &args))
        }
        AppError::TooManyImages(most) => {
            usage(app.text("image.too_many", &[("most", &most.to_string())]))
        }
        AppError::Image { file, most, source } => usage(image(app, &file, most, &source)),
        AppError::NoPrice { model, file } => {
            let file = file.display().to_string();
            configuration(app.text("prices.missing", &[("name", &model), ("file", &file)]))
        }
        AppError::AuditFile { file, source } => {
            configuration(of_file(app, "audit.no_file", &file, &source))
        }
        AppError::Fork { parent, source } => fork(app, &parent, &source),
        AppError::NothingToSettle(run) => {
            usage(app.text("settle.nothing_open", &[("id", run.as_str())]))
        }
        AppError::AlreadySettled { call, first } => {
            let said = first.map_or_else(String::new, |first| settlement(app, &first));
            usage(app.text("settle.already", &[("call", &call), ("said", &said)]))
        }
        AppError::NotWritten { file, source } => {
            usage(of_file(app, "chat.not_written", &file, &source))
        }
        AppError::NotRead { file, source } => {
            usage(of_file(app, "exchange.not_read", &file, &source))
        }
        AppError::FileTooLong(most) => {
            usage(app.text("exchange.too_long", &[("most", &(most >> 20).to_string())]))
        }
    }
}

fn of_file(app: &Console, key: &str, file: &Path, error: &std::io::Error) -> String {
    let (file, detail) = (file.display().to_string(), error.to_string());
    app.text(key, &[("file", &file), ("detail", &detail)])
}

fn workspace(app: &Console, folder: &Path, error: Option<&std::io::Error>) -> String {
    let detail = match error {
        Some(error) => error.to_string(),
        None => app.text("run.not_a_folder", &[]),
    };
    let folder = folder.display().to_string();
    app.text("run.no_workspace", &[("folder", &folder), ("detail", &detail)])
}

/// That nobody knows where the provider of a model is, if that is so.
pub(crate) fn unknown_provider(app: &Console, name: &str) -> Option<String> {
    is_of_unknown_provider(app, name).then(|| provider_hint(app, name))
}

/// That nobody knows where a provider is, and which names are like it.
fn provider_hint(app: &Console, name: &str) -> String {
    let provider = Place::of(&app.settings, name).provider.to_owned();
    let names: Vec<&str> = providers().map(|known| known.name).collect();
    let near = app.near(&provider, names.iter().copied());
    let (all, variable) = (names.join(", "), place::address_variable(&provider));
    let args =
        [("provider", provider.as_str()), ("near", &near), ("all", &all), ("variable", &variable)];
    app.text("model.unknown_provider", &args)
}

fn image(app: &Console, file: &Path, most: u64, error: &ImageError) -> String {
    let key = match error {
        ImageError::Unreadable(_) => "image.unreadable",
        ImageError::NoFile => "image.no_file",
        ImageError::TooLarge { .. } => "image.too_large",
        ImageError::WrongType => "image.wrong_type",
    };
    let (file, detail) = (file.display().to_string(), chain(error));
    let most = most.to_string();
    app.text(key, &[("file", file.as_str()), ("detail", &detail), ("most", &most)])
}

/// Why there is no fork.
pub(crate) fn fork(app: &Console, parent: &RunId, error: &ForkError) -> Failure {
    let id = parent.as_str();
    let (exit, words) = match error {
        ForkError::NoRun(_) => (Exit::Usage, app.text("run.not_found", &[("id", id)])),
        ForkError::NoEntry { at, last } => {
            let (at, last) = (at.to_string(), last.to_string());
            (Exit::Usage, app.text("replay.no_event", &[("seq", &at), ("last", &last)]))
        }
        ForkError::NotWhole(_) => (Exit::Failed, app.text("fork.not_whole", &[("id", id)])),
        ForkError::ChildAtWork(child) => {
            let args = [("id", id), ("child", child.as_str())];
            (Exit::Failed, app.text("fork.child_at_work", &args))
        }
        ForkError::Unsettled(open) => return unsettled(app, parent, open),
        ForkError::Store(error) => return app.store_failure(error),
    };
    Failure { exit, words }
}

/// That calls are to be settled before a fork.
pub(crate) fn unsettled(app: &Console, parent: &RunId, open: &[Unknown]) -> Failure {
    let calls = open.iter().map(|unknown| {
        let place = unknown.effect.place();
        format!("  {place}  {} {}", unknown.call.tool, call_args(&unknown.call.args))
    });
    let calls = calls.collect::<Vec<_>>().join("\n");
    let args = [("id", parent.as_str()), ("calls", calls.as_str())];
    Failure { exit: Exit::Unsettled, words: app.text("fork.unsettled", &args) }
}

/// What somebody said of a call, in words.
pub(crate) fn settlement(app: &Console, settlement: &Settlement) -> String {
    let verdict = verdict(app, settlement.settled);
    let at = timestamp(settlement.at);
    app.text("settle.said", &[("verdict", &verdict), ("by", &settlement.by), ("at", &at)])
}

/// Whether it happened, in words.
pub(crate) fn verdict(app: &Console, settled: Settled) -> String {
    let key = match settled {
        Settled::Happened => "settle.happened",
        Settled::Not => "settle.not",
    };
    app.text(key, &[])
}

/// A notice in words, and whether it is left out where the person wants quiet.
pub(crate) fn of_notice(lang: Lang, notice: &Notice) -> (String, bool) {
    let text = |key: &str, args: &[(&str, &str)]| everloop_text::get(lang, key, args);
    let file_and = |file: &Path, detail: &str, key: &str| {
        text(key, &[("file", &file.display().to_string()), ("detail", detail)])
    };
    match notice {
        Notice::Setting(fault) => (fault.words(lang), false),
        Notice::Prices { file, detail } => (file_and(file, detail, "prices.bad"), true),
        Notice::ZoneWithoutName(zone) => {
            (text("settings.zone_without_name", &[("zone", zone)]), true)
        }
        Notice::Persona { file, detail } => (file_and(file, detail, "persona.bad"), true),
        Notice::Guidance(detail) => (text("context.no_guidance", &[("detail", detail)]), true),
        Notice::Memory(detail) => (text("context.no_memory", &[("detail", detail)]), true),
        Notice::MemoryFull(most) => (text("memory.full", &[("most", &most.to_string())]), false),
        Notice::MemoryNotWritten(detail) => {
            (text("memory.not_written", &[("detail", detail)]), false)
        }
        Notice::Secret { key, error } => {
            let detail = error.words(lang);
            (text("secret.missing", &[("key", key), ("detail", &detail)]), false)
        }
        Notice::AuditNotWritten(file) => {
            (text("audit.not_written", &[("file", &file.display().to_string())]), false)
        }
        Notice::AuditReplaced(file) => {
            (text("audit.replaced", &[("file", &file.display().to_string())]), false)
        }
        Notice::AddressUnused { owner, provider, variable } => {
            let args = [("owner", owner.as_str()), ("provider", provider), ("variable", variable)];
            (text("model.address_unused", &args), false)
        }
        Notice::WorkspaceNotTrusted { mode, folder } => {
            let folder = folder.display().to_string();
            (text("workspace.not_trusted", &[("mode", mode), ("folder", &folder)]), true)
        }
    }
}
