/** The response about the workflows that a contact never entered. */

import { type Static, Type } from "@sinclair/typebox";
import { TRIGGER_TYPES } from "../../db/schema/workflows.ts";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { OneOf } from "../../http/validation.ts";
import { EXAMPLE } from "../../http/example-values.ts";

const DateTime = Type.String({ format: "date-time" });

const UnenteredWorkflow = named(
  "UnenteredWorkflow",
  described(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      enabled: Type.Boolean(),
      triggerType: OneOf(TRIGGER_TYPES),
      eventName: Type.String(),
      createdAt: DateTime,
      lastEventAt: Nullable(DateTime),
    }),
    {
      id: "Id of the workflow",
      name: "Name of the workflow",
      enabled: "Whether executions start at present",
      triggerType: "What starts executions",
      eventName: "Name of the event that starts an execution; empty if no event does",
      createdAt: "When the workflow was created",
      lastEventAt: "When that event last happened for the contact; null if it never did",
    },
  ),
  { description: "A workflow of which the contact has no execution" },
);
export type UnenteredWorkflow = Static<typeof UnenteredWorkflow>;

export const UnenteredWorkflows = named(
  "UnenteredWorkflows",
  described(Type.Object({ items: Type.Array(UnenteredWorkflow) }), {
    items: "Enabled workflows first, then the newest first; at most 100",
  }),
  {
    description: "The workflows that a contact never entered",
    example: {
      items: [
        {
          id: EXAMPLE.workflowId,
          name: "Welcome",
          enabled: true,
          triggerType: "EVENT",
          eventName: "signed_up",
          createdAt: EXAMPLE.createdAt,
          lastEventAt: null,
        },
      ],
    },
  },
);
