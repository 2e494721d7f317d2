//! The words that people write where a value is missing.

/// English words and signs, in lower case.
pub(super) const NULL_WORDS: [&str; 13] =
    ["", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "--", "\\n", "?", "missing"];

/// Chinese words: none, missing, empty, unknown.
pub(super) const NULL_WORDS_ZH: [&str; 4] = ["无", "缺失", "空", "未知"];
