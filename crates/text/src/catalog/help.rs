//! What `--help` says: `help.<command path>` of a command, `help.<command path>.<argument>` of an
//! argument, `help.<argument>` of one that every command takes.

super::texts! {
    "heading.usage" => zh: "用法：", en: "Usage:";
    "heading.commands" => zh: "命令：", en: "Commands:";
    "heading.arguments" => zh: "参数：", en: "Arguments:";
    "heading.options" => zh: "选项：", en: "Options:";
    "usage.choices" => zh: "{text}（可选：{all}）", en: "{text} (one of {all})";
    "usage.default" => zh: "{text}（默认：{default}）", en: "{text} (default {default})";
    "usage.choices_default" => zh: "{text}（可选：{all}；默认：{default}）", en: "{text} (one of {all}; default {default})";
    "usage.hint" => zh: "用法见 everloop --help，或在任意命令后加 --help", en: "See everloop --help, or put --help behind any command";
    "help.everloop" => zh: "不会丢失的智能体循环。不带命令时开始离线演示。", en: "Agent loops that cannot be lost. Without a command it gives the offline tour.";
    "help.set" => zh: "只在这一次改变一个设置：段.键=值；可以给多次", en: "Change a setting for this call: section.key=value; may be given several times";
    "help.lang" => zh: "everloop 自己的文字用哪种语言", en: "Language of everloop's own words";
    "help.no_input" => zh: "从不提问；需要有人回答时以退出码 3 结束", en: "Never ask anything; exit with code 3 when a person is needed";
    "help.quiet" => zh: "不显示进度", en: "Show no progress";
    "help.help" => zh: "显示这份帮助", en: "Print this help";
    "help.version" => zh: "显示版本", en: "Print the version";
    "help.run" => zh: "为一个目标工作，直到完成", en: "Work on one goal until it is done";
    "help.run.goal" => zh: "要做的事", en: "What is to be done";
    "help.run.loop_name" => zh: "由哪个循环决定：plan-replan 或 react", en: "The loop that decides: plan-replan or react";
    "help.run.output_format" => zh: "答案的输出格式", en: "How the answer is printed";
    "help.run.workspace" => zh: "工具只能在这个目录内活动；默认为当前目录", en: "The folder that tools are confined to; the current one by default";
    "help.run.yes" => zh: "允许这次运行的每个工具请求", en: "Approve every tool request of this run";
    "help.runs" => zh: "列出、查看、取消、继续和确认运行", en: "List, show, cancel, resume and settle runs";
    "help.runs.list" => zh: "列出运行，最新的在前", en: "List runs, newest first";
    "help.runs.list.json" => zh: "以 JSON 输出", en: "As JSON";
    "help.runs.list.status" => zh: "只列出这种状态的运行；可以给多次", en: "Only runs in this state; may be given several times";
    "help.runs.list.limit" => zh: "最多列出多少个", en: "How many at most";
    "help.runs.list.cursor" => zh: "从这个运行之后接着列", en: "Go on after this run";
    "help.runs.show" => zh: "查看一个运行", en: "Show one run";
    "help.runs.show.id" => zh: "运行的 id，或其结尾几位", en: "Its id, or the end of it";
    "help.runs.show.json" => zh: "以 JSON 输出", en: "As JSON";
    "help.runs.events" => zh: "输出运行的事件，每行一个 JSON 对象", en: "Print a run's events, one JSON object a line";
    "help.runs.events.id" => zh: "运行的 id，或其结尾几位", en: "Its id, or the end of it";
    "help.runs.events.after" => zh: "只输出这个事件之后的", en: "Only what came after this event";
    "help.runs.cancel" => zh: "结束一个运行", en: "End a run";
    "help.runs.cancel.id" => zh: "运行的 id，或其结尾几位", en: "Its id, or the end of it";
    "help.runs.resume" => zh: "在这里继续一个运行，直到结束或下一个问题", en: "Go on with a run, here, to its end or its next question";
    "help.runs.resume.id" => zh: "运行的 id，或其结尾几位", en: "Its id, or the end of it";
    "help.runs.resume.answer" => zh: "对它正在等待的问题的回答", en: "The answer to its open question";
    "help.runs.resume.output_format" => zh: "答案的输出格式", en: "How the answer is printed";
    "help.runs.settle" => zh: "说明结果未知的操作是否发生了", en: "Say whether an effect happened whose outcome is unknown";
    "help.runs.settle.id" => zh: "运行的 id，或其结尾几位", en: "Its id, or the end of it";
    "help.runs.settle.word" => zh: "发生了、没有发生，或让工具自己探查", en: "It happened, it did not, or let the tool look itself";
    "help.runs.settle.effect" => zh: "哪一个操作，如 runs show 所示；只有一个时可省略", en: "Which effect, as runs show names it; may be left out if there is only one";
    "help.replay" => zh: "像读故事一样读运行的日志", en: "Read a run's journal as a story";
    "help.replay.id" => zh: "运行的 id，或其结尾几位", en: "The run's id, or the end of it";
    "help.replay.at" => zh: "不讲故事，显示这个事件之后的状态", en: "The state after this event instead of the story";
    "help.replay.verify" => zh: "重新计算每个决定，并说明是否一致", en: "Recompute every decision and say whether it agrees";
    "help.replay.json" => zh: "以 JSON 输出", en: "As JSON";
    "help.worker" => zh: "驱动所有就绪的运行，直到被停止", en: "Drive every run that is ready, until stopped";
    "help.worker.drain" => zh: "没有就绪的运行时就停止", en: "Stop once nothing is ready any more";
    "help.tour" => zh: "离线观看一个运行在被杀死后继续，模型是脚本", en: "Watch a run survive a kill, offline, with a scripted model";
    "help.doctor" => zh: "检查安装情况；不改变任何东西", en: "Look at the installation; changes nothing";
    "help.doctor.json" => zh: "以 JSON 输出", en: "As JSON";
}
