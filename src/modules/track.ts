/**
 * POST /v1/track    record a custom event; allowed with a public key
 *
 * One change creates or updates the contact with the request's data and then records the event.
 *
 * Each visitor of a site can read its public key, so a public key has fewer permissions. It can
 * unsubscribe a contact but not resubscribe an existing one, it can add and change keys of a
 * contact's data but not remove them, and its requests may contain less data.
 */

import { type Static, Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { App } from "../core/app.ts";
import { eventLog } from "../events/log.ts";
import type { Admission, KeyKind } from "../http/admission.ts";
import { BODY_LIMITS, limited } from "../http/body-limits.ts";
import { described, describeOperations, imitated, named } from "../http/documented.ts";
import { MirroredEnvelope, mirroredEnvelope, withErrors } from "../http/envelope.ts";
import { EXAMPLE } from "../http/example-values.ts";
import { EmailAddress, normalizedAddress } from "../http/formats.ts";
import { clientAddress } from "../http/client-address.ts";
import { PLUNK } from "../http/route-path.ts";
import { ensureChecks, Input, withChecks } from "../http/validation.ts";
import { isoTime } from "../lib/clock.ts";
import type { FieldError } from "../lib/errors.ts";
import { trimmedEventName } from "../lib/event-name.ts";
import { isServiceEvent } from "../lib/service-events.ts";
import {
  type JsonObject,
  persistentData,
  resolvedData,
  serializeData,
  withoutNulls,
} from "./contacts/data.ts";
import { Data } from "./contacts/model.ts";
import { consentBy } from "./consents/record.ts";
import { type ConsentCause, contactService } from "./contacts/service.ts";
import { EventName } from "./events/model.ts";
import type { Noun } from "./module.ts";

/** A custom event of a contact (docs/interface.md#track). */
const TrackInput = named(
  "TrackInput",
  withChecks(
    described(
      Input({
        event: EventName,
        email: EmailAddress,
        subscribed: Type.Optional(Type.Boolean()),
        preserveExistingSubscription: Type.Optional(Type.Boolean()),
        data: Type.Optional(Data),
      }),
      {
        event: "Name of the event; names of the service's own events are refused",
        email: "Address of the contact, which is created if no contact has it",
        subscribed:
          "If omitted: true for a new contact, unchanged for an existing one. With a public key, " +
          "true does not resubscribe an unsubscribed contact",
        preserveExistingSubscription:
          "Whether `subscribed` counts only for a contact that this request creates; default false",
        data:
          "Stored with the event and merged into the contact's data, where null removes a key. " +
          "With a public key: at most 16 KiB as JSON, and null removes nothing",
      },
    ),
    reservedNames,
  ),
  {
    description: "A custom event to record",
    example: { event: "signed_up", email: "ada@example.com", data: { plan: "pro" } },
  },
);
type TrackInput = Static<typeof TrackInput>;

function reservedNames({ event }: Readonly<Record<string, unknown>>): FieldError[] {
  if (typeof event !== "string" || !isServiceEvent(trimmedEventName(event))) return [];
  const message = "is a name that the service reserves for its own events";
  return [{ field: "event", message, code: "reserved_event" }];
}

/** The response to a tracked event (docs/specification.md#s2.6). */
const TrackedEvent = named(
  "TrackedEvent",
  described(
    Type.Object({
      contact: Type.String(),
      event: Type.String(),
      timestamp: Type.String({ format: "date-time" }),
    }),
    {
      contact: "Id of the contact",
      event: "Id of the event",
      timestamp: "When the event was recorded",
    },
  ),
  {
    description: "An event that was recorded",
    example: {
      contact: EXAMPLE.contactId,
      event: EXAMPLE.eventId,
      timestamp: EXAMPLE.createdAt,
    },
  },
);
export type TrackedEvent = Static<typeof TrackedEvent>;

const DETAILS = describeOperations(
  { tag: "Events" },
  {
    trackEvent: {
      role: "EDITOR",
      scopes: ["CONTACTS"],
      isAudited: false,
      summary: "Record a custom event and create or update its contact",
      description:
        "Pages may call this with a public key, which can do less than a secret key. The members " +
        "of `data` are repeated beside it in the response.",
      isIdempotent: true,
      links: { getContact: { id: "/data/contact" } },
      security: [{ publicKey: [] }, { secretKey: [] }],
    },
  },
);

export const trackNoun: Noun = {
  name: "track",
  routes: (app, admission) => [
    trackRoute(app, admission, { path: "/v1/track", detail: DETAILS.trackEvent }),
    trackRoute(app, admission, {
      path: `${PLUNK}/v1/track`,
      detail: imitated("trackEvent", "EDITOR", { isAudited: false }),
    }),
  ],
};

function trackRoute(
  app: App,
  admission: Admission,
  { path, detail }: { path: string; detail: object },
) {
  return new Elysia({ name: `track: ${path}` }).use(admission.anyKey).post(
    path,
    ({ project, keyKind, actor, body, once, request, server }) =>
      once(() => {
        ensureChecks(TrackInput, body);
        return () => ({
          status: 200,
          body: mirroredEnvelope(
            track(app, project.seq, {
              keyKind,
              input: body,
              consent:
                keyKind === "SECRET"
                  ? consentBy(actor())
                  : {
                      source: { type: "PUBLIC_KEY" },
                      clientAddress: clientAddress(app, { request, server }),
                    },
            }),
          ),
        });
      }),
    {
      body: limited(TrackInput, BODY_LIMITS.track),
      response: withErrors({ 200: MirroredEnvelope(TrackedEvent) }),
      detail,
    },
  );
}

/** Largest data in a request with a public key, as JSON. */
const MAX_PUBLIC_DATA_KIB = 16;
/** Half of the data of a contact, so that the other half stays free for secret keys. */
const MAX_PUBLIC_CONTACT_DATA_KIB = 32;

/** Part of a change: records the event and creates or updates its contact. */
function track(
  app: App,
  projectSeq: number,
  { keyKind, input, consent }: { keyKind: KeyKind; input: TrackInput; consent: ConsentCause },
) {
  const at = app.clock.now();
  const { subscribed, preserveExistingSubscription = false } = input;
  const data = input.data === undefined ? undefined : readData(input.data, keyKind);
  const { contact } = contactService(app).upsert({
    projectSeq,
    consent,
    email: normalizedAddress(input.email),
    subscribed: preserveExistingSubscription ? undefined : subscribed,
    defaultSubscribed: (preserveExistingSubscription ? subscribed : undefined) ?? true,
    data: data?.contactData,
    ...(keyKind === "PUBLIC" && {
      neverResubscribes: true,
      maxDataKib: MAX_PUBLIC_CONTACT_DATA_KIB,
    }),
  });
  const event = eventLog(app).record({
    projectSeq,
    name: trimmedEventName(input.event),
    contactSeq: contact.seq,
    json: data?.eventJson,
    at,
  });
  return { contact: contact.id, event, timestamp: isoTime(at) };
}

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
