//! Skills, personas, memory and pictures.

super::texts! {
    "skills.none" => zh: "没有技能。技能是带 SKILL.md 的文件夹，放在 ~/.agents/skills 或工作区的 .agents/skills 里。", en: "There are no skills. A skill is a folder with a SKILL.md, in ~/.agents/skills or in .agents/skills of the workspace.";
    "skills.off" => zh: "技能已关闭（context.skills）", en: "Skills are off (context.skills)";
    "skills.unknown" => zh: "没有技能 {name}。已有：{all}", en: "There is no skill {name}. There are: {all}";
    "skills.bad" => zh: "不能用 {folder}：{detail}", en: "Cannot use {folder}: {detail}";
    "skills.of_user" => zh: "用户", en: "user";
    "skills.of_workspace" => zh: "工作区", en: "workspace";
    "skills.always" => zh: "，始终启用", en: ", always on";
    "persona.unknown" => zh: "没有人设 {name}。可选：{all}", en: "There is no persona {name}. There are: {all}";
    "persona.bad" => zh: "不能用人设 {file}：{detail}", en: "Cannot use the persona {file}: {detail}";
    "persona.now" => zh: "新的目标将使用人设 {name}", en: "New goals are worked on with the persona {name}";
    "persona.no_tool" => zh: "人设 {name}：没有名为 {tool} 的工具。是否想写 {nearest}？", en: "Persona {name}: there is no tool {tool}. Did you mean {nearest}?";
    "persona.own" => zh: "自己的人设：{folder} 里的 .md 文件", en: "Your own: files that end in .md in {folder}";
    "persona.is.default" => zh: "细心、友好", en: "careful and friendly";
    "persona.is.concise" => zh: "话尽量少", en: "as few words as possible";
    "persona.is.coder" => zh: "写代码", en: "works on code";
    "persona.is.analyst" => zh: "看重事实和数字", en: "weighs facts and figures";
    "persona.is.teacher" => zh: "一步一步讲解", en: "explains step by step";
    "persona.tools" => zh: "工具：{tools}", en: "Tools: {tools}";
    "persona.temperature" => zh: "温度：{value}", en: "Temperature: {value}";
    "persona.max_tokens" => zh: "回复最多的词元：{value}", en: "Most tokens of a reply: {value}";
    "memory.empty" => zh: "这个工作区还没有记忆（{file}）", en: "Nothing is noted for this workspace yet ({file})";
    "memory.full" => zh: "记忆已满（{most} 字节）：不再写入。用 everloop memory edit 或 clear 整理。", en: "The memory is full ({most} bytes): nothing more is added. Tidy it with everloop memory edit or clear.";
    "memory.not_written" => zh: "没能写入记忆：{detail}。运行继续，摘要在它的日志里。", en: "The memory could not be written: {detail}. The run goes on; its journal has the summary.";
    "memory.sure" => zh: "清空这个工作区的记忆？[y/N] ", en: "Clear the memory of this workspace? [y/N] ";
    "memory.needs_yes" => zh: "没有清空。请加 --yes。", en: "Nothing was cleared. Say so with --yes.";
    "memory.cleared" => zh: "已清空；原来的内容在 {file}", en: "Cleared; what was there lies in {file}";
    "context.no_guidance" => zh: "没有读 AGENTS.md：{detail}", en: "AGENTS.md was not read: {detail}";
    "context.no_memory" => zh: "没有读记忆：{detail}", en: "The memory was not read: {detail}";
    "image.unreadable" => zh: "不能读图片 {file}：{detail}", en: "Cannot read the picture {file}: {detail}";
    "image.no_file" => zh: "{file} 不是文件", en: "{file} is no file";
    "image.too_large" => zh: "图片 {file} 太大：最多 {most} 字节（context.image_max）", en: "The picture {file} is too large: at most {most} bytes (context.image_max)";
    "image.wrong_type" => zh: "{file} 不是 png、jpeg、gif 或 webp 图片", en: "{file} is no png, jpeg, gif or webp picture";
    "image.too_many" => zh: "图片太多：一个目标最多 {most} 张", en: "Too many pictures: at most {most} go with a goal";
    "image.attached" => zh: "已附上 {file}；{count} 张图片会随下一个目标发送", en: "Attached {file}; {count} go with the next goal";
}
