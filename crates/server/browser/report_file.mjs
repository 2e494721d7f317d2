// The report of an analysis as the one file that it is: by day and by night, on paper, on a telephone.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { axe, check } from "./page.mjs";

const calls = (tool, args) => ({ calls: [{ tool, args }] });
const months = Array.from({ length: 12 }, (_, at) => `2026-${String(at + 1).padStart(2, "0")}`).filter((m) => m !== "2026-07");
const regions = { en: ["East", "North", "South", "West", "<img src=x onerror=alert(1)>", "Inner land of the north", "Islands", "Abroad"],
  zh: ["华东", "华北", "华南", "西南", "<img src=x onerror=alert(1)>", "港澳台地区", "东北", "海外"] };

function data(lang) {
  const rows = months.flatMap((month, at) => regions[lang].map((region, n) => `${month}-05,${region},${(n + 1) * 1000.5 + at * 37}`));
  return ["day,region,amount", ...rows, "2026-12-06,East,unknown amount"].join("\n") + "\n";
}

function script(lang) {
  const words = lang === "zh" ? ["# 海外最多：{{q1.r1.total|0}} 元", "海外", "元", "## 各地区", "海外卖了 {{q1.r1.total|0}} 元，另有 99,999 台没有出处。", "## 趋势", "七月没有数据。"]
    : ["# Abroad sells most: {{q1.r1.total|0}} in all", "Abroad", "CNY", "## Regions", "Abroad sold {{q1.r1.total|0}}; an invented 99,999 has no source.", "## Trend", "July is missing."];
  const table = "| region | total |\n|---|---:|\n| a | {{q1.r1.total}} |\n| b | {{q1.r2.total}} |";
  const report = [words[0], `- ${words[1]}: {{q1.r1.total|0}} ${words[2]}`, words[3], words[4], table, words[5], `${words[6]} ![x](charts/chart2.svg)`,
    "<script>alert(document)</script> [x](javascript:alert(document))", "[ANALYSIS_COMPLETE]"].join("\n\n");
  return { replies: [calls("read_dataset", { path: "sales.csv" }),
    calls("query_dataset", { sql: "SELECT region, sum(amount) AS total FROM sales GROUP BY 1 ORDER BY 2 DESC" }),
    calls("query_dataset", { sql: "SELECT substr(day, 1, 7) AS month, region, sum(amount) AS total FROM sales WHERE region < 'F' OR region > '东' GROUP BY 1, 2 ORDER BY 3" }),
    calls("make_chart", { kind: "bar", query: "q1", x: "region", y: ["total"], title: "Totals 各地区" }),
    calls("make_chart", { kind: "line", query: "q2", x: "month", y: ["total"], series: "region", title: "Months 每月" }),
    { text: report }] };
}

function written(world, lang) {
  const made = world.server(script(lang));
  writeFileSync(join(made.folder, "sales.csv"), data(lang));
  const LANG = lang === "zh" ? "zh_CN.UTF-8" : "en_US.UTF-8";
  const args = ["analyze", "--out", "report", "sales.csv", lang === "zh" ? "哪个地区最多？" : "which region sells most?"];
  const ran = spawnSync(made.program, args, { cwd: made.folder, env: { ...made.env(), LANG, LC_ALL: LANG }, encoding: "utf8" });
  check(ran.status === 0, `analyze ended with ${ran.status}: ${ran.stderr}`);
  check(ran.stdout.includes("99,999 ⚠"), `the answer does not mark the invented number: ${ran.stdout}`);
  return made;
}

async function opened(world, home, lang, options) {
  const context = await world.browser.newContext(options);
  const page = await context.newPage();
  const faults = [];
  const url = pathToFileURL(join(home.folder, "report/report.html")).href;
  page.on("console", (m) => faults.push(`console: ${m.text()}`));
  page.on("pageerror", (e) => faults.push(`error: ${e.message}`));
  page.on("dialog", (d) => { faults.push(`dialog: ${d.message()}`); d.dismiss(); });
  page.on("request", (r) => { if (!r.url().startsWith(url) && !r.url().startsWith("data:")) faults.push(`request: ${r.url()}`); });
  await page.goto(url);
  check((await page.getAttribute("html", "lang")) === (lang === "zh" ? "zh-CN" : "en"), "the page names its language");
  return { context, page, faults };
}

const labels = () => [...document.querySelectorAll("svg")].filter((svg) => svg.checkVisibility())
  .map((svg) => 12 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width);

export async function reportFile(world) {
  for (const lang of ["en", "zh"]) {
    await world.test(`the file of a report, ${lang}: light and dark, wide and narrow`, async () => {
      const home = written(world, lang);
      try {
        for (const [colorScheme, width] of [["light", 1440], ["dark", 1440], ["light", 360], ["dark", 360], ["light", 800]]) {
          const { context, page, faults } = await opened(world, home, lang, { viewport: { width, height: 900 }, colorScheme });
          const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          check(over <= 0, `${colorScheme} ${width}: ${over} px too wide`);
          const sizes = await page.evaluate(labels);
          check(sizes.length === 2 && sizes.every((size) => size >= 11.9 && size < 20), `${width}: labels of ${sizes} px`);
          const lost = await page.evaluate(() => [...document.querySelectorAll('a[href^="#"]')].map((a) => a.hash.slice(1)).filter((id) => !document.getElementById(id)));
          check(lost.length === 0, `links that lead nowhere: ${lost}`);
          const right = await page.evaluate(() => [...document.querySelectorAll("td[align=right], td.num")].every((td) => getComputedStyle(td).textAlign === "right" || getComputedStyle(td).textAlign === "-webkit-right"));
          check(right, "columns of numbers are right-aligned");
          check((await page.locator("a.n.bad").count()) === 1, "one number without a source is marked");
          check((await page.locator("script, img[onerror], a[href^=javascript]").count()) === 0, "words of the model stay words");
          if (width !== 800) await axe(world, page);
          if (world.pictures) await page.screenshot({ path: join(world.pictures, `report-${lang}-${colorScheme}-${width}.png`), fullPage: true });
          check(faults.length === 0, faults.join("\n"));
          await context.close();
        }
      } finally {
        await home.end();
      }
    });
  }
  await world.test("the file of a report on paper has its charts and every query", async () => {
    const home = written(world, "en");
    try {
      const { context, page, faults } = await opened(world, home, "en", { viewport: { width: 700, height: 900 }, colorScheme: "dark" });
      await page.emulateMedia({ media: "print", colorScheme: "light" });
      const hidden = await page.evaluate(() => [...document.querySelectorAll("pre")].filter((pre) => !pre.checkVisibility()).length);
      check(hidden === 0, `${hidden} queries are not printed`);
      check((await page.evaluate(labels)).length === 2, "each chart is printed once");
      const pdf = await page.pdf({ format: "A4" });
      check(pdf.length > 20_000, `a paper of ${pdf.length} bytes`);
      if (world.pictures) await page.screenshot({ path: join(world.pictures, "report-print.png"), fullPage: true });
      check(faults.length === 0, faults.join("\n"));
      await context.close();
    } finally {
      await home.end();
    }
  });
}
