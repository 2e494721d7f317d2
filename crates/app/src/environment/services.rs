//! Services outside that the settings name: channels for messages, and where to search.

use crate::secrets;
use crate::settings::{ChannelEntry, Settings, SignedChannel};
use everloop_models::{Endpoint, Timeouts};
use everloop_tools::{Channel, Channels, SearchSetting};

/// Where messages may go. Those of signed channels are signed when they are delivered.
pub fn channels(settings: &Settings) -> Channels {
    let address = |entry: &ChannelEntry| match entry.secret() {
        // One whose address cannot be had is no channel here; the start has said so.
        Some((name, reference)) => {
            let found = secrets::resolve(&reference, settings).ok()?;
            Channel::parse(&format!("{name}={found}"))
        }
        None => entry.channel(),
    };
    let own = |channel: &SignedChannel| {
        let found = secrets::behind(channel.target()?, settings).ok()?;
        Channel::parse(&format!("{}={found}", channel.name()))
    };
    let signed = settings.channels().iter().filter_map(own);
    settings.tools.channels.iter().filter_map(address).chain(signed).collect()
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

/// How models are asked, apart from their address and key.
pub(super) fn endpoint(settings: &Settings) -> Endpoint {
    Endpoint {
        timeouts: Timeouts {
            connect_ms: settings.model.connect_timeout.ms(),
            first_byte_ms: settings.model.first_byte_timeout.ms(),
            idle_ms: settings.model.idle_timeout.ms(),
            total_ms: settings.model.total_timeout.ms(),
        },
        reply_bytes_max: settings.model.reply_max.length(),
        ..Endpoint::default()
    }
}
