//! What the model sees of an answer: text as it is, everything else in words.

use everloop_ports::BY_OTHERS;
use everloop_tools::clip;
use everloop_types::Observation;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

/// What the protocol may have later.
const UNKNOWN: &str = "[content of a kind that is not known here]";

/// The whole answer as text.
pub(super) fn observed(result: &CallToolResult) -> Observation {
    let mut parts: Vec<String> = result.content.iter().map(part).collect();
    if let Some(value) = &result.structured_content
        && parts.is_empty()
    {
        parts.push(value.to_string());
    }
    let text = match parts.is_empty() {
        true => "(no content)".to_owned(),
        false => parts.join("\n"),
    };
    match result.is_error {
        Some(true) => Observation::error(text),
        _ => Observation::ok(text),
    }
}

/// Clean, below the line that says whose words they are, and no longer than the model may be shown.
pub(super) fn bounded(seen: Observation, chars_max: usize) -> Observation {
    let room = chars_max.saturating_sub(BY_OTHERS.len() + 1);
    let text = clip::ends(&everloop_tools::clean(seen.text.as_bytes()), room);
    let text = clip::head(&format!("{BY_OTHERS}\n{text}"), chars_max);
    Observation { text, ..seen }
}

fn part(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => not_shown("image", &image.mime_type, &image.data),
        ContentBlock::Audio(audio) => not_shown("audio", &audio.mime_type, &audio.data),
        ContentBlock::Resource(embedded) => resource(&embedded.resource),
        ContentBlock::ResourceLink(link) => {
            let kind = link.mime_type.as_deref().unwrap_or("of unknown type");
            format!("[link to {} ({}), {kind}; not opened]", link.uri, link.name)
        }
        _ => UNKNOWN.to_owned(),
    }
}

fn resource(contents: &ResourceContents) -> String {
    match contents {
        ResourceContents::TextResourceContents { uri, text, .. } => {
            format!("[resource {uri}]\n{text}")
        }
        ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
            let kind = mime_type.as_deref().unwrap_or("of unknown type");
            not_shown(&format!("resource {uri}"), kind, blob)
        }
        _ => UNKNOWN.to_owned(),
    }
}

fn not_shown(what: &str, kind: &str, base64: &str) -> String {
    format!("[{what}, {kind}, {} bytes; not shown]", base64.trim_end_matches('=').len() * 3 / 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use everloop_types::Ending;
    use serde_json::json;

    fn seen(result: serde_json::Value) -> Observation {
        let seen = bounded(observed(&serde_json::from_value(result).unwrap()), 1_000);
        let marked = seen.text.strip_prefix(BY_OTHERS).unwrap();
        Observation { text: marked.strip_prefix('\n').unwrap().to_owned(), ..seen }
    }

    #[test]
    fn what_is_no_text_is_described() {
        let result = json!({"content": [
            {"type": "text", "text": "plain\u{1b}[31m"},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "file:///a", "text": "inner"}},
            {"type": "resource", "resource": {"uri": "file:///b", "blob": "AAA="}},
            {"type": "resource_link", "uri": "file:///c", "name": "c"},
        ]});
        let expected = "plain\n[image, image/png, 3 bytes; not shown]\n\
                        [resource file:///a]\ninner\n\
                        [resource file:///b, of unknown type, 2 bytes; not shown]\n\
                        [link to file:///c (c), of unknown type; not opened]";
        assert_eq!(seen(result), Observation::ok(expected));
    }

    #[test]
    fn an_error_is_one_and_structure_counts_where_there_is_no_text() {
        let error = json!({"content": [{"type": "text", "text": "no"}], "isError": true});
        assert_eq!(seen(error).ending, Ending::Error);
        let structured = json!({"content": [], "structuredContent": {"a": 1}});
        assert_eq!(seen(structured), Observation::ok(r#"{"a":1}"#));
        assert_eq!(seen(json!({"content": []})), Observation::ok("(no content)"));
    }
}
