// Attempts to get a script into a page, through every field that others can fill.
import { signedIn, check, eventually } from "./page.mjs";
import { Server } from "./server.mjs";

export const ATTEMPTS = [
  `<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `<svg onload=alert(1)>`, `"><script>alert(1)</script>`, `'><img src=x onerror=alert(1)>`,
  `[x](javascript:alert(1))`, `![x](javascript:alert(1))`, `[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)`, `<a href="javascript:alert(1)">x</a>`,
  `<iframe srcdoc="<script>alert(1)</script>"></iframe>`, `</textarea><script>alert(1)</script>`, `</title><script>alert(1)</script>`, `</template><script>alert(1)</script>`,
  `<details open ontoggle=alert(1)>`, `<body onload=alert(1)>`, `<math><mtext></p><script>alert(1)</script>`, "```html\n</code></pre><script>alert(1)</script>\n```",
  `<style>@import url(//evil.example)</style>`, `<link rel=stylesheet href=//evil.example>`, `<meta http-equiv=refresh content="0;url=//evil.example">`,
  `<form action=//evil.example><button>x</button></form>`, `<input autofocus onfocus=alert(1)>`, `&lt;script&gt;alert(1)&lt;/script&gt;`, `\u003cscript\u003ealert(1)\u003c/script\u003e`,
  `![x](https://evil.example/p.png)`, `<object data=//evil.example>`, `<base href=//evil.example>`, `" onmouseover="alert(1)" x="`, `' autofocus onfocus='alert(1)`, `<b style="background:url(//evil.example)">x</b>`,
];

const ODD_FILES = [`<img src=x onerror=alert(1)>.md`, `"><b>.txt`, "page.html", "drawn.svg"];

// Nothing on the page may have become an element, an attribute or an address that acts.
export async function harmless(page, where) {
  const bad = await page.evaluate(() => {
    const found = [];
    for (const e of document.querySelectorAll("*")) {
      for (const a of e.attributes) if (/^on/i.test(a.name) || (/^(href|src|action|data|formaction)$/i.test(a.name) && /^\s*(javascript|data|vbscript):|^\/\/|evil\.example/i.test(a.value) && !(e.matches("a[rel~=nofollow]") && /^https?:/.test(a.value)))) found.push(`${e.tagName} ${a.name}=${a.value}`);
      if (e.hasAttribute("style") || /^(IFRAME|OBJECT|EMBED|BASE|IMG|MATH)$/.test(e.tagName)) found.push(e.outerHTML.slice(0, 120));
      if (e.matches("script:not([src^='/a/'])")) found.push(e.outerHTML.slice(0, 120));
    }
    return found;
  });
  check(bad.length === 0, `${where}: ${bad.join("\n")}`);
  const faults = page.faults.filter((f) => !f.includes("404"));
  check(faults.length === 0, `${where}: ${faults.join("\n")}`);
  page.faults = [];
}

// Opens a page and looks at it.
export const watching = (page, server) => async (path) => {
  await page.goto(server.url + path);
  await page.waitForLoadState("load");
  await harmless(page, path);
};

export async function injections(world) {
  const replies = (n) => ({ goal: `attempt ${n}`, replies: [{ calls: [{ tool: "list_dir", args: { path: ATTEMPTS[n] } }] }, { text: ATTEMPTS[n] }] });
  const asks = ATTEMPTS.slice(0, 6).map((text, n) => ({ goal: `question ${n}`, replies: [{ calls: [{ tool: "ask_user", args: { question: text } }] }, { text: "ok" }] }));
  const plans = [{ goal: "plan", replies: [{ calls: [{ tool: "todo_write", args: { merge: false, todos: ATTEMPTS.slice(0, 10).map((content, n) => ({ id: String(n), content, status: "pending" })) } }] },
    { calls: [{ tool: "todo_write", args: { merge: true, todos: ATTEMPTS.slice(0, 10).map((_, n) => ({ id: String(n), status: "completed" })) } }] }, { text: "ok" }, { text: "ok" }] }];
  const odd = [{ goal: "odd files", replies: [...ODD_FILES.map((path) => ({ calls: [{ tool: "write_file", args: { path, content: `<script>alert(1)</script><img src=x onerror=alert(1)>` } }] })), { calls: [{ tool: "list_dir", args: { path: "." } }] }, { text: "ok" }] }];
  const script = { replies: [{ text: "ok" }], others: [...odd, ...ATTEMPTS.map((_, n) => replies(n)), ...asks, ...plans] };
  const server = new Server(world.server().program, script);
  await server.start();
  let tried = 0;
  try {
    const { context, page } = await signedIn(world, server);
    const safe = watching(page, server);
    await world.test("no attempt gets through a message, an answer, a tool's arguments or its result", async () => {
      for (let n = 0; n < ATTEMPTS.length; n++) {
        const id = await server.conversation();
        const run = await server.say(id, `attempt ${n}`);
        await server.until(run, ["succeeded", "failed"]);
        await server.say(id, ATTEMPTS[n]);
        await safe(`/chat/${id}`);
        await safe(`/runs/${run}`);
        await safe(`/runs/${run}?step=4`);
        tried += 3;
      }
    });
    const taken = async (path, body) => {
      try { await server.api(path, body); return 1; }
      catch (error) { check(/: 4\d\d /.test(error.message), error.message); return 0; }
    };
    await world.test("no attempt gets through titles, todos, entries, facts and searches", async () => {
      for (const text of ATTEMPTS) {
        await server.conversation(text);
        // What the agenda does not read as a todo is refused; nothing else may go wrong.
        tried += 1 + (await taken("/v1/todos", { text: `${text} buy paint` })) + (await taken("/v1/memory/facts", { text }));
        tried += await taken("/v1/schedules", { text: `every monday 9am ${text}` });
      }
      for (const path of ["/inbox", "/agenda", "/memory", "/runs", "/chat"]) await safe(path);
      for (const text of ATTEMPTS) { await safe(`/search?q=${encodeURIComponent(text)}`); await safe(`/memory?q=${encodeURIComponent(text)}`); tried += 2; }
    });
    await world.test("no attempt gets through questions and plans", async () => {
      for (let n = 0; n < 6; n++) {
        const id = await server.conversation();
        await server.until(await server.say(id, `question ${n}`), ["waiting"]);
        await safe(`/chat/${id}`);
        tried++;
      }
      const id = await server.conversation();
      await server.until(await server.say(id, "plan", "tool-driven"), ["succeeded"]);
      await safe(`/chat/${id}`);
      await safe("/inbox");
      tried += 10;
    });
    await world.test("no attempt is reflected by an address", async () => {
      page.quiet = true;
      for (const text of ATTEMPTS) {
        const q = encodeURIComponent(text);
        for (const path of [`/inbox?part=${q}`, `/settings?section=${q}`, `/signin?next=${q}`, `/open?key=${q}`, `/agenda?view=${q}`, `/chat/${q}`, `/runs/${q}`]) { await safe(path); tried++; }
      }
      page.quiet = false;
    });
    await world.test("names of files come as text", async () => {
      const id = await server.conversation();
      const run = await server.say(id, "odd files");
      await server.until(run, ["succeeded", "failed"]);
      const files = (await server.api(`/v1/runs/${run}/artifacts`)).data;
      check(files.length === ODD_FILES.length, `${files.length} files were written`);
      for (const path of [`/chat/${id}`, `/runs/${run}`, `/runs/${run}?step=4`, `/runs/${run}/activity`, `/runs/${run}/files`]) { await safe(path); tried++; }
      check((await page.content()).includes("&lt;img src=x"), "the name of the file is not shown");
      for (const name of ODD_FILES) {
        page.inSandbox = true;
        const answer = await page.goto(`${server.url}/runs/${run}/files?name=${encodeURIComponent(name)}`);
        check(answer.ok(), `${name}: ${answer.status()}`);
        await page.waitForLoadState("load");
        check(!page.faults.some((f) => f.startsWith("dialog")), `${name}: ${page.faults}`);
        page.faults = [];
        page.inSandbox = false;
        tried++;
      }
    });
    world.figures["injection attempts, none through"] = tried;
    await context.close();
  } finally { await server.end(); }
}
