//! What every store must guarantee, as checks that run on any database.
//!
//! Each check gets a store of its own. Deliberately absent: anything that only a file has; those
//! tests are beside the code of the file.

#![allow(clippy::unwrap_used, reason = "a check fails by panicking, also outside of cfg(test)")]

mod api_requests;
mod conversations;
mod damage;
mod endings;
mod facts;
mod family;
mod inbox;
mod journal;
mod keep;
mod kept;
mod kit;
mod queue;
mod schedule_runs;
mod screening;
mod search;
mod standing;
mod tasks;
mod told;
mod undos;
mod workers;

use crate::Store;
use std::{future::Future, pin::Pin};

/// One check: its name is the sentence that it proves.
#[derive(Clone, Copy)]
pub struct ConformanceCheck {
    /// The sentence.
    pub name: &'static str,
    run: fn(Store) -> Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl ConformanceCheck {
    /// Runs it on a fresh store; panics if the store fails.
    pub async fn run(&self, store: Store) {
        (self.run)(store).await;
    }
}

macro_rules! checks {
    ($($module:ident: $($name:ident),+;)*) => {
        /// All checks.
        pub const CHECKS: &[ConformanceCheck] = &[$($(ConformanceCheck {
            name: stringify!($name),
            run: |store| Box::pin($module::$name(store)),
        }),+),*];
    };
}

checks! {
    screening: rows_with_a_digest_are_sealed_and_other_rows_are_screened;
    journal: entries_have_places_without_gaps, a_stale_epoch_cannot_append,
        a_stale_place_cannot_append, an_effect_has_one_plan_start_and_outcome,
        a_large_body_lies_in_a_blob_once, a_body_of_over_100_mb_is_refused,
        a_journal_has_an_end, a_journal_has_a_size, a_frame_comes_back_whole,
        a_position_tells_where_a_run_stands, any_text_comes_back_as_it_was;
    queue: a_run_is_claimed_once, claims_follow_the_time_of_waking, one_key_makes_one_run,
        a_waiting_run_is_due_in_time, a_run_can_be_claimed_by_name,
        five_claims_without_progress_end_the_service, progress_resets_the_stalls,
        a_reset_forgets_the_stalls,
        quarantine_gives_one_last_message, released_runs_go_to_the_next_worker,
        a_run_keeps_its_type_its_title_and_what_it_does_again;
    inbox: a_message_before_parking_keeps_the_run_awake, a_message_after_parking_wakes_the_run,
        every_order_of_message_and_parking_is_safe, the_first_answer_wins,
        messages_come_in_order_and_are_taken_once,
        an_answer_is_taken_together_with_its_message_or_not_at_all,
        a_finished_run_takes_no_messages,
        a_large_message_is_refused, a_forks_message_is_there_before_anybody_can_claim_it;
    endings: finishing_is_final, the_final_message_is_the_only_one,
        status_and_message_come_together_or_not_at_all, own_writes_share_the_commit,
        the_outbox_is_in_order, the_first_settlement_counts, messages_keep_their_order;
    family: a_child_and_its_parents_record_come_together,
        a_childs_end_and_its_report_come_together, a_parents_end_stops_its_children,
        a_child_that_begins_under_a_cancel_is_told_of_it,
        every_order_of_a_cancel_and_a_beginning_tells_the_child,
        a_cancel_reaches_every_level_below,
        a_child_that_is_put_aside_is_reported_and_takes_its_children_along;
    tasks: a_run_that_a_commit_starts_comes_with_it_or_not_at_all,
        what_is_worked_on_is_not_started_a_second_time,
        runs_of_a_turn_and_of_a_conversation_are_found,
        an_answer_is_found_by_the_request_that_gave_it,
        a_request_cancels_once_and_is_known_again;
    damage: a_flipped_byte_stops_that_run_only, a_missing_entry_is_damage,
        a_damaged_snapshot_is_passed_over, a_damaged_blob_is_noticed,
        a_newer_kind_is_refused, a_newer_message_is_refused;
    keep: trimming_keeps_what_a_run_led_to,
        a_run_is_deleted_as_a_whole_and_only_when_it_is_over, sweeping_keeps_what_is_used,
        runs_are_listed_newest_first,
        runs_that_changed_are_read_in_pages_oldest_first, runs_are_found_by_the_end_of_their_name,
        an_inspection_counts_runs;
    kept: what_is_kept_comes_back_whole, the_last_changes_of_the_agenda_are_undone,
        a_change_on_top_is_not_undone_with_the_one_below, a_number_is_never_given_twice,
        one_key_makes_one_change,
        a_change_of_what_was_changed_meanwhile_is_refused, many_at_once_get_different_numbers,
        several_are_changed_together_or_not_at_all, of_writers_who_saw_the_same_schedule_one_writes,
        a_reminder_fires_once,
        a_firing_is_shown_by_one_surface_and_read_once, a_conversation_knows_its_runs_and_words;
    schedule_runs: a_firing_and_its_run_come_together_or_not_at_all,
        of_processes_that_fire_the_same_moment_one_makes_the_run,
        a_run_to_start_comes_back_whole_and_reminds_nobody,
        a_firing_is_settled_once_when_its_run_has_ended;
    told: a_webhook_counts_once_until_it_expires,
        a_final_message_goes_back_to_a_webhook_channel_with_its_ending,
        a_thing_is_said_once_in_a_while, a_reminder_that_nobody_saw_is_told_once;
    conversations: a_conversation_is_written_once_and_listed_by_its_last_word,
        a_conversation_is_found_by_its_id_its_title_and_its_words,
        what_is_unread_follows_from_what_was_read,
        a_question_outside_of_a_conversation_is_found_with_its_place,
        a_conversation_is_deleted_with_its_messages_and_not_while_it_has_a_run,
        words_of_the_program_to_a_channel_are_deleted_with_their_conversation,
        what_requests_did_is_forgotten_once_it_is_old,
        what_was_deleted_is_listed_with_who_and_when,
        a_run_and_the_conversation_that_tells_of_it_come_together,
        a_conversation_of_a_person_keeps_its_title_when_a_run_ends,
        conversations_come_in_pages_that_miss_nothing_and_repeat_nothing,
        a_given_title_beats_a_made_one, of_editors_who_saw_the_same_conversation_one_writes,
        a_run_that_ended_is_told_of_by_the_position_of_its_final_message;
    search: a_message_is_found_by_its_words_in_any_script_the_newest_first,
        pages_of_hits_miss_nothing_and_repeat_nothing,
        no_part_of_a_secret_becomes_a_term, what_is_deleted_leaves_no_term,
        messages_of_earlier_programs_are_indexed_later,
        the_last_word_of_a_run_that_was_put_aside_is_found,
        messages_come_in_pages_by_their_positions;
    api_requests: the_first_answer_under_a_key_stays_until_it_is_forgotten,
        a_key_whose_process_died_is_reserved_by_the_next_one;
    standing: an_approval_for_good_comes_with_its_commit_or_not_at_all,
        an_approval_for_good_covers_what_it_names_until_it_is_withdrawn,
        an_approval_for_a_conversation_ends_with_it;
    undos: an_undo_is_kept_with_its_files_until_its_run_is_deleted;
    facts: a_proposal_comes_with_the_outcome_of_its_call_or_not_at_all,
        an_untrusted_fact_is_never_active_by_itself,
        facts_are_listed_by_status_and_folder_newest_first,
        of_two_who_saw_the_same_fact_one_changes_it,
        changes_of_facts_are_read_in_pages_oldest_first,
        a_conversation_that_is_kept_out_of_memory_adds_no_fact,
        a_fact_outlives_the_run_that_it_came_from;
    workers: a_lease_is_measured_on_the_databases_clock, a_lease_that_ran_out_is_not_renewed,
        the_reaper_takes_from_the_dead_only, the_reaper_puts_poison_aside,
        one_worker_can_be_buried, a_reaped_owner_cannot_write;
}

/// Runs every check on a store of its own, one after the other.
///
/// # Panics
/// If any check failed; the message names them all.
pub async fn run_all(mut fresh: impl AsyncFnMut() -> Store) {
    let mut failed = Vec::new();
    for check in CHECKS {
        let store = fresh().await;
        if tokio::spawn((check.run)(store)).await.is_err() {
            failed.push(check.name);
        }
    }
    assert!(failed.is_empty(), "checks that failed: {failed:?}");
}
