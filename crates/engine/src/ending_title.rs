//! How the conversation of a run that belongs to none is called once the run has ended.

use everloop_text as text;
use everloop_types::{Lang, Status, one_line};

/// Characters of the run's own title.
const TITLE_CHARS: usize = 80;

/// The title that tells of an ending: `Task completed: …`.
pub(crate) fn ending_title(status: Status, title: &str, lang: Lang) -> String {
    let line = one_line(&title.split_whitespace().collect::<Vec<_>>().join(" "));
    let title = match line.char_indices().nth(TITLE_CHARS) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    };
    let words = match status {
        Status::Succeeded => text::tasks::title::completed(&title),
        Status::Canceled => text::tasks::title::canceled(&title),
        Status::Unsettled => text::tasks::title::unsettled(&title),
        Status::Quarantined => text::tasks::title::quarantined(&title),
        Status::Failed | Status::Queued | Status::Running | Status::Waiting => {
            text::tasks::title::failed(&title)
        }
    };
    words.in_lang(lang)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_has_a_title_of_its_own_in_both_languages() {
        let endings = [Status::Succeeded, Status::Failed, Status::Canceled, Status::Unsettled];
        let titles = endings.map(|status| ending_title(status, "mend\nit", Lang::En));
        assert_eq!(titles[0], "Task completed: mend it");
        assert!(titles.iter().enumerate().all(|(n, title)| !titles[..n].contains(title)));
        assert_eq!(ending_title(Status::Succeeded, "整理", Lang::ZhCn), "任务完成：整理");
        let long = ending_title(Status::Failed, &"字".repeat(200), Lang::ZhCn);
        assert!(long.chars().count() < 100, "{long}");
    }
}
