// A conversation of 2,000 messages: opens fast; every one of its pages, and a reply that is being written, scrolls smoothly.
import { signedIn, clean, check, eventually } from "./page.mjs";
import { smooth, frame } from "./smooth.mjs";

const MESSAGES = 2000;

export async function longChat(world) {
  const server = await world.server().start();
  const { context, page } = await signedIn(world, server);
  try {
    await world.test("a conversation of 2,000 messages opens fast, and each of its pages scrolls smoothly", () => walks(world, server, page));
    await world.test("a long conversation scrolls smoothly while a reply streams", () => streams(world, server, page));
  } finally { await context.close(); await server.end(); }
}

async function fill(server, count) {
  const id = await server.conversation("Two thousand messages");
  const run = await server.say(id, "first");
  await server.until(run, ["succeeded"]);
  for (let n = 0; n < count; n += 25) await Promise.all(Array.from({ length: 25 }, (_, k) => server.api(`/internal/runs/${run}/emit-message`,
    { content: `Message ${n + k} with **words** and a [link](https://a.example/${n + k}).\n\n\`\`\`rust\nfn main() {}\n\`\`\``, message_id: `m${n + k}` })));
  return id;
}

async function scrolled(page) {
  await page.mouse.move(700, 400);
  for (const by of [-1500, 1500]) for (let n = 0; n < 6; n++) { await page.mouse.wheel(0, by); await frame(page); }
}

async function walks(world, server, page) {
  const id = await fill(server, MESSAGES);
  const began = Date.now();
  await page.goto(`${server.url}/chat/${id}`);
  const opened = Date.now() - began;
  world.figures["ms until a conversation of 2,000 messages is open"] = opened;
  check(opened < 5000, `${opened} ms`);
  const seen = new Set();
  let pages = 0;
  for (;;) {
    pages++;
    check((await page.locator(".ev").count()) <= 90, "the page holds more than its part");
    await smooth(world, page, "scrolling each page of 2,000 messages", () => scrolled(page));
    for (const text of (await page.locator("#thread").textContent()).match(/Message \d+/g) ?? []) seen.add(text);
    const older = page.locator("a[data-older]");
    if ((await older.count()) === 0) break;
    const to = await older.getAttribute("href");
    await page.goto(new URL(to, page.url()).href);
  }
  world.figures["pages of a conversation of 2,000 messages"] = pages;
  check(seen.size === MESSAGES, `${seen.size} messages were seen on ${pages} pages`);
  clean(page);
}

async function streams(world, server, page) {
  const id = await fill(server, 100);
  await page.goto(`${server.url}/chat/${id}`);
  const run = await server.say(id, "slow");
  const grown = () => page.evaluate(() => document.querySelector("#thread-scroll").innerText.length);
  await eventually("its words", async () => (await page.locator("#thread-scroll").innerText()).includes("slowly slowly"));
  const before = await grown();
  await smooth(world, page, "scrolling while a reply streams", () => scrolled(page));
  await eventually("more words", async () => (await grown()) > before);
  await server.api(`/v1/runs/${run}/cancel`, {});
  await server.until(run, ["canceled"]);
  clean(page);
}
