// The report: a click on a number shows in the margin where it comes from.
import { $, $$ } from "./core.js";

function trace(link) {
  const row = document.getElementById(link.hash.slice(1));
  const place = $(".trace-place", link.closest(".doc-sec") ?? $(".doc-sec"));
  if (!row || !place) return false;
  $$(".n.is-focus").forEach((n) => n.classList.remove("is-focus"));
  $$(".trace").forEach((t) => t.remove());
  link.classList.add("is-focus");
  const card = document.createElement("div"), head = document.createElement("p"), facts = document.createElement("dl");
  card.className = "trace"; head.className = "row"; facts.className = "facts xs";
  const [, text, source, value, status] = row.cells;
  head.append($("b", text).cloneNode(true), $(".st", status).cloneNode(true));
  const names = $$("thead th", row.closest("table")).map((th) => th.textContent);
  for (const [n, cell] of [[2, source], [3, value]]) {
    if (!cell.textContent.trim()) continue;
    const dt = document.createElement("dt"), dd = document.createElement("dd");
    dt.textContent = names[n];
    dd.append(...[...cell.cloneNode(true).childNodes]);
    facts.append(dt, dd);
  }
  card.append(head, facts);
  const query = row.dataset.query && document.getElementById("q" + row.dataset.query);
  const sql = query && $("pre", query);
  if (sql) { const pre = sql.cloneNode(true); card.append(pre); }
  place.append(card);
  if (getComputedStyle(card).position === "static" && card.getBoundingClientRect().top > innerHeight) card.scrollIntoView({ block: "nearest" });
  return true;
}
document.addEventListener("click", (e) => {
  const link = e.target.closest?.("a.n[href^='#n']");
  if (!link || e.ctrlKey || e.metaKey || e.shiftKey) return;
  if (trace(link)) { e.preventDefault(); history.replaceState(null, "", link.hash); }
});
const print = $("[data-print]");
if (print) { print.hidden = false; print.addEventListener("click", () => window.print()); }
addEventListener("beforeprint", () => $$("#report details").forEach((d) => (d.open = true)));
