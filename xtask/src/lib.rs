//! Checks of this repository: what the compiler and clippy cannot see.
//!
//! ```text
//!   files on disk ──Tree::read──► Tree ──each check──► complaints
//! ```
//!
//! Each check is a pure function over a [`Tree`], so a test can show it a bad example.
//! Deliberately absent: automatic fixes. A complaint says what to do.

mod lex;
pub mod licences;
pub mod tidy;
mod tree;

pub use lex::{RustToken, TokenKind};
pub use tree::{Complaint, Tree, TreeFile};
