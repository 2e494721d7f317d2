//! Rows that are rules of the store: each is a check of its conformance suite, on both databases.

use everloop_store::Store;
use everloop_store::conformance::CHECKS;
use everloop_store::testing::PgServer;

async fn holds(name: &str) {
    let check = CHECKS.iter().find(|check| check.name == name).expect("a check of that name");
    let folder = tempfile::tempdir().unwrap();
    check.run(Store::open(&folder.path().join("everloop.db")).unwrap()).await;
    check.run(PgServer::shared().database().store().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_07_a_flipped_byte_is_noticed_and_a_damaged_snapshot_passed_over() {
    holds("a_flipped_byte_stops_that_run_only").await;
    holds("a_damaged_blob_is_noticed").await;
    holds("a_damaged_snapshot_is_passed_over").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_09_an_owner_whose_run_was_taken_cannot_write() {
    holds("a_stale_epoch_cannot_append").await;
    holds("a_reaped_owner_cannot_write").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_17_every_order_of_message_and_parking_is_safe() {
    holds("every_order_of_message_and_parking_is_safe").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_18_the_first_of_many_answers_wins() {
    holds("the_first_answer_wins").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_20_status_and_final_message_come_together_or_not_at_all() {
    holds("status_and_message_come_together_or_not_at_all").await;
    holds("the_final_message_is_the_only_one").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_23_a_lease_is_measured_on_the_clock_of_the_database() {
    holds("a_lease_is_measured_on_the_databases_clock").await;
    holds("a_waiting_run_is_due_in_time").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_24_what_a_newer_program_wrote_is_refused() {
    holds("a_newer_kind_is_refused").await;
    holds("a_newer_message_is_refused").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_26_five_claims_without_progress_end_the_service() {
    holds("five_claims_without_progress_end_the_service").await;
    holds("the_reaper_puts_poison_aside").await;
}
