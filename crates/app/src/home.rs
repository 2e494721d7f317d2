//! Where configuration and data live: one folder under `EVERLOOP_HOME`, else the XDG directories.

use crate::error::AppError;
use etcetera::BaseStrategy;
use everloop_engine::{Clock, SystemClock, fresh_id};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The folders of one user.
#[derive(Debug, Clone)]
pub struct Home {
    config: PathBuf,
    data: PathBuf,
}

impl Home {
    /// Finds them. Creates nothing.
    ///
    /// # Errors
    /// [`AppError::Home`].
    pub fn find() -> Result<Self, AppError> {
        if let Some(home) = std::env::var_os("EVERLOOP_HOME").filter(|home| !home.is_empty()) {
            return Ok(Self::under(Path::new(&home)));
        }
        let base = etcetera::choose_base_strategy()
            .map_err(|error| AppError::Home(io::Error::other(error)))?;
        Ok(Self {
            config: base.config_dir().join("everloop"),
            data: base.data_dir().join("everloop"),
        })
    }

    /// Everything in one folder.
    pub fn under(folder: &Path) -> Self {
        Self { config: folder.to_owned(), data: folder.to_owned() }
    }

    /// The settings file.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The key of the model, where a set-up keeps it.
    pub fn key_file(&self) -> PathBuf {
        self.config.join("model.key")
    }

    /// The token that opens the server.
    pub fn token_file(&self) -> PathBuf {
        self.config.join("server.token")
    }

    /// What `everloop secrets` keeps where no keychain is, a file each.
    pub fn secrets(&self) -> PathBuf {
        self.config.join("secrets")
    }

    /// The folder of the data.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The user's own personas.
    pub fn personas(&self) -> PathBuf {
        self.config.join("personas")
    }

    /// The user's own commands, a Markdown file each.
    pub fn commands(&self) -> PathBuf {
        self.config.join("commands")
    }

    /// What runs of each workspace noted.
    pub fn memory(&self) -> PathBuf {
        self.data.join("memory")
    }

    /// The folder of the user in which `.agents` lies.
    pub fn of_user() -> Option<PathBuf> {
        etcetera::home_dir().ok()
    }

    /// What models cost.
    pub(crate) fn prices_file(&self) -> PathBuf {
        self.data.join("prices.toml")
    }

    /// The database, unless the settings name another.
    pub fn database(&self) -> PathBuf {
        self.data.join("everloop.db")
    }

    /// What tells this home from every other one. Made when it is first asked for, beside the
    /// database: who moves the folder moves both.
    ///
    /// # Errors
    /// If the file of the id cannot be read or written.
    pub fn id(&self) -> io::Result<String> {
        let file = self.data.join("home.id");
        match fs::read_to_string(&file) {
            Ok(id) if !id.trim().is_empty() => return Ok(id.trim().to_owned()),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let id = fresh_id("home_", SystemClock.now());
        let whole = self.data.join(format!(".{id}"));
        let mut new = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&whole)?;
        new.write_all(id.as_bytes()).and_then(|()| new.sync_all())?;
        // Another process may have been faster, and then its id counts.
        let named = fs::hard_link(&whole, &file);
        let _ = fs::remove_file(&whole);
        match named {
            Ok(()) => Ok(id),
            Err(_) => fs::read_to_string(&file).map(|id| id.trim().to_owned()),
        }
    }
}
