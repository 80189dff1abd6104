/**
 * POST /v1/track    record a custom event; allowed with a public key
 *
 * One change creates or updates the contact with the request's data and then records the event.
 *
 * Each visitor of a site can read its public key, so a public key has fewer permissions. It can
 * unsubscribe a contact but not resubscribe an existing one, it can add and change keys of a
 * contact's data but not remove them, and its requests may contain less data.
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
import { TrackedEvent, TrackInput } from "./model.ts";
import { trackOperations } from "./operations.ts";

/** Largest data in a request with a public key, as JSON. */
const MAX_PUBLIC_DATA_KIB = 16;

export function trackRoutes(deps: {
  admission: Admission;
  clock: Clock;
  contacts: Contacts;
  events: EventLog;
}) {
  const { admission, clock, contacts, events } = deps;

  /** Records the event and upserts its contact, inside a change. */
  function track(projectSeq: number, keyKind: KeyKind, input: TrackInput) {
    const at = clock.now();
    const data = input.data === undefined ? undefined : readData(input.data, keyKind);
    const { contact } = contacts.upsert({
      projectSeq,
      email: normalizedAddress(input.email),
      subscribed: input.subscribed,
      defaultSubscribed: true,
      data: data?.contactData,
      ...(keyKind === "PUBLIC" && {
        neverResubscribes: true,
        maxDataKib: MAX_PUBLIC_CONTACT_DATA_KIB,
      }),
    });
    const event = events.record({
      projectSeq,
      name: trimmedEventName(input.event),
      contactSeq: contact.seq,
      json: data?.eventJson,
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
      response: withErrors({ 200: MirroredEnvelope(TrackedEvent) }),
      detail: trackOperations.trackEvent,
    },
  );
}

/** Half of the data of a contact, so that the other half stays free for secret keys. */
const MAX_PUBLIC_CONTACT_DATA_KIB = 32;

/**
 * The data to merge into the contact, and the JSON to store with the event. Throws 422 if it is too
 * large.
 */
function readData(data: JsonObject, keyKind: KeyKind) {
  const persistent = persistentData(data);
  const resolved = resolvedData(data);
  return keyKind === "SECRET"
    ? { contactData: persistent, eventJson: serializeData(resolved) }
    : {
        contactData: withoutNulls(persistent),
        eventJson: serializeData(resolved, MAX_PUBLIC_DATA_KIB),
      };
}
