/**
 * The names by which the thread that parses messages tells senders apart, so that each gets its turn. A
 * client of SMTP has the name of its network (client-network.ts).
 */

/** The messages of an inbox. */
export const senderOfInbox = (inboxSeq: number): string => `inbox ${inboxSeq}`;

/**
 * The messages that people open in an inbox. A large one that takes long must not make the inbox slow,
 * whose new messages tests wait for.
 */
export const readerOfInbox = (inboxSeq: number): string => `reader of inbox ${inboxSeq}`;

/** The messages that a project sends, reads or passes on. */
export const senderOfProject = (projectSeq: number): string => `project ${projectSeq}`;
