/** The refusal of a request that would exceed a quota of its project. */

import { AppError } from "../../lib/errors.ts";

type ExceededQuota = {
  /** The quota as a noun with its value, such as `10 imports and bulk actions`. */
  quota: string;
  /** The flag of the setting, such as `--quota-jobs`. */
  setting: string;
  /** Time after which the request may succeed; null if waiting does not help. */
  retryAfterSeconds: number | null;
  /** One sentence that says what the caller can do. */
  suggestion: string;
};

/** The error of an exceeded quota: 429 if waiting helps, otherwise 409. */
export function quotaExceeded(exceeded: ExceededQuota): AppError {
  const { quota, setting, retryAfterSeconds, suggestion } = exceeded;
  const message = `The project has reached its quota of ${quota} (${setting}).`;
  return new AppError(retryAfterSeconds === null ? 409 : 429, "QUOTA_EXCEEDED", message, {
    suggestion,
    ...(retryAfterSeconds !== null && { headers: { "Retry-After": String(retryAfterSeconds) } }),
  });
}
