//! Answers as people write them, and what they must mean.

use super::{
    BareCommand, Meaning, OutcomeReport, bare_word, corrected, is_later, is_stop, meaning,
    reported_outcome,
};

fn no(reason: &str) -> Meaning {
    let reason = (!reason.is_empty()).then(|| reason.to_owned());
    Meaning::No { reason }
}

#[test]
fn everyday_words_mean_yes() {
    for word in [
        "y",
        "Y",
        "ｙ",
        "y。",
        "yes",
        "YES",
        "yes！",
        "yes!!",
        "Yes.",
        "yes please",
        "Yes, please.",
        "yep",
        "yeah",
        "yup",
        "sure",
        "Sure!",
        "ok",
        "OK",
        "Ok。",
        "okay",
        "okay then",
        "go ahead",
        "Go ahead.",
        "do it",
        "sounds good",
        "please",
        "no problem",
        "of course",
        "yes yes",
        "fine",
        "1",
        "１",
        "是",
        "是的",
        "是的，同意",
        "是的。",
        "同意",
        "我同意",
        "批准",
        "确认",
        "确定",
        "嗯",
        "嗯嗯",
        "嗯，可以",
        "对",
        "对的",
        "對",
        "没问题",
        "沒問題",
        "好",
        "好。",
        "好！",
        "好的",
        "好的好的",
        "好的，谢谢",
        "好吧",
        "可以",
        "可以的",
        "可以。",
        "行",
        "行吧",
        "成",
        "允许",
        "允许。",
        "允許",
        "执行",
        "执行吧",
        "去做吧",
        "当然",
        "yes, just this once",
        "可以，就这一次",
        " 好 ",
        "好～",
        "ok 👍",
        "👍",
        "yes thanks",
    ] {
        assert_eq!(meaning(word), Meaning::Yes, "{word}");
    }
}

#[test]
fn words_for_good_mean_always() {
    for word in [
        "always",
        "Always.",
        "a",
        "ａ",
        "总是",
        "总是。",
        "總是",
        "一直允许",
        "以后都允许",
        "是的，总是",
        "yes, always",
        "always allow",
        "always, thanks",
        "yes and don't ask again",
        "好，以后不用再问",
    ] {
        assert_eq!(meaning(word), Meaning::Always, "{word}");
    }
}

#[test]
fn everyday_words_mean_no() {
    for word in [
        "n",
        "N",
        "ｎ",
        "n。",
        "no",
        "No.",
        "NO!",
        "nope",
        "nah",
        "don't",
        "don’t",
        "stop",
        "cancel",
        "no thanks",
        "not now",
        "never mind",
        "please don't",
        "no, no",
        "不",
        "不。",
        "不用",
        "不用了",
        "不要",
        "不要！",
        "不行",
        "别",
        "別",
        "算了",
        "算了吧",
        "取消",
        "否",
        "拒绝",
        "不同意",
        "不可以",
        "不了，谢谢",
        "先不要",
        "停",
        "不不不",
    ] {
        assert_eq!(meaning(word), no(""), "{word}");
    }
}

#[test]
fn a_no_carries_its_reason_as_it_was_written() {
    for (word, reason) in [
        ("n, use rm -i instead", "use rm -i instead"),
        ("No, use RM -i", "use RM -i"),
        ("no because it is unsafe", "because it is unsafe"),
        ("n use rm -i", "use rm -i"),
        ("no: ask Bob first", "ask Bob first"),
        ("no, please use rm -i", "please use rm -i"),
        ("不，先备份", "先备份"),
        ("不 先备份", "先备份"),
        ("不行，这个目录不能动。", "这个目录不能动。"),
        ("不对，是后天", "是后天"),
        ("不要删除", "不要删除"),
        ("别删这个文件", "别删这个文件"),
        ("don't delete the logs", "delete the logs"),
        ("拒绝：太危险", "太危险"),
    ] {
        assert_eq!(meaning(word), no(reason), "{word}");
    }
}

/// It allows something other than what was asked, so what was asked is not done.
#[test]
fn a_yes_with_a_condition_is_a_no_that_says_it() {
    for word in [
        "yes but only the first",
        "yes, but in another folder",
        "ok if you back it up",
        "sure, first make a copy",
        "可以，但是先备份",
        "好的，不过只删第一个",
        "好的先备份",
        "行，只这一个文件夹",
        "always, but not in src",
    ] {
        assert_eq!(meaning(word), no(word), "{word}");
    }
}

#[test]
fn what_is_none_of_these_is_unclear() {
    for word in [
        "",
        " ",
        "。",
        "maybe",
        "yes?",
        "好吗",
        "可以吗？",
        "是不是",
        "行不行",
        "好不好",
        "对不起",
        "好像不行",
        "是的吗",
        "yes or no",
        "yes no",
        "不知道",
        "不错",
        "不一定",
        "不要紧",
        "别的办法呢",
        "no idea",
        "no need to ask",
        "don't stop",
        "don't worry, go ahead",
        "don't ask again",
        "stop asking",
        "start on the readme",
        "把文档写完",
        "改成四点",
        "后天下午三点开会",
        "2",
        "10",
        "yes delete everything",
        "what does it do",
        "为什么",
        "a lot",
        "not sure",
        "yesterday",
        "nothing",
        "okra",
        "不，可以",
        "no, go ahead",
        "好看",
        "行李",
        "对方",
        "说",
        "e2",
    ] {
        assert_eq!(meaning(word), Meaning::Unclear, "{word}");
    }
}

#[test]
fn a_change_is_asked_for_in_few_words() {
    for word in ["e", "E", "ｅ", "edit", "修改", "改", "改一下", "修改。", "修改吧"] {
        assert_eq!(meaning(word), Meaning::Edit, "{word}");
    }
}

#[test]
fn what_happened_is_said_by_number_or_word() {
    for word in ["1", "１", "1。", "happened", "发生了", "是的", "yes"] {
        assert_eq!(reported_outcome(word), Some(OutcomeReport::Happened), "{word}");
    }
    for word in ["2", "２", "not", "没有", "没有发生。", "没发生", "no", "it didn't"] {
        assert_eq!(reported_outcome(word), Some(OutcomeReport::DidNot), "{word}");
    }
    for word in ["3", "３", "look", "查看", "核实", "不知道", "unknown"] {
        assert_eq!(reported_outcome(word), Some(OutcomeReport::Look), "{word}");
    }
    for word in ["4", "", "取消", "算了", "写周报", "yes but twice", "stop"] {
        assert_eq!(reported_outcome(word), None, "{word}");
    }
}

#[test]
fn a_bare_word_may_stop_leave_or_ask_for_help() {
    for word in ["取消", "取消。", "停！", "停", "stop", "Stop.", "ＳＴＯＰ", "cancel", "cancel!"]
    {
        assert!(is_stop(word), "{word}");
    }
    for word in ["取消订单", "stop the server", "停车场", "不", "算了", ""] {
        assert!(!is_stop(word), "{word}");
    }
    for word in ["exit", "quit", "Quit.", "退出", "退出。"] {
        assert_eq!(bare_word(word), Some(BareCommand::Leave), "{word}");
    }
    for word in ["?", "？", "help", "帮助"] {
        assert_eq!(bare_word(word), Some(BareCommand::Help), "{word}");
    }
    for word in ["??? what", "help me", "exit the building", "", "!"] {
        assert_eq!(bare_word(word), None, "{word}");
    }
}

#[test]
fn a_correction_is_read_without_its_beginning() {
    for (line, right) in [
        ("改成四点", "四点"),
        ("是后天", "后天"),
        ("Make it 4pm", "4pm"),
        ("change it to Friday!", "friday"),
        ("五点", "五点"),
        ("tomorrow", "tomorrow"),
    ] {
        assert_eq!(corrected(line), right, "{line}");
    }
    assert!(is_later("稍后。") && is_later("Later") && !is_later("later today buy milk"));
}
