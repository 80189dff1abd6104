/** Reserved event names. */

/** Only the service records these events, so a caller cannot claim that a mail was opened. */
const RESERVED = [
  /^email\./,
  /^contact\.(subscribed|unsubscribed|topic_subscribed|topic_unsubscribed|paused|resumed|erased)$/,
  /^consent\.(given|confirmed|withdrawn)$/,
  /^form\.(submitted|confirmed)$/,
  /^segment\..*\.(entry|exit)$/,
  /^webhook\.(disabled|test)$/,
] as const;

export function isServiceEvent(name: string): boolean {
  return RESERVED.some((pattern) => pattern.test(name));
}
