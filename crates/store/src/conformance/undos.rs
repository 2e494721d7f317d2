//! Checks of undos.

use super::kit::{BY, NOW, claimed, ending};
use crate::{Removal, Store, UndoRow};
use everloop_types::{ConversationId, RunId, Status};

fn undo(id: &str, run: &str, redoes: Option<&str>) -> UndoRow {
    UndoRow {
        id: id.to_owned(),
        conversation: ConversationId::new("conv_1"),
        run: RunId::new(run),
        at: NOW,
        by: "user".to_owned(),
        redoes: redoes.map(str::to_owned),
        workspace: "/projet é".to_owned(),
        files: r#"[{"path":"é.txt"}]"#.to_owned(),
    }
}

pub(super) async fn an_undo_is_kept_with_its_files_until_its_run_is_deleted(store: Store) {
    let [one, two, other] = [
        undo("undo_1", "run_a", None),
        undo("undo_2", "run_a", Some("undo_1")),
        undo("undo_3", "run_b", None),
    ];
    for row in [&two, &one, &other] {
        store.undos().record(row).await.unwrap();
    }
    let again = UndoRow { files: "[]".to_owned(), at: NOW + 9, ..one.clone() };
    store.undos().record(&again).await.unwrap();
    let one = UndoRow { files: "[]".to_owned(), ..one };
    let run = RunId::new("run_a");
    assert_eq!(store.undos().of_run(&run).await.unwrap(), [one, two.clone()]);
    let conversation = ConversationId::new("conv_1");
    let last = store.undos().of_conversation(&conversation, 2).await.unwrap();
    assert_eq!(last, [two, other]);
    let elsewhere = ConversationId::new("conv_2");
    assert_eq!(store.undos().of_conversation(&elsewhere, 9).await.unwrap(), []);
    let mut claim = claimed(&store, "run_a").await;
    let end = ending(&claim, Status::Succeeded);
    store.journal().append(&mut claim, end).await.unwrap();
    let gone = store.maintenance().delete_run(&run, BY).await.unwrap();
    assert_eq!(gone, Removal::Gone(vec![run.clone()]));
    assert_eq!(store.undos().of_run(&run).await.unwrap(), []);
}
