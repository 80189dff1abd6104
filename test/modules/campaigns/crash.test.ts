import { expect, test } from "bun:test";
import {
  relayTo,
  removeFolder,
  startServer,
  temporaryFolder,
} from "../../../scripts/bench/children.ts";
import { prepareStore } from "../../../scripts/bench/store.ts";
import { isCampaignKept, runCampaignCrash } from "../../../scripts/crash/campaign.ts";

const HOUR = 60 * 60_000;
const LIMIT_MS = 90_000;

/** A short version of scripts/crash-campaign.ts; the clock advances an hour after each kill. */
test.each([
  ["unsigned", "KILL"],
  ["signed", "KILL"],
  ["unsigned", "TERM"],
] as const)(
  "a campaign, %s, survives SIG%s: each recipient gets it, twice only if it was being sent",
  async (mail, signal) => {
    const data = temporaryFolder();
    const report = await runCampaignCrash({
      kills: 3,
      seed: 4,
      recipients: 400,
      signal,
      data,
      key: await prepareStore(data, 0, { isSigned: mail === "signed" }),
      launch: (run, { port, relayPort }) =>
        startServer({
          binary: null,
          program: [process.execPath, "test/support/server-ahead.ts", String(run * HOUR)],
          data,
          port,
          args: relayTo(relayPort, 0),
        }),
      drainLimitMs: LIMIT_MS / 4,
    });
    removeFolder(data);
    expect(report).toMatchObject({
      skipped: 0,
      differing: 0,
      afterCancel: 0,
      wrongCounters: 0,
      status: "SENT",
    });
    expect(isCampaignKept(report)).toBe(true);
    if (signal === "TERM") expect(report.duplicates).toBe(0);
  },
  LIMIT_MS,
);
