/** Starts `moto` from PyPI, a server with the interface of S3 that checks signatures. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { freePort, ROOT } from "../bench/children.ts";
import type { S3Service } from "./places.ts";

const VERSION = "5.2.5";
const FOLDER = join(ROOT, ".bun", "tools", `moto-${VERSION}`);
const READY_LIMIT_MS = 60_000;
const POLL_MS = 100;
const BUCKET = "mailstead-backups";

export type Moto = S3Service & { stop(): void };

/** Null, with a message, if it cannot be installed here. */
export async function startMoto(): Promise<Moto | null> {
  if (!install()) return null;
  const port = freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const child = Bun.spawn(["python3", "-m", "moto.server", "-p", String(port)], {
    env: { PATH: process.env["PATH"] ?? "", PYTHONPATH: FOLDER },
    stdio: ["ignore", "ignore", "ignore"],
  });
  process.on("exit", () => child.kill("SIGKILL"));
  const deadline = performance.now() + READY_LIMIT_MS;
  while ((await fetch(endpoint).catch(() => null)) === null) {
    if (performance.now() > deadline) throw new Error("moto did not start");
    await Bun.sleep(POLL_MS);
  }
  await fetch(`${endpoint}/${BUCKET}`, { method: "PUT" });
  const keys = await createKey(endpoint);
  await checkKeys(endpoint, true);
  return {
    endpoint,
    bucket: BUCKET,
    ...keys,
    async unfinished() {
      await checkKeys(endpoint, false);
      const text = await (await fetch(`${endpoint}/${BUCKET}?uploads`)).text();
      await checkKeys(endpoint, true);
      return [...text.matchAll(/<UploadId>([^<]+)</g)].map(([, id = ""]) => id);
    },
    stop: () => child.kill("SIGTERM"),
  };
}

/** Whether requests need a known key and its signature. */
async function checkKeys(endpoint: string, isChecked: boolean): Promise<void> {
  const body = isChecked ? "0" : "inf";
  await fetch(`${endpoint}/moto-api/reset-auth`, { method: "POST", body });
}

/** Makes a user with a key that may use all of S3. */
async function createKey(endpoint: string) {
  const everything = { Effect: "Allow", Action: "s3:*", Resource: "*" };
  const PolicyDocument = JSON.stringify({ Version: "2012-10-17", Statement: [everything] });
  const ask = async (parameters: Record<string, string>): Promise<string> => {
    const response = await fetch(endpoint, {
      method: "POST",
      headers: {
        // It finds the service of a request by this field.
        authorization:
          "AWS4-HMAC-SHA256 Credential=setup/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=0",
      },
      body: new URLSearchParams({ Version: "2010-05-08", UserName: "backups", ...parameters }),
    });
    return response.text();
  };
  await ask({ Action: "CreateUser" });
  await ask({ Action: "PutUserPolicy", PolicyName: "s3", PolicyDocument });
  const made = await ask({ Action: "CreateAccessKey" });
  const value = (name: string) => new RegExp(`<${name}>([^<]+)<`).exec(made)?.[1] ?? "";
  return { accessKeyId: value("AccessKeyId"), secretAccessKey: value("SecretAccessKey") };
}

function install(): boolean {
  if (existsSync(join(FOLDER, "moto"))) return true;
  const words = ["-m", "pip", "install", "--quiet", "--target", FOLDER, `moto[server]==${VERSION}`];
  const { exitCode, stderr } = Bun.spawnSync(["python3", ...words]);
  if (exitCode === 0) return true;
  console.error(
    `moto ${VERSION} cannot be installed, so no bucket is proved: ${stderr.toString()}`,
  );
  return false;
}
