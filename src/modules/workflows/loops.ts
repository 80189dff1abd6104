/**
 * A workflow may cause the very events that start it or that it waits for. What the service itself
 * records about a contact leads each workflow round at most this often in an hour; events that
 * callers track are theirs to count.
 */

export const ROUNDS_AN_HOUR = 20;

/** What is told of the execution that was stopped. */
export function tooManyRounds(eventName: string): string {
  return (
    `Stopped: "${eventName}" led this workflow round ${ROUNDS_AN_HOUR} times within an hour ` +
    "for this contact. It looks like a loop through the workflow's own events."
  );
}
