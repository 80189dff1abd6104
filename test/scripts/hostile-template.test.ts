import { expect, test } from "bun:test";
import { removeFolder, temporaryFolder } from "../../scripts/bench/children.ts";
import { runHostile } from "../../scripts/hostile/run.ts";

const LIMIT_MS = 120_000;

/** A short version of scripts/hostile-template.ts, without the aims for times. */
test(
  "campaigns with endless templates fail, and the mail of another project arrives meanwhile",
  async () => {
    const data = temporaryFolder();
    const report = await runHostile({ data, binary: null, rounds: 1, seconds: 2, recipients: 300 });
    removeFolder(data);
    expect(report.attack.lost).toBe(0);
    expect(report.attack.failed).toBeGreaterThan(0);
    expect(report.attacked.flatMap(({ acceptedMs }) => acceptedMs)).toHaveLength(40);
    expect(report.attackedPeakMiB).toBeLessThan(report.ordinaryPeakMiB + 256);
  },
  LIMIT_MS,
);
