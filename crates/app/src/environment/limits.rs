//! What bounds tools, as the settings have it.

use crate::secrets;
use crate::settings::{Millis, Settings};
use everloop_tools::{
    CommandLimits, IndexSetting, Network, SandboxSetting, Setting, ShellLimits, ShellSetting,
    Timeout, TimeoutSetting,
};

/// The indexes of `search_code`, in the folder of the data.
pub(super) fn index_of(settings: &Settings, tools: &Setting) -> Option<IndexSetting> {
    let data = tools.records.as_deref()?.parent()?;
    Some(IndexSetting {
        folder: data.join("index"),
        max_files: settings.index.max_files,
        max_bytes: settings.index.max_bytes.bytes(),
        timeout_ms: settings.index.timeout.ms(),
    })
}

/// What bounds shell commands, and the sandbox around them.
pub(super) fn shell(settings: &Settings) -> ShellSetting {
    ShellSetting {
        limits: ShellLimits {
            timeout_ms: settings.tools.shell_timeout.ms(),
            output_bytes_max: settings.tools.output_max.length(),
            ..ShellLimits::default()
        },
        sandbox: SandboxSetting {
            mode: settings.tools.shell_sandbox,
            network: if settings.tools.shell_network { Network::On } else { Network::Off },
            limits: CommandLimits {
                cpu_s: settings.tools.shell_cpu.ms().div_ceil(1_000),
                memory_bytes: settings.tools.shell_memory.bytes(),
                file_bytes: settings.tools.shell_file_max.bytes(),
                processes: settings.tools.shell_processes,
            },
            readable: settings.tools.shell_readable.clone(),
            git: settings.tools.shell_git,
        },
        rules: settings.shell_rules().to_vec(),
        redact: Some(|text| secrets::redactor().text(text).into_owned()),
    }
}

/// How long a call of a built-in tool may take; 0 for no limit.
#[must_use]
pub fn timeout_ms(settings: &Settings, timeout: Timeout) -> u64 {
    match timeout {
        Timeout::Ms(ms) => ms,
        Timeout::Setting(setting) => setting_timeout(settings, setting).ms(),
    }
}

/// The setting that bounds a tool.
fn setting_timeout(settings: &Settings, setting: TimeoutSetting) -> Millis {
    match setting {
        TimeoutSetting::Shell => settings.tools.shell_timeout,
        TimeoutSetting::Http => settings.tools.http_timeout,
        TimeoutSetting::Fetch => settings.tools.fetch_timeout,
        TimeoutSetting::Search => settings.search.timeout,
        TimeoutSetting::Index => settings.index.timeout,
        TimeoutSetting::Analysis => settings.analysis.timeout,
    }
}
