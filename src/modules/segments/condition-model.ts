/**
 * The schema of a condition. Its keywords describe it for OpenAPI only: condition.ts checks it, and
 * its errors name the faulty filter.
 */

import { Kind, Type, TypeRegistry } from "@sinclair/typebox";
import { NAME, named, SHOWN, USE } from "../../http/documented.ts";
import { OPERATOR_NAMES } from "./condition/operators.ts";

const CONDITION = "FilterCondition";
TypeRegistry.Set(CONDITION, () => true);

export const CONDITION_EXAMPLE = {
  logic: "AND",
  groups: [
    {
      filters: [
        { field: "data.plan", operator: "equals", value: "pro" },
        { field: "event.login", operator: "triggeredWithin", value: 30, unit: "days" },
      ],
    },
  ],
};

const SCALARS = [{ type: "string" }, { type: "number" }, { type: "boolean" }];

/** The value, operator and unit of a filter, without its field. */
export const TEST_PROPERTIES = {
  operator: {
    type: "string",
    enum: OPERATOR_NAMES,
    description: "How the field is tested; each field has operators of its own",
  },
  value: {
    [SHOWN]: {
      anyOf: [...SCALARS, { type: "array", items: { anyOf: SCALARS } }],
      description:
        "Depends on the operator: a text, a number, a boolean, a date, a number of units or a list",
    },
  },
  property: {
    type: "string",
    description: "Path in the data of an event; only for triggeredWith",
  },
  test: {
    type: "string",
    description: "Operator for that property, as for data.<path>; only for triggeredWith",
  },
  unit: {
    type: "string",
    enum: ["minutes", "hours", "days"],
    description: "Unit of the value of within, olderThan and the like",
  },
};

const Filter = {
  [NAME]: "ConditionFilter",
  type: "object",
  description: "A test of one field of a contact",
  required: ["field", "operator"],
  properties: {
    field: {
      type: "string",
      description:
        "email, subscribed, createdAt, updatedAt, data.<path>, event.<name>, " +
        "email.<opened|clicked|sent|delivered|bounced|complained>, campaign.<id>, template.<id>, " +
        "link.<address>, topic.<key> or segment.<id>. " +
        "In a path, write a dot that belongs to a key as `\\.`.",
    },
    ...TEST_PROPERTIES,
  },
};

const Group = {
  [NAME]: "ConditionGroup",
  type: "object",
  description: "A contact must meet all filters and the nested condition",
  required: ["filters"],
  properties: {
    filters: { type: "array", items: Filter, description: "Tests that must all be true" },
    conditions: { type: "object", [NAME]: "Condition", [USE]: "A nested condition" },
  },
};

export const ConditionSchema = named(
  "Condition",
  Type.Unsafe<unknown>({
    [Kind]: CONDITION,
    type: "object",
    required: ["logic", "groups"],
    properties: {
      logic: {
        type: "string",
        enum: ["AND", "OR"],
        description: "Whether all groups must be met, or one of them",
      },
      groups: {
        type: "array",
        minItems: 1,
        items: Group,
        description: "Groups of filters, joined by logic",
      },
    },
  }),
  {
    description:
      "Groups of filters joined by `logic`. At most 10 levels and 200 filters, including those of " +
      "referenced segments.",
    example: CONDITION_EXAMPLE,
  },
);
