// The page of a run: items of its plan, verify, settle, switch, helper runs, pause, keys; and the states that are rarely seen.
import { signedIn, clean, check, axe, eventually } from "./page.mjs";
import { execFileSync } from "node:child_process";
import { FORMS } from "./forms.mjs";
import { Server } from "./server.mjs";
import { existsSync } from "node:fs";
import { join } from "node:path";

const says = (text, more = {}) => ({ text, ...more });
const json = (value) => says(JSON.stringify(value));
const calls = (tool, args) => ({ calls: [{ tool, args }] });
const action = (step, tool, input) => json({ status: "continue", current_step: step, next_action: { tool, input } });
const done = (step) => json({ status: "done", current_step: step, response: "It is done." });
const tasks = (...all) => json({ status: "replanned", plan: all.map(([task, completed]) => ({ task, completed })) });

const [READ, ASK, WRITE] = ["Read the notes", "Ask for the numbers", "Write the report"];
const script = {
  replies: [says("It is done.")], closing: "It is done.",
  others: [
    { goal: "replan", replies: [json({ status: "planned", plan: [READ, WRITE] }), action(READ, "list_dir", { path: "." }), done(READ),
      tasks([READ, true], [ASK, false], [WRITE, false]), action(ASK, "read_file", { path: "missing.md" }), done(ASK), tasks([READ, true], [ASK, true], [WRITE, false]), done(WRITE), json({ status: "done", response: "All is written." })] },
    { goal: "half way", replies: [calls("shell", { command: "touch begun; sleep 600" }), says("Nobody knows whether it ended.")] },
    { goal: "hand it on", replies: [calls("delegate", { task: "look into the cellar" }), says("The cellar is dry.")] },
    { goal: "cellar", replies: [calls("list_dir", { path: "." }), says("No water anywhere.")] },
    { goal: "step by step", replies: [...Array.from({ length: 30 }, (_, n) => ({ ...calls("read_file", { path: `missing-${n}.md` }), delay_ms: 300 })), says("All were read.")] },
    { goal: "ask me", replies: [calls("ask_user", { question: "Which colour shall it be?" }), says("It is painted as you said.")] },
    { goal: "fails twice", replies: [calls("read_file", { path: "a.md" }), calls("list_dir", { path: "." }), calls("read_file", { path: "b.md" }), says("Both are missing.")] },
  ],
};

const text = (page, where) => page.locator(where).innerText();
const focused = (page, what) => eventually(what, () => page.evaluate((w) => document.activeElement.innerText?.includes(w), what));

export async function runs(world) {
  const server = await world.server(script).start();
  const flow = (name, body) => world.test(name, async () => {
    const { context, page } = await signedIn(world, server);
    try { await body(page, server, context, world); clean(page); } finally { await context.close(); }
  });
  try {
    await flow("a plan that was changed is a step with its difference, and steps stand under its items", replans);
    await flow("a run is verified from its page", verifies);
    await flow("a run goes on under another loop", switches);
    await flow("a helper run is linked both ways", hands);
    await flow("paused, the page of a run stays as it is until it is told to go on", pauses);
    await flow("the keys of a run: Home, End, arrows, n, p, f, and none of them below a dialog", keys);
    await flow("a call of a tool says what a crash means for it and who allowed it", details);
  } finally { await server.end(); }
  await world.test("a command that was killed half way is settled on its page, and its states have no finding of axe", () => unsettled(world));
  await world.test("a run that was set aside says why, and has no finding of axe", () => quarantined(world));
}

const begun = async (server, goal, loop = "react") => server.say(await server.conversation(goal), goal, loop);
const ended = async (server, goal, loop) => { const run = await begun(server, goal, loop); await server.until(run, ["succeeded"]); return run; };

async function replans(page, server, _, world) {
  const run = await ended(server, "replan", "plan-replan");
  await page.goto(`${server.url}/runs/${run}`);
  const names = await page.locator(".wf tr.group .clip").allInnerTexts();
  check(JSON.stringify(names) === JSON.stringify([`1 ${READ}`, `2 ${ASK}`, `3 ${WRITE}`]), names.join(" | "));
  check((await page.locator(".wf tr.in").count()) >= 4, "steps under the items");
  const plans = page.locator(".wf-name", { hasText: "Plan v" });
  check((await plans.count()) === 2, await text(page, ".wf"));
  check((await page.locator("#track-marks path.plan").getAttribute("d")).split("M").length === 3, "both plans are on the track");
  await plans.nth(1).click();
  await eventually("the difference", async () => (await text(page, ".detail .diff ins")) === ASK);
  await page.goto(`${server.url}/runs/${run}`);
  await page.selectOption("#plan-older", { index: 0 });
  await page.selectOption("#plan-newer", { index: 1 });
  await page.locator(".detail form.filter button").click();
  await page.waitForURL(/older=1/);
  check((await text(page, ".detail .diff")).includes(ASK), "the two versions are not compared");
  await looks(world, server, "plan-run", `/runs/${run}?older=1&newer=2`);
}

async function verifies(page, server) {
  const run = await ended(server, "fails twice");
  await page.goto(`${server.url}/runs/${run}`);
  await page.locator(".head-do summary").click();
  await page.locator('.pop-body a[href$="verify=1"]').click();
  await eventually("the verdict", async () => /Verified|decision/i.test(await text(page, "#run-head .note")));
}

async function switches(page, server) {
  const run = await begun(server, "step by step");
  await server.until(run, ["running"]);
  await page.goto(`${server.url}/runs/${run}`);
  await page.locator(".head-do summary").click();
  await page.selectOption("#switch", "tool-driven");
  await page.locator(".pop-body form button").click();
  const next = await eventually("a run of the other loop", async () => (await server.api("/v1/runs")).data.find((one) => one.loop === "tool-driven"));
  await server.until(run, ["canceled", "succeeded", "failed"]);
  await server.api(`/v1/runs/${next.id}/cancel`, {});
}

async function hands(page, server) {
  const run = await ended(server, "hand it on");
  await page.goto(`${server.url}/runs/${run}`);
  await page.locator(".stats a.mono").first().click();
  await page.waitForURL((url) => url.pathname.startsWith("/runs/") && !url.pathname.endsWith(run));
  check((await text(page, "#run-head h1")).includes("cellar"), await text(page, "#run-head h1"));
  await page.locator(".stats a.mono").first().click();
  await page.waitForURL(`**/runs/${run}`);
}

async function pauses(page, server, context) {
  const run = await begun(server, "step by step");
  await page.goto(`${server.url}/runs/${run}`);
  const rows = () => page.locator(".wf tbody tr").count();
  await eventually("steps", async () => (await rows()) > 2);
  await page.locator("h1").click();
  await page.keyboard.press("Space");
  check((await page.locator("[data-pause]").getAttribute("aria-pressed")) === "true", "Space does not pause");
  const before = await rows();
  const other = await context.newPage();
  await other.goto(page.url());
  await eventually("more steps on another page", async () => (await other.locator(".wf tbody tr").count()) > before + 2);
  await other.close();
  check((await rows()) === before, "the page went on");
  await page.keyboard.press("Space");
  await eventually("the steps since then", async () => (await rows()) > before);
  await server.api(`/v1/runs/${run}/cancel`, {});
}

async function keys(page, server) {
  const run = await ended(server, "fails twice");
  await page.goto(`${server.url}/runs/${run}`);
  const at = () => text(page, "#travel-at");
  await page.keyboard.press("Home");
  await eventually("the first event", async () => (await at()) === "#1");
  await page.keyboard.press("Shift+ArrowRight");
  await eventually("ten events on", async () => (await at()) === "#11");
  await page.keyboard.press("End");
  const last = await page.locator("#travel").getAttribute("max");
  await eventually("the last event", async () => (await at()) === `#${last}`);
  await page.keyboard.press("p");
  await focused(page, "b.md");
  await page.keyboard.press("p");
  await focused(page, "a.md");
  await page.keyboard.press("n");
  await focused(page, "b.md");
  await page.keyboard.press("f");
  await focused(page, "Fork");
  await page.keyboard.press("Control+/");
  await page.locator("#keys").waitFor();
  await page.keyboard.press("Home");
  await page.keyboard.press("Escape");
  check((await at()) === `#${last}`, "a key acts below a dialog");
  await page.evaluate(() => { localStorage.setItem("everloop:letters", "off"); document.activeElement.blur(); });
  await page.keyboard.press("n");
  check(await page.evaluate(() => document.activeElement === document.body), "a letter acts although letters are off");
}

async function details(page, server) {
  const run = await ended(server, "fails twice");
  await page.goto(`${server.url}/runs/${run}`);
  await page.locator(".wf-name", { hasText: "list_dir" }).click();
  await eventually("the crash class", async () => (await text(page, ".detail .facts")).includes("reading changes nothing"));
  check((await text(page, ".detail .facts")).includes("not needed"), await text(page, ".detail .facts"));
}

// One run page in every form, with the axe of the world.
async function looks(world, server, name, path) {
  for (const { lang, theme, width } of FORMS) {
    const { context, page } = await signedIn(world, server, { viewport: { width, height: width < 600 ? 780 : 900 }, colorScheme: theme });
    await context.addCookies([{ name: "everloop_lang", value: lang, url: server.url }]);
    try {
      await page.goto(server.url + path);
      if (world.pictures) await page.screenshot({ path: `${world.pictures}/x-${name}-${lang}-${theme}-${width}.png` });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(wide <= 0, `${name} ${lang} ${theme} ${width} scrolls sideways by ${wide} px`);
      await axe(world, page);
      clean(page);
    } finally { await context.close(); }
  }
}

async function unsettled(world) {
  const server = await world.server(script).start();
  try {
    const run = await begun(server, "half way");
    await server.until(run, ["waiting"]);
    await looks(world, server, "waiting-run", `/runs/${run}`);
    const { context, page } = await signedIn(world, server);
    page.quiet = true;
    await page.goto(`${server.url}/inbox`);
    await page.keyboard.press("j");
    await page.keyboard.press("y");
    await eventually("the command began", () => existsSync(join(server.folder, "begun")));
    await server.kill();
    await server.restart();
    await eventually("an unknown outcome", async () => { await page.goto(`${server.url}/runs/${run}`); return (await page.locator('#run-head article[data-s="unsettled"]').count()) === 1; });
    await looks(world, server, "unsettled-run", `/runs/${run}`);
    await looks(world, server, "unsettled-inbox", "/inbox");
    await page.goto(`${server.url}/runs/${run}`);
    check((await text(page, "#run-head .chip")).includes("recovered 1 time"), await text(page, "#run-head"));
    check((await page.locator('#run-head article[data-s="unsettled"] footer button').count()) === 3, "three answers");
    await page.locator('#run-head article[data-s="unsettled"] footer button', { hasText: "It happened" }).click();
    await eventually("settled", async () => (await page.locator('#run-head article[data-s="unsettled"]').count()) === 0);
    await server.until(run, ["succeeded", "unsettled"]);
    check(page.faults.length === 0, page.faults.join("\n"));
    await context.close();
  } finally { await server.end(); }
}

// What had not ended in a backup is set aside when the backup comes back: nobody knows what it did since.
async function quarantined(world) {
  const server = await world.server(script).start();
  try {
    const run = await begun(server, "ask me");
    await server.until(run, ["waiting"]);
    const everloop = (...args) => execFileSync(server.program, args, { cwd: server.folder, env: server.env(), stdio: ["ignore", "pipe", "pipe"] });
    const copy = join(server.home, "copy.db");
    everloop("backup", copy);
    await server.kill();
    everloop("restore", copy, "--yes");
    await server.restart();
    await server.until(run, ["quarantined"]);
    await looks(world, server, "quarantined-run", `/runs/${run}`);
    await looks(world, server, "quarantined-inbox", "/inbox?part=failed");
    const { context, page } = await signedIn(world, server);
    await page.goto(`${server.url}/inbox?part=failed`);
    const row = page.locator(".item", { hasText: "ask me" });
    check((await row.getAttribute("data-s")) === "quarantined", "the row has another state");
    check((await row.locator("p").innerText()).includes("restored as history"), await row.innerText());
    await page.goto(`${server.url}/runs/${run}`);
    check((await text(page, "#run-head .note")).includes("Quarantined: restored as history"), await text(page, "#run-head"));
    check((await page.locator(".head-do .ink").count()) === 0, "it offers to answer what nobody reads");
    check((await page.locator('.wf-name[data-s="running"]').count()) === 0, "a step goes on");
    await context.close();
  } finally { await server.end(); }
}
