//! Decodes a stream of bytes into one reply, for every provider.
//!
//! ```text
//!   Unknown ──"{"──► Whole (a server that does not stream) ──end──► Reply
//!      └──else──► Stream ──stop reason or end mark──► complete ──end──► Reply
//!                    └──────────────end──► Cut
//! ```

use super::draft::ReplyDraft;
use super::fault::{clip, within};
use super::lines::{LineBuffer, SseLine};
use super::mend::mend;
use everloop_ports::Delta;
use everloop_types::{ModelError, ModelErrorKind, Reply};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// Reads the events of one provider.
pub(crate) trait EventReader: Default {
    /// One event, borrowed from its bytes.
    type Event<'a>: Deserialize<'a>;

    /// Takes one event into the draft; `data` is the JSON that it was read from.
    ///
    /// # Errors
    /// What the provider reports as an error.
    fn take(
        &mut self,
        event: Self::Event<'_>,
        data: &[u8],
        draft: &mut ReplyDraft,
        on_delta: &mut dyn FnMut(Delta<'_>),
    ) -> Result<(), ModelError>;
}

/// Reads a reply from its bytes, in whatever pieces they come.
#[derive(Debug)]
pub(crate) struct StreamDecoder<R> {
    shape: StreamShape,
    lines: LineBuffer,
    reader: StreamReader<R>,
}

#[derive(Debug)]
enum StreamShape {
    Unknown,
    Stream,
    Whole(Vec<u8>),
}

impl<R: EventReader> StreamDecoder<R> {
    /// A decoder for one reply of at most `reply_bytes_max` bytes of text, reasoning and calls.
    #[must_use]
    pub(crate) fn new(reply_bytes_max: usize) -> Self {
        let reader = StreamReader { reply_bytes_max, ..StreamReader::default() };
        Self { shape: StreamShape::Unknown, lines: LineBuffer::default(), reader }
    }

    /// Reads the next bytes.
    ///
    /// # Errors
    /// When the provider reports an error, or the bytes are not a reply, or there are too many.
    pub(crate) fn feed(
        &mut self,
        mut chunk: &[u8],
        on_delta: &mut dyn FnMut(Delta<'_>),
    ) -> Result<(), ModelError> {
        if matches!(self.shape, StreamShape::Unknown) {
            let blank = |b: &u8| b.is_ascii_whitespace() || [0xef, 0xbb, 0xbf].contains(b);
            let start = chunk.iter().position(|b| !blank(b)).unwrap_or(chunk.len());
            chunk = &chunk[start..];
            self.shape = match chunk.first() {
                None => StreamShape::Unknown,
                Some(b'{') => StreamShape::Whole(Vec::new()),
                Some(_) => StreamShape::Stream,
            };
        }
        if let StreamShape::Whole(body) = &mut self.shape {
            body.extend_from_slice(chunk);
            return self.reader.check_size(body.len());
        }
        let reader = &mut self.reader;
        self.lines.feed(chunk, |line| reader.take_line(line, on_delta))?;
        self.reader.check_size(self.lines.held())
    }

    /// Lines received other than comments and blank ones; it only grows.
    #[must_use]
    pub(crate) fn events(&self) -> usize {
        match &self.shape {
            StreamShape::Whole(body) => body.len(),
            StreamShape::Unknown | StreamShape::Stream => self.reader.said,
        }
    }

    /// Whether the server sent the end mark.
    #[must_use]
    pub(crate) fn is_done(&self) -> bool {
        self.reader.draft.is_done()
    }

    /// Whether the model has stopped, so that a connection that breaks now takes nothing from the
    /// reply but perhaps its usage.
    #[must_use]
    pub(crate) fn is_complete(&self) -> bool {
        self.reader.draft.is_complete()
    }

    /// The reply, when the bytes have ended.
    ///
    /// # Errors
    /// `Cut` if the end came too early, `Empty` if there was nothing in it.
    pub(crate) fn finish(
        mut self,
        on_delta: &mut dyn FnMut(Delta<'_>),
    ) -> Result<Reply, ModelError> {
        match self.shape {
            StreamShape::Unknown => {
                return Err(ModelError::new(ModelErrorKind::Empty, "the reply has no body"));
            }
            StreamShape::Whole(body) => self.reader.take_whole(&body, on_delta)?,
            StreamShape::Stream => {
                let last = self.lines.finish();
                self.reader.take_end(&last, on_delta)?;
            }
        }
        self.reader.finish()
    }
}

/// What was understood so far.
#[derive(Debug, Default)]
struct StreamReader<R> {
    reads: R,
    draft: ReplyDraft,
    reply_bytes_max: usize,
    /// Data of an event whose JSON goes on in the next line.
    open: Vec<u8>,
    /// Lines of server-sent events, and the first line that is not one.
    known: usize,
    stranger: String,
    /// Lines that were neither comments nor blank.
    said: usize,
}

impl<R: EventReader> StreamReader<R> {
    fn take_line(
        &mut self,
        line: &[u8],
        on_delta: &mut dyn FnMut(Delta<'_>),
    ) -> Result<(), ModelError> {
        let line = SseLine::read(line);
        self.known += usize::from(matches!(line, SseLine::Nothing | SseLine::Data(_)));
        self.said += usize::from(matches!(line, SseLine::Data(_)));
        match line {
            SseLine::Nothing => Ok(()),
            SseLine::Blank if self.open.is_empty() => Ok(()),
            SseLine::Blank => {
                let data = std::mem::take(&mut self.open);
                self.take_data(&data, on_delta)?.map_err(|e| malformed(&e, &data))
            }
            SseLine::Data(_) if self.draft.is_done() => Ok(()),
            SseLine::Data(data) => self.take_data_line(data, on_delta),
            SseLine::Stranger(line) => {
                if self.stranger.is_empty() {
                    self.stranger = clip(&String::from_utf8_lossy(line));
                }
                Ok(())
            }
        }
    }

    /// A line that is JSON by itself is taken at once, so that servers without blank lines between
    /// their events are understood; any other waits for the lines that complete it.
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
                self.draft.end();
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
        match serde_json::from_slice::<R::Event<'_>>(data) {
            Ok(event) => self.take_event(event, data, on_delta).map(Ok),
            Err(e) if e.is_eof() => Ok(Err(e)),
            Err(_) => {
                let mended = mend(data);
                match serde_json::from_str::<R::Event<'_>>(&mended) {
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
            Ok(()) if self.draft.has_events() => {
                self.draft.end();
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
        if !last.is_empty() && SseLine::is_torn(last) {
            self.known += 1;
            return Ok(());
        }
        let read = match self.take_line(last, on_delta) {
            Ok(()) => self.take_line(b"", on_delta),
            failed => failed,
        };
        match read {
            Err(e) if e.kind == ModelErrorKind::Malformed && self.draft.is_complete() => Ok(()),
            Err(e) if e.kind == ModelErrorKind::Malformed => {
                Err(ModelError::new(ModelErrorKind::Cut, "the stream broke off inside of an event"))
            }
            read => read,
        }
    }

    fn take_event(
        &mut self,
        event: R::Event<'_>,
        data: &[u8],
        on_delta: &mut dyn FnMut(Delta<'_>),
    ) -> Result<(), ModelError> {
        self.reads.take(event, data, &mut self.draft, on_delta)?;
        self.check_size(self.draft.bytes())
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
        self.draft.finish()
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

/// Bytes of a malformed reply that an error shows.
const SHOWN_BYTES_MAX: usize = 800;

fn malformed(error: &serde_json::Error, data: &[u8]) -> ModelError {
    ModelError::new(ModelErrorKind::Malformed, format!("{error} in: {}", lossy(data)))
}

fn lossy(data: &[u8]) -> String {
    clip(&String::from_utf8_lossy(within(data, SHOWN_BYTES_MAX)))
}
