// A page that is watched: no line in the console, no request to another origin.
import { eventually } from "./server.mjs";
import { counted, looked } from "./counts.mjs";

export async function watched(context, server) {
  const page = counted(await context.newPage());
  page.setDefaultTimeout(20_000);
  page.faults = [];
  page.on("console", (m) => {
    // The browser says so itself when a page is left while its stream is being opened.
    const isLeft = m.text().includes("WebSocket is closed before the connection is established");
    if (!page.quiet && !isLeft) page.faults.push(`console ${m.type()}: ${m.text()}`);
  });
  page.on("pageerror", (e) => page.faults.push(`error: ${e.message}`));
  page.on("request", (r) => { const u = r.url(); if (!u.startsWith(server.url) && !u.startsWith("data:") && !u.startsWith(server.url.replace("http", "ws"))) page.faults.push(`request: ${u}`); });
  page.on("dialog", (d) => { page.faults.push(`dialog: ${d.message()}`); d.dismiss(); });
  return page;
}

export async function signedIn(world, server, options = {}) {
  const context = await world.browser.newContext({ viewport: { width: 1440, height: 900 }, locale: "en", ...options });
  const page = await watched(context, server);
  server.link ??= server.open;
  if (server.cookies) await context.addCookies(server.cookies);
  else {
    await page.goto(server.link);
    await page.waitForURL((u) => !u.pathname.startsWith("/open"));
    server.cookies = (await context.cookies()).filter((c) => c.httpOnly);
  }
  return { context, page };
}

export function clean(page) {
  if (page.faults.length) throw new Error(page.faults.join("\n"));
}

export function check(value, what) {
  if (!value) throw new Error(what);
}

export async function axe(world, page, rules = {}) {
  // A script of the test is no script of the page: it comes past the policy.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(world.axe);
  // A color on its way to another one is none of the page's, and neither is what still fades in.
  await page.evaluate(() => { for (const a of document.getAnimations()) if (a.effect.getComputedTiming().endTime < Infinity) a.finish(); });
  const found = await page.evaluate(async (rules) => {
    const { violations } = await globalThis.axe.run(document, { rules });
    return violations.map((v) => `${v.id} (${v.impact}): ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(" | ")}`);
  }, rules);
  looked(page.url(), found.length);
  check(found.length === 0, `axe: ${found.join("\n")}`);
}

export { eventually };
