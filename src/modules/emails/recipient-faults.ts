/**
 * Names the recipients because of which a request is refused. A request may have a thousand of them,
 * and its sender has to find the one to leave out.
 */

import { MAX_ERRORS } from "../../http/validation.ts";
import { AppError, type FieldError, fieldError, validationError } from "../../lib/errors.ts";
import { type JsonObject, MAX_DATA_KIB, mergeData, serializeData } from "../contacts/data.ts";

/** A subject or body that cannot be sent to one recipient. */
export type RecipientFault = { path: string; fault: FieldError };

/**
 * Throws 422 if there are faults. A fault that all recipients have in common is one of the subject
 * or body itself; other faults name their recipients.
 */
export function refuseRecipients(faults: readonly RecipientFault[], isForAll: boolean): void {
  const [first] = faults;
  if (first === undefined) return;
  const { field, message } = first.fault;
  const isSame = faults.every(({ fault }) => fault.field === field && fault.message === message);
  if (isForAll && isSame) throw validationError([first.fault]);
  throw validationError(
    faults.slice(0, MAX_ERRORS).map(({ path, fault }) => ({
      field: path,
      message: `has a ${fault.field} that ${fault.message}`,
      code: fault.code,
    })),
  );
}

/**
 * Throws an error that names the recipient if `error` says that the data of its contact would become
 * too large. If the data of the request is too large by itself, the error says so.
 */
export function refuseFullContact(
  error: unknown,
  { path, contactData }: { path: string; contactData: JsonObject },
): void {
  if (!(error instanceof AppError) || error.errors?.[0]?.field !== "data") return;
  serializeData(mergeData({}, contactData));
  const message = `has a contact whose data would take more than ${MAX_DATA_KIB} KiB as JSON`;
  throw fieldError(path, "too_big", message);
}
