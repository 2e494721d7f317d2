//! What of a text is code or an address. A reader sees it, so it is little: code that holds only a
//! number is a number, and so is what stands in a box without a language.

use std::ops::Range;

/// Languages of boxes that hold code and not words.
const CODE: [&str; 14] = [
    "sql", "sqlite", "python", "py", "json", "csv", "sh", "bash", "shell", "console", "r", "yaml",
    "toml", "mermaid",
];

/// Code, links and addresses.
pub(super) fn skipped(text: &str) -> Vec<Range<usize>> {
    let mut regions = Vec::new();
    let mut at = 0;
    let mut fence: Option<CodeFence> = None;
    for line in text.split_inclusive('\n') {
        let is_end = fence.as_ref().is_some_and(|open| open.is_ended_by(line));
        match &fence {
            Some(open) if is_end => {
                if open.is_code {
                    regions.push(open.start..at + line.len());
                }
                fence = None;
            }
            Some(_) => {}
            None => {
                fence = CodeFence::opened_by(line, at);
                if fence.is_none() {
                    in_line(line, at, &mut regions);
                }
            }
        }
        at += line.len();
    }
    if let Some(open) = fence.filter(|open| open.is_code) {
        regions.push(open.start..text.len());
    }
    regions
}

/// A box of code that is open.
#[derive(Debug)]
struct CodeFence {
    start: usize,
    sign: char,
    count: usize,
    is_code: bool,
}

impl CodeFence {
    fn opened_by(line: &str, start: usize) -> Option<Self> {
        let line = line.trim_start();
        let sign = line.chars().next().filter(|sign| ['`', '~'].contains(sign))?;
        let count = line.chars().take_while(|c| *c == sign).count();
        let told = line[count..].trim();
        // A line with more of them is inline code.
        if count < 3 || sign == '`' && told.contains('`') {
            return None;
        }
        let language = told.split([' ', '{']).next().unwrap_or_default().to_lowercase();
        Some(Self { start, sign, count, is_code: CODE.contains(&language.as_str()) })
    }

    fn is_ended_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.chars().all(|c| c == self.sign) && line.len() >= self.count
    }
}

fn in_line(line: &str, at: usize, regions: &mut Vec<Range<usize>>) {
    code_spans(line, at, regions);
    for (open, _) in line.match_indices("](") {
        let is_link = line[..open].contains('[');
        let inside = open + 2;
        let end = line[inside..].find(')').map(|end| inside + end + 1);
        if let Some(end) = end.filter(|_| is_link) {
            regions.push(at + inside..at + end);
        }
    }
    for (start, _) in line.match_indices("http") {
        let rest = &line[start..];
        if rest.starts_with("http://") || rest.starts_with("https://") {
            let is_end = |c: char| c.is_whitespace() || !c.is_ascii() || "<>\"')|`*".contains(c);
            let end = rest.find(is_end).unwrap_or(rest.len());
            regions.push(at + start..at + start + end);
        }
    }
}

/// Code between signs of the same count; a sign without its partner is only a sign.
fn code_spans(line: &str, at: usize, regions: &mut Vec<Range<usize>>) {
    let signs = |from: usize| line[from..].bytes().take_while(|byte| *byte == b'`').count();
    let mut from = 0;
    while let Some(found) = line[from..].find('`') {
        let start = from + found;
        let count = signs(start);
        let inside = start + count;
        let mut next = inside;
        let mut end = None;
        while let Some(found) = line[next..].find('`') {
            let place = next + found;
            let own = signs(place);
            if own == count {
                end = Some(place);
                break;
            }
            next = place + own;
        }
        let Some(end) = end else {
            from = inside;
            continue;
        };
        if !is_only_a_number(&line[inside..end]) {
            regions.push(at + start..at + end + count);
        }
        from = end + count;
    }
}

/// Whether code is a number with its sign and its unit, which a reader takes for a number.
fn is_only_a_number(code: &str) -> bool {
    let is_sign = |c: char| " +-−~≈¥￥$€£*".contains(c);
    let code = code.trim_matches(is_sign);
    let unsigned = code.trim_start_matches(|c: char| c.is_ascii_uppercase() || is_sign(c));
    let currency = code.len() - unsigned.len();
    let rest = unsigned.trim_start_matches(|c: char| c.is_ascii_digit() || ",. ".contains(c));
    let letters = rest.chars().filter(|c| c.is_alphabetic()).count();
    unsigned.starts_with(|c: char| c.is_ascii_digit())
        && currency <= 4
        && letters <= 8
        && rest.chars().all(|c| c.is_alphabetic() || " %％/".contains(c))
}
