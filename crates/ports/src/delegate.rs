//! The arguments of `delegate`: the engine makes the child run that they describe.

use schemars::JsonSchema;
use serde::Deserialize;

/// The arguments of `delegate`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelegateArgs {
    /// All that the helper sees.
    pub task: String,
    /// Its loop.
    #[serde(default, rename = "loop")]
    #[schemars(extend("x-rare" = true))]
    pub loop_name: Option<String>,
    /// Some of your tools.
    #[serde(default)]
    #[schemars(extend("x-rare" = true))]
    pub tools: Option<Vec<String>>,
}
