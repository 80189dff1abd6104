/** The parts of a message that are checked and shown. */

/** Everything that is shown of one message. */
export type Detail = {
  text: string;
  /** Empty if the message has no HTML part. */
  html: string;
  /** Header lines in their order, unfolded and not decoded. */
  headers: { name: string; value: string }[];
};
