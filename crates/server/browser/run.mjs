// Tests of the pages in a real browser: node run.mjs <everloop> <folder with node_modules> [pictures] [only]
// `only` is the name of one suite, or words of the names of tests.
import { createRequire } from "node:module";
import { readFileSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { Server } from "./server.mjs";
import { script } from "./script.mjs";
import { pages } from "./pages.mjs";
import { flows } from "./flows.mjs";
import { states } from "./states.mjs";
import { injections } from "./injections.mjs";
import { compare } from "./compare.mjs";
import { reports } from "./reports.mjs";
import { reportFile } from "./report_file.mjs";
import { setup } from "./setup.mjs";
import { runs } from "./runs.mjs";
import { inbox } from "./inbox.mjs";
import { layout } from "./layout.mjs";
import { live } from "./live.mjs";
import { longRun } from "./long_run.mjs";
import { shown } from "./shown.mjs";
import { moreInjections } from "./more_injections.mjs";
import { killed } from "./killed.mjs";
import { inputs } from "./inputs.mjs";
import { byKeys } from "./by_keys.mjs";
import { longChat } from "./long_chat.mjs";
import { streaming } from "./streaming.mjs";
import { measures } from "./measures.mjs";
import { counted, counting, table } from "./counts.mjs";

const [program, modules, pictures, only] = process.argv.slice(2);
const require = createRequire(join(resolve(modules), "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
if (pictures) mkdirSync(pictures, { recursive: true });

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"] });
const results = { passed: 0, failed: [], again: [] };
const world = {
  browser, axe, pictures, counted, program: resolve(program), figures: {}, isLong: process.env.EVERLOOP_LONG === "1",
  server: (said = script) => new Server(resolve(program), said),
  async test(name, body) {
    if (only && !suites.includes(only) && !name.includes(only)) return;
    const began = Date.now();
    // A browser on a busy machine is late now and then: what fails is tried once more, and told.
    for (const isLast of [false, true]) {
      try {
        await counting(body);
        results.passed++;
        if (isLast) results.again.push(name);
        console.log(`ok   ${name} (${Date.now() - began} ms)`);
        return;
      } catch (error) {
        const words = String(error.stack ?? error).split("\n").slice(0, 12).join("\n     ");
        console.log(`${isLast ? "FAIL" : "AGAIN"} ${name}\n     ${words}`);
        if (isLast) results.failed.push(name);
      }
    }
  },
};
// Each has a server of its own. Two at a time: most of a test is waiting for the other side.
const side = [compare, pages, flows, live, setup, states, runs, inbox, layout, moreInjections, injections, reportFile, shown, reports, byKeys, killed, inputs];
// What is measured has the machine for itself.
const alone = [longChat, longRun, streaming, measures];
const suites = [...side, ...alone].map((suite) => suite.name), began = Date.now();
// What breaks between the tests of a suite fails the suite, and no other one.
async function whole(suite) {
  try { await suite(world); }
  catch (error) { console.log(`FAIL ${suite.name}\n     ${error.stack ?? error}`); results.failed.push(suite.name); }
}
const wanted = (suite) => !suites.includes(only) || suite.name === only;
try {
  const left = side.filter(wanted);
  await Promise.all(Array.from({ length: 2 }, async () => { while (left.length) await whole(left.shift()); }));
  for (const suite of alone.filter(wanted)) await whole(suite);
} finally {
  await browser.close();
}
for (const [name, value] of Object.entries(world.figures)) console.log(`figure ${name}: ${value}`);
for (const name of results.again) console.log(`passed at the second try only: ${name}`);
console.log(`figure seconds of all of it: ${Math.round((Date.now() - began) / 1000)}`);
console.log(table());
console.log(`browser: ${results.passed} passed, ${results.failed.length} failed`);
process.exit(results.failed.length ? 1 : 0);
