//! Secrets: where they come from, and that this process knows them, so that none is ever written.
//!
//! ```text
//!   settings ──► env:NAME | file:PATH | command:… | keychain:NAME ──► value ──► redactor, user
//! ```
//!
//! A value is learnt by the redactor before anybody gets it. Settings hold references only: they
//! are shown, copied and kept in repositories.

pub mod kept;
mod keychain;
mod program;
mod reference;

pub(crate) use reference::read_private;
pub use reference::{Reference, SecretError, is_name};

use crate::home::Home;
use crate::settings::{ChannelEntry, Settings, SignedChannel, keys};
use everloop_mcp::{ServerSetting, ServerTransport};
use everloop_store::Redactor;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::default);

/// What was looked up in this process, by reference: a keychain may ask a person each time.
static FOUND: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// Variables whose names end like this hold secrets, whoever they are for.
const SECRET_ENDINGS: [&str; 5] = ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_PASSWD"];

/// What takes the secrets of this process out of everything that it writes.
pub fn redactor() -> &'static Redactor {
    &REDACTOR
}

/// The value behind a reference. Looked up once in a process.
///
/// # Errors
/// Why it cannot be resolved.
pub fn resolve(reference: &Reference, settings: &Settings) -> Result<String, SecretError> {
    let name = reference.to_string();
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(value) = found.get(&name) {
        return Ok(value.clone());
    }
    let value = reference.look_up(settings.secrets.timeout.ms())?;
    learn(&value);
    found.insert(name, value.clone());
    Ok(value)
}

/// Key files that this process does not use for a provider: they hold the key of another one.
static WITHHELD: Mutex<Vec<(PathBuf, String)>> = Mutex::new(Vec::new());

/// Keeps a key file from a provider until [`release`].
pub(crate) fn withhold(file: &Path, provider: &str) {
    let mut withheld = WITHHELD.lock().unwrap_or_else(PoisonError::into_inner);
    withheld.push((file.to_owned(), provider.to_owned()));
}

/// Takes [`withhold`] back.
pub(crate) fn release(file: &Path, provider: &str) {
    let mut withheld = WITHHELD.lock().unwrap_or_else(PoisonError::into_inner);
    let place = withheld.iter().position(|(path, name)| path == file && name == provider);
    place.map(|place| withheld.remove(place));
}

/// Whether a key file is not for a provider.
pub(crate) fn is_withheld(file: &Path, provider: &str) -> bool {
    let withheld = WITHHELD.lock().unwrap_or_else(PoisonError::into_inner);
    withheld.iter().any(|(path, name)| path == file && name == provider)
}

/// What is behind a reference in this process, whatever lies there.
pub(crate) fn hold(reference: &Reference, value: &str) {
    learn(value);
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    found.insert(reference.to_string(), value.to_owned());
}

/// Looks a reference up anew the next time: what is behind it was changed.
pub(crate) fn forget(reference: &Reference) {
    FOUND.lock().unwrap_or_else(PoisonError::into_inner).remove(&reference.to_string());
}

/// The address behind `text` if it is a reference, else `text` itself.
///
/// # Errors
/// Why it cannot be resolved.
pub fn behind(text: &str, settings: &Settings) -> Result<String, SecretError> {
    match Reference::parse(text) {
        Some(reference) => resolve(&reference, settings),
        None => Ok(text.to_owned()),
    }
}

/// A channel whose address is a secret: its name, and where the address is. `file:` names a file
/// that messages go to, as it always has.
pub fn channel(item: &str) -> Option<(&str, Reference)> {
    let (name, target) = item.split_once('=')?;
    let reference = Reference::parse(target)?;
    (!matches!(reference, Reference::File(_))).then_some((name, reference))
}

/// Where the model's key is, if the settings say so.
pub fn of_model(settings: &Settings) -> Option<Reference> {
    let words = &settings.model.key_command;
    if words.is_empty() {
        settings.model.key.reference().cloned()
    } else {
        Some(Reference::Command(words.clone()))
    }
}

/// Every reference in the settings, with the setting that holds it.
pub fn references(settings: &Settings) -> Vec<(&'static str, Reference)> {
    let model = of_model(settings).map(|reference| (keys::model::key().as_str(), reference));
    let database = Reference::parse(settings.store.database.as_str());
    let database = database.map(|reference| (keys::store::database().as_str(), reference));
    let channels = settings.tools.channels.iter().filter_map(ChannelEntry::secret);
    let channels = channels.map(|(_, reference)| (keys::tools::channels().as_str(), reference));
    let keys = settings.keys().map(|reference| ("providers", reference.clone()));
    let signed = settings.channels().iter().flat_map(SignedChannel::references);
    let channels = channels.chain(signed.map(|reference| ("channels", reference)));
    model.into_iter().chain(keys).chain(database).chain(channels).collect()
}

/// The commands that the settings make us run: those that give secrets, and servers.
pub fn commands(settings: &Settings) -> Vec<Vec<String>> {
    let keys = references(settings).into_iter().filter_map(|(_, reference)| match reference {
        Reference::Command(words) => Some(words),
        _ => None,
    });
    let servers = settings.servers().into_iter().filter_map(|server| match server.way {
        ServerTransport::Command { program, args, .. } => Some([vec![program], args].concat()),
        ServerTransport::Address { .. } => None,
    });
    keys.chain(servers).chain([settings.model.key_command.clone()]).collect()
}

/// Learns what lies open to this process: variables, files, and addresses in the settings.
pub(crate) fn learn_at_hand(settings: &Settings, home: &Home, key_file: &Path) {
    let named = settings.model.key_env.as_str();
    for (name, value) in std::env::vars_os() {
        let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else { continue };
        // A path is where a secret is, and no secret.
        let is_path = Path::new(value).is_absolute() && Path::new(value).exists();
        let holds = SECRET_ENDINGS.iter().any(|end| name.ends_with(end)) && !is_path;
        if (holds && !name.starts_with("EVERLOOP_")) || name == named {
            learn(value);
        }
    }
    let own = std::fs::read_dir(home.secrets()).into_iter().flatten().flatten();
    let own = own.filter(|entry| entry.file_name().to_str().is_some_and(is_name));
    for path in own.map(|entry| entry.path()).chain([key_file.to_owned()]) {
        if let Ok(text) = std::fs::read_to_string(&path) {
            learn(&text);
        }
    }
    settings.addresses().iter().for_each(|address| learn(address));
    settings.servers().iter().flat_map(ServerSetting::secrets).for_each(|value| learn(&value));
    for (_, reference) in references(settings) {
        if matches!(reference, Reference::Environment(_) | Reference::File(_)) {
            let _ = resolve(&reference, settings);
        }
    }
}

/// Learns the rest, which costs a program each. Gives back those that could not be resolved.
pub(crate) fn learn_all(settings: &Settings) -> Vec<(&'static str, SecretError)> {
    let missing = references(settings)
        .into_iter()
        .filter_map(|(key, reference)| Some((key, resolve(&reference, settings).err()?)));
    missing.collect()
}

/// Learns a value: of an address what is secret in it, of several lines each.
fn learn(value: &str) {
    for line in value.lines() {
        match line.contains("://") {
            true => secrets_of_address(line).for_each(|secret| {
                redactor().learn(secret);
                redactor().learn(&percent_decoded(secret));
            }),
            false => {
                redactor().learn(line);
            }
        }
    }
}

/// As it was before it was put into an address.
fn percent_decoded(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let escape = piece.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let rest = match escape {
            Some(byte) => {
                bytes.push(byte);
                &piece[2..]
            }
            None => piece,
        };
        bytes.extend(rest.as_bytes());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The password, the values of the query and long pieces of the path.
fn secrets_of_address(address: &str) -> impl Iterator<Item = &str> {
    const TOKEN_CHARS_MIN: usize = 16;
    let (_, rest) = address.split_once("://").unwrap_or_default();
    let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (user, path) = place.rsplit_once('@').unwrap_or(("", place));
    let password = user.split_once(':').map(|(_, password)| password);
    // What stands elsewhere in the address as well is no secret.
    let password = password.filter(|secret| !path.contains(secret) && !user.starts_with(secret));
    let values = query.split('&').filter_map(|pair| pair.split_once('=')).map(|(_, value)| value);
    let pieces = path.split('/').skip(1).filter(|piece| piece.len() >= TOKEN_CHARS_MIN);
    let is_hook = address.starts_with("http");
    let tokens = values.chain(pieces).filter(move |_| is_hook);
    password.into_iter().chain(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_secrets_told_apart() {
        for (address, secrets) in [
            ("postgres://me:fake-pa55!@db:5432/everloop?sslmode=require", "fake-pa55!"),
            ("postgres://everloop:everloop@db/everloop", ""),
            ("https://hooks.example.com/services/T0/B0/abcdEFGH12345678", "abcdEFGH12345678"),
            ("https://h.example/x?token=abc&k=def", "abc def"),
            ("http://127.0.0.1:8080/v1", ""),
        ] {
            let found: Vec<&str> = secrets_of_address(address).collect();
            assert_eq!(found.join(" "), secrets, "{address}");
        }
        assert_eq!(percent_decoded("p%40ss%2fw%C3%B6rd"), "p@ss/wörd");
    }
}
