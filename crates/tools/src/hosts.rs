//! Which hosts may be called: those that the settings list, or the public network.
//!
//! A name is resolved once, every address is checked, and the request goes to a checked address. So
//! the owner of a name cannot direct a request into this machine or its network. The same happens
//! for each redirect.
//!
//! Deliberately absent: wildcards, networks, proxies.

mod address;

use address::is_public;
use everloop_ports::BoxFuture;
use reqwest::Url;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::{fmt, io};

/// A host, and the port if only one is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostAddress {
    name: String,
    port: Option<u16>,
    reach: HostReach,
}

/// Which addresses the name of a host may resolve to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostReach {
    /// To the public network alone, digits and `localhost` too.
    Public,
    /// To the public network, but for what the person wrote down: digits, or `localhost`.
    Named,
    /// Also into this machine and its network.
    Anywhere,
}

/// The hosts that may be called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hosts {
    named: Vec<HostAddress>,
    others: UnlistedHosts,
}

/// Whether hosts that are not listed may be called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum UnlistedHosts {
    #[default]
    Refused,
    /// They may be called as far as they are public.
    Public,
}

/// Resolves names.
pub trait Resolve: fmt::Debug + Send + Sync {
    /// Every address of a name.
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// Resolves names: with the system, or with a replacement in tests.
#[derive(Debug, Clone)]
pub struct NameResolver(pub Arc<dyn Resolve>);

impl Default for NameResolver {
    fn default() -> Self {
        Self(Arc::new(SystemResolver))
    }
}

#[derive(Debug)]
struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|place| place.ip()).collect())
        })
    }
}

impl HostAddress {
    /// Reads `host`, `host:port`, an address, or an IPv6 address in brackets with a port.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.parse::<Ipv6Addr>().is_ok() {
            let name = spelled(&format!("[{text}]"))?;
            return Some(Self { name, port: None, reach: HostReach::Named });
        }
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, Some(port.parse().ok()?)),
            _ => (text, None),
        };
        Some(Self { name: spelled(name)?, port, reach: HostReach::Named })
    }

    /// Exactly the host and port of an address.
    pub(crate) fn of(url: &Url) -> Option<Self> {
        let (name, port) = (url.host_str()?.to_owned(), url.port_or_known_default());
        Some(Self { name, port, reach: HostReach::Named })
    }

    /// The same host, even if its name resolves to this machine or its network.
    pub(crate) fn anywhere(self) -> Self {
        Self { reach: HostReach::Anywhere, ..self }
    }

    fn covers(&self, name: &str, port: u16) -> bool {
        self.name == name && self.port.is_none_or(|own| own == port)
    }
}

impl fmt::Display for HostAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl fmt::Display for Hosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.named.iter().map(HostAddress::to_string).collect();
        f.write_str(&all.join(", "))
    }
}

impl FromIterator<HostAddress> for Hosts {
    fn from_iter<I: IntoIterator<Item = HostAddress>>(hosts: I) -> Self {
        Self { named: hosts.into_iter().collect(), others: UnlistedHosts::Refused }
    }
}

impl Hosts {
    /// Every public host, and these wherever they are.
    pub fn public(near: impl IntoIterator<Item = HostAddress>) -> Self {
        let named = near.into_iter().map(HostAddress::anywhere).collect();
        Self { named, others: UnlistedHosts::Public }
    }

    /// Whether no host may be called.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.named.is_empty() && self.others == UnlistedHosts::Refused
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
        let named = self.named.iter().any(|host| host.covers(name, port));
        match self.others {
            _ if named => Ok(url),
            UnlistedHosts::Public if is_web_port(port) => Ok(url),
            UnlistedHosts::Public => Err(format!("port {port} is not one of web pages")),
            UnlistedHosts::Refused => {
                Err(format!("{name}:{port} may not be called; allowed: {self}"))
            }
        }
    }

    /// What the name of an admitted address may resolve to.
    pub(crate) fn reach(&self, url: &Url) -> HostReach {
        let name = url.host_str().unwrap_or_default();
        let port = url.port_or_known_default().unwrap_or_default();
        let own = self.named.iter().find(|host| host.covers(name, port));
        own.map_or(HostReach::Public, |host| host.reach)
    }
}

/// Whether pages are served there. Other low ports speak other protocols, some of which would take
/// a request for orders.
fn is_web_port(port: u16) -> bool {
    matches!(port, 80 | 443 | 1024..)
}

/// The socket addresses of an admitted address, each checked.
pub(crate) async fn places(
    url: &Url,
    reach: HostReach,
    names: &NameResolver,
) -> Result<Vec<SocketAddr>, ResolveError> {
    let name = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or_default();
    let found = match literal(name) {
        // An address given as an IP is allowed as it is.
        Some(ip) if reach == HostReach::Named => return Ok(vec![SocketAddr::new(ip, port)]),
        Some(ip) => vec![ip],
        None => names.0.resolve(name).await.map_err(|e| ResolveError::NotFound(e.to_string()))?,
    };
    let found = checked(name, reach, found)?;
    Ok(found.into_iter().map(|ip| SocketAddr::new(ip, port)).collect())
}

/// All addresses must be allowed: the server of the name chooses which one is used.
fn checked(name: &str, reach: HostReach, found: Vec<IpAddr>) -> Result<Vec<IpAddr>, ResolveError> {
    let fits = |ip: IpAddr| match (name, reach) {
        (_, HostReach::Anywhere) => true,
        // `localhost` is only this machine.
        ("localhost", HostReach::Named) => ip.is_loopback(),
        (_, HostReach::Public | HostReach::Named) => is_public(ip),
    };
    match found.iter().find(|ip| !fits(**ip)) {
        Some(ip) => Err(ResolveError::Private(*ip)),
        None if found.is_empty() => Err(ResolveError::NotFound("it has no address".to_owned())),
        None => Ok(found),
    }
}

/// Why a name has no address that may be called.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ResolveError {
    /// No address is known, at least now.
    NotFound(String),
    /// It resolves to this machine or its network.
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

#[cfg(test)]
mod tests {
    use super::{HostAddress, HostReach, Hosts, NameResolver, ResolveError, checked, places};
    use reqwest::Url;
    use std::net::{IpAddr, SocketAddr};

    fn hosts(list: &str) -> Hosts {
        list.split(' ').filter_map(HostAddress::parse).collect()
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
        let at = |ip: &str| ip.parse::<IpAddr>().unwrap();
        let checked = |name, found| checked(name, HostReach::Named, found);
        for name in ["api.example.com", "localhost.", "a.localhost"] {
            let misled = checked(name, vec![at("1.1.1.1"), at("127.0.0.1")]);
            assert_eq!(misled, Err(ResolveError::Private(at("127.0.0.1"))), "{name}");
        }
        assert_eq!(checked("api.example.com", vec![at("1.1.1.1")]), Ok(vec![at("1.1.1.1")]));
        assert_eq!(checked("localhost", vec![at("::1")]), Ok(vec![at("::1")]));
        assert!(checked("localhost", vec![at("1.1.1.1")]).is_err());
        assert!(matches!(checked("api.example.com", Vec::new()), Err(ResolveError::NotFound(_))));
    }

    #[test]
    fn a_host_of_the_settings_may_be_near_and_no_other() {
        let url = |address: &str| Url::parse(address).unwrap();
        let near = url("http://search.lan:8080/");
        let hosts: Hosts = HostAddress::of(&near).map(HostAddress::anywhere).into_iter().collect();
        assert_eq!(hosts.reach(&near), HostReach::Anywhere);
        for other in ["http://search.lan/", "http://api.example.com:8080/"] {
            assert_eq!(hosts.reach(&url(other)), HostReach::Public, "{other}");
        }
        let found: Vec<IpAddr> = vec!["192.168.1.2".parse().unwrap()];
        assert_eq!(checked("search.lan", HostReach::Anywhere, found.clone()), Ok(found));
    }

    #[test]
    fn what_is_no_host_is_not_read_as_one() {
        for text in ["", "*", "*.example.com", "http://example.com", "a/b", "a:b", "u@h", "h:99999"]
        {
            assert_eq!(HostAddress::parse(text), None, "{text}");
        }
    }

    #[tokio::test]
    async fn among_public_hosts_digits_and_localhost_are_no_way_home_unless_they_are_named() {
        let near = HostAddress::parse("127.0.0.1:8080");
        let hosts = Hosts::public(near);
        let at = async |address: &str| {
            let url = hosts.admit(address).unwrap();
            places(&url, hosts.reach(&url), &NameResolver::default()).await
        };
        for address in ["http://127.0.0.1/", "http://localhost/", "http://0x7f.1:8081/"] {
            assert!(matches!(at(address).await, Err(ResolveError::Private(_))), "{address}");
        }
        let named = SocketAddr::new("127.0.0.1".parse().unwrap(), 8080);
        assert_eq!(at("http://127.0.0.1:8080/").await, Ok(vec![named]));
        assert!(hosts.admit("http://example.com:25/").is_err(), "no mail");
    }
}
