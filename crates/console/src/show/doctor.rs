//! What the doctor saw, in words.

use crate::failure::{of_notice, provider_hint};
use crate::show::survey::line;
use crate::{Console, trouble};
use everloop_app::AppNotice;
use everloop_app::doctor::{
    CheckState, DoctorCheck, DoctorFinding, DoctorReport, FolderProblem, ModelFinding,
    TerminalFacts, WorkspaceFinding, sandbox_words,
};
use everloop_app::secrets::SecretError;
use everloop_app::settings::SettingError;
use everloop_app::trouble::AdviceFor;
use everloop_store::{Inspection, RunCheck};
use everloop_text::{self as text, Text};
use everloop_tools::SandboxMode;
use everloop_types::LabelGuard;

/// Damaged runs that are named.
const SHOWN_MAX: usize = 10;

/// One check, in words.
pub struct CheckWords {
    /// What was looked at.
    pub title: String,
    /// What was seen.
    pub detail: String,
    /// What to do about it, unless all is well.
    pub advice: Option<String>,
}

impl CheckWords {
    /// The words of one check.
    pub fn of(app: &Console, check: &DoctorCheck) -> Self {
        let (detail, advice) = words(app, check);
        Self { title: app.text(title(check.name)), detail, advice }
    }
}

/// Fields for scripts that are sentences.
pub fn add_fields(app: &Console, report: &mut DoctorReport) {
    let mut fields = Vec::new();
    for check in &report.checks {
        match &check.finding {
            DoctorFinding::ConfigFile { faults, .. } => {
                fields.push(("config_faults", fault_words(app, faults)));
            }
            DoctorFinding::Secrets { missing, .. } => {
                fields.push(("secrets_missing", unresolved(app, missing)));
            }
            _ => {}
        }
    }
    fields.into_iter().for_each(|(name, words)| report.note(name, words));
}

fn title(name: &str) -> Text {
    match name {
        "version" => text::doctor::version(),
        "data_folder" => text::doctor::data_folder(),
        "config_file" => text::doctor::config_file(),
        "database" => text::doctor::database(),
        "journals" => text::doctor::journals(),
        "language" => text::doctor::language(),
        "time_zone" => text::doctor::time_zone(),
        "terminal" => text::doctor::terminal(),
        "providers" => text::doctor::providers(),
        "model" => text::doctor::model(),
        "secrets" => text::doctor::secrets(),
        "git" => text::doctor::git(),
        "bubblewrap" => text::doctor::bubblewrap(),
        "landlock" => text::doctor::landlock(),
        "seccomp" => text::doctor::seccomp(),
        "sandbox" => text::doctor::sandbox(),
        "workspace" => text::doctor::workspace(),
        "label_guard" => text::doctor::label_guard(),
        "mcp" => text::doctor::mcp(),
        _ => text::doctor::clock(),
    }
}

/// What was seen, and what to do about it.
fn words(app: &Console, check: &DoctorCheck) -> (String, Option<String>) {
    let is_good = check.state == CheckState::Good;
    let advised = |text: Text| (!is_good).then(|| app.text(text));
    match &check.finding {
        DoctorFinding::Version(shown) => (shown.clone(), None),
        DoctorFinding::DataFolder { folder, free, problem } => {
            data_folder(app, folder, *free, *problem)
        }
        DoctorFinding::ConfigFile { path, is_read, faults } => {
            let detail = config_file(app, path, *is_read, faults);
            (detail, advised(text::doctor::repair_config()))
        }
        DoctorFinding::NoDatabase(shown) => (app.text(text::doctor::no_database(shown)), None),
        DoctorFinding::Database { shown, seen, driven_by } => {
            let driven = driven_by.as_ref().map(|pid| app.text(text::doctor::driven(pid)));
            let detail = database(app, shown, seen);
            let detail = driven.map_or(detail.clone(), |driven| format!("{detail} {driven}"));
            let advice = match check.state {
                CheckState::WrongData => text::doctor::no_good_database(),
                _ => text::doctor::will_be_upgraded(),
            };
            (detail, advised(advice))
        }
        DoctorFinding::DatabaseUnread { shown, cause } => {
            (format!("{shown}: {cause}"), advised(text::doctor::no_good_database()))
        }
        DoctorFinding::Journals(runs) => journals(app, runs),
        DoctorFinding::JournalsInUse => (app.text(text::doctor::journals_in_use()), None),
        DoctorFinding::JournalsUnread(cause) => {
            (app.text(text::doctor::journals_unread(cause)), None)
        }
        DoctorFinding::Language(name) => ((*name).to_owned(), None),
        DoctorFinding::TimeZone(zone) => (zone.clone(), advised(text::doctor::no_time_zone())),
        DoctorFinding::Terminal(facts) => {
            (terminal(app, *facts), advised(text::doctor::terminal_advice()))
        }
        DoctorFinding::Providers(all) => {
            let lines: Vec<String> = all.iter().map(|provider| line(app, provider)).collect();
            (lines.join("\n    "), None)
        }
        DoctorFinding::Model(finding) => model(app, finding),
        DoctorFinding::Secrets { count, missing } if missing.is_empty() => {
            (app.text(text::doctor::secrets_detail(count)), None)
        }
        DoctorFinding::Secrets { missing, .. } => {
            (missing.len().to_string(), Some(unresolved(app, missing).join("\n")))
        }
        DoctorFinding::Git(version) => {
            let missing = || app.text(text::doctor::missing());
            (version.clone().unwrap_or_else(missing), advised(text::doctor::git_advice()))
        }
        DoctorFinding::Mcp { approved, waiting } => {
            let advice = waiting.first().map(|first| app.text(text::mcp::new_advice(first)));
            (app.text(text::doctor::mcp_count(approved, &waiting.len())), advice)
        }
        DoctorFinding::Clock(shown) => (shown.clone(), advised(text::doctor::clock_advice())),
        other => sandboxing(app, check.name, other, is_good),
    }
}

fn megabytes(bytes: u64) -> String {
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    match mebibytes < 1024.0 {
        true => format!("{mebibytes:.1} MiB"),
        false => format!("{:.1} GiB", mebibytes / 1024.0),
    }
}

fn config_file(
    app: &Console,
    path: &str,
    is_read: bool,
    faults: &[(SettingError, Option<usize>)],
) -> String {
    let words = fault_words(app, faults);
    match (words.is_empty(), is_read) {
        (true, true) => path.to_owned(),
        (true, false) => app.text(text::doctor::no_config_file(&path)),
        (false, _) => format!("{path}: {}", words.join("; ")),
    }
}

fn data_folder(
    app: &Console,
    folder: &str,
    free: Option<u64>,
    problem: Option<FolderProblem>,
) -> (String, Option<String>) {
    let advice = problem.map(|problem| match problem {
        FolderProblem::NotUsable => app.text(text::doctor::data_folder_advice()),
        FolderProblem::DiskFull => app.text(text::doctor::disk_advice()),
    });
    let detail = match free {
        Some(free) if problem != Some(FolderProblem::NotUsable) => {
            app.text(text::doctor::data_folder_detail(&folder, &megabytes(free)))
        }
        _ => folder.to_owned(),
    };
    (detail, advice)
}

fn database(app: &Console, shown: &str, seen: &Inspection) -> String {
    let all: u64 = seen.runs_by_status.iter().map(|(_, count)| count).sum();
    let detail = text::doctor::DatabaseDetail {
        database: &shown,
        engine: &format!("{} {}", seen.engine, seen.version),
        schema: &seen.schema_version,
        size: &megabytes(seen.bytes_on_disk),
        runs: &all,
        open: &everloop_app::copies::open_runs(seen),
        check: &seen.quick_check,
    };
    app.text(detail.text())
}

fn journals(app: &Console, runs: &RunCheck) -> (String, Option<String>) {
    let (checked, left) = (&runs.checked, &runs.left);
    let shown = runs.damaged.iter().take(SHOWN_MAX).map(|run| run.as_str());
    let more = if runs.damaged.len() > SHOWN_MAX { ", …" } else { "" };
    let all = &(shown.collect::<Vec<_>>().join(", ") + more);
    match (runs.damaged.is_empty(), runs.left) {
        (true, 0) => (app.text(text::doctor::journals_detail(checked)), None),
        (true, _) => (app.text(text::doctor::journals_part(checked, left)), None),
        (false, _) => {
            let damaged = text::doctor::JournalsDamaged { all, checked, left };
            (app.text(damaged.text()), Some(app.text(text::doctor::journals_advice())))
        }
    }
}

fn terminal(app: &Console, facts: TerminalFacts) -> String {
    let yes_no = |is| app.text(if is { text::doctor::yes() } else { text::doctor::no() });
    let width = facts.width.map_or_else(|| "-".to_owned(), |width| width.to_string());
    let (utf8, color) = (&yes_no(facts.utf8), &yes_no(facts.color));
    app.text(text::doctor::TerminalDetail { width: &width, utf8, color }.text())
}

fn model(app: &Console, finding: &ModelFinding) -> (String, Option<String>) {
    match finding {
        ModelFinding::None => {
            (app.text(text::doctor::no_model()), Some(app.text(text::doctor::set_up())))
        }
        ModelFinding::Scripted(name) => (name.clone(), None),
        ModelFinding::UnknownProvider(name) => (name.clone(), Some(provider_hint(app, name))),
        ModelFinding::Secret { name, error } => (name.clone(), Some(error.words(app.lang))),
        ModelFinding::NoKey(trouble) => {
            let advice = trouble::words(app, trouble, AdviceFor::Shell);
            (trouble.error.detail.clone(), Some(advice))
        }
        ModelFinding::Unusable(detail) => (detail.clone(), Some(app.text(text::doctor::set_up()))),
        ModelFinding::At { name, url, is_reachable } => match is_reachable {
            None => (app.text(text::doctor::model_not_tried(name, url)), None),
            Some(true) => (app.text(text::doctor::model_reachable(name, url)), None),
            Some(false) => {
                let detail = app.text(text::doctor::model_unreachable(name, url));
                (detail, Some(app.text(text::doctor::model_advice())))
            }
        },
    }
}

/// The secrets that cannot be resolved.
fn unresolved(app: &Console, missing: &[(&'static str, SecretError)]) -> Vec<String> {
    let notice = |(key, error): &(&'static str, SecretError)| {
        of_notice(app.lang, &AppNotice::Secret { key, error: error.clone() }).0
    };
    missing.iter().map(notice).collect()
}

/// What becomes of commands and of private data.
fn sandboxing(
    app: &Console,
    name: &str,
    finding: &DoctorFinding,
    is_good: bool,
) -> (String, Option<String>) {
    let (detail, advice) = match finding {
        DoctorFinding::SandboxPart(found) => {
            let available = || app.text(text::doctor::part_available());
            let detail = match found {
                Ok(version) => version.clone().unwrap_or_else(available),
                Err(why) => why.clone(),
            };
            let advice = match name {
                "bubblewrap" => text::doctor::bubblewrap_advice(),
                "landlock" => text::doctor::landlock_advice(),
                _ => text::doctor::seccomp_advice(),
            };
            (detail, advice)
        }
        DoctorFinding::Sandbox { setting, .. } => {
            let advice = match setting {
                SandboxMode::Require => text::doctor::sandbox_required(),
                _ => text::doctor::sandbox_advice(),
            };
            (sandbox_words(finding, app.lang).unwrap_or_default(), advice)
        }
        DoctorFinding::Workspace { folder, finding } => {
            let (text, advice) = match finding {
                WorkspaceFinding::Bare(why) => {
                    (text::doctor::workspace_bare(folder, why), text::doctor::sandbox_advice())
                }
                WorkspaceFinding::Denied(why) => {
                    (text::doctor::workspace_bare(folder, why), text::doctor::sandbox_required())
                }
                WorkspaceFinding::HoldsHome | WorkspaceFinding::Sandboxed => {
                    (text::doctor::workspace_sandboxed(folder), text::doctor::workspace_home())
                }
            };
            (app.text(text), advice)
        }
        DoctorFinding::LabelGuard(guard) => {
            let text = match guard {
                LabelGuard::Off => text::doctor::label_guard_off(),
                LabelGuard::Deny => text::doctor::label_guard_deny(),
                LabelGuard::Ask => text::doctor::label_guard_ask(),
            };
            (app.text(text), text::doctor::label_guard_advice())
        }
        _ => unreachable!("the others are no part of the sandbox"),
    };
    (detail, (!is_good).then(|| app.text(advice)))
}

/// What is wrong with the settings, with the lines on which it stands.
pub fn fault_words(app: &Console, faults: &[(SettingError, Option<usize>)]) -> Vec<String> {
    let words = |(fault, line): &(SettingError, Option<usize>)| {
        let words = fault.words(app.lang);
        match line {
            Some(line) => app.text(text::config::fault_at(line, &words)),
            None => words,
        }
    };
    faults.iter().map(words).collect()
}
