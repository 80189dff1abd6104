/** Creates what the HTTP interface of inboxes needs besides the parts that store messages. */

import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { InboxChanges } from "./changes.ts";
import type { Indexer } from "./indexing/indexer.ts";
import { createMatching } from "./matching.ts";
import { createMessageEdits } from "./messages/edits.ts";
import type { MessageStore } from "./messages/store.ts";
import type { Parser } from "./parsing/parser.ts";
import { createInboxReading } from "./reading.ts";
import { createRules } from "./rules/service.ts";
import type { Inboxes } from "./service.ts";
import { createSessions } from "./sessions/service.ts";
import { createWaiters } from "./wait/waiters.ts";

export function createInboxInterface(deps: {
  db: Db;
  writer: Writer;
  clock: Clock;
  log: Log;
  random: () => number;
  inboxes: Inboxes;
  store: MessageStore;
  parser: Parser;
  indexer: Indexer;
  changes: InboxChanges;
}) {
  const matching = createMatching(deps);
  const waiters = createWaiters({ ...deps, matching });
  return {
    matching,
    waiters,
    edits: createMessageEdits({ ...deps, matching }),
    reading: createInboxReading(deps),
    rules: createRules(deps),
    sessions: createSessions(deps),
    endRequests: () => waiters.close(),
  };
}
