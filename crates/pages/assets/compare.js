// The comparison: how many runs the chosen boxes make, and what they cost.
import { $, $$ } from "./core.js";

const form = $("form[data-compare]"), cost = $("#compare-cost");
const on = (start) => $$(`input[name^="${start}"]:checked`, form);
function count() {
  const tasks = on("kind:").reduce((sum, e) => sum + +e.dataset.count, 0);
  const each = on("loop:").length * tasks * (+form.elements.runs.value || 0);
  const own = form.elements.own, paid = own?.checked && "paid" in own.dataset ? each : 0;
  const runs = each * (on("model:").length + (own?.checked ? 1 : 0));
  const said = paid ? cost.dataset.paid : cost.dataset.free;
  const show = (n) => n.toLocaleString("en");
  cost.textContent = said.replace("{runs}", show(runs)).replace("{paid}", show(paid));
  if (form.elements.agree) form.elements.agree.required = !!paid;
}
form?.addEventListener("input", count);
form?.addEventListener("reset", () => setTimeout(count));
if (form) count();
