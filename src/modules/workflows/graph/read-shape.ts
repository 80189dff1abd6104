/** Checks a value against a schema and reports every violation with its path. */

import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { refusedFields } from "../../../http/unknown-fields.ts";
import { fieldErrors } from "../../../http/validation.ts";
import type { FieldError } from "../../../lib/errors.ts";

export function readShape<T extends TSchema>(
  schema: T,
  given: unknown,
  at: string,
  errors: FieldError[],
): given is Static<T> {
  const refused = refusedFields(schema, given);
  if (refused.length === 0 && Value.Check(schema, given)) return true;
  for (const error of [...refused, ...fieldErrors(schema, given)]) {
    errors.push({ ...error, field: [at, error.field].filter((part) => part !== "").join(".") });
  }
  return false;
}
