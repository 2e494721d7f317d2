//! The tour, with the words of its scripted model.

super::texts! {
    "tour.welcome" => zh: "Everloop：不会丢失的智能体循环。\n这是一次离线演示。模型是预先写好的脚本，不是真正的模型；进程、kill -9 和日志都是真的。", en: "Everloop: agent loops that cannot be lost.\nThis is an offline tour. The model is scripted, not a real one; the processes, the kill -9 and the journal are real.";
    "tour.scene_one" => zh: "第一幕：运行开始，模型正在写回答时，进程被杀死。", en: "Scene one: a run begins, and its process is killed while the model is writing its answer.";
    "tour.scene_two" => zh: "第二幕：进程在执行一条危险的命令（付款）中间被杀死。它不会被重做；结果未知，并且会说出来。", en: "Scene two: the process is killed in the middle of a dangerous command (a payment). It is not repeated; its outcome is unknown, and that is said.";
    "tour.scene_three" => zh: "第三幕：同一个小任务，依次由每种循环来做（everloop loops 说明它们）。", en: "Scene three: the same small task under every loop, one after the other (everloop loops explains them).";
    "tour.count_goal" => zh: "poem.txt 有几行？", en: "How many lines does poem.txt have?";
    "tour.count_item" => zh: "读 poem.txt", en: "read poem.txt";
    "tour.count_answer" => zh: "两行。", en: "Two lines.";
    "tour.count_line" => zh: "{name} 模型调用 {models} 次，工具调用 {tools} 次，{status}：{text}", en: "{name} model calls: {models}, tool calls: {tools}, {status}: {text}";
    "tour.killed" => zh: "    ✖ kill -9 {pid}（进程以信号 {signal} 结束）。什么都没有丢失；另一个进程接着做：", en: "    ✖ kill -9 {pid} (it ended by signal {signal}). Nothing is lost; another process goes on:";
    "tour.story" => zh: "运行的日志，读起来像一个故事：", en: "The journal of the run, as a story:";
    "tour.verify" => zh: "每个决定都可以重新计算并与日志比较：", en: "Every decision can be computed again and compared with the journal:";
    "tour.ledger" => zh: "账本里只有一笔付款：", en: "The ledger has exactly one payment:";
    "tour.end" => zh: "演示结束。接下来：\n  export EVERLOOP_MODEL=openai/模型名 OPENAI_API_KEY=你的密钥   （OPENAI_BASE_URL 可指向本机模型）\n  everloop run \"要做的事\"\n  everloop --help", en: "That was the tour. Next:\n  export EVERLOOP_MODEL=openai/MODEL OPENAI_API_KEY=YOUR_KEY   (OPENAI_BASE_URL may point to a local model)\n  everloop run \"what is to be done\"\n  everloop --help";
    "tour.poem_goal" => zh: "写一首小诗到 poem.txt 并检查", en: "Write a short poem to poem.txt and check it";
    "tour.poem" => zh: "日志记下每一步，\n断电也能接着走。\n", en: "The journal keeps each step it made,\nso no step has to be repaid.\n";
    "tour.poem_answer" => zh: "诗已写入 poem.txt，并已读回检查。", en: "The poem is in poem.txt; I read it back and it is whole.";
    "tour.pay_goal" => zh: "付一次款，记入 ledger.txt", en: "Make one payment and note it in ledger.txt";
    "tour.pay_answer" => zh: "付款命令被中断，结果未知。账本里已有一笔记录，所以我没有重做。", en: "The payment was interrupted and its outcome was unknown. The ledger shows one entry, so I did not do it again.";
}
