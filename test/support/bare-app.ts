/** An application without a server, for tests that call functions of a noun. */

import { readConfig } from "../../src/config/read.ts";
import { createApp } from "../../src/core.ts";
import type { App } from "../../src/core/app.ts";
import type { Db } from "../../src/db/open.ts";
import { silentLog } from "../../src/lib/log.ts";
import { manualClock } from "./clock.ts";
import { FAILING_DNS } from "./dns.ts";

export function bareApp(db: Db): App {
  const config = readConfig({}, {}, {});
  const clock = manualClock();
  const secret = "a secret for tests, long enough to be taken";
  return createApp({ config, db, folder: null, secret, clock, log: silentLog, dns: FAILING_DNS });
}
