//! Smaller style sheets, scripts and pictures: without comments, and without space that means
//! nothing.
//!
//! Deliberately absent: anything that has to understand a script. A line loses its comment and the
//! spaces around signs, as far as it is sure to be neither a text nor a regular expression.

/// A style sheet. Texts in quotes stay as they are.
pub(crate) fn style(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut space) = (text, false);
    while let Some(next) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("/*") {
            rest = after.split_once("*/").map_or("", |(_, rest)| rest);
            continue;
        }
        if next.is_whitespace() {
            (space, rest) = (true, &rest[next.len_utf8()..]);
            continue;
        }
        let means_nothing = out.is_empty() || out.ends_with(['{', '}', ';', ':', ',', '(']);
        if space && !means_nothing && !matches!(next, '{' | '}' | ';' | ',' | ')') {
            out.push(' ');
        }
        space = false;
        if next == '}' && out.ends_with(';') {
            out.pop();
        }
        let taken = match next {
            '"' | '\'' => 1 + rest[1..].find(next).map_or(rest.len() - 1, |end| end + 1),
            _ => next.len_utf8(),
        };
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    out
}

/// A script. It has no text over several lines.
pub(crate) fn script(text: &str) -> String {
    let lines = text.lines().map(|line| tight(line.trim()));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Signs that need no space around them. Not so plus and minus: two of them may be one.
const SIGNS: [char; 15] =
    ['=', ',', ';', ':', '?', '{', '}', '(', ')', '[', ']', '&', '|', '<', '>'];

fn tight(line: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(line.len()), line);
    while let Some(next) = rest.chars().next() {
        let after = &rest[next.len_utf8()..];
        match next {
            '"' | '\'' | '`' => {
                let end = end_of_text(after, next);
                out.push_str(&rest[..=end]);
                rest = &rest[end + 1..];
                continue;
            }
            '/' if after.starts_with('/') => return out.trim_end().to_owned(),
            // A regular expression, or what looks like one.
            '/' => return out + rest,
            ' ' if out.ends_with(SIGNS) || after.starts_with(SIGNS) || after.starts_with(' ') => {}
            _ => out.push(next),
        }
        rest = after;
    }
    out
}

/// Where the quote is that ends a text, counted from its beginning.
fn end_of_text(inside: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, one) in inside.char_indices() {
        match one {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if one == quote => return at + 1,
            _ => {}
        }
    }
    inside.len()
}

/// A picture as SVG.
pub(crate) fn picture(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if !out.is_empty() && !out.ends_with('>') {
            out.push(' ');
        }
        out.push_str(line);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_sheet_loses_comments_and_spaces_and_keeps_what_they_mean() {
        let text = "/* a */\n.a .b, .c > d:not(.e) :is(f) {\n  width: calc(1px + 2em) ;\n  \
                    content: \" { ; \";\n}\n@media (min-width: 1px) and (max-width: 2px) { i { } }";
        let small = ".a .b,.c > d:not(.e) :is(f){width:calc(1px + 2em);content:\" { ; \"}\
                     @media (min-width:1px) and (max-width:2px){i{}}";
        assert_eq!(style(text), small);
        assert_eq!(style(small), small);
    }

    #[test]
    fn a_script_loses_comments_and_spaces_but_not_those_of_texts_and_expressions() {
        let text = "// a\nif (b && c) {\n  d(\" ; // \", `${e} , f`); // g\n\n}\n\
                    h = i + +j;\nk = l.replace(/ , /, \" \"); // m\nreturn 1 / 2;";
        let small = "if(b&&c){\nd(\" ; // \",`${e} , f`);\n}\n\
                     h=i + +j;\nk=l.replace(/ , /, \" \"); // m\nreturn 1 / 2;";
        assert_eq!(script(text), small);
    }

    #[test]
    fn a_picture_keeps_the_space_between_attributes() {
        assert_eq!(picture("<svg\n  a=\"1\">\n  <g/>\n</svg>\n"), "<svg a=\"1\"><g/></svg>");
    }
}
