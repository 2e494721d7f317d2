//! Keys while a run is looked at: nobody edits a line then, but a person may type ahead.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// How long the thread waits for a key before it looks whether it is still wanted.
const LOOK_AGAIN: Duration = Duration::from_millis(30);

/// What a key means here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChatKey {
    Text(String),
    Erase,
    EraseAll,
    Send,
    Stop,
    Plan,
    Redraw,
}

/// Listens until it is dropped. The terminal gives single keys meanwhile.
pub(super) struct KeyReader {
    wanted: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    keys: UnboundedReceiver<ChatKey>,
}

impl KeyReader {
    pub(super) fn listen() -> Self {
        let wanted = Arc::new(AtomicBool::new(true));
        let (sender, keys) = unbounded_channel();
        // Without single keys a person can still look on, and Ctrl-C comes as a signal.
        let raw = crossterm::terminal::enable_raw_mode().is_ok();
        // A pasted text is one piece, whose line ends send nothing.
        let paste = crossterm::event::EnableBracketedPaste;
        let _ = crossterm::execute!(std::io::stdout(), paste);
        let still = wanted.clone();
        let listen = move || listen(&still, &sender);
        let thread = raw.then(|| std::thread::Builder::new().spawn(listen).ok()).flatten();
        Self { wanted, thread, keys }
    }

    pub(super) async fn next(&mut self) -> ChatKey {
        match self.keys.recv().await {
            Some(key) => key,
            None => std::future::pending().await,
        }
    }
}

impl Drop for KeyReader {
    fn drop(&mut self) {
        self.wanted.store(false, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // The editor must not share the keys with it.
            let _ = thread.join();
        }
        let paste = crossterm::event::DisableBracketedPaste;
        let _ = crossterm::execute!(std::io::stdout(), paste);
        let _ = crossterm::terminal::disable_raw_mode();
    }
}

fn listen(wanted: &AtomicBool, sender: &UnboundedSender<ChatKey>) {
    while wanted.load(Ordering::Relaxed) {
        match crossterm::event::poll(LOOK_AGAIN) {
            Ok(true) => {}
            Ok(false) => continue,
            Err(_) => return,
        }
        let key = match crossterm::event::read() {
            Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => meaning(key),
            Ok(Event::Paste(text)) => Some(ChatKey::Text(text.replace(['\r', '\n'], " "))),
            Ok(Event::Resize(..)) => Some(ChatKey::Redraw),
            Ok(_) => None,
            Err(_) => return,
        };
        if key.is_some_and(|key| sender.send(key).is_err()) {
            return;
        }
    }
}

fn meaning(key: KeyEvent) -> Option<ChatKey> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c') if control => Some(ChatKey::Stop),
        KeyCode::Char('t') if control => Some(ChatKey::Plan),
        KeyCode::Char('u') if control => Some(ChatKey::EraseAll),
        KeyCode::Char('l') if control => Some(ChatKey::Redraw),
        KeyCode::Char(_) if control => None,
        KeyCode::Char(c) => Some(ChatKey::Text(c.to_string())),
        KeyCode::Backspace => Some(ChatKey::Erase),
        KeyCode::Enter => Some(ChatKey::Send),
        KeyCode::Esc => Some(ChatKey::Stop),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_mean_what_the_help_says() {
        let key = |code, modifiers| meaning(KeyEvent::new(code, modifiers));
        let (none, control) = (KeyModifiers::NONE, KeyModifiers::CONTROL);
        assert_eq!(key(KeyCode::Char('c'), control), Some(ChatKey::Stop));
        assert_eq!(key(KeyCode::Esc, none), Some(ChatKey::Stop));
        assert_eq!(key(KeyCode::Char('好'), none), Some(ChatKey::Text("好".to_owned())));
        assert_eq!(key(KeyCode::Char('d'), control), None, "Ctrl-D does nothing during a run");
    }
}
