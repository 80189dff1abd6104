import { expect, test } from "bun:test";
import { removeFolder, startServer, temporaryFolder } from "../../scripts/bench/children.ts";
import { prepareStore } from "../../scripts/bench/store.ts";
import { runCaptureCrashLoop } from "../../scripts/crash/capture.ts";
import { runInboundCrashLoop } from "../../scripts/crash/inbound.ts";
import { runSubmissionCrashLoop } from "../../scripts/crash/submission.ts";

const LIMIT_MS = 90_000;

/** A short version of `scripts/crash.ts --transport capture-smtp`. */
test(
  "every captured message that was answered with 250 survives kill -9",
  async () => {
    const data = temporaryFolder();
    const report = await runCaptureCrashLoop({
      kills: 3,
      seed: 1,
      key: await prepareStore(data, 0),
      connections: 10,
      launch: ({ port, args }) => startServer({ binary: null, data, port, args }),
    });
    removeFolder(data);
    expect(report).toMatchObject({ lost: 0, duplicates: 0, damaged: 0 });
    expect(report.accepted).toBeGreaterThan(0);
  },
  LIMIT_MS,
);

/** A short version of `scripts/crash.ts --transport submission`. */
test(
  "every submitted message that was answered with 250 survives kill -9, once",
  async () => {
    const data = temporaryFolder();
    const report = await runSubmissionCrashLoop({
      kills: 3,
      seed: 1,
      key: await prepareStore(data, 0),
      connections: 10,
      launch: ({ port, args }) => startServer({ binary: null, data, port, args }),
    });
    removeFolder(data);
    expect(report).toMatchObject({ lost: 0, duplicates: 0, damaged: 0 });
    expect(report.accepted).toBeGreaterThan(0);
  },
  LIMIT_MS,
);

/** A short version of `scripts/crash.ts --transport inbound`. */
test(
  "every received message that was answered with 250 survives kill -9, with its event",
  async () => {
    const data = temporaryFolder();
    const report = await runInboundCrashLoop({
      kills: 3,
      seed: 1,
      data,
      key: await prepareStore(data, 0),
      connections: 10,
      launch: ({ port, args }) => startServer({ binary: null, data, port, args }),
    });
    removeFolder(data);
    expect(report).toMatchObject({ lost: 0, duplicates: 0, damaged: 0, incomplete: 0 });
    expect(report.accepted).toBeGreaterThan(0);
  },
  LIMIT_MS,
);
