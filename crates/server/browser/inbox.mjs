// The inbox: cancel, retry, read and unread, runs of a schedule, long groups; and what a browser tells a person who is away.
import { signedIn, clean, check, axe, eventually } from "./page.mjs";

const says = (text, more = {}) => ({ text, ...more });
const calls = (tool, args) => ({ calls: [{ tool, args }] });
const script = {
  replies: [says("It is done.")], closing: "It is done.",
  others: [
    { goal: "slow", replies: [says("slowly ".repeat(400), { chunk: 6, delay_ms: 60 })] },
    { goal: "broken", replies: [{ fail: ["refused"] }] },
    { goal: "ask me", replies: [calls("ask_user", { question: "Which colour shall it be?" }), says("It is painted as you said.")] },
  ],
};
const MANY = 53;
const text = (page, where) => page.locator(where).innerText();
const row = (page, title) => page.locator("#inbox .item", { hasText: title });

export async function inbox(world) {
  const server = await world.server(script).start();
  const flow = (name, body) => world.test(name, async () => {
    const { context, page } = await signedIn(world, server);
    try { await body(page, server, context, world); clean(page); } finally { await context.close(); }
  });
  try {
    await flow("a run is canceled from the inbox", cancels);
    await flow("a run that failed is tried again from the inbox", retries);
    await flow("a conversation is marked as read by a key, and that is taken back", reads);
    await flow("all conversations are marked as read at once", readsAll);
    await flow("runs of a schedule are folded, with their states in words", folds);
    await flow("a group of the inbox is longer than a page and leads on", leadsOn);
    await flow("who is away hears once, over all tabs, what needs them and what has ended", notifies);
    await flow("notifications can be switched in the settings, too", switches);
  } finally { await server.end(); }
}

async function cancels(page, server) {
  const run = await server.say(await server.conversation("Slow work"), "slow");
  await page.goto(`${server.url}/inbox?part=running`);
  await row(page, "slow").locator('button[formaction$="/cancel"]').click();
  await server.until(run, ["canceled"]);
  await eventually("no row", async () => (await row(page, "slow").count()) === 0);
  check((await text(page, "#toasts")).length > 0, "nothing is told");
}

async function retries(page, server) {
  const run = await server.say(await server.conversation("Broken"), "broken");
  await server.until(run, ["failed"]);
  await page.goto(`${server.url}/inbox?part=failed`);
  check((await row(page, "broken").count()) === 1, "the failed run");
  await row(page, "broken").locator('button[formaction$="/retry"]').click();
  // The list is under the pointer: what is new waits behind a button.
  await page.click("#held-inbox");
  await eventually("a second run", async () => (await row(page, "broken").count()) === 2);
}

async function unread(server, title) {
  const id = await server.conversation(title);
  await server.until(await server.say(id, "and then this"), ["succeeded"]);
  return id;
}

async function reads(page, server) {
  await unread(server, "Read by key");
  await page.goto(`${server.url}/inbox?part=unread`);
  await row(page, "Read by key").locator("h3 a").focus();
  await page.keyboard.press("u");
  await eventually("it is read", async () => (await row(page, "Read by key").count()) === 0);
  await page.locator("#toasts button").click();
  await eventually("it is unread again", async () => (await row(page, "Read by key").count()) === 1);
}

async function readsAll(page, server) {
  await unread(server, "One of many");
  await unread(server, "Two of many");
  await page.goto(`${server.url}/inbox?part=unread`);
  check((await page.locator("#inbox .item").count()) >= 2, "two rows");
  await page.locator('form[action="/do/inbox/read"] button').click();
  await eventually("nothing unread", async () => (await page.locator("#inbox .item").count()) === 0);
}

async function folds(page, server, _, world) {
  const entry = await server.api("/v1/schedules", { text: "every day 8am Morning news", run: "and then this", loop: "react" });
  const id = entry.id ?? entry.entry?.id ?? entry.schedule?.id;
  await page.goto(`${server.url}/agenda?entry=${id}`);
  await page.locator('#detail form[action$="/run"] button').click();
  await eventually("its run", async () => (await page.locator('#detail a[href^="/runs/"]').count()) > 0);
  await page.goto(`${server.url}/inbox`);
  const fold = page.locator("#inbox .schedule", { hasText: "Morning news" });
  await eventually("the mark of a run that went well", async () => (await fold.locator('.strip a[data-s="succeeded"]').count()) === 1);
  check(/succeeded/.test(await fold.locator(".strip a").getAttribute("aria-label")), await fold.locator(".strip a").getAttribute("aria-label"));
  check((await page.locator("#inbox .item:not(.schedule)", { hasText: "and then this" }).count()) === 0, "its run is listed, too");
  await axe(world, page);
  await fold.locator(".strip a").click();
  await page.waitForURL(/\/runs\/run_/);
}

async function leadsOn(page, server) {
  const id = await server.conversation("Broken many times");
  const runs = [];
  for (let n = 0; n < MANY; n++) runs.push(await server.say(id, `broken ${n}`));
  for (const run of runs) await server.until(run, ["failed"]);
  await page.goto(`${server.url}/inbox?part=failed`);
  check((await page.locator("#inbox .item:not(.schedule)").count()) === 50, "a page has 50 rows");
  check((await text(page, "#inbox-parts")).includes("50+"), await text(page, "#inbox-parts"));
  const first = await page.locator("#inbox h3 a").evaluateAll((all) => all.map((one) => one.getAttribute("href")));
  await page.locator("#inbox .pager a").click();
  await page.waitForURL(/from=run_/);
  const rest = await page.locator("#inbox .item:not(.schedule) h3 a").evaluateAll((all) => all.map((one) => one.getAttribute("href")));
  check(rest.length >= MANY - 50 && rest.every((to) => !first.includes(to)), `${rest.length} on the second page`);
  check((await page.locator("#inbox .pager").count()) === 0, "it leads on for ever");
}

// A browser without a window has no notifications to show: what would be shown is written down.
const away = () => {
  globalThis.Notification = class {
    static permission = "granted";
    constructor(title, { body }) { const all = JSON.parse(localStorage.getItem("test:notes") ?? "[]"); localStorage.setItem("test:notes", JSON.stringify([...all, { title, body }])); }
  };
  document.hasFocus = () => false;
};

async function notifies(page, server, context) {
  await context.addInitScript(away);
  await page.goto(`${server.url}/agenda`);
  await page.evaluate(() => localStorage.setItem("everloop:notify", "on"));
  const other = await context.newPage();
  await other.goto(`${server.url}/memory`);
  const notes = () => page.evaluate(() => JSON.parse(localStorage.getItem("test:notes") ?? "[]"));
  const run = await server.say(await server.conversation("The fence"), "ask me");
  await eventually("the question", async () => (await notes()).some((note) => note.title === "The fence" && note.body.includes("Which colour shall it be?")));
  const [ask] = (await server.api("/v1/interrupts")).data.filter((one) => one.run_id === run);
  await server.api(`/v1/interrupts/${ask.id}/answer`, { action: "respond", text: "green" });
  await server.until(run, ["succeeded"]);
  await eventually("the end", async () => (await notes()).some((note) => note.title === "ask me" && note.body === "succeeded"));
  check((await notes()).length === 2, JSON.stringify(await notes()));
  await other.close();
}

async function switches(page, server, context) {
  await context.addInitScript(away);
  await page.goto(`${server.url}/settings?section=ui`);
  await page.locator("#notify-on").check();
  await page.goto(`${server.url}/inbox`);
  await page.locator("#notify summary").click();
  check(await page.locator("#notify-on").isChecked(), "the inbox does not know of it");
}
