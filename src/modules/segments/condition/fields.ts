/** Parses the `field` of a filter (docs/interface.md#campaigns). */

import { isEventName, trimmedEventName } from "../../../lib/event-name.ts";
import { splitPath } from "../../../lib/key-path.ts";
import { parseUrl } from "../../../lib/url.ts";

export type Target =
  | { kind: "email" }
  | { kind: "subscribed" }
  | { kind: "time"; column: "createdAt" | "updatedAt" }
  /** Keys, the outermost first. */
  | { kind: "data"; path: readonly string[] }
  | { kind: "event"; name: string }
  /** The mails of a campaign or from a template. */
  | { kind: "mail"; of: "campaign" | "template"; id: string }
  | { kind: "link"; url: string }
  | { kind: "topic"; key: string }
  | { kind: "segment"; id: string };

const MAIL_EVENTS = ["opened", "clicked", "sent", "delivered", "bounced", "complained"];
const LONGEST_FIELD = 1024;
const LONGEST_EVENT_NAME = 255;

/** Returns the target, or the message of a field error. */
export function parseField(text: string): Target | string {
  if (text.length > LONGEST_FIELD) return `must have at most ${LONGEST_FIELD} characters`;
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
      return MAIL_EVENTS.includes(rest)
        ? { kind: "event", name: text }
        : `must be email, or email. followed by one of ${MAIL_EVENTS.join(", ")}`;
    case "campaign":
    case "template":
      return mailTarget(text.startsWith("campaign") ? "campaign" : "template", rest);
    case "link":
      return linkTarget(rest);
    case "topic":
      return rest === "" ? "must name a topic, as topic.<key>" : { kind: "topic", key: rest };
    case "segment":
      return rest === "" ? "must name a segment, as segment.<id>" : { kind: "segment", id: rest };
    default:
      return (
        "must be email, subscribed, createdAt, updatedAt, data.<path>, event.<name>, " +
        "email.<event>, campaign.<id>, template.<id>, link.<address>, topic.<key> or segment.<id>"
      );
  }
}

function dataTarget(text: string): Target | string {
  const path = splitPath(text);
  return path.includes("") ? "must name a key, as data.plan or data.a.b" : { kind: "data", path };
}

function eventTarget(text: string): Target | string {
  const name = trimmedEventName(text);
  if (!isEventName(name)) return "must name an event, as event.<name>";
  if (name.length > LONGEST_EVENT_NAME)
    return `must name an event of at most ${LONGEST_EVENT_NAME} characters`;
  return { kind: "event", name };
}

function mailTarget(of: "campaign" | "template", id: string): Target | string {
  return id === "" ? `must name a ${of}, as ${of}.<id>` : { kind: "mail", of, id };
}

/** The address in the form in which clicks are recorded (render/rewrite.ts). */
function linkTarget(text: string): Target | string {
  const url = /^https?:/i.test(text) ? parseUrl(text)?.href : undefined;
  return url === undefined ? "must have a web address, as link.https://…" : { kind: "link", url };
}
