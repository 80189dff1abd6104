/** Which names of events are the service's own. */

/** Names that only the service gives: nobody may claim that a mail was opened. */
const RESERVED = [
  /^email\./,
  /^contact\.(subscribed|unsubscribed)$/,
  /^segment\..*\.(entry|exit)$/,
  /^webhook\.(disabled|test)$/,
] as const;

export function isServiceEvent(name: string): boolean {
  return RESERVED.some((pattern) => pattern.test(name));
}
