//! What a model is told before the goal, and where it comes from.
//!
//! ```text
//!   personas/*.md   MEMORY.md   AGENTS.md   .agents/skills/*/SKILL.md
//!          └────────────┴───── read once ─────┴───────────┘
//!                               ▼
//!                    prompt::system(&Parts) ──► Frame::system, frozen
//! ```
//!
//! Reading is bounded, and what cannot be used is said and left out: a bad skill never stops a run.
//! Deliberately absent: settings and folders of the person (`cli`), compaction (`loops`).

pub mod custom_commands;
mod front_matter;
pub(crate) mod guidance;
pub mod images;
pub mod memory;
pub(crate) mod personas;
pub(crate) mod prompt;
pub(crate) mod skill_tool;
pub(crate) mod skills;
