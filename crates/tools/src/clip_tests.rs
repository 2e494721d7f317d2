use super::*;
use proptest::prelude::*;

fn rows(n: usize) -> String {
    (1..=n).map(|row| format!("row {row}\n")).collect()
}

#[test]
fn text_that_fits_is_left_alone() {
    for text in ["", "abc", "漢字漢字", "a\nb\n"] {
        assert_eq!(head(text, 4), text);
        assert_eq!(ends(text, 4), text);
    }
}

#[test]
fn head_keeps_whole_rows_and_says_how_many_are_missing() {
    assert_eq!(head(&rows(100), 60), "row 1\nrow 2\nrow 3\nrow 4\nrow 5\n[95 lines left out]");
}

#[test]
fn ends_keeps_both_ends_and_says_how_many_rows_are_missing() {
    assert_eq!(
        ends(&rows(100), 70),
        "row 1\nrow 2\nrow 3\n[94 lines left out]\nrow 98\nrow 99\nrow 100\n"
    );
}

#[test]
fn one_row_too_many_is_counted_in_the_singular() {
    let text = format!("{}{}\n", "short\n".repeat(4), "x".repeat(30));
    assert_eq!(head(&text, 53), format!("{}[1 line left out]", "short\n".repeat(4)));
}

#[test]
fn a_line_longer_than_the_room_is_cut_in_itself() {
    assert_eq!(head(&"x".repeat(100), 50), format!("{}\n[77 characters left out]", "x".repeat(23)));
}

#[test]
fn a_long_line_after_a_short_one_still_shows_its_beginning() {
    let text = format!("title\n{}", "x".repeat(1000));
    assert!(head(&text, 100).starts_with("title\nxxxxxxxxxx"), "{}", head(&text, 100));
}

#[test]
fn graphemes_of_many_characters_are_not_torn() {
    let family = "👨\u{200d}👩\u{200d}👧";
    let text = family.repeat(50);
    for max in 30..80 {
        let kept = head(&text, max);
        let first = kept.lines().next().unwrap();
        assert_eq!(
            first.replace(family, ""),
            first.matches('[').map(|_| first).collect::<String>()
        );
    }
}

#[test]
fn a_gap_is_counted_together_with_what_is_cut_beside_it() {
    let gap = ClipGap { bytes: 1_000, lines: 50 };
    assert_eq!(around("a\n", gap, "z\n", 200), "a\n[50 lines, 1000 bytes left out]\nz\n");
    let cut = around(&rows(100), gap, &rows(100), 100);
    let start = "row 1\nrow 2\nrow 3\nrow 4\nrow 5\n";
    let end = "row 97\nrow 98\nrow 99\nrow 100\n";
    assert_eq!(cut, format!("{start}[241 lines, 2325 bytes left out]\n{end}"));
}

#[test]
fn a_limit_below_the_notice_still_holds() {
    assert_eq!(head(&rows(10), 3), "row");
    assert_eq!(ends(&rows(10), 0), "");
}

proptest! {
    #[test]
    fn no_result_is_longer_than_asked_for(text in "(\\PC|\n){0,300}", max in 0usize..200) {
        for cut in [head(&text, max), ends(&text, max)] {
            prop_assert!(cut.chars().count() <= max);
            prop_assert_eq!(cut == text, text.chars().count() <= max);
        }
    }

    #[test]
    fn a_gap_never_makes_it_longer(
        start in "(\\PC|\n){0,200}", end in "(\\PC|\n){0,200}", max in 0usize..300,
        bytes in any::<u32>(), lines in any::<u32>(),
    ) {
        let gap = ClipGap { bytes: bytes.into(), lines: lines.into() };
        prop_assert!(around(&start, gap, &end, max).chars().count() <= max);
    }

    #[test]
    fn kept_and_left_out_rows_are_all_rows(n in 1usize..400, max in 40usize..400) {
        let (text, cut) = (rows(n), ends(&rows(n), max));
        let kept = cut.lines().filter(|line| line.starts_with("row")).count();
        let out: usize = cut.lines().find_map(|line| {
            line.strip_prefix('[')?.split(' ').next()?.parse().ok()
        }).unwrap_or(0);
        if !cut.contains("characters") {
            prop_assert_eq!(kept + out, text.lines().count());
        }
    }
}
