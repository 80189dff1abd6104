/** Checks a value against a schema and reports every violation with its path. */

import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { fieldErrors } from "../../../http/validation.ts";
import type { FieldError } from "../../../lib/errors.ts";

export function readShape<T extends TSchema>(
  schema: T,
  given: unknown,
  at: string,
  errors: FieldError[],
): given is Static<T> {
  if (Value.Check(schema, given)) return true;
  for (const error of fieldErrors(schema, given)) {
    errors.push({ ...error, field: [at, error.field].filter((part) => part !== "").join(".") });
  }
  return false;
}
