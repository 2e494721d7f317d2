// What people do: send, answer, approve, stop, come back after a crash, work in two tabs.
import { signedIn, clean, check, eventually } from "./page.mjs";
import { readFileSync, existsSync } from "node:fs";
import { join } from "node:path";

const seen = (page, text) => eventually(`“${text}” on the page`, async () => (await page.locator("#main").innerText()).includes(text));
const gone = (page, where) => eventually(`no ${where}`, async () => (await page.locator(where).count()) === 0);

export async function flows(world) {
  const server = await world.server().start();
  const flow = (name, body) => world.test(name, async () => {
    const { context, page } = await signedIn(world, server);
    await context.addInitScript(() => localStorage.setItem("everloop:loop", "react"));
    try { await body(page, context, server); clean(page); } finally { await context.close(); }
  });
  try {
    await flow("a message streams from its first word, also after a reload, and ends as the server's HTML", streams);
    await flow("a question is answered on its card", answers);
    await flow("a call is approved with the key y, and runs", approves);
    await flow("a call is edited before it runs", edits);
    await flow("a call is refused with a reason", refuses);
    await flow("what a run did is shown with its diff when it is opened", changes);
    await flow("stop ends a run that writes", stops);
    await flow("a message that is written while a run works waits for its end", queues);
    await flow("Enter sends nothing while an input method composes", composes);
    await flow("two tabs show the same, and an answer in one folds the card in the other", tabs);
    await flow("a conversation is renamed and archived", renames);
    await flow("an archived conversation is found, taken out and deleted", archives);
    await flow("changes of files are undone and made again", undoes);
    await flow("pictures and texts go with a message, other files are refused", attaches);
    await flow("what comes while one reads further up waits behind a button", below);
    await flow("a conversation is exported whole", exportsWhole);
    await world.test("a queued message outlives a kill and is sent once", () => outlives(world));
    await flow("the palette finds a conversation by the keyboard alone", palette);
    await flow("the slider shows the past and a fork begins there", travels);
    await flow("a line of the agenda shows its absolute time before it is saved", agenda);
    await flow("a fact is added, changed and forgotten", memory);
    await flow("a draft is there after a reload", drafts);
    await flow("language and theme are kept", views);
  } finally { await server.end(); }
}

async function begin(page, server, goal) {
  await page.goto(`${server.url}/chat`);
  await page.fill("#say", goal);
  await page.press("#say", "Enter");
  await page.waitForURL(/\/chat\/conv_/);
}

async function streams(page, _, server) {
  await begin(page, server, "stream");
  const begins = async () => (await page.locator("#stream").innerText()).startsWith("Reading is done");
  await eventually("the first words", begins);
  await page.reload();
  await eventually("the first words after a reload", begins);
  await eventually("a block that is rendered while the rest is written", () => page.evaluate(() => document.querySelector("#stream .tail") && document.querySelector("#stream strong")?.textContent === "result"));
  await eventually("an empty stream", async () => (await page.locator("#stream-place").isHidden()));
  await eventually("the rendered answer", async () => (await page.locator(".prose strong").count()) >= 3);
  const blocks = await page.locator(".prose .code pre code").count();
  check(blocks === 3, `${blocks} blocks of code`);
  check((await page.locator(".prose .code .k").first().innerText()) === "fn", "coloured code");
  await page.evaluate(() => { globalThis.copied = ""; navigator.clipboard.writeText = async (t) => { globalThis.copied = t; }; });
  await page.locator(".prose .code button").first().click();
  await eventually("a check mark", async () => (await page.locator(".prose .code button").first().innerText()).includes("Copied"));
  check((await page.evaluate(() => globalThis.copied)) === "fn main() {}\n", JSON.stringify(await page.evaluate(() => globalThis.copied)));
  check((await page.locator(".said").count()) === 1, "the message is there once");
}

async function answers(page, _, server) {
  await begin(page, server, "ask me");
  await seen(page, "Which colour");
  await eventually("the count in the title", async () => /^\(\d+\) /.test(await page.title()));
  await page.fill("#thread form.ask textarea[name=text]", "green");
  await page.click("#thread form.ask button.ink");
  await seen(page, "It is painted as you said.");
  await gone(page, "#thread form.ask");
  await eventually("no count in the title", async () => !(await page.title()).startsWith("("));
}

async function approves(page, _, server) {
  await begin(page, server, "shell");
  await page.locator("#thread form.ask").waitFor();
  check((await page.locator("#thread form.ask").innerText()).includes("echo hello > made.txt"), "the exact command");
  // The part with the card is made anew by every refresh: the keys have to outlive that.
  await page.locator("#thread form.ask").evaluate((e) => { e.closest("[data-live]").dataset.was = "old"; });
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await eventually("a card that was made anew", async () => (await page.locator("[data-live][data-was=old]").count()) === 0);
  await page.locator("#thread form.ask h3").click();
  check(await page.evaluate(() => document.activeElement.matches("form.ask")), "a click does not focus the card");
  await page.keyboard.press("y");
  await seen(page, "The command ran.");
  check(existsSync(join(server.folder, "made.txt")), "the command did not run");
}

async function edits(page, _, server) {
  await begin(page, server, "shell");
  await page.locator("#thread form.ask").waitFor();
  await page.locator("#thread form.ask summary", { hasText: "Edit" }).click();
  await page.fill("#thread form.ask textarea[name=edited]", "echo changed > edited.txt");
  await page.click("#thread form.ask button[value=edit]");
  await seen(page, "The command ran.");
  check(readFileSync(join(server.folder, "edited.txt"), "utf8") === "changed\n", "the edited command did not run");
}

async function refuses(page, _, server) {
  await begin(page, server, "refuse");
  await page.locator("#thread form.ask").waitFor();
  await page.locator("#thread form.ask summary", { hasText: "Respond" }).click();
  await page.fill("#thread form.ask textarea[name=reason]", "not into this folder");
  await page.click("#thread form.ask button[value=respond_no]");
  await gone(page, "#thread form.ask");
  await seen(page, "Then it is left.");
  check(!existsSync(join(server.folder, "refused.txt")), "the command ran");
}

async function changes(page, _, server) {
  await begin(page, server, "write");
  await seen(page, "The file is written.");
  await page.locator("details.activity summary").click();
  await eventually("the diff", async () => (await page.locator(".activity .diff ins").count()) > 0);
  check(readFileSync(join(server.folder, "notes.md"), "utf8").includes("first line"), "the file was not written");
}

async function stops(page, _, server) {
  await begin(page, server, "slow");
  await eventually("words", async () => (await page.locator("#stream").innerText()).length > 30);
  await page.locator("[data-run] .acts button").click();
  await gone(page, "[data-run]");
  const runs = (await server.api("/v1/runs?status=canceled")).data;
  check(runs.some((run) => run.goal === "slow"), "no run was canceled");
  await seen(page, "slowly slowly");
  await seen(page, "stopped here");
}

async function queues(page, _, server) {
  await begin(page, server, "stream");
  await eventually("words", async () => (await page.locator("#stream").innerText()).length > 10);
  await page.fill("#say", "and then that");
  await page.press("#say", "Enter");
  await eventually("a queued message", async () => (await page.locator("#queue .queue").count()) === 1);
  await page.locator("#queue summary").click();
  await page.fill("#queue textarea", "and then this");
  await page.locator("#queue .edit-line button").click();
  const other = await page.context().newPage();
  await other.goto(page.url());
  await eventually("the changed message in another tab", async () => (await other.locator("#queue").innerText()).includes("and then this"));
  await other.close();
  await eventually("two messages", async () => (await page.locator(".said").count()) === 2);
  await seen(page, "It is done.");
}

async function composes(page, _, server) {
  await page.goto(`${server.url}/chat`);
  await page.fill("#say", "ni hao");
  await page.evaluate(() => document.querySelector("#say").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true, cancelable: true })));
  await page.evaluate(() => { const e = new KeyboardEvent("keydown", { key: "Enter", keyCode: 229, bubbles: true, cancelable: true }); document.querySelector("#say").dispatchEvent(e); });
  check(page.url().endsWith("/chat"), page.url());
  check((await page.inputValue("#say")) === "ni hao", "the text is gone");
}

async function tabs(page, context, server) {
  await begin(page, server, "ask again");
  await seen(page, "Which size");
  const other = await context.newPage();
  await other.goto(page.url());
  await other.locator("#thread form.ask").waitFor();
  const inbox = await context.newPage();
  await inbox.goto(`${server.url}/inbox`);
  await seen(inbox, "Which size");
  await other.fill("#thread form.ask textarea[name=text]", "large");
  await other.click("#thread form.ask button.ink");
  await gone(page, "#thread form.ask");
  await eventually("no card in the inbox", async () => !(await inbox.locator("#inbox").innerText()).includes("Which size"));
  await seen(page, "It is made as you said.");
}

async function renames(page, _, server) {
  const id = await server.conversation("Old name");
  await page.goto(`${server.url}/chat/${id}`);
  await page.click("#bar details.pop > summary");
  await page.fill("#new-title", "New name");
  await page.click("#bar .pop-body form button");
  await eventually("the new name", async () => (await page.locator("#bar h1").innerText()) === "New name");
  await eventually("the new name in the side bar", async () => (await page.locator("#side-list").innerText()).includes("New name"));
  await page.click("#bar details.pop > summary");
  await page.locator("#bar .pop-body form").nth(1).locator("button").click();
  await eventually("archived", async () => (await server.api(`/v1/conversations/${id}`)).archived);
  await page.locator("#toasts button").click();
  await eventually("undone", async () => !(await server.api(`/v1/conversations/${id}`)).archived);
}

async function archives(page, _, server) {
  const id = await server.conversation("Put away");
  await server.api(`/v1/conversations/${id}`, { archived: true }, "PATCH");
  await page.goto(`${server.url}/chat`);
  check(!(await page.locator("#side-list").innerText()).includes("Put away"), "archived ones are in the side bar");
  await page.locator("#side-list a", { hasText: "All conversations" }).click();
  await page.locator(".tools a", { hasText: "Archived" }).click();
  await page.fill("#conversation-q", "put aw");
  await page.press("#conversation-q", "Enter");
  await page.waitForURL(/q=put/);
  await page.locator(".item", { hasText: "Put away" }).locator("button[formaction$=archive]").click();
  await eventually("taken out", async () => !(await server.api(`/v1/conversations/${id}`)).archived);
  await page.goto(`${server.url}/conversations`);
  const row = page.locator(".item", { hasText: "Put away" });
  await row.locator("summary").click();
  await row.locator(".btn.danger").click();
  await eventually("deleted", async () => (await page.locator(".item", { hasText: "Put away" }).count()) === 0);
}

async function undoes(page, _, server) {
  await begin(page, server, "write more");
  await seen(page, "More is written.");
  await page.locator("details.activity summary").click();
  await page.locator(".confirm summary", { hasText: "Undo" }).click();
  check((await page.locator(".confirm-body").innerText()).includes("more.md"), "the list of files");
  await page.locator(".confirm-body button").click();
  await eventually("the file is gone", () => !existsSync(join(server.folder, "more.md")));
  await seen(page, "removed more.md");
  await page.locator("button", { hasText: "Redo changes" }).click();
  await eventually("the file is back", () => existsSync(join(server.folder, "more.md")));
}

async function attaches(page, _, server) {
  const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
  await page.goto(`${server.url}/chat`);
  await page.setInputFiles("#files", [{ name: "dot.png", mimeType: "image/png", buffer: png }, { name: "notes.csv", mimeType: "text/csv", buffer: Buffer.from("a,b\n1,2\n") }, { name: "off.txt", mimeType: "text/plain", buffer: Buffer.from("not this") }]);
  check((await page.locator("#files-chosen li").count()) === 3, "chips");
  await page.locator("#files-chosen li", { hasText: "off.txt" }).locator("button").click();
  await page.fill("#say", "attached");
  await page.press("#say", "Enter");
  await page.waitForURL(/\/chat\/conv_/);
  await seen(page, "notes.csv");
  await seen(page, "It is done.");
  check(!(await page.locator("#main").innerText()).includes("not this"), "a file that was taken off was sent");
  const run = (await server.api("/v1/runs")).data.find((one) => one.goal.startsWith("attached"));
  const events = JSON.stringify((await server.api(`/v1/runs/${run.id}/journal`).catch(() => ({}))));
  check(events.length > 0, "no journal");
  page.quiet = true; // the browser itself writes refused requests to the console
  await page.fill("#say", "too");
  await page.setInputFiles("#files", [{ name: "a.bin", mimeType: "application/octet-stream", buffer: Buffer.from([0, 1, 2, 255]) }]);
  await page.press("#say", "Enter");
  await eventually("a refusal", async () => (await page.locator("#toasts").innerText()).includes("a.bin"));
  check((await page.inputValue("#say")) === "too", "the words are gone");
}

async function below(page, _, server) {
  const id = await server.conversation("Reading further up");
  const run = await server.say(id, "first");
  await server.until(run, ["succeeded"]);
  const path = `/internal/runs/${run}/emit-message`;
  for (let n = 0; n < 30; n++) await server.api(path, { content: `Line ${n}\n\n- one\n- two\n- three`, message_id: `b${n}` });
  await page.goto(`${server.url}/chat/${id}`);
  await page.evaluate(() => { document.querySelector("#thread-scroll").scrollTop = 0; });
  await eventually("the top", () => page.evaluate(() => document.querySelector("#thread-scroll").scrollTop < 10));
  await server.api(path, { content: "A late line", message_id: "late" });
  await eventually("the button", async () => (await page.locator("#new-below").innerText()).includes("1 new"));
  await page.click("#new-below");
  await eventually("the end", () => page.locator("text=A late line").isVisible());
  await eventually("no button", () => page.locator("#new-below").isHidden());
}

async function exportsWhole(page, _, server) {
  const id = await server.conversation("To a file");
  await server.until(await server.say(id, "first"), ["succeeded"]);
  await page.goto(`${server.url}/chat/${id}`);
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#bar > a[download]").click()]);
  check(/^conversation-\w+\.md$/.test(download.suggestedFilename()), download.suggestedFilename());
  const text = readFileSync(await download.path(), "utf8");
  check(text.startsWith("# To a file") && text.includes("It is done."), text);
}

async function outlives(world) {
  const server = await world.server().start();
  const { context, page } = await signedIn(world, server);
  await context.addInitScript(() => localStorage.setItem("everloop:loop", "react"));
  page.quiet = true;
  try {
    await begin(page, server, "slow");
    await eventually("words", async () => (await page.locator("#stream").innerText()).length > 10);
    await page.fill("#say", "and then this");
    await page.press("#say", "Enter");
    await eventually("a queued message", async () => (await page.locator("#queue .queue").count()) === 1);
    await server.kill();
    await server.restart();
    await eventually("still queued", async () => (await page.locator("#queue .queue").count()) === 1);
    await page.locator("[data-run] .acts button").click();
    await eventually("it is sent", async () => (await page.locator(".said", { hasText: "and then this" }).count()) === 1);
    await eventually("nothing waits", async () => (await page.locator("#queue .queue").count()) === 0);
  } finally { await context.close(); await server.end(); }
}

async function palette(page, _, server) {
  const id = await server.conversation("A very special name");
  await page.goto(`${server.url}/inbox`);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("very special");
  await eventually("a result", async () => (await page.locator("#pal-list").innerText()).includes("A very special name"));
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/chat/${id}`);
  await page.keyboard.press("Control+k");
  await page.keyboard.press("Escape");
  check(await page.locator("#palette").isHidden(), "Esc does not close the palette");
}

async function travels(page, _, server) {
  const run = await server.say(await server.conversation(), "list", "tool-driven");
  await server.until(run, ["succeeded"]);
  await page.goto(`${server.url}/runs/${run}`);
  check((await page.locator(".wf tbody tr").count()) >= 5, "steps");
  await page.focus("#travel");
  await page.keyboard.press("Home");
  await eventually("the first event", async () => (await page.locator("#travel-at").innerText()) === "#1");
  await eventually("steps after it are pale", async () => (await page.locator(".wf tr.future").count()) > 3);
  await page.keyboard.press("ArrowRight");
  await eventually("the second event", async () => page.url().includes("at=2"));
  await page.locator('.wf-name[data-s="failed"]').first().click();
  await eventually("the input of the step", async () => (await page.locator("#step-input").innerText()).includes("missing.md"));
  await page.goto(`${server.url}/runs/${run}?at=3`);
  await page.click("#travel-now form button");
  await page.waitForURL((u) => u.pathname.startsWith("/runs/") && !u.pathname.endsWith(run));
  check((await page.locator(".stats").innerText()).includes(run.slice(-6)), "where it was forked from");
}

async function agenda(page, _, server) {
  await page.goto(`${server.url}/agenda`);
  await page.fill("#quick-text", "every friday 4pm water the plants");
  await eventually("an absolute time", async () => /20\d\d-\d\d-\d\d/.test(await page.locator("#parsed .abs").innerText()));
  check((await page.locator("#parsed .five li").count()) === 5, "the next five");
  await page.press("#quick-text", "Enter");
  await seen(page, "water the plants");
  await page.fill("#quick-text", "call the plumber");
  await page.press("#quick-text", "Enter");
  await seen(page, "call the plumber");
  await page.locator('.todo button.check[aria-label*="plumber"]').click();
  await eventually("done", async () => (await page.locator(".todo.done", { hasText: "plumber" }).count()) === 1);
  await page.locator("header.bar form button").click();
  await eventually("open again", async () => (await page.locator(".todo.done", { hasText: "plumber" }).count()) === 0);
}

async function memory(page, _, server) {
  await page.goto(`${server.url}/memory`);
  await page.fill("#new-fact", "The fence is green");
  await page.press("#new-fact", "Enter");
  await page.locator(".fact a", { hasText: "The fence is green" }).click();
  await page.fill("#fact-text", "The fence is blue");
  await page.click("#fact form button");
  await eventually("the new words", async () => (await page.locator("#facts").innerText()).includes("The fence is blue"));
  await page.locator("#fact .btn.danger").click();
  await eventually("forgotten", async () => !(await page.locator("#facts").innerText()).includes("The fence is blue"));
}

async function drafts(page, _, server) {
  await page.goto(`${server.url}/chat`);
  await page.fill("#say", "half a thought");
  await page.reload();
  check((await page.inputValue("#say")) === "half a thought", "the draft is gone");
}

async function views(page, _, server) {
  await page.goto(`${server.url}/inbox`);
  await page.locator('.foot-row button[name="lang"]').click();
  await eventually("Chinese", async () => (await page.evaluate(() => document.documentElement.lang)) === "zh-CN");
  await page.locator('.foot-row button[name="theme"]').click();
  await eventually("dark", async () => (await page.evaluate(() => document.documentElement.dataset.theme)) === "dark");
}
