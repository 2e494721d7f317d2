//! The machine around everloop: folders, language, time, terminal, other programs.

use super::{Check, Report, State};
use crate::console::Console;
use crate::exit::Exit;
use crate::{build, terminal};
use everloop_text as text;
use everloop_tools::{find_program, search_path};
use everloop_types::Lang;
use std::io::IsTerminal;
use std::path::Path;
use std::process::{Command, Stdio};

/// One run's journal may take this much, so less is too little.
const FREE_BYTES_MIN: u64 = 64 << 20;

pub(super) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

pub(super) fn data_folder(app: &Console, report: &mut Report) {
    let folder = app.home.data();
    let shown = folder.display().to_string();
    report.note("data_folder", shown.as_str());
    report.note("data_folder_exists", folder.is_dir());
    // A folder that is missing is made where the nearest one stands.
    let standing = folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    let rights = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    let good =
        |detail: String| Check::good(app, "data_folder", text::doctor::data_folder(), detail);
    let usable = standing.is_dir() && rustix::fs::access(standing, rights).is_ok();
    let free = rustix::fs::statvfs(standing).ok().map(|disk| disk.f_bavail * disk.f_frsize);
    report.note("free_bytes", free);
    let wrong = State::Wrong(Exit::Data);
    let check = match free {
        _ if !usable => good(shown).but(wrong, app.text(text::doctor::data_folder_advice())),
        Some(free) => {
            let check = good(app.text(text::doctor::data_folder_detail(&shown, &megabytes(free))));
            match free < FREE_BYTES_MIN {
                true => check.but(wrong, app.text(text::doctor::disk_advice())),
                false => check,
            }
        }
        None => good(shown),
    };
    report.checks.push(check);
}

pub(super) fn language(app: &Console, report: &mut Report) {
    let name = match app.lang {
        Lang::ZhCn => "zh-CN",
        Lang::En => "en",
    };
    report.note("language", name);
    report.checks.push(Check::good(app, "language", text::doctor::language(), name));
}

pub(super) fn time_zone(app: &Console, report: &mut Report) {
    let good = |detail: &str| Check::good(app, "time_zone", text::doctor::time_zone(), detail);
    let system = jiff::tz::TimeZone::system();
    let check = match (&app.settings.ui.time_zone, system.iana_name()) {
        (None, Some(name)) => good(name),
        (None, None) => good("UTC").but(State::Note, app.text(text::doctor::no_time_zone())),
        (Some(zone), _) => good(zone.as_str()),
    };
    report.note("time_zone", check.detail.as_str());
    report.checks.push(check);
}

pub(super) fn terminal(app: &Console, report: &mut Report) {
    let there = std::io::stdout().is_terminal();
    let width = crossterm::terminal::size().ok().filter(|_| there).map(|(width, _)| width);
    let utf8 = terminal::speaks_utf8();
    let colour = there && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    report.note("terminal", there);
    report.note("terminal_width", width);
    report.note("utf8", utf8);
    report.note("colour", colour);
    let yes_no = |is| app.text(if is { text::doctor::yes() } else { text::doctor::no() });
    let width = width.map_or_else(|| "-".to_owned(), |width| width.to_string());
    let detail = app.text(
        text::doctor::TerminalDetail {
            width: &width,
            utf8: &yes_no(utf8),
            colour: &yes_no(colour),
        }
        .text(),
    );
    let check = Check::good(app, "terminal", text::doctor::terminal(), detail);
    report.checks.push(match utf8 {
        true => check,
        false => check.but(State::Note, app.text(text::doctor::terminal_advice())),
    });
}

/// Programs that everloop can do without, but not as well.
pub(super) fn programs(app: &Console, report: &mut Report) {
    let version = version_of("git");
    report.note("git", version.clone());
    report.checks.push(match version {
        Some(version) => Check::good(app, "git", text::doctor::git(), version),
        None => {
            let missing = app.text(text::doctor::missing());
            let check = Check::good(app, "git", text::doctor::git(), missing);
            check.but(State::Note, app.text(text::doctor::git_advice()))
        }
    });
}

/// The first line that a program says of itself.
pub(super) fn version_of(program: &str) -> Option<String> {
    let mut command = Command::new(find_program(program)?);
    command.env_clear().env("PATH", search_path());
    let output = command.arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then(|| text.lines().next().unwrap_or_default().to_owned())
}

/// A clock that stands before this program was written is wrong, and schedules go wrong with it.
pub(super) fn clock(app: &Console, report: &mut Report) {
    let now = jiff::Zoned::now();
    let shown = now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
    report.note("now", shown.as_str());
    let check = Check::good(app, "clock", text::doctor::clock(), shown);
    let built = build::DATE.parse::<jiff::civil::Date>().ok();
    // A day is left for time zones.
    let early = built.and_then(|date| date.yesterday().ok()).is_some_and(|day| now.date() < day);
    report.checks.push(match early {
        true => {
            check.but(State::Wrong(Exit::Configuration), app.text(text::doctor::clock_advice()))
        }
        false => check,
    });
}
