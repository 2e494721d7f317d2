// What the scripted model says, by the goal of the run.
const says = (text, more = {}) => ({ text, ...more });
const calls = (tool, args, more = {}) => ({ calls: [{ tool, args }], ...more });

export const LONG = "Reading is done. The **result** is ready.\n\n- one\n- two\n\n```rust\nfn main() {}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";
const SUMMARY = says("## Summary\n\nThree of **14** invoices are overdue.\n\n| Supplier | Amount |\n|---|---:|\n| Conti | 3,120.00 |\n| Nordlys | 2,664.50 |\n");
export const script = {
  replies: [says("It is done.")],
  closing: "It is done.",
  others: [
    // The next reply is chosen by how many the conversation has already.
    { goal: "and then this", replies: Array.from({ length: 6 }, () => says("It is done.")) },
    // A later goal of a conversation: its prompt also tells of the earlier ones.
    { goal: "shell again", replies: [calls("shell", { command: "echo hello > made.txt" }), says("The command ran.")] },
    { goal: "stream", replies: [says(LONG.repeat(3), { chunk: 12, delay_ms: 120 })] },
    { goal: "day code", replies: Array.from({ length: 40 }, () => says(LONG.repeat(2))) },
    { goal: "day shell", replies: Array.from({ length: 40 }, (_, n) => (n % 2 ? says(LONG) : calls("shell", { command: "echo hello > made.txt" }))) },
    { goal: "blocks", replies: [says(LONG.repeat(6), { chunk: 8, delay_ms: 60 }), says("As you said.")] },
    { goal: "ask later", replies: [calls("ask_user", { question: "Which colour shall it be?" }, { delay_ms: 2500 }), says("It is painted as you said.")] },
    { goal: "fail later", replies: [calls("read_file", { path: "missing.md" }, { delay_ms: 2500 }), says("It is not there.")] },
    { goal: "two steps", replies: [calls("list_dir", { path: "." }, { delay_ms: 3000 }), says("As told.")] },
    { goal: "slow", replies: [says("slowly ".repeat(400), { chunk: 6, delay_ms: 60 })] },
    { goal: "ask me", replies: [calls("ask_user", { question: "Which colour shall it be?" }), says("It is painted as you said.")] },
    { goal: "choose one", replies: [calls("ask_user", { question: "Which colour?", choices: ["red", "green", "blue"] }), says("It is chosen.")] },
    { goal: "ask again", replies: [calls("ask_user", { question: "Which size shall it be?" }), says("It is made as you said.")] },
    // Done again, its prompt also tells which tool was called: it stands before "shell".
    { goal: "refuse", replies: [calls("shell", { command: "echo no > refused.txt" }), says("Then it is left.")] },
    { goal: "shell", replies: [calls("shell", { command: "echo hello > made.txt" }), says("The command ran.")] },
    { goal: "write more", replies: [calls("write_file", { path: "more.md", content: "more\n" }), says("More is written.")] },
    { goal: "write", replies: [calls("write_file", { path: "notes.md", content: "# Notes\n\nfirst line\n" }), says("The file is written.")] },
    { goal: "list", replies: [calls("todo_write", { merge: false, todos: [{ id: "1", content: "Read the notes", status: "completed" }, { id: "2", content: "Write the summary", status: "in_progress" }, { id: "3", content: "Send it", status: "pending" }] }),
      calls("list_dir", { path: "." }), calls("read_file", { path: "missing.md" }),
      calls("todo_write", { merge: true, todos: ["1", "2", "3"].map((id) => ({ id, status: "completed" })) }), SUMMARY, SUMMARY] },
  ],
};
