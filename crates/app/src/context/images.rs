//! Pictures that go with a goal: known by their first bytes, bounded in size and number.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use everloop_types::Image;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Pictures of one goal.
pub(crate) const IMAGES_MAX: usize = 8;

/// Why a file is no picture that can be sent.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// It cannot be read.
    #[error("it cannot be read")]
    Unreadable(#[source] std::io::Error),
    /// It is a folder, a device or a pipe.
    #[error("it is no file")]
    NoFile,
    /// It is larger than a picture may be.
    #[error("it has more than {most} bytes")]
    TooLarge {
        /// How large one may be.
        most: u64,
    },
    /// Its first bytes are those of no picture that models read.
    #[error("it is no png, jpeg, gif or webp")]
    WrongType,
}

/// Reads a picture of at most so many bytes.
///
/// # Errors
/// [`ImageError`] if there is no such picture.
pub fn read(path: &Path, bytes_max: u64) -> Result<Image, ImageError> {
    // A pipe without a writer would block when it is opened.
    let is_file = std::fs::metadata(path).map_err(ImageError::Unreadable)?.is_file();
    if !is_file {
        return Err(ImageError::NoFile);
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(ImageError::Unreadable)?;
    let read = file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(ImageError::Unreadable)?;
    if bytes.len() as u64 > bytes_max {
        return Err(ImageError::TooLarge { most: bytes_max });
    }
    let mime = mime_of(&bytes).ok_or(ImageError::WrongType)?.to_owned();
    Ok(Image { mime, base64: STANDARD.encode(&bytes) })
}

/// A picture of at most so many bytes out of its base64 form.
///
/// # Errors
/// [`ImageError`] if it is none.
pub fn decode(base64: &str, bytes_max: u64) -> Result<Image, ImageError> {
    let bytes = STANDARD.decode(base64).map_err(|_| ImageError::WrongType)?;
    if bytes.len() as u64 > bytes_max {
        return Err(ImageError::TooLarge { most: bytes_max });
    }
    let mime = mime_of(&bytes).ok_or(ImageError::WrongType)?.to_owned();
    Ok(Image { mime, base64: base64.to_owned() })
}

/// Whether a file is a picture by its first bytes.
#[must_use]
pub(crate) fn is_picture(bytes: &[u8]) -> bool {
    mime_of(bytes).is_some()
}

/// The type of a picture by its first bytes, because names of files say whatever they like; none
/// if models do not read it.
pub fn mime_of(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::mime_of;

    #[test]
    fn a_picture_is_known_by_its_first_bytes_alone() {
        let known: [(&[u8], &str); 5] = [
            (b"\x89PNG\r\n\x1a\nrest", "image/png"),
            (b"\xff\xd8\xff\xe0", "image/jpeg"),
            (b"GIF87a", "image/gif"),
            (b"GIF89a", "image/gif"),
            (b"RIFF\x01\x02\x03\x04WEBPVP8 ", "image/webp"),
        ];
        for (bytes, mime) in known {
            assert_eq!(mime_of(bytes), Some(mime));
        }
        let others: [&[u8]; 6] =
            [b"", b"<svg/>", b"%PDF-1.7", b"RIFF1234WAVE", b"\x89PNG", b"GIF90a"];
        for bytes in others {
            assert_eq!(mime_of(bytes), None, "{bytes:?}");
        }
    }
}
