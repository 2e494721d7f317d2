// The runs of a chat while they work: their words as they come, and what is told to a screen reader.
import { $, $$, words, page, link, post, refresh, refreshSoon, subscribe, announce, banner } from "./core.js";
import { keepDown } from "./chat.js";

const stream = $("#stream"), place = $("#stream-place"), told = $("#chat-words").dataset;

// ---- Streaming: a block is rendered once by the server when it is whole; the rest is plain text ------
// Whoever subscribes in the middle of a reply gets it from its first word: each subscription begins anew.
const replies = new Map(); // the run: what it writes, how much of it is rendered, whether it is whole
let spoken = 0, drawing = 0, last = 0;
function begin(run) {
  replies.get(run)?.box.remove();
  const box = document.createElement("div"), tail = document.createElement("div");
  tail.className = "tail";
  box.append(tail);
  stream.append(box);
  const reply = { text: "", done: 0, whole: false, box, tail };
  replies.set(run, reply);
  return reply;
}
function end(run) { replies.get(run)?.box.remove(); replies.delete(run); }

// Where the last whole block ends: before a line that begins another one, or after a fence.
const LIST = /^ {0,3}([-*+]|\d+[.)])\s/m;
export function wholeUntil(text, from) {
  let at = from, end = from, fence = "", maybe = 0;
  while (at < text.length) {
    const next = text.indexOf("\n", at) + 1, line = text.slice(at, next ? next - 1 : undefined);
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1], isList = LIST.test(text.slice(end, maybe || at));
    if (maybe && line.trim()) {
      if (!isList || !/^[\s\d*+-]/.test(line)) end = maybe;
      maybe = 0;
    }
    if (fence) {
      if (next && mark?.startsWith(fence) && line.trim() === mark) { fence = ""; if (!LIST.test(text.slice(end, at))) end = next; else maybe = 0; }
    } else if (mark) fence = mark;
    else if (!line.trim() && at > end) maybe = next;
    if (!next) break;
    at = next;
  }
  return end;
}
async function render(reply) {
  const end = reply.busy || reply.plain ? 0 : wholeUntil(reply.text, reply.done);
  if (end <= reply.done) return;
  reply.busy = true;
  try {
    const answer = await post("/do/render", new URLSearchParams({ text: reply.text.slice(reply.done, end) }));
    if (!answer.ok) throw answer.status;
    const doc = new DOMParser().parseFromString(await answer.text(), "text/html");
    reply.tail.before(...doc.body.childNodes);
    reply.done = end;
  } catch { reply.plain = true; } // the whole reply comes rendered anyway
  reply.busy = false;
  drawSoon();
}
function draw() {
  drawing = 0;
  let text = "";
  for (const reply of replies.values()) {
    reply.tail.textContent = reply.text.slice(reply.done).replace(/^\n+/, "");
    text += reply.text;
    render(reply);
  }
  place.hidden = !text;
  keepDown();
  // Whole sentences, at most one announcement every 4 s.
  spoken = Math.min(spoken, text.length);
  const end = Math.max(...[". ", "。", "! ", "? ", "！", "？", "\n"].map((m) => text.lastIndexOf(m)));
  if (aloud() && end > spoken && Date.now() - last > 4000) { announce(text.slice(spoken, end + 1)); spoken = end + 1; last = Date.now(); }
}
const aloud = () => localStorage.getItem("everloop:announces") !== "off";
const drawSoon = () => { if (!drawing) drawing = setTimeout(draw, 50); };
function add(run, piece) {
  const known = replies.get(run), reply = !known || known.whole ? begin(run) : known;
  reply.text += piece;
  drawSoon();
}
// The server has rendered what is whole.
function drop(isGone) {
  for (const [run, reply] of [...replies]) if (isGone(run, reply)) end(run);
  draw();
}

const followed = new Map();
export function follow() {
  const live = new Map($$("[data-run][data-last]", $("#thread")).map((e) => [e.dataset.run, e]));
  for (const [run, stop] of followed) if (!live.has(run)) { stop(); followed.delete(run); }
  drop((run) => !live.has(run));
  for (const [run, e] of live) {
    if (followed.has(run)) continue;
    end(run);
    followed.set(run, subscribe(`/v1/runs/${run}/ws?after=${e.dataset.last}`, (event) => heard(run, event),
      () => { followed.delete(run); setTimeout(() => link.up && refresh(), 300); }));
  }
}

// ---- What is told. The words of a question and of a plan's change are those that the page shows ------
const mine = new Set(); // cards that were answered here
document.addEventListener("submit", (e) => { if (e.target.dataset.ask) mine.add(e.target.dataset.ask); }, true);
const versions = new Map(); // the run: the version of its plan that was told last
const title = () => $("#bar h1")?.textContent ?? "";
const behind = () => document.hidden || !document.hasFocus();
function tell(run, event) {
  const said = {
    "plan.created": () => told.planMade,
    "plan.updated": () => event.plan.version > (versions.get(run) ?? 1) && versions.set(run, event.plan.version) && told.plan.replace("#v", event.plan.version).replace("#", $("#panel-live .mark-line span")?.textContent ?? ""),
    "tool.failed": () => told.toolFailed.replace("#", event.tool),
    "step.failed": () => told.modelFailed,
    "interrupt.opened": () => told.asks.replace("#", document.getElementById(`card-${run}.${event.interrupt_id}`)?.getAttribute("aria-label") ?? ""),
    "interrupt.answered": () => !mine.has(`${run}.${event.interrupt_id}`) && told.elsewhere,
    "run.recovered": () => { banner(told.recovered); setTimeout(() => banner(null), 8000); return told.recovered; },
    "run.succeeded": () => (behind() || !aloud()) && words.complete,
  }[event.type]?.() ?? told[event.type.replace("run.", "")]?.replace("#", title());
  if (said) announce(said);
}
function heard(run, event) {
  if (event.type === "message.delta") return add(run, event.text);
  if (event.type === "step.retrying") { end(run); drawSoon(); }
  if (event.type === "message.completed") {
    const reply = replies.get(run);
    if (reply) reply.whole = true;
    return refresh().then(() => drop((_, r) => r.whole));
  }
  if (event.type.startsWith("run.") || event.type.startsWith("interrupt.") || event.type.startsWith("plan.")) return refresh().then(() => tell(run, event));
  if (!event.type.endsWith(".delta") && event.type !== "tool.progress") refreshSoon();
  tell(run, event);
}
