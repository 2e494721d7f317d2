// Settings, the first visit and the audit: what is saved counts at once, what is refused says why.
import { signedIn, clean, check, eventually } from "./page.mjs";
import { readFileSync, writeFileSync, existsSync, statSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { provider, KEY } from "./provider.mjs";
import { Server } from "./server.mjs";
import { looks } from "./forms.mjs";

const text = (page, where) => page.locator(where).innerText();

export async function setup(world) {
  const server = await world.server().start();
  const flow = (name, body) => world.test(name, async () => {
    const { context, page } = await signedIn(world, server);
    try { await body(page, context, server); clean(page); } finally { await context.close(); }
  });
  try {
    await seed(server);
    const sections = ["approvals", "tools", "skills", "mcp", "audit", "persona", "schedule"].map((name) => [`settings-${name}`, `/settings?section=${name}`]);
    const all = { ...Object.fromEntries(sections), "agenda-day": "/agenda?cal=day", "agenda-month": "/agenda?cal=month", "agenda-todo": "/agenda?todo=1", "agenda-entry": "/agenda?entry=2",
      rehearsal: "/agenda?rehearse=1&from=2027-01-04&until=2027-01-08&down=&crashes=all", "memory-archived": "/memory?show=archived", "health-all": "/health?doctor=1", tour: "/tour" };
    await looks(world, server, all);
    await flow("a setting that is saved counts at once, and can be taken back", saves);
    await flow("a value that does not fit is kept in its field with the range", refuses);
    await flow("a switch acts at once and by the keyboard", switches);
    await flow("a change of the file itself counts within seconds", follows);
    await flow("the default model is tested from the page", tests);
    await flow("the audit is filtered and leads to the run", audits);
    await flow("an approval that stands is withdrawn", withdraws);
    await flow("a line is a todo first, with tags and priority, and can be an entry instead", reads);
    await flow("a todo is postponed, dragged to another hour, and moved by its field", moves);
    await flow("an entry that starts runs is made, run now, paused, and its rules are changed", starts);
    await flow("the schedule goes out as a calendar and comes back", exchanges);
    await flow("a rehearsal is drawn", rehearses);
    await flow("a fact says who was told it, and what deleting changes", remembers);
    await flow("the tour is played on the page, with a real kill", tours);
    await looks(world, server, { "tour played": "/tour" }, { each: async (page) => check((await page.locator("#tour section").count()) === 4, "no tour was played") });
  } finally { await server.end(); }
  await world.test("the first visit: a wrong key is refused, a right one is kept unseen, and the model is there without a restart", () => first(world));
}

// What these pages show: todos and entries of every kind, a fact that is not told any more.
async function seed(server) {
  await server.api("/v1/todos", { text: "tomorrow 3pm send the weekly report", tags: ["work"], priority: "high" });
  await server.api("/v1/schedules", { text: "every monday 9am team meeting" });
  await server.api("/v1/schedules", { text: "every day 8am Morning news", run: "Sum up the news", loop: "react", overlap: "skip" });
  await server.api("/v1/schedules", { text: "tomorrow 10am dentist", duration: "90m" });
  const fact = await server.api("/v1/memory/facts", { text: "The office is closed on Mondays" });
  await server.api("/v1/memory/facts", { text: "Reports are written in English" });
  await server.api(`/v1/memory/facts/${fact.fact_id}`, { status: "withdrawn" }, "PATCH");
}

const config = (server) => join(server.home, "home", "config.toml");
const configText = (server) => { try { return readFileSync(config(server), "utf8"); } catch { return ""; } };

async function saves(page, _, server) {
  await page.goto(`${server.url}/settings?section=loop`);
  await page.selectOption('[id="set-loop.default"]', "react");
  await page.locator('[id="row-loop.default"] button.btn.sm').first().click();
  await eventually("that it is saved", async () => (await text(page, "#set-main")).includes("applies from now on"));
  check(configText(server).includes('"react"'), configText(server));
  const made = await server.api("/v1/runs", { goal: "and then this" });
  check(made.loop === "react", `the new run has another loop: ${made.loop}`);
  await page.locator('[id="row-loop.default"] form[action$="/unset"] button').click();
  await eventually("the default", async () => (await page.locator('[id="set-loop.default"]').inputValue()) === "plan-replan");
}

async function refuses(page, _, server) {
  await page.goto(`${server.url}/settings?section=model`);
  const field = page.locator('[id="set-model.temperature"]');
  await field.fill("2.4");
  await page.locator('[id="row-model.temperature"] button.btn.sm').first().click();
  const row = page.locator('[id="row-model.temperature"]');
  await eventually("the range", async () => (await row.innerText()).includes("0..2"));
  check((await field.inputValue()) === "2.4", "what was typed is gone");
  check((await field.getAttribute("aria-invalid")) === "true", "the field is not marked");
  check(!configText(server).includes("2.4"), "it was written");
  await field.fill("0.4");
  await row.locator("button.btn.sm").first().click();
  await eventually("no complaint", async () => (await row.locator(".bad").count()) === 0);
  check(configText(server).includes("0.4"), "it was not written");
}

async function switches(page, _, server) {
  await page.goto(`${server.url}/settings?section=tools`);
  const one = page.locator('[id="row-tools.shell_network"] button[role=switch]');
  check((await one.getAttribute("aria-checked")) === "false", "it was on");
  await one.focus();
  await page.keyboard.press("Space");
  await eventually("on", async () => (await page.locator('[id="row-tools.shell_network"] button[role=switch]').getAttribute("aria-checked")) === "true");
}

async function follows(page, _, server) {
  await page.goto(`${server.url}/settings?section=chat`);
  writeFileSync(config(server), `${configText(server)}\n[budget]\nmodel_calls = 77\n`);
  await eventually("the value of the file", async () => {
    await page.goto(`${server.url}/settings?section=budget`);
    return (await page.locator('[id="set-budget.model_calls"]').inputValue()) === "77";
  });
}

async function tests(page, _, server) {
  await page.goto(`${server.url}/settings`);
  await page.locator('form[action="/do/settings/test"] button').first().click();
  await eventually("findings", async () => (await page.locator(".tests .st").count()) > 0);
}

async function audits(page, _, server) {
  const run = await server.say(await server.conversation(), "list", "tool-driven");
  await server.until(run, ["succeeded"]);
  await page.goto(`${server.url}/settings?section=audit`);
  const rows = page.locator("#set-main table tbody tr");
  const all = await rows.count();
  check(all >= 3, `${all} rows`);
  await page.selectOption("#audit-tool", "list_dir");
  await page.locator(".filter button").click();
  await page.waitForURL(/tool=list_dir/);
  check((await rows.count()) < all && (await rows.count()) >= 1, "the filter changes nothing");
  const file = page.locator("a[download]");
  check((await page.evaluate(async (url) => (await fetch(url)).text(), await file.getAttribute("href"))).includes("list_dir"), "the file has no calls");
  await rows.first().locator("a").click();
  await page.waitForURL(/\/runs\//);
}

async function withdraws(page, _, server) {
  await page.goto(`${server.url}/chat`);
  await page.evaluate(() => localStorage.setItem("everloop:loop", "react"));
  await page.fill("#say", "shell again");
  await page.selectOption("#loop", "react");
  await page.press("#say", "Enter");
  await page.locator("#thread form.ask").waitFor();
  await page.locator("#thread form.ask summary", { hasText: "Always allow" }).click();
  await page.locator('#thread form.ask button[value^="always"]').first().click();
  await eventually("done", async () => (await text(page, "#main")).includes("The command ran."));
  await page.goto(`${server.url}/settings?section=approvals`);
  const rows = page.locator('form[action^="/do/approvals/"]');
  check((await rows.count()) === 1, "no approval stands");
  await rows.locator("button").click();
  await eventually("none", async () => (await rows.count()) === 0);
}

async function first(world) {
  const models = await provider();
  const server = new Server(world.program, { replies: [] });
  const plain = server.env.bind(server);
  server.env = () => ({ ...plain(), EVERLOOP_MODEL: "", EVERLOOP_SETUP_PROBE: "" });
  await server.start();
  const { context, page } = await signedIn(world, server);
  page.quiet = true;
  try {
    await page.goto(`${server.url}/`);
    await page.waitForURL(/\/first$/);
    await page.selectOption("#provider", "custom");
    await page.fill("#url", models.url);
    await page.fill("#key", ["sk", "wrong", "0123456789abcdef0123456789"].join("-"));
    await page.locator('form[action="/do/first/model"] button').click();
    await eventually("why", async () => (await text(page, "#ways")).includes("Incorrect API key"));
    check((await page.inputValue("#url")) === models.url, "the address is gone");
    check(!configText(server).includes("model"), "something was saved");
    await page.fill("#key", KEY);
    await page.locator('form[action="/do/first/model"] button').click();
    await eventually("which model", async () => (await text(page, "#ways")).includes("small, large"));
    await page.fill("#model", "small");
    await page.fill("#key", KEY);
    await page.locator('form[action="/do/first/model"] button').click();
    await page.waitForURL(/\/(chat|settings)/);
    check(configText(server).includes("custom/small"), configText(server));
    check(!configText(server).includes(KEY), "the key is in the settings");
    const secrets = join(server.home, "home", "secrets");
    if (existsSync(secrets)) for (const name of readdirSync(secrets)) check((statSync(join(secrets, name)).mode & 0o077) === 0, `${name} can be read by others`);
    await page.goto(`${server.url}/`);
    check(page.url().endsWith("/chat"), `the first page is ${page.url()}`);
    await page.goto(`${server.url}/settings`);
    check((await text(page, "#set-main")).includes("custom/small"), "the model is not there");
    check(!(await page.content()).includes(KEY), "the page shows the key");
    await page.locator('form[action="/do/settings/test"] button').first().click();
    await eventually("a good test", async () => (await page.locator('.models [data-s="succeeded"]').count()) > 2);
    check(page.faults.length === 0, page.faults.join("\n"));
  } finally { await context.close(); await server.end(); await models.end(); }
}

async function reads(page, _, server) {
  await page.goto(`${server.url}/agenda`);
  await page.fill("#quick-text", "tomorrow 4pm file the invoice #money !high");
  await eventually("a todo", async () => (await page.locator("#parsed label.on").innerText()) === "To-do");
  const said = await text(page, "#parsed");
  check(said.includes("money") && said.includes("high") && /20\d\d-\d\d-\d\d \S+ 16:00/.test(said) && said.includes("Asia/Shanghai"), said);
  check((await page.locator("#parsed b").innerText()) === "file the invoice", said);
  await page.locator("#parsed label", { hasText: "Entry" }).click();
  await eventually("an entry", async () => (await page.locator("#parsed label.on").innerText()) === "Entry");
  await page.locator("#parsed label", { hasText: "To-do" }).click();
  await eventually("a todo again", async () => (await page.locator("#parsed label.on").innerText()) === "To-do");
  await page.press("#quick-text", "Enter");
  await eventually("the todo", async () => (await text(page, "#agenda-lists")).includes("file the invoice"));
  const saved = (await server.api("/v1/todos")).todos?.find((todo) => todo.text.includes("invoice"));
  check(!saved || (saved.tags.includes("money") && saved.priority === 1), JSON.stringify(saved));
  await page.fill("#quick-text", "明天下午三点 交周报 #工作 !高");
  await eventually("the Chinese line", async () => (await text(page, "#parsed")).includes("工作") && (await page.locator("#parsed b").innerText()) === "交周报");
  await page.fill("#quick-text", "");
}

async function moves(page, _, server) {
  await page.goto(`${server.url}/agenda?cal=week`);
  const row = page.locator(".todo", { hasText: "weekly report" });
  const was = await row.locator(".due").innerText();
  await row.locator("details.pop summary").click();
  await row.locator(".pop-body button", { hasText: "In a week" }).click();
  await eventually("another day", async () => (await page.locator(".todo", { hasText: "weekly report" }).locator(".due").innerText()) !== was);
  await page.locator(".todo", { hasText: "weekly report" }).locator("a.t").click();
  await page.waitForURL(/todo=/);
  await page.fill("#todo-due", "2027-03-03T09:15");
  await page.locator("#detail form button.btn").first().click();
  await eventually("the typed time", async () => (await text(page, "#agenda-lists")).includes("2027-03-03"));
  await page.goto(`${server.url}/agenda?cal=week&date=2027-03-03`);
  await page.locator(".cal .ce", { hasText: "weekly report" }).dragTo(page.locator('td[data-drop="2027-03-05 14:00"]'));
  await eventually("dragged", async () => (await text(page, "#agenda-lists")).includes("2027-03-05"));
  check((await page.locator('td[data-drop="2027-03-05 14:00"] .ce').innerText()).includes("14:15"), "the minutes are gone");
}

async function starts(page, _, server) {
  await page.goto(`${server.url}/agenda`);
  await page.locator("#new-run summary").click();
  await page.fill("#run-when", "every day 6am");
  await page.fill("#run-title", "Count the files");
  await page.fill("#run-goal", "and then this");
  await page.selectOption("#run-loop", "react");
  await page.locator("#new-run form button").click();
  await eventually("the entry", async () => (await text(page, "#agenda-lists")).includes("Count the files"));
  await page.locator(".sched a", { hasText: "Count the files" }).click();
  await page.waitForURL(/entry=/);
  check((await page.locator("#detail .next li").count()) === 5, "the next five");
  await page.selectOption("#catch_up", "skip");
  await page.selectOption("#overlap", "queue_one");
  await page.locator('#detail form[action$="/rules"] button').click();
  await eventually("the rules", async () => { await page.reload(); return (await page.inputValue("#overlap")) === "queue_one" && (await page.inputValue("#catch_up")) === "skip"; });
  await page.locator('#detail form[action$="/run"] button').click();
  await eventually("its run", async () => (await page.locator('#detail a[href^="/runs/"]').count()) > 0);
  await page.locator('#detail form[action$="/pause"] button').click();
  await eventually("paused", async () => (await page.locator('#detail form[action$="/resume"]').count()) === 1);
}

async function exchanges(page, _, server) {
  await page.goto(`${server.url}/agenda`);
  const file = await page.evaluate(async () => (await fetch("/agenda/export?what=schedule")).text());
  check(file.startsWith("BEGIN:VCALENDAR") && file.includes("dentist"), file.slice(0, 80));
  await page.locator("#files summary").click();
  await page.setInputFiles("#files input[type=file]", { name: "todo.txt", mimeType: "text/plain", buffer: Buffer.from("(A) Water the cactus +home\n") });
  await eventually("its text", async () => (await page.inputValue("#import")).includes("cactus"));
  await page.locator('form[action="/do/agenda/import"] button').click();
  await eventually("the todo", async () => (await text(page, "#agenda-lists")).includes("Water the cactus"));
}

async function rehearses(page, _, server) {
  await page.goto(`${server.url}/agenda?rehearse=1&from=2027-01-04&until=2027-01-12&down=2027-01-11T08:00&up=2027-01-11T12:00&crashes=all`);
  check((await page.locator(".rehearsed circle").count()) >= 2, "nothing is drawn");
  check((await text(page, "#rehearse")).includes("exactly once"), await text(page, "#rehearse"));
}

async function remembers(page, _, server) {
  const run = await server.say(await server.conversation(), "and then this");
  await server.until(run, ["succeeded"]);
  await page.goto(`${server.url}/memory?show=everywhere`);
  await page.locator(".fact a", { hasText: "Reports are written" }).click();
  await eventually("the run", async () => (await page.locator(`#fact a[href="/runs/${run}"]`).count()) === 1);
  check((await text(page, "#fact")).includes("What deleting changes"), "what deleting changes");
  const ask = page.locator('form[action="/do/settings/memory.accept/set"] button');
  check((await ask.getAttribute("aria-checked")) === "true", "it does not ask");
  const file = await page.evaluate(async () => (await fetch("/memory/export")).text());
  check(file.includes("Reports are written"), file);
}

async function tours(page, _, server) {
  await page.goto(`${server.url}/tour`);
  await page.locator('form[action="/do/tour"] button').click();
  await eventually("the kill", async () => (await page.locator("#tour .ledger").count()) === 1);
  await eventually("the end", async () => (await page.locator("#tour").getAttribute("data-playing")) === "no", 120_000);
  check((await page.locator("#tour section").count()) === 4, "four scenes");
  check((await page.locator("#tour .bad").count()) === 1, await text(page, "#tour"));
}
