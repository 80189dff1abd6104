/** Runs the attacks one after the other against one server, and measures each. */

import { type Static, Type } from "@sinclair/typebox";
import { findProject } from "../../src/modules/projects.ts";
import {
  freePort,
  type Helper,
  removeFolder,
  type Server,
  startHelper,
  startServer,
  temporaryFolder,
} from "../bench/children.ts";
import { type Aim, limitAim, ms, whole } from "../bench/report.ts";
import { openStore, prepareStore } from "../bench/store.ts";
import { FORMS } from "./forms.ts";
import { findTargets, type Target } from "./targets.ts";
import { createKey } from "../../src/modules/keys.ts";

const KEYS = ["none", "wrong", "public", "secret"] as const;
type KeyKind = (typeof KEYS)[number];

export type Attack = { route: string; key: KeyKind; form: string };

const Flooded = Type.Object({
  statuses: Type.Record(Type.String(), Type.Number()),
  seconds: Type.Number(),
});
const Watched = Type.Object({
  peakMiB: Type.Number(),
  slowestMs: Type.Number(),
  /** Without the time for which other processes had the processor. */
  slowestOwnMs: Type.Number(),
});
export type Result = Static<typeof Flooded> & Static<typeof Watched>;

export type AttackOptions = {
  binary: string | null;
  connections: number;
  wants: (attack: Attack) => boolean;
  onResult: (attack: Attack, result: Result) => void;
};

/** Forms for keys that are refused before the body is read: the others would make no difference. */
const FORMS_OF_REFUSED = ["objects", "objects in chunks", "slow"];
const FORMS_OF_FILES = ["text", "blanks", "slow", "aborted"];
/** Longer than the server waits for a slow body. */
const LIMIT_MS = 60_000;

/** More would not leave enough for other programs on a small machine. */
const MOST_MIB = 600;

/** The worst of all results, and the bytes of bodies that the server still counts at the end. */
export type Worst = Static<typeof Watched> & { leftBytes: number };

export async function runAttack(options: AttackOptions): Promise<Worst> {
  const data = temporaryFolder();
  const keys = await prepareKeys(data);
  const metrics = `127.0.0.1:${freePort()}`;
  // Almost no mail is delivered, so that only the memory of requests is measured.
  const rates = ["--send-rate", "0.001", "--api-rate", "0", "--public-key-rate", "0"];
  const args = [...rates, "--public-client-rate", "0", "--metrics", metrics];
  const server = await startServer({ binary: options.binary, data, args });
  const watch = startHelper("../attack/watch.ts", { port: server.port, pid: server.pid });
  const worst = { peakMiB: 0, slowestMs: 0, slowestOwnMs: 0 };
  for (const target of await findTargets(`http://127.0.0.1:${server.port}`)) {
    for (const attack of attacksOn(target).filter(options.wants)) {
      const result = await measure({ attack, target, keys, server, watch, options });
      worst.peakMiB = Math.max(worst.peakMiB, result.peakMiB);
      worst.slowestMs = Math.max(worst.slowestMs, result.slowestMs);
      worst.slowestOwnMs = Math.max(worst.slowestOwnMs, result.slowestOwnMs);
      options.onResult(attack, result);
    }
  }
  const leftBytes = await bytesLeft(`http://${metrics}/metrics`);
  watch.kill();
  await server.stop();
  removeFolder(data);
  return { ...worst, leftBytes };
}

/**
 * The aims for memory and for `/livez`, which may take `longestMs`; a busy machine needs more than
 * the time for which other processes had the processors.
 */
export function attackAims(worst: Worst, longestMs: number): Aim[] {
  return [
    {
      name: "peak of resident memory",
      isMet: worst.peakMiB < MOST_MIB,
      measured: `${whole(worst.peakMiB)} MiB`,
      wanted: `< ${MOST_MIB} MiB`,
    },
    {
      name: "slowest /livez",
      isMet: worst.slowestOwnMs < longestMs,
      measured: `${ms(worst.slowestOwnMs)}; ${ms(worst.slowestMs)} with other processes`,
      wanted: `< ${longestMs} ms`,
    },
    limitAim("bytes of bodies still counted at the end", worst.leftBytes),
  ];
}

/** Waits until the server counts no bytes of bodies any more; resolves to the bytes that are left. */
async function bytesLeft(url: string): Promise<number> {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const text = await (await fetch(url)).text();
    const left = Number(/^mailstead_http_request_body_bytes (\d+)$/m.exec(text)?.[1] ?? 0);
    if (left === 0 || performance.now() > deadline) return left;
    await Bun.sleep(100);
  }
}

function attacksOn(target: Target): Attack[] {
  const route = `${target.method} ${target.path}`;
  return KEYS.flatMap((key) => {
    const isRead = key === "secret" || (key === "public" && target.takesPublicKey);
    const isFile = target.mediaType.startsWith("multipart/");
    const forms = isFile ? FORMS_OF_FILES : isRead ? Object.keys(FORMS) : FORMS_OF_REFUSED;
    return forms.map((form) => ({ route, key, form }));
  });
}

async function measure(run: {
  attack: Attack;
  target: Target;
  keys: Readonly<Record<KeyKind, string | null>>;
  server: Server;
  watch: Helper;
  options: AttackOptions;
}): Promise<Result> {
  const { attack, target, keys, server, watch, options } = run;
  const key = keys[attack.key];
  watch.again();
  await watch.next(Watched);
  const flood = startHelper("../attack/flood.ts", {
    port: server.port,
    head: [
      `${target.method} ${target.path} HTTP/1.1`,
      "Host: 127.0.0.1",
      ...(key === null ? [] : [`Authorization: Bearer ${key}`]),
    ],
    connections: options.connections,
    form: attack.form,
    isMultipart: target.mediaType.startsWith("multipart/"),
    shape: { ...target, route: attack.route },
    limitMs: LIMIT_MS,
  });
  const flooded = await flood.next(Flooded);
  watch.again();
  return { ...flooded, ...(await watch.next(Watched)) };
}

async function prepareKeys(data: string): Promise<Record<KeyKind, string | null>> {
  const secret = await prepareStore(data, 0);
  const { app, close } = openStore(data);
  const publicKey = await app.writer.write(() => {
    const project = findProject(app.app, "bench");
    if (project === null) throw new Error("no project");
    return createKey(app.app, project.seq, { kind: "PUBLIC", name: "attack", expiresAt: null })
      .text;
  });
  await close();
  return { none: null, wrong: `sk_${"x".repeat(43)}`, public: publicKey, secret };
}
