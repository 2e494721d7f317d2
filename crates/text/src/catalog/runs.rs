//! What a run says when it asks, ends, or cannot go on.

super::texts! {
    "confirm.prefix" => zh: "请确认：", en: "Please confirm: ";
    "confirm.missing" => zh: "请补充必要信息", en: "please add the missing information";
    "limit.reached" => zh: "已达到最大执行步数（{limit}）", en: "The step limit was reached ({limit})";
    "limit.done" => zh: "已完成部分", en: "Done so far";
    "limit.nothing_done" => zh: "- 还没有完成的部分", en: "- nothing yet";
    "limit.why" => zh: "未完成原因", en: "Why the rest was not done";
    "limit.why_text" => zh: "- 达到了 {limit} 步的上限（设置 loop.max_steps）", en: "- the limit of {limit} steps was reached (setting loop.max_steps)";
    "limit.next" => zh: "下一步建议", en: "What to do next";
    "limit.next_text" => zh: "- 补充时间、数字或关键词后再试，或直接用 /todo、/schedule 命令", en: "- add a time, a number or a keyword and try again, or use the /todo and /schedule commands directly";
    "plan.unavailable" => zh: "抱歉，当前计划执行服务暂时不可用。请稍后再试，或直接用 /todo、/schedule 命令继续。", en: "Sorry, the planning service is unavailable right now. Try again later, or go on with the /todo and /schedule commands.";
    "plan.repeated_question" => zh: "无法完成重规划，请直接用 /todo 或 /schedule", en: "Replanning did not succeed; please use /todo or /schedule directly";
    "plan.too_many_questions" => zh: "澄清次数过多，请直接用 /todo 或 /schedule", en: "Too many clarifications; please use /todo or /schedule directly";
    "progress.replan_failed" => zh: "重规划失败，准备重试", en: "Replanning failed, trying again";
    "progress.thought_failed" => zh: "思考失败，准备重试", en: "Thinking failed, trying again";
    "closing.from_journal" => zh: "没有得到模型的总结；以下内容由运行日志整理。", en: "There is no summary by the model; this account was made from the journal.";
    "closing.done" => zh: "已完成：", en: "Done:";
    "closing.failed" => zh: "未成功：", en: "Did not succeed:";
    "closing.open" => zh: "尚未完成：", en: "Still open:";
    "closing.nothing" => zh: "还没有执行任何操作。", en: "Nothing had been done yet.";
    "closing.next" => zh: "下一步：可以补充信息后重新开始，或用 everloop replay 查看经过。", en: "Next: add what was missing and start again, or read the story with everloop replay.";
    "reason.step_limit" => zh: "[达到最大工具调用次数 {limit}]", en: "[Limit of {limit} tool calls reached]";
    "reason.budget_model_calls" => zh: "[预算用完：{limit} 次模型调用（设置 budget.model_calls）]", en: "[Budget used up: {limit} model calls (setting budget.model_calls)]";
    "reason.budget_tool_calls" => zh: "[预算用完：{limit} 次工具调用（设置 budget.tool_calls）]", en: "[Budget used up: {limit} tool calls (setting budget.tool_calls)]";
    "reason.budget_tokens" => zh: "[预算用完：{limit} 个词元（设置 budget.tokens）]", en: "[Budget used up: {limit} tokens (setting budget.tokens)]";
    "reason.budget_work" => zh: "[预算用完：工作 {limit} 毫秒（设置 budget.work_time）]", en: "[Budget used up: {limit} ms of work (setting budget.work_time)]";
    "reason.repetition" => zh: "[工具 {tool} 反复得到相同结果，已停止]", en: "[Stopped: {tool} kept giving the same result]";
    "reason.context_full" => zh: "[对话过长，无法再压缩]", en: "[The conversation no longer fits and could not be shortened]";
    "reason.journal_full" => zh: "[运行日志已满（50,000 条或 64 MiB）；请开始一个新的运行继续]", en: "[The journal is full (50,000 entries or 64 MiB); start a new run to go on]";
    "reason.model" => zh: "[模型出错：{detail}]", en: "[The model failed: {detail}]";
    "reason.broken_contract" => zh: "[模型多次没有按约定回复]", en: "[The model broke its reply contract too often]";
    "reason.repeated_question" => zh: "[模型重复提问]", en: "[The model asked the same question again]";
    "reason.too_many_questions" => zh: "[澄清次数过多]", en: "[Too many clarifications]";
    "reason.unknown_outcome" => zh: "[有操作的结果未知]", en: "[The outcome of an effect is unknown]";
    "reason.canceled" => zh: "[已取消]", en: "[Canceled]";
    "run.canceled" => zh: "已取消：完成 {done}/{total} 步，结果保留。", en: "Canceled: {done} of {total} plan items done, results kept.";
    "run.canceled_early" => zh: "已取消；到目前为止的结果保留。", en: "Canceled; what was done so far is kept.";
    "run.unsettled" => zh: "结果未知，没有重做：{calls}", en: "Outcome unknown, not repeated: {calls}";
    "run.quarantined" => zh: "此运行无法继续，已隔离：{note}", en: "This run cannot go on and was put aside: {note}";
    "approve.question" => zh: "允许运行 {tool} 吗？\n{args}", en: "Allow {tool} to run?\n{args}";
    "settle.question" => zh: "{tool} 被中断，结果未知。它发生了吗？（happened / not）\n{args}", en: "{tool} was interrupted and its outcome is unknown. Did it happen? (happened / not)\n{args}";
}
