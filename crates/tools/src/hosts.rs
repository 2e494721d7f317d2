//! Which hosts may be called: those that the person named, and nothing behind their backs.
//!
//! A name is resolved once, every address is looked at, and the request goes to an address that was
//! looked at: whoever answers for the name cannot lead it into this machine or its network.
//!
//! Deliberately absent: wildcards, networks, proxies.

use reqwest::Url;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A host, and the port if only one is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    name: String,
    port: Option<u16>,
    reach: Reach,
}

/// Where a host's name may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// To the public network alone.
    Public,
    /// Also into this machine and its network.
    Anywhere,
}

/// The hosts that may be called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hosts(Vec<Host>);

impl Host {
    /// Reads `host`, `host:port`, an address, or an IPv6 address in brackets with a port.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.parse::<Ipv6Addr>().is_ok() {
            let name = spelled(&format!("[{text}]"))?;
            return Some(Self { name, port: None, reach: Reach::Public });
        }
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, Some(port.parse().ok()?)),
            _ => (text, None),
        };
        Some(Self { name: spelled(name)?, port, reach: Reach::Public })
    }

    /// Exactly the host and port of an address.
    pub(crate) fn of(url: &Url) -> Option<Self> {
        let (name, port) = (url.host_str()?.to_owned(), url.port_or_known_default());
        Some(Self { name, port, reach: Reach::Public })
    }

    /// The same host, though its name leads into this machine or its network.
    pub(crate) fn anywhere(self) -> Self {
        Self { reach: Reach::Anywhere, ..self }
    }

    fn covers(&self, name: &str, port: u16) -> bool {
        self.name == name && self.port.is_none_or(|own| own == port)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl fmt::Display for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.0.iter().map(Host::to_string).collect();
        f.write_str(&all.join(", "))
    }
}

impl FromIterator<Host> for Hosts {
    fn from_iter<I: IntoIterator<Item = Host>>(hosts: I) -> Self {
        Self(hosts.into_iter().collect())
    }
}

impl Hosts {
    /// Whether no host may be called.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads an address that may be called.
    pub(crate) fn admit(&self, address: &str) -> Result<Url, String> {
        let url = Url::parse(address).map_err(|error| format!("not an address: {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("{}: only http and https are called", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("the address holds a name or password".to_owned());
        }
        let name = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or_default();
        if !self.0.iter().any(|host| host.covers(name, port)) {
            return Err(format!("{name}:{port} may not be called; allowed: {self}"));
        }
        Ok(url)
    }

    /// Where the name of an admitted address may lead.
    pub(crate) fn reach(&self, url: &Url) -> Reach {
        let name = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or_default();
        let own = self.0.iter().find(|host| host.covers(name, port));
        own.map_or(Reach::Public, |host| host.reach)
    }
}

/// Where an admitted address leads, each place checked.
///
/// An address that was admitted by its own digits may be anywhere; `localhost` is this machine and
/// no other; every other name leads to the public network or nowhere, unless it may lead anywhere.
pub(crate) async fn places(url: &Url, reach: Reach) -> Result<Vec<SocketAddr>, Misled> {
    let name = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or_default();
    if let Some(ip) = literal(name) {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let found = tokio::net::lookup_host((name, port)).await;
    let found: Vec<SocketAddr> = found.map_err(|e| Misled::NotFound(e.to_string()))?.collect();
    checked(name, reach, found)
}

/// Every one of the places must fit: the other side decides which of them is taken.
fn checked(name: &str, reach: Reach, found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, Misled> {
    let fits = |ip: IpAddr| match (name, reach) {
        ("localhost", _) => ip.is_loopback(),
        (_, Reach::Anywhere) => true,
        (_, Reach::Public) => is_public(ip),
    };
    match found.iter().find(|place| !fits(place.ip())) {
        Some(place) => Err(Misled::Private(place.ip())),
        None if found.is_empty() => Err(Misled::NotFound("it has no address".to_owned())),
        None => Ok(found),
    }
}

/// Why a name leads nowhere.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Misled {
    /// No address is known, at least now.
    NotFound(String),
    /// It leads to this machine or its network.
    Private(IpAddr),
}

fn spelled(name: &str) -> Option<String> {
    let url = Url::parse(&format!("http://{name}/")).ok()?;
    let plain = url.path() == "/" && url.username().is_empty() && url.password().is_none();
    let bare = url.query().is_none() && url.fragment().is_none() && url.port().is_none();
    let spelled = url.host_str().filter(|_| plain && bare)?;
    (!name.contains(['/', '\\', '*', '@'])).then(|| spelled.to_owned())
}

fn literal(name: &str) -> Option<IpAddr> {
    name.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Whether an address belongs to the public network. Others that are hidden in it count.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => match inner_v4(ip) {
            Some(inner) => is_public_v4(inner),
            // Only 2000::/3 is given out at all; its documentation and benchmark parts are not.
            None => {
                let [first, second, ..] = ip.segments();
                let reserved = first == 0x2001 && (second < 0x200 || second == 0xdb8);
                (0x2000..0x4000).contains(&first) && !reserved
            }
        },
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    let shared = a == 100 && (64..128).contains(&b);
    let tests = a == 198 && (18..20).contains(&b);
    let protocol = (a, b, c) == (192, 0, 0) || (a, b, c) == (192, 88, 99);
    !(a == 0
        || ip.is_loopback()
        || ip.is_private()
        || ip.is_link_local()
        || ip.is_documentation()
        || shared
        || tests
        || protocol
        || a >= 224)
}

/// The IPv4 address that this one stands for: mapped, compatible, NAT64 or 6to4.
fn inner_v4(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = ip.segments();
    let of = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match (a, b, c, d, e, f) {
        (0, 0, 0, 0, 0, 0 | 0xffff) | (0x64, 0xff9b, 0, 0, 0, 0) => Some(of(g, h)),
        (0x2002, ..) => Some(of(b, c)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Host, Hosts, Misled, Reach, checked, is_public};
    use reqwest::Url;
    use std::net::SocketAddr;

    fn hosts(list: &str) -> Hosts {
        list.split(' ').filter_map(Host::parse).collect()
    }

    #[test]
    fn only_named_hosts_are_admitted_by_http_and_https_and_without_a_password() {
        let hosts = hosts("api.example.com Hooks.Example.com:8443 127.0.0.1:80 [::1]:90");
        for address in [
            "http://api.example.com/x?y",
            "https://API.example.com:444/",
            "https://hooks.example.com:8443/z",
            "http://127.0.0.1/",
            "http://127.1/",
            "http://[::1]:90/",
        ] {
            assert!(hosts.admit(address).is_ok(), "{address}");
        }
        for address in [
            "https://example.com/",
            "https://api.example.com.evil.org/",
            "https://api.example.com@evil.org/",
            "https://me:word@api.example.com/",
            "https://hooks.example.com/",
            "ftp://api.example.com/",
            "file:///etc/passwd",
            "http://127.0.0.1:8080/",
            "http://[::1]/",
            "api.example.com",
        ] {
            assert!(hosts.admit(address).is_err(), "{address}");
        }
        assert!(Hosts::default().admit("http://localhost/").is_err());
    }

    #[test]
    fn a_name_that_leads_into_this_machine_or_its_network_is_not_followed_though_it_is_allowed() {
        let at = |ip: &str| SocketAddr::new(ip.parse().unwrap(), 80);
        let checked = |name, found| checked(name, Reach::Public, found);
        for name in ["api.example.com", "localhost.", "a.localhost"] {
            let misled = checked(name, vec![at("1.1.1.1"), at("127.0.0.1")]);
            assert_eq!(misled, Err(Misled::Private(at("127.0.0.1").ip())), "{name}");
        }
        assert_eq!(checked("api.example.com", vec![at("1.1.1.1")]), Ok(vec![at("1.1.1.1")]));
        assert_eq!(checked("localhost", vec![at("::1")]), Ok(vec![at("::1")]));
        assert!(checked("localhost", vec![at("1.1.1.1")]).is_err());
        assert!(matches!(checked("api.example.com", Vec::new()), Err(Misled::NotFound(_))));
    }

    #[test]
    fn a_host_of_the_settings_may_be_near_and_no_other() {
        let url = |address: &str| Url::parse(address).unwrap();
        let near = url("http://search.lan:8080/");
        let hosts: Hosts = Host::of(&near).map(Host::anywhere).into_iter().collect();
        assert_eq!(hosts.reach(&near), Reach::Anywhere);
        for other in ["http://search.lan/", "http://api.example.com:8080/"] {
            assert_eq!(hosts.reach(&url(other)), Reach::Public, "{other}");
        }
        let found = vec![SocketAddr::new("192.168.1.2".parse().unwrap(), 8080)];
        assert_eq!(checked("search.lan", Reach::Anywhere, found.clone()), Ok(found));
    }

    #[test]
    fn what_is_no_host_is_not_read_as_one() {
        for text in ["", "*", "*.example.com", "http://example.com", "a/b", "a:b", "u@h", "h:99999"]
        {
            assert_eq!(Host::parse(text), None, "{text}");
        }
    }

    #[test]
    fn addresses_of_this_machine_and_its_network_are_not_public() {
        for ip in [
            "127.0.0.1",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fd00::1",
            "ff02::1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:a00:1::",
            "2001:db8::1",
        ] {
            assert!(!is_public(ip.parse().unwrap()), "{ip}");
        }
        for ip in ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "64:ff9b::101:101"] {
            assert!(is_public(ip.parse().unwrap()), "{ip}");
        }
    }
}
