/**
 * Helper: a receiver of webhooks that takes everything. Says `{port}`, and `{count, seconds}` when
 * `expected` of them came: how many different ones, and the time from the first to the last.
 */

import "../../src/lib/production.ts";
import { Type } from "@sinclair/typebox";
import { parse } from "./children.ts";

const Settings = Type.Object({ expected: Type.Number() });

const { expected } = parse(Settings, JSON.parse(Bun.argv[2] ?? "{}"));
const ids = new Set<string>();
let firstAt = 0;

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    await request.bytes();
    if (firstAt === 0) firstAt = performance.now();
    const before = ids.size;
    ids.add(request.headers.get("webhook-id") ?? "");
    if (ids.size === expected && before < expected) {
      const seconds = (performance.now() - firstAt) / 1000;
      console.log(JSON.stringify({ count: ids.size, seconds }));
    }
    return new Response(null, { status: 204 });
  },
});
console.log(JSON.stringify({ port: server.port }));
