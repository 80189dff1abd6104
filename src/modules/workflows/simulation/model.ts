/** Requests and responses of simulations. */

import { type Static, Type } from "@sinclair/typebox";
import { EXECUTION_STATUSES } from "../../../db/schema/workflows.ts";
import { described, named } from "../../../http/documented.ts";
import { Nullable } from "../../../http/envelope.ts";
import { EXAMPLE } from "../../../http/example-values.ts";
import { Input, OneOf } from "../../../http/validation.ts";
import { Contact, Data } from "../../contacts/model.ts";
import { EventName } from "../../events/model.ts";
import { WorkflowPatch } from "../model.ts";

const DateTime = Type.String({ format: "date-time" });
const Status = OneOf(EXECUTION_STATUSES);
const Outcome = OneOf(["COMPLETED", "SKIPPED", "FAILED"]);
export const Edited = Type.Optional(WorkflowPatch);
export const EDITED = "Changes of the workflow that are tried and not stored, checked as in PATCH";

/** Events that a simulation may add. */
const MAX_OCCURRENCES = 100;
const MAX_ANSWERS = 100;

const Occurrence = named(
  "SimulatedEvent",
  described(Input({ at: DateTime, eventName: EventName, data: Type.Optional(Data) }), {
    at: "When the event happens",
    eventName: "Name of the event; it may be one of the service, such as email.opened",
    data: "Data of the event",
  }),
  {
    description: "An event that happens to the contact in a simulation",
    example: { at: EXAMPLE.updatedAt, eventName: "email.opened" },
  },
);

const Answer = named(
  "SimulatedAnswer",
  described(
    Input({
      status: Type.Integer({ minimum: 100, maximum: 599 }),
      body: Type.Optional(Type.Unknown()),
    }),
    { status: "HTTP status", body: "JSON of the answer" },
  ),
  {
    description: "The answer of a webhook in a simulation",
    example: { status: 200, body: { ok: true } },
  },
);

export const SimulationInput = named(
  "SimulationInput",
  described(
    Input({
      contactId: Type.Optional(Type.String({ minLength: 1 })),
      sample: Type.Optional(
        named(
          "SampleContact",
          described(
            Input({
              email: Type.Optional(Type.String({ format: "email", maxLength: 254 })),
              subscribed: Type.Optional(Type.Boolean()),
              data: Type.Optional(Data),
            }),
            {
              email: "Its address; ada@example.com if omitted",
              subscribed: "Whether it is subscribed; default true",
              data: "Its data",
            },
          ),
          {
            description: "A contact that exists only in a simulation",
            example: { data: { plan: "pro" } },
          },
        ),
      ),
      startAt: Type.Optional(DateTime),
      until: Type.Optional(DateTime),
      data: Type.Optional(Data),
      events: Type.Optional(Type.Array(Occurrence, { maxItems: MAX_OCCURRENCES })),
      answers: Type.Optional(
        Type.Record(Type.String({ maxLength: 100 }), Answer, { maxProperties: MAX_ANSWERS }),
      ),
      mail: Type.Optional(Type.Integer({ minimum: 0, maximum: 500 })),
      workflow: Edited,
    }),
    {
      contactId: "Id of the contact, as it is now; `sample` if omitted",
      sample: "A contact that does not exist; not with contactId",
      startAt: "When the workflow starts; now if omitted",
      until: "The time at which the simulation ends; without it, it goes on while something is due",
      data: "Data of the event that starts the workflow",
      events: "Events that happen to the contact meanwhile, at most 100",
      answers:
        "The answers of WEBHOOK steps by the ids of the steps; 200 without content for others",
      mail: "The number of a mail, from 0: the answer has its document for a frame",
      workflow: EDITED,
    },
  ),
  {
    description: "A workflow to simulate for one contact",
    example: { contactId: EXAMPLE.contactId, data: { plan: "pro" } },
  },
);
export type SimulationInput = Static<typeof SimulationInput>;

const SimulatedMail = named(
  "SimulatedMail",
  described(
    Type.Object({
      to: Type.String(),
      from: Type.String(),
      fromName: Nullable(Type.String()),
      subject: Type.String(),
      html: Nullable(Type.String()),
      text: Nullable(Type.String()),
      suppressed: Nullable(Type.String()),
      error: Nullable(Type.String()),
    }),
    {
      to: "Address of the recipient",
      from: "Address of the sender",
      fromName: "Name of the sender",
      subject: "The rendered subject",
      html: "The rendered body; null if the answer would be larger than some megabytes",
      text: "The plain-text alternative, as the body",
      suppressed: "Why the address gets no mail; null if it does",
      error: "Why the body cannot be rendered; null if it can",
    },
  ),
  { description: "A mail as a step would send it" },
);

const SimulatedRequest = named(
  "SimulatedRequest",
  described(
    Type.Object({
      method: Type.String(),
      url: Type.String(),
      headers: Type.Record(Type.String(), Type.String()),
      body: Nullable(Type.String()),
    }),
    {
      method: "HTTP method",
      url: "The rendered URL",
      headers: "The rendered headers",
      body: "The rendered body; null if there is none, or the answer would be too large",
    },
  ),
  { description: "A request as a WEBHOOK step would make it" },
);

const ContactChanges = named(
  "SimulatedContactChanges",
  described(Type.Object({ subscribed: Nullable(Type.Boolean()), data: Data }), {
    subscribed: "The new subscription; null if it did not change",
    data: "The new values of members of the data; null for a member that was removed",
  }),
  { description: "What a step changed of the contact" },
);

const SimulatedStep = named(
  "SimulatedStep",
  described(
    Type.Object({
      stepId: Type.String(),
      type: Type.String(),
      name: Nullable(Type.String()),
      outcome: Outcome,
      branch: Nullable(Type.String()),
      detail: Nullable(Data),
      startedAt: DateTime,
      completedAt: DateTime,
      mail: Nullable(SimulatedMail),
      request: Nullable(SimulatedRequest),
      changes: Nullable(ContactChanges),
    }),
    {
      stepId: "Id of the step in the graph",
      type: "Type of the step",
      name: "Name of the step",
      outcome: "The end of the step",
      branch: "The branch that was taken; null if it was unconditional",
      detail: "Data about the outcome, such as the reason",
      startedAt: "When the step started",
      completedAt: "When the step ended",
      mail: "The mail of a SEND_EMAIL step",
      request: "The request of a WEBHOOK step, which was not made",
      changes: "What an UPDATE_CONTACT step changed",
    },
  ),
  { description: "A completed step of a simulation" },
);

const Waiting = named(
  "SimulatedWait",
  described(
    Type.Object({
      stepId: Type.String(),
      eventName: Nullable(Type.String()),
      until: Nullable(DateTime),
      reason: Nullable(Type.String()),
    }),
    {
      stepId: "Id of the step",
      eventName: "The event that it waits for; null if it waits for a time only",
      until: "When the wait ends; null without an end",
      reason: "Why its step is tried again; null if it is not",
    },
  ),
  { description: "What an execution waits for" },
);

const SimulatedExecution = named(
  "SimulatedExecution",
  described(
    Type.Object({
      status: Status,
      startedAt: DateTime,
      completedAt: Nullable(DateTime),
      exitReason: Nullable(Type.String()),
      error: Nullable(Type.String()),
      context: Data,
      waiting: Nullable(Waiting),
      steps: Type.Array(SimulatedStep),
    }),
    {
      status: "Whether it waits or has ended, and how",
      startedAt: "When it started",
      completedAt: "When it ended; null before",
      exitReason: "Why it ended early; null if it did not",
      error: "Why it failed; null if it did not",
      context: "Data of the events that started or continued it",
      waiting: "What it waits for; null once it has ended",
      steps: "The completed steps in their order",
    },
  ),
  { description: "An execution of a simulation" },
);

export const Simulation = named(
  "Simulation",
  described(
    Type.Object({
      startAt: DateTime,
      at: DateTime,
      nextAt: Nullable(DateTime),
      isCutShort: Type.Boolean(),
      hindrance: Nullable(Type.String()),
      documentUrl: Nullable(Type.String()),
      contact: Contact,
      executions: Type.Array(SimulatedExecution),
    }),
    {
      startAt: "When the workflow started",
      at: "The time that the simulation has reached",
      nextAt: "When something happens next; null if only an event can continue it",
      isCutShort: "True after 500 steps, at which a simulation ends",
      hindrance: "Why the contact would not enter the workflow now; null if it would",
      documentUrl:
        "Path of the asked mail as a document for a frame; kept for ten minutes, for the author",
      contact: "The contact with the changes of the simulation",
      executions: "The executions in the order of their start; several with re-entry",
    },
  ),
  {
    description: "What a workflow would do for one contact; nothing was stored or sent",
    example: {
      startAt: EXAMPLE.createdAt,
      at: EXAMPLE.createdAt,
      nextAt: null,
      isCutShort: false,
      hindrance: null,
      documentUrl: null,
      contact: {
        id: EXAMPLE.contactId,
        email: "ada@example.com",
        subscribed: true,
        data: {},
        createdAt: EXAMPLE.createdAt,
        updatedAt: EXAMPLE.createdAt,
      },
      executions: [],
    },
  },
);
export type Simulation = Static<typeof Simulation>;
