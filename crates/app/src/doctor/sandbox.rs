//! The sandbox around shell commands: each part of it is tried.

use super::machine::version_of;
use super::{CheckState, DoctorFinding, DoctorReport};
use crate::app::App;
use crate::settings::SettingValue;
use everloop_ports::{CallPolicy, UnsandboxedReason};
use everloop_text as text;
use everloop_tools::{SandboxLevel, SandboxMode, SandboxSupport, holds_home, own_program};
use everloop_types::{LabelGuard, Lang};

/// A command that does nothing.
const IDLE: &str = r#"{"command": "true"}"#;

/// What becomes of commands in a folder.
pub enum WorkspaceFinding {
    /// They run in the sandbox.
    Sandboxed,
    /// They run in the sandbox, and the folder holds the home.
    HoldsHome,
    /// They would run without one; why.
    Bare(String),
    /// They do not run, because the settings require a sandbox; why there is none.
    Denied(String),
}

/// How far the sandbox of this machine reaches, and what the settings want.
#[must_use]
pub fn sandbox_here(app: &App) -> DoctorFinding {
    let level = own_program().map(|helper| SandboxSupport::here(&helper).level());
    let (level, setting) = (level.unwrap_or(SandboxLevel::None), app.settings.tools.shell_sandbox);
    DoctorFinding::Sandbox { level, setting }
}

/// The words for it, in a language; nothing for any other finding.
#[must_use]
pub fn sandbox_words(finding: &DoctorFinding, lang: Lang) -> Option<String> {
    let DoctorFinding::Sandbox { level, setting } = finding else { return None };
    let text = match (setting, level) {
        (SandboxMode::Off, _) => text::doctor::sandbox_off(),
        (_, SandboxLevel::Full) => text::doctor::sandbox_full(),
        (_, SandboxLevel::Inner) => text::doctor::sandbox_inner(),
        (_, SandboxLevel::None) => text::doctor::sandbox_none(),
    };
    Some(text.in_lang(lang))
}

impl DoctorReport {
    pub(super) async fn sandbox_parts(&mut self, app: &App) {
        let Some(helper) = own_program() else { return };
        let support = SandboxSupport::here(&helper);
        let version = version_of("bwrap");
        self.note("bubblewrap", version.clone());
        let outer = support.bubblewrap.as_ref().map(|_| version).map_err(Clone::clone);
        self.sandbox_part("bubblewrap", outer);
        self.sandbox_part("landlock", support.landlock.clone().map(|()| None));
        self.sandbox_part("seccomp", support.seccomp.clone().map(|()| None));
        self.sandbox(app, support.level());
        self.workspace(app).await;
        self.label_guard(app);
    }

    fn sandbox_part(&mut self, name: &'static str, found: Result<Option<String>, String>) {
        self.note(&format!("sandbox_{name}"), found.is_ok());
        let state = if found.is_ok() { CheckState::Good } else { CheckState::Missing };
        self.check(name, state, DoctorFinding::SandboxPart(found));
    }

    /// What it means for a command.
    fn sandbox(&mut self, app: &App, level: SandboxLevel) {
        let setting = app.settings.tools.shell_sandbox;
        let is_off = setting == SandboxMode::Off;
        self.note("sandbox", if is_off { "off" } else { level.name() });
        let is_held = !is_off && level != SandboxLevel::None;
        let state = if is_held { CheckState::Good } else { CheckState::Missing };
        self.check("sandbox", state, DoctorFinding::Sandbox { level, setting });
    }

    /// What happens to a command in this folder: what works elsewhere may not work here.
    async fn workspace(&mut self, app: &App) {
        let Ok(folder) = std::env::current_dir() else { return };
        let environment = app.environment(&app.settings);
        let registry = environment.registry(folder.clone(), &app.zone_name(), app.lang);
        let shell = registry.and_then(|registry| registry.get("shell").cloned());
        let Some(shell) = shell else { return };
        let finding = match shell.judge(IDLE).await {
            // The line above has said so.
            CallPolicy::Unsandboxed(UnsandboxedReason::Off) => return,
            CallPolicy::Unsandboxed(UnsandboxedReason::Unavailable(why)) => {
                WorkspaceFinding::Bare(why)
            }
            CallPolicy::Deny(why) => WorkspaceFinding::Denied(why),
            _ if holds_home(&folder) => WorkspaceFinding::HoldsHome,
            _ => WorkspaceFinding::Sandboxed,
        };
        let state = match finding {
            WorkspaceFinding::Sandboxed => CheckState::Good,
            WorkspaceFinding::HoldsHome => CheckState::Note,
            WorkspaceFinding::Bare(_) | WorkspaceFinding::Denied(_) => CheckState::Missing,
        };
        self.note("sandbox_here", state != CheckState::Missing);
        let folder = folder.display().to_string();
        self.check("workspace", state, DoctorFinding::Workspace { folder, finding });
    }

    /// What happens to private data after others' words were read.
    fn label_guard(&mut self, app: &App) {
        let setting = app.settings.tools.label_guard;
        self.note("label_guard", setting.write());
        let is_off = setting == LabelGuard::Off;
        let state = if is_off { CheckState::Note } else { CheckState::Good };
        self.check("label_guard", state, DoctorFinding::LabelGuard(setting));
    }
}
