// What changes while one looks, and what is sent: words as they come, messages that could not be
// sent, cards that were answered, what is told to a screen reader.
import { signedIn, watched, clean, check, eventually } from "./page.mjs";
import { TOKEN } from "./server.mjs";

const seen = (page, text) => eventually(`“${text}” on the page`, async () => (await page.locator("#main").innerText()).includes(text));
const gone = (page, where) => eventually(`no ${where}`, async () => (await page.locator(where).count()) === 0);
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

export async function live(world) {
  const server = await world.server().start();
  const opened = async (body, to = server) => {
    const { context, page } = await signedIn(world, to);
    await context.addInitScript(() => localStorage.setItem("everloop:loop", "react"));
    try { await body(page, context, to); clean(page); } finally { await context.close(); }
  };
  const flow = (name, body) => world.test(name, () => opened(body));
  // A flow that kills its server has one of its own.
  const alone = (name, body) => world.test(name, async () => {
    const own = await world.server().start();
    try { await opened(async (page, context) => { page.quiet = true; await body(page, own, context); }, own); } finally { await own.end(); }
  });
  try {
    await flow("blocks of a reply are rendered while the rest is written", blocks);
    await flow("a block ends where another one begins, and never within a list or a fence", borders);
    await flow("a card that was answered leaves one line that says what was answered", answered);
    await flow("while a run works the composer queues, stops and steers", busy);
    await flow("a slash completes commands", slash);
    await flow("pictures that were sent and files that were written are in the thread", files);
    await flow("what another conversation asks is answered beside this one", elsewhere);
    await flow("a screen reader hears the question, a failure and an ending", tells);
    await flow("a list that is read waits with its new rows", held);
    await flow("a paused run counts what came in", paused);
    await flow("a run links to the card of its question", linked);
    await flow("a message that was handled before the connection broke is sent once", once);
    await flow("a form that was handled before the connection broke is carried out once", formOnce);
    await flow("a message answers no question that its page did not show", unseen);
    await flow("a queued message that was handled before the connection broke is queued once", queuedOnce);
    await alone("what is written while the server is away stands in the thread, and is sent once", away);
    await alone("what the server refuses after it was away comes back into the composer", refusedLater);
    await alone("a card that was answered while the server was away says that it is not sent yet", cardAway);
    await world.test("signing in leads back to the whole address, and the token opens pages, too", () => signIn(world, server));
  } finally { await server.end(); }
}

async function begin(page, server, goal) {
  await page.goto(`${server.url}/chat`);
  await page.fill("#say", goal);
  await page.press("#say", "Enter");
  await page.waitForURL(/\/chat\/conv_/);
}

const conversationOf = (page) => new URL(page.url()).pathname.split("/")[2];

async function blocks(page, _, server) {
  await begin(page, server, "blocks");
  await eventually("a rendered block above plain words", () => page.evaluate(() => {
    const place = document.querySelector("#stream-place"), tail = document.querySelector("#stream .tail");
    return !place.hidden && place.querySelector("strong, li") && tail?.textContent.length > 0;
  }));
  await eventually("coloured code while it is written", () => page.evaluate(() => !document.querySelector("#stream-place").hidden && document.querySelector("#stream .code .k")?.textContent === "fn"));
  const doubled = await page.evaluate(() => document.querySelector("#stream").textContent.split("Reading is done").length - 1 > 6);
  check(!doubled, "a block is there twice");
  await eventually("the whole answer", async () => (await page.locator("#thread .prose strong").count()) === 6);
  await eventually("no stream", () => page.locator("#stream-place").isHidden());
}

async function borders(page, _, server) {
  await page.goto(`${server.url}/chat`);
  const parts = await page.evaluate(async () => {
    const url = document.querySelector("script[type=module]").src.replace("chat.js", "stream.js");
    const { wholeUntil } = await import(url);
    return ["One", "One\n\n", "One\n\nTwo", "- a\n\n- b\n\nThen", "- a\n\n- b\n\n", "```\na\n\nb\n", "```\na\n\nb\n```\n", "Say\n\n- a\n", "````\n```\n````\nx"].map((text) => text.slice(0, wholeUntil(text, 0)));
  });
  const wanted = ["", "", "One\n\n", "- a\n\n- b\n\n", "", "", "```\na\n\nb\n```\n", "Say\n\n", "````\n```\n````\n"];
  check(JSON.stringify(parts) === JSON.stringify(wanted), JSON.stringify(parts));
}

async function answered(page, _, server) {
  await begin(page, server, "shell");
  await page.locator("#thread form.ask").waitFor();
  await page.locator("#thread form.ask button[value=accept]").click();
  await seen(page, "you allowed it once");
  check((await page.locator(".answered").count()) === 1, "one line");
  check(/\d\d:\d\d/.test(await page.locator(".answered").innerText()), "the line says when");
  check(/^#\d+$/.test(await page.locator(".ev:has(.answered) .seq a").innerText()), "the line leads to its event");
  check((await page.locator(".said").count()) === 1, "the answer is there as a message, too");
  await begin(page, server, "ask me");
  await page.fill("#thread form.ask textarea[name=text]", "green");
  await page.click("#thread form.ask button.ink");
  await seen(page, "you answered “green”");
  await begin(page, server, "ask again");
  await page.locator("#thread form.ask").focus();
  await page.keyboard.press("i");
  await seen(page, "you answered “No answer; decide yourself”");
}

async function busy(page, _, server) {
  await page.goto(`${server.url}/chat`);
  check((await page.locator("#send").innerText()).trim() === "Send", "the label of a free composer");
  await begin(page, server, "two steps");
  await eventually("a composer that queues", async () => (await page.locator("#send").innerText()).trim() === "Queue");
  await eventually("another hint", async () => (await page.getAttribute("#say", "placeholder")).startsWith("Sent when the run has ended"));
  const run = await page.getAttribute("[data-run]", "data-run");
  await page.fill("#say", "! use blue");
  await page.press("#say", "Enter");
  const told = async () => JSON.stringify(await server.api(`/v1/runs/${run}/story`)).includes("use blue");
  await eventually("the run is told", told);
  check((await page.locator("#queue .queue").count()) === 0, "the word is queued");
  await begin(page, server, "slow");
  await eventually("words", async () => (await page.locator("#stream").innerText()).length > 10);
  await page.locator("#composer-acts button[formaction$=cancel]").click();
  await eventually("a composer that sends", async () => (await page.locator("#send").innerText()).trim() === "Send");
  await seen(page, "stopped here");
}

async function slash(page, _, server) {
  await page.goto(`${server.url}/chat`);
  await page.focus("#say");
  await page.keyboard.type("/tod");
  await page.locator("#slash [role=option]").first().waitFor();
  check((await page.locator("#slash").innerText()).includes("/todo"), "the command");
  check(await page.evaluate(() => document.getElementById(document.querySelector("#say").getAttribute("aria-activedescendant"))?.getAttribute("aria-selected") === "true"), "no option is marked");
  await page.keyboard.press("Enter");
  check((await page.inputValue("#say")) === "/todo ", await page.inputValue("#say"));
  check(await page.locator("#slash").isHidden(), "the list is still there");
  await page.keyboard.type("add buy brushes");
  await page.keyboard.press("Enter");
  await eventually("the todo", async () => JSON.stringify(await server.api("/v1/todos")).includes("buy brushes"));
}

async function files(page, _, server) {
  await page.goto(`${server.url}/chat`);
  await page.setInputFiles("#files", [{ name: "dot.png", mimeType: "image/png", buffer: PNG }]);
  await page.fill("#say", "with a picture");
  await page.press("#say", "Enter");
  await page.waitForURL(/\/chat\/conv_/);
  await eventually("the picture", () => page.evaluate(() => document.querySelector(".said .sent-files img")?.naturalWidth === 1));
  await begin(page, server, "write more");
  await seen(page, "More is written.");
  await page.locator(".sent-files a", { hasText: "more.md" }).click();
  await page.waitForURL(/\/files\?name=more\.md$/);
  check((await page.locator("#main").innerText()).includes("more"), "the file");
}

async function elsewhere(page, _, server) {
  const there = await server.conversation("Somewhere else");
  const run = await server.say(there, "ask me");
  await server.until(run, ["waiting"]);
  await page.goto(`${server.url}/chat/${await server.conversation("Here")}`);
  const card = page.locator(`#panel form.ask[data-ask^="${run}"]`);
  await card.waitFor();
  await card.locator("textarea[name=text]").fill("grey");
  await card.locator("button[value=respond]").click();
  await server.until(run, ["succeeded"]);
  await eventually("no card", async () => (await card.count()) === 0);
}

async function tells(page, _, server) {
  await page.addInitScript(() => {
    globalThis.heard = [];
    document.addEventListener("DOMContentLoaded", () => new MutationObserver(() => globalThis.heard.push(document.querySelector("#announce").textContent)).observe(document.querySelector("#announce"), { childList: true, characterData: true, subtree: true }));
  });
  const told = (text) => eventually(`“${text}” is announced`, async () => (await page.evaluate(() => globalThis.heard)).includes(text));
  await begin(page, server, "ask later");
  await told("A run needs you: Which colour shall it be?");
  await page.fill("#thread form.ask textarea[name=text]", "green");
  await page.click("#thread form.ask button.ink");
  await seen(page, "It is painted as you said.");
  check(!(await page.evaluate(() => globalThis.heard)).includes("Answered elsewhere"), "an answer of this page is told as one of another");
  await page.goto(`${server.url}/chat`);
  await page.fill("#say", "fail later");
  await page.press("#say", "Enter");
  await told("read_file failed");
  await page.goto(`${server.url}/chat`);
  await page.fill("#say", "slow");
  await page.press("#say", "Enter");
  await page.waitForURL(/\/chat\/conv_/);
  await page.locator("#composer-acts button[formaction$=cancel]").click();
  await told("Canceled: slow");
}

async function held(page, _, server) {
  const ask = async (name) => { const run = await server.say(await server.conversation(name), "ask me"); await server.until(run, ["waiting"]); };
  await ask("Read at leisure");
  await page.goto(`${server.url}/inbox`);
  const first = page.locator("#inbox .item").first(), was = await first.innerText();
  await first.hover();
  await ask("A newer one");
  await eventually("a button", async () => (await page.locator("#held-inbox").innerText()).match(/^\d new$/));
  check((await first.innerText()) === was, "the rows moved");
  await page.click("#held-inbox");
  await eventually("the new row", async () => (await page.locator("#inbox").innerText()).includes("A newer one"));
  await gone(page, "#held-inbox");
}

async function paused(page, _, server) {
  const run = await server.say(await server.conversation("Paused"), "ask me");
  await server.until(run, ["waiting"]);
  await page.goto(`${server.url}/runs/${run}`);
  await page.click("[data-pause]");
  const asked = (await server.api("/v1/interrupts")).data.find((one) => one.run_id === run);
  await server.api(`/v1/interrupts/${asked.id}/answer`, { action: "respond", text: "red" });
  await server.until(run, ["succeeded"]);
  await eventually("a count", async () => /Paused · [1-9]/.test(await page.locator("[data-pause]").innerText()));
  check((await page.locator("#run-head .st").first().getAttribute("data-s")) === "waiting", "the view changed");
  await page.click("[data-pause]");
  await eventually("the end", async () => (await page.locator("#run-head .st").first().getAttribute("data-s")) === "succeeded");
}

async function linked(page, _, server) {
  const run = await server.say(await server.conversation("Linked"), "ask me");
  await server.until(run, ["waiting"]);
  await page.goto(`${server.url}/runs/${run}`);
  await page.click(".head-do a.btn.ink");
  await page.waitForURL(/#card-/);
  check(await page.evaluate(() => document.getElementById(decodeURIComponent(location.hash.slice(1)))?.matches("form.ask")), page.url());
}

// The server does what it is asked for, and the answer is lost.
const losesAnswer = (page) => page.route("**/send", async (route) => { await route.fetch(); await route.abort(); }, { times: 1 });
const goals = async (server, text) => (await server.api("/v1/runs?limit=200")).data.filter((run) => run.goal.startsWith(text)).length;

async function once(page, _, server) {
  page.quiet = true;
  await losesAnswer(page);
  await page.goto(`${server.url}/chat`);
  await page.fill("#say", "only one of these");
  await page.press("#say", "Enter");
  await page.waitForURL(/\/chat\/conv_/);
  await seen(page, "It is done.");
  check((await goals(server, "only one of these")) === 1, "it was sent twice");
  const all = (await server.api("/v1/conversations?limit=200")).data;
  check(all.filter((one) => JSON.stringify(one).includes("only one of these")).length === 1, "two conversations");
  check((await page.locator(".said").count()) === 1, "the message is there twice");
}

async function formOnce(page, _, server) {
  page.quiet = true;
  await page.route("**/do/agenda/add", async (route) => { await route.fetch(); await route.abort(); }, { times: 1 });
  await page.goto(`${server.url}/agenda`);
  await page.fill("#quick-text", "fetch the parcel");
  await page.press("#quick-text", "Enter");
  await eventually("the todo", async () => (await page.locator(".todo", { hasText: "fetch the parcel" }).count()) > 0);
  await eventually("that it was sent again", async () => (await page.locator(".unsent").count()) === 0);
  const todos = JSON.stringify(await server.api("/v1/todos"));
  check(todos.split("fetch the parcel").length === 2, todos);
}

// The question opens between the page and the message: the page is not refreshed meanwhile.
async function unseen(page, _, server) {
  const conversation = await server.conversation("Unseen");
  await page.goto(`${server.url}/chat/${conversation}`);
  await page.evaluate(() => { document.querySelector("#composer-acts").removeAttribute("data-live"); });
  const run = await server.say(conversation, "ask me");
  await server.until(run, ["waiting"]);
  await page.fill("#say", "and then this, not an answer");
  await page.press("#say", "Enter");
  await eventually("a queued message", async () => (await page.locator("#queue .queue").count()) === 1);
  check((await server.api(`/v1/runs/${run}`)).status === "waiting", "it answered a question that was not shown");
  await page.reload();
  await page.fill("#say", "blue");
  await page.press("#say", "Enter");
  await eventually("the answer", async () => (await server.api(`/v1/runs/${run}`)).status === "succeeded");
}

async function queuedOnce(page, _, server) {
  page.quiet = true;
  await begin(page, server, "blocks");
  await losesAnswer(page);
  await page.fill("#say", "and then this, lost");
  await page.press("#say", "Enter");
  await eventually("not sent yet", async () => (await page.locator(".said.unsent").count()) === 1);
  await gone(page, ".said.unsent");
  check((await page.locator("#queue .queue").count()) === 1, "it is not queued once");
  await eventually("it is sent", async () => (await page.locator(".said", { hasText: "and then this, lost" }).count()) === 1);
  await seen(page, "It is done.");
  check((await goals(server, "and then this, lost")) === 1, "it was sent twice");
}

async function away(page, server) {
  await begin(page, server, "first");
  await seen(page, "It is done.");
  await server.kill();
  await eventually("the banner", async () => (await page.locator("#banner .banner").count()) === 1);
  await page.fill("#say", "and then this, one");
  await page.press("#say", "Enter");
  await eventually("it stands in the thread", async () => (await page.locator(".said.unsent").count()) === 1);
  check((await page.locator(".said.unsent").innerText()).includes("not sent yet"), "its words");
  check(await page.locator("#unsent").isVisible(), "the composer says so");
  await page.fill("#say", "and then this, two");
  await page.press("#say", "Enter");
  await eventually("both stand there", async () => (await page.locator(".said.unsent").count()) === 2);
  await page.fill("#say", "half a thought");
  await server.restart();
  await gone(page, ".said.unsent");
  await eventually("no mark", () => page.locator("#unsent").isHidden());
  check((await page.locator("#sent-note").innerText()) === "", "the note is still there");
  for (const text of ["and then this, one", "and then this, two"]) {
    await eventually(text, async () => (await page.locator("#thread .said", { hasText: text }).count()) === 1);
    check((await goals(server, text)) === 1, `${text}: sent twice`);
  }
  check((await page.inputValue("#say")) === "half a thought", "the draft is gone");
  await page.reload();
  check((await page.inputValue("#say")) === "half a thought", "the draft was not kept");
  check((await page.locator(".said.unsent").count()) === 0, "it is sent again");
}

async function refusedLater(page, server) {
  await begin(page, server, "first");
  await seen(page, "It is done.");
  await server.kill();
  await eventually("the banner", async () => (await page.locator("#banner .banner").count()) === 1);
  await page.setInputFiles("#files", [{ name: "a.bin", mimeType: "application/octet-stream", buffer: Buffer.from([0, 1, 2, 255]) }]);
  await page.fill("#say", "too much");
  await page.press("#say", "Enter");
  await eventually("it stands in the thread", async () => (await page.locator(".said.unsent").innerText()).includes("a.bin"));
  await page.fill("#say", "newer words");
  await server.restart();
  await gone(page, ".said.unsent");
  await eventually("the words are back", async () => (await page.inputValue("#say")) === "too much\n\nnewer words");
  check((await page.locator("#files-chosen li").count()) === 1, "the file is gone");
}

async function cardAway(page, server) {
  await begin(page, server, "ask me");
  await page.locator("#thread form.ask").waitFor();
  await server.kill();
  await eventually("the banner", async () => (await page.locator("#banner .banner").count()) === 1);
  await page.fill("#thread form.ask textarea[name=text]", "red");
  await page.click("#thread form.ask button.ink");
  await eventually("its words", async () => (await page.locator("#thread form.ask .not-sent").innerText()) === "not sent yet");
  await server.restart();
  await seen(page, "you answered “red”");
  await gone(page, "#thread form.ask");
  await gone(page, ".not-sent");
}

async function signIn(world, server) {
  const run = (await server.api("/v1/runs")).data[0].id;
  const context = await world.browser.newContext();
  const page = await watched(context, server);
  await page.goto(`${server.url}/runs/${run}?at=2&show=all`);
  check(page.url().includes("/signin"), page.url());
  await page.fill("#token", TOKEN);
  await page.click("button.ink");
  await page.waitForURL((u) => u.pathname === `/runs/${run}`);
  check(page.url().endsWith("?at=2&show=all"), page.url());
  await context.close();
  const opened = await fetch(`${server.url}/inbox`, { headers: { authorization: `Bearer ${TOKEN}`, accept: "text/html" } });
  check(opened.status === 200 && (await opened.text()).includes("<h1"), `the token opens no page: ${opened.status}`);
}
