//! A provider in use, as a line.

use crate::Console;
use everloop_app::models::survey::ProviderInUse;
use everloop_app::settings::SettingOrigin;
use everloop_text as text;

/// The address and where it was set, and where the key comes from.
pub fn line(app: &Console, provider: &ProviderInUse) -> String {
    let key = match (&provider.key_from, provider.needs_key) {
        (Some(source), _) => app.text(text::survey::key(&source)),
        (None, true) => app.text(text::survey::key_missing()),
        (None, false) => app.text(text::survey::no_key()),
    };
    let from = match &provider.address_from {
        SettingOrigin::Default => String::new(),
        origin => format!(" ({origin})"),
    };
    let (name, address) = (&provider.name, &provider.address);
    app.text(text::survey::Line { name, address, from: &from, key: &key }.text())
}
