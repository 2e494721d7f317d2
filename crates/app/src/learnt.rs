//! What was found out about models, kept in the data folder for all processes.
//!
//! One small file, written whole and at once. Two processes that find something out in the same
//! moment: the later one wins, and the other finds it out again.

use crate::settings::file;
use everloop_agenda::kept::moment;
use everloop_engine::{Clock, SystemClock};
use everloop_models::{ModelTraits, TraitStore};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// How something was found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LearntFrom {
    /// By `models test`.
    Tested,
    /// A reply of a run has shown it.
    Seen,
}

/// What is known of one model on one machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFacts {
    /// What is known.
    #[serde(flatten)]
    pub known: ModelTraits,
    /// How that was found out.
    pub found: LearntFrom,
    /// The day, `YYYY-MM-DD`.
    pub on: String,
}

/// The file. What cannot be read counts as not known.
#[derive(Debug, Clone)]
pub struct ModelFactsFile {
    path: PathBuf,
}

impl ModelFactsFile {
    pub(crate) fn in_folder(data: &Path) -> Self {
        Self { path: data.join("models.json") }
    }

    /// What is known of a model.
    pub fn of(&self, name: &str, host: &str) -> Option<ModelFacts> {
        serde_json::from_value(self.all().get(&key(name, host))?.clone()).ok()
    }

    /// Keeps what was found out. A file that cannot be written is no reason to stop: the same is
    /// found out again.
    pub fn keep(&self, name: &str, host: &str, known: ModelTraits, found: LearntFrom) {
        let on = moment(SystemClock.now()).strftime("%Y-%m-%d").to_string();
        let mut all = self.all();
        if let Ok(entry) = serde_json::to_value(ModelFacts { known, found, on }) {
            all.insert(key(name, host), entry);
            let _ = self.write(all);
        }
    }

    /// Forgets a model, wherever it was asked. Says whether anything was known.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn forget(&self, name: &str) -> std::io::Result<bool> {
        let mut all = self.all();
        let before = all.len();
        all.retain(|key, _| key.rsplit_once('@').map_or(key.as_str(), |(name, _)| name) != name);
        let found = all.len() < before;
        if found {
            self.write(all)?;
        }
        Ok(found)
    }

    /// As the endpoint of a model takes it.
    pub(crate) fn notes(&self, name: &str, host: &str) -> FactsRecorder {
        FactsRecorder { learnt: self.clone(), name: name.to_owned(), host: host.to_owned() }
    }

    fn all(&self) -> Map<String, Value> {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn write(&self, all: Map<String, Value>) -> std::io::Result<()> {
        let text = serde_json::to_string_pretty(&Value::Object(all)).unwrap_or_default();
        file::write(&self.path, &format!("{text}\n"))
    }
}

/// The same model may be served elsewhere by another program.
fn key(name: &str, host: &str) -> String {
    format!("{name}@{host}")
}

/// What is known of one model, for who asks it.
pub(crate) struct FactsRecorder {
    learnt: ModelFactsFile,
    name: String,
    host: String,
}

impl TraitStore for FactsRecorder {
    fn read(&self) -> ModelTraits {
        self.learnt.of(&self.name, &self.host).map(|entry| entry.known).unwrap_or_default()
    }

    fn write(&self, known: ModelTraits) {
        self.learnt.keep(&self.name, &self.host, known, LearntFrom::Seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use everloop_models::CallWay;

    #[test]
    fn what_was_found_out_is_there_again_and_can_be_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let learnt = ModelFactsFile::in_folder(folder.path());
        assert_eq!(learnt.of("llamacpp/m", "localhost"), None);
        let known = ModelTraits { calls: Some(CallWay::Schema), ..ModelTraits::default() };
        learnt.notes("llamacpp/m", "localhost").write(known);
        learnt.keep("openai/m", "far.example", ModelTraits::default(), LearntFrom::Tested);
        let again = ModelFactsFile::in_folder(folder.path());
        assert_eq!(again.notes("llamacpp/m", "localhost").read(), known);
        assert_eq!(again.of("llamacpp/m", "localhost").unwrap().found, LearntFrom::Seen);
        assert_eq!(again.of("llamacpp/m", "elsewhere"), None, "another machine");
        assert!(again.forget("llamacpp/m").unwrap() && !again.forget("llamacpp/m").unwrap());
        assert!(again.of("openai/m", "far.example").is_some(), "the others stay");
    }

    #[test]
    fn a_damaged_file_or_entry_counts_as_not_known() {
        let folder = tempfile::tempdir().unwrap();
        let learnt = ModelFactsFile::in_folder(folder.path());
        std::fs::write(folder.path().join("models.json"), "{oops").unwrap();
        assert_eq!(learnt.of("a/m", "h"), None);
        std::fs::write(folder.path().join("models.json"), r#"{"a/m@h": {"calls": "by mail"}}"#)
            .unwrap();
        assert_eq!(learnt.of("a/m", "h"), None);
        learnt.keep("b/m", "h", ModelTraits::default(), LearntFrom::Seen);
        assert!(learnt.of("b/m", "h").is_some());
    }
}
