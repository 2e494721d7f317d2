//! What tools say is said to people in their language; the model goes on reading English.

use crate::support::{Home, calls, says};
use serde_json::json;

#[test]
fn progress_and_replay_tell_results_in_chinese_and_the_model_reads_english() {
    let home = Home::scripted(&[
        calls("list_dir", json!({"path": "."})),
        calls("write_file", json!({"path": "poem.txt", "content": "x"})),
        calls("read_file", json!({"path": "不存在.txt"})),
        calls("read_file", json!({"file": "a"})),
        says("写好了。"),
    ])
    .with("EVERLOOP_LANG", "zh-CN");
    let told = ["文件夹是空的", "已写入 poem.txt（1 字节）", "不存在.txt 不存在"];
    let ran = home.run(["run", "--loop", "react", "写一首诗"]).ends_with(0).says(&told);
    assert!(
        ran.stderr.contains("参数不对（缺少 path；没有参数 file），没有执行"),
        "{}",
        ran.stderr
    );
    let story = home.run(["replay", &home.newest()]).ends_with(0).stdout;
    for words in told {
        assert!(story.contains(words), "{words}: {story}");
    }
    let events = home.events(&home.newest());
    let results: Vec<&str> = events.iter().filter_map(|event| event["result"].as_str()).collect();
    assert_eq!(results[..2], ["the folder is empty", "wrote 1 byte to poem.txt"]);
}
