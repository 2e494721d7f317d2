// Files that go with a message: chosen, dropped or pasted; shown, and taken off again.
import { $, announce, toast } from "./core.js";

const composer = $("#composer"), input = $("#files"), list = $("#files-chosen"), told = $("#file-words").dataset;
let files = [];

export const chosen = () => files;
export function clearFiles() { files = []; show(); }
export function restoreFiles(all) { files = all; show(); }

function take(more) {
  for (const file of more) {
    if (file.size > Number(told.most)) { toast(told.large.replace("#", file.name)); announce(told.large.replace("#", file.name)); }
    else files.push(file);
  }
  show();
}
function show() {
  // The form has the same files, for whoever sends it without this script.
  const all = new DataTransfer();
  files.forEach((f) => all.items.add(f));
  input.files = all.files;
  list.hidden = !files.length;
  list.replaceChildren(...files.map((file) => {
    const row = document.createElement("li"), name = document.createElement("span"), off = document.createElement("button");
    row.className = "chip";
    if (file.type.startsWith("image/")) {
      const img = document.createElement("img"), reader = new FileReader();
      img.alt = ""; reader.onload = () => (img.src = reader.result); reader.readAsDataURL(file); row.append(img);
    }
    name.className = "clip"; name.textContent = file.name;
    off.type = "button"; off.className = "btn ghost sm"; off.textContent = "×"; off.setAttribute("aria-label", told.remove.replace("#", file.name));
    off.onclick = () => { files = files.filter((f) => f !== file); show(); $("#say").focus(); };
    row.append(name, off);
    return row;
  }));
}
input.addEventListener("change", () => take([...input.files]));
$("#say").addEventListener("paste", (e) => { const got = [...(e.clipboardData?.files ?? [])]; if (got.length) { e.preventDefault(); take(got); } });
const carries = (e) => e.dataTransfer?.types.includes("Files");
document.addEventListener("dragover", (e) => { if (carries(e)) { e.preventDefault(); composer.classList.add("dropping"); } });
document.addEventListener("dragleave", (e) => { if (!e.relatedTarget) composer.classList.remove("dropping"); });
document.addEventListener("drop", (e) => { if (!carries(e)) return; e.preventDefault(); composer.classList.remove("dropping"); take([...e.dataTransfer.files]); });
