/** An installation of its own for each scenario: an executable, a data folder, a server and a sender. */

import { Database } from "bun:sqlite";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { Type } from "@sinclair/typebox";

const Created = Type.Object({ secretKey: Type.String() });
const Accepted = Type.Object({
  data: Type.Object({ emails: Type.Array(Type.Object({ email: Type.String() })) }),
});

const READY_LIMIT_MS = 30_000;
const PAUSE_MS = 20;
const START_PAUSE_MS = 500;
const LOG_LINES = 10;

export type Installation = ReturnType<typeof installationOf>;

/** Installs `executable`, and creates a project. The server is not started. */
export async function install(parent: string, executable: string) {
  const folder = mkdtempSync(join(parent, "installation-"));
  mkdirSync(join(folder, "bin"));
  cpSync(executable, join(folder, "bin/mailstead"));
  const words = ["project", "create", "Shop", "--json", "--data", join(folder, "data")];
  const created = await run([join(folder, "bin/mailstead"), ...words]);
  const json: unknown = JSON.parse(created.stdout);
  return installationOf(folder, Value.Decode(Created, json).secretKey, freePort());
}

function installationOf(folder: string, key: string, port: number) {
  const executable = join(folder, "bin/mailstead");
  const data = join(folder, "data");
  const url = `http://127.0.0.1:${port}`;
  const serve = `${executable} serve --data ${data} --port ${port} --require-verified-domain false --send-rate 0 --api-rate 0`;
  // A session of its own, so that the server outlives the command that starts it.
  const start = `setsid sh -c 'echo $$ > ${folder}/pid; exec ${serve}' < /dev/null >> ${folder}/log 2>&1 &`;
  const stop = `kill $(cat ${folder}/pid)`;
  const pid = () => Number(readFileSync(join(folder, "pid"), "utf8"));

  return {
    folder,
    executable,
    data,
    url,
    key,
    stop,
    start,

    upgradeWords(from: string, releaseKey: string, ...more: string[]): string[] {
      const server = ["--data", data, "--port", String(port)];
      const commands = ["--stop-command", stop, "--start-command", start];
      const release = ["--from", from, "--release-key", releaseKey];
      return [executable, "upgrade", ...server, ...commands, ...release, ...more];
    },

    /** Starts the server as often as it has ended, until it is ready: it may still be stopping. */
    async startServer(): Promise<void> {
      const deadline = performance.now() + READY_LIMIT_MS;
      while (!(await this.isReady())) {
        if (performance.now() > deadline) {
          const log = readFileSync(join(folder, "log"), "utf8").split("\n").slice(-LOG_LINES);
          throw new Error(`the server is not ready: ${log.join("\n")}`);
        }
        if (!this.isRunning()) {
          await run(["sh", "-c", start]);
          await Bun.sleep(START_PAUSE_MS);
        }
        await Bun.sleep(PAUSE_MS);
      }
    },

    isReady: () =>
      fetch(`${url}/readyz`).then(
        ({ status }) => status === 200,
        () => false,
      ),

    isRunning(): boolean {
      try {
        process.kill(pid(), 0);
        return true;
      } catch {
        return false;
      }
    },

    pid,

    async stopServer(): Promise<void> {
      if (existsSync(join(folder, "pid")) && this.isRunning()) process.kill(pid(), "SIGTERM");
      while (existsSync(join(folder, "pid")) && this.isRunning()) await Bun.sleep(PAUSE_MS);
    },

    async version(): Promise<string> {
      const { stdout } = await run([executable, "version", "--json"]);
      return /"version":"([^"]+)"/.exec(stdout)?.[1] ?? stdout;
    },

    /** The number of these mails that the database has. */
    countStored(ids: readonly string[], file = join(data, "mailstead.db")): number {
      const sqlite = new Database(file, { readonly: true });
      const find = sqlite.query("SELECT 1 FROM emails WHERE id = ?");
      const found = ids.filter((id) => find.get(id) !== null).length;
      sqlite.close();
      return found;
    },

    migrations(): number {
      const sqlite = new Database(join(data, "mailstead.db"), { readonly: true });
      const row = sqlite.query<{ n: number }, []>("SELECT COUNT(*) AS n FROM migrations").get();
      sqlite.close();
      return row?.n ?? 0;
    },
  };
}

/** Sends mails one after the other until it is stopped, and remembers those that were answered. */
export function startSender({ key }: Pick<Installation, "key">, url: string) {
  const answered: string[] = [];
  const stopping = new AbortController();
  const ended = loop();

  async function loop(): Promise<void> {
    for (let n = 0; !stopping.signal.aborted; n++) {
      const mail = {
        to: `r${n}@customer.example`,
        from: "shop@shop.example",
        subject: "s",
        body: "b",
      };
      try {
        const response = await fetch(`${url}/v1/send`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify(mail),
        });
        const body: unknown = await response.json();
        if (response.status === 200) {
          answered.push(...Value.Decode(Accepted, body).data.emails.map(({ email }) => email));
        } else await Bun.sleep(PAUSE_MS);
      } catch {
        await Bun.sleep(PAUSE_MS); // The server is away, and nothing was answered.
      }
    }
  }

  return {
    answered,
    async stop(): Promise<void> {
      stopping.abort();
      await ended;
    },
  };
}

export type Ran = { code: number; stdout: string; stderr: string };

export async function run(words: readonly string[]): Promise<Ran> {
  const child = start(words);
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, stdout, stderr };
}

/** Starts a program without the settings of this process. */
export function start(words: readonly string[]) {
  const env = Object.entries(process.env).filter(([name]) => !name.startsWith("MAILSTEAD_"));
  return Bun.spawn([...words], {
    env: Object.fromEntries(env),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

export function freePort(): number {
  const probe = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const { port } = probe;
  void probe.stop(true);
  if (port === undefined) throw new Error("no free port");
  return port;
}
