/**
 * Passwords: the rules for new ones, and their digests by Argon2id (RFC 9106). A verification takes
 * 64 MiB and about 0.2 s in a thread of the runtime, so at most two run at once and few may wait. The
 * networks of the clients take turns, so that one network cannot keep the others from signing in.
 */

import { AppError, fieldError } from "../../lib/errors.ts";
import { createFairQueue, QueueFullError } from "../../lib/fair-queue.ts";
import { COMMON_PASSWORDS } from "./common-passwords.ts";

export type Passwords = ReturnType<typeof createPasswords>;

const SHORTEST_PASSWORD = 10;
/** In UTF-16 units. */
export const LONGEST_PASSWORD = 256;
/** Parameters of Argon2id: memory in KiB, and passes over it. */
type PasswordCost = { memoryCost: number; timeCost: number };

const COST: PasswordCost = { memoryCost: 65_536, timeCost: 2 };
const MAX_CONCURRENT = 2;
const MAX_WAITING = 40;

/**
 * The digest of 32 random bytes that are not stored, with the cost of all digests. It is verified for
 * an unknown address, so that the answer takes as long as for a known one.
 */
const UNKNOWN_DIGEST =
  "$argon2id$v=19$m=65536,t=2,p=1$ZIW6L9azxyPnIp0O/BsmlNMWGtk2MbR7T3iIGMzdsqU$y4cLO3ztfAw1K7mBed0kYN/ivPubF7dDTAd70Tna4Us";

/** `cost` is another one only in tests. */
export function createPasswords(cost: PasswordCost = COST) {
  const queue = createFairQueue({ running: MAX_CONCURRENT, waiting: MAX_WAITING });

  async function run<T>(network: string, work: () => Promise<T>): Promise<T> {
    try {
      return await queue.run(network, work);
    } catch (error) {
      throw error instanceof QueueFullError ? tooMany() : error;
    }
  }

  return {
    /** Returns the digest of a new password. `network` is that of the client, empty for a command. */
    hash: (password: string, network: string): Promise<string> =>
      run(network, () =>
        Bun.password.hash(normalized(password), { algorithm: "argon2id", ...cost }),
      ),

    /** Whether a password has this digest. Without a digest it takes as long, and is false. */
    async verify(
      password: string,
      { digest, network }: { digest: string | null; network: string },
    ): Promise<boolean> {
      const matches = await run(network, () =>
        Bun.password.verify(normalized(password), digest ?? UNKNOWN_DIGEST),
      );
      return matches && digest !== null;
    },
  };
}

/** The same text may be typed as different code points, depending on the system. */
function normalized(password: string): string {
  return password.normalize("NFKC");
}

/** Throws 422 for a password that is too short, too common, or the address of its user. */
export function requireGoodPassword(password: string, email: string): void {
  if (Array.from(password).length < SHORTEST_PASSWORD) {
    throw fieldError("password", "too_small", `must have at least ${SHORTEST_PASSWORD} characters`);
  }
  if (password.length > LONGEST_PASSWORD) {
    throw fieldError("password", "too_big", `must have at most ${LONGEST_PASSWORD} characters`);
  }
  const lower = password.trim().toLowerCase();
  if (lower === email) throw fieldError("password", "invalid_value", "must not be your address");
  if (COMMON_PASSWORDS.has(lower)) {
    throw fieldError("password", "invalid_value", "must not be a common password");
  }
}

function tooMany(): AppError {
  return new AppError(503, "SERVICE_UNAVAILABLE", "Too many passwords are being checked.", {
    headers: { "Retry-After": "5" },
    suggestion: "Try again in a few seconds.",
  });
}
