// The run: the slider moves through the events; every view of the past comes from the server.
import { $, $$, words, page, refresh, refreshSoon, subscribe, composing, letters } from "./core.js";

const main = $("#main"), slider = $("#travel"), run = main.dataset.run;
let at = new URLSearchParams(location.search).get("at");
const here = () => { const u = new URL(location.href); at ? u.searchParams.set("at", at) : u.searchParams.delete("at"); return u; };
page.address = () => here().href;

let timer = 0;
function go(n, keep) {
  const max = +slider.max;
  n = Math.min(max, Math.max(1, n));
  at = n === max && !keep ? null : String(n);
  slider.value = n;
  const label = $("#travel-at"); if (label) label.textContent = "#" + n;
  history.replaceState(null, "", here());
  clearTimeout(timer);
  timer = setTimeout(refresh, 70);
}
slider.addEventListener("input", () => { const u = here(); u.searchParams.delete("step"); u.searchParams.delete("from"); history.replaceState(null, "", u); go(+slider.value, true); });
document.addEventListener("click", (e) => {
  const step = e.target.closest("[data-travel-step]"), row = e.target.closest("[data-step]"), pause = e.target.closest("[data-pause]");
  if (step) { e.preventDefault(); go(+slider.value + +step.dataset.travelStep, true); }
  if (row && !e.ctrlKey && !e.metaKey && !e.shiftKey) { e.preventDefault(); history.replaceState(null, "", row.href); at = null; refresh(); }
  if (pause) { page.pause(!page.paused); pause.setAttribute("aria-pressed", page.paused); page.paused ? page.onNews() : refresh(); }
});
// Paused: what came in is counted, and not shown.
page.onNews = () => { const b = $("[data-pause]"); if (b) b.lastChild.textContent = words.paused.replace("#", page.counted(run)); };
page.onRefresh.push((fresh) => {
  const twin = fresh.getElementById("travel");
  if (!twin) return;
  slider.max = twin.max;
  if (!at) slider.value = twin.value;
  slider.setAttribute("aria-valuetext", twin.getAttribute("aria-valuetext"));
  if (page.paused) { $("[data-pause]")?.setAttribute("aria-pressed", "true"); page.onNews(); }
  const over = fresh.getElementById("main")?.dataset.over;
  if (over) main.dataset.over = over;
});
document.addEventListener("keydown", (e) => {
  const isTyped = e.target.closest?.("input:not(#travel), textarea, select"), covered = !$("#keys").hidden || !$("#palette").hidden;
  if (composing(e) || isTyped || covered || e.ctrlKey || e.metaKey || e.altKey) return;
  const big = e.shiftKey ? 10 : 1;
  if (e.target !== slider) {
    if (e.key === "ArrowLeft") go(+slider.value - big, true);
    if (e.key === "ArrowRight") go(+slider.value + big, true);
    if (e.key === "Home") { e.preventDefault(); go(1, true); }
    if (e.key === "End") { e.preventDefault(); go(+slider.max); }
  }
  if (!letters()) return;
  if (e.key === "n" || e.key === "p") {
    const bad = $$('.wf-name[data-s="failed"], .wf-name[data-s="unsettled"]'), now = bad.indexOf(document.activeElement);
    bad[e.key === "n" ? (now + 1) % bad.length : (now < 0 ? bad.length : now || bad.length) - 1]?.focus();
  }
  if (e.key === "f") $("#fork form button")?.focus();
  // What Space does by itself, it goes on doing: press a button, scroll a box.
  if (e.key === " " && !e.target.closest?.("button, summary, [role=button], [tabindex]")) { e.preventDefault(); $("[data-pause]").click(); }
});
if (!main.dataset.over) subscribe(`/v1/runs/${run}/ws?after=${main.dataset.last}`, (e) => { if (!e.type.endsWith(".delta") && e.type !== "tool.progress") refreshSoon(150); });
