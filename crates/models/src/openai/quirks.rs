//! Where OpenAI-compatible servers differ from what they are compatible with, as one table.
//!
//! Not in it, since the codec takes all forms from everybody: the names of the reasoning field,
//! calls without numbers or ids, replies that are not streamed, the place of the system text
//! (always first).

use crate::CallWay;
use crate::provider::{Forcing, Schemas};

/// How one kind of server wants to be spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quirks {
    /// As in `provider/model`.
    pub(crate) provider: &'static str,
    /// Where it is unless another address is given; empty if there is no usual one.
    pub(crate) usual_url: &'static str,
    /// The variable where its users keep their key.
    pub(crate) key_env: &'static str,
    /// Which forced calls are honoured.
    pub(crate) forcing: Forcing,
    /// Whether `tool_choice: none` keeps the model from calling what is on offer.
    pub(crate) honours_none: bool,
    /// Whether a reply can be held to a schema.
    pub(crate) schemas: Schemas,
    /// How tools are called unless something else was set or found out.
    pub(crate) calls: CallWay,
    /// Whether usage has to be asked for.
    pub(crate) stream_options: bool,
    /// How length and temperature are told.
    pub(crate) sampling: Sampling,
    /// Further fields of each request, with the comma before them.
    pub(crate) more: &'static str,
}

/// How length and temperature are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sampling {
    /// As ever.
    Usual,
    /// The limit has another name, and a temperature of 1 is left out.
    Reasoning,
}

/// What all the others speak.
pub(crate) const COMMON: Quirks = Quirks {
    provider: "",
    usual_url: "",
    key_env: "",
    forcing: Forcing::Any,
    honours_none: true,
    schemas: Schemas::Native,
    calls: CallWay::Native,
    stream_options: true,
    sampling: Sampling::Usual,
    more: "",
};

/// OpenAI itself has moved on: its reasoning models refuse the old limit and other temperatures.
pub(crate) const OPENAI: Quirks = Quirks {
    provider: "openai",
    usual_url: super::OPENAI_URL,
    key_env: "OPENAI_API_KEY",
    schemas: Schemas::Object,
    sampling: Sampling::Reasoning,
    ..COMMON
};

const TABLE: [Quirks; 7] = [
    OPENAI,
    // Thinking is on unless it is turned off, and then a conversation with tools is refused that
    // does not give all thoughts back; transcripts hold none. JSON is held to no schema.
    Quirks {
        provider: "deepseek",
        usual_url: "https://api.deepseek.com/v1",
        key_env: "DEEPSEEK_API_KEY",
        schemas: Schemas::InWords,
        more: r#","thinking":{"type":"disabled"}"#,
        ..COMMON
    },
    // Takes no tool choice but `auto`, and does not know `stream_options`.
    Quirks {
        provider: "glm",
        usual_url: "https://api.z.ai/api/paas/v4",
        key_env: "ZAI_API_KEY",
        forcing: Forcing::None,
        honours_none: false,
        schemas: Schemas::InWords,
        stream_options: false,
        ..COMMON
    },
    // Has no `required`, and only its newest models follow a schema.
    Quirks {
        provider: "qwen",
        usual_url: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        key_env: "DASHSCOPE_API_KEY",
        forcing: Forcing::Named,
        schemas: Schemas::InWords,
        ..COMMON
    },
    // Ignores every tool choice, `none` too.
    Quirks {
        provider: "ollama",
        usual_url: "http://127.0.0.1:11434/v1",
        forcing: Forcing::None,
        honours_none: false,
        ..COMMON
    },
    Quirks { provider: "vllm", usual_url: "http://127.0.0.1:8000/v1", ..COMMON },
    // Reads a named choice as `auto`. Whether tools work hangs on the template of each model, and
    // with small ones they mostly do not; a schema is kept to exactly, by a grammar.
    Quirks {
        provider: "llamacpp",
        usual_url: "http://127.0.0.1:8080/v1",
        forcing: Forcing::Required,
        calls: CallWay::Schema,
        ..COMMON
    },
];

/// The row of a provider, if it has one.
pub(crate) fn of(provider: &str) -> Option<Quirks> {
    TABLE.into_iter().find(|row| row.provider == provider)
}
