//! Patterns on paths and hosts, and what an address or a path means before it is compared.
//!
//! Whatever can be read in two ways is read in none: the caller decides what that means for it.

use core::net::Ipv6Addr;

/// Whether a path fits a pattern. `?` is one character, `*` any characters of one part, `**` any
/// parts, also none.
#[must_use]
pub fn path_fits(pattern: &str, path: &str) -> bool {
    let parts = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
    parts_fit(&parts(pattern), &parts(path))
}

fn parts_fit(pattern: &[String], path: &[String]) -> bool {
    match pattern.split_first() {
        None => path.is_empty(),
        Some((first, rest)) if first == "**" => {
            (0..=path.len()).any(|skipped| parts_fit(rest, &path[skipped..]))
        }
        Some((first, rest)) => path
            .split_first()
            .is_some_and(|(part, others)| word_fits(first, part) && parts_fit(rest, others)),
    }
}

/// Whether a word fits a pattern in which `*` is any characters and `?` one.
pub(crate) fn word_fits(pattern: &str, word: &str) -> bool {
    let (pattern, word): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), word.chars().collect());
    let (mut p, mut w, mut star) = (0, 0, None);
    while w < word.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, w));
                p += 1;
            }
            Some(letter) if *letter == '?' || *letter == word[w] => (p, w) = (p + 1, w + 1),
            // The last star takes one more character.
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    (p, w) = (at + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|letter| *letter == '*')
}

/// A path within the workspace, without `.`, `..` and the workspace itself; `.` for the workspace.
/// None for one that leaves it, or may.
#[must_use]
pub fn path_within(path: &str, workspace: &str) -> Option<String> {
    let inner = match path.strip_prefix('/') {
        None => path,
        Some(_) => match path.strip_prefix(workspace.trim_end_matches('/'))? {
            "" => ".",
            inner => inner.strip_prefix('/')?,
        },
    };
    if inner.contains(['\\', '\0']) {
        return None;
    }
    let mut parts = Vec::new();
    for part in inner.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(if parts.is_empty() { ".".to_owned() } else { parts.join("/") })
}

/// The host of an address, in lower case and in its shortest form, with its port unless that is
/// the scheme's own. None for an address that two readers could read in two ways.
#[must_use]
pub fn host_of(address: &str) -> Option<String> {
    let (scheme, rest) = address.split_once("://")?;
    if !["http", "https"].iter().any(|known| known.eq_ignore_ascii_case(scheme)) {
        return None;
    }
    let host = rest.split(['/', '?', '#']).next()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
    let is_plain = !host.is_empty() && host.chars().all(plain);
    let no_tricks = address.chars().all(|c| !c.is_control() && c != '\\');
    if !is_plain || !no_tricks {
        return None;
    }
    let host = host.to_ascii_lowercase();
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, shortest_port(scheme, port)?),
        _ => (host.as_str(), String::new()),
    };
    if name.contains([':', '[', ']']) {
        return Some(format!("{}{port}", shortest_six(name)?));
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_number = last.starts_with(|c: char| c.is_ascii_digit());
    // A number can be written in many ways, and only one of them is that of the rules.
    if name.is_empty() || is_number && !is_dotted(name) {
        return None;
    }
    Some(format!("{name}{port}"))
}

/// The port that an address means if it names none.
pub(crate) fn own_port(address: &str) -> u16 {
    let is_safe =
        address.split_once("://").is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("https"));
    if is_safe { 443 } else { 80 }
}

/// A port with its colon; nothing for the scheme's own. None for another spelling of a number.
fn shortest_port(scheme: &str, port: &str) -> Option<String> {
    let number = port.parse::<u16>().ok().filter(|number| number.to_string() == port)?;
    match number == own_port(&format!("{scheme}://")) {
        true => Some(String::new()),
        false => Some(format!(":{number}")),
    }
}

/// An address of the sixth version in its brackets, in its shortest form. None for one that stands
/// for one of the fourth.
pub(crate) fn shortest_six(name: &str) -> Option<String> {
    let inner = name.strip_prefix('[')?.strip_suffix(']')?;
    let address: Ipv6Addr = inner.parse().ok()?;
    let is_four = address.to_ipv4().is_some() && !address.is_loopback();
    (!is_four).then(|| format!("[{address}]"))
}

/// Whether it is an address in four parts, each in its shortest form.
fn is_dotted(name: &str) -> bool {
    let shortest = |part: &str| part.parse::<u8>().is_ok_and(|number| number.to_string() == part);
    name.split('.').count() == 4 && name.split('.').all(shortest)
}

#[cfg(test)]
mod tests {
    use super::{host_of, path_fits, path_within, word_fits};

    #[test]
    fn a_star_stays_in_its_part_and_two_cross_them() {
        for (pattern, fits, fits_not) in [
            ("src/**", &["src/a.rs", "src/a/b.rs", "src"][..], &["srcs/a", "a/src/b"][..]),
            ("src/*.rs", &["src/a.rs"], &["src/a/b.rs", "src/a.txt"]),
            ("**/AGENTS.md", &["AGENTS.md", "a/b/AGENTS.md"], &["AGENTS.md/x"]),
            ("**", &[".", "a", "a/b"], &[]),
            ("a?c", &["abc"], &["ac", "a/c"]),
        ] {
            for path in fits {
                assert!(path_fits(pattern, path), "{pattern} {path}");
            }
            for path in fits_not {
                assert!(!path_fits(pattern, path), "{pattern} {path}");
            }
        }
        assert!(word_fits("git_*", "git_push") && !word_fits("git_*", "gitpush"));
        assert!(word_fits("*.example.com", "a.example.com"));
        assert!(!word_fits("*.example.com", "example.com.evil"));
        assert!(word_fits("*a*b*", "xaxbx") && !word_fits("*a*b", "ba"));
    }

    #[test]
    fn a_path_is_compared_without_its_detours() {
        for (path, means) in [
            ("./src/../a.txt", Some("a.txt")),
            ("src//b.rs", Some("src/b.rs")),
            ("/project/src/b.rs", Some("src/b.rs")),
            ("/project", Some(".")),
            ("/projects/x", None),
            ("../x", None),
            ("src/../../x", None),
            ("/etc/passwd", None),
            ("a\\b", None),
        ] {
            assert_eq!(path_within(path, "/project").as_deref(), means, "{path}");
        }
    }

    #[test]
    fn an_address_that_could_be_read_in_two_ways_has_no_host() {
        for (address, host) in [
            ("https://API.example.com/v1?x=1", Some("api.example.com")),
            ("http://localhost:8080", Some("localhost:8080")),
            ("http://[::1]:80/a", Some("[::1]")),
            ("https://[::1]:80/a", Some("[::1]:80")),
            ("http://[0:0:0:0:0:0:0:1]:8080/", Some("[::1]:8080")),
            ("http://[::0001]/", Some("[::1]")),
            ("http://[::ffff:127.0.0.1]/", None),
            ("http://[::1/", None),
            ("https://a.example:443/", Some("a.example")),
            ("http://1.2.3.4:08080/", None),
            ("http://1.2.3.4:/", None),
            ("http://1.2.3.4:99999/", None),
            ("https://a.example@evil.example/", None),
            ("https://a.example\\.evil.example/", None),
            ("https://a.exa\tmple/", None),
            ("https://evil.example./x", Some("evil.example")),
            ("https://evil.example.:8443/x", Some("evil.example:8443")),
            ("http://1.2.3.4/", Some("1.2.3.4")),
            ("http://0x01020304/", None),
            ("http://16909060/", None),
            ("http://1.2.772/", None),
            ("http://01.02.03.04/", None),
            ("https:///x", None),
            ("ftp://a.example/", None),
            ("https://ex\u{e4}mple.com/", None),
        ] {
            assert_eq!(host_of(address).as_deref(), host, "{address}");
        }
    }
}
