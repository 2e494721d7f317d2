//! Where configuration and data live: one folder under `EVERLOOP_HOME`, else the XDG directories.

use anyhow::Context;
use etcetera::BaseStrategy;
use std::path::{Path, PathBuf};

/// The folders of one user.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    config: PathBuf,
    data: PathBuf,
}

impl Home {
    /// Finds them. Creates nothing.
    pub(crate) fn find() -> anyhow::Result<Self> {
        if let Some(home) = std::env::var_os("EVERLOOP_HOME").filter(|home| !home.is_empty()) {
            return Ok(Self::under(Path::new(&home)));
        }
        let base = etcetera::choose_base_strategy().context("no home directory")?;
        Ok(Self {
            config: base.config_dir().join("everloop"),
            data: base.data_dir().join("everloop"),
        })
    }

    /// Everything in one folder.
    pub(crate) fn under(folder: &Path) -> Self {
        Self { config: folder.to_owned(), data: folder.to_owned() }
    }

    pub(crate) fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The key of the model, where a set-up keeps it.
    pub(crate) fn key_file(&self) -> PathBuf {
        self.config.join("model.key")
    }

    /// What `everloop secrets` keeps where no keychain is, a file each.
    pub(crate) fn secrets(&self) -> PathBuf {
        self.config.join("secrets")
    }

    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    /// The user's own personas.
    pub(crate) fn personas(&self) -> PathBuf {
        self.config.join("personas")
    }

    /// What runs of each workspace noted.
    pub(crate) fn memory(&self) -> PathBuf {
        self.data.join("memory")
    }

    /// The folder of the user in which `.agents` lies.
    pub(crate) fn of_user() -> Option<PathBuf> {
        etcetera::home_dir().ok()
    }

    /// What models cost.
    pub(crate) fn prices_file(&self) -> PathBuf {
        self.data.join("prices.toml")
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.data.join("everloop.db")
    }
}
