/**
 * The DNS records of a new installation as a table: those of the host name, which the operator of the
 * server publishes, and those of the sending domain. They are looked up again and again, with growing
 * pauses, until all are right.
 */

import { listAt, valueAt } from "../../protocols/relay-reports/report.ts";
import type { Dns } from "../../protocols/dns/client.ts";
import { addressesOfHost } from "../../doctor/network.ts";
import { isOwnAddress } from "../../doctor/probes.ts";
import { pause, type SetupContext } from "./context.ts";
import { runForJson } from "./installation.ts";

type RecordLine = {
  type: string;
  name: string;
  /** The values to publish; empty if the note says who knows them. */
  value: string;
  state: "ok" | "missing" | "differs" | "unknown";
  isRequired: boolean;
  note: string;
};

type Host = {
  hostname: string;
  /** The public addresses of this machine, as far as its interfaces show them. */
  addresses: readonly string[];
  /** True if mail leaves from this machine, so that receivers look up its name. */
  isSending: boolean;
};

const FRESH = { fresh: true };

/** The address records of the host name and, if it sends mail, the names of its addresses. */
export async function hostRecords(dns: Dns, host: Host): Promise<RecordLine[]> {
  const { hostname, addresses } = host;
  const [v4, v6] = await Promise.all([
    dns.resolve(hostname, "A", FRESH),
    dns.resolve(hostname, "AAAA", FRESH),
  ]);
  const found = [v4, v6].flatMap((answer) => (answer.kind === "records" ? answer.records : []));
  const isUnknown = v4.kind === "failed" && found.length === 0;
  const wanted = addresses.length > 0 ? addresses : found;
  const lines = wanted.map((address) => addressLine(host, address, { found, isUnknown }));
  if (wanted.length === 0) {
    lines.push({
      type: "A",
      name: hostname,
      value: "",
      state: isUnknown ? "unknown" : "missing",
      isRequired: true,
      note: "The public address of this server, which your provider shows.",
    });
  }
  if (!host.isSending) return lines;
  return [
    ...lines,
    ...(await Promise.all(wanted.map((address) => pointerLine(dns, hostname, address)))),
  ];
}

function addressLine(
  { hostname }: Host,
  address: string,
  { found, isUnknown }: { found: readonly string[]; isUnknown: boolean },
): RecordLine {
  const state = found.includes(address) ? "ok" : found.length > 0 ? "differs" : "missing";
  return {
    type: address.includes(":") ? "AAAA" : "A",
    name: hostname,
    value: address,
    state: isUnknown ? "unknown" : state,
    isRequired: true,
    note: "Leads to this server.",
  };
}

async function pointerLine(dns: Dns, hostname: string, address: string): Promise<RecordLine> {
  const answer = await dns.reverse(address, FRESH);
  const names = answer.kind === "records" ? answer.records : [];
  const state = names.includes(hostname) ? "ok" : names.length > 0 ? "differs" : "missing";
  return {
    type: "PTR",
    name: address,
    value: hostname,
    state: answer.kind === "failed" ? "unknown" : state,
    isRequired: false,
    note: "The owner of the address sets it, usually on the page of the server at your provider.",
  };
}

/** The addresses of a name, and which of them this machine has; a text if the look-up failed. */
export async function findHostAddresses(
  dns: Dns,
  hostname: string,
): Promise<{ address: string; isOwn: boolean }[] | string> {
  const found = await addressesOfHost({ dns }, hostname);
  if (typeof found === "string") return found;
  return Promise.all(
    found.map(async (address) => ({ address, isOwn: await isOwnAddress(address) })),
  );
}

const STATES: Readonly<Record<string, RecordLine["state"]>> = {
  OK: "ok",
  MISSING: "missing",
  MISMATCH: "differs",
};

type DomainState = { isVerified: boolean; lines: RecordLine[] };

/** Checks the records of a domain now, as `mailstead domain verify` does, and stores the result. */
export async function checkDomainRecords(
  setup: SetupContext,
  { domain, project, dns }: { domain: string; project: string; dns: string | null },
): Promise<DomainState> {
  const words = ["domain", "verify", domain, "--project", project];
  const answer = await runForJson(setup, dns === null ? words : [...words, "--dns", dns]);
  const lines = listAt(answer, "domain", "records").map((record): RecordLine => {
    const text = (key: string) => textIn(record, key);
    return {
      type: text("type"),
      name: text("name"),
      value: text("value"),
      state: STATES[text("status")] ?? "unknown",
      isRequired: valueAt(record, "required") === true,
      note: text("note"),
    };
  });
  return { isVerified: valueAt(answer, "domain", "verified") === true, lines };
}

function textIn(record: unknown, key: string): string {
  const found = valueAt(record, key);
  return typeof found === "string" ? found : "";
}

/** One row for each record; the value, which may be long, is the last column and complete. */
function recordTable(lines: readonly RecordLine[]): string[] {
  const nameWidth = Math.max(4, ...lines.map(({ name }) => name.length));
  const row = (state: string, type: string, name: string, value: string) =>
    `  ${state.padEnd(8)}  ${type.padEnd(4)}  ${name.padEnd(nameWidth)}  ${value}`.trimEnd();
  return [
    row("STATE", "TYPE", "NAME", "VALUE"),
    ...lines.map(({ state, type, name, value, note }) =>
      row(state, type, name, value || `(${note})`),
    ),
  ];
}

const FIRST_PAUSE_MS = 2_000;
const PAUSE_GROWTH = 1.5;
const LONGEST_PAUSE_MS = 60_000;
const WATCH_LIMIT_MS = 30 * 60_000;
/** Once the domain may send, the recommended records are waited for while some of them still change. */
const RECOMMENDED_LIMIT_MS = 60_000;

/**
 * Shows the records, and then each one that has become right. Ends when all are right, when no
 * recommended one has changed for a minute, or after half an hour. Returns the last state.
 */
export async function watchRecords(
  setup: Pick<SetupContext, "clock" | "prompter" | "say">,
  check: () => Promise<DomainState>,
  { mayWait }: { mayWait: boolean },
): Promise<DomainState> {
  const { say, clock } = setup;
  const startedAt = clock.elapsed();
  let state = await check();
  for (const line of recordTable(state.lines)) say(line);
  if (!mayWait || isComplete(state)) return state;
  say("Publish these records where your domain is managed. Each is shown again when it is right.");
  say("Ctrl-C ends the wait; later, mailstead domain verify checks them.");
  let pauseMs = FIRST_PAUSE_MS;
  let changedAt = startedAt;
  for (;;) {
    const limitMs = isRequiredComplete(state) ? RECOMMENDED_LIMIT_MS : WATCH_LIMIT_MS;
    const waitedMs = clock.elapsed() - (isRequiredComplete(state) ? changedAt : startedAt);
    if (isComplete(state) || waitedMs >= limitMs) return state;
    await pause(setup, Math.min(pauseMs, limitMs - waitedMs));
    const before = state.lines;
    state = await check();
    const changed = state.lines.filter((line) => line.state !== stateBefore(before, line));
    for (const line of recordTable(changed).slice(1)) say(line);
    // After one record, the next ones are usually published soon.
    if (changed.length > 0) changedAt = clock.elapsed();
    pauseMs =
      changed.length > 0 ? FIRST_PAUSE_MS : Math.min(pauseMs * PAUSE_GROWTH, LONGEST_PAUSE_MS);
  }
}

/** A recommended record whose value only the relay knows is not waited for. */
const isComplete = ({ lines }: DomainState): boolean =>
  lines.every(({ state, isRequired, value }) => state === "ok" || (!isRequired && value === ""));

const isRequiredComplete = ({ lines }: DomainState): boolean =>
  lines.every(({ state, isRequired }) => state === "ok" || !isRequired);

function stateBefore(before: readonly RecordLine[], { type, name }: RecordLine) {
  return before.find((each) => each.type === type && each.name === name)?.state;
}
