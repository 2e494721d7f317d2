//! What the chat says.

super::texts! {
    "cancel.phrase" => zh: "取消当前任务", en: "cancel the current task";
    "door.canceled" => zh: "已取消当前任务。", en: "The current task is cancelled.";
    "door.nothing_to_cancel" => zh: "当前没有进行中的任务。", en: "There is no task under way.";
    "door.no_model" => zh: "当前未配置 LLM。配置：everloop config setup，或 export EVERLOOP_MODEL=… OPENAI_API_KEY=…；待办和日程命令（/help）不需要模型。", en: "No LLM is configured. Configure one: everloop config setup, or export EVERLOOP_MODEL=… OPENAI_API_KEY=…; todo and schedule commands (/help) need none.";
    "door.empty" => zh: "请输入内容；/help 查看命令。", en: "Say something; /help lists the commands.";
}
