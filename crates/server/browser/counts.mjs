// What the tests touched: for each page its tests, its runs of axe, their findings, its bytes and its first paint.
import { AsyncLocalStorage } from "node:async_hooks";

const current = new AsyncLocalStorage();
const KINDS = [[/^\/chat/, "chat"], [/^\/runs\/[^/]+\/files/, "files of a run"], [/^\/runs\/./, "run"], [/^\/reports\/./, "report"], [/^\/open/, "one-time link"]];

// The page that an address leads to.
export function kind(address) {
  if (address.startsWith("file:")) return "report as a file";
  const { pathname } = new URL(address, "http://127.0.0.1");
  return KINDS.find(([path]) => path.test(pathname))?.[1] ?? (pathname === "/" ? "chat" : pathname.slice(1).split("/")[0]);
}

const rows = new Map();
export function row(name) {
  if (!rows.has(name)) rows.set(name, { tests: 0, axe: 0, findings: 0 });
  return rows.get(name);
}

// Counts a test for each page that it opened.
export async function counting(body) {
  const seen = new Set();
  try { return await current.run(seen, body); }
  finally { for (const name of seen) row(name).tests++; }
}

export function touched(address) {
  if (/^(http|file)/.test(address)) current.getStore()?.add(kind(address));
}

export function counted(page) {
  for (const name of ["goto", "waitForURL", "reload"]) {
    const plain = page[name].bind(page);
    page[name] = async (...args) => { const answer = await plain(...args); touched(page.url()); return answer; };
  }
  return page;
}

export function looked(address, findings) {
  touched(address);
  const one = row(kind(address));
  one.axe++;
  one.findings += findings;
}

const PAGES = ["chat", "inbox", "agenda", "runs", "run", "files of a run", "compare", "reports", "report", "report as a file", "memory", "settings", "health",
  "search", "conversations", "first", "tour", "signin", "one-time link"];

export function table() {
  const cell = (value) => (value === undefined ? "" : typeof value === "number" ? Math.round(value).toLocaleString("en") : value);
  const lines = [["page", "tests", "axe runs", "findings", "bytes", "first paint, ms"]];
  const known = PAGES.filter((name) => rows.has(name));
  for (const name of known) { const one = rows.get(name); lines.push([name, one.tests, one.axe, one.findings, one.bytes, one.paint].map(cell)); }
  const all = [...rows.values()], sum = (what) => all.reduce((total, one) => total + one[what], 0);
  lines.push(["all", "", sum("axe"), sum("findings"), "", ""].map(cell));
  const widths = lines[0].map((_, at) => Math.max(...lines.map((line) => line[at].length)));
  return lines.map((line) => line.map((text, at) => (at ? text.padStart(widths[at]) : text.padEnd(widths[at]))).join("  ")).join("\n");
}
