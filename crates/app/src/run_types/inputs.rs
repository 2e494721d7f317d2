//! What each type of run takes. The doc comments are the descriptions of the schema.

use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;

/// The input of `agent`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentInput {
    /// What is to be done.
    pub goal: String,
    /// The loop that decides; without one, that of the settings.
    #[serde(default, rename = "loop")]
    pub loop_name: Option<String>,
    /// The folder that it works in.
    #[serde(default)]
    pub workspace: Option<PathBuf>,
}

/// The input of `sleep`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SleepInput {
    /// How long, in seconds.
    pub seconds: u64,
}

/// The input of `summarize_conversation`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SummarizeInput {
    /// The conversation; without one, that of the run.
    #[serde(default)]
    pub conversation_id: Option<String>,
}

/// The input of `index_repo`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndexRepoInput {
    /// A folder inside the workspace; the whole workspace without one.
    #[serde(default)]
    pub path: Option<PathBuf>,
    /// The workspace.
    #[serde(default)]
    pub workspace: Option<PathBuf>,
}

/// The input of `fetch_web`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FetchWebInput {
    /// The address of the page, http or https.
    pub url: String,
}

/// The input of `analyze`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnalyzeInput {
    /// The data files, in the workspace or with their whole path.
    pub files: Vec<PathBuf>,
    /// What is to be found out.
    pub question: String,
    /// The folder of the report; without one, `reports/` and the id of the run.
    #[serde(default)]
    pub out: Option<PathBuf>,
    /// What of the data the model sees without asking: `schema`, `aggregates` or `samples`;
    /// without it, the setting `analysis.share`.
    #[serde(default)]
    pub share: Option<String>,
    /// The loop that decides; without one, `tool-driven`.
    #[serde(default, rename = "loop")]
    pub loop_name: Option<String>,
    /// The folder that it works in.
    #[serde(default)]
    pub workspace: Option<PathBuf>,
}
