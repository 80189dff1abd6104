/**
 * The errors of the interface of Resend (modules/resend/), whose clients read the members
 * `statusCode`, `name` and `message`. The clients choose their own error by status and name, so both
 * are those of Resend where it has the same error.
 */

import { AppError, inSentences } from "../lib/errors.ts";

/** The prefix of the routes that imitate Resend. */
export const RESEND_PREFIX = "/resend";

type ResendError = { statusCode: number; name: string; message: string };

export const isResendPath = (path: string): boolean =>
  path === RESEND_PREFIX || path.startsWith(`${RESEND_PREFIX}/`);

type Kind = { status: number; name: string };

/** By the code of our error. Other errors are found by their status. */
const BY_CODE: Readonly<Record<string, Kind>> = {
  MISSING_AUTH: { status: 401, name: "missing_api_key" },
  INVALID_API_KEY: { status: 403, name: "invalid_api_key" },
  DOMAIN_NOT_VERIFIED: { status: 403, name: "validation_error" },
  IDEMPOTENCY_KEY_REUSED: { status: 409, name: "invalid_idempotent_request" },
  QUOTA_EXCEEDED: { status: 429, name: "monthly_quota_exceeded" },
};

/** The key may not do this. */
const RESTRICTED: Kind = { status: 401, name: "restricted_api_key" };

const BY_STATUS: Readonly<Record<number, string>> = {
  404: "not_found",
  405: "method_not_allowed",
  429: "rate_limit_exceeded",
  500: "internal_server_error",
  503: "application_error",
};

/** By the first faulty field. */
const BY_FIELD: readonly [field: RegExp, kind: Kind][] = [
  [/^Idempotency-Key$/, { status: 400, name: "invalid_idempotency_key" }],
  [/^(?:\d+\.)?attachments(?:\.|$)/, { status: 422, name: "invalid_attachment" }],
  [/^(?:\d+\.)?from$/, { status: 422, name: "invalid_from_address" }],
];

/** The error with the status and the name of Resend; the name takes the place of our code. */
export function asResendError(error: AppError): AppError {
  const { status, name } = kindOf(error);
  const { message, suggestion = "", headers, cause } = error;
  return new AppError(status, name, inSentences(message, suggestion), { headers, cause });
}

export const resendErrorBody = ({ status, code, message }: AppError): ResendError => ({
  statusCode: status,
  name: code,
  message,
});

function kindOf(error: AppError): Kind {
  const [first] = error.errors ?? [];
  if (first?.code === "required") return { status: 422, name: "missing_required_field" };
  const byField = BY_FIELD.find(([field]) => first !== undefined && field.test(first.field));
  const named = byField?.[1] ?? BY_CODE[error.code];
  if (named === undefined && error.status === 403) return RESTRICTED;
  return named ?? { status: error.status, name: BY_STATUS[error.status] ?? "validation_error" };
}
