//! Every test of the tools in one program: one is linked faster than 23.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod aftermath;
mod arguments;
#[path = "attacks/web.rs"]
mod attack_web;
mod attacks;
#[path = "sandbox/attempts.rs"]
mod attempt_rows;
mod attempts;
mod checkpoints;
#[path = "attempts/commands.rs"]
mod command_attempts;
mod edits;
#[path = "attempts/files.rs"]
mod file_attempts;
#[path = "attacks/scene.rs"]
mod file_scene;
mod files;
mod git;
#[path = "attempts/git.rs"]
mod git_attempts;
mod git_outside;
mod home_files;
mod http;
mod index;
#[path = "git_outside/leads.rs"]
mod leads;
mod ordinary;
mod programs;
mod protected;
mod repositories;
#[path = "attacks/rows.rs"]
mod rows;
#[path = "attempts/rules.rs"]
mod rule_attempts;
mod sandbox;
#[path = "sandbox/scene.rs"]
mod sandbox_scene;
mod search;
mod search_code;
#[path = "support/server.rs"]
mod server;
mod shell;
mod support;
mod table;
#[path = "attempts/told.rs"]
mod told;
mod trusted_files;
#[path = "repositories/ways.rs"]
mod ways;
mod web;
#[path = "attempts/web.rs"]
mod web_attempts;
