// Todos and schedule: what a line means is shown while it is typed, as the server reads it; what has a
// time is dragged to another one (the field in its detail does the same by keyboard).
import { $, $$, page, send, forget } from "./core.js";

const form = $("#quick"), text = $("#quick-text"), parsed = $("#parsed");
let timer = 0, asked = 0, shown = ""; // the line that was read
// Where it will land, as long as the calendar shows that hour.
function place() {
  for (const e of $$(".ce.new")) e.remove();
  const read = $(".parsed[data-slots]", parsed);
  for (const slot of read?.dataset.slots.split(",") ?? []) {
    const day = slot.slice(0, 10), cell = $(`[data-drop="${slot.slice(0, 13)}:00"]`) ?? $(`[data-drop="${day}"]`);
    const made = document.createElement("span"), said = document.createElement("span"), at = document.createElement("small");
    made.className = `ce new l1 q${Math.floor(slot.slice(14) / 15)}`;
    said.className = "vh"; said.textContent = read.dataset.soon + " "; at.textContent = slot.slice(11);
    made.append(said, at, " " + read.dataset.title);
    cell?.append(made);
  }
}
page.onRefresh.push(place);
const chosen = () => $("input[name=as]:checked", parsed)?.value ?? "";
async function read(as = "") {
  const n = ++asked;
  if (!text.value.trim()) { parsed.replaceChildren(); place(); return; }
  const line = text.value;
  const answer = await fetch(`/agenda/parse?text=${encodeURIComponent(line)}&as=${as}`, { headers: { accept: "text/html, application/problem+json" } }).catch(() => null);
  if (!answer?.ok || n !== asked) return;
  const doc = new DOMParser().parseFromString(await answer.text(), "text/html");
  parsed.replaceChildren(...doc.body.childNodes);
  shown = line;
  place();
  if (as) $("input[name=as]:checked", parsed)?.focus();
}
text.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(read, 150); });
parsed.addEventListener("change", (e) => { e.stopPropagation(); read(chosen()); });
form.addEventListener("submit", async (e) => {
  e.preventDefault();
  const sent = text.value, fields = new URLSearchParams(new FormData(form));
  // What another line was read as says nothing about this one.
  if (shown !== sent) fields.delete("as");
  const done = await send(form.action, fields, form);
  // What was typed meanwhile is another line, and stays.
  if (done.ok && text.value === sent) { text.value = ""; forget(form); parsed.replaceChildren(); place(); text.focus(); }
});
if (text.value) read();

let dragged = null;
document.addEventListener("dragstart", (e) => { dragged = e.target.closest?.("[data-move]"); if (dragged) { e.dataTransfer.setData("text/plain", dragged.href); e.dataTransfer.effectAllowed = "move"; } });
document.addEventListener("dragover", (e) => { const cell = dragged && e.target.closest("[data-drop]"); if (!cell) return; e.preventDefault(); $("[data-drop].over")?.classList.remove("over"); cell.classList.add("over"); });
document.addEventListener("dragend", () => { $("[data-drop].over")?.classList.remove("over"); dragged = null; });
document.addEventListener("drop", (e) => {
  const cell = dragged && e.target.closest("[data-drop]");
  if (!cell) return;
  e.preventDefault();
  const [day, hour] = cell.dataset.drop.split(" "), was = $("small", dragged)?.textContent ?? "09:00";
  // A day of a month keeps the time of day, an hour keeps the minutes.
  const at = `${day} ${hour ? hour.slice(0, 3) + was.slice(3) : was}`;
  send(`/do/${dragged.dataset.move}/move`, new URLSearchParams({ at, back: location.pathname + location.search }));
});
document.addEventListener("change", async (e) => {
  const into = e.target.dataset?.into, file = into && e.target.files[0];
  if (file) document.getElementById(into).value = await file.text();
});
