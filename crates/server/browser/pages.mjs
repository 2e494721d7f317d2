// Every page, in every form; signing in; without scripts.
import { signedIn, check, eventually } from "./page.mjs";
import { looks } from "./forms.mjs";

export async function seed(server) {
  const one = await server.conversation("Overdue supplier invoices");
  await server.until(await server.say(one, "list", "tool-driven"), ["succeeded"]);
  await server.conversation("A title that is much longer than the side bar is wide, even where it is widest");
  const two = await server.conversation("Paint the fence");
  await server.until(await server.say(two, "ask me"), ["waiting"]);
  const three = await server.conversation("Keep a note");
  await server.until(await server.say(three, "shell"), ["waiting"]);
  await server.api("/v1/todos", { text: "tomorrow 3pm send the weekly report" });
  await server.api("/v1/todos", { text: "buy paint", tags: ["home"], priority: "1" });
  await server.api("/v1/schedules", { text: "every monday 9am team meeting" });
  await server.api("/v1/memory/facts", { text: "Invoices go out in the supplier's language" });
  const runs = (await server.api("/v1/runs")).data;
  return { one, two, three, run: runs.find((r) => r.goal === "list").id, asking: runs.find((r) => r.goal === "ask me").id };
}

export async function pages(world) {
  const server = await world.server().start();
  try {
    const all = await everyPage(server);
    await looks(world, server, all);
    await world.test("the sign-in page opens with the token and with nothing else", () => signIn(world, server));
    await world.test("the one-time link opens once", () => oneTime(world, server));
    await world.test("without scripts every page can be read and a message can be sent", () => noScript(world, server, all));
    await world.test("page, style and scripts together stay under 150 kB", () => realSizes(world, server, all));
  } finally { await server.end(); }
}

// A path of every page that the seed fills.
export async function everyPage(server) {
  const made = await seed(server);
  return { chat: `/chat/${made.one}`, question: `/chat/${made.two}`, approval: `/chat/${made.three}`, begin: "/chat", inbox: "/inbox",
      runs: "/runs", files: `/runs/${made.run}/files`, compare: "/compare", reports: "/reports", run: `/runs/${made.run}`, step: `/runs/${made.run}?step=4`, agenda: "/agenda", memory: "/memory", settings: "/settings",
      section: "/settings?section=model", health: "/health", first: "/first", search: "/search?q=list", conversations: "/conversations", archive: "/conversations?archived=yes", missing: "/no-such-page" };
}

async function signIn(world, server) {
  const context = await world.browser.newContext();
  const page = await context.newPage();
  await page.goto(`${server.url}/inbox`);
  check(page.url().includes("/signin"), page.url());
  await page.fill("#token", "wrong-token-0123456789");
  await page.click("button.ink");
  await page.locator("#wrong").waitFor();
  await page.fill("#token", "browser-test-token-0123456789");
  await page.click("button.ink");
  await page.waitForURL(/\/inbox$/);
  const cookie = (await context.cookies()).find((c) => c.httpOnly);
  check(cookie.sameSite === "Strict", cookie.sameSite);
  const forged = await page.evaluate(() => fetch("/v1/conversations", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" }).then((r) => r.status));
  check(forged === 403, `a request without the token of the page got ${forged}`);
  const form = await page.evaluate(() => fetch("/do/inbox/read", { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded" }, body: "back=/" }).then((r) => r.status));
  check(form === 403, `a form without its token got ${form}`);
  await context.close();
}

async function oneTime(world, server) {
  const context = await world.browser.newContext();
  const page = await context.newPage();
  await page.goto(server.link);
  check((await page.title()).length > 0 && !(await context.cookies()).some((c) => c.httpOnly), "a used link opened a session");
  await context.close();
}

async function noScript(world, server, all) {
  const { context, page } = await signedIn(world, server, { javaScriptEnabled: false });
  for (const [name, path] of Object.entries(all)) {
    await page.goto(server.url + path);
    check((await page.locator("h1").count()) === 1, `${name} has no heading`);
  }
  await page.goto(server.url + all.chat);
  check((await page.content()).includes("3,120.00"), "the table of the answer is not there");
  await page.goto(`${server.url}/chat`);
  await page.selectOption("#loop", "react");
  await page.fill("#say", "without scripts");
  await page.click("#send");
  await page.waitForURL(/\/chat\/conv_/);
  await eventually("the answer", async () => { await page.reload(); return (await page.content()).includes("It is done."); });
  await context.close();
}

// What a first visit of a page loads: HTML, style and scripts, without compression.
export async function sizes(world, server, all) {
  for (const [name, path] of Object.entries(all)) {
    const { context, page } = await signedIn(world, server);
    const bodies = [], scripts = [];
    page.on("response", (r) => { const body = r.body().catch(() => ""); bodies.push(body); if (r.url().endsWith(".js")) scripts.push(body); });
    await page.goto(server.url + path, { waitUntil: "load" });
    const sum = async (all) => (await Promise.all(all)).reduce((sum, body) => sum + body.length, 0);
    const [bytes, code] = [await sum(bodies), await sum(scripts)];
    check(bodies.length >= 2, `${name}: ${bodies.length} answers`);
    world.figures[`bytes ${name}`] = `${bytes}, of them scripts ${code}`;
    check(bytes < 150_000, `${name}: ${bytes} bytes`);
    check(code < 30_000, `${name}: ${code} bytes of scripts`);
    await context.close();
  }
}

// A page of a conversation as it is after a day of work: as many messages as one page holds, with
// tables, code and a question that was answered.
async function worked(server) {
  const id = await server.conversation("A day of work");
  for (let n = 0; n < 12; n++) {
    const run = await server.say(id, n % 4 === 3 ? "day shell" : "day code");
    if ((await server.until(run, ["waiting", "succeeded"])).status === "succeeded") continue;
    const asked = (await server.api(`/v1/interrupts?conversation_id=${id}`)).data[0];
    await server.api(`/v1/interrupts/${asked.id}/answer`, { action: "accept" });
    await server.until(run, ["succeeded"]);
  }
  return `/chat/${id}`;
}

async function realSizes(world, server, all) {
  const sections = ["model", "approvals", "tools", "skills", "mcp", "audit", "persona", "schedule"];
  await sizes(world, server, { ...all, "chat, full": await worked(server), ...Object.fromEntries(sections.map((s) => [`settings ${s}`, `/settings?section=${s}`])) });
}
