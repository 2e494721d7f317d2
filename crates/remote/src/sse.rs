//! Server-sent events, as they come in pieces.

/// Bytes of one event.
const EVENT_BYTES_MAX: usize = 16 << 20;

/// An event has more than [`EVENT_BYTES_MAX`].
#[derive(Debug)]
pub(crate) struct EventOverflow;

/// Cuts a stream of bytes into the data of its events.
#[derive(Debug, Default)]
pub(crate) struct SseReader {
    bytes: Vec<u8>,
    data: String,
}

impl SseReader {
    /// Takes in bytes; the data of the events that are whole now.
    ///
    /// # Errors
    /// If an event is too long. Nothing of the stream can be read after that.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, EventOverflow> {
        // What is there already has no end of a line.
        let mut searched = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        let mut events = Vec::new();
        let (mut start, mut rest) = (0, &self.bytes[searched..]);
        while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
            let end = searched + at;
            take_line(
                &String::from_utf8_lossy(&self.bytes[start..end]),
                &mut self.data,
                &mut events,
            );
            start = end + 1;
            searched = start;
            rest = &self.bytes[start..];
        }
        self.bytes.drain(..start);
        match self.bytes.len() + self.data.len() <= EVENT_BYTES_MAX {
            true => Ok(events),
            false => Err(EventOverflow),
        }
    }
}

/// One line of an event; an empty one ends it.
fn take_line(line: &str, data: &mut String, events: &mut Vec<String>) {
    let line = line.trim_end_matches('\r');
    if line.is_empty() {
        if !data.is_empty() {
            events.push(std::mem::take(data));
        }
    } else if let Some(more) = line.strip_prefix("data:") {
        if !data.is_empty() {
            data.push('\n');
        }
        data.push_str(more.strip_prefix(' ').unwrap_or(more));
    }
}

#[cfg(test)]
mod tests {
    use super::SseReader;

    #[test]
    fn events_are_read_however_the_bytes_are_cut() {
        let stream = ": hello\nretry: 2000\n\nevent: a\ndata: {\"x\":\"快\"}\nid: 3\n\n\
                      data: one\ndata: two\n\n";
        let whole = ["{\"x\":\"快\"}".to_owned(), "one\ntwo".to_owned()];
        for at in 0..stream.len() {
            let mut reader = SseReader::default();
            let mut seen = reader.push(&stream.as_bytes()[..at]).expect("short");
            seen.extend(reader.push(&stream.as_bytes()[at..]).expect("short"));
            assert_eq!(seen, whole, "cut at {at}");
        }
    }

    #[test]
    fn an_event_that_is_too_long_is_an_error_and_not_the_end() {
        let mut reader = SseReader::default();
        let piece = vec![b'x'; 1 << 20];
        assert!(reader.push(b"data: ").is_ok());
        assert!((0..15).all(|_| reader.push(&piece).is_ok()));
        assert!((0..2).any(|_| reader.push(&piece).is_err()));
    }
}
