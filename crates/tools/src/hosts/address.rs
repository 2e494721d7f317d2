//! Which addresses belong to the public network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Looks public, but is how machines of one cloud reach what manages them.
const CLOUD: Ipv4Addr = Ipv4Addr::new(168, 63, 129, 16);

/// Whether an address belongs to the public network. Others that are hidden in it count.
pub(super) fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => match inner_v4(ip) {
            Some(inner) => is_public_v4(inner),
            // Only 2000::/3 is given out at all; its documentation and benchmark parts are not.
            None => {
                let [first, second, ..] = ip.segments();
                let reserved =
                    first == 0x2001 && (second < 0x200 || second == 0xdb8) || first == 0x3fff;
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
        || ip == CLOUD
        || a >= 224)
}

/// The IPv4 address in an IPv6 one: mapped, compatible, NAT64 or 6to4.
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
    use super::is_public;

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
            "168.63.129.16",
            "100.100.100.200",
            "192.0.0.192",
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
            "2001::7f00:1",
            "3fff::1",
            "64:ff9b:1::a00:1",
            "::127.0.0.1",
        ] {
            assert!(!is_public(ip.parse().unwrap()), "{ip}");
        }
        for ip in ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "64:ff9b::101:101"] {
            assert!(is_public(ip.parse().unwrap()), "{ip}");
        }
    }
}
