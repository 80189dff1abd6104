/**
 * Helper: a webhook receiver that answers every request with 204. Prints `{port}`. Once it has
 * received `expected` different `webhook-id` values it prints `{count, seconds}`: their number, and
 * the time from the first to the last.
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
    const countBefore = ids.size;
    ids.add(request.headers.get("webhook-id") ?? "");
    if (ids.size === expected && countBefore < expected) {
      const seconds = (performance.now() - firstAt) / 1000;
      console.log(JSON.stringify({ count: ids.size, seconds }));
    }
    return new Response(null, { status: 204 });
  },
});
console.log(JSON.stringify({ port: server.port }));
