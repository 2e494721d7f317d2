//! What existing clients send: a talk whose messages have parts, read as a goal with what was said
//! before, instructions and pictures. What a run cannot do is refused, never left out in silence;
//! how a model is to sample (`temperature`, `max_tokens`, …) is the matter of the settings.

use crate::problem::Problem;
use everloop_app::App;
use everloop_app::error::chain;
use everloop_app::goals::{self, CallerRequest};
use everloop_types::{CallerTerms, Image};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Roles whose words are instructions.
const INSTRUCTING: [&str; 2] = ["system", "developer"];

/// One message of the talk.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct ChatMessage {
    /// `system`, `developer`, `user`, `assistant` or `tool`.
    role: String,
    /// The text, or its parts.
    #[serde(default)]
    content: MessageContent,
}

/// The content of a message.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(untagged)]
enum MessageContent {
    /// A text.
    Text(String),
    /// Texts and pictures.
    Parts(Vec<ContentPart>),
    /// Nothing.
    #[default]
    Nothing,
}

/// A part of a message: a text, or a picture as a `data:` URL.
#[derive(Debug, Deserialize, JsonSchema)]
struct ContentPart {
    /// `text`, `input_text`, `output_text`, `refusal`, `image_url` or `input_image`.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// The text, if it is one.
    text: Option<String>,
    /// What was said in place of an answer.
    refusal: Option<String>,
    /// The picture, if it is one.
    image_url: Option<ImageUrl>,
}

/// Where a picture is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum ImageUrl {
    /// As responses have it.
    Plain(String),
    /// As chat completions have it.
    Object {
        /// A `data:` URL with base64.
        url: String,
    },
}

impl ImageUrl {
    fn url(&self) -> &str {
        match self {
            Self::Plain(url) | Self::Object { url } => url,
        }
    }
}

/// What a run cannot do for a client. Each is taken where it asks for nothing, else refused.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(super) struct RefusedTerms {
    /// How many answers are wanted: there is one.
    #[schemars(range(min = 1, max = 1))]
    n: Option<u64>,
    /// Tools of the client: a run has tools of its own.
    #[schemars(length(max = 0))]
    tools: Option<Vec<Value>>,
    /// The same in an older form.
    #[schemars(length(max = 0))]
    functions: Option<Vec<Value>>,
    /// The form of the answer: text.
    response_format: Option<FacadeAnswerForm>,
    /// The same, as responses have it.
    text: Option<ResponseText>,
    /// Words at which the answer would end: none.
    #[schemars(with = "Option<[String; 0]>")]
    stop: Option<Value>,
}

/// The form of an answer.
#[derive(Debug, Deserialize, JsonSchema)]
struct FacadeAnswerForm {
    /// `text`.
    #[serde(rename = "type")]
    kind: String,
}

/// What responses say about their text.
#[derive(Debug, Deserialize, JsonSchema)]
struct ResponseText {
    /// Its form.
    format: Option<FacadeAnswerForm>,
}

impl RefusedTerms {
    /// Refuses what a run cannot do.
    pub(super) fn check(&self) -> Result<(), Problem> {
        let is_some = |all: &Option<Vec<Value>>| all.as_ref().is_some_and(|all| !all.is_empty());
        let is_other =
            |form: Option<&FacadeAnswerForm>| form.is_some_and(|form| form.kind != "text");
        let stops = self.stop.as_ref().is_some_and(|stop| *stop != json!([]));
        let text = self.text.as_ref().and_then(|text| text.format.as_ref());
        let own_tools = "a run has tools of its own, and calls none of the client's";
        let only_text = "the answer is text";
        for (is_wanted, field, detail) in [
            (self.n.is_some_and(|n| n != 1), "n", "a run has one answer"),
            (is_some(&self.tools), "tools", own_tools),
            (is_some(&self.functions), "functions", own_tools),
            (is_other(self.response_format.as_ref()), "response_format", only_text),
            (is_other(text), "text", only_text),
            (stops, "stop", "a run ends by itself"),
        ] {
            if is_wanted {
                return Err(Problem::of_field(field, detail));
            }
        }
        Ok(())
    }
}

/// The texts and pictures of some messages.
struct TalkReader<'a> {
    app: &'a App,
    /// The field that is wrong if something cannot be read.
    field: &'static str,
    images: Vec<Image>,
}

impl TalkReader<'_> {
    fn text(&mut self, content: &MessageContent) -> Result<String, Problem> {
        let parts = match content {
            MessageContent::Text(text) => return Ok(text.clone()),
            MessageContent::Nothing => return Ok(String::new()),
            MessageContent::Parts(parts) => parts,
        };
        let mut texts = Vec::new();
        for part in parts {
            match (&part.text, &part.refusal, &part.image_url) {
                (Some(text), ..) | (None, Some(text), _) => texts.push(text.as_str()),
                (None, None, Some(image)) => {
                    self.take_image(image.url())?;
                    texts.push("[image]");
                }
                (None, None, None) => {
                    let kind = part.kind.as_deref().unwrap_or("none");
                    let detail =
                        format!("a part of the type {kind} cannot be read: text and images");
                    return Err(Problem::of_field(self.field, detail));
                }
            }
        }
        Ok(texts.join("\n"))
    }

    fn take_image(&mut self, url: &str) -> Result<(), Problem> {
        let base64 = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
        let Some((_, base64)) = base64 else {
            let detail = "image_url: only data: URLs with base64 are taken; nothing is fetched";
            return Err(Problem::of_field(self.field, detail));
        };
        let image = goals::picture(self.app, base64);
        let wrong = |error| Problem::of_field(self.field, format!("image_url: {}", chain(&error)));
        self.images.push(image.map_err(wrong)?);
        Ok(())
    }
}

/// The request that a talk is: the last message of the user is the goal.
///
/// # Errors
/// If there is none, or a part cannot be read.
pub(super) fn talk(
    app: &App,
    field: &'static str,
    messages: &[ChatMessage],
) -> Result<CallerRequest, Problem> {
    let last = messages.iter().rposition(|message| message.role == "user");
    let last = last.ok_or_else(|| Problem::of_field(field, "no message of the user"))?;
    let mut reader = TalkReader { app, field, images: Vec::new() };
    let (mut goal, mut before, mut instructions) = (String::new(), Vec::new(), Vec::new());
    for (at, message) in messages.iter().enumerate() {
        let text = reader.text(&message.content)?;
        if at == last {
            goal = text;
        } else if INSTRUCTING.contains(&message.role.as_str()) {
            instructions.push(text);
        } else {
            before.push(format!("{}: {text}", message.role));
        }
    }
    if goal.trim().is_empty() {
        return Err(Problem::of_field(field, "the last message of the user is empty"));
    }
    let terms = CallerTerms { instructions: instructions.join("\n"), ..CallerTerms::default() };
    let (before, images) = (before.join("\n"), reader.images);
    Ok(CallerRequest { goal, before, images, terms, idem_key: None })
}
