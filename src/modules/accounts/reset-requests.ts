/**
 * Requests for a link to set a new password. Each request gets the same answer at the same time, so
 * the answer does not tell whether an account exists: the work is done after the answer.
 */

import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import { describeError, type Log } from "../../lib/log.ts";
import { storedAddress } from "../../protocols/mime/address.ts";
import { projectsOfUser } from "../projects.ts";
import type { AttemptLimits } from "./attempt-limits.ts";
import type { Accounts } from "./service.ts";
import type { Client } from "./sessions.ts";

export type ResetRequests = ReturnType<typeof createResetRequests>;

/** Most links of one user that work at the same time. This limits the mail that an attacker can cause. */
const MAX_OPEN = 3;

export function createResetRequests(deps: {
  db: Db;
  accounts: Accounts;
  limits: AttemptLimits;
  writer: Pick<Writer, "write">;
  url: string;
  log: Log;
}) {
  const { accounts, limits, writer, url, log } = deps;
  const { users, tokens, mails } = accounts;

  /** Part of a change: queues the mail with the link, if the address has an account. */
  function sendLink(email: string): void {
    const user = users.findByEmail(email);
    if (user === null || user.disabledAt !== null) return;
    if (tokens.countOpen("RESET", user.seq) >= MAX_OPEN) return;
    const projectSeqs = projectsOfUser(deps, user).map(({ seq }) => seq);
    if (!mails.canSend(projectSeqs)) return;
    const { row, text } = tokens.issue({ kind: "RESET", userSeq: user.seq })();
    const link = `${url}/app/reset#${text}`;
    mails.sendReset({ to: user.email, projectSeqs, link, expiresAt: row.expiresAt });
  }

  return ({ email }: { email: string }, { address }: Client): void => {
    limits.take(address);
    const stored = storedAddress(email);
    writer
      .write(() => sendLink(stored))
      .catch((error: unknown) =>
        log.error("the link for a new password was not queued", { error: describeError(error) }),
      );
  };
}
