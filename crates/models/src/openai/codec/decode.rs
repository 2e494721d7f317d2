//! A stream of bytes into one reply.
//!
//! ```text
//!   Unknown ──"{"──► Whole (a server that does not stream) ──end──► Reply
//!      └──else──► Stream ──finish_reason or [DONE]──► complete ──end──► Reply
//!                    └──────────────end──► Cut
//! ```

use super::calls::Calls;
use super::event::{Event, Said, Text, Tokens};
use super::fault::{clip, confessed};
use super::lines::{Line, Lines};
use super::mend::{mend, without_nul};
use crate::Delta;
use everloop_types::{ModelError, ModelErrorKind, Reply, StopCause, Usage};
use serde::de::IgnoredAny;
use serde_json::Value;

/// Reads a reply from its bytes, in whatever pieces they come.
#[derive(Debug)]
pub struct Decoder {
    shape: Shape,
    lines: Lines,
    reader: Reader,
}

#[derive(Debug)]
enum Shape {
    Unknown,
    Stream,
    Whole(Vec<u8>),
}

impl Decoder {
    /// A decoder for one reply of at most `reply_bytes_max` bytes of text, reasoning and calls.
    #[must_use]
    pub fn new(reply_bytes_max: usize) -> Self {
        let reader = Reader { reply_bytes_max, ..Reader::default() };
        Self { shape: Shape::Unknown, lines: Lines::default(), reader }
    }

    /// Takes in the next bytes.
    ///
    /// # Errors
    /// When the provider reports an error, or the bytes are no reply, or there are too many.
    pub fn feed(
        &mut self,
        mut chunk: &[u8],
        on_delta: &mut dyn FnMut(Delta<'_>),
    ) -> Result<(), ModelError> {
        if matches!(self.shape, Shape::Unknown) {
            let blank = |b: &u8| b.is_ascii_whitespace() || [0xef, 0xbb, 0xbf].contains(b);
            let start = chunk.iter().position(|b| !blank(b)).unwrap_or(chunk.len());
            chunk = &chunk[start..];
            self.shape = match chunk.first() {
                None => Shape::Unknown,
                Some(b'{') => Shape::Whole(Vec::new()),
                Some(_) => Shape::Stream,
            };
        }
        if let Shape::Whole(body) = &mut self.shape {
            body.extend_from_slice(chunk);
            return self.reader.check_size(body.len());
        }
        let reader = &mut self.reader;
        self.lines.feed(chunk, |line| reader.take_line(line, on_delta))?;
        self.reader.check_size(self.lines.held())
    }

    /// Whether the server said that nothing more comes.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.reader.done
    }

    /// Whether the model has stopped, so that a connection that breaks now takes nothing from the
    /// reply but perhaps its usage.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.reader.done || self.reader.stop.is_some()
    }

    /// The reply, when the bytes have ended.
    ///
    /// # Errors
    /// `Cut` if the end came too early, `Empty` if there was nothing in it.
    pub fn finish(mut self, on_delta: &mut dyn FnMut(Delta<'_>)) -> Result<Reply, ModelError> {
        match self.shape {
            Shape::Unknown => {
                return Err(ModelError::new(ModelErrorKind::Empty, "the reply has no body"));
            }
            Shape::Whole(body) => self.reader.take_whole(&body, on_delta)?,
            Shape::Stream => {
                let last = self.lines.finish();
                self.reader.take_end(&last, on_delta)?;
            }
        }
        self.reader.finish()
    }
}

/// What was understood so far.
#[derive(Debug, Default)]
struct Reader {
    reply_bytes_max: usize,
    reply_bytes: usize,
    reply: Reply,
    calls: Calls,
    stop: Option<StopCause>,
    done: bool,
    /// Data of an event whose JSON goes on in the next line.
    open: Vec<u8>,
    events: usize,
    /// Lines of server-sent events, and the first line that is none.
    known: usize,
    stranger: String,
}

impl Reader {
    fn take_line(
        &mut self,
        line: &[u8],
        on_delta: &mut dyn FnMut(Delta<'_>),
    ) -> Result<(), ModelError> {
        let line = Line::read(line);
        self.known += usize::from(matches!(line, Line::Nothing | Line::Data(_)));
        match line {
            Line::Nothing => Ok(()),
            Line::Blank if self.open.is_empty() => Ok(()),
            Line::Blank => {
                let data = std::mem::take(&mut self.open);
                self.take_data(&data, on_delta)?.map_err(|e| malformed(&e, &data))
            }
            Line::Data(_) if self.done => Ok(()),
            Line::Data(data) => self.take_data_line(data, on_delta),
            Line::Stranger(line) => {
                if self.stranger.is_empty() {
                    self.stranger = clip(&String::from_utf8_lossy(line));
                }
                Ok(())
            }
        }
    }

    /// A line that is JSON by itself is taken at once, so that servers without blank lines between
    /// their events are understood; one that is not waits for the lines that complete it.
    fn take_data_line(
        &mut self,
        data: &[u8],
        on_delta: &mut dyn FnMut(Delta<'_>),
    ) -> Result<(), ModelError> {
        if !self.open.is_empty() {
            self.open.push(b'\n');
            self.open.extend_from_slice(data);
            return self.check_size(self.open.len());
        }
        match data.trim_ascii() {
            b"" => Ok(()),
            b"[DONE]" => {
                self.done = true;
                Ok(())
            }
            data => match self.take_data(data, on_delta)? {
                Err(e) if e.is_eof() => {
                    self.open.extend_from_slice(data);
                    Ok(())
                }
                read => read.map_err(|e| malformed(&e, data)),
            },
        }
    }

    /// Reads one event's JSON: as it is, or mended if a strict reader refuses it. The outer result
    /// is what the event said, the inner one whether it could be read.
    fn take_data(
        &mut self,
        data: &[u8],
        on_delta: &mut dyn FnMut(Delta<'_>),
    ) -> Result<Result<(), serde_json::Error>, ModelError> {
        match serde_json::from_slice::<Event<'_>>(data) {
            Ok(event) => self.take_event(event, data, on_delta).map(Ok),
            Err(e) if e.is_eof() => Ok(Err(e)),
            Err(_) => {
                let mended = mend(data);
                match serde_json::from_str::<Event<'_>>(&mended) {
                    Ok(event) => self.take_event(event, mended.as_bytes(), on_delta).map(Ok),
                    Err(e) => Ok(Err(e)),
                }
            }
        }
    }

    /// The body of a server that does not stream. What follows the first object is ignored.
    fn take_whole(
        &mut self,
        body: &[u8],
        on_delta: &mut dyn FnMut(Delta<'_>),
    ) -> Result<(), ModelError> {
        let length = first_object(body);
        match self.take_data(&body[..length], on_delta)? {
            Ok(()) if self.events > 0 => {
                self.done = true;
                Ok(())
            }
            Ok(()) => Err(ModelError::new(ModelErrorKind::Malformed, lossy(body))),
            Err(e) if e.is_eof() => {
                Err(ModelError::new(ModelErrorKind::Cut, "the reply broke off inside of its JSON"))
            }
            Err(e) => Err(malformed(&e, body)),
        }
    }

    /// The stream's last line, which lacks its line end. What cannot be read of it was cut off.
    fn take_end(
        &mut self,
        last: &[u8],
        on_delta: &mut dyn FnMut(Delta<'_>),
    ) -> Result<(), ModelError> {
        let read = match self.take_line(last, on_delta) {
            Ok(()) => self.take_line(b"", on_delta),
            failed => failed,
        };
        match read {
            Err(e) if e.kind == ModelErrorKind::Malformed && self.stop.is_some() => Ok(()),
            Err(e) if e.kind == ModelErrorKind::Malformed => {
                Err(ModelError::new(ModelErrorKind::Cut, "the stream broke off inside of an event"))
            }
            read => read,
        }
    }

    fn take_event(
        &mut self,
        event: Event<'_>,
        data: &[u8],
        on_delta: &mut dyn FnMut(Delta<'_>),
    ) -> Result<(), ModelError> {
        if let Some(error) = event.error {
            return Err(confessed(&error));
        }
        if event.object.0 == "error" {
            return Err(confessed(&serde_json::from_slice(data).unwrap_or(Value::Null)));
        }
        if let Some(tokens) = event.usage {
            self.take_usage(&tokens);
        }
        let Some(choice) = event.choices.first else { return Ok(()) };
        self.events += 1;
        for said in [choice.delta, choice.message].into_iter().flatten() {
            self.take_said(said, on_delta);
        }
        if !choice.finish_reason.0.is_empty() {
            self.stop = Some(stop_cause(&choice.finish_reason.0));
        }
        self.check_size(self.reply_bytes)
    }

    fn take_said(&mut self, said: Said<'_>, on_delta: &mut dyn FnMut(Delta<'_>)) {
        // Some servers send the same reasoning under both names.
        let reasoning = match said.reasoning_content.0.is_empty() {
            true => said.reasoning,
            false => said.reasoning_content,
        };
        self.reply_bytes += push(&mut self.reply.reasoning, &reasoning, |text| {
            on_delta(Delta::Reasoning(text));
        });
        for text in [&said.content, &said.refusal] {
            self.reply_bytes +=
                push(&mut self.reply.text, text, |text| on_delta(Delta::Text(text)));
        }
        for part in said.tool_calls.first.into_iter().chain(said.tool_calls.rest) {
            self.reply_bytes += self.calls.take(part, on_delta);
        }
    }

    /// Each report replaces the one before: servers that report with every chunk report sums.
    fn take_usage(&mut self, tokens: &Tokens) {
        let details = tokens.prompt_tokens_details.as_ref();
        let cached = details.map_or(0, |details| details.cached_tokens.0);
        self.reply.usage = Usage {
            input_tokens: tokens.prompt_tokens.0,
            output_tokens: tokens.completion_tokens.0,
            cached_tokens: cached.max(tokens.prompt_cache_hit_tokens.0),
        };
    }

    fn check_size(&self, bytes: usize) -> Result<(), ModelError> {
        if bytes <= self.reply_bytes_max {
            return Ok(());
        }
        let detail = format!("the reply is larger than {} bytes", self.reply_bytes_max);
        Err(ModelError::new(ModelErrorKind::TooLarge, detail))
    }

    fn finish(self) -> Result<Reply, ModelError> {
        if self.known == 0 && !self.stranger.is_empty() {
            return Err(ModelError::new(ModelErrorKind::Malformed, self.stranger));
        }
        if !self.done && self.stop.is_none() {
            let detail = "the stream ended before the reply did";
            return Err(ModelError::new(ModelErrorKind::Cut, detail));
        }
        let calls = self.calls.finish();
        let stop = match self.stop.unwrap_or_default() {
            StopCause::Done | StopCause::ToolCalls if !calls.is_empty() => StopCause::ToolCalls,
            StopCause::ToolCalls => StopCause::Done,
            stop => stop,
        };
        let reply = Reply { calls, stop, ..self.reply };
        let hollow = reply.text.trim().is_empty() && reply.calls.is_empty();
        if hollow && reply.stop == StopCause::Done {
            let detail = "the reply has neither text nor tool calls";
            return Err(ModelError::new(ModelErrorKind::Empty, detail));
        }
        Ok(reply)
    }
}

fn push(to: &mut String, text: &Text<'_>, say: impl FnOnce(&str)) -> usize {
    if text.0.is_empty() {
        return 0;
    }
    let clean = without_nul(&text.0);
    let text = clean.as_deref().unwrap_or(&text.0);
    to.push_str(text);
    say(text);
    text.len()
}

fn stop_cause(name: &str) -> StopCause {
    match name {
        "tool_calls" | "function_call" | "tool_use" => StopCause::ToolCalls,
        "length" | "max_tokens" | "model_length" => StopCause::Length,
        "content_filter" | "safety" => StopCause::Filtered,
        _ => StopCause::Done,
    }
}

/// The length of the first JSON value, or all there is if that one is broken.
fn first_object(body: &[u8]) -> usize {
    let mut values = serde_json::Deserializer::from_slice(body).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => values.byte_offset(),
        _ => body.len(),
    }
}

fn malformed(error: &serde_json::Error, data: &[u8]) -> ModelError {
    ModelError::new(ModelErrorKind::Malformed, format!("{error} in: {}", lossy(data)))
}

fn lossy(data: &[u8]) -> String {
    clip(&String::from_utf8_lossy(&data[..data.len().min(400)]))
}
