//! The forms of answers that the application makes as JSON, for the API's document. Fuzzed requests
//! check that answers have them (`clients/try.py`).
#![expect(dead_code, reason = "these types describe answers, which other crates make")]

use schemars::JsonSchema;
use serde_json::Value;

/// Tokens that were used.
#[derive(JsonSchema)]
pub(crate) struct TokenUsage {
    /// Tokens that went in.
    input_tokens: u64,
    /// Tokens that came out.
    output_tokens: u64,
    /// Tokens of those that went in which the provider had already.
    cached_tokens: u64,
}

/// A call whose outcome the journal does not know.
#[derive(JsonSchema)]
pub(crate) struct UnknownCall {
    /// The effect.
    effect: String,
    /// The tool.
    tool: String,
    /// Its arguments.
    arguments: Value,
    /// When it began.
    at: String,
    /// What is known since.
    settled: Option<SettledVerdict>,
}

/// What was said about a call.
#[derive(JsonSchema)]
pub(crate) struct SettledVerdict {
    /// `happened` or `not`.
    verdict: String,
    /// Who said so.
    by: String,
    /// When.
    at: String,
}

/// A run with its plan, numbers and last words.
#[derive(JsonSchema)]
pub(crate) struct RunWhole {
    /// Its id.
    id: String,
    /// The same.
    run_id: String,
    /// What it is.
    #[schemars(flatten)]
    about: RunNature,
    /// Where it comes from.
    #[schemars(flatten)]
    origin: RunAncestry,
    /// What it came to.
    #[schemars(flatten)]
    work: RunNumbers,
    /// The number of its last event.
    last_event: i64,
    /// Its plan.
    plan: Vec<Value>,
    /// Why it ended as it did.
    reason: Value,
    /// Calls whose outcome is unknown.
    unknowns: Vec<UnknownCall>,
    /// Whether all of them were settled since.
    settled_since: bool,
}

/// What a run is.
#[derive(JsonSchema)]
pub(crate) struct RunNature {
    /// Its status, as in lists.
    status: String,
    /// The loop that decides it.
    r#loop: String,
    /// What the user wants.
    goal: String,
    /// Its conversation.
    conversation_id: String,
    /// Its type.
    run_type: String,
    /// What people call it.
    title: Option<String>,
    /// What it waits for, or why it was quarantined.
    note: Option<String>,
    /// When it was created.
    created_at: String,
    /// When it changed last.
    updated_at: String,
    /// The model.
    model: String,
    /// The folder that it works in.
    workspace: String,
}

/// Where a run comes from, and what came from it.
#[derive(JsonSchema)]
pub(crate) struct RunAncestry {
    /// The run that it does again.
    retry_of: Option<String>,
    /// The run that it was forked from.
    forked_from: Option<String>,
    /// The run that waits for it.
    parent: Option<String>,
    /// Whether it came in a file.
    imported: bool,
    /// Runs that were forked from it.
    forks: Vec<Value>,
    /// Runs that do it again.
    retries: Vec<String>,
}

/// What a run came to.
#[derive(JsonSchema)]
pub(crate) struct RunNumbers {
    /// Its last words.
    text: Option<String>,
    /// Steps of the loop; null where the journal was trimmed.
    steps: Option<u64>,
    /// Calls of the model.
    model_calls: u64,
    /// Calls of tools.
    tool_calls: u64,
    /// Tokens.
    usage: TokenUsage,
}

/// A fact.
#[derive(JsonSchema)]
pub(crate) struct Fact {
    /// Its id.
    fact_id: String,
    /// What is remembered.
    text: String,
    /// `proposed`, `active`, `rejected` or `withdrawn`.
    status: String,
    /// The folder whose runs are told; all of them if there is none.
    workspace: Option<String>,
    /// Whether others than the user may have written it.
    untrusted: bool,
    /// Who proposed it: `model`, `user`, a surface.
    proposed_by: String,
    /// The conversation that it comes from.
    conversation_id: Option<String>,
    /// The run that proposed it.
    run_id: Option<String>,
    /// The last message of the person before that.
    message_id: Option<String>,
    /// When it was proposed.
    created_at: String,
    /// When it was changed last.
    updated_at: String,
    /// Raised by every change, from 1.
    version: i64,
}

/// A todo.
#[derive(JsonSchema)]
pub(crate) struct Todo {
    /// Its number.
    id: i64,
    /// Its globally unique id.
    uid: String,
    /// What is to be done.
    text: String,
    /// Its tags.
    tags: Vec<String>,
    /// Its priority.
    priority: i64,
    /// When it is due.
    due: Option<String>,
    /// When it reminds.
    remind: Option<String>,
    /// When it was done.
    done: Option<String>,
    /// When it was created.
    created: String,
}

/// A todo, and what was done to it.
#[derive(JsonSchema)]
pub(crate) struct TodoAnswer {
    /// True.
    ok: bool,
    /// `added`, `changed`, `finished`, `was_finished`, `reopened` or `shown`.
    did: String,
    /// The todo.
    todo: Todo,
    /// Notices about it.
    notices: Vec<ItemNotice>,
}

/// A notice about something that was saved.
#[derive(JsonSchema)]
pub(crate) struct ItemNotice {
    /// `start_past`, `due_past`, `reminder_past` or `reminder_gone`.
    kind: String,
    /// The moment.
    at: String,
    /// In words.
    message: String,
}

/// Todos.
#[derive(JsonSchema)]
pub(crate) struct TodoListAnswer {
    /// True.
    ok: bool,
    /// The view.
    view: String,
    /// The todos.
    todos: Vec<Todo>,
}

/// Something that was deleted.
#[derive(JsonSchema)]
pub(crate) struct DeletedAnswer {
    /// True.
    ok: bool,
    /// `deleted`.
    did: String,
    /// Its number.
    id: i64,
    /// Its text.
    text: Option<String>,
}

/// An entry of the schedule.
#[derive(JsonSchema)]
pub(crate) struct ScheduleEntry {
    /// Its number.
    id: i64,
    /// Its globally unique id.
    uid: String,
    /// Its title.
    title: String,
    /// When it begins.
    start: String,
    /// The same as a clock in its zone shows it.
    wall: String,
    /// Its zone.
    zone: String,
    /// How long it takes.
    minutes: i64,
    /// How it repeats, as an RRULE.
    rrule: Option<String>,
    /// Whether it repeats.
    repeats: bool,
    /// When it reminds, or starts a run, next.
    remind_next: Option<String>,
    /// What it starts, if it starts runs.
    run: Value,
}

/// An entry, and what was done to it.
#[derive(JsonSchema)]
pub(crate) struct EntryAnswer {
    /// True.
    ok: bool,
    /// `added`, `changed`, `shown`, `paused` or `resumed`.
    did: String,
    /// The entry.
    entry: ScheduleEntry,
}

/// What takes place.
#[derive(JsonSchema)]
pub(crate) struct EntryListAnswer {
    /// True.
    ok: bool,
    /// From this moment.
    from: String,
    /// To this one.
    to: String,
    /// Each time that an entry takes place.
    entries: Vec<ListedOccurrence>,
}

/// One time that an entry takes place.
#[derive(JsonSchema)]
pub(crate) struct ListedOccurrence {
    /// The number of the entry.
    id: i64,
    /// Its title.
    title: String,
    /// When it begins.
    start: String,
    /// When it ends.
    end: String,
    /// Whether the entry repeats.
    repeats: bool,
}

/// A message that was found.
#[derive(JsonSchema)]
pub(crate) struct SearchHit {
    /// Its id.
    id: String,
    /// Its conversation.
    conversation_id: String,
    /// The title of the conversation.
    title: String,
    /// `user` or `assistant`.
    role: String,
    /// Its text.
    content: String,
    /// The words with what stands around them.
    excerpt: String,
    /// When it was written.
    created_at: String,
}

/// A message of a webhook.
#[derive(JsonSchema)]
pub(crate) struct WebhookMessage {
    /// What was said.
    data: WebhookWords,
}

/// What a webhook says.
#[derive(JsonSchema)]
pub(crate) struct WebhookWords {
    /// The thread: each one is a conversation.
    thread: String,
    /// The words.
    text: String,
}

/// The assistant as a model.
#[derive(JsonSchema)]
pub(crate) struct ModelObject {
    /// `everloop`, or `everloop/LOOP`.
    id: String,
    /// `model`.
    object: String,
    /// 0.
    created: i64,
    /// `everloop`.
    owned_by: String,
}

/// The assistant as models.
#[derive(JsonSchema)]
pub(crate) struct ModelList {
    /// `list`.
    object: String,
    /// The models.
    data: Vec<ModelObject>,
}

/// A chat completion.
#[derive(JsonSchema)]
pub(crate) struct ChatCompletion {
    /// Its id.
    id: String,
    /// `chat.completion`.
    object: String,
    /// When it began, in seconds of UTC.
    created: i64,
    /// The model, as it was asked for.
    model: String,
    /// The one answer.
    choices: Vec<FacadeChoice>,
    /// Tokens.
    usage: FacadeUsage,
    /// The run: `run_id`, `status`, and `error` with a code and a message if it failed.
    everloop: Value,
}

/// An answer.
#[derive(JsonSchema)]
pub(crate) struct FacadeChoice {
    /// 0.
    index: u32,
    /// `stop`.
    finish_reason: String,
    /// The words.
    message: ChatAnswer,
}

/// The words of an answer.
#[derive(JsonSchema)]
pub(crate) struct ChatAnswer {
    /// `assistant`.
    role: String,
    /// The text.
    content: String,
}

/// Tokens of a chat completion.
#[derive(JsonSchema)]
pub(crate) struct FacadeUsage {
    /// Tokens that went in.
    prompt_tokens: u64,
    /// Tokens that came out.
    completion_tokens: u64,
    /// All of them.
    total_tokens: u64,
}

/// A response.
#[derive(JsonSchema)]
pub(crate) struct ResponseObject {
    /// Its id.
    id: String,
    /// `response`.
    object: String,
    /// When it began, in seconds of UTC.
    created_at: i64,
    /// `queued`, `in_progress`, `completed`, `incomplete`, `cancelled` or `failed`.
    status: String,
    /// The model, as it was asked for.
    model: String,
    /// What the assistant was told besides.
    instructions: Option<String>,
    /// The response that it follows.
    previous_response_id: Option<String>,
    /// Why it failed: a code and a message.
    error: Option<Value>,
    /// What it waits for: `reason` is `waiting_for_user`, …
    incomplete_details: Option<Value>,
    /// The answer.
    output: Vec<Value>,
    /// Tokens.
    usage: Value,
}
