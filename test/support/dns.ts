/** A DNS client for tests that do not use DNS: all queries fail immediately. */

import type { Dns } from "../../src/protocols/dns/client.ts";

export const FAILING_DNS: Dns = {
  resolve: async () => ({ kind: "failed", reason: "there is no DNS in this test" }),
  reverse: async () => ({ kind: "failed", reason: "there is no DNS in this test" }),
  close: () => {},
};
