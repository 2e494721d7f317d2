// A run of thousands of events: its page stays small and smooth, and every step can be looked at whole.
import { signedIn, clean, check, eventually } from "./page.mjs";
import { Server } from "./server.mjs";
import { smooth, frame } from "./smooth.mjs";

const CALLS = 60, STEPS = 44;

const SETTINGS = "[loop]\nmax_steps = 100000\n[budget]\nmodel_calls = 1000\ntool_calls = 100000\n[context]\ntokens = 100000000\nmax_history = 0\nobservations = 100000\n";

// Each reply asks for many calls; with their ends they are more than 5,000 events.
const script = {
  replies: [{ text: "It is done." }], closing: "It is done.",
  others: [{ goal: "many", replies: [...Array.from({ length: STEPS }, (_, n) => ({ calls: Array.from({ length: CALLS }, (_, k) => ({ tool: "read_file", args: { path: `missing-${n}-${k}.md` } })) })), { text: "All were read." }] }],
};

export async function longRun(world) {
  await world.test("a run of thousands of events: small, smooth, and whole where it is looked at", async () => {
    const server = new Server(world.program, script);
    server.settings(SETTINGS);
    await server.start();
    try {
      const run = await server.say(await server.conversation(), "many", "react");
      await server.until(run, ["succeeded", "failed"]);
      const { context, page } = await signedIn(world, server);
      const bodies = [];
      page.on("response", (r) => r.request().resourceType() !== "fetch" && bodies.push(r.body().catch(() => "")));
      await page.goto(`${server.url}/runs/${run}`, { waitUntil: "load" });
      const html = (await (await page.request.get(`${server.url}/runs/${run}`)).body()).length;
      const bytes = (await Promise.all(bodies)).reduce((sum, body) => sum + body.length, 0);
      const events = +(await page.locator("#main").getAttribute("data-last"));
      world.figures["events of the long run"] = events;
      world.figures["bytes of its HTML"] = html;
      world.figures["bytes of its page, style and scripts"] = bytes;
      check(events >= 5000, `${events} events`);
      check(html < 36_000, `${html} bytes of HTML`);
      check(bytes < 150_000, `${bytes} bytes`);
      await smooth(world, page, "scrolling the waterfall of 5,000 events", () => scrolled(page));
      await smooth(world, page, "dragging its slider", () => dragged(page));
      await page.locator(".pager a").last().click();
      await page.waitForURL(/from=40/);
      check((await page.locator(".wf tbody tr").count()) === 40, "the second page");
      // The prompt of a call of the model, exactly as it was sent.
      await page.goto(`${server.url}/runs/${run}?show=model`);
      await page.locator(".wf-name").last().click();
      await eventually("the prompt", async () => (await page.locator("#step-input").innerText()).includes('"messages"'));
      check((await page.locator(".detail .note").innerText()).includes("exactly the prompt"), "its digest differs");
      const whole = page.locator('.detail a[href$="/input"]');
      const file = await page.evaluate(async (url) => (await fetch(url)).text(), await whole.getAttribute("href"));
      check(JSON.parse(file).messages.length > 100, "the file has not the whole prompt");
      for (const format of ["jsonl", "json", "md"]) check((await page.request.get(`${server.url}/runs/${run}/export?format=${format}`)).ok(), format);
      clean(page);
      await context.close();
    } finally { await server.end(); }
  });
}

// From the first row of the waterfall to its last, and back.
async function scrolled(page) {
  const box = page.locator(".wf").first();
  await box.hover();
  for (const by of [300, -300]) for (let n = 0; n < 20; n++) { await page.mouse.wheel(0, by); await frame(page); }
}

// The slider is taken with the pointer from its end to its beginning and to the middle.
async function dragged(page) {
  const { x, y, width, height } = await page.locator("#travel").boundingBox();
  await page.mouse.move(x + width - 4, y + height / 2);
  await page.mouse.down();
  for (let n = 30; n >= 0; n--) { await page.mouse.move(x + 4 + ((width - 8) * n) / 30, y + height / 2); await frame(page); }
  for (let n = 0; n <= 15; n++) { await page.mouse.move(x + 4 + ((width - 8) * n) / 30, y + height / 2); await frame(page); }
  await page.mouse.up();
  await eventually("an event in the middle", async () => { const at = +new URL(page.url()).searchParams.get("at"); return at > 1500 && at < 4000; });
  await eventually("the page of then", async () => (await page.locator("#travel-now").innerText()).includes(new URL(page.url()).searchParams.get("at")));
  await page.focus("#travel");
  await page.keyboard.press("End");
  const last = await page.locator("#travel").getAttribute("max");
  await eventually("the page of now", async () => (await page.locator('#travel-now input[name="at"]').inputValue()) === last);
}
