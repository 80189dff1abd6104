/** A short run of `scripts/attack.ts`: hostile bodies over many connections to a real server. */

import { expect, test } from "bun:test";
import { type Attack, type Result, runAttack } from "../../scripts/attack/run.ts";

const CONNECTIONS = 30;
const ATTACKS: readonly Attack[] = [
  { route: "POST /v1/track", key: "wrong", form: "objects" },
  { route: "POST /v1/track", key: "public", form: "objects in chunks" },
  { route: "POST /v1/track", key: "public", form: "objects in a member" },
  { route: "POST /v1/send", key: "public", form: "objects" },
  { route: "POST /v1/send", key: "secret", form: "objects" },
  { route: "POST /templates", key: "secret", form: "text beyond Latin" },
  { route: "POST /templates", key: "secret", form: "aborted" },
  { route: "POST /contacts", key: "secret", form: "keys" },
];

// The test reads the memory of the server process from /proc.
const onLinux = test.skipIf(process.platform !== "linux");

onLinux(
  "the memory for hostile bodies is bounded, and all of it is released",
  async () => {
    const results = new Map<string, Result>();
    const nameOf = ({ route, key, form }: Attack) => `${route}, ${key}: ${form}`;
    const wanted = new Set(ATTACKS.map(nameOf));
    const worst = await runAttack({
      binary: null,
      connections: CONNECTIONS,
      wants: (attack) => wanted.has(nameOf(attack)),
      onResult: (attack, result) => void results.set(nameOf(attack), result),
    });
    expect([...results.keys()].toSorted()).toEqual([...wanted].toSorted());
    expect(worst.peakMiB).toBeLessThan(600);
    expect(worst.leftBytes).toBe(0);
    // The script itself allows 200 ms. Here other tests run at the same time.
    expect(worst.slowestOwnMs).toBeLessThan(2_000);
    const refused = new Set(["400", "401", "403", "404", "422", "429", "503", "aborted"]);
    const statuses = [...results.values()].flatMap(({ statuses: counts }) => Object.keys(counts));
    expect(statuses.filter((status) => !refused.has(status))).toEqual([]);
  },
  120_000,
);
