import { expect, test } from "bun:test";
import { removeFolder, startServer, temporaryFolder } from "../../scripts/bench/children.ts";
import { prepareStore } from "../../scripts/bench/store.ts";
import { runCrashLoop } from "../../scripts/crash/loop.ts";

const HOUR = 60 * 60_000;
const LIMIT_MS = 90_000;

/** A short version of scripts/crash.ts; the clock advances an hour after each kill. */
test.each(["relay", "direct"] as const)(
  "%s: an accepted mail survives kill -9, and arrives twice only if it was being sent",
  async (transport) => {
    const data = temporaryFolder();
    const report = await runCrashLoop({
      kills: 3,
      seed: 1,
      data,
      key: await prepareStore(data, 0, { isSigned: transport === "direct" }),
      connections: 4,
      transport,
      launch: (run, { port, args }) =>
        startServer({
          binary: null,
          program: [process.execPath, "test/support/server-ahead.ts", String(run * HOUR)],
          data,
          port,
          args,
        }),
      drainLimitMs: LIMIT_MS / 2,
    });
    removeFolder(data);
    expect(report).toMatchObject({
      lost: 0,
      differing: 0,
      surplusRecords: 0,
      wrongCounters: 0,
      isOrderlyEnd: true,
    });
    expect(report.duplicates).toBeLessThanOrEqual(report.inFlightAtKills);
    expect(report.accepted).toBeGreaterThan(0);
    expect(report.delivered).toBe(report.accepted);
  },
  LIMIT_MS,
);
