/** The module of API keys: its routes, and the times of the last use of keys. */

import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { Admission } from "../../http/admission.ts";
import type { ListPage } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Module } from "../module.ts";
import { createKeyList } from "./list.ts";
import { keyRoutes } from "./routes.ts";
import type { Keys } from "./service.ts";

export function createKeyModule(deps: {
  admission: Admission;
  clock: Clock;
  db: Db;
  keys: Keys;
  listPage: ListPage;
  writer: Writer;
}): Module {
  const { keys, writer } = deps;
  const flush = () => keys.flushUses(writer);
  return {
    name: "keys",
    routes: [keyRoutes({ ...deps, list: createKeyList(deps) })],
    recurring: [{ name: "key uses", pattern: "*/30 * * * * *", run: flush }],
    flush,
  };
}
