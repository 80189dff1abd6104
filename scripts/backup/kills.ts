/**
 * Makes backups while a server accepts and sends mail, and kills them in each phase. Afterwards each
 * backup that is listed must be whole, the next one must have removed what the killed ones have left, and
 * the restored installation must have each mail that was answered before the copy of its backup began,
 * and send none.
 */

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { recountUsage } from "../../src/db/usage-recount.ts";
import { startSink } from "../../test/support/smtp-sink.ts";
import { freePort, parse, relayTo, startServer, temporaryFolder } from "../bench/children.ts";
import { type Aim, fixed, limitAim, type Outcome, presenceAim, whole } from "../bench/report.ts";
import { type CrashStore, withCrashStore } from "../crash/kills.ts";
import { createSender, type Sender } from "../crash/sender.ts";
import { createRandom } from "../seed/random.ts";
import { type Commands, type Ended, runCommand, startCommand } from "./program.ts";

export type Place = {
  /** A folder, or s3://…. */
  target: string;
  env: Readonly<Record<string, string>>;
  phases: readonly string[];
  /** All files in the target, and uploads that have not ended. */
  leftovers: () => Promise<string[]>;
  /** Changes a byte of a file, and returns the function that changes it back. */
  flip: (path: string, at: number) => Promise<() => Promise<void>>;
};

export type KillOptions = {
  binary: string | null;
  /** Kills in each phase. */
  kills: number;
  /** MiB of contacts in the database. */
  megabytes: number;
  /** Clients that send without pause. */
  connections: number;
  /** Bytes that are changed, one at a time; with 0, there is no drill either. */
  flips: number;
  /** For so long the restored server could send. */
  quietMs: number;
  seed: number;
};

/** The contacts of a MiB have random data, of which half is compressed away. */
export const CONTACTS_IN_MIB = 512;
const CONTACT_BYTES = 1_000;
const MAX_DELAY_MS = 300;
/** Slower than the clients, so that mail waits in each backup. */
const MAILS_PER_SECOND = 5;

const Made = Type.Object({ name: Type.String(), path: Type.String(), bytes: Type.Integer() });
const Listed = Type.Object({
  backups: Type.Array(Type.Object({ path: Type.String(), name: Type.String() })),
  damaged: Type.Array(Type.Unknown()),
});
const Initialized = Type.Object({ identity: Type.String() });

export function killBackups(place: Place, options: KillOptions): Promise<Outcome> {
  const { binary } = options;
  return withCrashStore({ binary, isHourly: false }, {}, async (store) => {
    const sink = await startSink({ countOnly: true });
    addLargeContacts(store.data, options.megabytes * CONTACTS_IN_MIB);
    const commands: Commands = { binary, env: { ...place.env, MAILSTEAD_DATA: store.data } };
    const { json } = await runCommand(commands, ["backup", "init"]);
    const keyFile = join(temporaryFolder(), "key");
    await Bun.write(keyFile, parse(Initialized, json).identity);
    const server = await store.launch(0, relayTo(sink.port, MAILS_PER_SECOND));
    const { key, port } = store;
    const { connections } = options;
    const sender = createSender({ url: `http://127.0.0.1:${port}`, key, connections });
    let isOver = false;
    const sending = sender.run(() => isOver);
    const killed = await killInPhases(place, commands, options);
    const before = new Set(sender.accepted.values());
    const made = await runCommand(commands, ["backup", "run", place.target]);
    isOver = true;
    await sending;
    await server.stop();
    await sink.close();
    if (made.code !== 0) throw new Error(`the last backup failed: ${made.stderr}`);
    const { path, name, bytes } = parse(Made, made.json);
    const listed = await listBackups(place, commands);
    const left = (await place.leftovers()).filter((file) => isLeftover(file, listed));
    const words = [path, "--key-file", keyFile];
    const flips =
      options.flips === 0
        ? []
        : await changeBytes(place, commands, { ...options, name, bytes, words });
    const restored = await restore(commands, { store, before, words, options });
    return {
      figures: figuresOf(sender, killed, made, before.size, bytes),
      aims: [
        presenceAim("kills that hit their phase", killed.hits, killed.tried / 2),
        limitAim("listed backups that are not whole", killed.broken),
        limitAim("damaged backups in the list", killed.damaged),
        limitAim("files of killed backups after the next one", left.length),
        ...flips,
        ...restored,
      ],
    };
  });
}

type Killed = { tried: number; hits: number; broken: number; damaged: number };

async function killInPhases(
  place: Place,
  commands: Commands,
  { kills, seed }: KillOptions,
): Promise<Killed> {
  const random = createRandom(Math.imul(seed, 0x9e3779b1));
  const killed: Killed = { tried: 0, hits: 0, broken: 0, damaged: 0 };
  for (let round = 0; round < kills; round++) {
    for (const phase of place.phases) {
      const command = startCommand(commands, ["backup", "run", place.target]);
      await command.untilPhase(phase);
      if (round > 0) await Bun.sleep(random.integer(MAX_DELAY_MS));
      command.kill();
      const { code } = await command.end();
      killed.tried++;
      if (code !== 0) killed.hits++;
      const listed = await listBackups(place, commands);
      killed.damaged += listed.damaged.length;
      for (const { path } of listed.backups) {
        const verified = await runCommand(commands, ["backup", "verify", path]);
        if (verified.code !== 0) killed.broken++;
      }
    }
  }
  return killed;
}

async function listBackups(place: Place, commands: Commands) {
  const { json, stderr } = await runCommand(commands, ["backup", "list", place.target]);
  if (json === null) throw new Error(`the backups cannot be listed: ${stderr}`);
  return parse(Listed, json);
}

const isLeftover = (file: string, { backups }: { backups: { name: string }[] }): boolean =>
  !backups.some(({ name }) => file.includes(name));

/** Each changed byte must be found, and the message must name the 64 KiB that it is in. */
async function changeBytes(
  place: Place,
  commands: Commands,
  given: KillOptions & { name: string; bytes: number; words: readonly string[] },
): Promise<Aim[]> {
  const { name, bytes, words, flips, seed } = given;
  const random = createRandom(seed + 1);
  let [missed, misnamed] = [0, 0];
  for (let flip = 0; flip < flips; flip++) {
    const at = random.integer(bytes);
    const undo = await place.flip(`${name}/mailstead.tar.zst.age`, at);
    const [digest, opened] = [
      await runCommand(commands, ["backup", "verify", words[0] ?? ""]),
      await runCommand(commands, ["backup", "verify", ...words]),
    ];
    await undo();
    if (digest.code === 0 || opened.code === 0) missed++;
    const from = Number(/64 KiB from byte (\d+) on/.exec(opened.stderr)?.[1]);
    const isNamed = at >= from && at < from + 65_552;
    if (!isNamed && !opened.stderr.includes("its header is damaged")) misnamed++;
  }
  const drill = await runCommand(commands, ["backup", "drill", ...words]);
  return [
    limitAim("drills that failed", drill.code === 0 ? 0 : 1),
    presenceAim("changed bytes", flips),
    limitAim("changed bytes that were not found", missed),
    limitAim("changed bytes whose place was not named", misnamed),
  ];
}

async function restore(
  commands: Commands,
  given: {
    store: CrashStore;
    before: ReadonlySet<string>;
    words: readonly string[];
    options: KillOptions;
  },
): Promise<Aim[]> {
  const { before, words, options } = given;
  const data = join(temporaryFolder(), "restored");
  const env = { ...commands.env, MAILSTEAD_DATA: data };
  const restored = await runCommand({ ...commands, env }, ["restore", ...words]);
  if (restored.code !== 0) throw new Error(`the backup cannot be restored: ${restored.stderr}`);
  const sqlite = new Database(join(data, "mailstead.db"), { readonly: true });
  const ids = new Set(
    sqlite
      .query<{ id: string }, []>("SELECT id FROM emails")
      .all()
      .map(({ id }) => id),
  );
  const waiting = sqlite.query("SELECT 1 FROM emails WHERE status = 'QUEUED'").all().length;
  sqlite.close();
  const sink = await startSink({ countOnly: true });
  const server = await startServer({
    binary: options.binary,
    data,
    port: freePort(),
    args: relayTo(sink.port, 0),
  });
  await Bun.sleep(options.quietMs);
  const sent = sink.counts.messages;
  await server.stop();
  await sink.close();
  return [
    presenceAim("mails answered before the copy began", before.size),
    limitAim(
      "of these, not in the restored database",
      [...before].filter((id) => !ids.has(id)).length,
    ),
    presenceAim("mails that wait in the restored database", waiting),
    limitAim("mails that the restored server sent", sent),
  ];
}

function figuresOf(
  { accepted }: Sender,
  { tried, hits }: Killed,
  { seconds, peakMiB }: Ended,
  before: number,
  bytes: number,
): Outcome["figures"] {
  return [
    ["kills", `${tried}, ${hits} of them before the end`],
    ["answered mails", `${whole(accepted.size)}, ${whole(before)} before the last backup`],
    ["last backup", `${fixed(bytes / 1024 ** 2, 1)} MiB in ${fixed(seconds, 1)} s`],
    ["its peak memory", `${whole(peakMiB)} MiB`],
  ];
}

/** Adds contacts with random notes to the only project of a data folder. */
export function addLargeContacts(data: string, count: number): void {
  const sqlite = new Database(join(data, "mailstead.db"));
  sqlite.run(
    `INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
     WITH numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
     SELECT 'contact-' || n, projects.seq, 'contact-' || n || '@example.net', 1,
            json_object('note', hex(randomblob(?))), 0, 0
     FROM numbers CROSS JOIN projects`,
    [count, CONTACT_BYTES],
  );
  recountUsage(sqlite);
  sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  sqlite.close();
}
