// Takes the pictures of the page: node pages.mjs EVERLOOP FOLDER_WITH_NODE_MODULES
//
// The model is a script; the server, its runs and every pixel come from the binary that is given. Only
// the name of the scripted model, which is a path of this machine, is written as a name.
import { createRequire } from "node:module";
import { writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Server, TOKEN } from "../../crates/server/browser/server.mjs";

const here = dirname(fileURLToPath(import.meta.url)), [program, modules] = process.argv.slice(2);
const { chromium } = createRequire(join(resolve(modules), "package.json"))("playwright-core");

const calls = (tool, args) => ({ calls: [{ tool, args }] });
const todo = (...states) => calls("todo_write", { merge: false, todos: ["Read the open invoices", "Compare their dates with today", "Write the summary"].map((content, n) => ({ id: String(n + 1), content, status: states[n] })) });
const TABLE = "| Supplier | Invoice | Due | Amount |\n|---|---|---|---:|\n| Conti | 2026-114 | 2 Nov | 3,120.00 |\n| Nordlys | 88-341 | 9 Nov | 2,664.50 |\n| Baumann | R-5502 | 12 Nov | 410.00 |";
const overdue = [todo("in_progress", "pending", "pending"), calls("list_dir", { path: "." }), calls("read_file", { path: "invoices.csv" }), todo("completed", "in_progress", "pending"),
  calls("read_file", { path: "paid.csv" }), todo("completed", "completed", "completed"),
  { text: `**Three of 14** open invoices are overdue, 6,194.50 in all. Conti is the oldest.\n\n${TABLE}\n\n\`paid.csv\` is missing, so a payment of this week is not counted.` }];
const ITEMS = { en: ["Find the late customers", "Write the reminder", "Send it", "Note the date in customers.csv"], zh: ["找出逾期的客户", "写好提醒邮件", "发送邮件", "在 customers.csv 记下日期"] };
const plan = (lang, done) => calls("todo_write", { merge: false, todos: ITEMS[lang].map((content, n) => ({ id: String(n + 1), content, status: n < done ? "completed" : n === done ? "in_progress" : "pending" })) });
const sql = "SELECT region, sum(amount) AS total FROM sales GROUP BY region ORDER BY total DESC";
const said = "# East sells most: {{q1.r1.total|0}} in all\n\n- East: {{q1.r1.total|0}}\n\n## Regions\n\nEast sold {{q1.r1.total}}, West {{q1.r2.total}}. A note speaks of 777,123, which has no source.\n\n## Why\n\nEast sold in both quarters.\n\n[ANALYSIS_COMPLETE]";
const report = [calls("read_dataset", { path: "sales.csv" }), calls("query_dataset", { sql }), calls("make_chart", { kind: "bar", query: "q1", x: "region", y: ["total"], title: "Sales by region" }), { text: said }, { text: said }];
const script = { replies: [{ text: "It is done." }], closing: "It is done.", others: [
  { goal: "Which supplier invoices are overdue?", replies: overdue },
  { goal: "which region sells most", replies: report },
  { goal: "Remind the three late customers", replies: [plan("en", 0), calls("read_file", { path: "customers.csv" }), plan("en", 1), calls("write_file", { path: "reminder.md", content: "Dear customer,\n\nyour invoice is overdue.\n" }), plan("en", 2),
    calls("shell", { command: "mail -s 'Reminder' billing@conti.example < reminder.md" }), { text: "It is sent." }] },
  { goal: "提醒三位逾期的客户", replies: [plan("zh", 0), calls("read_file", { path: "customers.csv" }), plan("zh", 1), calls("write_file", { path: "提醒.md", content: "您好：\n\n您的发票已逾期。\n" }), plan("zh", 2),
    calls("shell", { command: "mail -s '付款提醒' billing@conti.example < 提醒.md" }), { text: "已发送。" }] },
  { goal: "Paint the fence", replies: [calls("ask_user", { question: "Which color shall the fence be?", choices: ["Oxide red", "Moss green", "As it is"] }), { text: "It is painted." }] },
] };

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--hide-scrollbars"] });
const server = new Server(resolve(program), script);
writeFileSync(join(server.folder, "invoices.csv"), "supplier,number,due,amount\nConti,2026-114,2026-11-02,3120.00\n");
writeFileSync(join(server.folder, "customers.csv"), "customer,mail,due\nConti,billing@conti.example,2026-11-02\n");
writeFileSync(join(server.folder, "sales.csv"), "region,quarter,amount\nEast,Q2,4812.6\nEast,Q3,3927.1\nWest,Q2,2050.25\nWest,Q3,2134.75\nNorth,Q3,1204\nSouth,Q3,980.5\n");
await server.start();

const seed = async (title, goal, loop, statuses) => {
  const id = await server.conversation(title), run = await server.say(id, goal, loop);
  await server.until(run, statuses);
  return { id, run };
};
const view = (lang = "en", colorScheme = "light", width = 1200, height = 720) => browser.newContext({ viewport: { width, height }, colorScheme, locale: lang, extraHTTPHeaders: { authorization: `Bearer ${TOKEN}` } });

// A path of this machine is no part of a picture.
const named = (page) => page.evaluate(() => {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) walk.currentNode.textContent = walk.currentNode.textContent.replace(/scripted\/\S*script\.json/g, "qwen3-8b").replace(/\S*everloop-browser-\S*/g, "~/invoices");
});

async function take(name, path, { lang, theme, width, height, before } = {}) {
  const context = await view(lang, theme, width, height), page = await context.newPage();
  await context.addCookies([{ name: "everloop_lang", value: lang ?? "en", url: server.url }]);
  await page.goto(server.url + path, { waitUntil: "load" });
  await before?.(page);
  // The page asks once more when its connection is there.
  await page.waitForLoadState("networkidle");
  await page.evaluate(() => document.activeElement?.blur());
  await named(page);
  const png = await page.screenshot({ animations: "disabled", caret: "hide" });
  // WebP is a third of the size of PNG for what pages look like.
  const small = await page.evaluate(async (data) => {
    const image = await createImageBitmap(new Blob([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], { type: "image/png" }));
    const canvas = new OffscreenCanvas(image.width, image.height);
    canvas.getContext("2d").drawImage(image, 0, 0);
    const blob = new Uint8Array(await (await canvas.convertToBlob({ type: "image/webp", quality: 0.86 })).arrayBuffer());
    let text = "";
    for (let at = 0; at < blob.length; at += 8192) text += String.fromCharCode(...blob.subarray(at, at + 8192));
    return btoa(text);
  }, png.toString("base64"));
  writeFileSync(join(here, `${name}.webp`), Buffer.from(small, "base64"));
  console.log(`${name}.webp: ${Math.round((small.length * 3) / 4 / 1024)} kB`);
  await context.close();
}

async function comparison() {
  const context = await view(), page = await context.newPage();
  await page.goto(`${server.url}/compare`);
  for (const kind of ["todos", "search", "recovery", "clarification"]) await page.locator(`[name="kind:${kind}"]`).uncheck();
  await page.locator("form[data-compare] button.ink").click();
  await page.locator(".cmp tbody tr").first().waitFor({ timeout: 240_000 });
  await page.locator(".comparing").waitFor({ state: "detached", timeout: 240_000 });
  await context.close();
}

async function analysis() {
  const context = await view(), page = await context.newPage();
  await page.goto(`${server.url}/reports`);
  await page.locator("#report-new").evaluate((e) => (e.open = true));
  await page.fill("#files", "sales.csv");
  await page.fill("#question", "which region sells most");
  await page.locator('form[action="/do/reports/begin"] button.ink').click();
  await page.waitForURL(/\/runs\/run_/);
  const run = new URL(page.url()).pathname.split("/").pop();
  await server.until(run, ["succeeded", "failed"]);
  await context.close();
  return run;
}

try {
  await seed("Paint the fence", "Paint the fence", "react", ["waiting"]);
  const asking = await seed("Remind late customers", "Remind the three late customers", "tool-driven", ["waiting"]);
  const chinese = await seed("提醒逾期客户", "提醒三位逾期的客户", "tool-driven", ["waiting"]);
  const chat = await seed("Overdue supplier invoices", "Which supplier invoices are overdue?", "tool-driven", ["succeeded"]);
  for (const text of ["tomorrow 3pm send the weekly report", "friday 10am call Nordlys", "today 6pm water the plants"]) await server.api("/v1/todos", { text });
  for (const text of ["every monday 9am team meeting", "every weekday 8am look for overdue invoices", "every friday 4pm tidy the workshop"]) await server.api("/v1/schedules", { text });
  await comparison();
  const made = await analysis();
  await take("chat", `/chat/${asking.id}`);
  await take("chat-zh-dark", `/chat/${chinese.id}`, { lang: "zh-CN", theme: "dark" });
  await take("chat-360", `/chat/${chat.id}`, { width: 360, height: 720 });
  await take("run", `/runs/${chat.run}`, { before: (page) => page.locator('.wf-name[data-s="failed"]').first().click().then(() => page.locator("#step-input").waitFor()) });
  await take("inbox", "/inbox", { before: (page) => page.locator(".item h3 a, .item h2 a").first().click().then(() => page.waitForLoadState("load")) });
  await take("agenda", "/agenda");
  await take("compare", "/compare");
  await take("report", `/reports/${made}`);
} finally {
  await server.end();
  await browser.close();
}
