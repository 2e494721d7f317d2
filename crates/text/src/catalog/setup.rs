//! What the first run says. The first question is in both languages, as nobody has chosen one yet.

super::texts! {
    "setup.welcome" => zh: "everloop {version} — 本地优先的助手 / local-first assistant", en: "everloop {version} — 本地优先的助手 / local-first assistant";
    "setup.language" => zh: "语言 Language  [1] 简体中文  [2] English   (检测到 detected: {detected}) › ", en: "语言 Language  [1] 简体中文  [2] English   (检测到 detected: {detected}) › ";
    "setup.model" => zh: "还没有配置模型。用谁的模型？输入编号或名称（qwen-intl、groq 等没有列出的也可以）：", en: "No model is configured. Whose model do you want to use? Enter a number or a name (also one that is not listed, such as groq):";
    "setup.model_again" => zh: "现在的模型是 {name}。换成谁的？输入编号或名称（qwen-intl、groq 等没有列出的也可以）：", en: "The model is {name}. Whose do you want to use? Enter a number or a name (also one that is not listed, such as groq):";
    "setup.providers" => zh: "  1. DeepSeek 深度求索
  2. 通义千问 Qwen（阿里云百炼）
  3. 智谱 GLM
  4. 月之暗面 Kimi（Moonshot）
  5. OpenAI
  6. Anthropic（Claude）
  7. Google Gemini", en: "  1. DeepSeek
  2. Qwen (Alibaba, China; qwen-intl elsewhere)
  3. GLM (Zhipu, China; glm-intl elsewhere)
  4. Moonshot Kimi (China; moonshot-intl elsewhere)
  5. OpenAI
  6. Anthropic (Claude)
  7. Google Gemini";
    "setup.local_found" => zh: "  8. 本机模型      （检测到 {url}：{model}）", en: "  8. A local model      (found at {url}: {model})";
    "setup.local_none" => zh: "  8. 本机模型      （没有检测到；先启动 Ollama 或 llama.cpp）", en: "  8. A local model      (none was found; start Ollama or llama.cpp first)";
    "setup.nothing" => zh: "  9. 其他          （填写 OpenAI 兼容接口的地址）\n  0. 先不配置      （待办、日程和常用句子都可用；everloop tour 看演示）", en: "  9. Another one        (the address of an OpenAI-compatible endpoint)\n  0. Leave it for now   (to-dos, schedules and common phrases work; everloop tour shows more)";
    "setup.keep" => zh: "  9. 其他          （填写 OpenAI 兼容接口的地址）\n  0. 保持不变", en: "  9. Another one        (the address of an OpenAI-compatible endpoint)\n  0. Leave it as it is";
    "setup.prompt" => zh: "› ", en: "› ";
    "setup.not_understood" => zh: "请输入 {choices} 中的一个", en: "Please enter one of {choices}";
    "setup.called" => zh: "深度求索=deepseek|通义=qwen|通义千问=qwen|千问=qwen|百炼=qwen|阿里=qwen|dashscope=qwen|智谱=glm|智谱清言=glm|zhipu=glm|bigmodel=glm|z.ai=glm-intl|月之暗面=moonshot|kimi=moonshot|豆包=doubao|火山=doubao|混元=hunyuan|硅基流动=siliconflow|chatgpt=openai|gpt=openai|claude=anthropic|google=gemini|grok=xai|llama.cpp=llamacpp", en: "深度求索=deepseek|通义=qwen|通义千问=qwen|千问=qwen|百炼=qwen|阿里=qwen|dashscope=qwen|智谱=glm|智谱清言=glm|zhipu=glm|bigmodel=glm|z.ai=glm-intl|月之暗面=moonshot|kimi=moonshot|豆包=doubao|火山=doubao|混元=hunyuan|硅基流动=siliconflow|chatgpt=openai|gpt=openai|claude=anthropic|google=gemini|grok=xai|llama.cpp=llamacpp";
    "setup.words_zh" => zh: "1|１|中文|汉语|简体中文|chinese", en: "1|１|中文|汉语|简体中文|chinese";
    "setup.words_en" => zh: "2|２|英文|英语|english", en: "2|２|英文|英语|english";
    "setup.words_local" => zh: "local|本机|本地", en: "local|本机|本地";
    "setup.words_other" => zh: "other|其他|其它", en: "other|其他|其它";
    "setup.address" => zh: "接口地址（如 https://api.example.com/v1）› ", en: "Address (such as https://api.example.com/v1) › ";
    "setup.no_provider" => zh: "没有这个服务商。请输入编号、名称或接口地址；直接回车则先不配置", en: "That is no provider that is known. Enter a number, a name or an address; Enter leaves it for now";
    "setup.key_too_early" => zh: "这看起来像密钥，没有写入，也不会显示。请先选择服务商，之后再填密钥", en: "That looks like a key. It was not written down. Say first whose it is; the key is asked for after that";
    "setup.key_is_address" => zh: "这是一个地址，不是密钥；没有写入。请填写密钥", en: "That is an address and no key; it was not written. Enter the key";
    "setup.key_refused" => zh: "{mark} 密钥被拒绝，没有保存：{detail}
   请重新填写（Ctrl-C 离开）", en: "{mark} The key was refused and is not kept: {detail}
   Enter it again (Ctrl-C leaves)";
    "setup.no_address" => zh: "这不是 http 或 https 地址；没有写入", en: "That is no http or https address; it was not written";
    "setup.key" => zh: "{provider} 的密钥（不会显示；没有就直接回车）› ", en: "Key for {provider} (it is not shown; Enter if there is none) › ";
    "setup.model_name" => zh: "模型名称（如 gpt-5-mini）› ", en: "Name of the model (such as gpt-5-mini) › ";
    "setup.model_name_or" => zh: "模型名称 [{default}] › ", en: "Name of the model [{default}] › ";
    "setup.name_wrong" => zh: "这不是模型名称：名称里没有空格和标点，如 {example}", en: "That is not the name of a model: a name is one word without spaces, such as {example}";
    "setup.name_unknown" => zh: "列表里没有 {name}。再输入一次就用它，或选一个：{names}", en: "{name} is not in the list. Type it again to use it, or choose one of: {names}";
    "setup.no_name" => zh: "没有模型名称，因此没有配置模型。以后：everloop config setup", en: "Without a name no model was chosen. Later: everloop config setup";
    "setup.key_kept" => zh: "{mark} 密钥已存入 {file}（只有你能读）", en: "{mark} The key is kept in {file}, which only you can read";
    "setup.key_in_keychain" => zh: "{mark} 密钥已存入系统钥匙串（{reference}）", en: "{mark} The key is kept in the keychain ({reference})";
    "setup.key_not_kept" => zh: "无法写入密钥文件 {file}：{detail}", en: "Cannot write the key file {file}: {detail}";
    "setup.wrote" => zh: "{mark} {line}", en: "{mark} {line}";
    "setup.from_environment" => zh: "{mark} 使用环境变量 {names}：模型 {model}", en: "{mark} Using the environment ({names}): model {model}";
    "setup.found" => zh: "{mark} 使用环境变量 {names}", en: "{mark} Using the environment ({names})";
    "setup.found_also" => zh: "  也可以：{name}", en: "  or: {name}";
    "setup.offers" => zh: "可用的模型：{names}", en: "Models there: {names}";
    "setup.works" => zh: "{mark} 模型 {name} 可用（首字 {seconds} 秒）", en: "{mark} The model {name} works (first word after {seconds} s)";
    "setup.does_not_work" => zh: "{mark} 模型 {name} 没有正常回答：{detail}\n   设置已保留。检查：everloop doctor；重新选择：everloop config setup", en: "{mark} The model {name} did not answer well: {detail}\n   The settings are kept. Look: everloop doctor; choose again: everloop config setup";
    "setup.too_slow" => zh: "{seconds} 秒内没有回答", en: "no answer within {seconds} s";
    "setup.places" => zh: "{mark} 数据目录 {data}   配置 {config}", en: "{mark} Data folder {data}   settings {config}";
    "setup.hints" => zh: "试试：  /todo add 明天下午三点 交周报      /help 查看命令\n        分析一下 ./sales.csv 并写一份报告", en: "Try:    /todo add tomorrow 3pm hand in the report      /help lists the commands\n        Look at ./sales.csv and write a report";
}
