/** A mail for an SMTP session. */

/** SMTP envelope (RFC 5321 §2.3.1) and the finished message. */
export type Dispatch = {
  envelope: { from: string; to: string };
  /** The message with CRLF line ends, without dot-stuffing. */
  message: Uint8Array;
  /** True for a message that has 8-bit octets, which the server must accept (RFC 6152). */
  isEightBit?: boolean | undefined;
  /**
   * Begins the transaction when the pace allows it. The transport calls it on an open session,
   * directly before the transaction, so that the pace limits the mails that leave. If it is absent,
   * the transaction may begin at once.
   */
  whenAllowed?: WhenAllowed | undefined;
  /** True for transactional mail: it gets a session before all mails that are not urgent. */
  isUrgent?: boolean | undefined;
  /** Aborted if other mail needs the connection: the session then fails at once. */
  signal?: AbortSignal | undefined;
};

/**
 * Calls `begin` when the mail may leave; `begin` calls `ended` at the end of its transaction. Calls
 * `refuse` with `Withdrawn` instead if the mail must not be sent now.
 */
export type WhenAllowed = (begin: Begin, refuse: (error: unknown) => void) => void;

export type Begin = (ended: () => void) => void;

/** Runs a transaction that is a promise, when it is allowed. Rejects if it must not be sent now. */
export function transactWhenAllowed<T>(
  { whenAllowed }: Pick<Dispatch, "whenAllowed">,
  transact: () => Promise<T>,
): Promise<T> {
  if (whenAllowed === undefined) return transact();
  return new Promise((resolve, reject) => {
    const begin: Begin = (ended) => void transact().finally(ended).then(resolve, reject);
    whenAllowed(begin, reject);
  });
}
