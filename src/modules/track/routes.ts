/**
 * POST /v1/track    records a custom event and creates or updates its contact; public key allowed
 */

import { Elysia } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { MirroredEnvelope, mirroredEnvelope, withErrors } from "../../http/envelope.ts";
import { normalizedAddress } from "../../http/formats.ts";
import { ensureChecks } from "../../http/validation.ts";
import { type Clock, isoTime } from "../../lib/clock.ts";
import { trimmedEventName } from "../../lib/event-name.ts";
import { persistentData, resolvedData, serializeData } from "../contacts/data.ts";
import type { Contacts } from "../contacts/service.ts";
import type { Events } from "../events/service.ts";
import { TrackedMembers, TrackInput } from "./model.ts";

export function trackRoutes(deps: {
  admission: Admission;
  clock: Clock;
  contacts: Contacts;
  events: Events;
}) {
  const { admission, clock, contacts, events } = deps;

  /** Part of a change. */
  function track(projectSeq: number, input: TrackInput) {
    const at = clock.now();
    const { contact } = contacts.upsert({
      projectSeq,
      email: normalizedAddress(input.email),
      subscribed: input.subscribed,
      defaultSubscribed: true,
      data: input.data === undefined ? undefined : persistentData(input.data),
    });
    const event = events.record({
      projectSeq,
      name: trimmedEventName(input.event),
      contactSeq: contact.seq,
      json: input.data === undefined ? undefined : serializeData(resolvedData(input.data)),
      at,
    });
    return { contact: contact.id, event, timestamp: isoTime(at) };
  }

  return new Elysia({ name: "track-routes" }).use(admission.anyKey).post(
    "/v1/track",
    ({ project, body, once }) =>
      once(() => {
        ensureChecks(TrackInput, body);
        return () => ({ status: 200, body: mirroredEnvelope(track(project.seq, body)) });
      }),
    {
      body: TrackInput,
      response: withErrors({ 200: MirroredEnvelope(TrackedMembers) }),
      detail: {
        tags: ["Events"],
        summary: "Record a custom event; creates or updates the contact",
        security: [{ publicKey: [] }, { secretKey: [] }],
      },
    },
  );
}
