/**
 * POST /v1/track    records a custom event and creates or updates its contact; public key allowed
 *
 * A public key can be read by every visitor of a site, so it can do less: it may unsubscribe a
 * contact but never subscribe one again who exists and is not subscribed, it may add and change keys
 * of a contact's data but never remove one, and it sends less data at once.
 */

import { Elysia } from "elysia";
import type { Admission, KeyKind } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { MirroredEnvelope, mirroredEnvelope, withErrors } from "../../http/envelope.ts";
import { normalizedAddress } from "../../http/formats.ts";
import { ensureChecks } from "../../http/validation.ts";
import { type Clock, isoTime } from "../../lib/clock.ts";
import { trimmedEventName } from "../../lib/event-name.ts";
import {
  type JsonObject,
  persistentData,
  resolvedData,
  serializeData,
  withoutNulls,
} from "../contacts/data.ts";
import type { Contacts } from "../contacts/service.ts";
import type { EventLog } from "../../events/log.ts";
import { TrackedMembers, TrackInput } from "./model.ts";

/** Largest data that a public key sends at once, as JSON. */
const PUBLIC_DATA_CAP_KIB = 16;

export function trackRoutes(deps: {
  admission: Admission;
  clock: Clock;
  contacts: Contacts;
  events: EventLog;
}) {
  const { admission, clock, contacts, events } = deps;

  /** Part of a change. */
  function track(projectSeq: number, keyKind: KeyKind, input: TrackInput) {
    const at = clock.now();
    const data = input.data === undefined ? undefined : readData(input.data, keyKind);
    const { contact } = contacts.upsert({
      projectSeq,
      email: normalizedAddress(input.email),
      subscribed: input.subscribed,
      defaultSubscribed: true,
      data: data?.ofContact,
      neverResubscribes: keyKind === "PUBLIC",
    });
    const event = events.record({
      projectSeq,
      name: trimmedEventName(input.event),
      contactSeq: contact.seq,
      json: data?.ofEvent,
      at,
    });
    return { contact: contact.id, event, timestamp: isoTime(at) };
  }

  return new Elysia({ name: "track-routes" }).use(admission.anyKey).post(
    "/v1/track",
    ({ project, keyKind, body, once }) =>
      once(() => {
        ensureChecks(TrackInput, body);
        return () => ({ status: 200, body: mirroredEnvelope(track(project.seq, keyKind, body)) });
      }),
    {
      body: limited(TrackInput, BODY_LIMITS.track),
      response: withErrors({ 200: MirroredEnvelope(TrackedMembers) }),
      detail: {
        tags: ["Events"],
        summary: "Record a custom event; creates or updates the contact",
        security: [{ publicKey: [] }, { secretKey: [] }],
      },
    },
  );
}

/** What the contact merges, and what the event keeps as JSON; 422 where it is too large. */
function readData(data: JsonObject, keyKind: KeyKind) {
  const kept = persistentData(data);
  const resolved = resolvedData(data);
  return keyKind === "SECRET"
    ? { ofContact: kept, ofEvent: serializeData(resolved) }
    : { ofContact: withoutNulls(kept), ofEvent: serializeData(resolved, PUBLIC_DATA_CAP_KIB) };
}
