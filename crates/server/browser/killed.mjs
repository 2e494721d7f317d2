// The server is killed under open pages: what was typed is sent once, what was read stays where it was.
import { signedIn, check, eventually } from "./page.mjs";

const count = (page, where, text) => page.locator(where, text ? { hasText: text } : {}).count();
const seen = (page, text) => eventually(`“${text}” on the page`, async () => (await page.locator("#main").innerText()).includes(text));

export async function killed(world) {
  await world.test("the server is killed under open pages: an answer and a message that were typed meanwhile arrive once, and nothing moves", () => all(world));
}

// A long conversation that somebody reads in the middle of.
async function long(server) {
  const id = await server.conversation("Reading in the middle");
  const run = await server.say(id, "first");
  await server.until(run, ["succeeded"]);
  for (let n = 0; n < 25; n++) await server.api(`/internal/runs/${run}/emit-message`, { content: `Line ${n}\n\n- one\n- two\n- three`, message_id: `k${n}` });
  return id;
}

async function all(world) {
  const server = await world.server().start();
  const { context, page } = await signedIn(world, server);
  await context.addInitScript(() => localStorage.setItem("everloop:loop", "react"));
  page.quiet = true; // the browser itself writes refused connections to the console
  const another = async (path) => {
    const one = await context.newPage();
    one.errors = [];
    one.on("pageerror", (error) => one.errors.push(error.message));
    await one.goto(server.url + path);
    return one;
  };
  try {
    const asked = await server.conversation(), run = await server.say(asked, "ask me");
    await server.until(run, ["waiting"]);
    const said = await server.conversation("A message meanwhile");
    const reading = await another(`/chat/${await long(server)}`), writing = await another(`/chat/${said}`), watching = await another(`/runs/${run}`);
    await page.goto(`${server.url}/chat/${asked}`);
    await page.locator("#thread form.ask").waitFor();
    await reading.evaluate(() => (document.querySelector("#thread-scroll").scrollTop = 300));
    await reading.fill("#say", "half a thought");
    const steps = await count(watching, ".wf tbody tr");
    await server.kill();
    for (const one of [page, reading, writing, watching]) await one.locator("#banner .banner").waitFor();
    await page.fill("#thread form.ask textarea[name=text]", "red");
    await page.click("#thread form.ask button.ink");
    await page.locator("#thread form.ask.unsent").waitFor();
    await writing.fill("#say", "and then this");
    await writing.press("#say", "Enter");
    await eventually("marked as not sent", async () => (await count(writing, ".unsent")) >= 1);
    await server.restart();
    await seen(page, "It is painted as you said.");
    check((await count(page, "#thread form.ask")) === 0, "the card is still there");
    check((await count(page, ".prose", "It is painted as you said.")) === 1, "the end is not there once");
    await seen(writing, "It is done.");
    await arrived(server, run, said);
    check((await count(writing, ".said", "and then this")) === 1, `the message is there ${await count(writing, ".said", "and then this")} times`);
    check((await writing.inputValue("#say")) === "", "what was sent is still in the input");
    await eventually("the run on its page", async () => (await watching.locator(".run-head, #main").first().innerText()).includes("succeeded"));
    check((await count(watching, ".wf tbody tr")) > steps, "the run's page has no new step");
    check(new Set(await watching.locator(".wf tbody tr [data-step]").evaluateAll((rows) => rows.map((row) => row.href))).size === (await count(watching, ".wf tbody tr [data-step]")), "a step is there twice");
    await still(reading);
    for (const one of [page, reading, writing, watching]) await eventually("no banner", async () => (await count(one, "#banner .banner")) === 0);
    check(page.faults.length === 0, page.faults.join("\n"));
    for (const one of [reading, writing, watching]) check(one.errors.length === 0, one.errors.join("\n"));
  } finally { await context.close(); await server.end(); }
}

// What the server has of it: each exactly once.
async function arrived(server, run, conversation) {
  const runs = (await server.api("/v1/runs")).data.filter((one) => one.goal === "and then this");
  check(runs.length === 1, `${runs.length} runs of one message`);
  const messages = (await server.api(`/v1/conversations/${conversation}/messages`)).data.filter((one) => JSON.stringify(one).includes("and then this"));
  check(messages.length === 1, `the message is kept ${messages.length} times`);
  const answered = (await server.api("/v1/interrupts?status=answered")).data.filter((one) => one.run_id === run);
  check(answered.length === 1, `${answered.length} answers`);
}

async function still(page) {
  const top = await page.evaluate(() => document.querySelector("#thread-scroll").scrollTop);
  check(Math.abs(top - 300) < 2, `it was scrolled to ${top}`);
  check((await page.inputValue("#say")) === "half a thought", "the draft is gone");
}
