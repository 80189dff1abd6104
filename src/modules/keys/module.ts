/** The module of API keys: stores the times of their last use. Commands create and revoke them. */

import type { Writer } from "../../db/writer.ts";
import type { Module } from "../module.ts";
import type { Keys } from "./service.ts";

export function createKeyModule({ keys, writer }: { keys: Keys; writer: Writer }): Module {
  const flush = () => keys.flushUses(writer);
  return {
    name: "keys",
    recurring: [{ name: "key uses", pattern: "*/30 * * * * *", run: flush }],
    flush,
  };
}
