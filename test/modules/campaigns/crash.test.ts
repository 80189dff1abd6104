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

/** The short form of scripts/crash-campaign.ts: after each kill it is an hour later. */
test(
  "a campaign survives kill -9: everybody has it, and twice only what was under way",
  async () => {
    const data = temporaryFolder();
    const report = await runCampaignCrash({
      kills: 3,
      seed: 4,
      recipients: 400,
      data,
      key: await prepareStore(data, 0),
      launch: (life, { port, relayPort }) =>
        startServer({
          binary: null,
          program: [process.execPath, "test/support/server-ahead.ts", String(life * HOUR)],
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
  },
  LIMIT_MS,
);
