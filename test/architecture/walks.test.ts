/**
 * The number of files that run new code for one mail, one event or one captured message only shrinks.
 * `bun scripts/walks.ts NAME` lists the files.
 */

import { expect, test } from "bun:test";
import { join } from "node:path";

const MOST: Readonly<Record<string, number>> = { send: 138, event: 52, capture: 69 };
/** A number that is so much too high has to be lowered. */
const SLACK = 5;

test.each(Object.entries(MOST))("%s runs new code in at most %i files", (name, most) => {
  const { stdout, stderr } = Bun.spawnSync([process.execPath, "scripts/walks.ts", name], {
    cwd: join(import.meta.dir, "../.."),
  });
  const [, files] = /(\d+) files\n$/.exec(stdout.toString()) ?? [];
  if (files === undefined) throw new Error(stderr.toString());
  expect(Number(files)).toBeLessThanOrEqual(most);
  expect(Number(files)).toBeGreaterThanOrEqual(most - SLACK);
});
