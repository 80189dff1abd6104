import type { ReactNode } from "react";

export type Tone = "good" | "seen" | "acted" | "waiting" | "held" | "failed" | "complained";

/** The tone and the word of the states of the interface. */
const STATES: Readonly<Record<string, readonly [Tone, string]>> = {
  DELIVERED: ["good", "Delivered"],
  SENT: ["good", "Sent"],
  VERIFIED: ["good", "Verified"],
  COMPLETED: ["good", "Completed"],
  SUCCEEDED: ["good", "Succeeded"],
  ENABLED: ["good", "Enabled"],
  ACTIVE: ["good", "Active"],
  SUBSCRIBED: ["good", "Subscribed"],
  OPENED: ["seen", "Opened"],
  CLICKED: ["acted", "Clicked"],
  QUEUED: ["waiting", "Queued"],
  SENDING: ["waiting", "Sending"],
  DRAFT: ["waiting", "Draft"],
  SCHEDULED: ["waiting", "Scheduled"],
  PENDING: ["waiting", "Pending"],
  RUNNING: ["waiting", "Running"],
  PROCESSING: ["waiting", "Processing"],
  WAITING: ["waiting", "Waiting"],
  CANCELLED: ["waiting", "Cancelled"],
  DISABLED: ["waiting", "Disabled"],
  UNSUBSCRIBED: ["waiting", "Unsubscribed"],
  REVOKED: ["waiting", "Revoked"],
  EXPIRED: ["waiting", "Expired"],
  DEFERRED: ["held", "Deferred"],
  PAUSED: ["held", "Paused"],
  SUPPRESSED: ["held", "Suppressed"],
  BOUNCED: ["failed", "Bounced"],
  FAILED: ["failed", "Failed"],
  COMPLAINED: ["complained", "Complained"],
};

type Props = { value: string } | { tone: Tone; children: ReactNode };

/**
 * A state as a dot and a word: `<Status value="DELIVERED" />`, or with words of the page,
 * `<Status tone="held">Changes are not published</Status>`.
 */
export function Status(props: Props) {
  const [tone, word] =
    "value" in props
      ? (STATES[props.value] ?? unknownState(props.value))
      : [props.tone, props.children];
  return (
    <span className="status" data-tone={tone}>
      {word}
    </span>
  );
}

/** `NOT_STARTED` is shown as "Not started". */
function unknownState(value: string): readonly [Tone, string] {
  return ["waiting", wordOf(value)];
}

/** `SOFT_BOUNCE` as "Soft bounce". */
function wordOf(value: string): string {
  const words = value.toLowerCase().replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The word of a state, such as "Delivered", for texts and for the choices of a filter. */
export const statusWord = (value: string): string => STATES[value]?.[1] ?? wordOf(value);
