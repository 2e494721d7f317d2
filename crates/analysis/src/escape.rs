//! Text of the user's inside of HTML, SVG, Markdown and CSV.

/// For HTML and SVG, also inside of attributes. Control characters, which SVG may not have, go.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c if c.is_control() && c != '\n' && c != '\t' => {}
            c => escaped.push(c),
        }
    }
    escaped
}

/// One cell of a Markdown table.
pub(crate) fn table_cell(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace(['\n', '\r'], " ").replace('<', "&lt;")
}

/// One field of a CSV file. What a spreadsheet would run as a formula gets an apostrophe.
pub(crate) fn csv_field(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r'])
        && crate::exact::Exact::parse(text.trim()).is_none();
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_not_handed_on_to_a_spreadsheet() {
        assert_eq!(csv_field("=HYPERLINK(\"x\")"), "\"'=HYPERLINK(\"\"x\"\")\"");
        assert_eq!(csv_field("@SUM(A1)"), "'@SUM(A1)");
        assert_eq!(csv_field("-5.2"), "-5.2");
    }

    #[test]
    fn no_text_of_the_data_becomes_markup() {
        assert_eq!(escape("<script>&'\"\u{7}"), "&lt;script&gt;&amp;&#39;&quot;");
    }
}
