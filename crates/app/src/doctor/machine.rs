//! The machine around everloop: folders, language, time, terminal, other programs.

use super::{CheckState, DoctorFinding, DoctorReport};
use crate::app::App;
use everloop_tools::{find_program, search_path};
use std::path::Path;
use std::process::{Command, Stdio};

/// One run's journal may take this much, so less is too little.
const FREE_BYTES_MIN: u64 = 64 << 20;

/// What a surface knows of its own build.
#[derive(Debug, Clone, Copy)]
pub struct BuildFacts {
    /// Version, and the commit and date where the build knew them.
    pub version: &'static str,
    /// The commit, empty where the build did not know it.
    pub commit: &'static str,
    /// The date of the commit, empty where the build did not know it.
    pub date: &'static str,
}

/// What a surface knows of its terminal.
#[derive(Debug, Clone, Copy)]
pub struct TerminalFacts {
    /// Whether the output is one.
    pub is_there: bool,
    /// Its width, if it is there.
    pub width: Option<u16>,
    /// Whether it shows UTF-8.
    pub utf8: bool,
    /// Whether colors are used.
    pub color: bool,
}

/// What is wrong with the folder of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderProblem {
    /// It is not a folder, or nothing can be written there.
    NotUsable,
    /// The disk is full.
    DiskFull,
}

impl DoctorReport {
    pub(super) fn data_folder(&mut self, app: &App) {
        let folder = app.home.data();
        let shown = folder.display().to_string();
        self.note("data_folder", shown.as_str());
        self.note("data_folder_exists", folder.is_dir());
        // A folder that is missing is made where the nearest one stands.
        let standing = folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
        let rights = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        let usable = standing.is_dir() && rustix::fs::access(standing, rights).is_ok();
        let free = rustix::fs::statvfs(standing).ok().map(|disk| disk.f_bavail * disk.f_frsize);
        self.note("free_bytes", free);
        let problem = if !usable {
            Some(FolderProblem::NotUsable)
        } else {
            free.filter(|free| *free < FREE_BYTES_MIN).map(|_| FolderProblem::DiskFull)
        };
        let state = problem.map_or(CheckState::Good, |_| CheckState::WrongData);
        let finding = DoctorFinding::DataFolder { folder: shown, free, problem };
        self.check("data_folder", state, finding);
    }

    pub(super) fn language(&mut self, app: &App) {
        let name = app.lang.tag();
        self.note("language", name);
        self.good("language", DoctorFinding::Language(name));
    }

    pub(super) fn time_zone(&mut self, app: &App) {
        let system = jiff::tz::TimeZone::system();
        let (state, zone) = match (&app.settings.ui.time_zone, system.iana_name()) {
            (None, Some(name)) => (CheckState::Good, name.to_owned()),
            (None, None) => (CheckState::Note, "UTC".to_owned()),
            (Some(zone), _) => (CheckState::Good, zone.as_str().to_owned()),
        };
        self.note("time_zone", zone.as_str());
        self.check("time_zone", state, DoctorFinding::TimeZone(zone));
    }

    pub(super) fn terminal(&mut self, terminal: TerminalFacts) {
        self.note("terminal", terminal.is_there);
        self.note("terminal_width", terminal.width);
        self.note("utf8", terminal.utf8);
        self.note("color", terminal.color);
        let state = if terminal.utf8 { CheckState::Good } else { CheckState::Note };
        self.check("terminal", state, DoctorFinding::Terminal(terminal));
    }

    /// A program that everloop can do without, but not as well.
    pub(super) fn git(&mut self) {
        let version = version_of("git");
        self.note("git", version.clone());
        let state = version.as_ref().map_or(CheckState::Note, |_| CheckState::Good);
        self.check("git", state, DoctorFinding::Git(version));
    }

    /// A clock that stands before this program was written is wrong, and schedules go wrong with
    /// it.
    pub(super) fn clock(&mut self, built: &str) {
        let now = jiff::Zoned::now();
        let shown = now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
        self.note("now", shown.as_str());
        let built = built.parse::<jiff::civil::Date>().ok();
        // A day is left for time zones.
        let day = built.and_then(|date| date.yesterday().ok());
        let is_early = day.is_some_and(|day| now.date() < day);
        let state = if is_early { CheckState::WrongSetting } else { CheckState::Good };
        self.check("clock", state, DoctorFinding::Clock(shown));
    }
}

/// The first line that a program says of itself.
pub(super) fn version_of(program: &str) -> Option<String> {
    let mut command = Command::new(find_program(program)?);
    command.env_clear().env("PATH", search_path());
    let output = command.arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then(|| text.lines().next().unwrap_or_default().to_owned())
}
