//! Addresses that pages and answers contain.

use std::fmt::Write;

/// A text as one part of an address: a segment of a path, or a value of a query.
pub(crate) fn percent_encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

/// A path with a query; values that are empty are left out.
pub(crate) fn with_query(path: &str, values: &[(&str, &str)]) -> String {
    let mut address = path.to_owned();
    for (name, value) in values.iter().filter(|(_, value)| !value.is_empty()) {
        address.push(if address.contains('?') { '&' } else { '?' });
        address.push_str(name);
        address.push('=');
        address.push_str(&percent_encoded(value));
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_leave_its_part_of_an_address() {
        assert_eq!(percent_encoded("a b/é\"\r\n.txt"), "a%20b%2F%C3%A9%22%0D%0A.txt");
        assert_eq!(percent_encoded("a b&c=发票"), "a%20b%26c%3D%E5%8F%91%E7%A5%A8");
        let values = [("tool", "mcp&x=1"), ("day", ""), ("from", "50")];
        assert_eq!(with_query("/v1/audit", &values), "/v1/audit?tool=mcp%26x%3D1&from=50");
    }
}
