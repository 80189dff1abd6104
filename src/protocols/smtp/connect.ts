/** The first step of a session: looks up the addresses of the host and connects to one of them. */

import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Clock } from "../../lib/clock.ts";
import type { Dialogue } from "./dialogue.ts";
import { describeSocketError, type Failure, type Fault } from "./failure.ts";

/** The server to which a session connects. */
export type Endpoint = {
  /** Name for the look-up and for the recorded conversation. */
  host: string;
  port: number;
  /** Address to connect to instead of the addresses of the host. */
  address?: string | undefined;
  localAddress?: string | undefined;
  /** Looks up the addresses of a name, in the order to try; by default with the system's resolver. */
  resolve?: ((host: string) => Promise<readonly string[]>) | undefined;
  /** Returns why connecting to an address is not allowed, or null (docs/delivery.md#W6). */
  checkAddress?: ((address: string) => string | null) | undefined;
};

/** Limit per attempt (docs/delivery.md#W5). */
const MAX_ADDRESSES = 5;

/** Tries one address after another until one answers; each is recorded as a step. */
export async function connect(dialogue: Dialogue, endpoint: Endpoint): Promise<Failure | null> {
  dialogue.startStep();
  const addresses = await addressesOf(endpoint, dialogue);
  if ("kind" in addresses) return dialogue.fail("connect", addresses);

  let last: Fault = { kind: "dns", message: `${endpoint.host} has no address` };
  if (addresses.length === 0) return dialogue.fail("connect", last);
  for (const address of addresses.slice(0, MAX_ADDRESSES)) {
    const fault = await dial(dialogue, endpoint, address);
    if (fault === null) return null;
    last = fault;
  }
  return { step: "connect", cause: last };
}

async function addressesOf(
  { host, address, resolve = resolveBySystem }: Endpoint,
  { timeouts, clock }: Pick<Dialogue, "timeouts" | "clock">,
): Promise<readonly string[] | Fault> {
  if (address !== undefined) return [address];
  if (isIP(host) !== 0) return [host];
  try {
    return await within(resolve(host), timeouts.connectMs, clock);
  } catch (error) {
    return { kind: "dns", message: `${host}: ${describeSocketError(error)}` };
  }
}

async function dial(
  dialogue: Dialogue,
  { port, localAddress, checkAddress }: Endpoint,
  address: string,
): Promise<Fault | null> {
  const { wire, timeouts, conversation } = dialogue;
  conversation.address = address;
  const problem = checkAddress?.(address) ?? null;
  const fault: Fault | null =
    problem === null
      ? await wire.dial({ address, port, localAddress }, timeouts.connectMs)
      : { kind: "address", message: problem };
  const target = isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`;
  dialogue.note("connect", null, `${target} ${fault?.message ?? "connected"}`);
  return fault === null ? null : { ...fault, message: `${target} ${fault.message}` };
}

async function resolveBySystem(host: string): Promise<string[]> {
  const addresses = await lookup(host, { all: true });
  return addresses.map((entry) => entry.address);
}

/** Rejects after the timeout; a later result is ignored. */
async function within<T>(work: Promise<T>, timeoutMs: number, clock: Clock): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const cancel = clock.after(timeoutMs, () => {
    reject(new Error(`no answer within ${timeoutMs / 1_000} s`));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}
