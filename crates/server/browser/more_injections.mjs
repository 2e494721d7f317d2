// The same attempts, through doors that others stand at: webhooks, servers of tools, skills, plans, proposals, files.
import { createHmac, randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { Server } from "./server.mjs";
import { signedIn, check, eventually } from "./page.mjs";
import { ATTEMPTS, harmless, watching } from "./injections.mjs";

const MCP = fileURLToPath(new URL("hostile_server.mjs", import.meta.url));
const SECRET = randomBytes(24).toString("base64");
const SOME = ATTEMPTS.slice(0, 8);
const calls = (tool, args) => ({ calls: [{ tool, args }] });
const json = (value) => ({ text: JSON.stringify(value) });
// A plan that is changed after its first step.
const INSTEAD = SOME.map((task, n) => (n ? `${task} instead` : task));
const stepDone = (n) => json({ status: "done", current_step: INSTEAD[n], response: SOME[1] });
const replanned = (n) => json({ status: "replanned", plan: INSTEAD.map((task, k) => ({ task, completed: k < n })) });

const others = [
  { goal: "propose", replies: [...SOME.map((text) => calls("memory_propose", { text: `The customer is called ${text}` })), { text: "ok" }] },
  { goal: "plan again", replies: [json({ status: "planned", plan: SOME }), json({ status: "continue", current_step: SOME[0], next_action: { tool: "list_dir", input: { path: "." } } }), stepDone(0),
    ...INSTEAD.slice(1).flatMap((_, n) => [replanned(n + 1), stepDone(n + 1)]), json({ status: "done", response: SOME[2] }), { text: "ok" }] },
  ...SOME.map((text, n) => ({ goal: `command ${n}`, replies: [calls("shell", { command: `echo ${text}` }), { text: "ok" }] })),
  { goal: "lent tool", replies: [calls("odd__ask", { text: SOME[1] }), { text: "ok" }] },
];

export async function moreInjections(world) {
  const server = new Server(world.program, { replies: [{ text: "ok" }], others });
  prepare(server);
  await server.start();
  const { context, page } = await signedIn(world, server);
  const it = { server, page, safe: watching(page, server), tried: 0 };
  try {
    await world.test("no attempt gets through a signed webhook", () => webhooks(it));
    await world.test("no attempt gets through a server of tools: names, descriptions, results, its calls", () => lentTools(it));
    await world.test("no attempt gets through a skill", () => skills(it));
    await world.test("no attempt gets through plans that change and facts that are proposed", () => plans(it));
    await world.test("no attempt gets through a command that is to be allowed, now or always, nor through the audit", () => commands(it));
    await world.test("no attempt gets through tags and names of files that are sent", () => files(it));
    await world.test("no attempt gets through the palette and what pops up", () => palette(it));
    world.figures["injection attempts through others' doors, none through"] = it.tried;
  } finally { await context.close(); await server.end(); }
}

function prepare(server) {
  const secret = join(server.home, "secret"), told = join(server.home, "tools.json");
  writeFileSync(secret, `whsec_${SECRET}`, { mode: 0o600 });
  writeFileSync(told, JSON.stringify([{ name: "ask", description: SOME[0] }, ...SOME.map((text, n) => ({ name: `tool${n}`, description: text })), { name: `x"><img src=x onerror=alert(1)>`, description: "odd" }]));
  server.settings(`[channels.ops]\nsecret = "file:${secret}"\nurl = "http://127.0.0.1:9/hook"\nworkspace = ${JSON.stringify(server.folder)}\n`
    + `[mcp.servers.odd]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([MCP, told, SOME[1]])}\n`);
  SOME.forEach((text, n) => {
    const folder = join(server.folder, ".agents", "skills", `skill-${n}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "SKILL.md"), `---\nname: skill-${n}\ndescription: ${JSON.stringify(text)}\n---\n${text}\n`);
  });
  const odd = join(server.folder, ".agents", "skills", "odd <img src=x onerror=alert(1)>");
  mkdirSync(odd, { recursive: true });
  writeFileSync(join(odd, "SKILL.md"), `---\nname: ${JSON.stringify(SOME[1])}\ndescription: 1\n---\n`);
}

async function post(server, id, data) {
  const body = JSON.stringify({ type: "message", data }), stamp = String(Math.floor(Date.now() / 1000));
  const signed = createHmac("sha256", Buffer.from(SECRET, "base64")).update(`${id}.${stamp}.${body}`).digest("base64");
  const answer = await fetch(`${server.url}/hooks/ops`, { method: "POST", body,
    headers: { "content-type": "application/json", "webhook-id": id, "webhook-timestamp": stamp, "webhook-signature": `v1,${signed}` } });
  return { status: answer.status, ...(await answer.json()) };
}

async function webhooks(it) {
  const { server, safe } = it;
  const unsigned = await fetch(`${server.url}/hooks/ops`, { method: "POST", body: "{}", headers: { "content-type": "application/json" } });
  check(unsigned.status >= 400, "a request without a signature was taken");
  for (const [n, text] of ATTEMPTS.entries()) {
    const said = await post(server, `msg_${n}`, { thread: `thread ${n} ${text}`, text });
    check(said.status === 202, `${said.status} ${JSON.stringify(said)}`);
    it.tried += 2;
    if (n >= 10) continue;
    await safe(`/chat/${said.conversation_id}`);
    if (said.run_id && n < 4) await safe(`/runs/${said.run_id}`);
  }
  for (const path of ["/inbox", "/runs", "/conversations", "/health"]) await safe(path);
}

async function lentTools(it) {
  const { server, page, safe } = it;
  await page.goto(`${server.url}/settings?section=mcp`);
  await page.locator('form[action="/do/mcp/odd/look"] button').click();
  await eventually("its tools", async () => (await page.locator("#mcp-odd .mcp-tools li").count()) >= SOME.length);
  await harmless(page, "tools that are offered");
  check((await page.locator("#mcp-odd").innerText()).includes(SOME[1]), "its description is not shown as text");
  await page.locator('form[action="/do/mcp/odd/approve"] button').click();
  await eventually("approved", async () => (await page.locator('#mcp-odd [data-s="succeeded"]').count()) === 1);
  const id = await server.conversation(), run = await server.say(id, "lent tool");
  await server.until(run, ["waiting"]);
  await safe(`/chat/${id}`);
  await page.locator("#thread form.ask details summary").first().click();
  await harmless(page, "the call of a lent tool");
  await page.click("#thread form.ask button.ink");
  await server.until(run, ["succeeded", "failed"]);
  for (const path of ["/settings?section=mcp", "/settings?section=tools", `/chat/${id}`, `/runs/${run}`, `/runs/${run}/activity`, "/health?doctor=1"]) await safe(path);
  it.tried += SOME.length + 4;
}

async function skills(it) {
  await it.safe("/settings?section=skills");
  const said = await it.page.locator("#set-main").innerText();
  check(SOME.every((text) => said.includes(text)), "a description is not shown as text");
  it.tried += SOME.length + 1;
}

async function plans(it) {
  const { server, safe } = it;
  const id = await server.conversation(), run = await server.say(id, "plan again", "plan-replan");
  await server.until(run, ["succeeded", "failed"]);
  for (const path of [`/chat/${id}`, `/runs/${run}`, `/runs/${run}?step=4`, `/runs/${run}?at=6`, `/runs/${run}/activity`]) await safe(path);
  await it.page.goto(`${server.url}/chat/${id}`);
  check((await it.page.content()).includes("instead"), "the changed plan is not shown");
  await server.until(await server.say(await server.conversation(), "propose"), ["succeeded", "failed"]);
  await safe("/memory");
  const said = await it.page.locator("#main").innerText();
  check(SOME.some((text) => said.includes(text)), "no proposal is shown as text");
  await it.page.locator('form[action^="/do/memory/"] button').first().click();
  await safe("/memory?show=everywhere");
  await safe("/inbox");
  it.tried += 2 * SOME.length;
}

async function commands(it) {
  const { server, page, safe } = it;
  for (let n = 0; n < SOME.length; n++) {
    const id = await server.conversation(), run = await server.say(id, `command ${n}`);
    await server.until(run, ["waiting"]);
    await safe(`/chat/${id}`);
    for (const d of await page.locator("#thread form.ask details").all()) await d.evaluate((e) => (e.open = true));
    check((await page.locator("#thread form.ask").innerText()).includes(SOME[n]), "the command is not shown as text");
    await harmless(page, "what a command may do");
    const always = page.locator('#thread form.ask button[value^="always"]').first();
    await (n < 3 && (await always.count()) ? always : page.locator('#thread form.ask button[value="decline"]').first()).click();
    await server.until(run, ["succeeded", "failed"]);
    it.tried += 2;
  }
  for (const path of ["/inbox", "/settings?section=approvals", "/settings?section=audit", "/settings?section=audit&tool=shell"]) await safe(path);
}

async function files(it) {
  const { server, page, safe } = it;
  for (const text of SOME) {
    await server.api("/v1/todos", { text: "buy paint", tags: [text] }).catch((error) => check(/: 4\d\d /.test(error.message), error.message));
    await server.api("/v1/todos", { text: `buy paint #${text}` }).catch((error) => check(/: 4\d\d /.test(error.message), error.message));
  }
  await safe("/agenda");
  await page.locator(".todo a.t").first().click();
  await harmless(page, "a todo with tags");
  const id = await server.conversation();
  await page.goto(`${server.url}/chat/${id}`);
  const names = SOME.map((text, n) => `${n}${text.replaceAll("/", "")}.txt`);
  await page.setInputFiles("#files", names.map((name) => ({ name, mimeType: "text/plain", buffer: Buffer.from(SOME[0]) })));
  check((await page.locator("#files-chosen li").count()) === names.length, "chips");
  await harmless(page, "files that are chosen");
  await page.fill("#say", "look at these");
  await page.press("#say", "Enter");
  await eventually("a message", async () => (await page.locator(".said").count()) === 1);
  await safe(`/chat/${id}`);
  await page.setInputFiles("#files", [{ name: `${SOME[1]}.bin`, mimeType: "application/octet-stream", buffer: Buffer.from([0, 1, 2, 255]) }]);
  await page.fill("#say", "and this");
  await page.press("#say", "Enter");
  page.quiet = true;
  await eventually("a refusal", async () => (await page.locator("#toasts").innerText()).includes("onerror"));
  page.quiet = false;
  page.faults = page.faults.filter((f) => !/ 4\d\d /.test(f));
  await harmless(page, "a refusal with the name of a file");
  it.tried += 3 * SOME.length + 1;
}

async function palette(it) {
  const { server, page } = it;
  for (const text of ATTEMPTS) await server.conversation(`found ${text}`);
  await page.goto(`${server.url}/inbox`);
  for (const text of ATTEMPTS) {
    await page.keyboard.press("Control+k");
    await page.locator("#palette input").fill(`found ${text}`);
    await eventually(`found ${text}`, async () => (await page.locator("#pal-list .pal, #pal-list .pal-h").count()) > 0);
    await harmless(page, `the palette with ${text}`);
    await page.keyboard.press("Escape");
    it.tried++;
  }
  await page.keyboard.press("Control+k");
  await page.locator("#palette input").fill("found");
  await eventually("titles", async () => (await page.locator("#pal-list").innerText()).includes("<"));
  await harmless(page, "the palette with titles");
}
