// What is seldom seen, in every form: signing in, nothing yet, servers of tools, what is allowed for good, a lost connection.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { signedIn, check, eventually } from "./page.mjs";
import { looks, stranger } from "./forms.mjs";

const MCP = fileURLToPath(new URL("hostile_server.mjs", import.meta.url));

export async function shown(world) {
  await signingIn(world);
  await nothingYet(world);
  await lent(world);
  await lost(world);
}

async function signingIn(world) {
  const server = await world.server().start();
  try {
    const used = server.open;
    const { context } = await signedIn(world, server);
    await context.close();
    const wrong = async (page) => {
      await page.goto(`${server.url}/signin`);
      await page.fill("#token", "wrong-token-0123456789");
      await page.click("button.ink");
      await page.locator("#wrong").waitFor();
    };
    const all = { "sign-in": "/signin", "sign-in refused": wrong, "used link": new URL(used).pathname + new URL(used).search };
    await looks(world, server, all, { session: stranger, isQuiet: true, isPlain: true });
  } finally { await server.end(); }
}

async function nothingYet(world) {
  const server = await world.server().start();
  try {
    const paths = { chat: "/chat", inbox: "/inbox", runs: "/runs", agenda: "/agenda", memory: "/memory", conversations: "/conversations", compare: "/compare", reports: "/reports",
      "search for nothing": "/search?q=no-such-word", approvals: "/settings?section=approvals", audit: "/settings?section=audit", skills: "/settings?section=skills", servers: "/settings?section=mcp" };
    await looks(world, server, Object.fromEntries(Object.entries(paths).map(([name, path]) => [`empty ${name}`, path])), { isPlain: true });
  } finally { await server.end(); }
}

// Servers of tools in each state that a person decides in, and what is allowed for good.
async function lent(world) {
  const server = world.server();
  const told = join(server.home, "tools.json");
  writeFileSync(told, JSON.stringify([{ name: "read_page", description: "Reads a page." }, { name: "send_page", description: "Sends a page to somebody." }]));
  const one = (name, command, args, more = "") => `[mcp.servers.${name}]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n${more}\n`;
  server.settings(one("pages", process.execPath, [MCP, told]) + one("fresh", process.execPath, [MCP, told]) + one("lent", process.execPath, [MCP, told])
    + one("broken", "/no/such/program", []) + one("quiet", process.execPath, [MCP, told], "enabled = false"));
  await server.start();
  try {
    const { context, page } = await signedIn(world, server);
    await world.test("a server of tools runs and is approved from the page only", async () => {
      await page.goto(`${server.url}/settings?section=mcp`);
      check((await page.locator(".mcp").count()) === 5, "five servers");
      for (const name of ["pages", "lent", "broken"]) await page.locator(`form[action="/do/mcp/${name}/look"] button`).click();
      await page.locator("#mcp-broken [role=alert]").waitFor();
      await eventually("two lists of tools", async () => (await page.locator(".mcp-tools").count()) === 2);
      check((await page.locator("#mcp-pages .mcp-tools li").count()) === 2, "its tools");
      await page.locator('form[action="/do/mcp/pages/approve"] button').click();
      await eventually("approved", async () => (await page.locator('#mcp-pages [data-s="succeeded"]').count()) === 1);
    });
    await context.close();
    await standing(server);
    await looks(world, server, { "servers of tools": "/settings?section=mcp", "standing approvals": "/settings?section=approvals" }, { each: async (page, name) => {
      const rows = await page.locator(name === "servers of tools" ? ".mcp" : 'form[action^="/do/approvals/"]').count();
      check(rows === (name === "servers of tools" ? 5 : 1), `${rows} rows`);
    } });
  } finally { await server.end(); }
}

async function standing(server) {
  const run = await server.say(await server.conversation(), "shell again");
  await server.until(run, ["waiting"]);
  const asked = (await server.api("/v1/interrupts")).data.find((one) => one.run_id === run);
  await server.api(`/v1/interrupts/${asked.id}/answer`, { action: "accept_always" });
  await server.until(run, ["succeeded"]);
}

// The connection is lost: the banner, an answer that was not sent, a message that was not sent.
async function lost(world) {
  const server = await world.server().start();
  const restarted = async () => { if (server.child.exitCode !== null || server.child.signalCode !== null) await server.restart(); };
  const open = async (page) => {
    await restarted();
    const id = await server.conversation();
    await server.until(await server.say(id, "ask me"), ["waiting"]);
    await page.goto(`${server.url}/chat/${id}`);
    await page.locator("#thread form.ask").waitFor();
    await server.kill();
    await page.locator("#banner .banner").waitFor();
    await page.fill("#thread form.ask textarea[name=text]", "green");
    await page.click("#thread form.ask button.ink");
    await page.locator("#thread form.ask.unsent").waitFor();
    await page.fill("#say", "and then this");
    await page.press("#say", "Enter");
    await eventually("not sent yet", async () => (await page.locator(".unsent").count()) >= 2 || (await page.locator("#unsent").isVisible()));
  };
  try { await looks(world, server, { "without a connection": open }, { isQuiet: true }); }
  finally { await server.end(); }
}
