// The palette: finds conversations and messages on the server, pages and commands here.
import { show } from "./core.js";

const $ = (s, r = document) => r.querySelector(s);
const words = $("#words")?.dataset ?? {};
const box = $("#palette"), input = box && $("input", box), list = $("#pal-list");
let chosen = 0, timer = 0;

// The run that the page is about: #41 is its event.
const run = () => (location.pathname.startsWith("/runs/") ? location.pathname : $("#bar a.st")?.getAttribute("href"));
const pages = () => [...document.querySelectorAll("#nav-main a, .side-foot .nav > a, [data-new-chat]")].map((a) => ({ to: a.getAttribute("href"), name: $(".grow", a).textContent }));

function group(name, rows) {
  if (!rows.length) return;
  const g = document.createElement("div"), h = document.createElement("span");
  g.setAttribute("role", "group"); g.setAttribute("aria-label", name);
  h.className = "pal-h"; h.setAttribute("role", "presentation"); h.textContent = name;
  g.append(h);
  for (const row of rows) {
    const o = document.createElement("div");
    o.className = "pal"; o.setAttribute("role", "option"); o.id = "pal-" + list.querySelectorAll(".pal").length + "-" + g.childElementCount;
    const n = document.createElement("span"); n.className = "grow clip"; n.textContent = row.name; o.append(n);
    if (row.about) { const a = document.createElement("span"); a.className = "faint sm clip"; a.textContent = row.about; o.append(a); }
    o.dataset.to = row.to ?? ""; o.dataset.say = row.say ?? "";
    o.addEventListener("click", () => go(o));
    g.append(o);
  }
  list.append(g);
}
const all = () => [...list.querySelectorAll(".pal")];
function mark(n) {
  const rows = all();
  chosen = rows.length ? (n + rows.length) % rows.length : 0;
  rows.forEach((r, i) => r.setAttribute("aria-selected", i === chosen));
  if (rows[chosen]) { input.setAttribute("aria-activedescendant", rows[chosen].id); rows[chosen].scrollIntoView({ block: "nearest" }); }
}
function go(row) {
  if (!row) return;
  const say = $("#say");
  if (row.dataset.say && say) { show("palette", false); say.value = row.dataset.say + " "; say.focus(); return say.dispatchEvent(new Event("input", { bubbles: true })); }
  location.assign(row.dataset.to);
}
let asked = 0;
async function fill() {
  const q = input.value.trim(), low = q.toLowerCase(), mine = ++asked;
  let groups = [];
  const event = /^#(\d+)$/.exec(q);
  if (event && run()) groups = [{ name: words.events, rows: [{ to: `${run()}?at=${event[1]}`, name: words.event.replace("#", q) }] }];
  else {
    try {
      const html = await (await fetch("/search?q=" + encodeURIComponent(q), { headers: { accept: "text/html, application/problem+json", "x-everloop-hidden": "1" } })).text();
      const doc = new DOMParser().parseFromString(html, "text/html");
      groups = [...doc.querySelectorAll(".found-group")].map((g) => ({ name: g.dataset.name, rows: [...g.querySelectorAll("li")].map((li) => ({ to: $("a", li).getAttribute("href"), say: $("a", li).dataset.say, name: $("a", li).textContent, about: $("p", li)?.textContent })) }));
    } catch { /* offline: what is here stays usable */ }
    if (mine !== asked) return; // a newer question is under way
    if (!q.startsWith("/")) groups.splice(1, 0, { name: words.pages, rows: pages().filter((p) => p.name.toLowerCase().includes(low)) });
    if (!q) groups = groups.filter((g) => !g.rows[0]?.say);
  }
  list.replaceChildren();
  for (const g of groups) group(g.name, g.rows);
  if (!all().length) { const p = document.createElement("p"); p.className = "pal-h"; p.textContent = words.none; list.append(p); }
  mark(0);
}
export const opened = fill;
input?.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(fill, 120); });
input?.addEventListener("keydown", (e) => {
  if (e.isComposing || e.keyCode === 229) return;
  if (e.key === "ArrowDown") { e.preventDefault(); mark(chosen + 1); }
  if (e.key === "ArrowUp") { e.preventDefault(); mark(chosen - 1); }
  if (e.key === "Enter") { e.preventDefault(); go(all()[chosen]); }
});
