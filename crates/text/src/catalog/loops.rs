//! What each loop is, how it goes round, and what it is good for.

super::texts! {
    "loops.head" => zh: "{count} 种循环。每个运行由其中一种决定：everloop run --loop 名称，对话里用 /loop 名称，运行中也可以换。", en: "{count} loops. One of them decides each run: everloop run --loop NAME, in the chat /loop NAME, in the middle of a run too.";
    "loops.default" => zh: "{name}（默认）", en: "{name} (default)";
    "loops.good" => zh: "适合：{good}", en: "Good for: {good}";
    "loops.more" => zh: "everloop loops 名称 显示它的设置和限制", en: "everloop loops NAME shows its settings and limits";
    "loops.steps" => zh: "步数限制：{limit}（{unit}；设置 {key}）", en: "Step limit: {limit} ({unit}; setting {key})";
    "loops.unit.step" => zh: "每次思考、每次重规划和每个动作各算一步，最初的规划不算", en: "each thought, each replan and each action is a step; planning is none";
    "loops.unit.round" => zh: "每轮计划、执行、思考算一步", en: "each round of plan, execute and think is a step";
    "loops.unit.iteration" => zh: "每次模型调用算一步；工具调用总数有同样的限制", en: "each model call is a step; tool calls in all have the same limit";
    "loops.settings" => zh: "设置：", en: "Settings:";
    "loops.now" => zh: "现在的循环：{name}；/loop 名称 更换，运行中也可以", en: "The loop now: {name}; /loop NAME changes it, in the middle of a run too";

    "loops.plan_replan.does" => zh: "先定计划，一次做一项，每项之后再看一遍计划。", en: "Plans first, works on one item at a time, and looks at the plan again after each.";
    "loops.plan_replan.picture" => zh: "计划 ──► 思考 ⇄ 动作\n           └──本项完成，或用户已回答──► 再计划 ──► 思考 …\n                                          └──► 答案", en: "plan ──► think ⇄ act\n            └──item done, or the user answered──► replan ──► think …\n                                                     └──► answer";
    "loops.plan_replan.good" => zh: "有几步、途中会变的目标；模型只需会写 JSON", en: "goals of several steps that change on the way; the model need only write JSON";

    "loops.react.does" => zh: "问模型，做它要的事，给它看结果，再问。", en: "Asks the model, does what it asks for, shows it what came back, and asks again.";
    "loops.react.picture" => zh: "思考 ──工具调用──► 动作 ──结果──► 思考\n  └──文字──► 答案", en: "think ──tool calls──► act ──results──► think\n  └──words──► answer";
    "loops.react.good" => zh: "短任务和快速查询；模型会调用工具", en: "short tasks and quick lookups, with a model that calls tools";

    "loops.plan_execute_think.does" => zh: "一次计划一整轮步骤，不问模型就全部执行，再一起看结果。", en: "Plans a whole round of steps, runs them without the model, and looks at them together.";
    "loops.plan_execute_think.picture" => zh: "计划一轮 ──► 执行各步 ──最后一步，或失败，或超时──► 思考 ──► 答案\n   ▲                                                  │\n   └───────────────────── 未完成 ─────────────────────┘", en: "plan a round ──► run its steps ──last, failed, or out of time──► think ──► answer\n   ▲                                                               │\n   └──────────────────────── not completed ────────────────────────┘";
    "loops.plan_execute_think.good" => zh: "步骤可以预见、模型调用要少的任务；后面的步骤可以引用前面的结果", en: "steps that can be foreseen, with few model calls; later steps may refer to earlier results";

    "loops.tool_driven.does" => zh: "模型自己记清单、定顺序、说何时完成；还有没做完的会被提醒。", en: "The model keeps its own list, picks the order and says when it is done; it is reminded of what is open.";
    "loops.tool_driven.picture" => zh: "工作 ⇄ 工具调用，包括清单\n  └──文字──► 还有未完成的？──► 提醒，继续工作\n                  └──没有──► 答案", en: "work ⇄ tool calls, the list among them\n  └──words──► items open? ──► reminded, work goes on\n                  └──no──► answer";
    "loops.tool_driven.good" => zh: "开放的分析和研究，强模型自己安排", en: "open analysis and research, where a strong model arranges its own work";

    "loops.task_driven.does" => zh: "模型列清单，程序逐项走；每项由模型做并自己标记。", en: "The model writes the list, the code walks it; the model works on each item and marks it itself.";
    "loops.task_driven.picture" => zh: "列清单 ──► 做一项 ──模型标记──► 下一项 … ──► 报告\n              └──没有标记──► 再试两次 ──► 记为失败，下一项", en: "list ──► work on an item ──marked by the model──► the next … ──► report\n            └──left open──► twice again ──► failed, the next";
    "loops.task_driven.good" => zh: "一项也不能漏的清单，每项都要有交代", en: "lists of which no item may be forgotten, with an account of each";

    "loops.staged.does" => zh: "计划、执行、报告三个阶段依次进行，各有各的工具；清单定下后不再变。", en: "Planning, execution and reporting one after the other, each with its own tools; the list is fixed.";
    "loops.staged.picture" => zh: "计划 ──清单──► 第 1 项 ──文字──► 第 2 项 … ──► 报告 ──► 答案", en: "planning ──list──► item 1 ──words──► item 2 … ──► reporting ──► answer";
    "loops.staged.good" => zh: "固定的流程和可预见的费用；较弱的模型也能走完", en: "fixed procedures at a foreseeable price, with weaker models too";

    "loops.hybrid.does" => zh: "程序管阶段，执行阶段里模型自由。", en: "The code controls the stages; within the work the model is free.";
    "loops.hybrid.picture" => zh: "计划 ──清单──► 工作 ⇄ 工具调用 ──文字──► 报告 ──► 答案", en: "planning ──list──► work ⇄ tool calls ──words──► reporting ──► answer";
    "loops.hybrid.good" => zh: "一定要有计划和报告、中间要灵活的任务", en: "tasks that need a plan and a report for certain, and freedom in between";

    "loops.autonomous.does" => zh: "模型用带标签的文字说要做什么，完全不用工具调用接口。", en: "The model says in tagged text what it wants; no tool-calling interface is used at all.";
    "loops.autonomous.picture" => zh: "思考 ──<tool>──► 动作 ──结果──► 思考\n  └──<final>──► 答案", en: "think ──<tool>──► act ──results──► think\n  └──<final>──► answer";
    "loops.autonomous.good" => zh: "不会调用工具的模型和接口", en: "models and endpoints that cannot call tools";

    "loops.setting.loop.max_steps" => zh: "步数限制；0 用该循环自己的", en: "the step limit; 0 leaves the loop its own";
    "loops.setting.loop.max_iterations" => zh: "模型调用次数限制，优先于 loop.max_steps；0 不设", en: "the limit of model calls, before loop.max_steps; 0 for none";
    "loops.setting.loop.contract_retries" => zh: "回复不合约定时再问几次", en: "further tries after a reply that breaks its contract";
    "loops.setting.loop.failure_rounds" => zh: "连续失败几轮后结束", en: "failures in a row that end the run";
    "loops.setting.loop.repeated_questions" => zh: "同一问题最多重复几次", en: "how often the same question may come again";
    "loops.setting.loop.max_clarifications" => zh: "最多问几个问题；0 不限", en: "questions in all; 0 for no limit";
    "loops.setting.loop.calls_per_reply" => zh: "一次回复最多几个工具调用", en: "tool calls that one reply may hold";
    "loops.setting.loop.preset" => zh: "轮数和每轮步数：simple、medium、complex，或 auto（按目标）", en: "rounds, and steps of a round: simple, medium, complex, or auto (by the goal)";
    "loops.setting.loop.round_time" => zh: "一轮的步骤合计最长时间", en: "how long the steps of a round may take together";
    "loops.setting.loop.reminders" => zh: "提前回答时最多提醒几次", en: "reminders after an answer that came too early";
    "loops.setting.loop.unlisted_work" => zh: "没有进行中的项时做几批后提醒", en: "batches of work with no item in progress before a reminder";
    "loops.setting.loop.idle_list" => zh: "清单几批没动后提醒", en: "batches with an untouched list before a reminder";
    "loops.setting.loop.evidence" => zh: "记录每个已完成事项的依据，指出没有依据的声称", en: "notes what is behind each closed item, and points out mere claims";
    "loops.setting.loop.item_retries" => zh: "一项没有标记时再试几次", en: "further tries at an item that is left open";
    "loops.setting.loop.completion_mark" => zh: "没有这个记号的回答不算最后的；空为不要求", en: "an answer without this mark is not the last one; empty for none";
    "loops.setting.loop.repetitions" => zh: "同一调用同一结果几次后提醒，再之后结束", en: "the same call with the same result before a warning, and then the end";
    "loops.setting.budget.model_calls" => zh: "整个运行的模型调用", en: "model calls of the whole run";
    "loops.setting.budget.tool_calls" => zh: "整个运行的工具调用", en: "tool calls of the whole run";
    "loops.setting.budget.tokens" => zh: "整个运行的词元", en: "tokens of the whole run";
    "loops.setting.budget.money" => zh: "整个运行的花费，按 prices.toml 的价格和货币；0 为不限", en: "cost of the whole run, by the prices and in the currency of prices.toml; 0 for no limit";
    "loops.setting.budget.work_time" => zh: "整个运行的工作时间", en: "working time of the whole run";
    "loops.setting.delegate.max_depth" => zh: "委派可以有几层；0 为不委派", en: "generations of runs below this one; 0 for none";
    "loops.setting.delegate.max_children" => zh: "一个运行最多有几个子运行", en: "runs that one run may delegate to";
    "loops.setting.context.tokens" => zh: "提示词超过这么多就压缩", en: "a prompt that is longer is shortened";
}
