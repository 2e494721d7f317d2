//! The journal as a story.

super::texts! {
    "story.created" => zh: "创建（{loop}）：{goal}", en: "created ({loop}): {goal}";
    "story.begun" => zh: "开始驱动", en: "a process begins to drive it";
    "story.taken_up" => zh: "↻ 另一个进程接手（第 {epoch} 次）", en: "↻ another process takes it up (epoch {epoch})";
    "story.asks_plan" => zh: "请模型制定计划（{messages} 条消息）", en: "asks the model for a plan ({messages} messages)";
    "story.asks_think" => zh: "请模型思考下一步（{messages} 条消息）", en: "asks the model what comes next ({messages} messages)";
    "story.asks_replan" => zh: "请模型检查计划（{messages} 条消息）", en: "asks the model to look at the plan again ({messages} messages)";
    "story.asks_compact" => zh: "请模型压缩对话（{messages} 条消息）", en: "asks the model to shorten the conversation ({messages} messages)";
    "story.asks_close" => zh: "请模型写最后的总结（{messages} 条消息）", en: "asks the model for last words ({messages} messages)";
    "story.plans_tool" => zh: "计划调用 {tool} {args}", en: "plans to call {tool} {args}";
    "story.approval_asked" => zh: "请求允许 {tool}", en: "asks for permission to run {tool}";
    "story.approval_given" => zh: "允许 {tool}（{by}）", en: "{tool} is allowed (by {by})";
    "story.intent" => zh: "写下意图：即将执行 {tool}", en: "the intent is written: {tool} is about to run";
    "story.attempt_failed" => zh: "{tool} 第 {attempt} 次尝试失败：{error}", en: "attempt {attempt} at {tool} failed: {error}";
    "story.probe_happened" => zh: "探查 {tool}：它发生了。{text}", en: "a probe of {tool}: it happened. {text}";
    "story.probe_did_not" => zh: "探查 {tool}：它没有发生。{text}", en: "a probe of {tool}: it did not happen. {text}";
    "story.probe_unknown" => zh: "探查 {tool}：看不出是否发生。{text}", en: "a probe of {tool}: it cannot tell. {text}";
    "story.replied" => zh: "模型回复（{took} 毫秒）：{text}", en: "the model replies ({took} ms): {text}";
    "story.replied_calls" => zh: "模型要调用 {tools}（{took} 毫秒）", en: "the model wants {tools} ({took} ms)";
    "story.model_failed" => zh: "模型出错：{error}", en: "the model failed: {error}";
    "story.model_canceled" => zh: "模型调用已取消", en: "the model call was canceled";
    "story.superseded" => zh: "提示已变化，重新计划这次模型调用", en: "the prompt is rendered differently now; the call is planned anew";
    "story.tool_ok" => zh: "✔ {tool}（{took} 毫秒）：{text}", en: "✔ {tool} ({took} ms): {text}";
    "story.tool_error" => zh: "✖ {tool}（{took} 毫秒）：{text}", en: "✖ {tool} ({took} ms): {text}";
    "story.tool_denied" => zh: "⊘ {tool} 未被允许（{took} 毫秒）：{text}", en: "⊘ {tool} was not allowed ({took} ms): {text}";
    "story.tool_timed_out" => zh: "✖ {tool} 超时（{took} 毫秒）：{text}", en: "✖ {tool} timed out ({took} ms): {text}";
    "story.tool_canceled" => zh: "⊘ {tool} 已取消（{took} 毫秒）：{text}", en: "⊘ {tool} was canceled ({took} ms): {text}";
    "story.tool_unknown" => zh: "？ {tool} 的结果未知，没有重做（{took} 毫秒）：{text}", en: "? the outcome of {tool} is unknown and it was not repeated ({took} ms): {text}";
    "story.waits_for_person" => zh: "等待有人回答：{text}", en: "waits for a person to answer: {text}";
    "story.waits_for_model" => zh: "等待模型恢复：{error}", en: "waits for the model to come back: {error}";
    "story.waits_for_child" => zh: "等待子运行 {child}", en: "waits for its child {child}";
    "story.spawned" => zh: "↳ 由 {parent} 委派", en: "↳ delegated by {parent}";
    "story.delegated" => zh: "↳ 委派给子运行 {child}", en: "↳ handed to the child {child}";
    "story.child_ended" => zh: "↳ 子运行 {child} 结束（{status}）：{text}", en: "↳ the child {child} has ended ({status}): {text}";
    "story.answered" => zh: "{by} 回答：{text}", en: "{by} answers: {text}";
    "story.cancel_asked" => zh: "{by} 要求取消", en: "{by} asks to cancel";
    "story.steered" => zh: "用户补充：{text}", en: "the user adds: {text}";
    "story.switch_asked" => zh: "有人要它改由 {loop} 以 {to} 继续", en: "somebody wants it to go on under {loop} as {to}";
    "story.answer_now" => zh: "用户要求立即回答", en: "the user wants the answer now";
    "story.snapshot" => zh: "保存状态快照", en: "a snapshot of the state is saved";
    "story.forked" => zh: "⑂ 由此分出：以上取自 {from}（到第 {at} 个事件为止）", en: "⑂ forked here: what stands above is {from} up to event {at}";
    "story.closed" => zh: "☑ 完成一项：{item}（依据 {entries}）", en: "☑ item closed: {item} (backed by {entries})";
    "story.claimed" => zh: "? 声称完成：{item}（没有依据）", en: "? item claimed: {item} (nothing behind it)";
    "story.finished" => zh: "结束：{status}", en: "ended: {status}";
}
