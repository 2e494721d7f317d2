//! What `everloop mcp` says, and what is wrong with servers in the settings.

super::texts! {
    "mcp.none" => zh: "没有配置 MCP 服务器。在 {file} 里写 [mcp.servers.名字]，再写 command = \"…\" 或 url = \"…\"", en: "No MCP server is configured. In {file} write [mcp.servers.NAME], and under it command = \"…\" or url = \"…\"";
    "mcp.no_server" => zh: "设置里没有 MCP 服务器 {name}。有：{all}", en: "There is no MCP server {name} in the settings. There are: {all}";
    "mcp.off" => zh: "已关闭", en: "turned off";
    "mcp.new" => zh: "尚未批准：everloop mcp approve {name}", en: "not approved: everloop mcp approve {name}";
    "mcp.other_command" => zh: "命令或地址变了：everloop mcp approve {name}", en: "another command or address: everloop mcp approve {name}";
    "mcp.other_tools" => zh: "工具变了：everloop mcp approve {name}", en: "other tools: everloop mcp approve {name}";
    "mcp.approved" => zh: "已批准", en: "approved";
    "mcp.off_advice" => zh: "MCP 服务器 {name} 已关闭（enabled = false）", en: "The MCP server {name} is turned off (enabled = false)";
    "mcp.new_advice" => zh: "MCP 服务器 {name} 需要批准，什么都没有运行：everloop mcp approve {name}", en: "The MCP server {name} needs approval; nothing was run: everloop mcp approve {name}";
    "mcp.other_command_advice" => zh: "MCP 服务器 {name} 的命令或地址和批准时不同，什么都没有运行：everloop mcp approve {name}", en: "The MCP server {name} has another command or address than was approved; nothing was run: everloop mcp approve {name}";
    "mcp.other_tools_advice" => zh: "MCP 服务器 {name} 的工具和批准时不同，在重新批准之前不提供给模型：everloop mcp approve {name}", en: "The MCP server {name} offers other tools than were approved; no model is offered them until you approve: everloop mcp approve {name}";
    "mcp.tool_pure" => zh: "只读，不询问", en: "only reads; not asked for";
    "mcp.tool_repeatable" => zh: "会改变东西，可以重复；先询问", en: "changes something, may be repeated; asked for";
    "mcp.tool_dangerous" => zh: "可能改变东西；先询问", en: "may change something; asked for";
    "mcp.out_name" => zh: "! {tool}：不提供，名字太长", en: "! {tool}: left out, its name is too long";
    "mcp.out_same" => zh: "! {tool}：不提供，换成可用字符后和另一个工具重名", en: "! {tool}: left out, another tool has the same name in the characters that models take";
    "mcp.out_large" => zh: "! {tool}：不提供，参数说明太大", en: "! {tool}: left out, what it says about its arguments is too large";
    "mcp.out_many" => zh: "! {tool}：不提供，这个服务器的工具太多", en: "! {tool}: left out, the server has too many tools";
    "mcp.out_schema" => zh: "! {tool}：不提供，参数不是对象", en: "! {tool}: left out, its arguments are no object";
    "mcp.out_hidden" => zh: "! {tool}：不提供，说明里有看不见的字符", en: "! {tool}: left out, its words hold characters that nobody sees";
    "mcp.added" => zh: "+ {tool}", en: "+ {tool}";
    "mcp.removed" => zh: "- {tool}", en: "- {tool}";
    "mcp.changed" => zh: "~ {tool}", en: "~ {tool}";
    "mcp.works" => zh: "{name} 可用：{tools} 个工具，{ms} 毫秒", en: "{name} works: {tools} tools, {ms} ms";
    "mcp.no_start" => zh: "MCP 服务器 {name}：{detail}。日志：{log}", en: "The MCP server {name}: {detail}. Its log: {log}";
    "mcp.no_answer" => zh: "MCP 服务器 {name}：{detail}", en: "The MCP server {name}: {detail}";
    "mcp.not_kept" => zh: "无法保存：{detail}", en: "Cannot keep it: {detail}";
    "mcp.command" => zh: "将在这台机器上以你的权限运行：\n    {way}", en: "This would run on this machine, with your rights:\n    {way}";
    "mcp.address" => zh: "将连接：\n    {way}", en: "This would be called:\n    {way}";
    "mcp.command_was" => zh: "之前批准的是：\n    {way}", en: "Approved before:\n    {way}";
    "mcp.ask_command" => zh: "现在运行它，看看它提供什么？[y/N] ", en: "Run it now and see what it offers? [y/N] ";
    "mcp.ask_tools" => zh: "把这些工具提供给模型？[y/N] ", en: "Offer these tools to models? [y/N] ";
    "mcp.needs_yes" => zh: "需要有人同意 MCP 服务器 {name}；没有人在，请加 --yes", en: "A person must agree to the MCP server {name}; nobody is there, so add --yes";
    "mcp.left" => zh: "MCP 服务器 {name} 没有批准", en: "The MCP server {name} is not approved";
    "mcp.kept" => zh: "{name} 已批准，{tools} 个工具", en: "{name} is approved, with {tools} tools";
    "doctor.mcp" => zh: "MCP 服务器", en: "MCP servers";
    "doctor.mcp_count" => zh: "已批准 {good} 个，等待批准 {waiting} 个", en: "approved: {good}, waiting for approval: {waiting}";
    "settings.server_name" => zh: "{origin} 第 {line} 行：{name} 不能做 MCP 服务器的名字：最多 24 个字符，小写字母、数字、- 和 _，不能有两个连续的 _", en: "{origin}, line {line}: {name} cannot be the name of an MCP server: at most 24 characters, lower-case letters, digits, - and _, never two _ in a row";
    "settings.server_way" => zh: "{origin} 第 {line} 行：MCP 服务器 {name} 要么有 command（可加 args、env），要么有 url（可加 headers）", en: "{origin}, line {line}: the MCP server {name} has either a command (with args and env) or a url (with headers)";
    "settings.server_time" => zh: "{origin} 第 {line} 行：MCP 服务器 {name} 的时间 {detail} 不对；例如 {form}", en: "{origin}, line {line}: {detail} is no time for the MCP server {name}; for example {form}";
    "settings.server_reference" => zh: "{origin} 第 {line} 行：MCP 服务器 {name} 的值不能用 {detail}；用 env:变量名", en: "{origin}, line {line}: the MCP server {name} cannot be given {detail}; use env:NAME";
    "settings.server_form" => zh: "{origin} 第 {line} 行：MCP 服务器 {name} 写得不对：{detail}", en: "{origin}, line {line}: the MCP server {name} is not written as one: {detail}";
}
