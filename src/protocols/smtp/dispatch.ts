/** A mail for an SMTP session. */

/** SMTP envelope (RFC 5321 §2.3.1) and the finished message. */
export type Dispatch = {
  envelope: { from: string; to: string };
  /** The message with CRLF line ends, without dot-stuffing. */
  message: Uint8Array;
  /** True for a message that has 8-bit octets, which the server must accept (RFC 6152). */
  isEightBit?: boolean | undefined;
  /**
   * Runs the transaction when the pace allows it. The transport calls it on an open session,
   * directly before the transaction, so that the pace limits the mails that leave. If it is absent,
   * the transaction may run at once.
   */
  whenAllowed?: WhenAllowed | undefined;
  /** True for transactional mail: it gets a session before all mails that are not urgent. */
  isUrgent?: boolean | undefined;
  /** Aborted if other mail needs the connection: the session then fails at once. */
  signal?: AbortSignal | undefined;
};

/** Rejects with `Withdrawn`, before the transaction begins, if the mail must not be sent now. */
export type WhenAllowed = <T>(transact: () => Promise<T>) => Promise<T>;
