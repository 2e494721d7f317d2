// By the keyboard alone: every page is gone through with Tab, and work is done without a pointer.
import { signedIn, clean, check, eventually } from "./page.mjs";
import { everyPage } from "./pages.mjs";

const STOPS = 70;
const active = (page, body, arg) => page.evaluate(([text, arg]) => new Function("e", "arg", `return ${text}`)(document.activeElement, arg), [body, arg]);

export async function byKeys(world) {
  const server = await world.server().start();
  try {
    const all = await everyPage(server);
    const { context, page } = await signedIn(world, server);
    for (const name of ["chat", "approval", "inbox", "agenda", "runs", "run", "files", "compare", "reports", "memory", "settings", "health", "conversations", "first"])
      await world.test(`${name}: every stop of Tab is seen, has a ring, and is not lost`, () => stops(page, server.url + all[name]));
    await context.close();
    await world.test("by the keyboard alone: an entry that repeats, a todo, a fact, a setting, a comparison, a fork, a cancel, a command", () => work(world, server));
  } finally { await server.end(); }
}

// What has the focus now, and what is wrong with it.
function stop() {
  const e = document.activeElement;
  if (!e || e === document.body || e === document.documentElement) return null;
  const name = `${e.tagName.toLowerCase()}${e.id ? "#" + e.id : ""} “${(e.ariaLabel ?? e.innerText ?? "").trim().slice(0, 30)}”`, wrong = [];
  const r = e.getBoundingClientRect(), shown = (s) => s.boxShadow !== "none" || (s.outlineStyle !== "none" && s.outlineColor !== "rgba(0, 0, 0, 0)");
  if (!e.matches(":focus-visible")) wrong.push("is not focused visibly");
  if (e.closest("[inert], [aria-hidden=true]")) wrong.push("is inert or hidden");
  const label = e.matches("input") ? e.closest("label") : null;
  const holder = e.closest(".composer, .option, .palette-in, .quick-in, .item, .fact, tr, .attach");
  // The ring of a slider is around its handle, which no script can look at.
  const isSlider = e.matches("input[type=range]");
  if (!isSlider && ![e, label, holder].some((one) => one && shown(getComputedStyle(one))) && !(label && shown(getComputedStyle(label, "::before")))) wrong.push("has no ring");
  const place = label && r.width < 3 ? label.getBoundingClientRect() : r;
  if (place.width < 2 || place.height < 2) wrong.push("has no size");
  if (place.bottom <= 0 || place.top >= innerHeight || place.right <= 0 || place.left >= innerWidth) wrong.push("is out of sight");
  return { name, wrong };
}

async function settled(page) {
  // The page may be changing: what follows from it is scrolled into view with the next picture.
  await page.evaluate(() => Promise.all(document.getAnimations().filter((a) => a instanceof CSSTransition).map((a) => a.finished.catch(() => {}))));
}

async function tab(page, key = "Tab") {
  await page.keyboard.press(key);
  await settled(page);
  const seen = await page.evaluate(stop);
  check(!seen || seen.wrong.length === 0, seen ? `${seen.name} ${seen.wrong.join(", ")}` : "");
  return seen;
}

async function stops(page, address) {
  await page.goto(address);
  const names = [];
  // Some pages begin in their middle, where one writes: after the last stop comes the first one.
  for (let n = 0, ends = 0; n < STOPS && ends < 2; n++) {
    const seen = await tab(page);
    seen ? names.push(seen.name) : ends++;
  }
  check(names.length >= 10, `only ${names.length} stops: ${names.join(", ")}`);
  check(names.some((name, at) => at > 5 && !name.startsWith("body")), "the content is not reached");
  clean(page);
}

// Tab, until this has the focus.
export async function tabTo(page, where, most = 160) {
  for (let n = 0; n < most; n++) {
    if (await active(page, "e.matches(arg)", where)) return;
    await tab(page);
  }
  throw new Error(`Tab does not reach ${where}`);
}
const press = async (page, ...keys) => { for (const key of keys) await page.keyboard.press(key); };
const has = (page, where, text) => eventually(`“${text}”`, async () => (await page.locator(where).innerText()).includes(text));

async function work(world, server) {
  const { context, page } = await signedIn(world, server);
  await context.addInitScript(() => localStorage.setItem("everloop:loop", "react"));
  try {
    await page.goto(`${server.url}/inbox`); // the only address that is typed
    await press(page, "g", "t");
    await page.waitForURL(/\/agenda$/);
    await tabTo(page, "#quick-text");
    await page.keyboard.type("every friday 4pm water the plants");
    await eventually("the next five", async () => (await page.locator("#parsed .five li").count()) === 5);
    await press(page, "Enter");
    await has(page, "#agenda-lists", "water the plants");
    await page.keyboard.type("call the plumber");
    await has(page, "#parsed", "plumber");
    await press(page, "Enter");
    await has(page, "#agenda-lists", "call the plumber");
    await tabTo(page, '.todo button.check[aria-label*="plumber"]');
    await press(page, "Space");
    await eventually("done", async () => (await page.locator(".todo.done", { hasText: "plumber" }).count()) === 1);
    await facts(page);
    await settings(page);
    await compares(page);
    await forks(page);
    await cancels(page, server);
    await press(page, "Control+k");
    await page.keyboard.type("/todo");
    await has(page, "#pal-list", "/todo");
    await press(page, "Enter");
    await eventually("the command", async () => (await page.inputValue("#say")).startsWith("/todo"));
    check(await active(page, "e.id === 'say'"), "the input has not the focus");
    clean(page);
  } finally { await context.close(); }
}

async function facts(page) {
  await tabTo(page, "a, button");
  await press(page, "g", "m");
  await page.waitForURL(/\/memory$/);
  await tabTo(page, "#new-fact");
  await page.keyboard.type("The gate is green");
  await press(page, "Enter");
  await has(page, "#facts", "The gate is green");
  await tabTo(page, "#fact-q");
  await page.keyboard.type("gate");
  await press(page, "Enter");
  await page.waitForURL(/q=gate/);
  await has(page, "#facts", "The gate is green");
}

async function settings(page) {
  await press(page, "Control+k");
  await page.keyboard.type("settings");
  await has(page, "#pal-list", "Settings");
  await eventually("Settings are chosen", async () => {
    if ((await page.locator("#pal-list [aria-selected=true] .grow").innerText()) === "Settings") return true;
    await press(page, "ArrowDown");
  });
  await press(page, "Enter");
  await page.waitForURL(/\/settings/);
  await tabTo(page, 'a[href*="section=tools"]');
  await press(page, "Enter");
  await page.waitForURL(/section=tools/);
  const one = '[id="row-tools.shell_network"] button[role=switch]', was = await page.locator(one).getAttribute("aria-checked");
  await tabTo(page, one);
  await press(page, "Space");
  await eventually("switched", async () => (await page.locator(one).getAttribute("aria-checked")) !== was);
  await eventually("the focus is still there", () => active(page, "e.matches(arg)", one));
}

async function compares(page) {
  await press(page, "g", "c");
  await page.waitForURL(/\/compare$/);
  await tabTo(page, '[name^="kind:"]');
  await press(page, "Space");
  await tabTo(page, "form[data-compare] button.ink");
  await press(page, "Enter");
  await page.locator(".comparing progress").waitFor();
  await tabTo(page, ".comparing form button");
  await press(page, "Enter");
  await page.locator(".comparing").waitFor({ state: "detached" });
}

async function forks(page) {
  await tabTo(page, "a, button");
  await press(page, "g", "r");
  await page.waitForURL(/\/runs$/);
  await tabTo(page, '#runs a[href^="/runs/run_"]');
  await press(page, "Enter");
  await page.waitForURL(/\/runs\/run_/);
  const run = page.url();
  await tabTo(page, "#travel");
  await press(page, "Home", "ArrowRight", "ArrowRight");
  await eventually("the third event", async () => page.url().includes("at=3"));
  await has(page, "#travel-now", "#3");
  await tabTo(page, "#travel-now form button");
  await press(page, "Enter");
  await page.waitForURL((url) => url.pathname.startsWith("/runs/") && url.pathname !== new URL(run).pathname);
}

async function cancels(page, server) {
  await press(page, "Control+Shift+o");
  await page.waitForURL(/\/chat$/);
  await press(page, "Shift+Escape");
  await page.keyboard.type("slow");
  await press(page, "Enter");
  await page.waitForURL(/\/chat\/conv_/);
  await eventually("words", async () => (await page.locator("#stream").innerText()).length > 20);
  await tabTo(page, '[data-run] .acts button, form[action$="/cancel"] button');
  await press(page, "Enter");
  await eventually("canceled", async () => (await server.api("/v1/runs?status=canceled")).data.some((one) => one.goal === "slow"));
}
