//! Server-sent events, as they come in pieces.

/// Bytes of one event.
const EVENT_BYTES_MAX: usize = 16 << 20;

/// Cuts a stream of bytes into the data of its events.
#[derive(Debug, Default)]
pub(crate) struct SseReader {
    bytes: Vec<u8>,
    data: String,
}

impl SseReader {
    /// Takes in bytes; the data of the events that are whole now. None if one is too long.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Option<Vec<String>> {
        self.bytes.extend_from_slice(bytes);
        let mut events = Vec::new();
        while let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.bytes.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches(['\n', '\r']);
            if line.is_empty() {
                if !self.data.is_empty() {
                    events.push(std::mem::take(&mut self.data));
                }
            } else if let Some(data) = line.strip_prefix("data:") {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
            }
        }
        (self.bytes.len() + self.data.len() <= EVENT_BYTES_MAX).then_some(events)
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
}
