// What pages look like when something of them is open; work in every form; by the keyboard alone; in many tabs.
import { signedIn, clean, check, axe, eventually } from "./page.mjs";
import { FORMS } from "./forms.mjs";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";

const loop = () => localStorage.setItem("everloop:loop", "react");
const has = (page, text) => eventually(`“${text}”`, async () => (await page.locator("#main").innerText()).includes(text));
const gone = (page, where) => eventually(`no ${where}`, async () => (await page.locator(where).count()) === 0);

export async function states(world) {
  const server = await world.server().start();
  const session = async (options = {}) => {
    const { context, page } = await signedIn(world, server, options);
    await context.addInitScript(loop);
    return { context, page };
  };
  try {
    for (const form of FORMS) await world.test(`ask, approve, queue, steer in ${form.lang} ${form.theme} ${form.width}`, () => works(world, server, session, form));
    for (const width of [1440, 360]) await world.test(`what is open has no finding of axe, ${width}`, () => opened(world, server, session, width));
    await world.test("by the keyboard alone: chat, answer, approve with an edit, always, inbox, keys", () => keyboard(server, session));
    await world.test("single letters do nothing where they are turned off", () => letters(server, session));
    await world.test("ten tabs on one run show its answer", () => tenTabs(server, session));
    await world.test("reduced motion and forced colours", () => contrast(world, server, session));
    await world.test("retry and always from the chat", () => again(server, session));
  } finally { await server.end(); }
}

async function begin(page, server, goal) {
  await page.goto(`${server.url}/chat`);
  await page.fill("#say", goal);
  await page.press("#say", "Enter");
  await page.waitForURL(/\/chat\/conv_/);
}

async function works(world, server, session, { lang, theme, width }) {
  const { context, page } = await session({ viewport: { width, height: width < 600 ? 780 : 900 }, colorScheme: theme });
  await context.addCookies([{ name: "everloop_lang", value: lang, url: server.url }]);
  try {
    await begin(page, server, "choose one");
    await page.locator("#thread form.ask .option").nth(1).click();
    if (world.pictures) await page.screenshot({ path: `${world.pictures}/x-question-${lang}-${theme}-${width}.png` });
    await axe(world, page);
    await page.click("#thread form.ask button.ink");
    await has(page, "It is chosen.");
    await eventually("the chosen answer is told", async () => (await page.locator(".answered").allInnerTexts()).some((text) => text.includes("green")));
    await begin(page, server, "shell");
    await page.locator("#thread form.ask").waitFor();
    const heading = await page.locator("#thread form.ask h3").innerText();
    check(heading === (lang === "en" ? "Run this command?" : "运行这条命令？"), heading);
    await page.locator("#thread form.ask details summary").first().click();
    await eventually("what the card opened is clear of the composer", () => page.evaluate(() => {
      const open = document.querySelector("#thread form.ask details[open]").getBoundingClientRect(), field = document.querySelector("#thread form.ask details[open] textarea").getBoundingClientRect();
      return open.bottom <= document.querySelector(".dock").getBoundingClientRect().top && field.width > 0.9 * open.width;
    }));
    if (world.pictures) await page.screenshot({ path: `${world.pictures}/x-approval-${lang}-${theme}-${width}.png` });
    await axe(world, page);
    await page.click("#thread form.ask button.ink");
    await has(page, "The command ran.");
    await begin(page, server, "slow");
    await eventually("words", async () => (await page.locator("#stream").innerText()).length > 10);
    await page.fill("#say", "and then this");
    await page.press("#say", "Enter");
    await eventually("a queued message", async () => (await page.locator("#queue .queue").count()) === 1);
    if (world.pictures) await page.screenshot({ path: `${world.pictures}/x-queue-${lang}-${theme}-${width}.png` });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check(wide <= 0, `scrolls sideways by ${wide} px`);
    await axe(world, page);
    await page.locator("#queue form[action$=remove] button").click();
    await gone(page, "#queue .queue");
    await page.fill("#say", "be brief");
    await page.click("[data-steer]");
    await eventually("an empty input", async () => (await page.inputValue("#say")) === "");
    await page.locator("[data-run] .acts button").click();
    await gone(page, "[data-run]");
    clean(page);
  } finally { await context.close(); }
}

async function opened(world, server, session, width) {
  const { context, page } = await session({ viewport: { width, height: width < 600 ? 780 : 900 } });
  const look = async (name) => { if (world.pictures) await page.screenshot({ path: `${world.pictures}/x-${name}-${width}.png` }); await axe(world, page); };
  rmSync(join(server.folder, "more.md"), { force: true });
  try {
    await begin(page, server, "write more");
    await has(page, "More is written.");
    await page.locator("details.activity summary").click();
    await page.locator(".confirm summary").click();
    await look("undo");
    await page.fill("#say", "/");
    await page.locator("#slash [role=option]").first().waitFor();
    await look("slash");
    await page.fill("#say", "");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("/to");
    await eventually("commands", async () => (await page.locator("#pal-list").innerText()).includes("/todo"));
    await look("palette");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+/");
    await page.locator("#keys").waitFor();
    await look("keys");
    await page.keyboard.press("Escape");
    check(await page.locator("#keys").isHidden(), "Esc does not close the list of keys");
    if (width < 600) {
      await page.click('#bar [data-open="drawer"]');
      check(await page.evaluate(() => document.querySelector("#main").inert), "what is below the drawer can be reached");
      await look("drawer");
      await page.keyboard.press("Escape");
      check(!(await page.evaluate(() => document.querySelector("#main").inert)), "the page stays inert");
      await page.click('#bar [data-open="panel"]');
      await look("panel");
      await page.keyboard.press("Escape");
    }
    await page.click("#bar details.pop > summary");
    await look("more");
    await page.goto(`${server.url}/conversations`);
    await page.locator(".confirm summary").first().click();
    await look("delete");
    clean(page);
  } finally { await context.close(); }
}

async function keyboard(server, session) {
  const { context, page } = await session();
  rmSync(join(server.folder, "edited.txt"), { force: true });
  try {
    await page.goto(`${server.url}/inbox`);
    await page.keyboard.press("Control+Shift+o");
    await page.waitForURL(/\/chat$/);
    await page.keyboard.press("Shift+Escape");
    await page.keyboard.type("choose one");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/chat\/conv_/);
    await page.locator("#thread form.ask").waitFor();
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("j");
    check(await page.evaluate(() => document.activeElement.matches("form.ask")), "j does not reach the card");
    await page.keyboard.press("3");
    await page.keyboard.press("Enter");
    await has(page, "It is chosen.");
    await page.keyboard.press("Shift+Escape");
    await page.keyboard.type("shell again");
    await page.keyboard.press("Enter");
    await page.locator("#thread form.ask").waitFor();
    await page.goto(`${server.url}/inbox`);
    await page.keyboard.press("j");
    await page.keyboard.press("e");
    check(await page.evaluate(() => document.activeElement.name === "edited"), "e does not open the edit");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("echo keys > edited.txt");
    await page.keyboard.press("Control+Enter");
    await eventually("the edited command ran", () => existsSync(join(server.folder, "edited.txt")));
    await page.keyboard.press("Escape");
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("g");
    await page.keyboard.press("m");
    await page.waitForURL(/\/memory/);
    clean(page);
  } finally { await context.close(); }
}

async function letters(server, session) {
  const { context, page } = await session();
  try {
    await page.goto(`${server.url}/inbox`);
    await page.keyboard.press("Control+/");
    await page.locator("#letters").uncheck();
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.press("m");
    await page.keyboard.press("Control+k");
    await page.locator("#palette input").waitFor();
    check(page.url().endsWith("/inbox"), page.url());
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+/");
    await page.locator("#letters").check();
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.press("m");
    await page.waitForURL(/\/memory/);
  } finally { await context.close(); }
}

async function tenTabs(server, session) {
  const { context, page } = await session();
  try {
    await begin(page, server, "stream");
    const tabs = [];
    for (let n = 0; n < 9; n++) { const tab = await context.newPage(); await tab.goto(page.url()); tabs.push(tab); }
    for (const tab of [page, ...tabs]) {
      await eventually("the answer", async () => (await tab.locator(".prose strong").count()) >= 3);
      check((await tab.locator(".said").count()) === 1, "the message is there once");
    }
  } finally { await context.close(); }
}

async function contrast(world, server, session) {
  const { context, page } = await session({ reducedMotion: "reduce", forcedColors: "active" });
  try {
    await begin(page, server, "slow");
    await eventually("words", async () => (await page.locator("#stream").innerText()).length > 10);
    const moving = await page.evaluate(() => document.getAnimations().filter((a) => a.playState === "running" && a.effect.getComputedTiming().duration > 10).length);
    check(moving === 0, `${moving} things move`);
    if (world.pictures) await page.screenshot({ path: `${world.pictures}/x-forced-colours.png` });
    await page.locator("[data-run] .acts button").click();
    await gone(page, "[data-run]");
    clean(page);
  } finally { await context.close(); }
}

async function again(server, session) {
  const { context, page } = await session();
  try {
    await begin(page, server, "refuse");
    await page.locator("#thread form.ask").waitFor();
    await page.locator("#thread form.ask summary", { hasText: "Always" }).click();
    await page.locator('#thread form.ask button[value^="always:"]').first().click();
    await has(page, "Then it is left.");
    rmSync(join(server.folder, "refused.txt"), { force: true });
    await page.locator(".said-acts button[formaction$=retry]").click();
    // What was allowed for good is not asked about again.
    await eventually("it ran again without a question", () => existsSync(join(server.folder, "refused.txt")));
    await eventually("two answers", async () => (await page.locator(".prose", { hasText: "Then it is left." }).count()) === 2);
    clean(page);
  } finally { await context.close(); }
}
