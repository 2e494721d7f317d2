//! Services outside that the settings name: channels for messages, and where to search.

use crate::secrets;
use crate::settings::Settings;
use everloop_tools::{Channel, Channels, SearchService, SearchSetting};

/// Where messages may go.
pub fn channels(settings: &Settings) -> Channels {
    let address = |item: &str| match secrets::channel(item) {
        // One whose address cannot be had is no channel here; the start has said so.
        Some((name, reference)) => {
            let found = secrets::resolve(&reference, settings).ok()?;
            Channel::parse(&format!("{name}={found}"))
        }
        None => Channel::parse(item),
    };
    settings.list("tools.channels").filter_map(address).collect()
}

/// Where to search, unless it is off.
pub(super) fn search(settings: &Settings) -> Option<SearchSetting> {
    Some(SearchSetting {
        service: SearchService::parse(settings.text("search.provider"))?,
        base_url: settings.text("search.base_url").to_owned(),
        timeout_ms: settings.number("search.timeout"),
        top_k: usize::try_from(settings.number("search.top_k")).unwrap_or(1),
    })
}
