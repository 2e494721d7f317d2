//! A unified diff of two texts, for people.
//!
//! ```text
//!   lines ──► equal beginnings and ends set aside ──► Myers' shortest edit ──► hunks with context
//! ```
//!
//! Bounded: where the shortest edit is too long to look for, the whole middle counts as replaced,
//! which is still a correct diff. What is not text has none.
//!
//! Deliberately absent: colors (a surface's), file names, and patches that a program could apply:
//! lines are cleaned and cut.

use crate::clean;

/// Edits of a shortest edit that are looked for. Time and memory grow with its square.
const EDITS_MAX: usize = 1_000;

/// Lines of a diff that are kept.
const LINES_MAX: usize = 200;

/// Characters of one line.
const LINE_CHARS_MAX: usize = 300;

/// Texts above this size are not compared.
const TEXT_BYTES_MAX: usize = 4_000_000;

/// What differs between two contents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnifiedDiff {
    /// Lines that are new.
    pub added: usize,
    /// Lines that are gone.
    pub removed: usize,
    /// `@@ … @@`, then lines that begin with a blank, `-` or `+`.
    pub lines: Vec<String>,
    /// Lines that are left out.
    pub more: usize,
}

/// The diff of two contents with so many equal lines around each change. Empty if one of them is
/// not text, or is too large.
#[must_use]
pub fn unified(old: &[u8], new: &[u8], context: usize) -> UnifiedDiff {
    let is_text = |bytes: &[u8]| bytes.len() <= TEXT_BYTES_MAX && !bytes.contains(&0);
    let (Ok(old), Ok(new)) = (std::str::from_utf8(old), std::str::from_utf8(new)) else {
        return UnifiedDiff::default();
    };
    if !is_text(old.as_bytes()) || !is_text(new.as_bytes()) {
        return UnifiedDiff::default();
    }
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    written(&edits(&old, &new), context)
}

/// One line of both texts, or of one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DiffLine<'t> {
    Equal(&'t str),
    Removed(&'t str),
    Added(&'t str),
}

fn edits<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<DiffLine<'t>> {
    let head = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let rest = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = rest.take_while(|(old, new)| old == new).count();
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let mut all: Vec<DiffLine<'t>> = old[..head].iter().map(|line| DiffLine::Equal(line)).collect();
    let (gone, come) = (&old[head..old_end], &new[head..new_end]);
    match shortest_edit(gone, come) {
        Some(found) => all.extend(found),
        None => {
            all.extend(gone.iter().map(|line| DiffLine::Removed(line)));
            all.extend(come.iter().map(|line| DiffLine::Added(line)));
        }
    }
    all.extend(old[old_end..].iter().map(|line| DiffLine::Equal(line)));
    all
}

/// Myers' greedy algorithm. `reached` has the furthest line of `old` on each diagonal; its state
/// before each round is kept for the way back.
fn shortest_edit<'t>(old: &[&'t str], new: &[&'t str]) -> Option<Vec<DiffLine<'t>>> {
    let most = (old.len() + new.len()).min(EDITS_MAX);
    let middle = most + 1;
    let mut reached = vec![0_usize; 2 * most + 3];
    let mut rounds: Vec<Vec<usize>> = Vec::new();
    for round in 0..=most {
        // Only the diagonals of this round are ever looked at again.
        rounds.push(reached[middle - round - 1..=middle + round + 1].to_vec());
        for at in (middle - round..=middle + round).step_by(2) {
            let down =
                at == middle - round || (at != middle + round && reached[at - 1] < reached[at + 1]);
            let mut x = if down { reached[at + 1] } else { reached[at - 1] + 1 };
            let mut y = (x + middle).checked_sub(at)?;
            while x < old.len() && y < new.len() && old[x] == new[y] {
                x += 1;
                y += 1;
            }
            reached[at] = x;
            if x >= old.len() && y >= new.len() {
                return Some(way_back(old, new, &rounds));
            }
        }
    }
    None
}

fn way_back<'t>(old: &[&'t str], new: &[&'t str], rounds: &[Vec<usize>]) -> Vec<DiffLine<'t>> {
    let (mut x, mut y) = (old.len(), new.len());
    let mut found = Vec::new();
    for (round, reached) in rounds.iter().enumerate().rev() {
        // Diagonal `x - y` is at this place of what was kept of the round.
        let at = (x + round + 1) - y;
        let down = at == 1 || (at != 2 * round + 1 && reached[at - 1] < reached[at + 1]);
        let from = if down { reached[at + 1] } else { reached[at - 1] };
        let (start_x, start_y) = match (round, down) {
            (0, _) => (0, 0),
            (_, true) => (from, (from + round) - at),
            (_, false) => (from, (from + round + 2) - at),
        };
        let (ahead_x, ahead_y) = match (round, down) {
            (0, _) => (0, 0),
            (_, true) => (start_x, start_y + 1),
            (_, false) => (start_x + 1, start_y),
        };
        while x > ahead_x && y > ahead_y {
            (x, y) = (x - 1, y - 1);
            found.push(DiffLine::Equal(old[x]));
        }
        if round > 0 {
            found.push(if down {
                DiffLine::Added(new[start_y])
            } else {
                DiffLine::Removed(old[start_x])
            });
        }
        (x, y) = (start_x, start_y);
    }
    found.reverse();
    found
}

/// The hunks: changes less than two contexts apart share one.
fn written(all: &[DiffLine<'_>], context: usize) -> UnifiedDiff {
    let is_change = |line: &DiffLine<'_>| !matches!(line, DiffLine::Equal(_));
    let mut diff = UnifiedDiff {
        added: all.iter().filter(|line| matches!(line, DiffLine::Added(_))).count(),
        removed: all.iter().filter(|line| matches!(line, DiffLine::Removed(_))).count(),
        ..UnifiedDiff::default()
    };
    let mut hunks: Vec<(usize, usize)> = Vec::new();
    for (at, _) in all.iter().enumerate().filter(|(_, line)| is_change(line)) {
        let (from, to) = (at.saturating_sub(context), (at + context + 1).min(all.len()));
        match hunks.last_mut() {
            Some(last) if from <= last.1 => last.1 = to,
            _ => hunks.push((from, to)),
        }
    }
    let mut lines = Vec::new();
    let (mut old_at, mut new_at, mut place) = (0, 0, 0);
    for (from, to) in hunks {
        let skipped = from - place;
        (old_at, new_at, place) = (old_at + skipped, new_at + skipped, to);
        let hunk = &all[from..to];
        let old = hunk.iter().filter(|line| !matches!(line, DiffLine::Added(_))).count();
        let new = hunk.iter().filter(|line| !matches!(line, DiffLine::Removed(_))).count();
        let (old_side, new_side) = (side(old_at, old), side(new_at, new));
        lines.push(format!("@@ -{old_side} +{new_side} @@"));
        lines.extend(hunk.iter().map(shown));
        (old_at, new_at) = (old_at + old, new_at + new);
    }
    diff.more = lines.len().saturating_sub(LINES_MAX);
    lines.truncate(LINES_MAX);
    diff.lines = lines;
    diff
}

/// Where one side of a hunk is: its first line, and how many if it is not one.
fn side(before: usize, count: usize) -> String {
    match count {
        0 => format!("{before},0"),
        1 => format!("{}", before + 1),
        _ => format!("{},{count}", before + 1),
    }
}

fn shown(line: &DiffLine<'_>) -> String {
    let (mark, text) = match line {
        DiffLine::Equal(text) => (' ', text),
        DiffLine::Removed(text) => ('-', text),
        DiffLine::Added(text) => ('+', text),
    };
    let text = text.trim_end_matches(['\n', '\r']);
    let cut: String = text.chars().take(LINE_CHARS_MAX).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("{mark}{}{more}", clean(cut.as_bytes()).replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(old: &str, new: &str) -> Vec<String> {
        unified(old.as_bytes(), new.as_bytes(), 1).lines
    }

    #[test]
    fn changes_are_shown_with_context_and_places() {
        let old = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
        let new = "one\nzwei\nthree\nfour\nfive\nsix\nand a half\nseven\n";
        assert_eq!(
            lines(old, new),
            [
                "@@ -1,3 +1,3 @@",
                " one",
                "-two",
                "+zwei",
                " three",
                "@@ -6,2 +6,3 @@",
                " six",
                "+and a half",
                " seven",
            ]
        );
        let diff = unified(old.as_bytes(), new.as_bytes(), 3);
        assert_eq!((diff.added, diff.removed, diff.more), (2, 1, 0));
    }

    #[test]
    fn new_empty_and_equal_files_are_told_as_such() {
        assert_eq!(lines("", "a\nb\n"), ["@@ -0,0 +1,2 @@", "+a", "+b"]);
        assert_eq!(lines("a\n", ""), ["@@ -1 +0,0 @@", "-a"]);
        assert_eq!(unified(b"same\n", b"same\n", 3), UnifiedDiff::default());
        assert_eq!(unified(b"\0\x01", b"text\n", 3), UnifiedDiff::default());
        assert_eq!(unified(b"\xff\xfe", b"text\n", 3), UnifiedDiff::default());
    }

    #[test]
    fn escape_sequences_and_endless_lines_do_not_get_through() {
        let long = "x".repeat(1_000);
        let shown = lines("", &format!("\x1b[31mred\x1b[0m\n{long}\n"));
        assert_eq!(shown[1], "+red");
        assert_eq!(shown[2].chars().count(), LINE_CHARS_MAX + 2);
    }

    #[test]
    fn what_is_too_different_is_replaced_as_a_whole_and_the_diff_is_cut() {
        let text = |word: &str| (0..3_000).map(|n| format!("{word} {n}\n")).collect::<String>();
        let diff = unified(text("old").as_bytes(), text("new").as_bytes(), 3);
        assert_eq!((diff.added, diff.removed), (3_000, 3_000));
        assert_eq!((diff.lines.len(), diff.more), (LINES_MAX, 6_001 - LINES_MAX));
    }

    proptest! {
        #[test]
        fn the_edit_leads_from_one_text_to_the_other(
            old in proptest::collection::vec("[abc]\n", 0..40),
            new in proptest::collection::vec("[abc]\n", 0..40),
        ) {
            let old: Vec<&str> = old.iter().map(String::as_str).collect();
            let new: Vec<&str> = new.iter().map(String::as_str).collect();
            let all = edits(&old, &new);
            let of = |skip: fn(&DiffLine<'_>) -> bool| all.iter().filter(|l| !skip(l)).map(|l| {
                let (DiffLine::Equal(t) | DiffLine::Removed(t) | DiffLine::Added(t)) = l;
                *t
            }).collect::<Vec<_>>();
            prop_assert_eq!(of(|line| matches!(line, DiffLine::Added(_))), old);
            prop_assert_eq!(of(|line| matches!(line, DiffLine::Removed(_))), new);
        }
    }
}
