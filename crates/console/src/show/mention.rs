//! What came of files that a goal names.

use everloop_app::mentions::{MentionNote, MentionRefusal};
use everloop_text as text;
use everloop_types::Lang;

/// What came of a file that a goal names.
pub fn mention(lang: Lang, note: &MentionNote) -> String {
    let text = match note {
        MentionNote::File { path, lines, all } if lines == all => text::mention::file(path, lines),
        MentionNote::File { path, lines, all } => text::mention::Part { path, lines, all }.text(),
        MentionNote::Folder { path, entries } => text::mention::folder(path, entries),
        MentionNote::Picture(path) => text::mention::picture(path),
        MentionNote::Missing(path) => text::mention::missing(path),
        MentionNote::Refused { path, why } => match why {
            MentionRefusal::Outside => text::mention::outside(path),
            MentionRefusal::Protected => text::mention::protected(path),
            MentionRefusal::Rule(rule) => text::mention::rule(path, rule),
            MentionRefusal::Binary => text::mention::binary(path),
            MentionRefusal::TooMany => text::mention::too_many(path),
            MentionRefusal::System(detail) => text::mention::failed(path, detail),
        },
    };
    text.in_lang(lang)
}
