// Nothing that a page does may take longer than 50 ms at a time.
import { check } from "./page.mjs";

export const frame = (page) => page.evaluate(() => new Promise(requestAnimationFrame));
const MOST = 50;

// The best of some passes: another program on the machine is no fault of the page. What a server sends in
// between counts too.
export async function smooth(world, page, what, act, passes = 6) {
  await page.evaluate(() => { globalThis.tasks = []; (globalThis.watch ??= new PerformanceObserver((l) => globalThis.tasks.push(...l.getEntries().map((e) => e.duration)))).observe({ type: "longtask" }); });
  let best = Infinity;
  for (let pass = 0; pass < passes && best > MOST; pass++) {
    await page.evaluate(() => (globalThis.tasks.length = 0));
    await act();
    best = Math.min(best, await page.evaluate(() => Math.max(0, ...globalThis.tasks)));
  }
  const name = `longest task while ${what}, ms (0: none of 50 or more)`;
  world.figures[name] = Math.max(world.figures[name] ?? 0, Math.round(best));
  check(best <= MOST, `a task of ${Math.round(best)} ms while ${what}`);
}
