//! Every setting that exists, with its form and its default.

use super::{Form, Item, Setting};
use Form::{Count, Duration, DurationOrOff, List, Milli, OneOf, Reference, Size, Text, Zone};

const fn setting(key: &'static str, form: Form, default: &'static str) -> Setting {
    Setting { key, form, default }
}

/// Few, because a long list makes models choose badly. `git_push` is left out because it sends.
const TOOLS: &str = "read_file, list_dir, search_code, edit_file, write_file, shell, git_read, \
    git_commit, internet_search, fetch_web, http_get, http_send, send_message, todo, schedule, \
    load_skill, delegate";
/// Where others' files mostly lie.
const UNTRUSTED_PATHS: &str = "**/node_modules/**, **/vendor/**, **/third_party/**, downloads/**";

const MANY: u64 = 1_000_000;

pub const TABLE: &[Setting] = &[
    setting("model.default", Text, ""),
    setting("model.fallback", Text, ""),
    setting("model.fallback_after", Count(1, 100), "3"),
    setting("model.base_url", Text, ""),
    setting("model.key_env", Text, "OPENAI_API_KEY"),
    setting("model.key_file", Text, ""),
    setting("model.key", Reference, ""),
    setting("model.key_command", List(Item::Word), ""),
    setting("secrets.timeout", Duration, "10s"),
    setting("model.temperature", Milli(0, 2_000), "0.7"),
    setting("model.max_tokens", Count(0, MANY), "4096"),
    setting("model.attempts", Count(1, 1_000), "12"),
    setting("model.patience", Duration, "8s"),
    setting("model.connect_timeout", Duration, "5s"),
    setting("model.first_byte_timeout", Duration, "2m"),
    setting("model.idle_timeout", Duration, "1m"),
    setting("model.total_timeout", Duration, "10m"),
    setting("model.reply_max", Size, "8MiB"),
    setting("model.test_timeout", Duration, "60s"),
    setting("model.tool_calls", OneOf(&["auto", "native", "schema", "tagged"]), "auto"),
    setting("loop.default", OneOf(&everloop_loops::LOOPS), "plan-replan"),
    setting("loop.max_steps", Count(0, MANY), "0"),
    setting("loop.max_iterations", Count(0, MANY), "0"),
    setting("loop.contract_retries", Count(0, 100), "2"),
    setting("loop.failure_rounds", Count(1, 100), "2"),
    setting("loop.repeated_questions", Count(1, 100), "2"),
    setting("loop.max_clarifications", Count(0, MANY), "0"),
    setting("loop.repetitions", Count(0, 1_000), "3"),
    setting("loop.calls_per_reply", Count(1, 1_000), "64"),
    setting("loop.preset", OneOf(&["simple", "medium", "complex", "auto"]), "complex"),
    setting("loop.round_time", Duration, "60s"),
    setting("loop.reminders", Count(0, 100), "3"),
    setting("loop.unlisted_work", Count(0, 1_000), "2"),
    setting("loop.idle_list", Count(0, 1_000), "5"),
    setting("loop.item_retries", Count(0, 100), "2"),
    setting("loop.evidence", OneOf(&["on", "off"]), "on"),
    setting("loop.completion_mark", Text, ""),
    setting("budget.model_calls", Count(0, MANY), "500"),
    setting("budget.tool_calls", Count(0, MANY), "1000"),
    setting("budget.tokens", Count(0, u64::MAX), "5000000"),
    setting("budget.work_time", Duration, "6h"),
    setting("budget.money", Milli(0, 1_000_000_000), "0"),
    setting("delegate.max_depth", Count(0, 10), "2"),
    setting("delegate.max_children", Count(0, 1_000), "8"),
    setting("context.tokens", Count(1_000, u64::MAX), "100000"),
    setting("context.observation_chars", Count(100, MANY), "10000"),
    setting("context.observations", Count(2, MANY), "100"),
    setting("tools.enabled", List(Item::Tool), TOOLS),
    setting("context.max_history", Count(0, MANY), "500"),
    setting("context.least_freed", Count(0, 90), "20"),
    setting("context.agents_file", OneOf(&["on", "off"]), "on"),
    setting("context.skills", OneOf(&["on", "off"]), "on"),
    setting("context.memory", OneOf(&["on", "off"]), "on"),
    setting("context.memory_chars", Count(0, 100_000), "6000"),
    setting("context.image_max", Size, "5MiB"),
    setting("persona.default", Text, "default"),
    setting("persona.name", Text, "Everloop"),
    setting("persona.address", Text, ""),
    setting("tools.restrict_to_workspace", OneOf(&["on", "off"]), "on"),
    setting("tools.shell_timeout", Duration, "120s"),
    setting("tools.shell_sandbox", OneOf(&["auto", "require", "off"]), "auto"),
    setting("tools.shell_network", OneOf(&["on", "off"]), "off"),
    setting("tools.shell_git", OneOf(&["read", "write"]), "read"),
    setting("tools.shell_readable", List(Item::Folder), ""),
    setting("tools.shell_cpu", Duration, "10m"),
    setting("tools.shell_memory", Size, "4GiB"),
    setting("tools.shell_file_max", Size, "2GiB"),
    setting("tools.shell_processes", Count(0, MANY), "1024"),
    setting("tools.output_max", Size, "1MiB"),
    setting("tools.max_retries", Count(0, 100), "3"),
    setting("tools.retry_delay", Duration, "1s"),
    setting("tools.label_guard", OneOf(&["ask", "deny", "off"]), "ask"),
    setting("tools.untrusted_paths", List(Item::Pattern), UNTRUSTED_PATHS),
    setting("approvals.unattended", OneOf(&["wait", "deny"]), "wait"),
    setting("store.database", Text, ""),
    setting("tools.fetch_near", List(Item::Host), ""),
    setting("tools.fetch_timeout", Duration, "30s"),
    setting("tools.fetch_max", Size, "2MiB"),
    setting("tools.http_allow", List(Item::Host), ""),
    setting("tools.http_timeout", Duration, "30s"),
    setting("tools.http_key_lifetime", Duration, "0s"),
    setting("tools.channels", List(Item::Channel), ""),
    setting("search.provider", OneOf(&["bing", "duckduckgo", "searxng", "off"]), "bing"),
    setting("search.base_url", Text, ""),
    setting("search.timeout", Duration, "15s"),
    setting("search.top_k", Count(1, 10), "3"),
    setting("mcp.timeout", Duration, "60s"),
    setting("mcp.start_timeout", Duration, "20s"),
    setting("store.keep", Duration, "30d"),
    setting("audit.file", Text, ""),
    setting("worker.runs", Count(1, 10_000), "64"),
    setting("worker.lease", Duration, "30s"),
    setting("schedule.list_back", Duration, "2d"),
    setting("schedule.list_ahead", Duration, "31d"),
    setting("schedule.duration", Duration, "60m"),
    setting("schedule.catch_up", OneOf(&["once", "skip", "all"]), "once"),
    setting("schedule.catch_up_max", Count(1, 100), "10"),
    setting("agenda.default_reminder", DurationOrOff, "0m"),
    setting("chat.cancel_phrase", Text, ""),
    setting("chat.context_turns", Count(0, 1_000), "10"),
    setting("workspaces.trusted", List(Item::Folder), ""),
    setting("ui.language", OneOf(&["auto", "zh-CN", "en"]), "auto"),
    setting("ui.answer_language", OneOf(&["auto", "zh-CN", "en"]), "auto"),
    setting("ui.time_zone", Zone, "auto"),
];

#[cfg(test)]
mod tests {
    use super::TABLE;

    #[test]
    fn both_readmes_tell_of_every_setting() {
        let readmes =
            [include_str!("../../../../README.md"), include_str!("../../../../README.zh-CN.md")];
        for (readme, setting) in readmes.iter().flat_map(|r| TABLE.iter().map(move |s| (r, s))) {
            let row = format!("| `{}` |", setting.key);
            assert!(readme.contains(&row), "{row}");
        }
    }

    #[test]
    fn both_readmes_list_every_provider_with_its_address_and_variables() {
        for (readme, or, none) in [
            (include_str!("../../../../README.md"), " or ", "none needed"),
            (include_str!("../../../../README.zh-CN.md"), " 或 ", "不需要"),
        ] {
            for known in everloop_models::providers() {
                let names = known.key_variables.iter().map(|name| format!("`{name}`"));
                let names = match known.key_variables {
                    [] => none.to_owned(),
                    _ => names.collect::<Vec<_>>().join(or),
                };
                let row = format!("| `{}/` | `{}` | {names} |\n", known.name, known.address);
                assert!(readme.contains(&row), "{row}");
            }
            let rows = readme
                .lines()
                .filter(|line| line.starts_with("| `") && line.contains("/` | `http"));
            assert_eq!(rows.count(), everloop_models::providers().count());
        }
    }
}
