// Every way to look at a page: two languages, light and dark, wide and narrow, 200 %, more contrast,
// forced colors. A page is loaded once in each language; the rest is what a browser changes in place.
import { signedIn, clean, check, axe } from "./page.mjs";

const LANGS = ["en", "zh-CN"];
const size = (width) => ({ width, height: width < 600 ? 780 : 900 });
const LOOKS = [];
for (const theme of ["light", "dark"]) for (const width of [1440, 360]) LOOKS.push({ name: `${theme} ${width}`, file: `${theme}-${width}`, theme, size: size(width) });
// 400 % of a page 1440 wide is 360; 200 % is 720 by 450.
const LARGE = [{ name: "at 200 %", theme: "light", size: { width: 720, height: 450 }, isLarge: true },
  { name: "with text of 200 %", theme: "light", size: size(1440), text: 32, isLarge: true }];
const STRICT = [{ name: "with more contrast and no motion", theme: "light", size: size(1440), contrast: "more", motion: "reduce" },
  { name: "in forced colors", theme: "dark", size: size(1440), forced: "active", motion: "reduce" }];

// `all` has a page by its name: its path, or what is done to come to it. `more.each` is looked at in every form.
export async function looks(world, server, all, more = {}) {
  for (const lang of LANGS) {
    const { context, page } = await (more.session ?? signedIn)(world, server);
    const tools = await context.newCDPSession(page);
    await context.addCookies([{ name: "everloop_lang", value: lang, url: server.url }]);
    const forms = [...LOOKS, ...(more.isPlain ? [] : LARGE), ...(lang === "en" && !more.isPlain ? STRICT : [])];
    for (const [name, open] of Object.entries(all)) {
      let isOpen = false;
      for (const form of forms) {
        await world.test(`${name} ${lang} ${form.name}: quiet, fits, no finding of axe`, async () => {
          await page.setViewportSize(form.size);
          await page.emulateMedia({ colorScheme: form.theme, contrast: form.contrast ?? null, forcedColors: form.forced ?? null, reducedMotion: form.motion ?? null });
          if (!isOpen || (await more.isStale?.(page, name))) {
            page.faults = [];
            page.quiet = more.isQuiet || name === "missing";
            if (typeof open === "string") await page.goto(server.url + open, { waitUntil: "load" });
            else await open(page, lang);
          }
          isOpen = false; // what failed is loaded again
          // What a person sets as the size of letters, and nothing else.
          await tools.send("Page.setFontSizes", { fontSizes: { standard: form.text ?? 16, fixed: form.text ? 26 : 13 } });
          await look(world, page, form, lang);
          if (world.pictures && form.file) await page.screenshot({ path: `${world.pictures}/${name.replaceAll(" ", "-")}-${lang}-${form.file}.png` });
          await more.each?.(page, name, form);
          // In forced colors the reader's own count; axe still reads those of the page.
          await axe(world, page, form.forced ? { "color-contrast": { enabled: false } } : {});
          clean(page);
          isOpen = true;
        });
      }
    }
    await context.close();
  }
}

async function look(world, page, form, lang) {
  const seen = await page.evaluate(() => ({ out: [...document.querySelectorAll("#side .clip")].filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > document.querySelector("#side").getBoundingClientRect().right).length,
    over: document.documentElement.scrollWidth - innerWidth, lang: document.documentElement.lang,
    wide: document.documentElement.scrollWidth - innerWidth > 0 ? [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).slice(-3).map((e) => e.outerHTML.slice(0, 90)) : [] }));
  check(seen.out === 0, `${seen.out} titles stick out of the side bar`);
  check(seen.over <= 0, `scrolls sideways by ${seen.over} px: ${seen.wide.join(" | ")}`);
  check(seen.lang === lang, `the page is in ${seen.lang}`);
  if (form.isLarge) await reachable(page);
  if (form.motion) {
    const moving = await page.evaluate(() => document.getAnimations().filter((a) => a.playState === "running" && a.effect.getComputedTiming().duration > 10).length);
    check(moving === 0, `${moving} things move`);
  }
}

// What matters most on the page can still be brought under the pointer.
async function reachable(page) {
  const hidden = await page.evaluate(() => {
    const hit = (e) => { e.scrollIntoView({ block: "center" }); const r = e.getBoundingClientRect(), top = document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2); return top && (e.contains(top) || top.contains(e)); };
    return [...document.querySelectorAll("#say, #send, #main h1:not(.vh), #main button.ink")].filter((e) => e.checkVisibility() && !hit(e)).map((e) => e.outerHTML.slice(0, 90));
  });
  check(hidden.length === 0, `cannot be reached: ${hidden.join(" | ")}`);
}

// For what has to be done anew in every form.
export const FORMS = [];
for (const lang of LANGS) for (const theme of ["light", "dark"]) for (const width of [1440, 360]) FORMS.push({ lang, theme, width });

export async function stranger(world) {
  const context = await world.browser.newContext({ viewport: size(1440), locale: "en" });
  const page = await context.newPage();
  page.faults = [];
  page.on("pageerror", (e) => page.faults.push(`error: ${e.message}`));
  page.on("console", (m) => page.quiet || page.faults.push(`console ${m.type()}: ${m.text()}`));
  return { context, page: world.counted(page) };
}
