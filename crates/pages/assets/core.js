// What every page does: refresh from the server, forms without a reload, drawer, keys, connection.
// The server's HTML is the only truth: parts marked data-live are replaced by those of a newer page.

export const $ = (s, r = document) => r.querySelector(s);
export const $$ = (s, r = document) => [...r.querySelectorAll(s)];
const root = document.documentElement;
export const words = $("#words")?.dataset ?? {};
const csrf = $('meta[name="csrf"]')?.content ?? "";
const tabs = "BroadcastChannel" in self ? new BroadcastChannel("everloop") : null;

// What few visits need is loaded when it is needed.
let paletteIs, keysAre;
const palette = () => (paletteIs ??= import("./palette.js"));
const keys = () => (keysAre ??= import("./keys.js"));
export const letters = () => localStorage.getItem("everloop:letters") !== "off";

export const composing = (e) => e.isComposing || e.keyCode === 229;
export const announce = (text) => { const a = $("#announce"); if (a) a.textContent = text; };

// A toast goes after 6 s, but never from under the pointer or the focus. `undo` is one step back.
export function toast(text, undo) {
  const t = document.createElement("div"), said = document.createElement("span");
  t.className = "toast"; said.className = "grow"; said.textContent = text; t.append(said);
  if (undo) { const b = document.createElement("button"); b.type = "button"; b.textContent = words.undo; b.onclick = () => { t.remove(); undo(); }; t.append(b); }
  $("#toasts").append(t);
  const leave = () => (t.matches(":hover, :focus-within") ? setTimeout(leave, 1000) : t.remove());
  setTimeout(leave, 6000);
}

// ---- Refresh ------------------------------------------------------------------------------------
export const page = { paused: false, onRefresh: [], address: () => location.href };

function keepOpen(old, fresh) {
  for (const d of $$("details[id]", old)) {
    const same = fresh.querySelector(`#${CSS.escape(d.id)}`);
    if (!same) continue;
    same.open = d.open;
    if (d.dataset.loaded) { $(".activity-body", same)?.replaceWith($(".activity-body", d)); same.dataset.loaded = "1"; }
  }
  for (const d of $$("details.pop[open]", old)) { const same = $("details.pop", fresh); if (same) same.open = true; }
  // What a person is typing stays; its place is its name within its form.
  for (const f of $$("form[action]", old)) {
    const same = $$("form[action]", fresh).find((o) => o.getAttribute("action") === f.getAttribute("action"));
    if (!same) continue;
    for (const e of $$("textarea, input:not([type=hidden], [type=radio], [type=file])", f)) {
      const twin = same.querySelector(`[name="${CSS.escape(e.name)}"]`);
      if (twin && e.value !== e.defaultValue) twin.value = e.value;
    }
    for (const e of $$("select", f)) {
      const twin = same.querySelector(`select[name="${CSS.escape(e.name)}"]`);
      if (twin && !e.selectedOptions[0]?.defaultSelected && [...twin.options].some((o) => o.value === e.value)) twin.value = e.value;
    }
    for (const e of $$("input[type=radio]:checked", f)) for (const o of $$("input[type=radio]", same)) if (o.name === e.name && o.value === e.value) o.checked = true;
    $$("details", f).forEach((d, i) => { const twin = $$("details", same)[i]; if (twin) twin.open = d.open; });
  }
}

function refocus(part, path) {
  if (!path) return;
  const found = path.id ? document.getElementById(path.id) : $$(path.tag, part)[path.at];
  if (found) { found.focus({ preventScroll: true }); if (path.from != null) try { found.setSelectionRange(path.from, path.to); } catch { /* not a text field */ } }
}

// What would push down the row under the pointer or the focus waits behind a button.
function holds(part, twin) {
  const rows = (e) => $$(".item h2 a, .item h3 a, .side-list a, tbody th a", e).map((a) => a.getAttribute("href"));
  const lists = part.matches("#inbox, #runs, #side-list") && (part.matches(":hover") || part.contains(document.activeElement));
  const known = lists && part.dataset.free === undefined ? new Set(rows(part)) : null, now = known ? rows(twin) : [];
  const last = known ? now.findLastIndex((r) => known.has(r)) : 0, fresh = known ? now.slice(0, Math.max(0, last)).filter((r) => !known.has(r)).length : 0;
  let held = document.getElementById("held-" + part.id);
  if (!fresh) { held?.remove(); return false; }
  if (!held) {
    held = document.createElement("button");
    held.type = "button"; held.id = "held-" + part.id; held.className = "btn sm held";
    const show = () => { part.removeEventListener("mouseleave", left); part.removeEventListener("focusout", left); part.dataset.free = ""; refresh().then(() => { delete part.dataset.free; }); };
    const left = () => setTimeout(() => { if (held.isConnected && !held.matches(":hover, :focus") && !part.matches(":hover") && !part.contains(document.activeElement)) show(); }, 300);
    held.onclick = show;
    part.addEventListener("mouseleave", left); part.addEventListener("focusout", left);
    part.before(held);
  }
  held.textContent = words.held.replace("#", fresh);
  return true;
}

export function apply(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  for (const part of $$("[data-live]")) {
    const twin = fresh.getElementById(part.id);
    if (twin && holds(part, twin)) continue;
    if (!twin || twin.outerHTML === part.dataset.was || (part.dataset.was === undefined && twin.innerHTML === part.innerHTML)) continue;
    const had = document.activeElement;
    const inside = part.contains(had) && had !== part;
    const path = inside ? { id: had.id, tag: had.tagName, at: $$(had.tagName, part).indexOf(had), from: had.selectionStart, to: had.selectionEnd } : null;
    const was = twin.outerHTML;
    keepOpen(part, twin);
    const top = part.scrollTop;
    part.replaceChildren(...twin.childNodes);
    for (const a of twin.attributes) if (a.name.startsWith("data-")) part.setAttribute(a.name, a.value);
    part.dataset.was = was;
    part.scrollTop = top;
    refocus(part, path);
  }
  const composer = $("#composer"), twin = fresh.getElementById("composer");
  if (composer && twin) twin.dataset.busy ? (composer.dataset.busy = twin.dataset.busy) : delete composer.dataset.busy;
  document.title = fresh.title;
  const icon = fresh.getElementById("favicon");
  if (icon && $("#favicon").href !== icon.href) $("#favicon").href = icon.getAttribute("href");
  page.onRefresh.forEach((f) => f(fresh));
}

// The promise ends with a page that was made after the call.
let going = null, next = null;
export function refresh() {
  if (page.paused) { page.onNews?.(); return Promise.resolve(); }
  if (going) return (next ??= going.then(() => { next = null; return refresh(); }));
  const headers = { accept: "text/html, application/problem+json" };
  if (document.hidden) headers["x-everloop-hidden"] = "1";
  going = fetch(page.address(), { headers, credentials: "same-origin" })
    .then(async (r) => {
      if (r.redirected) return location.reload();
      const html = await r.text();
      if (page.paused) page.onNews?.(); // since it was asked for
      else if (r.ok) apply(html);
    })
    .catch(() => {})
    .finally(() => { going = null; });
  return going;
}
let timer = 0;
export function refreshSoon(ms = 60) { clearTimeout(timer); timer = setTimeout(refresh, ms); }

// ---- Connection ----------------------------------------------------------------------------------
// The one place that subscribes: a WebSocket, because a browser allows six other connections only.
export function subscribe(path, onData, onEnd) {
  const socket = new WebSocket(new URL(path, location.href.replace(/^http/, "ws")));
  socket.onmessage = (e) => onData(JSON.parse(e.data));
  socket.onclose = () => onEnd?.();
  return () => { socket.onclose = null; socket.close(); };
}

let stamp = null, tries = 0, lostAt = 0, bannerTimer = 0, seqs = null, seqsWere = null;
// Events of the runs that both know: how far they have come since.
const came = (now, was) => !was ? 0 : Object.entries(now ?? {}).reduce((sum, [run, seq]) => sum + Math.max(0, seq - (was[run] ?? 1)), 0);
page.pause = (on) => { page.paused = on; page.pausedAt = seqs; };
page.counted = (run) => came(run ? { [run]: seqs?.[run] ?? 0 } : seqs, page.pausedAt);
export const link = { up: false, onUp: [] };
export function banner(text, action, bad) {
  const place = $("#banner");
  if (!place) return;
  place.replaceChildren();
  if (!text) return;
  const b = document.createElement("div");
  b.className = bad ? "banner bad" : "banner"; b.setAttribute("role", "status");
  const s = document.createElement("span"); s.className = "grow"; s.textContent = text; b.append(s);
  if (action) { const k = document.createElement("button"); k.type = "button"; k.className = "btn sm"; k.textContent = words.retry; k.onclick = action; b.append(k); }
  place.append(b);
}
let connectTimer = 0, disconnect = null;
function connect() {
  clearTimeout(connectTimer);
  disconnect?.(); // one that is still connecting: both would live on
  disconnect = subscribe("/live", (said) => {
    if (!link.up) {
      link.up = true; tries = 0; clearTimeout(bannerTimer);
      if (lostAt) {
        const count = came(said.runs, seqsWere), text = count ? words.missed.replace("#", count) : words.again;
        banner(text); announce(text); setTimeout(() => banner(null), 4000); lostAt = 0;
      }
      resend().then(refresh).then(() => link.onUp.forEach((f) => f()));
    }
    const isNews = stamp !== null && said.stamp !== stamp;
    stamp = said.stamp; seqs = said.runs;
    if (isNews) refreshSoon();
    keysAre?.then((k) => k.heardNews(said.news));
  }, () => {
    link.up = false;
    if (!lostAt) { lostAt = Date.now(); seqsWere = seqs; bannerTimer = setTimeout(() => { banner(words.lost, connect); announce(words.lost); }, 2000); }
    connectTimer = setTimeout(connect, Math.min(500 * 2 ** tries++, 5000));
  });
}

// ---- Forms ----------------------------------------------------------------------------------------
let again = 0;
const waiting = []; // what could not be sent; sent again, in its order, when the connection is back
export const freshKey = () => crypto.randomUUID?.() ?? Date.now() + "-" + String(Math.random()).slice(2);
// The server does what has a key once. A form with files is written anew each time, so it cannot have one.
export async function post(address, body, key) {
  const headers = { "x-csrf-token": csrf, accept: "text/html, application/problem+json" }; // the body says its own type
  if (key && !(body instanceof FormData)) headers["idempotency-key"] = key;
  return fetch(address, { method: "POST", headers, body, credentials: "same-origin" });
}
// A form says in words that it was not sent yet.
function unsent(form, on) {
  form?.classList.toggle("unsent", on);
  const said = form && $(":scope > .not-sent", form);
  if (!on) said?.remove();
  else if (form?.hidden) toast(words.sent);
  else if (form && !said && form.id !== "composer") {
    const p = document.createElement("p");
    p.className = "not-sent st sm"; p.dataset.s = "waiting"; p.textContent = words.unsent;
    form.append(p);
  }
}
// `settled` hears what became of it, now or after the connection came back; `kept` is no ending.
// `key` names what is meant: sent again after a lost answer it is not done twice.
export async function send(address, body, form, settled, key = freshKey()) {
  let answer;
  try {
    // Messages do not overtake each other.
    if (settled && waiting.some((w) => w.settled)) throw new Error("behind another one");
    answer = await post(address, body, key);
    if (answer.status === 409 && (await answer.clone().json().catch(() => ({}))).code === "key_in_use") throw new Error("under way");
  } catch {
    const known = settled ? null : waiting.find((w) => w.address === address && w.form === form && (form || String(w.body) === String(body)));
    if (!known) waiting.push({ address, body, form, settled, key });
    // The form was filled in anew: the last words count.
    else if (String(known.body) !== String(body)) Object.assign(known, { body, key });
    unsent(form, true);
    announce(words.unsent);
    // Where only this one was lost, there is no reconnection to wait for.
    clearTimeout(again);
    again = setTimeout(() => link.up && resend().then(refresh), 2000);
    return { ok: false, kept: true };
  }
  unsent(form, false);
  const done = await answered(answer);
  settled?.(done);
  if (done.to) { location.assign(done.to); return { ok: true, left: true }; }
  return done;
}
async function answered(answer) {
  if (!answer.ok) {
    let said = words.failed, code = "";
    try { const p = await answer.json(); said = [p.title, p.detail].filter(Boolean).join(": "); code = p.code; } catch { /* no problem in words */ }
    // A home that cannot be written is no matter of this form alone.
    if (code === "read_only" || code === "database_unavailable") banner(said, () => { banner(null); refresh(); }, true);
    else toast(said);
    return { ok: false };
  }
  tabs?.postMessage("changed");
  const to = new URL(answer.url), here = new URL(location.href);
  if (answer.redirected && to.pathname !== here.pathname) return { ok: true, to };
  apply(await answer.text());
  return { ok: true };
}
async function resend() {
  for (const one of waiting.splice(0)) {
    const done = await send(one.address, one.body, one.form, one.settled, one.key);
    if (done.ok && one.form && !one.settled) forget(one.form, one.body);
  }
}
document.addEventListener("submit", async (e) => {
  const form = e.target;
  if (!("do" in form.dataset) || e.defaultPrevented) return;
  e.preventDefault();
  const body = new URLSearchParams(new FormData(form, e.submitter));
  const of = "done" in (e.submitter?.dataset ?? {}) ? e.submitter : form, to = of.formAction ?? form.action; // a button of the shared form says its own words
  const back = "undo" in of.dataset && (() => send(of.dataset.undoTo ?? to, new URLSearchParams(of.dataset.undo + "&back=" + encodeURIComponent(location.pathname + location.search))));
  const done = await send(e.submitter?.formAction && e.submitter.hasAttribute("formaction") ? e.submitter.formAction : form.action, body, form);
  if (!done.ok) return;
  forget(form, body);
  if (form.isConnected) form.reset();
  for (const d of $$("details.pop[open]")) d.open = false;
  if (of.dataset.done && !done.left) toast(of.dataset.done, back);
  document.dispatchEvent(new CustomEvent("everloop:sent", { detail: form }));
});
tabs && (tabs.onmessage = () => refreshSoon());

// ---- Drafts ------------------------------------------------------------------------------------------
const key = (form) => "everloop:" + form.dataset.keep;
const draft = (form) => { try { return JSON.parse(localStorage.getItem(key(form)) ?? "null") ?? {}; } catch { return {}; } };
// What was typed after it was sent is another draft, and stays.
export function forget(form, sent) {
  const same = ([name, value]) => (sent.get(name) ?? "").trim() === value.trim();
  if (form.dataset.keep && (!sent || Object.entries(draft(form)).every(same))) localStorage.removeItem(key(form));
}
function remember(form) {
  const all = {};
  for (const e of $$("textarea, input:not([type=hidden], [type=password], [type=radio], [type=file])", form)) if (e.value) all[e.name] = e.value;
  Object.keys(all).length ? localStorage.setItem(key(form), JSON.stringify(all)) : localStorage.removeItem(key(form));
}
export function restore() {
  for (const form of $$("form[data-keep]")) {
    for (const [name, value] of Object.entries(draft(form))) { const e = form.elements.namedItem(name); if (e && !e.value) e.value = value; }
  }
}
document.addEventListener("input", (e) => { const f = e.target.closest?.("form[data-keep]"); if (f) remember(f); });

// ---- Overlays and keys -------------------------------------------------------------------------------
let before = null;
// What is typed while its module is on the way is in its field already.
function dialog(name, on) {
  const box = $("#" + name);
  if (!box || box.hidden !== on) return;
  if (on) before = document.activeElement;
  box.hidden = $(`.veil[data-close="${name}"]`).hidden = !on;
  $(".shell").inert = on;
  if (!on) return before?.focus();
  const first = $(name === "keys" ? "button" : "input", box);
  if (name === "palette") first.value = "";
  first.focus();
  (name === "keys" ? keys() : palette()).then((m) => m.opened?.());
}
export function show(name, on) {
  if (name === "keys" || name === "palette") return dialog(name, on);
  const open = root.classList.contains(name + "-open");
  if (on === open) return;
  if (on) before = document.activeElement;
  root.classList.toggle(name + "-open", on);
  const veil = $('.veil[data-close="drawer"]'); if (veil) veil.hidden = !on;
  // What lies below the drawer or the panel can be reached neither by keys nor by a screen reader.
  for (const e of $$(".shell > *")) if (e.id !== (name === "drawer" ? "side" : "panel")) e.inert = on;
  $$(`[data-open="${name}"]`).forEach((b) => b.setAttribute("aria-expanded", on));
  on ? $(name === "drawer" ? "#side a" : "#panel button, #panel a")?.focus() : before?.focus();
}
document.addEventListener("click", (e) => {
  for (const d of $$("details.pop[open]")) if (!d.contains(e.target)) d.open = false;
  const t = e.target.closest("[data-open],[data-close],[data-copy]");
  if (!t) return;
  if (t.dataset.open) { e.preventDefault(); show(t.dataset.open, t.dataset.open === "palette" || !root.classList.contains(t.dataset.open + "-open")); }
  if (t.dataset.close) { show("keys", false); show("palette", false); show("drawer", false); show("panel", false); }
  if (t.dataset.copy !== undefined) {
    const from = t.dataset.copy ? document.getElementById(t.dataset.copy) : $("pre", t.closest(".code"));
    root.classList.add("copying"); // what is not part of the text is not there for a moment
    const text = (from.matches("pre") ? from : $(".prose, pre", from) ?? from).innerText;
    root.classList.remove("copying");
    navigator.clipboard?.writeText(text).then(() => {
      const use = $("use", t), icon = use.getAttribute("href"), was = t.lastChild.textContent;
      use.setAttribute("href", icon.replace(/#.*/, "#check")); t.lastChild.textContent = words.copied; announce(words.copied);
      setTimeout(() => { use.setAttribute("href", icon); t.lastChild.textContent = was; }, 2000);
    });
  }
});
const places = { i: "/inbox", t: "/agenda", s: "/agenda", r: "/runs", c: "/compare", p: "/reports", m: "/memory", ",": "/settings" };
let chord = 0;
document.addEventListener("keydown", (e) => {
  if (composing(e)) return;
  const ctrl = e.ctrlKey || e.metaKey, typing = e.target.closest?.("input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]");
  if (ctrl && e.key.toLowerCase() === "k") { e.preventDefault(); return show("palette", $("#palette").hidden); }
  if (ctrl && e.key === "/") { e.preventDefault(); return show("keys", $("#keys").hidden); }
  if (ctrl && e.shiftKey && e.key.toLowerCase() === "o") { e.preventDefault(); return location.assign("/chat"); }
  if (e.shiftKey && e.key === "Escape") return $("#say")?.focus();
  if (e.key === "Escape") { for (const d of $$("details.pop[open]")) d.open = false; show("keys", false); show("palette", false); show("drawer", false); return show("panel", false); }
  if (ctrl && e.key === "Enter") { const f = e.target.closest?.("form"); if (f) { e.preventDefault(); const k = e.target.closest("details")?.querySelector("button") ?? $("button.ink", f); f.requestSubmit(k ?? undefined); } return; }
  if (typing || ctrl || e.altKey || !letters() || !$("#keys").hidden) return;
  if (Date.now() - chord < 1000 && places[e.key]) { chord = 0; return location.assign(places[e.key]); }
  if (e.key === "g") { chord = Date.now(); return; }
  if (e.key === "j" || e.key === "k") {
    const all = $$(".item h3 a, .item h2 a, .fact h3 a, .todo .t, .sched a, form.ask"), at = all.indexOf(document.activeElement);
    all[Math.max(0, Math.min(all.length - 1, at + (e.key === "j" ? 1 : -1)))]?.focus();
    return;
  }
  // y e r i act only while a card has the focus.
  const row = e.target.closest?.(".item");
  const card = e.target.closest?.("form.ask") ?? (row?.matches(".sel") ? $("#request form.ask") : null);
  if (e.key === "u") { $('[data-key="u"]', row ?? $("#bar") ?? undefined)?.click(); return; }
  const digit = card && /^[1-9]$/.test(e.key) && $(`[data-digit="${e.key}"]`, card);
  if (digit) { e.preventDefault(); digit.focus(); return digit.matches("button") ? card.requestSubmit(digit) : void (digit.checked = true); }
  const hit = card && $(`[data-key="${CSS.escape(e.key)}"]`, card);
  if (hit) { e.preventDefault(); if (hit.matches("details")) { hit.open = true; $("textarea", hit).focus(); } else card.requestSubmit(hit); }
});

// What a card opens is seen whole: it may lie behind the composer.
document.addEventListener("toggle", (e) => { if (e.target.open && e.target.closest?.("form.ask")) e.target.scrollIntoView({ block: "nearest" }); }, true);

// As the system, then the other one, then this one: no step that changes nothing.
const theme = $(".theme");
if (theme && matchMedia("(prefers-color-scheme: dark)").matches) theme.value = { auto: "light", light: "dark", dark: "auto" }[theme.dataset.now];

if ($("#notify") || localStorage.getItem("everloop:notify") === "on") keys();
restore();
connect();
addEventListener("pageshow", (e) => e.persisted && refresh());
document.addEventListener("visibilitychange", () => { if (!document.hidden) refreshSoon(0); });
