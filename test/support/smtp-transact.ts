/** A transaction of the SMTP client as a promise. */

import type { Conversation } from "../../src/protocols/smtp/conversation.ts";
import type { Dispatch } from "../../src/protocols/smtp/dispatch.ts";
import type { Place } from "../../src/protocols/smtp/place.ts";
import type { Delivery } from "../../src/protocols/smtp/decision.ts";
import { transact as start } from "../../src/protocols/smtp/transaction.ts";

export function transact(
  place: Place,
  dispatch: Dispatch,
): Promise<{ delivery: Delivery; conversation: Conversation }> {
  return new Promise((resolve) => {
    start(place, dispatch, (delivery, conversation) => resolve({ delivery, conversation }));
  });
}
