//! Where all that is durable lies: the embedded file, another file, or a server.

use crate::home::Home;
use everloop_engine::{LeaseTimes, MembershipPolicy};
use everloop_store::{PgOptions, Store, StoreError, without_password};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A database that was chosen by `--database` or `store.database`.
#[derive(Clone)]
pub enum Database {
    /// A file of this machine, and the lock beside it.
    File {
        /// The file.
        path: PathBuf,
        /// The lock.
        lock: PathBuf,
    },
    /// A PostgreSQL server, by its address. Many processes may drive runs on it.
    Server(String),
}

impl Database {
    /// `None` if it is an address of something else than PostgreSQL.
    pub fn named(name: &str, home: &Home) -> Option<Self> {
        if name.starts_with("postgres://") || name.starts_with("postgresql://") {
            return Some(Self::Server(name.to_owned()));
        }
        let path = match name.strip_prefix("sqlite:").unwrap_or(name) {
            "" => {
                let lock = home.data().join("everloop.lock");
                return Some(Self::File { path: home.database(), lock });
            }
            path if path.contains("://") => return None,
            path => PathBuf::from(path),
        };
        let lock = lock_of(&path, home);
        Some(Self::File { path, lock })
    }

    /// As people may see it: without a password.
    pub fn shown(&self) -> String {
        match self {
            Self::File { path, .. } => path.display().to_string(),
            Self::Server(url) => without_password(url),
        }
    }

    /// The file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File { path, .. } => Some(path),
            Self::Server(_) => None,
        }
    }

    /// The address of a server, with its password: for connecting only.
    pub fn address(&self) -> Option<&str> {
        match self {
            Self::File { .. } => None,
            Self::Server(url) => Some(url),
        }
    }

    pub(crate) fn lock_file(&self) -> Option<&Path> {
        match self {
            Self::File { lock, .. } => Some(lock),
            Self::Server(_) => None,
        }
    }

    /// Opens it.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub async fn open(&self) -> Result<Store, StoreError> {
        match self {
            Self::File { path, .. } => Store::open(path),
            Self::Server(url) => Store::connect(url, PgOptions::default()).await,
        }
    }

    /// The same for those who only want to read: on a read-only disk they can, and what they write
    /// all the same is refused.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub async fn open_to_read(&self) -> Result<Store, StoreError> {
        match (self.open().await, self.file()) {
            (Err(error), Some(file)) if error.is_read_only() && file.exists() => {
                Store::open_read_only(file)
            }
            (opened, _) => opened,
        }
    }

    /// How processes share the runs of this database; `times` are those of a lease.
    pub fn membership(&self, times: LeaseTimes) -> MembershipPolicy {
        match self {
            Self::File { lock, .. } => MembershipPolicy::Exclusive { lock: lock.clone() },
            Self::Server(_) => MembershipPolicy::Leased(times),
        }
    }

    /// Whether other homes may use the same database.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Self::Server(_))
    }
}

/// One file has one lock, by whatever name it is called.
fn lock_of(path: &Path, home: &Home) -> PathBuf {
    let real = real_place(path);
    if real == real_place(&home.database()) {
        return home.data().join("everloop.lock");
    }
    let mut lock = OsString::from(real);
    lock.push(".lock");
    lock.into()
}

/// Where a link leads; of a file that is not there yet, where its folder is.
fn real_place(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_means_a_file_or_a_server() {
        let home = Home::under(Path::new("/data"));
        let files = |name: &str| match Database::named(name, &home) {
            Some(Database::File { path, lock }) => {
                (path.display().to_string(), lock.display().to_string())
            }
            _ => panic!("{name} is no file"),
        };
        let own = ("/data/everloop.db".to_owned(), "/data/everloop.lock".to_owned());
        assert_eq!(files(""), own);
        for name in ["sqlite:x/e.db", "x/e.db"] {
            assert_eq!(files(name), ("x/e.db".to_owned(), "x/e.db.lock".to_owned()));
        }
        let server = Database::named("postgresql://u:secret@h/d", &home);
        assert_eq!(server.map(|server| server.shown()).as_deref(), Some("postgresql://u@h/d"));
        assert!(Database::named("mysql://u@h/d", &home).is_none());
    }

    #[test]
    fn a_file_has_one_lock_by_whatever_name() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::under(folder.path());
        std::fs::write(home.database(), "").unwrap();
        let link = folder.path().join("link.db");
        std::os::unix::fs::symlink(home.database(), &link).unwrap();
        let lock =
            |name: &str| Database::named(name, &home).unwrap().lock_file().unwrap().to_owned();
        let own = folder.path().join("everloop.lock");
        assert_eq!(lock(""), own);
        assert_eq!(lock(home.database().to_str().unwrap()), own);
        assert_eq!(lock(link.to_str().unwrap()), own);
        let other = folder.path().join("other.db");
        let first = lock(other.to_str().unwrap());
        std::fs::write(&other, "").unwrap();
        assert_eq!(lock(other.to_str().unwrap()), first, "the same before and after it exists");
    }
}
