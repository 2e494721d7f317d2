//! Fonts of this machine that can draw a text.
//!
//! Deliberately absent: shaping. Scripts whose letters join or move (Arabic, Devanagari, Thai, …)
//! and combining marks would be drawn wrongly, so they count as characters without a glyph.

use ab_glyph::{Font as _, FontVec, GlyphId};
use std::path::{Path, PathBuf};

/// Most files that are looked at; a machine with more fonts still has a good one among them.
const FILES_MAX: usize = 4_000;

/// Most fonts that are opened until every character has a glyph.
const OPENED_MAX: usize = 60;

/// Deepest folder below a font folder.
const DEPTH_MAX: usize = 5;

/// The largest font file that is opened.
const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Fonts in the order in which a character looks for its glyph.
pub(crate) struct FontSet {
    files: std::vec::IntoIter<PathBuf>,
    opened: Vec<FontVec>,
}

impl FontSet {
    /// The fonts of this machine and of this account.
    pub(crate) fn installed() -> Self {
        Self::of_folders(&font_folders())
    }

    /// The fonts below some folders. None is opened before a character needs it.
    pub(crate) fn of_folders(folders: &[PathBuf]) -> Self {
        let mut files = Vec::new();
        for folder in folders {
            collect_fonts(folder, 0, &mut files);
        }
        files.sort_by_cached_key(|path| (rank(path), path.clone()));
        files.dedup();
        files.truncate(FILES_MAX);
        Self { files: files.into_iter(), opened: Vec::new() }
    }

    /// Opens fonts until every character of a text has a glyph. The characters that have none.
    pub(crate) fn missing(&mut self, text: &str) -> Vec<char> {
        let mut missing: Vec<char> =
            text.chars().filter(|c| needs_shaping(*c) || self.find(*c).is_none()).collect();
        missing.sort_unstable();
        missing.dedup();
        while missing.iter().any(|c| !needs_shaping(*c)) && self.opened.len() < OPENED_MAX {
            let Some(path) = self.files.next() else { break };
            let Some(font) = open_font(&path) else { continue };
            let helps = |c: &char| !needs_shaping(*c) && font.glyph_id(*c) != GlyphId(0);
            // The first font is the one of ordinary text, whatever it is asked for first.
            if self.opened.is_empty() || missing.iter().any(helps) {
                missing.retain(|c| !helps(c));
                self.opened.push(font);
            }
        }
        missing
    }

    /// The font and the glyph of a character, among the fonts that were opened.
    pub(super) fn find(&self, c: char) -> Option<(&FontVec, GlyphId)> {
        self.opened.iter().find_map(|font| {
            let glyph = font.glyph_id(c);
            (glyph != GlyphId(0)).then_some((font, glyph))
        })
    }
}

fn font_folders() -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let data = data.or_else(|| home.as_ref().map(|home| home.join(".local/share")));
    let own = [data.map(|data| data.join("fonts")), home.map(|home| home.join(".fonts"))];
    let shared = ["/usr/share/fonts", "/usr/local/share/fonts", "/System/Library/Fonts"];
    own.into_iter().flatten().chain(shared.map(PathBuf::from)).collect()
}

fn collect_fonts(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if found.len() >= FILES_MAX {
            return;
        }
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth < DEPTH_MAX => {
                collect_fonts(&path, depth + 1, found);
            }
            Ok(_) if is_font(&path) => found.push(path),
            _ => {}
        }
    }
}

fn is_font(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ["ttf", "otf", "ttc", "otc"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// Plain sans-serif fonts first, Chinese ones next, then other upright ones.
fn rank(path: &Path) -> u8 {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let name = name.to_lowercase().replace(['-', '_', ' '], "");
    let begins = |names: &[&str]| names.iter().any(|known| name.starts_with(known));
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if has(&["bold", "italic", "oblique", "light", "thin", "black", "condensed", "emoji"]) {
        return 5;
    }
    if has(&["mono", "serif", "math", "symbol", "display"]) {
        return 4;
    }
    if begins(&["notosansregular", "dejavusans", "liberationsans", "inter", "roboto", "arial"]) {
        return 0;
    }
    if begins(&["notosanscjk", "notosanssc", "sourcehansans", "wqy", "droidsansfallback"]) {
        return 1;
    }
    if has(&["regular"]) { 2 } else { 3 }
}

fn open_font(path: &Path) -> Option<FontVec> {
    if std::fs::metadata(path).ok()?.len() > BYTES_MAX {
        return None;
    }
    let open = |face| FontVec::try_from_vec_and_index(std::fs::read(path).ok()?, face).ok();
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    // In collections for Chinese, Japanese and Korean the third font has the simplified forms.
    let is_collection = ["ttc", "otc"].iter().any(|known| ending.eq_ignore_ascii_case(known));
    is_collection.then(|| open(2)).flatten().or_else(|| open(0))
}

/// Whether a character is drawn rightly only together with its neighbours.
fn needs_shaping(c: char) -> bool {
    matches!(u32::from(c),
        0x0300..=0x036f | 0x0590..=0x109f | 0x1780..=0x17ff | 0x1ab0..=0x1aff | 0x200b..=0x200f
        | 0x202a..=0x202e | 0x20d0..=0x20ff | 0xfb1d..=0xfdff | 0xfe00..=0xfe0f | 0xfe70..=0xfeff)
}
