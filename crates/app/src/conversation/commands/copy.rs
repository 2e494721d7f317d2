//! `/copy`: the last answer, or its last block of code, for the clipboard.

use super::super::{ChatReply, Conversation, Reaction};
use crate::slash::{SlashLine, SlashResult};

/// Messages among which the last answer is looked for.
const LOOKED_AT: usize = 50;

/// What `/copy` takes of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyPart {
    /// All of it.
    Answer,
    /// Its last block of code.
    Code,
}

/// `/copy [code]`.
pub(super) async fn copy(chat: &mut Conversation, line: &SlashLine) -> SlashResult {
    let part = match line.rest.as_str() {
        "" => CopyPart::Answer,
        "code" => CopyPart::Code,
        _ => return Ok(ChatReply::Usage(line.command).into()),
    };
    let conversation = &chat.place.id;
    let said = chat.store().conversations().messages(conversation, LOOKED_AT).await?;
    let answers = said.iter().rev().filter(|said| said.slot == "final");
    let mut found = answers.filter_map(|said| match part {
        CopyPart::Answer => Some(said.body.trim().to_owned()),
        CopyPart::Code => last_code_block(&said.body),
    });
    match found.find(|text| !text.is_empty()) {
        Some(text) => Ok(Reaction::Copy(text)),
        None => Ok(ChatReply::NothingToCopy(part).into()),
    }
}

/// The last fenced block of a Markdown text, without its fences.
fn last_code_block(text: &str) -> Option<String> {
    let mut found = None;
    let mut block: Option<(String, Vec<&str>)> = None;
    for line in text.lines() {
        let fence = line.trim_start();
        match &mut block {
            Some((open, _)) if is_fence_end(fence, open) => {
                found = block.take().map(|(_, lines)| lines.join("\n"));
            }
            Some((_, lines)) => lines.push(line),
            None => block = fence_of(fence).map(|open| (open, Vec::new())),
        }
    }
    found
}

/// The mark that begins a block: three or more of one kind.
fn fence_of(line: &str) -> Option<String> {
    ['`', '~'].into_iter().find_map(|mark| {
        let open: String = line.chars().take_while(|c| *c == mark).collect();
        (open.len() >= 3).then_some(open)
    })
}

fn is_fence_end(line: &str, open: &str) -> bool {
    let mark = open.chars().next().unwrap_or('`');
    line.starts_with(open) && line.trim_end().chars().all(|c| c == mark)
}

#[cfg(test)]
mod tests {
    use super::last_code_block;

    #[test]
    fn the_last_whole_block_of_code_is_found() {
        let text = "a\n```sh\nls\n```\nb\n~~~~\nx\n~~~\ny\n~~~~\n";
        assert_eq!(last_code_block(text).as_deref(), Some("x\n~~~\ny"));
        assert_eq!(last_code_block("```\none\n```\n```\nnever ends").as_deref(), Some("one"));
        assert_eq!(last_code_block("no `code` here"), None);
    }
}
