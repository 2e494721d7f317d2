//! Being filled.

super::texts! {}
