/** The time zone of the system is known, although the process runs in UTC. */

import { expect, test } from "bun:test";
import { join } from "node:path";

const LIB = join(import.meta.dir, "../../src/lib");
const PROGRAM = `
  await import(${JSON.stringify(join(LIB, "production.ts"))});
  const { systemTimeZone } = await import(${JSON.stringify(join(LIB, "time-zone.ts"))});
  console.log(systemTimeZone(), new Date(0).getHours());
`;

test.each([
  ["Asia/Tokyo", "Asia/Tokyo 0"],
  [":America/New_York", "America/New_York 0"],
  ["Nowhere/Place", "UTC 0"],
  ["", expect.stringMatching(/^[\w/+-]+ 0$/)],
])("with TZ=%s", (zone, shown) => {
  const ran = Bun.spawnSync([process.execPath, "-e", PROGRAM], { env: { TZ: zone } });
  expect(ran.stdout.toString().trim()).toEqual(shown);
});
