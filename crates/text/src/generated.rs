//! What the build script made of the files in `texts/`.

include!(concat!(env!("OUT_DIR"), "/messages.rs"));
