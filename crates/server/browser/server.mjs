// A server of its own with a scripted model, in a home of its own.
import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync, mkdirSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const TOKEN = "browser-test-token-0123456789";

export class Server {
  constructor(program, script) {
    this.program = program;
    this.home = mkdtempSync(join(tmpdir(), "everloop-browser-"));
    this.folder = join(this.home, "work");
    mkdirSync(this.folder);
    this.script = join(this.home, "script.json");
    writeFileSync(this.script, JSON.stringify(script));
  }

  env() {
    const { PATH, LANG } = process.env;
    return { PATH, LANG: LANG ?? "C.UTF-8", HOME: this.home, EVERLOOP_HOME: join(this.home, "home"),
      EVERLOOP_MODEL: `scripted/${this.script}`, EVERLOOP_TOKEN: TOKEN, TZ: "Asia/Shanghai" };
  }

  async start(listen = "127.0.0.1:0") {
    this.child = spawn(this.program, ["serve", "--listen", listen, "--open", "--json", "--insecure"],
      { cwd: this.folder, env: this.env(), stdio: ["ignore", "pipe", "pipe"] });
    this.errors = "";
    this.child.stderr.on("data", (d) => (this.errors += d));
    const line = await new Promise((resolve, reject) => {
      createInterface({ input: this.child.stdout }).once("line", resolve);
      this.child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${this.errors}`)));
    });
    const said = JSON.parse(line);
    this.url = said.url;
    this.open = said.open_url;
    return this;
  }

  // As a power cut would: nothing is told to the process.
  async kill() {
    const gone = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill("SIGKILL");
    await gone;
  }

  async restart() {
    return this.start(new URL(this.url).host);
  }

  async end() {
    if (this.child && this.child.exitCode === null && this.child.signalCode === null) await this.kill();
    rmSync(this.home, { recursive: true, force: true });
  }

  async api(path, body, method = body === undefined ? "GET" : "POST") {
    const answer = await fetch(this.url + path, { method, headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  async conversation(title) {
    return (await this.api("/v1/conversations", title ? { title } : {})).id;
  }

  async say(conversation, content, loop = "react") {
    return (await this.api(`/v1/conversations/${conversation}/messages`, { content, loop })).run?.id;
  }

  // What the file of settings holds before the server starts.
  settings(text) {
    mkdirSync(join(this.home, "home"), { recursive: true });
    writeFileSync(join(this.home, "home", "config.toml"), text);
  }

  async until(run, statuses) {
    return eventually(`run ${run} is ${statuses}`, async () => {
      const seen = await this.api(`/v1/runs/${run}`);
      return statuses.includes(seen.status) ? seen : null;
    });
  }
}

// Waits for a condition, never for a time.
export async function eventually(what, check, most = 60_000) {
  const end = Date.now() + most;
  let last;
  while (Date.now() < end) {
    try { const found = await check(); if (found) return found; } catch (error) { last = error; }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`not seen: ${what}${last ? ` (${last.message})` : ""}`);
}
