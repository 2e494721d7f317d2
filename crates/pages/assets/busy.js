// Forms that take a while: their button says so and cannot be pressed twice.
import "./core.js";

document.addEventListener("submit", (e) => {
  const form = e.target.closest("form[data-busy]"), button = form?.querySelector("[data-busy-words]");
  if (!button) return;
  const label = button.querySelector("span") ?? button, was = label.textContent;
  label.textContent = button.dataset.busyWords;
  button.setAttribute("aria-disabled", "true");
  form.setAttribute("aria-busy", "true");
  // The answer brings another button in its place; this one comes back if there was no answer.
  const back = () => { label.textContent = was; button.removeAttribute("aria-disabled"); form.removeAttribute("aria-busy"); };
  const seen = new MutationObserver(() => { if (form.classList.contains("unsent") || !form.isConnected) done(); });
  const failed = new MutationObserver(() => done());
  const done = () => { seen.disconnect(); failed.disconnect(); back(); };
  seen.observe(form, { attributes: true, attributeFilter: ["class"] });
  failed.observe(document.getElementById("toasts"), { childList: true });
}, true);
