// The tour: what has been played is read again while it plays.
import { $, refresh } from "./core.js";

setInterval(() => { if ($("#tour")?.dataset.playing === "yes") refresh(); }, 600);
