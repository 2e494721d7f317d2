//! Where OpenAI-compatible servers differ from what they are compatible with, as one table.
//!
//! Not in it, since the codec accepts all forms from every server: the names of the reasoning
//! field, calls without numbers or ids, replies that are not streamed, the place of the system text
//! (always first).

use crate::CallWay;
use crate::provider::{Forcing, Schemas};

/// How requests to one kind of server differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quirks {
    /// As in `provider/model`.
    pub(crate) provider: &'static str,
    /// Where it is unless another address is given; empty if there is no usual one.
    pub(crate) usual_url: &'static str,
    /// The variables where its users keep their key, the first that is set counts; none if it
    /// wants no key.
    pub(crate) key_envs: &'static [&'static str],
    /// Which forced calls are honoured.
    pub(crate) forcing: Forcing,
    /// Whether `tool_choice: none` keeps the model from calling what is on offer.
    pub(crate) honours_none: bool,
    /// Whether a reply can be held to a schema.
    pub(crate) schemas: Schemas,
    /// How tools are called unless something else was set or found out.
    pub(crate) calls: CallWay,
    /// Whether usage has to be requested.
    pub(crate) stream_options: bool,
    /// How limit and temperature are sent.
    pub(crate) sampling: Sampling,
    /// Further fields of each request, with the comma before them.
    pub(crate) more: &'static str,
}

/// How limit and temperature are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sampling {
    /// As in the original interface.
    Usual,
    /// The limit has another name, and a temperature of 1 is left out.
    Reasoning,
    /// A reply that is held to a schema has a low temperature unless the person chose one: small
    /// models pick the wrong tool too often otherwise (ADR 33).
    Steady,
}

/// What all other servers support.
pub(crate) const COMMON: Quirks = Quirks {
    provider: "",
    usual_url: "",
    key_envs: &[],
    forcing: Forcing::Any,
    honours_none: true,
    schemas: Schemas::Native,
    calls: CallWay::Native,
    stream_options: true,
    sampling: Sampling::Usual,
    more: "",
};

/// OpenAI itself: its reasoning models refuse the old limit and other temperatures.
pub(crate) const OPENAI: Quirks = Quirks {
    provider: "openai",
    usual_url: super::OPENAI_URL,
    key_envs: &["OPENAI_API_KEY"],
    schemas: Schemas::Object,
    sampling: Sampling::Reasoning,
    ..COMMON
};

/// JSON is requested, and a sentence describes it: only some models behind the name follow a
/// schema.
const IN_WORDS: Quirks = Quirks { schemas: Schemas::InWords, ..COMMON };

/// Takes no tool choice but `auto`, and does not know `stream_options`.
const GLM: Quirks =
    Quirks { forcing: Forcing::None, honours_none: false, stream_options: false, ..IN_WORDS };

/// Has no `required`, and only its newest models follow a schema.
const QWEN: Quirks = Quirks { forcing: Forcing::Named, ..IN_WORDS };

/// Takes no forced call.
const MOONSHOT: Quirks = Quirks { forcing: Forcing::None, ..IN_WORDS };

/// Has no tool choice at all.
const MINIMAX: Quirks = Quirks { forcing: Forcing::None, honours_none: false, ..IN_WORDS };

/// Regional providers are listed side by side: one company, two hosts with separate accounts.
pub(crate) const TABLE: [Quirks; 22] = [
    OPENAI,
    // Thinking is on unless it is turned off, and then a conversation with tools is refused that
    // does not give all thoughts back; transcripts hold none. JSON is held to no schema.
    Quirks {
        provider: "deepseek",
        usual_url: "https://api.deepseek.com/v1",
        key_envs: &["DEEPSEEK_API_KEY"],
        more: r#","thinking":{"type":"disabled"}"#,
        ..IN_WORDS
    },
    Quirks {
        provider: "qwen",
        usual_url: "https://dashscope.aliyuncs.com/compatible-mode/v1",
        key_envs: &["DASHSCOPE_API_KEY", "QWEN_API_KEY"],
        ..QWEN
    },
    Quirks {
        provider: "qwen-intl",
        usual_url: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        key_envs: &["QWEN_INTL_API_KEY", "DASHSCOPE_API_KEY"],
        ..QWEN
    },
    Quirks {
        provider: "glm",
        usual_url: "https://open.bigmodel.cn/api/paas/v4",
        key_envs: &["ZHIPUAI_API_KEY", "ZHIPU_API_KEY", "GLM_API_KEY"],
        ..GLM
    },
    Quirks {
        provider: "glm-intl",
        usual_url: "https://api.z.ai/api/paas/v4",
        key_envs: &["ZAI_API_KEY", "GLM_INTL_API_KEY"],
        ..GLM
    },
    Quirks {
        provider: "moonshot",
        usual_url: "https://api.moonshot.cn/v1",
        key_envs: &["MOONSHOT_API_KEY", "KIMI_API_KEY"],
        ..MOONSHOT
    },
    Quirks {
        provider: "moonshot-intl",
        usual_url: "https://api.moonshot.ai/v1",
        key_envs: &["MOONSHOT_INTL_API_KEY", "MOONSHOT_API_KEY"],
        ..MOONSHOT
    },
    Quirks {
        provider: "doubao",
        usual_url: "https://ark.cn-beijing.volces.com/api/v3",
        key_envs: &["ARK_API_KEY", "DOUBAO_API_KEY"],
        ..IN_WORDS
    },
    Quirks {
        provider: "hunyuan",
        usual_url: "https://api.hunyuan.cloud.tencent.com/v1",
        key_envs: &["HUNYUAN_API_KEY"],
        ..IN_WORDS
    },
    Quirks {
        provider: "minimax",
        usual_url: "https://api.minimaxi.com/v1",
        key_envs: &["MINIMAX_API_KEY"],
        ..MINIMAX
    },
    Quirks {
        provider: "minimax-intl",
        usual_url: "https://api.minimax.io/v1",
        key_envs: &["MINIMAX_INTL_API_KEY", "MINIMAX_API_KEY"],
        ..MINIMAX
    },
    Quirks {
        provider: "siliconflow",
        usual_url: "https://api.siliconflow.cn/v1",
        key_envs: &["SILICONFLOW_API_KEY"],
        ..IN_WORDS
    },
    Quirks {
        provider: "siliconflow-intl",
        usual_url: "https://api.siliconflow.com/v1",
        key_envs: &["SILICONFLOW_INTL_API_KEY", "SILICONFLOW_API_KEY"],
        ..IN_WORDS
    },
    Quirks {
        provider: "openrouter",
        usual_url: "https://openrouter.ai/api/v1",
        key_envs: &["OPENROUTER_API_KEY"],
        ..IN_WORDS
    },
    Quirks {
        provider: "groq",
        usual_url: "https://api.groq.com/openai/v1",
        key_envs: &["GROQ_API_KEY"],
        ..IN_WORDS
    },
    // Refuses unknown fields, and reports the usage by itself.
    Quirks {
        provider: "mistral",
        usual_url: "https://api.mistral.ai/v1",
        key_envs: &["MISTRAL_API_KEY"],
        stream_options: false,
        ..IN_WORDS
    },
    Quirks {
        provider: "xai",
        usual_url: "https://api.x.ai/v1",
        key_envs: &["XAI_API_KEY"],
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
        sampling: Sampling::Steady,
        ..COMMON
    },
    Quirks { provider: "lmstudio", usual_url: "http://127.0.0.1:1234/v1", ..COMMON },
];

/// The row of a provider, if it has one.
pub(crate) fn of(provider: &str) -> Option<Quirks> {
    TABLE.into_iter().find(|row| row.provider == provider)
}
