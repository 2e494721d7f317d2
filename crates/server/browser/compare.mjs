// Comparing loops and runs: started from the page, watched, kept over a kill, read in both languages.
import { Server } from "./server.mjs";
import { signedIn, check, clean, eventually } from "./page.mjs";
import { looks } from "./forms.mjs";

const EVIL = `<img src=x onerror=alert(1)>`;

export async function compare(world) {
  const script = { replies: [{ text: "It is done." }], others: [
    { goal: "first way", replies: [{ calls: [{ tool: "list_dir", args: { path: "." } }] }, { text: "It is done." }] },
    { goal: "second way", replies: [{ calls: [{ tool: "list_dir", args: { path: EVIL } }] }, { text: EVIL }] },
  ] };
  const server = await new Server(world.server().program, script).start();
  try {
    const say = async (goal, loop) => server.until(await server.say(await server.conversation(), goal, loop), ["succeeded", "failed"]);
    const runs = [await say("first way"), await say("second way"), await say("first way", "hybrid")].map((r) => r.id);
    await world.test("a comparison is started from the page, watched, and read as a sentence", () => begins(world, server));
    await world.test("a comparison is kept over a kill, and one that was cut off says so", () => kept(world, server));
    await world.test("a model that may cost money is asked only after a yes, and odd numbers are refused", () => refused(server));
    await world.test("two runs stand side by side up to their first difference", () => pair(world, server, runs));
    const all = { compare: "/compare", "two runs": `/compare?a=${runs[0]}&b=${runs[1]}`, "second run": `/compare?a=${runs[0]}` };
    await looks(world, server, all, { each: async (page, name, form) => {
      for (const d of await page.locator("details.as-table, details.same-box, details.compare-new").all()) await d.evaluate((e) => (e.open = true));
      const spills = await page.evaluate(() => [...document.querySelectorAll(".cmp th, .cmp td")].filter((e) => e.clientWidth > 1 && e.scrollWidth > e.clientWidth + 1).length);
      check(spills === 0 || form.text, `${spills} cells of the table spill`);
      const box = await page.evaluate(() => { const e = document.querySelector(".table-box"); return e ? e.scrollWidth - e.clientWidth : 0; });
      check(name !== "compare" || form.isLarge || box <= 1, `the table is ${box} px wider than its box`);
    } });
    await looks(world, server, { comparing: (page) => comparing(server, page) }, { isPlain: true, isStale: async (page) => (await page.locator(".comparing").count()) === 0 });
  } finally { await server.end(); }
}

async function begins(world, server) {
  const { context, page } = await signedIn(world, server);
  await page.goto(`${server.url}/compare`);
  const all = await page.locator("#compare-cost").textContent();
  await page.uncheck('[name="loop:plan-replan"]');
  const fewer = await page.locator("#compare-cost").textContent();
  check(all !== fewer && /\d/.test(fewer), `the cost is not counted: ${all} / ${fewer}`);
  for (const kind of ["todos", "search", "recovery", "clarification"]) await page.uncheck(`[name="kind:${kind}"]`);
  await page.locator("form[data-compare] button.ink").click();
  await page.locator(".comparing progress").waitFor();
  const moved = await eventually("progress", async () => +(await page.locator(".comparing progress").getAttribute("value")) > 0 || (await page.locator(".cmp tbody tr").count()) > 0, 120_000);
  check(moved, "no progress");
  await page.locator(".cmp tbody tr").first().waitFor({ timeout: 240_000 });
  await page.locator(".comparing").waitFor({ state: "detached", timeout: 60_000 });
  check((await page.locator(".lede h2 .mono").textContent()).length > 3, "no finding");
  check((await page.locator(".cmp tbody tr").count()) === 7, "not every loop has a row");
  const crosses = await page.locator(".matrix .bad").count(), marked = await page.locator(".cmp [data-s=failed]").count();
  check((crosses > 0) === (marked > 0), `${crosses} crosses, ${marked} loops with failures`);
  await page.setViewportSize({ width: 1200, height: 800 });
  const broken = await page.locator(".cmp thead th").evaluateAll((all) => all.flatMap((th) => {
    const walk = document.createTreeWalker(th, NodeFilter.SHOW_TEXT), found = [];
    while (walk.nextNode()) for (const { 0: word, index } of walk.currentNode.textContent.matchAll(/\S+/g)) {
      const range = document.createRange();
      range.setStart(walk.currentNode, index);
      range.setEnd(walk.currentNode, index + word.length);
      if (new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size > 1) found.push(word);
    }
    return found;
  }));
  check(broken.length === 0, `the head of the table is broken within words: ${broken}`);
  const table = await page.request.get(`${server.url}/compare/export`);
  check((await table.json()).totals.length === 7, "the file has not every loop");
  clean(page);
  await context.close();
}

// A comparison that works, as a page shows it.
async function comparing(server, page) {
  await page.goto(`${server.url}/compare`);
  if ((await page.locator(".comparing").count()) === 0) await page.locator("header.bar form button").click();
  await page.locator(".comparing progress").waitFor();
}

async function kept(world, server) {
  const { context, page } = await signedIn(world, server);
  await page.goto(`${server.url}/compare`);
  const finding = await page.locator(".lede h2").textContent();
  await page.locator("header.bar form button").click();
  await page.locator(".comparing progress").waitFor();
  await server.kill();
  await server.restart();
  await page.goto(`${server.url}/compare`);
  check((await page.locator(".lede h2").textContent()) === finding, "the last result is gone");
  check((await page.locator("#compare-now .note form").count()) === 1, "nobody says that it was cut off");
  await page.locator("#compare-now .note form button").click();
  await page.locator(".comparing progress").waitFor();
  await page.locator(".comparing form button").click();
  await page.locator(".comparing").waitFor({ state: "detached" });
  await page.locator("#compare-now .note").waitFor();
  check((await page.locator(".lede h2").textContent()) === finding, "stopping took the last result");
  await context.close();
}

async function refused(server) {
  const said = async (fields) => {
    const answer = await fetch(`${server.url}/do/compare/begin`, { method: "POST", redirect: "manual",
      headers: { authorization: "Bearer browser-test-token-0123456789", "content-type": "application/x-www-form-urlencoded" }, body: new URLSearchParams(fields) });
    return answer.status;
  };
  const fine = { loops: "react", tasks: "files-write", seed: "1", runs: "1" };
  check((await said({ ...fine, models: "openai/some-model" })) >= 400, "a paid model was asked without a yes");
  check((await said({ ...fine, models: "competent", runs: "0" })) >= 400, "no run at all");
  check((await said({ ...fine, models: "competent", runs: "many" })) >= 400, "a word as a number");
  check((await said({ models: "competent" })) >= 400, "nothing chosen");
}

async function pair(world, server, runs) {
  const { context, page } = await signedIn(world, server);
  await page.goto(`${server.url}/compare`);
  await page.selectOption("#run-a", runs[0]);
  await page.selectOption("#run-b", runs[1]);
  await page.locator(".two-runs button").click();
  await page.locator(".vs").waitFor();
  check((await page.locator(".pair.part").count()) === 1, "the first difference is not marked");
  check((await page.locator(".vs").textContent()).includes(EVIL), "the arguments are not shown as text");
  check((await page.locator(".vs img").count()) === 0, "an argument became an element");
  await page.goto(`${server.url}/compare?a=${runs[0]}&b=${runs[2]}`);
  check((await page.locator(".pair > .none").count()) > 0, "what has no counterpart is not hatched");
  await page.goto(`${server.url}/compare?a=${runs[0]}&b=${runs[0]}`);
  check((await page.locator(".pair.part").count()) === 0 && (await page.locator(".same-box").count()) === 1, "a run differs from itself");
  await page.goto(`${server.url}/runs/${runs[0]}`);
  await page.locator(".head-do .pop > summary").click();
  await page.locator(`a[href="/compare?a=${runs[0]}"]`).click();
  await page.locator(`a[href="/compare?a=${runs[0]}&b=${runs[1]}"]`).click();
  await page.locator(".vs").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("c");
  await page.waitForURL(/\/compare$/);
  clean(page);
  await context.close();
}
