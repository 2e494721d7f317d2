//! Files that go with a message: pictures for the model, texts as a part of the message.
//!
//! A picture is written down for as long as it takes to send it; the goal of the run holds it then.
//!
//! Deliberately absent: other files. No model reads them.

use super::forms::{FormFields, sent_token};
use super::session::PageSession;
use crate::problem::{Problem, ProblemCode};
use crate::state::ServerState;
use axum::extract::multipart::{Field, Multipart};
use axum::extract::{FromRequest, Request};
use axum::http::header;
use everloop_engine::{Clock, SystemClock, fresh_id};
use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

/// Files of one message.
pub(crate) const FILES_MAX: usize = 8;

/// Characters of a text that becomes a part of a message.
const TEXT_CHARS_MAX: usize = 40_000;

/// Characters of a file's name that are shown.
const NAME_CHARS_MAX: usize = 120;

/// A form that may bring files.
pub(crate) struct UploadForm {
    /// Its fields.
    pub(crate) fields: FormFields,
    /// Its files.
    pub(crate) files: Vec<SentFile>,
}

/// A file that was sent.
pub(crate) struct SentFile {
    name: String,
    bytes: Vec<u8>,
}

/// A message with its files.
pub(crate) struct MessageFiles {
    /// The words, with the texts below them.
    pub(crate) text: String,
    /// The pictures. They are deleted with this value.
    pub(crate) pictures: Vec<PathBuf>,
}

impl Drop for MessageFiles {
    fn drop(&mut self) {
        for file in &self.pictures {
            let _ = std::fs::remove_file(file);
        }
    }
}

impl FromRequest<ServerState> for UploadForm {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &ServerState) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.starts_with("multipart/form-data") {
            let fields = FormFields::from_request(request, state).await?;
            return Ok(Self { fields, files: Vec::new() });
        }
        let session = request.extensions().get::<PageSession>().cloned();
        let token = sent_token(request.headers()).map(str::to_owned);
        let bad = |why: String| ProblemCode::BadRequest.because(why);
        let parts = Multipart::from_request(request, state).await;
        let mut parts = parts.map_err(|refused| bad(refused.body_text()))?;
        let (mut fields, mut files) = (BTreeMap::new(), Vec::new());
        while let Some(part) = parts.next_field().await.map_err(|error| bad(error.body_text()))? {
            let name = part.name().unwrap_or_default().to_owned();
            match part.file_name().map(str::to_owned) {
                Some(file) => files.extend(sent_file(file, part).await?),
                None => {
                    let text = part.text().await.map_err(|error| bad(error.body_text()))?;
                    fields.insert(name, text);
                }
            }
        }
        if files.len() > FILES_MAX {
            return Err(Problem::of_field("files", format!("at most {FILES_MAX}")));
        }
        let fields = FormFields::of(fields).checked(session.as_ref(), token.as_deref())?;
        Ok(Self { fields, files })
    }
}

/// A field without a chosen file has neither a name nor bytes.
async fn sent_file(name: String, part: Field<'_>) -> Result<Option<SentFile>, Problem> {
    let bytes = part.bytes().await;
    let bytes = bytes.map_err(|error| ProblemCode::BadRequest.because(error.body_text()))?;
    if name.is_empty() && bytes.is_empty() {
        return Ok(None);
    }
    Ok(Some(SentFile { name: plain_name(&name), bytes: bytes.to_vec() }))
}

/// The last part of a name, on one line, without what would end a block of code.
fn plain_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain = last.chars().filter(|one| !one.is_control() && *one != '`');
    plain.take(NAME_CHARS_MAX).collect()
}

/// What a message says, and the pictures that go with it.
///
/// # Errors
/// If a file is neither a picture nor a text, or too large.
pub(crate) fn with_files(
    state: &ServerState,
    text: &str,
    files: Vec<SentFile>,
) -> Result<MessageFiles, Problem> {
    let mut message = MessageFiles { text: text.trim_end().to_owned(), pictures: Vec::new() };
    for file in files {
        match picture_ending(&file.bytes) {
            Some(ending) => {
                let path = keep(state, ending, &file).map_err(|error| {
                    ProblemCode::Internal.because(format!("{}: {error}", file.name))
                })?;
                message.pictures.push(path);
            }
            None => {
                let block = text_block(&file)?;
                message.text.push_str(&block);
            }
        }
    }
    if message.text.trim().is_empty() && !message.pictures.is_empty() {
        message.text = everloop_text::pages::files::only_pictures().in_lang(state.app.lang);
    }
    Ok(message)
}

fn picture_ending(bytes: &[u8]) -> Option<&'static str> {
    let mime = everloop_app::context::images::mime_of(bytes)?;
    mime.strip_prefix("image/")
}

fn keep(state: &ServerState, ending: &str, file: &SentFile) -> std::io::Result<PathBuf> {
    let folder = everloop_app::turns::uploads_folder(&state.app);
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let name = fresh_id("upload_", SystemClock.now());
    let path = folder.join(format!("{name}.{ending}"));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(&path)?.write_all(&file.bytes)?;
    Ok(path)
}

/// A text as a block of the message, with its name; its fence is longer than any in it.
fn text_block(file: &SentFile) -> Result<String, Problem> {
    let refused = |why: &str| Problem::of_field("files", format!("{}: {why}", file.name));
    let text = std::str::from_utf8(&file.bytes).ok().filter(|text| !text.contains('\0'));
    let text = text.ok_or_else(|| refused("is neither a picture nor a text"))?;
    if text.chars().count() > TEXT_CHARS_MAX {
        return Err(refused(&format!("has more than {TEXT_CHARS_MAX} characters")));
    }
    let longest = text.split(|one| one != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let ending = file.name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_plain = ending.chars().all(|one| one.is_ascii_alphanumeric());
    let language = if is_plain { ending } else { "" };
    let end = if text.ends_with('\n') { "" } else { "\n" };
    Ok(format!("\n\n`{}`\n\n{fence}{language}\n{text}{end}{fence}", file.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, bytes: &[u8]) -> SentFile {
        SentFile { name: plain_name(name), bytes: bytes.to_vec() }
    }

    #[test]
    fn a_text_becomes_a_block_whose_fence_it_cannot_end() {
        let block = text_block(&file("../a/notes.md", b"x\n```\ny\n```")).unwrap();
        assert_eq!(block, "\n\n`notes.md`\n\n````md\nx\n```\ny\n```\n````");
    }

    #[test]
    fn what_is_neither_a_picture_nor_a_text_is_refused() {
        assert!(text_block(&file("a.bin", &[0, 159, 146])).is_err());
        let long = "x".repeat(TEXT_CHARS_MAX + 1);
        assert!(text_block(&file("a.txt", long.as_bytes())).is_err());
    }

    #[test]
    fn a_name_is_its_last_part_without_marks() {
        assert_eq!(plain_name("C:\\x\\a`b.txt"), "ab.txt");
        assert_eq!(plain_name("/etc/pass\nwd"), "passwd");
    }
}
