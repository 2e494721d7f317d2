//! Every setting that exists, with its form and its default.

use super::{Form, Item, Setting};
use Form::{Count, Duration, List, Milli, OneOf, Size, Text, Zone};

const fn setting(key: &'static str, form: Form, default: &'static str) -> Setting {
    Setting { key, form, default }
}

const MANY: u64 = 1_000_000;

pub(crate) const TABLE: &[Setting] = &[
    setting("model.default", Text, ""),
    setting("model.base_url", Text, ""),
    setting("model.key_env", Text, "OPENAI_API_KEY"),
    setting("model.key_file", Text, ""),
    setting("model.temperature", Milli(0, 2_000), "0.7"),
    setting("model.max_tokens", Count(0, MANY), "4096"),
    setting("model.attempts", Count(1, 1_000), "12"),
    setting("model.patience", Duration, "8s"),
    setting("model.connect_timeout", Duration, "5s"),
    setting("model.first_byte_timeout", Duration, "2m"),
    setting("model.idle_timeout", Duration, "1m"),
    setting("model.total_timeout", Duration, "10m"),
    setting("model.reply_max", Size, "8MiB"),
    setting("loop.default", OneOf(&everloop_loops::LOOPS), "plan-replan"),
    setting("loop.max_steps", Count(0, MANY), "0"),
    setting("loop.max_iterations", Count(0, MANY), "0"),
    setting("loop.contract_retries", Count(0, 100), "2"),
    setting("loop.failure_rounds", Count(1, 100), "2"),
    setting("loop.repeated_questions", Count(1, 100), "2"),
    setting("loop.max_clarifications", Count(0, MANY), "0"),
    setting("loop.repetitions", Count(0, 1_000), "3"),
    setting("loop.calls_per_reply", Count(1, 1_000), "64"),
    setting("budget.model_calls", Count(0, MANY), "500"),
    setting("budget.tool_calls", Count(0, MANY), "1000"),
    setting("budget.tokens", Count(0, u64::MAX), "5000000"),
    setting("budget.work_time", Duration, "6h"),
    setting("context.tokens", Count(1_000, u64::MAX), "100000"),
    setting("context.observation_chars", Count(100, MANY), "10000"),
    setting("context.observations", Count(2, MANY), "100"),
    setting("tools.shell_timeout", Duration, "120s"),
    setting("tools.output_max", Size, "1MiB"),
    setting("store.database", Text, ""),
    setting("tools.http_allow", List(Item::Host), ""),
    setting("tools.http_timeout", Duration, "30s"),
    setting("tools.http_key_lifetime", Duration, "0s"),
    setting("tools.channels", List(Item::Channel), ""),
    setting("search.provider", OneOf(&["bing", "duckduckgo", "searxng", "off"]), "bing"),
    setting("search.base_url", Text, ""),
    setting("search.timeout", Duration, "15s"),
    setting("search.top_k", Count(1, 10), "3"),
    setting("store.keep", Duration, "30d"),
    setting("worker.runs", Count(1, 10_000), "64"),
    setting("worker.lease", Duration, "30s"),
    setting("schedule.list_back", Duration, "2d"),
    setting("schedule.list_ahead", Duration, "31d"),
    setting("schedule.duration", Duration, "60m"),
    setting("schedule.catch_up", OneOf(&["once", "skip", "all"]), "once"),
    setting("schedule.catch_up_max", Count(1, 100), "10"),
    setting("chat.cancel_phrase", Text, ""),
    setting("chat.context_turns", Count(0, 1_000), "10"),
    setting("ui.language", OneOf(&["auto", "zh-CN", "en"]), "auto"),
    setting("ui.answer_language", OneOf(&["auto", "zh-CN", "en"]), "auto"),
    setting("ui.time_zone", Zone, "auto"),
];
