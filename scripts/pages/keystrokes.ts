/**
 * Measures how long a keystroke takes until it is drawn, in a template of 100 kB, in the code editor
 * and in the visual editor. The keys come at the pace of a person who types fast. The time is the
 * processor time of the page's main thread from the key to the second frame after it, so that other
 * work on the machine counts as little as possible. It fails if 95 % of the keys need more than a
 * frame of 16 ms. A processor that other programs share needs more time for the same work; the time of
 * a small template is printed to compare.
 */

import type { Page } from "playwright-core";
import { openPageIn } from "../../test/support/browser.ts";
import { stringAt } from "../../test/support/json.ts";
import { type RunCommand, type Site, withDemo } from "./dashboard.ts";

const KEYS = 100;
/** The first keys load code and fill caches. */
const WARM_UP_KEYS = 10;
/** Shorter than the pauses after which the editors report a change. */
const PACE_MS = 100;
const FRAME_MS = 16;
const SENTENCE = "A sentence of a long letter, with some words. ".repeat(8);
/** The number of paragraphs in a template of 100 kB, and in a small one. */
const PARAGRAPHS = { long: 270, small: 5 };

const code = (paragraphs: number) => ({
  body: `<p style="margin: 0 0 16px">${SENTENCE}{{ name }}</p>\n`.repeat(paragraphs),
});

const visual = (paragraphs: number) => ({
  ...code(paragraphs),
  format: "VISUAL",
  design: {
    version: 1,
    theme: {},
    document: {
      type: "doc",
      content: Array.from({ length: paragraphs }, () => ({
        type: "paragraph",
        content: [
          { type: "text", text: SENTENCE },
          { type: "variable", attrs: { name: "name" } },
        ],
      })),
    },
  },
});

/** Resolves when what was changed before is drawn. */
const TWO_FRAMES =
  "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve())))";

type Mode = { field: string; line: string; template: (paragraphs: number) => object };

const MODES: Readonly<Record<string, Mode>> = {
  code: { field: ".cm-content", line: ".cm-line", template: code },
  visual: { field: ".ProseMirror", line: ".ProseMirror p", template: visual },
};

export function measureKeystrokes(command: RunCommand): Promise<void> {
  return withDemo(command, async (site) => {
    const slow: string[] = [];
    for (const [name, mode] of Object.entries(MODES)) {
      const small = percentiles(await timesOf(site, mode, PARAGRAPHS.small));
      const long = percentiles(await timesOf(site, mode, PARAGRAPHS.long));
      console.log(`  ${name}: ${textOf(long)}; in a small template ${textOf(small)}`);
      if (long.high > FRAME_MS) slow.push(name);
    }
    if (slow.length > 0) throw new Error(`a keystroke takes over ${FRAME_MS} ms: ${slow.join()}`);
  });
}

type Percentiles = { median: number; high: number; longest: number };

function percentiles(times: readonly number[]): Percentiles {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
  return { median: at(0.5), high: at(0.95), longest: sorted.at(-1) ?? 0 };
}

const textOf = ({ median, high, longest }: Percentiles): string =>
  `median ${median.toFixed(1)} ms, 95 % ${high.toFixed(1)} ms, longest ${longest.toFixed(1)} ms`;

/** The times of the keys in milliseconds. */
async function timesOf(site: Site, mode: Mode, paragraphs: number): Promise<number[]> {
  const id = await createTemplate(site, mode.template(paragraphs));
  const { browser, base, cookie, places } = site;
  const opened = await openPageIn(browser, `${base}/app/p/${places.FULL.project}/templates/${id}`, {
    prepare: (page) => page.context().addCookies([{ ...cookie, url: base }]),
  });
  try {
    const { page } = opened;
    await page.locator(mode.field).waitFor();
    await page.locator(mode.line).nth(2).click();
    return await typeKeys(page);
  } finally {
    await opened.close();
  }
}

async function typeKeys(page: Page): Promise<number[]> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const spentMs = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1000;
  };
  const times: number[] = [];
  for (let i = 0; i < WARM_UP_KEYS + KEYS; i++) {
    const before = await spentMs();
    const pace = Bun.sleep(PACE_MS);
    await page.keyboard.press(i % 6 === 5 ? "Space" : "x");
    await page.evaluate(TWO_FRAMES);
    if (i >= WARM_UP_KEYS) times.push((await spentMs()) - before);
    await pace;
  }
  return times;
}

async function createTemplate({ base, secretKey }: Site, fields: object): Promise<string> {
  const response = await fetch(`${base}/templates`, {
    method: "POST",
    headers: { authorization: `Bearer ${secretKey}`, "content-type": "application/json" },
    body: JSON.stringify({ name: "Long", subject: "Long", type: "TRANSACTIONAL", ...fields }),
  });
  return stringAt(await response.json(), "data.id");
}
