// The list of keys, the switch for single letters, and notifications of the browser.
export { letters } from "./core.js";

const $ = (s, r = document) => r.querySelector(s);
const dialog = $("#keys"), words = $("#words")?.dataset ?? {};

for (const name of ["letters", "announces"]) {
  const box = $("#" + name);
  box.checked = localStorage.getItem("everloop:" + name) !== "off";
  box.addEventListener("change", () => localStorage.setItem("everloop:" + name, box.checked ? "on" : "off"));
}

dialog?.addEventListener("keydown", (e) => {
  // The focus stays in the dialog.
  if (e.key !== "Tab") return;
  const all = [...dialog.querySelectorAll("button, input")], at = all.indexOf(document.activeElement);
  e.preventDefault();
  all[(at + (e.shiftKey ? all.length - 1 : 1)) % all.length].focus();
});

// ---- Notifications: opt-in, only while no page is in front, one tab speaks ------------------------------
const kept = "everloop:notify", can = "Notification" in self;
const wanted = () => can && Notification.permission === "granted" && localStorage.getItem(kept) === "on";
let known = null, inFront = 0;
const fronts = "BroadcastChannel" in self ? new BroadcastChannel("everloop-front") : null;
const tellFront = () => { if (!document.hidden && document.hasFocus()) { inFront = Date.now(); fronts?.postMessage("front"); } };
if (fronts) fronts.onmessage = (e) => (e.data === "ask" ? tellFront() : (inFront = Date.now()));
function speak({ title, text, to, key }) {
  const note = new Notification(title || "Everloop", { body: text, tag: key, icon: $("#favicon")?.href });
  note.onclick = () => { focus(); location.assign(to); note.close(); };
}
// Every tab hears the news; the one that gets the lock first tells it.
const told = () => { try { return JSON.parse(localStorage.getItem("everloop:notified")) ?? []; } catch { return []; } };
function tell(fresh) {
  if (inFront) return;
  const before = told(), rest = fresh.filter((one) => !before.includes(one.key));
  localStorage.setItem("everloop:notified", JSON.stringify([...before, ...rest.map((one) => one.key)].slice(-50)));
  rest.forEach(speak);
}
// Questions that wait and runs that have ended: what a page has not heard of before is news.
export function heardNews(news) {
  const fresh = known && news.filter((one) => !known.has(one.key));
  known = new Set([...(known ?? []), ...news.map((one) => one.key)]);
  if (!fresh?.length || !wanted()) return;
  inFront = 0; tellFront(); fronts?.postMessage("ask");
  setTimeout(() => (navigator.locks ? navigator.locks.request("everloop-notify", () => tell(fresh)) : tell(fresh)), 150);
}
const pop = $("#notify"), on = $("#notify-on");
if (pop && can) {
  pop.hidden = false;
  const draw = () => { on.checked = wanted(); $("#notify-denied").hidden = Notification.permission !== "denied"; };
  draw();
  on.addEventListener("change", async () => {
    if (on.checked && Notification.permission === "default") await Notification.requestPermission();
    localStorage.setItem(kept, on.checked && Notification.permission === "granted" ? "on" : "off");
    draw();
  });
  $("#notify-test").addEventListener("click", async (e) => {
    const text = e.currentTarget.dataset.text;
    if (Notification.permission === "default") await Notification.requestPermission();
    if (Notification.permission === "granted") speak({ text, to: "/inbox", key: "test" });
    draw();
  });
}
