// Commands in the composer: a list above it while its text is a slash and one word.
import { $, $$, composing } from "./core.js";

const say = $("#say"), box = $("#slash");
let rows = [], at = 0, asked = 0;
const word = () => /^[/／]\S*$/.exec(say.value)?.[0];
function close() { box.hidden = true; rows = []; say.removeAttribute("aria-activedescendant"); }
function mark(n) {
  at = (n + rows.length) % rows.length;
  $$("[role=option]", box).forEach((o, i) => o.setAttribute("aria-selected", i === at));
  const chosen = $$("[role=option]", box)[at];
  say.setAttribute("aria-activedescendant", chosen.id);
  chosen.scrollIntoView({ block: "nearest" });
}
function take(row) {
  say.value = row.say + " ";
  close();
  say.focus();
  say.dispatchEvent(new Event("input", { bubbles: true }));
}
export async function complete() {
  const typed = word(), mine = ++asked;
  if (!typed) return close();
  const html = await fetch("/search?q=" + encodeURIComponent("/" + typed.slice(1)), { headers: { accept: "text/html, application/problem+json", "x-everloop-hidden": "1" } }).then((r) => r.text()).catch(() => "");
  if (mine !== asked || typed !== word()) return;
  const doc = new DOMParser().parseFromString(html, "text/html");
  rows = $$("a[data-say]", doc).map((a) => ({ say: a.dataset.say, about: $("p", a.parentElement)?.textContent ?? "" }));
  // What is written out already needs no list.
  if (!rows.length || (rows.length === 1 && rows[0].say === typed)) return close();
  box.replaceChildren(...rows.map((row, i) => {
    const o = document.createElement("div"), name = document.createElement("b"), about = document.createElement("span");
    o.className = "pal"; o.id = "slash-" + i; o.setAttribute("role", "option");
    name.className = "mono"; name.textContent = row.say;
    about.className = "faint sm clip"; about.textContent = row.about;
    o.append(name, about);
    o.addEventListener("mousedown", (e) => { e.preventDefault(); take(row); });
    return o;
  }));
  box.hidden = false;
  box.tabIndex = 0; // a list that scrolls can be reached; Tab takes a command before it gets there
  mark(Math.max(0, rows.findIndex((row) => row.say === typed)));
}
box.addEventListener("mousedown", (e) => e.preventDefault());
say.addEventListener("blur", close);
say.addEventListener("keydown", (e) => {
  if (box.hidden || composing(e)) return;
  const moves = { ArrowDown: 1, ArrowUp: -1 }[e.key];
  // A command that is written out is sent by Enter, like any other message.
  const takes = (e.key === "Tab" && !e.shiftKey) || (e.key === "Enter" && !e.shiftKey && !e.ctrlKey && rows[at].say !== word());
  if (!moves && !takes && e.key !== "Escape") return;
  e.preventDefault();
  e.stopImmediatePropagation();
  if (moves) mark(at + moves);
  else if (takes) take(rows[at]);
  else close();
}, true);
