//! What each built-in tool does, and what its class means.

super::texts! {
    "tools.head" => zh: "名称 | 崩溃后 | 要不要问人 | 限时 | 作用于 | 这里的新运行", en: "name | after a crash | asks a person | time | acts on | new runs here";
    "tools.more" => zh: "everloop tools 名称 解释一个工具；设置 tools.enabled 决定给模型哪些", en: "everloop tools NAME explains one; the setting tools.enabled says which the model is offered";
    "tools.no_such" => zh: "没有叫 {name} 的内置工具；最接近的是 {nearest}", en: "there is no built-in tool {name}; the nearest is {nearest}";
    "tools.for_model" => zh: "给模型的说明：{text}", en: "What the model reads: {text}";
    "tools.waits" => zh: "等人", en: "waits";

    "tools.offered" => zh: "有", en: "yes";
    "tools.offered_to" => zh: "有，只在这些循环里：{loops}", en: "yes, under: {loops}";
    "tools.not_of_persona" => zh: "没有：人设 {name} 不用它（见它的 tools:）", en: "no: the persona {name} works without it (its tools:)";
    "tools.disabled" => zh: "没有：不在 tools.enabled 里", en: "no: not in tools.enabled";
    "tools.needs_repository" => zh: "没有：这个目录不是 git 仓库", en: "no: this folder is no git repository";
    "tools.needs_skill" => zh: "没有：这里没有技能", en: "no: there is no skill here";
    "tools.needs_setting" => zh: "没有：先设置 {key}", en: "no: set {key} first";

    "tools.approval.allow" => zh: "不问", en: "no";
    "tools.approval.ask" => zh: "每次都问", en: "each time";
    "tools.approval.deny" => zh: "不许", en: "never allowed";

    "tools.class.transactional" => zh: "结果和日志一起提交：恰好一次", en: "its effect is committed with the journal: exactly once";
    "tools.class.pure" => zh: "只读：可以重做", en: "it only reads: made again";
    "tools.class.keyed" => zh: "带同一个键重做，对方只认一次", en: "made again with the same key, which counts once";
    "tools.class.probeable" => zh: "先查是否已发生；查不出就是未知，不重做", en: "it is looked whether it happened; if that cannot be told it is unknown and not repeated";
    "tools.class.dangerous" => zh: "结果未知，绝不自动重做", en: "its outcome is unknown, and it is never repeated by itself";

    "tools.does.read_file" => zh: "读工作目录里的一个文本文件", en: "reads a text file of the workspace";
    "tools.does.list_dir" => zh: "列出工作目录里的一个文件夹", en: "lists a folder of the workspace";
    "tools.does.search_code" => zh: "在工作目录的文件里查找文字，遵守 .gitignore", en: "finds text in the files of the workspace, as .gitignore lets it";
    "tools.does.edit_file" => zh: "替换文件里恰好出现一次的一段", en: "replaces a passage that stands in a file exactly once";
    "tools.does.write_file" => zh: "写一个完整的文件，要么全部写成，要么不写", en: "writes a whole file, at once or not at all";
    "tools.does.shell" => zh: "在沙箱里执行一条命令", en: "runs a command behind walls";
    "tools.does.ask_user" => zh: "问你一个问题，等到你回答", en: "asks you a question and waits for the answer";
    "tools.does.todo_write" => zh: "模型自己的清单", en: "the model's own list";
    "tools.does.git_read" => zh: "看 git 的状态、差异或历史", en: "shows git's status, diff or log";
    "tools.does.git_commit" => zh: "提交指定的文件", en: "commits the files it names";
    "tools.does.git_push" => zh: "把一个分支推送到远程", en: "pushes a branch to a remote";
    "tools.does.internet_search" => zh: "在互联网上搜索", en: "searches the internet";
    "tools.does.fetch_web" => zh: "把一个公开网页读成文字；内网地址要先写进 tools.fetch_near", en: "reads a public web page as text; hosts of your own network go into tools.fetch_near first";
    "tools.does.http_get" => zh: "读取你允许的主机上的一个地址", en: "reads an address of a host that you allowed";
    "tools.does.http_send" => zh: "向你允许的主机发送会改变东西的请求", en: "sends a request that changes something to a host that you allowed";
    "tools.does.send_message" => zh: "向你设置的渠道发消息", en: "sends a message to a channel that you set up";
    "tools.does.todo" => zh: "你的待办", en: "your todos";
    "tools.does.schedule" => zh: "你的日程", en: "your schedule";
    "tools.does.load_skill" => zh: "读取一个技能的全文", en: "reads a skill in full";
    "tools.does.delegate" => zh: "把一个任务交给子运行，等它的结果", en: "hands a task to a child run and waits for its end";
}
