//! One line of the log: what an event says, within what its spans say.

use super::LogWriter;
use serde_json::Value;
use std::fmt::{self, Write};
use std::sync::Arc;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// What the names of fields with content begin with.
const CONTENT: &str = "content.";

/// The fields of a span or of an event, in the order in which they were recorded.
#[derive(Debug, Clone, Default)]
struct LogFields(Vec<(&'static str, Value)>);

impl LogFields {
    fn set(&mut self, name: &'static str, value: Value) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some(field) => field.1 = value,
            None => self.0.push((name, value)),
        }
    }
}

/// Takes in fields; content only where it is kept, and else without even formatting it.
struct FieldVisitor<'a> {
    fields: &'a mut LogFields,
    keeps_content: bool,
}

impl FieldVisitor<'_> {
    fn set(&mut self, field: &Field, value: impl FnOnce() -> Value) {
        if self.keeps_content || !field.name().starts_with(CONTENT) {
            self.fields.set(field.name(), value());
        }
    }
}

impl Visit for FieldVisitor<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field, || format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, || value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, || value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, || value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, || value.into());
    }
}

/// One line that is to be written.
pub(super) struct LogLine {
    level: &'static str,
    target: String,
    fields: LogFields,
}

impl LogLine {
    pub(super) fn new(level: &'static str, target: &str) -> Self {
        Self { level, target: target.to_owned(), fields: LogFields::default() }
    }

    pub(super) fn set(&mut self, name: &'static str, value: Value) {
        self.fields.set(name, value);
    }

    /// `{"time":"…","level":"info","target":"…","message":"…","run":"…"}`.
    pub(super) fn json(&self, time: &str) -> String {
        let head = [
            ("time", Value::from(time)),
            ("level", self.level.into()),
            ("target", self.target.as_str().into()),
        ];
        let mut line = String::from("{");
        for (name, value) in head.iter().chain(self.message_first()) {
            let comma = if line.len() > 1 { "," } else { "" };
            let _ = write!(line, "{comma}{}:{value}", Value::from(*name));
        }
        line.push('}');
        line
    }

    /// `2026-11-16T13:40:00.123Z INFO everloop_engine: run finished run=run_1 ms=12`.
    pub(super) fn text(&self, time: &str) -> String {
        let mut line = format!("{time} {:5} {}:", self.level.to_uppercase(), self.target);
        for (name, value) in self.message_first() {
            let _ = match value {
                Value::String(text) if *name == "message" => write!(line, " {text}"),
                Value::String(text) if is_one_word(text) => write!(line, " {name}={text}"),
                value => write!(line, " {name}={value}"),
            };
        }
        line
    }

    fn message_first(&self) -> impl Iterator<Item = &(&'static str, Value)> {
        let is_message = |field: &&(&str, Value)| field.0 == "message";
        let message = self.fields.0.iter().filter(is_message);
        message.chain(self.fields.0.iter().filter(move |field| !is_message(field)))
    }
}

fn is_one_word(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|letter| letter.is_alphanumeric() || "_-.:/#".contains(letter))
}

/// Writes each event as one line, with the fields of the spans around it.
pub(super) struct LineLayer {
    writer: Arc<LogWriter>,
}

impl LineLayer {
    pub(super) fn new(writer: Arc<LogWriter>) -> Self {
        Self { writer }
    }

    fn visitor<'f>(&self, fields: &'f mut LogFields) -> FieldVisitor<'f> {
        FieldVisitor { fields, keeps_content: self.writer.keeps_content }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for LineLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = LogFields::default();
        attributes.record(&mut self.visitor(&mut fields));
        span.extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, record: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(fields) = span.extensions_mut().get_mut::<LogFields>() {
            record.record(&mut self.visitor(fields));
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        let mut line = LogLine::new(level_name(*metadata.level()), metadata.target());
        let spans = context.event_scope(event).into_iter().flat_map(|scope| scope.from_root());
        for span in spans {
            if let Some(fields) = span.extensions().get::<LogFields>() {
                fields.0.iter().for_each(|(name, value)| line.set(name, value.clone()));
            }
        }
        event.record(&mut self.visitor(&mut line.fields));
        self.writer.write(&line);
    }
}

fn level_name(level: tracing::Level) -> &'static str {
    match level {
        tracing::Level::ERROR => "error",
        tracing::Level::WARN => "warn",
        tracing::Level::INFO => "info",
        tracing::Level::DEBUG => "debug",
        _ => "trace",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{LogFormat, LogSink};
    use std::io::{Read, Seek};
    use std::sync::Mutex;
    use tracing_subscriber::layer::SubscriberExt;

    /// The lines that are written while `work` runs.
    fn lines(format: LogFormat, keeps_content: bool, work: impl FnOnce()) -> Vec<String> {
        let mut file = tempfile::tempfile().unwrap();
        let sink = LogSink::File(Mutex::new(file.try_clone().unwrap()));
        let writer = Arc::new(LogWriter { sink, format, keeps_content });
        let subscriber = tracing_subscriber::registry().with(LineLayer::new(writer));
        tracing::subscriber::with_default(subscriber, work);
        let mut text = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut text).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    fn some_work() {
        let run = tracing::error_span!("run", run = "run_1", "loop" = tracing::field::Empty);
        let _in_run = run.enter();
        run.record("loop", "react");
        let _in_turn = tracing::error_span!("turn", turn = 2_u64).entered();
        tracing::info!(ms = 5_u64, content.goal = "the plan", "effect\nfinished");
    }

    #[test]
    fn an_event_is_one_object_with_the_fields_of_its_spans_and_without_content() {
        let lines = lines(LogFormat::Json, false, some_work);
        let [line] = &lines[..] else { panic!("{lines:?}") };
        let read: Value = serde_json::from_str(line).unwrap();
        assert!(line.starts_with("{\"time\":\"2") && line.contains("Z\",\"level\":\"info\""));
        assert_eq!(read["message"], "effect\nfinished");
        assert_eq!((&read["run"], &read["loop"]), (&"run_1".into(), &"react".into()));
        assert_eq!((&read["turn"], &read["ms"]), (&2.into(), &5.into()));
        assert!(!line.contains("goal") && !line.contains("the plan"), "{line}");
    }

    #[test]
    fn content_is_written_where_it_is_kept() {
        let lines = lines(LogFormat::Json, true, some_work);
        assert!(lines[0].contains("\"content.goal\":\"the plan\""), "{lines:?}");
    }

    #[test]
    fn text_is_for_people_and_still_one_line_of_fields() {
        let lines = lines(LogFormat::Text, true, || {
            tracing::warn!(run = "run_1", content.error = "no\nway", ms = 3_u64, "store failed");
        });
        let [line] = &lines[..] else { panic!("{lines:?}") };
        let end = "store failed run=run_1 content.error=\"no\\nway\" ms=3";
        assert!(line.contains(" WARN  everloop_app::log::line") && line.ends_with(end), "{line}");
    }
}
