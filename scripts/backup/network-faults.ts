/**
 * Backups in a bucket through a proxy that cuts or slows the connection, with a wrong key, without a
 * bucket, and with a service that goes away. A backup that fails says why, is not listed, and leaves no
 * upload behind after the next one.
 */

import { createServer, connect, type Server, type Socket } from "node:net";
import { Type } from "@sinclair/typebox";
import { parse } from "../bench/children.ts";
import { type Aim, fixed, limitAim, type Outcome } from "../bench/report.ts";
import { flagAim, textAim } from "./full-disk.ts";
import { bucketPlace, type S3Service } from "./places.ts";
import { runCommand, startCommand } from "./program.ts";
import { withBackupStore } from "./store.ts";

const MIB = 1024 * 1024;
/** An archive of two parts. */
const DATABASE_MIB = 24;
const SLOW_BYTES_A_SECOND = 4 * MIB;

type Mode = {
  /** A connection is cut after the client has sent so many bytes. */
  sentLimit?: number;
  /** A connection is cut after the client has received so many bytes. */
  receivedLimit?: number;
  /** Only so many connections are cut. */
  cuts?: number;
  bytesPerSecond?: number;
};

const Listed = Type.Object({ backups: Type.Array(Type.Unknown()) });

export function failBackups(
  service: S3Service,
  { binary }: { binary: string | null },
): Promise<Outcome> {
  return withBackupStore({ binary, megabytes: DATABASE_MIB }, async (base) => {
    const proxy = await startProxy(Number(new URL(service.endpoint).port));
    const place = bucketPlace({ ...service, endpoint: proxy.endpoint }, "faults");
    const commands = { binary, env: { ...base.env, ...place.env } };
    const run = (env: Record<string, string> = {}, target = place.target) =>
      runCommand({ binary, env: { ...commands.env, ...env } }, ["backup", "run", target]);
    const withMode = async (mode: Mode) => {
      proxy.use(mode);
      return run().finally(() => proxy.use({}));
    };
    const aims: Aim[] = [];

    const noBucket = await run({}, "s3://no-such-bucket/x");
    aims.push(textAim("no such bucket", noBucket, /There is no bucket no-such-bucket/));
    const secret = await run({ MAILSTEAD_S3_SECRET_ACCESS_KEY: "wrong" });
    aims.push(textAim("a wrong secret", secret, /secret of the access key is wrong/));
    const id = await run({ MAILSTEAD_S3_ACCESS_KEY_ID: "AKIAUNKNOWN" });
    aims.push(textAim("an unknown key", id, /does not know the access key/));
    const down = await run({ MAILSTEAD_S3_ENDPOINT: "http://127.0.0.1:1" });
    aims.push(textAim("an endpoint that is down", down, /refuses connections/));

    const cut = await withMode({ sentLimit: 5 * MIB });
    aims.push(textAim("a connection that is cut in each try", cut, /closed the connection/));
    const unread = await withMode({ receivedLimit: 5 * MIB });
    aims.push(textAim("a connection that is cut while it is read back", unread, /closed the conn/));
    const leaving = startCommand(commands, ["backup", "run", place.target]);
    await leaving.untilPhase("upload");
    await proxy.close();
    const left = await leaving.end();
    await proxy.open();
    aims.push(textAim("a service that goes away", left, /refuses connections|closed the conn/));
    const none = await runCommand(commands, ["backup", "list", place.target]);
    aims.push(limitAim("backups after these", parse(Listed, none.json).backups.length));

    const once = await withMode({ sentLimit: 5 * MIB, cuts: 1 });
    aims.push(flagAim("a part that was cut once is sent again", once.code === 0));
    const slow = await withMode({ bytesPerSecond: SLOW_BYTES_A_SECOND });
    aims.push(flagAim("a slow connection is enough", slow.code === 0));
    aims.push(limitAim("unfinished uploads at the end", (await service.unfinished()).length));
    await proxy.close();
    return { figures: [["at 4 MiB a second", `${fixed(slow.seconds, 1)} s`]], aims };
  });
}

async function startProxy(port: number) {
  let mode: Mode = {};
  let cuts = 0;
  let server: Server | null = null;
  let ownPort = 0;
  const sockets = new Set<Socket>();

  function pass(client: Socket): void {
    const upstream = connect(port, "127.0.0.1");
    const { sentLimit = Infinity, receivedLimit = Infinity, bytesPerSecond } = mode;
    let [sent, received] = [0, 0];
    const cutIf = (isOver: boolean): boolean => {
      if (!isOver || cuts >= (mode.cuts ?? Infinity)) return false;
      cuts++;
      client.resetAndDestroy();
      upstream.destroy();
      return true;
    };
    client.on("data", (bytes: Buffer) => {
      sent += bytes.length;
      if (cutIf(sent > sentLimit)) return;
      upstream.write(bytes);
      if (bytesPerSecond === undefined) return;
      client.pause();
      setTimeout(() => client.resume(), (1000 * bytes.length) / bytesPerSecond);
    });
    upstream.on("data", (bytes: Buffer) => {
      received += bytes.length;
      if (!cutIf(received > receivedLimit)) client.write(bytes);
    });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        client.end();
        upstream.end();
      });
    }
  }

  async function open(): Promise<void> {
    const opened = createServer(pass);
    await new Promise<void>((resolve) => opened.listen(ownPort, "127.0.0.1", () => resolve()));
    const address = opened.address();
    ownPort = typeof address === "object" ? (address?.port ?? 0) : 0;
    server = opened;
  }

  await open();
  return {
    endpoint: `http://127.0.0.1:${ownPort}`,
    open,
    use(next: Mode): void {
      mode = next;
      cuts = 0;
    },
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
    },
  };
}
