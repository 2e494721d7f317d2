// What every page has: light and dark, the side bar without scripts, links that lead away, lists by the keyboard; and the agenda's forms.
import { signedIn, clean, check, axe, eventually } from "./page.mjs";

const says = (text, more = {}) => ({ text, ...more });
const script = { replies: [says("It is done.")], closing: "It is done.", others: [{ goal: "with a link", replies: [says("See [the docs](https://a.example/docs).")] }] };
const text = (page, where) => page.locator(where).innerText();

export async function layout(world) {
  const server = await world.server(script).start();
  const flow = (name, body, options) => world.test(name, async () => {
    const { context, page } = await signedIn(world, server, options);
    try { await body(page, server, context, world); clean(page); } finally { await context.close(); }
  });
  try {
    await flow("the theme goes from the system's to the other one, to this one, and back", themes, { colorScheme: "light" });
    await flow("where the system is dark, the first step is to light", themes, { colorScheme: "dark" });
    for (const width of [360, 800]) await flow(`without scripts the navigation is there, ${width}`, plain, { javaScriptEnabled: false, viewport: { width, height: 780 } });
    await flow("a link of an answer says that it leads away", leads);
    await flow("the todos of today are counted in the navigation, and j and k walk through them", todos);
    await flow("where the window is wide the document does not scroll, however long its lists are", still);
    await flow("two todos of the same hour stand beside each other, and no text is smaller than 12 px", beside);
    await flow("u turns read and unread round in the list of conversations, and in a chat", unread);
    await flow("a line shows where it will stand in the calendar before it is saved", lands);
    await flow("the title and the rule of an entry that repeats are changed", edits);
  } finally { await server.end(); }
}

async function themes(page, server) {
  await page.goto(`${server.url}/inbox`);
  const chosen = () => page.evaluate(() => document.documentElement.dataset.theme ?? "auto");
  const system = (await page.evaluate(() => matchMedia("(prefers-color-scheme: dark)").matches)) ? "dark" : "light";
  const other = system === "dark" ? "light" : "dark";
  check((await chosen()) === "auto", "a theme is chosen");
  for (const next of [other, system, "auto"]) {
    await page.locator(".theme").click();
    await eventually(next, async () => (await chosen()) === next);
  }
}

async function plain(page, server) {
  await server.conversation("Seen without scripts");
  for (const path of ["/inbox", "/agenda", "/chat"]) {
    await page.goto(server.url + path);
    await page.locator("#side a", { hasText: "Seen without scripts" }).first().waitFor({ state: "visible" });
    for (const name of ["Inbox", "Runs", "Memory", "Settings"]) check(await page.locator("#side a", { hasText: name }).first().isVisible(), `${path} has no ${name}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check(wide <= 0, `${path} scrolls sideways by ${wide} px`);
  }
  await page.locator("#side a", { hasText: "Memory" }).click();
  await page.waitForURL(/\/memory/);
}

async function leads(page, server) {
  const id = await server.conversation("Links");
  await server.until(await server.say(id, "with a link"), ["succeeded"]);
  await page.goto(`${server.url}/chat/${id}`);
  const link = page.locator(".prose a", { hasText: "the docs" });
  check((await link.textContent()).includes("external link"), await link.textContent());
  check(await link.evaluate((a) => getComputedStyle(a, "::after").maskImage.includes("svg")), "no picture beside it");
}

async function todos(page, server) {
  await server.api("/v1/todos", { text: "today 11:59pm count the boxes" });
  await server.api("/v1/todos", { text: "count them later" });
  await page.goto(`${server.url}/agenda`);
  const count = page.locator('#nav-main a[href="/agenda"] .count');
  check((await count.innerText()) === "1", await count.innerText());
  await page.keyboard.press("j");
  const first = await page.evaluate(() => document.activeElement.textContent);
  await page.keyboard.press("j");
  const second = await page.evaluate(() => document.activeElement.textContent);
  check(first && second && first !== second && [first, second].every((one) => one.includes("count")), `${first} | ${second}`);
  await page.locator('.todo button.check[aria-label*="boxes"]').click();
  await eventually("nothing is due", async () => (await count.count()) === 0);
}

async function still(page, server) {
  for (let n = 0; n < 30; n++) await server.conversation(`Conversation ${n}`);
  const id = await server.conversation("Not read yet");
  await server.until(await server.say(id, "hello"), ["succeeded"]);
  for (const path of [`/chat/${id}`, "/inbox", "/agenda#detail", "/conversations"]) {
    await page.goto(server.url + path);
    await page.evaluate(() => [...document.querySelectorAll("#main *")].at(-1).scrollIntoView());
    const [height, top] = await page.evaluate(() => [document.documentElement.scrollHeight - innerHeight, document.documentElement.scrollTop]);
    check(height <= 0 && top === 0, `${path} is ${height} px longer than the window, and scrolled by ${top}`);
  }
}

async function beside(page, server) {
  for (const what of ["call the bank", "call the tax office"]) await server.api("/v1/todos", { text: `today 11:59pm ${what}` });
  await page.goto(`${server.url}/agenda`);
  const boxes = await page.locator(".cal .ce.due", { hasText: "call the" }).evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ left, right }) => ({ left, right })).sort((a, b) => a.left - b.left));
  check(boxes.length === 2 && boxes[0].right <= boxes[1].left, JSON.stringify(boxes));
  for (const path of ["/agenda", "/settings?section=tools", "/inbox"]) {
    await page.goto(server.url + path);
    const small = await page.evaluate(() => [...document.querySelectorAll("body *")].filter((e) => e.offsetParent && [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) && parseFloat(getComputedStyle(e).fontSize) < 12).map((e) => e.outerHTML.slice(0, 80)));
    check(small.length === 0, `${path}: ${small}`);
  }
}

async function unread(page, server) {
  const id = await server.conversation("Turned round");
  await server.until(await server.say(id, "hello"), ["succeeded"]);
  const is = async () => (await page.locator(".item", { hasText: "Turned round" }).getAttribute("data-s")) === "unread";
  await page.goto(`${server.url}/conversations`);
  check(await is(), "it is read");
  const link = page.locator(".item", { hasText: "Turned round" }).locator("h2 a");
  await link.focus();
  await page.keyboard.press("u");
  await eventually("read", async () => !(await is()));
  await link.focus();
  await page.keyboard.press("u");
  await eventually("unread", is);
  await page.goto(`${server.url}/chat/${id}`);
  await page.locator("h1").click();
  await page.keyboard.press("u");
  await page.waitForURL(/\/conversations/);
  check(await is(), "u in a chat does not mark it as unread");
}

async function lands(page, server, _, world) {
  await page.goto(`${server.url}/agenda`);
  await page.fill("#quick-text", "today 4pm paint the fence");
  const soon = page.locator(".cal .ce.new");
  await eventually("a place in the calendar", async () => (await soon.count()) === 1);
  check(/16:00 paint the fence/.test(await soon.textContent()) && /about to be saved/.test(await soon.textContent()), await soon.textContent());
  check((await soon.locator("xpath=..").getAttribute("data-drop")).endsWith("16:00"), "another hour");
  if (world.pictures) await page.screenshot({ path: `${world.pictures}/x-agenda-soon.png` });
  await axe(world, page);
  await page.fill("#quick-text", "");
  await eventually("nothing", async () => (await soon.count()) === 0);
}

async function edits(page, server) {
  await server.api("/v1/schedules", { text: "every monday 9am team meeting" });
  await page.goto(`${server.url}/agenda`);
  await page.locator(".sched a", { hasText: "team meeting" }).click();
  await page.waitForURL(/entry=/);
  await page.fill("#entry-title", "Meeting of the team");
  await page.fill("#entry-when", "every tuesday 10am");
  await page.locator('#detail form[action$="/edit"] button').click();
  await eventually("the new title", async () => (await text(page, "#detail h2")) === "Meeting of the team");
  const facts = await text(page, "#detail");
  check(facts.includes("10:00") && /BYDAY=TU/.test(facts), facts);
  await page.fill("#entry-title", "Team");
  await page.locator('#detail form[action$="/edit"] button').click();
  await eventually("another title at the same time", async () => (await text(page, "#detail h2")) === "Team" && (await text(page, "#detail")).includes("BYDAY=TU"));
}
