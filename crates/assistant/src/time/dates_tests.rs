use super::*;

fn now() -> Zoned {
    "2026-11-15T09:00[Asia/Shanghai]".parse().unwrap()
}

/// The result as one line: wall time, or date alone, then the repeat.
fn said(when: &When) -> String {
    let at = match when.precision {
        Precision::Day => when.at.date().to_string(),
        Precision::Minute => when.at.strftime("%F %H:%M").to_string(),
    };
    match &when.repeat {
        Some(repeat) => format!("{at} {}", repeat.to_option()),
        None => at,
    }
}

fn check(table: &[(&str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .filter_map(|(phrase, expected)| {
            let got = parse(phrase, &now()).map_or("none".to_owned(), |when| said(&when));
            (got != *expected).then(|| format!("{phrase}: {got}, not {expected}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_phrases_of_the_design_are_understood() {
    check(&[
        ("明天下午三点", "2026-11-16 15:00"),
        ("11月20日", "2026-11-20"),
        ("后天", "2026-11-17"),
        ("这周末", "2026-11-15"),
        ("下周一上午9点", "2026-11-16 09:00"),
        ("今晚8点", "2026-11-15 20:00"),
        ("3天后", "2026-11-18"),
        ("两小时后", "2026-11-15 11:00"),
        ("周五下午5点半", "2026-11-20 17:30"),
        ("下个月1号上午十点", "2026-12-01 10:00"),
        ("月底", "2026-11-30"),
        ("半小时后", "2026-11-15 09:30"),
        ("每天早上8点", "2026-11-16 08:00 daily"),
        ("明早九点", "2026-11-16 09:00"),
        ("tomorrow at 3pm", "2026-11-16 15:00"),
        ("next Monday 9am", "2026-11-16 09:00"),
        ("in 2 hours", "2026-11-15 11:00"),
        ("Friday 5:30pm", "2026-11-20 17:30"),
        ("Nov 20", "2026-11-20"),
        ("tonight at 8", "2026-11-15 20:00"),
        ("every weekday at 8am", "2026-11-16 08:00 weekdays"),
        ("end of month", "2026-11-30"),
    ]);
}
