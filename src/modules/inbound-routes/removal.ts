/**
 * Removes a received mail, and the texts of the message from its event, which stays. So what a stranger
 * wrote does not fill the share of received mail for ever.
 */

import type { EventLog } from "../../events/log.ts";
import type { ReceivedRows, RemovableMail } from "./rows.ts";

/** Part of a change. */
export type RemoveReceived = (mail: RemovableMail) => void;

export function createReceivedRemoval(deps: {
  rows: Pick<ReceivedRows, "remove">;
  events: Pick<EventLog, "removeReceivedTexts">;
}): RemoveReceived {
  return ({ seq, id, projectSeq, receivedAt }) => {
    deps.events.removeReceivedTexts({ projectSeq, id, at: receivedAt });
    deps.rows.remove(seq);
  };
}
