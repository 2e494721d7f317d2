//! Whole stories with the real binary: what a person does, and what must hold afterwards.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../support/mod.rs"]
mod support;

mod answers;
mod approvals;
mod audit;
mod bad_replies;
mod cancels;
mod chat_keeps;
mod chat_lines;
mod chat_terminal;
mod cluster;
mod compare;
mod config;
mod context;
mod copies;
mod data_folder;
mod delegates;
mod doctor;
mod endings;
mod evidence;
mod forced;
mod front;
mod help;
mod imports;
mod injections;
mod keep;
mod keeping;
mod keys;
mod kills;
mod languages;
mod links;
mod loops;
mod mcp;
mod model_down;
mod models;
mod output;
mod overview;
mod own_programs;
mod pages;
mod postgres;
mod print;
mod prompt_cost;
mod questions;
mod readme;
mod real_model;
mod reminders;
mod retries;
mod searches;
mod secrets;
mod seen_words;
mod sends;
mod settings;
mod settles;
mod setup;
mod switches;
mod terminals;
mod tools;
mod travel;
mod upgrades;
mod walls;
mod wire;
mod workers;
