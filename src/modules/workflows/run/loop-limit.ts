/**
 * The limit on loops. A workflow may cause the events that start it or that it waits for. The limit
 * counts only events that the service itself records; events that callers track are not limited.
 */

/**
 * The number of times that such events may start or continue a workflow for one contact within an hour.
 */
export const MAX_ROUNDS_PER_HOUR = 20;

/** The error of an execution that the limit stopped. */
export function loopMessage(eventName: string): string {
  return (
    `Stopped: "${eventName}" started or continued this workflow ${MAX_ROUNDS_PER_HOUR} times ` +
    "within an hour for this contact. The workflow probably causes this event itself."
  );
}
