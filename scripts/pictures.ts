/**
 * Makes the pictures of the README: the emails of the demonstration project with one email open, in
 * light and in dark, as `docs/pictures/emails-LAYOUT.png`.
 *
 * `bun scripts/pictures.ts`. It needs Chromium (`CHROMIUM` sets its path).
 */

import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { deflateSync, inflateSync, constants, crc32 } from "node:zlib";
import type { Browser } from "playwright-core";
import { buildDashboard, openPageIn, startBrowser } from "../test/support/browser.ts";
import { stringAt } from "../test/support/json.ts";
import { removeFolder, ROOT, startServer, temporaryFolder } from "./bench/children.ts";
import { signIn } from "./pages/sign-in.ts";
import { seedDemo } from "./seed/demo.ts";
import { DEMO_SCALES } from "./seed/demo/year.ts";

const FOLDER = join(ROOT, "docs", "pictures");
const SEED = 1;
/** Time for fonts, the preview and the times of rows to settle. */
const SETTLE_MS = 1_000;
const MAX_BYTES = 200_000;

const SIGNATURE_BYTES = 8;
/** Length, type and checksum of a chunk (PNG, third edition, §5.3). */
const CHUNK_FRAME_BYTES = 12;

async function run(): Promise<void> {
  buildDashboard();
  mkdirSync(FOLDER, { recursive: true });
  const data = temporaryFolder();
  const demo = await seedDemo(data, {
    sizes: DEMO_SCALES.small,
    untilMs: Date.now(),
    seed: SEED,
    log: console.log,
  });
  const server = await startServer({ binary: null, data, args: ["--transport", "capture"] });
  const browser = await startBrowser();
  try {
    const base = `http://127.0.0.1:${server.port}`;
    const { name, value } = await signIn(base, demo.users[0]?.email ?? "", demo.password);
    const email = await findEmail(base, demo.secretKey);
    const url = `${base}/app/p/${demo.projectId}/emails?email=${email}&tab=transcript`;
    for (const layout of ["light", "dark"] as const) {
      await save(browser, { url, layout, cookie: `${name}=${value}` });
    }
  } finally {
    await browser.close();
    await server.stop();
    removeFolder(data);
  }
}

/** The newest email that a server refused: its record shows the most. */
async function findEmail(base: string, key: string): Promise<string> {
  const response = await fetch(`${base}/emails?status=BOUNCED&source=TRANSACTIONAL&limit=1`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return stringAt(await response.json(), "data.items.0.id");
}

async function save(
  browser: Browser,
  { url, layout, cookie }: { url: string; layout: "light" | "dark"; cookie: string },
): Promise<void> {
  const opened = await openPageIn(browser, url, { layout, cookie });
  await opened.page.getByRole("region", { name: "Transcript" }).waitFor();
  await Bun.sleep(SETTLE_MS);
  const path = join(FOLDER, `emails-${layout}.png`);
  await Bun.write(path, recompressed(await opened.page.screenshot()));
  await opened.close();
  const { size } = statSync(path);
  console.log(`${path}  ${size} bytes`);
  if (size > MAX_BYTES) throw new Error(`${path} has more than ${MAX_BYTES} bytes`);
}

/** The same picture with its pixels compressed at the highest level; browsers compress quickly. */
function recompressed(png: Buffer): Buffer {
  const kept: Buffer[] = [png.subarray(0, SIGNATURE_BYTES)];
  const pixels: Buffer[] = [];
  for (let at = SIGNATURE_BYTES; at < png.length;) {
    const length = png.readUInt32BE(at);
    const chunk = png.subarray(at, at + length + CHUNK_FRAME_BYTES);
    const type = chunk.toString("latin1", 4, 8);
    if (type === "IDAT") pixels.push(chunk.subarray(8, 8 + length));
    else {
      if (type === "IEND") kept.push(chunkOf("IDAT", packed(Buffer.concat(pixels))));
      kept.push(chunk);
    }
    at += chunk.length;
  }
  return Buffer.concat(kept);
}

const packed = (compressed: Buffer): Buffer =>
  deflateSync(inflateSync(compressed), { level: constants.Z_BEST_COMPRESSION, memLevel: 9 });

function chunkOf(type: string, content: Buffer): Buffer {
  const chunk = Buffer.alloc(content.length + CHUNK_FRAME_BYTES);
  chunk.writeUInt32BE(content.length, 0);
  chunk.write(type, 4, "latin1");
  content.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + content.length)), 8 + content.length);
  return chunk;
}

await run();
process.exit(0);
