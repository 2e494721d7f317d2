//! Every setting: its name, its type, its default and its range. A line here and the two texts of
//! the setting in `crates/text` are all that a new setting needs.

use super::choices::{DayTime, DecisionFallback, LoopName, RoundPreset, ZoneName};
use super::declare::declare_settings;
use super::lists::{ChannelEntry, PathPattern, RunTypeName, ToolName};
use super::spec::SettingSpec;
use super::value::{
    ByteSize, DatabaseAddress, Millis, SecretPlace, SettingValue, Thousandths, default_value,
};
use crate::facts::FactPolicy;
use crate::log::{LogFormat, LogLevel};
use everloop_agenda::kept::CatchUp;
use everloop_analysis::ShareLevel;
use everloop_models::CallWay;
use everloop_tools::{GitAccess, HostAddress, SandboxMode, SearchService};
use everloop_types::{ApprovalMode, LabelGuard, Lang, Unattended};
use std::path::PathBuf;

/// Few, because a long list makes models choose badly. `git_push` is left out because it sends.
const TOOLS: &str = "read_file, list_dir, search_code, edit_file, write_file, shell, git_read, \
    git_commit, internet_search, fetch_web, http_get, http_send, send_message, todo, schedule, \
    load_skill, delegate, memory_propose, memory_search";
/// Where files of other people mostly are.
const UNTRUSTED_PATHS: &str = "**/node_modules/**, **/vendor/**, **/third_party/**, downloads/**";

/// Every type that there is (DR-4).
const RUN_TYPES: &str = "sleep, summarize_conversation, index_repo, fetch_web, agent";

const MANY: u64 = 1_000_000;

declare_settings! {
    /// Models: which one, where it is asked, with which key, and how long it may take.
    "model" => model: ModelSettings {
        default: String = "";
        fallback: String = "";
        fallback_after: u32 = "3", in 1..=100;
        base_url: String = "";
        key: SecretPlace = "";
        key_command: Vec<String> = "";
        key_env: String = "OPENAI_API_KEY";
        key_file: String = "";
        temperature: Thousandths = "0.7", in 0..=2_000;
        max_tokens: u32 = "4096", in 0..=MANY;
        tool_calls: Option<CallWay> = "auto";
        attempts: u32 = "12", in 1..=1_000;
        patience: Millis = "8s";
        connect_timeout: Millis = "5s";
        first_byte_timeout: Millis = "2m";
        idle_timeout: Millis = "1m";
        total_timeout: Millis = "10m";
        test_timeout: Millis = "60s";
        reply_max: ByteSize = "8MiB";
    }
    /// Secrets that the settings refer to.
    "secrets" => secrets: SecretSettings {
        timeout: Millis = "10s";
    }
    /// Loops: which one, and what bounds its steps.
    "loop" => loops: LoopSettings {
        default: LoopName = "plan-replan";
        max_steps: u32 = "0", in 0..=MANY;
        max_iterations: u32 = "0", in 0..=MANY;
        contract_retries: u32 = "2", in 0..=100;
        failure_rounds: u32 = "2", in 1..=100;
        repeated_questions: u32 = "2", in 1..=100;
        max_clarifications: u32 = "0", in 0..=MANY;
        repetitions: u32 = "3", in 0..=1_000;
        calls_per_reply: usize = "64", in 1..=1_000;
        preset: RoundPreset = "complex";
        round_time: Millis = "60s";
        reminders: u32 = "3", in 0..=100;
        unlisted_work: u32 = "2", in 0..=1_000;
        idle_list: u32 = "5", in 0..=1_000;
        item_retries: u32 = "2", in 0..=100;
        evidence: bool = "on";
        completion_mark: String = "";
    }
    /// What a run may use up.
    "budget" => budget: BudgetSettings {
        model_calls: u32 = "500", in 0..=MANY;
        tool_calls: u32 = "1000", in 0..=MANY;
        tokens: u64 = "5000000", in 0..=u64::MAX;
        work_time: Millis = "6h";
        money: Thousandths = "0", in 0..=1_000_000_000;
    }
    /// Runs that a run starts.
    "delegate" => delegate: DelegateSettings {
        max_depth: u32 = "2", in 0..=10;
        max_children: u32 = "8", in 0..=1_000;
    }
    /// What prompts contain.
    "context" => context: ContextSettings {
        tokens: u64 = "100000", in 1_000..=u64::MAX;
        observation_chars: usize = "10000", in 100..=MANY;
        observations: usize = "100", in 2..=MANY;
        max_history: usize = "500", in 0..=MANY;
        least_freed: usize = "20", in 0..=90;
        agents_file: bool = "on";
        skills: bool = "on";
        memory: bool = "on";
        memory_chars: usize = "6000", in 0..=100_000;
        image_max: ByteSize = "5MiB";
    }
    /// Facts that later runs are told.
    "memory" => memory: FactSettings {
        accept: FactPolicy = "ask";
        fact_chars: usize = "2000", in 1..=100_000;
        max_facts: usize = "2000", in 1..=100_000;
        max_proposals: usize = "200", in 1..=10_000;
        prompt_facts: usize = "50", in 0..=1_000;
        prompt_chars: usize = "6000", in 0..=100_000;
    }
    /// Who the assistant is.
    "persona" => persona: PersonaSettings {
        default: String = "default";
        name: String = "Everloop";
        address: String = "";
    }
    /// Tools: which ones, and what each may do.
    "tools" => tools: ToolSettings {
        enabled: Vec<ToolName> = TOOLS;
        restrict_to_workspace: bool = "on";
        shell_timeout: Millis = "120s";
        shell_sandbox: SandboxMode = "auto";
        shell_network: bool = "off";
        shell_git: GitAccess = "read";
        shell_readable: Vec<PathBuf> = "";
        shell_cpu: Millis = "10m";
        shell_memory: ByteSize = "4GiB";
        shell_file_max: ByteSize = "2GiB";
        shell_processes: u64 = "1024", in 0..=MANY;
        output_max: ByteSize = "1MiB";
        max_retries: u32 = "3", in 0..=100;
        retry_delay: Millis = "1s";
        label_guard: LabelGuard = "ask";
        untrusted_paths: Vec<PathPattern> = UNTRUSTED_PATHS;
        fetch_near: Vec<HostAddress> = "";
        fetch_timeout: Millis = "30s";
        fetch_max: ByteSize = "2MiB";
        http_allow: Vec<HostAddress> = "";
        http_timeout: Millis = "30s";
        http_key_lifetime: Millis = "0s";
        channels: Vec<ChannelEntry> = "";
    }
    /// Questions before a call.
    "approvals" => approvals: ApprovalSettings {
        mode: ApprovalMode = "ask";
        ask_edits: bool = "off";
        unattended: Unattended = "wait";
    }
    /// Searches of the web.
    "search" => search: WebSearchSettings {
        provider: Option<SearchService> = "bing";
        base_url: String = "";
        timeout: Millis = "15s";
        top_k: usize = "3", in 1..=10;
    }
    /// MCP servers.
    "mcp" => mcp: McpSettings {
        timeout: Millis = "60s";
        start_timeout: Millis = "20s";
    }
    /// Where data is, and for how long.
    "store" => store: StoreSettings {
        database: DatabaseAddress = "";
        keep: Millis = "30d";
        checkpoint_file: ByteSize = "10MiB";
        checkpoint_total: ByteSize = "1GiB";
    }
    /// The file of tool calls.
    "audit" => audit: AuditSettings {
        file: String = "";
    }
    /// What this program writes about its own work.
    "log" => log: LogSettings {
        level: Option<LogLevel> = "auto";
        format: Option<LogFormat> = "auto";
        file: String = "";
        content: bool = "off";
    }
    /// Processes that drive runs.
    "worker" => worker: WorkerSettings {
        runs: usize = "64", in 1..=10_000;
        lease: Millis = "30s";
    }
    /// The HTTP server.
    "server" => server: ServerSettings {
        listen: String = "127.0.0.1:7717";
        hosts: Vec<String> = "";
        origins: Vec<String> = "";
        tls_cert: String = "";
        tls_key: String = "";
        body_max: ByteSize = "4MiB";
        body_timeout: Millis = "30s";
        header_timeout: Millis = "10s";
        connections: usize = "1024", in 1..=100_000;
        requests_per_minute: u32 = "6000", in 0..=MANY;
        key_lifetime: Millis = "24h";
        artifact_max: ByteSize = "16MiB";
        drain: Millis = "10s";
    }
    /// Schedules.
    "schedule" => schedule: ScheduleSettings {
        list_back: Millis = "2d";
        list_ahead: Millis = "31d";
        duration: Millis = "60m";
        catch_up: CatchUp = "once";
        catch_up_max: usize = "10", in 1..=100;
        pause_after: u32 = "5", in 0..=1_000;
    }
    /// Runs of a fixed type.
    "tasks" => tasks: TaskSettings {
        max_sleep: Millis = "30d";
        summary_chars: usize = "60000", in 1_000..=MANY;
    }
    /// The index of search_code.
    "index" => index: IndexSettings {
        max_files: u64 = "100000", in 1..=10_000_000;
        max_bytes: ByteSize = "1GiB";
        timeout: Millis = "10m";
    }
    /// Data analysis.
    "analysis" => analysis: AnalysisSettings {
        share: ShareLevel = "samples";
        timeout: Millis = "30m";
        query_timeout: Millis = "2m";
        max_rows: usize = "10000", in 10..=1_000_000;
        python: String = "";
        max_bytes: ByteSize = "64GiB";
    }
    /// Todos and schedules.
    "agenda" => agenda: AgendaSettings {
        default_reminder: Option<Millis> = "0m";
        bell: bool = "on";
        terminal_notice: bool = "on";
        desktop_notice: bool = "on";
        unseen_after: Option<Millis> = "15m";
    }
    /// What the program says by itself.
    "heartbeat" => heartbeat: HeartbeatSettings {
        every: Option<Millis> = "off";
        from: DayTime = "08:00";
        until: DayTime = "22:00";
        patience: Millis = "1h";
    }
    /// Conversations.
    "chat" => chat: ChatSettings {
        cancel_phrase: String = "";
        context_turns: usize = "10", in 0..=1_000;
        titles: bool = "on";
        title_timeout: Millis = "30s";
        title_tokens: u32 = "256", in 16..=MANY;
    }
    /// Messages of servers, pages and channels: what decides on them, and what that may start.
    "agent" => agent: AgentSettings {
        loop_enabled: bool = "on";
        decision_model: String = "";
        allowed_run_types: Vec<RunTypeName> = RUN_TYPES;
        decision_timeout: Millis = "30s";
        fallback_mode: DecisionFallback = "reply-only";
        followup_depth: u32 = "5", in 0..=100;
    }
    /// Folders that runs work in.
    "workspaces" => workspaces: WorkspaceSettings {
        trusted: Vec<PathBuf> = "";
    }
    /// Language and time.
    "ui" => ui: UiSettings {
        language: Option<Lang> = "auto";
        answer_language: Option<Lang> = "auto";
        time_zone: Option<ZoneName> = "auto";
    }
}
