//! Content digests, the same everywhere.

use serde::Serialize;

/// The digest of some bytes, as 32 hexadecimal characters (128 bits of BLAKE3).
#[must_use]
pub fn digest_bytes(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

/// The digest of a value's JSON form. Types here keep map order fixed, so equal values agree.
#[must_use]
pub fn digest_json<T: Serialize>(value: &T) -> String {
    let bytes = serde_json::to_vec(value).expect("our own types always have a JSON form");
    digest_bytes(&bytes)
}
