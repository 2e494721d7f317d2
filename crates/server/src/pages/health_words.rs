//! What the doctor saw, as a page says it.

use everloop_app::doctor::{
    CheckState, DoctorCheck, DoctorFinding, FolderProblem, ModelFinding, WorkspaceFinding,
    sandbox_words,
};
use everloop_text::{self as text, Text};
use everloop_types::Lang;

/// A check in words: its name, what was seen, what mends it.
pub(super) struct HealthWords {
    pub(super) state: &'static str,
    pub(super) name: String,
    pub(super) seen: String,
    pub(super) advice: Option<String>,
}

impl HealthWords {
    /// The words; nothing for what only a terminal has.
    pub(super) fn of(lang: Lang, check: &DoctorCheck) -> Option<Self> {
        let say = |text: Text| text.in_lang(lang);
        let (seen, advice) = words(lang, &check.finding)?;
        let is_good = check.state == CheckState::Good;
        Some(Self {
            state: match check.state {
                CheckState::Good => "succeeded",
                CheckState::Note | CheckState::Missing => "unsettled",
                CheckState::WrongSetting | CheckState::WrongData => "failed",
            },
            name: say(title(check.name)?),
            seen,
            advice: advice.filter(|_| !is_good).map(say),
        })
    }
}

fn title(name: &str) -> Option<Text> {
    Some(match name {
        "version" => text::doctor::version(),
        "data_folder" => text::doctor::data_folder(),
        "config_file" => text::doctor::config_file(),
        "database" => text::doctor::database(),
        "journals" => text::doctor::journals(),
        "time_zone" => text::doctor::time_zone(),
        "model" => text::doctor::model(),
        "secrets" => text::doctor::secrets(),
        "git" => text::doctor::git(),
        "bubblewrap" => text::doctor::bubblewrap(),
        "landlock" => text::doctor::landlock(),
        "seccomp" => text::doctor::seccomp(),
        "sandbox" => text::doctor::sandbox(),
        "workspace" => text::doctor::workspace(),
        "mcp" => text::doctor::mcp(),
        "clock" => text::doctor::clock(),
        _ => return None,
    })
}

fn megabytes(bytes: u64) -> String {
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    match mebibytes < 1024.0 {
        true => format!("{mebibytes:.1} MiB"),
        false => format!("{:.1} GiB", mebibytes / 1024.0),
    }
}

fn words(lang: Lang, finding: &DoctorFinding) -> Option<(String, Option<Text>)> {
    let say = |text: Text| text.in_lang(lang);
    Some(match finding {
        DoctorFinding::JournalsInUse => (say(text::doctor::journals_in_use()), None),
        DoctorFinding::Version(shown) => (shown.clone(), None),
        DoctorFinding::DataFolder { .. }
        | DoctorFinding::ConfigFile { .. }
        | DoctorFinding::NoDatabase(_)
        | DoctorFinding::Database { .. }
        | DoctorFinding::DatabaseUnread { .. }
        | DoctorFinding::Journals(_)
        | DoctorFinding::JournalsUnread(_) => return data_words(lang, finding),
        DoctorFinding::TimeZone(zone) => (zone.clone(), Some(text::doctor::no_time_zone())),
        DoctorFinding::Model(finding) => model(lang, finding),
        DoctorFinding::Secrets { count, missing } => {
            let missing =
                missing.iter().map(|(key, error)| format!("{key}: {}", error.words(lang)));
            let missing: Vec<String> = missing.collect();
            match missing.is_empty() {
                true => (say(text::doctor::secrets_detail(count)), None),
                false => (missing.join("; "), None),
            }
        }
        DoctorFinding::Git(version) => {
            let missing = || say(text::doctor::missing());
            (version.clone().unwrap_or_else(missing), Some(text::doctor::git_advice()))
        }
        DoctorFinding::SandboxPart(found) => {
            let available = || say(text::doctor::part_available());
            let detail = match found {
                Ok(version) => version.clone().unwrap_or_else(available),
                Err(why) => why.clone(),
            };
            (detail, None)
        }
        DoctorFinding::Sandbox { .. } => {
            (sandbox_words(finding, lang)?, Some(text::doctor::sandbox_advice()))
        }
        DoctorFinding::Workspace { folder, finding } => {
            let detail = match finding {
                WorkspaceFinding::Bare(why) | WorkspaceFinding::Denied(why) => {
                    text::doctor::workspace_bare(folder, why)
                }
                WorkspaceFinding::HoldsHome | WorkspaceFinding::Sandboxed => {
                    text::doctor::workspace_sandboxed(folder)
                }
            };
            (say(detail), None)
        }
        DoctorFinding::Mcp { approved, waiting } => {
            (say(text::doctor::mcp_count(approved, &waiting.len())), None)
        }
        DoctorFinding::Clock(shown) => (shown.clone(), Some(text::doctor::clock_advice())),
        DoctorFinding::Language(_)
        | DoctorFinding::Terminal(_)
        | DoctorFinding::Providers(_)
        | DoctorFinding::LabelGuard(_) => return None,
    })
}

/// What was found about the data folder, the settings file and the database.
fn data_words(lang: Lang, finding: &DoctorFinding) -> Option<(String, Option<Text>)> {
    let say = |text: Text| text.in_lang(lang);
    Some(match finding {
        DoctorFinding::DataFolder { folder, free, problem } => {
            let advice = problem.map(|problem| match problem {
                FolderProblem::NotUsable => text::doctor::data_folder_advice(),
                FolderProblem::DiskFull => text::doctor::disk_advice(),
            });
            let detail =
                free.map(|free| say(text::doctor::data_folder_detail(folder, &megabytes(free))));
            (detail.unwrap_or_else(|| folder.clone()), advice)
        }
        DoctorFinding::ConfigFile { path, is_read, faults } => {
            let faults: Vec<String> = faults.iter().map(|(fault, _)| fault.words(lang)).collect();
            let detail = match (faults.is_empty(), is_read) {
                (true, true) => path.clone(),
                (true, false) => say(text::doctor::no_config_file(path)),
                (false, _) => format!("{path}: {}", faults.join("; ")),
            };
            (detail, Some(text::doctor::repair_config()))
        }
        DoctorFinding::NoDatabase(shown) => (say(text::doctor::no_database(shown)), None),
        DoctorFinding::Database { shown, seen, .. } => {
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
            (say(detail.text()), Some(text::doctor::no_good_database()))
        }
        DoctorFinding::DatabaseUnread { shown, cause } => {
            (format!("{shown}: {cause}"), Some(text::doctor::no_good_database()))
        }
        DoctorFinding::Journals(runs) if runs.damaged.is_empty() => {
            let (checked, left) = (&runs.checked, &runs.left);
            let detail = match runs.left {
                0 => text::doctor::journals_detail(checked),
                _ => text::doctor::journals_part(checked, left),
            };
            (say(detail), None)
        }
        DoctorFinding::Journals(runs) => {
            let all: Vec<String> = runs.damaged.iter().map(ToString::to_string).collect();
            let (all, checked, left) = (&all.join(", "), &runs.checked, &runs.left);
            let damaged = text::doctor::JournalsDamaged { all, checked, left };
            (say(damaged.text()), Some(text::doctor::journals_advice()))
        }
        DoctorFinding::JournalsUnread(cause) => (say(text::doctor::journals_unread(cause)), None),
        _ => return None,
    })
}

fn model(lang: Lang, finding: &ModelFinding) -> (String, Option<Text>) {
    let say = |text: Text| text.in_lang(lang);
    match finding {
        ModelFinding::None => (say(text::doctor::no_model()), None),
        ModelFinding::Scripted(name) | ModelFinding::UnknownProvider(name) => (name.clone(), None),
        ModelFinding::Secret { name, error } => (format!("{name}: {}", error.words(lang)), None),
        ModelFinding::NoKey(trouble) => (trouble.message(lang), None),
        ModelFinding::Unusable(detail) => (detail.clone(), None),
        ModelFinding::At { name, url, is_reachable } => match is_reachable {
            None => (say(text::doctor::model_not_tried(name, url)), None),
            Some(true) => (say(text::doctor::model_reachable(name, url)), None),
            Some(false) => {
                let advice = text::doctor::model_advice();
                (say(text::doctor::model_unreachable(name, url)), Some(advice))
            }
        },
    }
}
