/** Whether the firewall of this machine lets connections to a port in: nftables and ufw. */

import { listAt, valueAt } from "../../protocols/relay-reports/report.ts";

/** The ports that a firewall does not open, and the command that opens them. */
type ClosedPorts = { firewall: string; ports: number[]; fix: string };

/**
 * Reads `nft -j list ruleset`. A port counts as closed if a chain of incoming packets drops the
 * packets that no rule takes, and no rule that accepts names the port. Rules can be more complex
 * than this, so the result is a hint.
 */
export function closedByNft(ruleset: unknown, ports: readonly number[]): ClosedPorts | null {
  const objects = listAt(ruleset, "nftables");
  const dropping = objects.find(
    (each) =>
      valueAt(each, "chain", "hook") === "input" && valueAt(each, "chain", "policy") === "drop",
  );
  if (dropping === undefined) return null;
  const closed = without(
    ports,
    objects.flatMap((each) => acceptedPorts(listAt(each, "rule", "expr"))),
  );
  if (closed.length === 0) return null;
  const [family, table, name] = ["family", "table", "name"].map((key) =>
    String(valueAt(dropping, "chain", key)),
  );
  return {
    firewall: `nftables (chain ${name} of the table ${family} ${table})`,
    ports: closed,
    fix: `nft insert rule ${family} ${table} ${name} tcp dport '{ ${closed.join(", ")} }' accept, and write the same into /etc/nftables.conf`,
  };
}

type PortRange = [low: number, high: number];
const EVERY_PORT: PortRange = [0, 65_535];

function without(ports: readonly number[], open: readonly PortRange[]): number[] {
  return ports.filter((port) => !open.some(([low, high]) => low <= port && port <= high));
}

/** The ports that a rule accepts; all of them if it accepts everything. */
function acceptedPorts(expressions: readonly unknown[]): PortRange[] {
  if (!expressions.some((each) => valueAt(each, "accept") !== undefined)) return [];
  const matches = expressions.filter((each) => valueAt(each, "match") !== undefined);
  const named = matches.filter((each) => {
    const payload = valueAt(each, "match", "left", "payload");
    return valueAt(payload, "protocol") === "tcp" && valueAt(payload, "field") === "dport";
  });
  if (named.length > 0) return named.flatMap((each) => rangesIn(valueAt(each, "match", "right")));
  return matches.length === 0 ? [EVERY_PORT] : [];
}

/** A port, a range, or a set of both. */
function rangesIn(right: unknown): PortRange[] {
  if (typeof right === "number") return [[right, right]];
  const [low, high] = listAt(right, "range");
  if (typeof low === "number" && typeof high === "number") return [[low, high]];
  return listAt(right, "set").flatMap(rangesIn);
}

/** Reads `ufw status`, whose lines are such as `443/tcp  ALLOW  Anywhere` or `25,465/tcp  ALLOW  …`. */
export function closedByUfw(text: string, ports: readonly number[]): ClosedPorts | null {
  if (!/^Status: active$/m.test(text)) return null;
  const open = text.split("\n").flatMap((line) => {
    const [to = "", action = "", ...rest] = line.trim().split(/\s+/);
    return action === "ALLOW" || (action === "(v6)" && rest[0] === "ALLOW") ? rangesOfUfw(to) : [];
  });
  const closed = without(ports, open);
  if (closed.length === 0) return null;
  return { firewall: "ufw", ports: closed, fix: `ufw allow ${closed.join(",")}/tcp` };
}

function rangesOfUfw(to: string): PortRange[] {
  if (to === "Anywhere") return [EVERY_PORT];
  const [list = "", protocol = "tcp"] = to.split("/");
  if (protocol !== "tcp" || !/^[\d,:]+$/.test(list)) return [];
  return list.split(",").map((part): PortRange => {
    const [low = "", high = low] = part.split(":");
    return [Number(low), Number(high)];
  });
}

type RunProgram = (words: readonly string[]) => Promise<{ code: number; output: string }>;

/** Asks the firewalls that are installed. Without one, or without the right to ask, it finds nothing. */
export async function findClosedPorts(
  run: RunProgram,
  ports: readonly number[],
): Promise<ClosedPorts | null> {
  const ufw = await run(["ufw", "status"]);
  if (ufw.code === 0 && /^Status: active$/m.test(ufw.output)) return closedByUfw(ufw.output, ports);
  const nft = await run(["nft", "-j", "list", "ruleset"]);
  if (nft.code !== 0) return null;
  return closedByNft(parseJson(nft.output), ports);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // Another version prints another form: nothing is known then.
  }
}
