/** Creates what the HTTP interface of inboxes needs besides the parts that store messages. */

import type { App } from "../../core/app.ts";
import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import { announcements } from "../../events/announcements.ts";
import type { Clock } from "../../lib/clock.ts";
import { randomBase62 } from "../../lib/crypto.ts";
import type { Log } from "../../lib/log.ts";
import type { InboxChanges } from "./changes.ts";
import type { Indexer } from "./indexing/indexer.ts";
import { createLive } from "./live/stream.ts";
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
  app: App;
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
  const live = createLive({ ...deps, processId: randomBase62(8) });
  const waiters = createWaiters({ ...deps, matching });
  /** Tells the dashboard that rules of the inbox or its refused sessions changed. */
  function onRefusals(inboxSeq: number): void {
    const projectSeq = deps.inboxes.projectOf(inboxSeq);
    if (projectSeq === null) return;
    announcements(deps.app).announce({ projectSeq, type: "inbox.refusals", id: "" });
  }
  return {
    matching,
    waiters,
    edits: createMessageEdits({ ...deps, matching }),
    reading: createInboxReading(deps),
    rules: createRules({ ...deps, onChange: onRefusals }),
    sessions: createSessions({ ...deps, onRefusal: onRefusals }),
    live,
    endRequests() {
      waiters.close();
      live.close();
    },
  };
}
