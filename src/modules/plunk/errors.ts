/** Errors of the nouns as Plunk answers them: other statuses, and the names of Plunk's fields. */

import { AppError, summaryOf } from "../../lib/errors.ts";

type Differences = {
  /** The name in Plunk's interface of each field of ours that has another one there. */
  names?: Readonly<Record<string, string>>;
  /** The fields, by our names, whose faults Plunk answers with 400 instead of 422. */
  badRequests?: readonly string[];
};

/** Runs a request. An action that the state of an object does not permit is 400, as with Plunk. */
export async function asPlunk<T>(differences: Differences, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    // An older error of Plunk (shapes.ts) has Plunk's status and names already.
    throw error instanceof AppError && !error.isBare ? plunkError(error, differences) : error;
  }
}

function plunkError(error: AppError, { names = {}, badRequests = [] }: Differences): AppError {
  const { code, suggestion, headers, errors } = error;
  const [first] = errors ?? [];
  const isBad = first !== undefined && badRequests.includes(firstName(first.field));
  const status = code === "INVALID_STATE" || isBad ? 400 : error.status;
  const renamed = errors?.map((each) => ({ ...each, field: renamedField(each.field, names) }));
  return new AppError(status, code, renamed === undefined ? error.message : summaryOf(renamed), {
    ...(renamed === undefined ? {} : { errors: renamed }),
    ...(suggestion === undefined ? {} : { suggestion }),
    headers,
    cause: error,
  });
}

const firstName = (field: string): string => field.split(".", 1)[0] ?? "";

/** `audienceCondition.groups.0` for `audienceFilter.groups.0`. */
function renamedField(field: string, names: Readonly<Record<string, string>>): string {
  const first = firstName(field);
  return (names[first] ?? first) + field.slice(first.length);
}
