// How a page holds while a reply streams: how soon it answers a key, and how much memory it keeps.
import { signedIn, clean, check, eventually } from "./page.mjs";

// An hour with --long; its short form otherwise.
const SOAK_S = Number(process.env.EVERLOOP_SOAK_S ?? (process.env.EVERLOOP_LONG === "1" ? 3600 : 12));
const WORDS = "The **quick** fox reads a line, and another one.\n\n- one\n- two\n\n";
const LATE_MS = 50;

export async function streaming(world) {
  const piece = { chunk: 24, delay_ms: 20 };
  const said = { replies: [{ text: "It is done." }], closing: "It is done.", others: [
    { goal: "write on", replies: [{ text: WORDS.repeat(400), ...piece }] },
    // A reply takes some 10 s; the next one follows at once.
    ...Array.from({ length: 400 }, (_, n) => ({ goal: `part ${n} of many`, replies: [{ text: WORDS.repeat(20), chunk: 12, delay_ms: 90 }] })) ] };
  const server = await world.server(said).start();
  try {
    await world.test("a key is answered within 50 ms while a reply streams, in 95 of 100 cases", () => latency(world, server));
    await world.test(`the memory of a page does not grow while replies stream (${SOAK_S} s)`, () => soak(world, server));
  } finally { await server.end(); }
}

async function latency(world, server) {
  const { context, page } = await signedIn(world, server);
  try {
    await page.addInitScript(() => {
      globalThis.slow = [];
      // Each key or click from the moment it was pressed to the next picture.
      new PerformanceObserver((list) => { for (const e of list.getEntries()) if (e.interactionId) globalThis.slow.push([e.interactionId, e.duration, e.name]); }).observe({ type: "event", durationThreshold: 16, buffered: true });
      globalThis.pressed = 0;
      addEventListener("keydown", () => globalThis.pressed++, { capture: true });
    });
    const id = await server.conversation();
    await page.goto(`${server.url}/chat/${id}`);
    const run = await server.say(id, "write on");
    await eventually("words", async () => (await page.locator("#thread-scroll").innerText()).includes("fox"));
    const before = await page.evaluate(() => document.querySelector("#thread-scroll").textContent.length);
    for (let round = 0; round < 3; round++) {
      await page.focus("#say");
      await page.keyboard.type("while it streams ", { delay: 15 });
      await page.keyboard.press("Control+k");
      await page.keyboard.type("set", { delay: 15 });
      await page.keyboard.press("Escape");
      await page.keyboard.press("Control+/");
      await page.keyboard.press("Escape");
    }
    const after = await page.evaluate(() => document.querySelector("#thread-scroll").textContent.length);
    check(after > before, "nothing streamed meanwhile");
    await page.evaluate(() => new Promise((done) => setTimeout(done, 200))); // entries come a little later
    const { slow, pressed } = await page.evaluate(() => ({ slow: globalThis.slow, pressed: globalThis.pressed }));
    check(pressed >= 60, `${pressed} keys`);
    // What took less than 16 ms makes no entry: it counts as 16.
    const worst = new Map();
    for (const [interaction, ms] of slow) worst.set(interaction, Math.max(worst.get(interaction) ?? 0, ms));
    const all = [...worst.values(), ...Array(Math.max(0, pressed - worst.size)).fill(16)].sort((a, b) => a - b);
    const p95 = all[Math.ceil(all.length * 0.95) - 1];
    world.figures["keys pressed while a reply streams"] = pressed;
    world.figures["ms from a key to the picture while a reply streams, p95"] = Math.round(p95);
    const most = /\/release\//.test(server.program) ? LATE_MS : 3 * LATE_MS;
    check(p95 <= most, `${p95} ms for 95 of 100 keys; most are under ${all[Math.floor(all.length / 2)]}`);
    await server.api(`/v1/runs/${run}/cancel`, {});
    await server.until(run, ["canceled"]);
    clean(page);
  } finally { await context.close(); }
}

// What lives on the heap after the garbage is gone.
async function heap(tools) {
  await tools.send("HeapProfiler.collectGarbage");
  const { usedSize } = await tools.send("Runtime.getHeapUsage");
  const { nodes, jsEventListeners } = await tools.send("Memory.getDOMCounters");
  return { mb: usedSize / 1e6, nodes, jsEventListeners };
}

async function soak(world, server) {
  const { context, page } = await signedIn(world, server);
  const tools = await context.newCDPSession(page);
  const seconds = SOAK_S;
  try {
    const id = await server.conversation();
    await page.goto(`${server.url}/chat/${id}`);
    const end = Date.now() + seconds * 1000;
    let part = 0, first = null, most = 0;
    while (Date.now() < end || part < 2) {
      const run = await server.say(id, `part ${part++ % 400} of many`);
      await eventually("words", async () => (await page.locator("#thread-scroll").innerText()).includes("fox"));
      const now = await heap(tools);
      first ??= now;
      most = Math.max(most, now.mb);
      // Until the page shows its part of the conversation only, it may grow.
      if (part === 25) first = now;
      if (Date.now() >= end) await server.api(`/v1/runs/${run}/cancel`, {}).catch(() => {});
      await server.until(run, ["succeeded", "canceled"]);
    }
    const last = await heap(tools);
    const span = seconds >= 3600 ? "an hour" : `${seconds} s`;
    world.figures[`memory of a chat after ${span} of streaming, MB of heap (at its start, at most)`] = `${last.mb.toFixed(1)} (${first.mb.toFixed(1)}, ${most.toFixed(1)})`;
    world.figures[`nodes of a chat after ${span} of streaming (at its start)`] = `${last.nodes} (${first.nodes})`;
    check(last.mb < first.mb + 6, `${first.mb} MB became ${last.mb}`);
    check(last.mb < 20, `${last.mb} MB`);
    clean(page);
  } finally { await context.close(); }
}
