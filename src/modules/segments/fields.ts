/** What a filter's `field` names (interface decision G). */

import { isEventName, trimmedEventName } from "../../lib/event-name.ts";
import { splitPath } from "../../lib/key-path.ts";

export type Target =
  | { kind: "email" }
  | { kind: "subscribed" }
  | { kind: "time"; column: "createdAt" | "updatedAt" }
  /** Keys from the outside in. */
  | { kind: "data"; path: readonly string[] }
  | { kind: "event"; name: string }
  | { kind: "segment"; id: string };

const MAIL_FACTS = ["opened", "clicked", "sent", "delivered", "bounced", "complained"];
const LONGEST_FIELD = 1024;
const LONGEST_EVENT_NAME = 255;

/** The target, or a sentence that says what is wrong with the text. */
export function parseField(text: string): Target | string {
  if (text.length > LONGEST_FIELD) return `A field has at most ${LONGEST_FIELD} characters.`;
  if (text === "email" || text === "subscribed") return { kind: text };
  if (text === "createdAt" || text === "updatedAt") return { kind: "time", column: text };
  const dot = text.indexOf(".");
  const rest = text.slice(dot + 1);
  switch (text.slice(0, Math.max(dot, 0))) {
    case "data":
      return dataTarget(rest);
    case "event":
      return eventTarget(rest);
    case "email":
      return MAIL_FACTS.includes(rest)
        ? { kind: "event", name: text }
        : `Expected email or email. followed by one of ${MAIL_FACTS.join(", ")}.`;
    case "segment":
      return rest === "" ? "Expected a segment id after segment." : { kind: "segment", id: rest };
    default:
      return (
        "Expected email, subscribed, createdAt, updatedAt, data.<path>, event.<name>, " +
        "email.<fact> or segment.<id>."
      );
  }
}

function dataTarget(text: string): Target | string {
  const path = splitPath(text);
  return path.includes("")
    ? "Expected a path such as data.plan or data.a.b."
    : { kind: "data", path };
}

function eventTarget(text: string): Target | string {
  const name = trimmedEventName(text);
  if (!isEventName(name)) return "Expected an event name after event.";
  if (name.length > LONGEST_EVENT_NAME) return "An event name has at most 255 characters.";
  return { kind: "event", name };
}
