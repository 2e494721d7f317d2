//! What the settings, the check-up and the copies say.

super::texts! {
    "config.is_a_key" => zh: "这个值看起来像密钥，没有写入：设置会被显示和复制。请用 everloop config setup 填写密钥（存入单独的文件），或放进环境变量（设置 model.key_env 只写变量名）", en: "This value looks like a key and was not written: settings are shown and copied. Give the key to everloop config setup, which keeps it in a file of its own, or put it into an environment variable (the setting model.key_env holds only its name)";
    "config.unwritable" => zh: "无法写入设置文件 {file}：{detail}。检查该文件和所在目录的权限；没有改变任何内容。", en: "Cannot write the settings file {file}: {detail}. Look at the rights of the file and its folder; nothing was changed.";
    "config.cannot_change" => zh: "设置文件 {file} 有错误，没有改变：{detail}\n先改正：everloop config edit", en: "The settings file {file} has a fault and was not changed: {detail}\nRepair it first: everloop config edit";
    "config.in_force" => zh: "{key} 现在是 {value}（{origin}）", en: "{key} is now {value} ({origin})";
    "config.overridden" => zh: "已写入，但 {origin} 优先：{key} 现在仍是 {value}", en: "Written, but {origin} decides: {key} is still {value}";
    "config.was_not_set" => zh: "设置文件里本来就没有 {key}", en: "{key} was not set in the file";
    "config.editor_failed" => zh: "编辑器 {editor} 没有正常结束。可以用 VISUAL 或 EDITOR 指定另一个。", en: "The editor {editor} did not end well. VISUAL or EDITOR names another one.";
    "config.file_is_good" => zh: "设置文件 {file} 没有错误", en: "The settings file {file} is good";
    "config.fault_at" => zh: "第 {line} 行：{words}", en: "Line {line}: {words}";
    "key.open_to_others" => zh: "密钥文件 {file} 其他人也能读，因此没有使用。改正：chmod 600 {file}", en: "The key file {file} can be read by others, so it is not used. To repair it: chmod 600 {file}";
    "key.unreadable" => zh: "密钥文件 {file} 无法读取：{detail}。检查设置 model.key_file。", en: "The key file {file} cannot be read: {detail}. Look at the setting model.key_file.";
}
