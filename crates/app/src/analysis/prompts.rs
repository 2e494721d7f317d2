//! What the model is told about an analysis.

use crate::toolset;
use everloop_types::TODO_WRITE;

/// The rules of an analysis under a loop, which the model reads with the question.
pub(super) fn rules(files: &[String], mark: &str, loop_name: &str) -> String {
    let planned = if toolset::has(loop_name, TODO_WRITE) { BY_LIST } else { "" };
    let files = match files {
        [] => String::new(),
        some => format!(" Data files: {}.", some.join(", ")),
    };
    let end = match mark {
        "" => String::new(),
        mark => format!(" End the report with {mark} on a line of its own."),
    };
    format!("\n[data analysis.{files} {FIRST} {planned}{RULES}{end}]")
}

const FIRST: &str = "First call read_dataset on each file.";

/// For a loop whose model keeps a list itself.
const BY_LIST: &str = "Then plan 3 to 5 items with todo_write; set an item in_progress \
    before you start it and completed when it is done. When all items are done, write the report. ";

const RULES: &str = "Find every number with query_dataset; draw with make_chart. Your answer is the \
    report in Markdown, in the language of the question: a title that says the main finding, short \
    sections, what the data cannot tell. Never write a number from memory: write {{q1.r2.column}} \
    and it is inserted from the result. Every other number, those in words and in the titles of \
    charts too, is checked against the results, and one without a source is marked for the reader. \
    Name the row that a number belongs to in its own sentence. Say what was dirty in the data.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_told_to_keep_a_list_only_where_there_is_one() {
        for name in everloop_loops::LOOPS {
            let told = rules(&["sales.csv".to_owned()], "", name);
            assert_eq!(told.contains(TODO_WRITE), toolset::has(name, TODO_WRITE), "{name}");
            assert!(told.contains("read_dataset") && told.contains("sales.csv"), "{told}");
        }
    }
}
