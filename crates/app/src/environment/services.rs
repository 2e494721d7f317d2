//! Services outside that the settings name: channels for messages, and where to search.

use crate::secrets;
use crate::settings::{ChannelEntry, Settings};
use everloop_tools::{Channel, Channels, SearchSetting};

/// Where messages may go.
pub fn channels(settings: &Settings) -> Channels {
    let address = |entry: &ChannelEntry| match entry.secret() {
        // One whose address cannot be had is no channel here; the start has said so.
        Some((name, reference)) => {
            let found = secrets::resolve(&reference, settings).ok()?;
            Channel::parse(&format!("{name}={found}"))
        }
        None => entry.channel(),
    };
    settings.tools.channels.iter().filter_map(address).collect()
}

/// Where to search, unless it is off.
pub(super) fn search(settings: &Settings) -> Option<SearchSetting> {
    Some(SearchSetting {
        service: settings.search.provider?,
        base_url: settings.search.base_url.clone(),
        timeout_ms: settings.search.timeout.ms(),
        top_k: settings.search.top_k,
    })
}
