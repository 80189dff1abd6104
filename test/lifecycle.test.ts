/** The order in which modules start and stop. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createClockSteps } from "../src/clock-steps.ts";
import { readConfig } from "../src/config/read.ts";
import { createApp } from "../src/core.ts";
import type { App } from "../src/core/app.ts";
import { StorageFaultError } from "../src/db/fault.ts";
import { migrate } from "../src/db/migrate.ts";
import { type Db, openDatabase } from "../src/db/open.ts";
import { silentLog } from "../src/lib/log.ts";
import { createSteadyClock } from "../src/lib/steady-clock.ts";
import { createAppLifecycle } from "../src/lifecycle.ts";
import type { Module } from "../src/modules/module.ts";
import { manualClock } from "./support/clock.ts";
import { FAILING_DNS } from "./support/dns.ts";

let db: Db;
let app: App;
let calls: string[];
beforeEach(() => {
  db = openDatabase(":memory:");
  migrate(db.sqlite);
  app = createApp({
    config: readConfig({}, {}),
    db,
    folder: null,
    secret: "a secret for tests, long enough to be taken",
    clock: manualClock(),
    log: silentLog,
    dns: FAILING_DNS,
  });
  calls = [];
});
afterEach(() => db.sqlite.close());

/** A module that notes its calls; each takes until the next iteration of the event loop. */
function noting(name: string): Module {
  const note = (verb: string) => async () => {
    calls.push(`${verb} ${name}`);
    await Bun.sleep(0);
    calls.push(`${verb} ${name} ended`);
  };
  return {
    name,
    start: note("start"),
    stop: note("stop"),
    close: note("close"),
    flush: note("flush"),
  };
}

function lifecycleOf(modules: readonly Module[]) {
  return createAppLifecycle(app, {
    modules,
    recurring: [],
    clockSteps: createClockSteps({
      ...app,
      clock: createSteadyClock(app.clock),
      dueTimes: [],
      lifetimes: [],
      wake() {},
    }),
    server: { close: async () => void calls.push("close HTTP") },
    faultLog: silentLog,
  });
}

const withoutEnds = () => calls.filter((call) => !call.endsWith("ended"));

describe("modules", () => {
  const modules = () => [noting("low"), noting("high")];

  test("start one after the other in the order of the list", async () => {
    const lifecycle = lifecycleOf(modules());
    await lifecycle.start();
    expect(calls).toEqual(["start low", "start low ended", "start high", "start high ended"]);
    await lifecycle.stop();
  });

  test("stop after HTTP in the reverse order: all stop, then all close, then all flush", async () => {
    const lifecycle = lifecycleOf(modules());
    await lifecycle.start();
    calls = [];
    await lifecycle.stop();
    expect(withoutEnds()).toEqual([
      "close HTTP",
      "stop high",
      "stop low",
      "close high",
      "close low",
      "flush high",
      "flush low",
    ]);
    expect(calls.indexOf("stop high ended")).toBeLessThan(calls.indexOf("stop low"));
  });

  test("stop all at once after a storage fault, and flush nothing", async () => {
    const lifecycle = lifecycleOf(modules());
    await lifecycle.start();
    calls = [];
    db.fault.raise({ kind: "damaged", file: "/data/test.db", finding: "test" });
    expect(calls).toEqual(["stop high", "stop low"]);
    await lifecycle.stop();
    expect(withoutEnds()).toEqual([
      "stop high",
      "stop low",
      "close HTTP",
      "close high",
      "close low",
    ]);
  });

  test("are not started after one that meets a storage fault, and the start is refused", async () => {
    const faulty: Module = {
      name: "faulty",
      start: async () =>
        void db.fault.raise({ kind: "damaged", file: "/data/test.db", finding: "test" }),
    };
    const lifecycle = lifecycleOf([noting("low"), faulty, noting("high")]);
    const refused = await lifecycle.start().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StorageFaultError);
    await lifecycle.stop();
    expect(calls).not.toContain("start high");
    expect(calls).toContain("close low ended");
  });

  test("stop although one of them fails after a storage fault", async () => {
    const failing = { name: "failing", stop: () => Promise.reject(new Error("refused")) };
    const lifecycle = lifecycleOf([noting("low"), failing, noting("high")]);
    await lifecycle.start();
    db.fault.raise({ kind: "damaged", file: "/data/test.db", finding: "test" });
    await lifecycle.stop();
    expect(calls).toContain("close low ended");
  });
});
