// Reports: an analysis that is started from the page, its numbers, its files, and what odd data do.
import { writeFileSync, appendFileSync } from "node:fs";
import { join } from "node:path";
import { Server } from "./server.mjs";
import { signedIn, check, clean } from "./page.mjs";
import { looks } from "./forms.mjs";
import { tabTo } from "./by_keys.mjs";

const EVIL = `<img src=x onerror=alert(1)>`, TAG = `"><script>alert(1)</script>`;
const calls = (tool, args) => ({ calls: [{ tool, args }] });
const TOTALS = "SELECT region, sum(amount) AS total FROM sales GROUP BY region ORDER BY total DESC";

const answer = (text, sql, file, chart = { x: "region", y: ["total"], title: "Totals" }) => [
  calls("read_dataset", { path: file }), calls("query_dataset", { sql }),
  calls("make_chart", { kind: "bar", query: "q1", ...chart }), { text: `${text}\n\n[ANALYSIS_COMPLETE]` }, { text: `${text}\n\n[ANALYSIS_COMPLETE]` }];

export async function reports(world) {
  const odd = `[x](javascript:alert(1)) ${EVIL} ${TAG} ![p](https://evil.example/p.png)`;
  const script = { replies: [{ text: "It is done." }], others: [
    { goal: "which region sells most", replies: answer("# East sells most\n\nEast sold {{q1.r1.total}}, West 4,185. Somebody said 777,123.\n\n## Why\n\nEast has two quarters.", TOTALS, "sales.csv") },
    { goal: "odd data", replies: answer(`# ${EVIL} sells\n\n${odd}\n\n## ${TAG}\n\nSum {{q1.r1.total}} and 555,111.`,
      `SELECT region AS "${EVIL.replaceAll('"', "")}", sum(amount) AS total FROM odd GROUP BY 1 ORDER BY 2 DESC`, "odd.csv", { x: EVIL, y: ["total"], title: TAG }) },
  ] };
  const server = await new Server(world.server().program, script).start();
  writeFileSync(join(server.folder, "sales.csv"), "region,quarter,amount\nEast,Q2,4812.6\nEast,Q3,3927.1\nWest,Q2,2050.25\nWest,Q3,2134.75\n");
  writeFileSync(join(server.folder, "odd.csv"), `region,${EVIL},amount\n${EVIL},${EVIL},5\n"""><script>alert(1)</script>",x,7\n`);
  const made = {};
  try {
    await world.test("an analysis is started from the page and its report is read", () => begins(world, server, made));
    if (!made.run) return;
    await world.test("a number shows its query, row and value, with and without scripts", () => numbers(world, server, made.run));
    await world.test("a number of a report is opened by the keyboard alone", () => numberByKeys(world, server, made.run));
    await world.test("files of a report are downloads in a sandbox", () => files(world, server, made.run));
    await world.test("a report is computed again, and a changed one says so", () => recheck(world, server, made.run));
    await world.test("text, columns, cells and titles of a report cannot become a page", () => injected(world, server, made));
    const all = { reports: "/reports", report: `/reports/${made.run}` };
    await looks(world, server, all, { each: async (page, name, form) => {
      if (name !== "report") return;
      const small = await page.evaluate(() => [...document.querySelectorAll(".plot text")].filter((t) => t.getBoundingClientRect().height > 0)
        .map((t) => 12 * t.ownerSVGElement.getBoundingClientRect().width / t.ownerSVGElement.viewBox.baseVal.width).filter((px) => px < 11.5).length);
      check(small === 0 || form.text, `${small} labels of a chart are below 12 px`);
      check((await page.locator(".keys .sum-check").evaluate((e) => e.clientWidth)) > 60, "the key figures are squeezed");
    } });
  } finally { await server.end(); }
}

async function start(server, page, files, question) {
  await page.goto(`${server.url}/reports`);
  await page.locator("#report-new").evaluate((e) => (e.open = true));
  await page.fill("#files", files);
  await page.fill("#question", question);
  await page.locator('form[action="/do/reports/begin"] button.ink').click();
  await page.waitForURL(/\/runs\/run_/);
  const run = new URL(page.url()).pathname.split("/").pop();
  await server.until(run, ["succeeded", "failed"]);
  return run;
}

async function begins(world, server, made) {
  const { context, page } = await signedIn(world, server);
  await page.goto(`${server.url}/reports`);
  await page.fill("#files", "no-such-file.csv");
  await page.fill("#question", "which?");
  await page.locator('form[action="/do/reports/begin"] button.ink').click();
  await page.locator(".toast").waitFor();
  check((await page.locator(".toast").textContent()).includes("no-such-file.csv"), "the missing file is not named");
  page.faults = [];
  made.run = await start(server, page, "sales.csv", "which region sells most");
  await page.keyboard.press("g");
  await page.keyboard.press("p");
  await page.waitForURL(/\/reports$/);
  await page.locator(`a[href="/reports/${made.run}"]`).click();
  await page.locator(".doc-title").waitFor();
  check((await page.locator(".doc-title").textContent()).includes("East sells most"), "no title");
  check((await page.locator(".doc").textContent()).includes("8,739.7"), "the number is not in the words");
  check((await page.locator(".keys .sum-check").textContent()).includes("2 / 3"), await page.locator(".keys .sum-check").textContent());
  check((await page.locator("a.n.bad").count()) >= 1, "the number without a source is not marked");
  check((await page.locator("figure svg.plot").count()) >= 2, "the chart is not drawn twice");
  clean(page);
  await context.close();
}

async function numbers(world, server, run) {
  const { context, page } = await signedIn(world, server);
  await page.goto(`${server.url}/reports/${run}`);
  await page.locator(".doc-text a.n", { hasText: "8,739.7" }).first().click();
  const card = page.locator(".trace");
  await card.waitFor();
  const said = await card.textContent();
  check(said.includes("q1.r1.total") && said.includes("8739.7") && said.includes("SELECT"), `the margin says: ${said}`);
  await page.locator(".doc-text a.n.bad").first().click();
  check((await page.locator(".trace").count()) === 1, "two numbers are shown at once");
  clean(page);
  await context.close();
  const bare = await signedIn(world, server, { javaScriptEnabled: false });
  await bare.page.goto(`${server.url}/reports/${run}`);
  await bare.page.locator(".doc-text a.n", { hasText: "8,739.7" }).first().click();
  check(/#n\d+$/.test(bare.page.url()), bare.page.url());
  check((await bare.page.locator("tr:target").textContent()).includes("q1.r1.total"), "the anchor does not lead to the source");
  await bare.context.close();
}

async function numberByKeys(world, server, run) {
  const { context, page } = await signedIn(world, server);
  await page.goto(`${server.url}/reports/${run}`);
  await tabTo(page, ".doc-text a.n");
  await page.keyboard.press("Enter");
  await page.locator(".trace").waitFor();
  check((await page.locator(".trace").textContent()).includes("SELECT"), "no query");
  clean(page);
  await context.close();
}

async function files(world, server, run) {
  const { context, page } = await signedIn(world, server);
  await page.goto(`${server.url}/reports/${run}`);
  const links = await page.locator(".pop.down a[download]").evaluateAll((all) => all.map((a) => a.getAttribute("href")));
  check(links.length >= 5, `${links}`);
  for (const link of links) {
    const answer = await page.request.get(server.url + link);
    const { "content-security-policy": policy, "content-disposition": name, "content-type": kind } = answer.headers();
    check(answer.ok() && policy.startsWith("sandbox") && name.startsWith("attachment") && kind === "application/octet-stream", `${link}: ${answer.status()} ${policy} ${name} ${kind}`);
  }
  for (const bad of ["..%2F..%2Fconfig.toml", "%2Fetc%2Fpasswd", "report.md%00"]) {
    const answer = await page.request.get(`${server.url}/reports/${run}/files/${bad}`);
    check(answer.status() === 404 || answer.status() === 400, `${bad}: ${answer.status()}`);
  }
  await context.close();
}

async function recheck(world, server, run) {
  const { context, page } = await signedIn(world, server);
  await page.goto(`${server.url}/reports/${run}`);
  await page.locator(`form[action="/do/reports/${run}/check"] button`).click();
  await page.locator(".doc > .note[role=status]").waitFor({ timeout: 60_000 });
  const said = await page.locator(".doc > .note[role=status]").textContent();
  check(said.includes("computed again"), said);
  clean(page);
  const entry = (await server.api(`/v1/runs/${run}/artifacts`)).data.find((a) => a.name.endsWith("report.md"));
  appendFileSync(join(server.folder, entry.name), " ");
  await page.goto(`${server.url}/reports/${run}`);
  await page.locator(".doc > .note.caveat").waitFor();
  await context.close();
}

async function injected(world, server, made) {
  const { context, page } = await signedIn(world, server);
  made.odd = await start(server, page, "odd.csv", "odd data");
  page.faults = [];
  for (const path of [`/reports/${made.odd}`, "/reports", `/runs/${made.odd}`]) {
    await page.goto(server.url + path);
    const bad = await page.evaluate(() => [...document.querySelectorAll("*")].filter((e) => e.matches("script:not([src^='/a/']), iframe, object, embed, base, img:not([src^='data:image/png'])")
      || [...e.attributes].some((a) => /^on/i.test(a.name) || /^\s*(javascript|vbscript):/i.test(a.value))).map((e) => e.outerHTML.slice(0, 120)));
    check(bad.length === 0, `${path}: ${bad.join("\n")}`);
  }
  check((await page.goto(`${server.url}/reports/${made.odd}`)).ok(), "the odd report is not shown");
  const shown = await page.locator(".doc").textContent();
  check(shown.includes("<img src=x"), "the odd data are not shown as text");
  for (const n of await page.locator(".doc-text a.n").all()) await n.click();
  world.figures["injection attempts shown as text in a report"] = shown.match(/<(img|script|svg|iframe)\b|javascript:/gi).length;
  clean(page);
  await context.close();
}
