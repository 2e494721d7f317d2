// What goes into a message beside words: files that are dropped and pasted, another model, commands, paths.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { signedIn, clean, check, eventually } from "./page.mjs";
import { provider, KEY } from "./provider.mjs";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const chips = (page) => page.locator("#files-chosen li").allInnerTexts();
const seen = (page, text) => eventually(`“${text}” on the page`, async () => (await page.locator("#main").innerText()).includes(text));

export async function inputs(world) {
  const server = await world.server().start();
  const flow = (name, body) => world.test(name, async () => {
    const { context, page } = await signedIn(world, server);
    await context.addInitScript(() => localStorage.setItem("everloop:loop", "react"));
    try { await body(page, server); clean(page); } finally { await context.close(); }
  });
  try {
    await flow("files that are dropped anywhere on the page go with the message", drops);
    await flow("a picture that is pasted goes with the message, pasted words stay words", pastes);
    await flow("a command in the input is carried out and answered, and no model is asked", commands);
    await flow("words with an @ are sent as they are, an unknown command is named", plain);
  } finally { await server.end(); }
  await world.test("the models of an endpoint can be chosen without loading the page again, and the chosen one answers", () => models(world));
}

// As a browser does it: an event with a transfer of real files.
async function carry(page, where, type, files) {
  await page.evaluate(([where, type, files]) => {
    const data = new DataTransfer();
    for (const { name, kind, text, base64 } of files) data.items.add(new File([base64 ? Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)) : text], name, { type: kind }));
    const target = document.querySelector(where), more = { bubbles: true, cancelable: true };
    if (type === "paste") return target.dispatchEvent(new ClipboardEvent("paste", { ...more, clipboardData: data }));
    for (const name of ["dragenter", "dragover"]) target.dispatchEvent(new DragEvent(name, { ...more, dataTransfer: data }));
    globalThis.shownWhere = document.querySelector("#composer").classList.contains("dropping");
    target.dispatchEvent(new DragEvent("drop", { ...more, dataTransfer: data }));
  }, [where, type, files]);
}

async function drops(page, server) {
  await page.goto(`${server.url}/chat`);
  await carry(page, "#thread", "drop", [{ name: "dot.png", kind: "image/png", base64: PNG }, { name: "notes.csv", kind: "text/csv", text: "a,b\n1,2\n" }]);
  check(await page.evaluate(() => globalThis.shownWhere), "nothing says that files can be dropped here");
  check((await chips(page)).length === 2, `${await chips(page)}`);
  check(!(await page.evaluate(() => document.querySelector("#composer").classList.contains("dropping"))), "it still waits for a drop");
  await eventually("a small picture", () => page.evaluate(() => document.querySelector("#files-chosen img")?.naturalWidth === 1));
  await page.fill("#say", "dropped");
  await page.press("#say", "Enter");
  await page.waitForURL(/\/chat\/conv_/);
  await seen(page, "It is done.");
  check((await chips(page)).length === 0, "the chips are still there");
  const run = (await server.api("/v1/runs")).data.find((one) => one.goal.startsWith("dropped"));
  check(run.goal.includes("a,b"), "the run has not the text");
  await page.goto(`${server.url}/runs/${run.id}?show=model`);
  await page.locator(".wf-name").first().click();
  await eventually("the prompt with a picture", async () => /"image/.test(await page.locator("#step-input").innerText()));
}

async function pastes(page, server) {
  await page.goto(`${server.url}/chat`);
  await carry(page, "#say", "paste", [{ name: "shot.png", kind: "image/png", base64: PNG }]);
  check((await chips(page)).length === 1, `${await chips(page)}`);
  await carry(page, "#say", "paste", []);
  check((await chips(page)).length === 1, "a paste without files changed them");
  await page.locator("#files-chosen button").click();
  check((await chips(page)).length === 0, "it cannot be taken off");
  await carry(page, "#say", "paste", [{ name: "shot.png", kind: "image/png", base64: PNG }]);
  await page.press("#say", "Enter");
  await page.waitForURL(/\/chat\/conv_/);
  await eventually("an answer", async () => (await page.locator(".prose").count()) > 0);
}

async function commands(page, server) {
  const agents = async () => (await server.api("/v1/runs")).data.filter((run) => run.type === "agent").length;
  const before = await agents();
  await page.goto(`${server.url}/chat`);
  await page.fill("#say", "/todo add call the plumber tomorrow");
  await page.press("#say", "Enter");
  await page.waitForURL(/\/chat\/conv_/);
  await seen(page, "plumber");
  await eventually("the todo", async () => JSON.stringify(await server.api("/v1/todos")).includes("plumber"));
  check(!(await page.locator("#main").innerText()).includes("It is done."), "a model was asked");
  check(before > 0 && (await agents()) === before, `${before} agents before, ${await agents()} after`);
}

async function plain(page, server) {
  writeFileSync(join(server.folder, "notes.md"), "# Notes\n");
  await page.goto(`${server.url}/chat`);
  await page.fill("#say", "read @notes.md for me@example.com");
  await page.press("#say", "Enter");
  await page.waitForURL(/\/chat\/conv_/);
  await seen(page, "It is done.");
  check((await page.locator(".said").first().innerText()).includes("read @notes.md for me@example.com"), "the words were changed");
  await page.fill("#say", "/usr/bin/env is a path");
  await page.press("#say", "Enter");
  await seen(page, "Unknown command /usr/bin/env");
}

// The first page is made before the endpoint has answered.
async function models(world) {
  let answer;
  const endpoint = await provider(new Promise((resolve) => (answer = resolve))), server = world.server();
  const plain = server.env.bind(server);
  server.env = () => ({ ...plain(), EVERLOOP_MODEL: "", EVERLOOP_SETUP_PROBE: "", TEST_KEY: KEY });
  server.settings(`[model]\ndefault = "local/small"\n[providers.local]\nbase_url = ${JSON.stringify(endpoint.url)}\nkey = "env:TEST_KEY"\n`);
  await server.start();
  const { context, page } = await signedIn(world, server);
  try {
    await page.goto(`${server.url}/chat`);
    await page.selectOption("#loop", "react");
    await page.evaluate(() => (globalThis.sameness = true));
    check((await page.locator("#model option").count()) === 1, "the endpoint has answered before it was allowed to");
    answer();
    await eventually("both models", async () => {
      await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
      return (await page.locator("#model option").allInnerTexts()).some((name) => name.includes("large"));
    });
    check(await page.evaluate(() => globalThis.sameness), "the page was loaded again");
    const large = (await page.locator("#model option").evaluateAll((all) => all.map((one) => one.value))).find((name) => name.includes("large"));
    await page.selectOption("#model", large);
    await page.fill("#say", "count to ten");
    await page.press("#say", "Enter");
    await page.waitForURL(/\/chat\/conv_/);
    await eventually("its answer", async () => (await page.locator("#main").innerText()).includes("7 8 9 10"));
    const run = (await server.api("/v1/runs")).data.find((one) => one.goal === "count to ten");
    check((await server.api(`/v1/runs/${run.id}`)).model.includes("large"), "another model answered");
    check((await page.inputValue("#model")) === large, "the choice is forgotten");
    clean(page);
  } finally { answer(); await context.close(); await server.end(); await endpoint.end(); }
}
