use super::*;
use everloop_engine::EngineRules;
use everloop_models::{ScriptedModel, ScriptedReply};
use everloop_types::{Frame, ToolSpec, UtcMs};
use serde_json::json;
use std::path::{Path, PathBuf};

struct Bare;

impl ContestHost for Bare {
    fn frame(&self, _: &str, _: &str, _: &Path, tools: Vec<ToolSpec>) -> Frame {
        Frame { tools, ..Frame::default() }
    }

    fn context(&self, _: &Path, _: UtcMs) -> String {
        String::new()
    }

    fn connect(&self, _: &str) -> Result<ContestModel, ModelError> {
        let write = json!({"path": "greeting.txt", "content": "Good morning"});
        let replies = vec![
            ScriptedReply::calls("write_file", write),
            ScriptedReply::calls("read_file", json!({"path": "none.txt"})),
            ScriptedReply::calls("no_such_tool", json!({})),
            ScriptedReply::says("Written."),
        ];
        Ok((Arc::new(ScriptedModel::new(replies)), "x".to_owned()))
    }

    fn guard(&self) -> Option<PathBuf> {
        None
    }

    fn rules(&self) -> EngineRules {
        EngineRules::default()
    }
}

/// The figures are the run's own, and the journal's outcomes add up to the same.
#[tokio::test]
async fn the_counts_of_a_run_are_those_of_its_journal() {
    let task = crate::task::builtin().into_iter().find(|task| task.name == "files-write");
    for model in ["endpoint/x", "competent"] {
        for loop_name in ["react", "plan-execute-think", "plan-replan"] {
            let part = ContestRun {
                task: Arc::new(task.clone().unwrap()),
                loop_name: loop_name.to_owned(),
                model: model.to_owned(),
                seed: 1,
                timeout: Duration::from_secs(60),
                latency: None,
            };
            let stage = TaskStage::set(&Bare, &part.task).await.unwrap();
            let answers = super::model(&Bare, &TokenCache::default(), &part).unwrap();
            let engine = stage.engine(&Bare, answers);
            let submission = stage.submission(&Bare, &part.task, loop_name, model);
            let run = engine.submit(submission).await.unwrap();
            drive(&engine, &run, &part).await.unwrap();
            let history = History::read(stage.store(), &run).await.unwrap().unwrap();
            let (told, journal) =
                (counts(&stage, &run).await.unwrap(), history.counts_of_outcomes());
            let figures = |counts: &Counts| {
                (counts.model_calls, counts.tool_calls, counts.tool_failures, counts.usage)
            };
            assert_eq!(figures(&told), figures(&journal), "{model} {loop_name}");
            assert!(told.model_calls > 1, "{told:?}");
        }
    }
}
