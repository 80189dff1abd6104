import { expect, test } from "bun:test";
import type { Server } from "../../src/app.ts";
import type { Store } from "../../src/cli/store.ts";
import { perApp } from "../../src/lib/per-app.ts";
import { silentLog } from "../../src/lib/log.ts";
import { listKeys } from "../../src/modules/keys.ts";
import { suppressionReason } from "../../src/modules/suppressions.ts";
import { bareApp } from "../support/bare-app.ts";
import { migratedDatabase } from "../support/database.ts";

const state = perApp(() => new Map<string, number>());

test("an application has one state, and a copy with replacements has its own", () => {
  const app = bareApp(migratedDatabase());
  const copy = { ...app, log: silentLog };
  expect(state(app)).toBe(state(app));
  expect(state(copy)).toBe(state(copy));
  expect(state(copy)).not.toBe(state(app));
});

/** `bun check` finds that what contains the members of an application is not taken for one. */
export const refusedByType = (server: Server, store: Store) => [
  suppressionReason(server.app, 1, ""),
  // @ts-expect-error: the application is server.app
  suppressionReason(server, 1, ""),
  // @ts-expect-error: its state would be another one
  state(server),
  listKeys(store, 1),
  // @ts-expect-error: a command has a few members of an application
  suppressionReason(store, 1, ""),
];
