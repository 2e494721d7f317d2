// The chat: sends, keeps what could not be sent, and stays where the reader is.
import { $, $$, words, page, link, send, forget, composing, freshKey } from "./core.js";
import { chosen, clearFiles, restoreFiles } from "./files.js";

const scroller = $("#thread-scroll"), say = $("#say"), composer = $("#composer");
const narrow = () => matchMedia("(max-width: 37.4375em)").matches;
const place = () => (narrow() ? document.scrollingElement : scroller);
const atEnd = () => place().scrollHeight - place().scrollTop - place().clientHeight < 80;
const toEnd = () => { place().scrollTop = place().scrollHeight; };
let stay = true;

// What came while the reader was further up waits behind a button.
const below = $("#new-below");
const blocks = () => $$(".ev[id^=m-], .ev[id^=ask-]", $("#thread")).map((e) => e.id);
let seen = new Set(blocks());
function showBelow() {
  if (stay) seen = new Set(blocks());
  const count = blocks().filter((id) => !seen.has(id)).length;
  below.hidden = !count;
  $("span", below).textContent = words.newCount.replace("#", count);
}
below.addEventListener("click", () => { stay = true; toEnd(); showBelow(); say.focus({ preventScroll: true }); });
(narrow() ? document : scroller).addEventListener("scroll", () => { stay = atEnd(); if (stay && !below.hidden) showBelow(); }, { passive: true });

// What a run writes is followed as soon as one works.
export const keepDown = () => { if (stay) toEnd(); };
let streamIs;
const follow = () => { if (streamIs || $("#thread [data-run][data-last]")) (streamIs ??= import("./stream.js")).then((m) => m.follow()); };
page.onRefresh.push(() => { follow(); say.placeholder = $("#composer-acts").dataset.hint; keepDown(); showBelow(); });
link.onUp.push(follow);
// Endpoints may say later which models they have.
page.onRefresh.push((fresh) => {
  const mine = $("#model"), twin = fresh.getElementById("model");
  if (!mine || !twin || twin.options.length === mine.options.length) return;
  const was = mine.value || localStorage.getItem("everloop:model");
  mine.replaceChildren(...twin.options);
  mine.value = was;
  if (mine.selectedIndex < 0) mine.selectedIndex = 0;
});

// ---- What is done is loaded when it is opened ----------------------------------------------------------
document.addEventListener("toggle", async (e) => {
  const d = e.target;
  if (!d.open || !d.dataset?.activity || d.dataset.loaded) return;
  d.dataset.loaded = "1";
  const answer = await fetch(d.dataset.activity, { headers: { accept: "text/html, application/problem+json" } }).catch(() => null);
  if (!answer?.ok) { delete d.dataset.loaded; return; }
  const doc = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (doc.body.childElementCount) $(".activity-body", d).replaceChildren(...doc.body.childNodes);
}, true);

// ---- Sending. While a run works the server keeps the message and sends it afterwards ---------------------
// What could not be sent stands in the thread and says so; it is kept until the server has it. The
// server knows each message by its key, so one that arrived before the connection broke is no second one.
const outbox = "everloop:outbox:" + composer.getAttribute("action");
const unsent = new Map(); // the key: the message and its block
function drawUnsent() {
  const texts = [...unsent.values()].map(({ one }) => one).filter((one) => !one.files.length);
  texts.length ? localStorage.setItem(outbox, JSON.stringify(texts)) : localStorage.removeItem(outbox);
  $("#unsent").hidden = !unsent.size;
  $("#sent-note").textContent = unsent.size ? words.sent : "";
}
function hold(one) {
  if (unsent.has(one.key)) return;
  const block = $("#unsent-turn").content.firstElementChild.cloneNode(true);
  $(".pre", block).textContent = [one.text, ...one.files.map((f) => f.name)].filter(Boolean).join("\n");
  $("#unsent-turns").append(block);
  unsent.set(one.key, { one, block });
  forget(composer, new URLSearchParams({ text: one.text }));
  drawUnsent();
  toEnd();
}
function settle(one, done) {
  unsent.get(one.key)?.block.remove();
  unsent.delete(one.key);
  drawUnsent();
  if (done.ok) return forget(composer, new URLSearchParams({ text: one.text }));
  // Refused: the words come back, before what was written since.
  say.value = [one.text, say.value].filter((t) => t.trim()).join("\n\n");
  say.dispatchEvent(new Event("input", { bubbles: true }));
  if (one.files.length) restoreFiles([...one.files, ...chosen()]);
}
async function deliver(one) {
  stay = true;
  const body = one.files.length ? new FormData() : new URLSearchParams();
  for (const name of ["text", "loop", "model", "key", "answers", "back"]) body.append(name, one[name] ?? "");
  for (const file of one.files) body.append("files", file);
  const done = await send(composer.action, body, composer, (d) => settle(one, d));
  if (done.kept) hold(one);
  if (done.ok && !done.left) toEnd();
}
composer.addEventListener("submit", async (e) => {
  e.preventDefault();
  const value = say.value.trim(), files = chosen();
  if (!value && !files.length) return;
  if (e.submitter && "steer" in e.submitter.dataset) {
    const done = await send(e.submitter.formAction, new URLSearchParams({ text: value.replace(/^[!！]\s*/, ""), back: location.pathname }), null);
    if (done.ok && say.value.trim() === value) { say.value = ""; forget(composer); }
    return;
  }
  const one = { text: value, loop: $("#loop").value, model: $("#model")?.value ?? "", key: freshKey(), answers: composer.elements.answers.value, back: location.pathname, files };
  say.value = ""; grow(); clearFiles();
  deliver(one);
});
function grow() { say.rows = Math.min(10, say.value.split("\n").length); }
say.addEventListener("input", grow);
let slashIs;
say.addEventListener("input", () => { if (slashIs || /^[/／]\S*$/.test(say.value)) (slashIs ??= import("./slash.js")).then((m) => m.complete()); });
say.addEventListener("keydown", (e) => {
  if (composing(e)) return; // an input method is at work
  if (e.key === "Enter" && !e.shiftKey && !e.ctrlKey && !e.metaKey) { e.preventDefault(); composer.requestSubmit($("#send")); }
});
for (const name of ["loop", "model"]) {
  const choice = document.getElementById(name), kept = localStorage.getItem("everloop:" + name);
  if (!choice) continue;
  if ([...choice.options].some((o) => o.value === kept)) choice.value = kept;
  choice.addEventListener("change", () => localStorage.setItem("everloop:" + name, choice.value));
}
// What a run did is read again after something of it was undone.
document.addEventListener("everloop:sent", (e) => {
  const d = e.detail.closest("details[data-activity]");
  if (d) { delete d.dataset.loaded; d.open = false; d.open = true; }
});

const asked = new URLSearchParams(location.search).get("say");
if (asked && !say.value) say.value = asked + " ";
follow();
grow();
async function deliverKept() {
  let kept = [];
  try { kept = JSON.parse(localStorage.getItem(outbox) ?? "[]"); } catch { /* not ours */ }
  for (const one of kept) { one.files = []; hold(one); }
  for (const one of kept) await deliver(one); // in the order in which they were written
}
deliverKept();
if (location.hash.startsWith("#ask-") || location.hash.startsWith("#m-")) document.getElementById(location.hash.slice(1))?.scrollIntoView({ block: "center" });
else if ($("[data-unread]")) { $("[data-unread]").scrollIntoView({ block: "start" }); stay = atEnd(); }
else toEnd();
if (!narrow() && !("ontouchstart" in self)) say.focus({ preventScroll: true });
