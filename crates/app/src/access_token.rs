//! The token that opens the server: from the environment, else from a file that only its owner
//! reads, made when it is first needed.

use crate::app::App;
use crate::error::AppError;
use crate::secrets;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The variable that holds a token.
pub const VARIABLE: &str = "EVERLOOP_TOKEN";

/// A shorter one could be guessed.
const LENGTH_MIN: usize = 16;
const LENGTH_MAX: usize = 512;

/// What a token that we make begins with, so that people and scanners recognise it.
const PREFIX: &str = "evl_";

/// Where a token came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenSource {
    /// The environment.
    Variable,
    /// The file.
    File(PathBuf),
}

/// A token that opens the server. It is shown only on request.
#[derive(Clone)]
pub struct AccessToken {
    value: String,
    /// Where it came from.
    pub source: TokenSource,
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessToken").field("source", &self.source).finish_non_exhaustive()
    }
}

/// A token that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// It is too short, too long, or has characters that no header takes.
    #[error("a token has {LENGTH_MIN} to {LENGTH_MAX} visible ASCII characters")]
    Unusable(TokenSource),
    /// The environment names a token, so the file is not used.
    #[error("{VARIABLE} is set, so the token is not read from the file")]
    Named,
    /// The file failed.
    #[error(transparent)]
    App(#[from] AppError),
}

impl AccessToken {
    /// The token in force; made now if there is none.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn read_or_make(app: &App) -> Result<Self, TokenError> {
        if let Some(token) = Self::read(app)? {
            return Ok(token);
        }
        let (value, path) = (fresh_value().map_err(AppError::Home)?, app.home.token_file());
        match write_private(&path, &value, Replacing::Nothing) {
            Ok(()) => Self::of(value, TokenSource::File(path)),
            // Another process was faster: its token is the one in force.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Self::read(app)?.ok_or_else(|| AppError::Home(error).into())
            }
            Err(error) => Err(AppError::Home(error).into()),
        }
    }

    /// The token in force, if there is one.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn read(app: &App) -> Result<Option<Self>, TokenError> {
        if let Some(value) = std::env::var(VARIABLE).ok().filter(|value| !value.is_empty()) {
            return Self::of(value, TokenSource::Variable).map(Some);
        }
        let path = app.home.token_file();
        match fs::read_to_string(&path) {
            Ok(text) => Self::of(text.trim().to_owned(), TokenSource::File(path)).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(AppError::Home(error).into()),
        }
    }

    /// Makes a new token and replaces the one in the file.
    ///
    /// # Errors
    /// [`TokenError::Named`] if the environment names one, or if the file cannot be written.
    pub fn rotate(app: &App) -> Result<Self, TokenError> {
        if std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty()) {
            return Err(TokenError::Named);
        }
        let (value, path) = (fresh_value().map_err(AppError::Home)?, app.home.token_file());
        write_private(&path, &value, Replacing::Whatever).map_err(AppError::Home)?;
        Self::of(value, TokenSource::File(path))
    }

    fn of(value: String, source: TokenSource) -> Result<Self, TokenError> {
        let is_visible = value.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_visible || !(LENGTH_MIN..=LENGTH_MAX).contains(&value.len()) {
            return Err(TokenError::Unusable(source));
        }
        Ok(Self { value, source })
    }

    /// Whether somebody gave this token. The time does not tell how much of it was right.
    #[must_use]
    pub fn is(&self, given: &str) -> bool {
        let digest = |text: &str| everloop_types::digest_bytes(text.as_bytes());
        digest(given) == digest(&self.value)
    }

    /// Keeps it out of journals, logs and prompts of this process.
    pub fn hide(&self) {
        secrets::redactor().learn(&self.value);
    }

    /// The token itself, for its owner.
    #[must_use]
    pub fn show(&self) -> &str {
        &self.value
    }
}

/// `N` random bytes of the system, in hex: nobody can guess them.
///
/// # Errors
/// If the system has no random numbers.
pub fn random_hex<const N: usize>() -> io::Result<String> {
    let mut bytes = [0_u8; N];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn fresh_value() -> io::Result<String> {
    Ok(format!("{PREFIX}{}", random_hex::<32>()?))
}

/// What a new token may replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Replacing {
    /// Only one of several that begin at once writes its token.
    Nothing,
    /// The token that is there.
    Whatever,
}

/// Writes a file that only its owner reads, whole or not at all.
fn write_private(path: &Path, text: &str, replacing: Replacing) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // A draft of its own: two processes may begin at the same moment.
    let draft = path.with_extension(&fresh_value()?[PREFIX.len()..]);
    let written = write_draft(&draft, text).and_then(|()| match replacing {
        Replacing::Nothing => fs::hard_link(&draft, path),
        Replacing::Whatever => fs::rename(&draft, path),
    });
    // After a rename there is none.
    let _ = fs::remove_file(&draft);
    written
}

fn write_draft(draft: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(draft)?;
    file.write_all(text.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn several_that_begin_at_once_agree_on_one_token() {
        for _ in 0..20 {
            let folder = tempfile::tempdir().unwrap();
            let (path, barrier) = (folder.path().join("server.token"), Barrier::new(8));
            let results: Vec<io::Result<()>> = std::thread::scope(|scope| {
                let begin = |number: usize| {
                    let (path, barrier) = (&path, &barrier);
                    scope.spawn(move || {
                        barrier.wait();
                        write_private(path, &format!("token {number}"), Replacing::Nothing)
                    })
                };
                let threads: Vec<_> = (0..8).map(begin).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            let winner = results.iter().position(Result::is_ok).unwrap();
            assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
            for lost in results.into_iter().filter_map(Result::err) {
                assert_eq!(lost.kind(), io::ErrorKind::AlreadyExists);
            }
            let text = fs::read_to_string(&path).unwrap();
            assert_eq!(text, format!("token {winner}\n"));
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
        }
    }
}
