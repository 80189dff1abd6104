/** Reads the attempts of a delivery before the latest one, which its row has as JSON. */

import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { Nullable } from "../../http/envelope.ts";
import { isoTime } from "../../lib/clock.ts";
import type { DeliveryDetails } from "./model.ts";

const StoredAttempts = Type.Array(
  Type.Object({
    at: Type.Integer(),
    durationMs: Nullable(Type.Integer()),
    responseCode: Nullable(Type.Integer()),
    error: Nullable(Type.String()),
  }),
);

/** Oldest first; empty if the column is null. */
export function earlierAttemptsOf(stored: string | null): DeliveryDetails["earlierAttempts"] {
  if (stored === null) return [];
  const attempts = Value.Parse(StoredAttempts, JSON.parse(stored));
  return attempts.map(({ at, ...rest }) => ({ at: isoTime(at), ...rest }));
}
