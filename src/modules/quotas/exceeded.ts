/** The refusal of a request that would exceed a quota of its project. */

import { AppError } from "../../lib/errors.ts";

export type ExceededQuota = {
  /** The quota as a noun with its value, such as `10 imports and bulk actions`. */
  quota: string;
  /** The flag of the setting, such as `--quota-jobs`. */
  setting: string;
  /** When the request may succeed; null where waiting does not help. */
  retryAfterSeconds: number | null;
  /** What the caller can do, one sentence. */
  suggestion: string;
};

/** 429 where waiting helps, otherwise 409. */
export function quotaExceeded(exceeded: ExceededQuota): AppError {
  const { quota, setting, retryAfterSeconds, suggestion } = exceeded;
  const message = `The project has reached its quota of ${quota} (${setting}).`;
  return new AppError(retryAfterSeconds === null ? 409 : 429, "QUOTA_EXCEEDED", message, {
    suggestion,
    ...(retryAfterSeconds !== null && { headers: { "Retry-After": String(retryAfterSeconds) } }),
  });
}
