/** The module of sending domains: checks their DNS records when they are due. */

import type { App } from "../../core/app.ts";
import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { Admission } from "../../http/admission.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { Dns } from "../../protocols/dns/client.ts";
import type { Module } from "../module.ts";
import { pageUrl } from "../projects.ts";
import { createCheckRows } from "./check-rows.ts";
import { createDomainChecks } from "./check-worker.ts";
import { createDnsCheck } from "./dns-check.ts";
import { domainRoutes } from "./routes.ts";
import type { Domains } from "./service.ts";

export function createDomainModule(deps: {
  admission: Admission;
  clock: Clock;
  db: Db;
  app: App;
  dns: Dns;
  domains: Domains;
  log: Log;
  writer: Writer;
}): Module {
  const checks = createDomainChecks({
    ...deps,
    pageOf: ({ projectSeq, id }) => pageUrl(deps.app, projectSeq, `domains/${id}`),
    checkRows: createCheckRows(deps),
    checkDns: createDnsCheck(deps.dns),
  });
  let checksEnded = Promise.resolve();

  return {
    name: "domains",
    routes: [domainRoutes({ ...deps, checks })],
    dueTimes: [checks.shift],
    wake: checks.wake,

    async start(): Promise<void> {
      checks.start();
    },

    /** Starts no more checks. Checks under way end when the DNS client is closed. */
    async stop(): Promise<void> {
      checksEnded = checks.stop();
    },

    close: () => checksEnded,
  };
}
