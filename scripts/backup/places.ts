/** Places of backups for the proofs: a folder, and a bucket of an S3 server on this machine. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { S3Client } from "bun";
import { temporaryFolder } from "../bench/children.ts";
import type { Place } from "./kills.ts";

const PHASES = ["copy", "encrypt", "verify", "check", "publish", "remove"] as const;

export function folderPlace(): Place {
  const target = join(temporaryFolder(), "backups");
  return {
    target,
    env: {},
    phases: PHASES,
    leftovers: async () =>
      readdirSync(target, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name)),
    async flip(path, at) {
      const file = join(target, path);
      const change = () => {
        const bytes = readFileSync(file);
        bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
        writeFileSync(file, bytes);
      };
      change();
      return async () => change();
    },
  };
}

export type S3Service = {
  endpoint: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** The ids of uploads that have not ended. */
  unfinished: () => Promise<string[]>;
};

export function bucketPlace(service: S3Service, prefix: string): Place {
  const { endpoint, bucket, accessKeyId, secretAccessKey } = service;
  const client = new S3Client({ endpoint, bucket, accessKeyId, secretAccessKey });
  return {
    target: `s3://${bucket}/${prefix}`,
    env: {
      MAILSTEAD_S3_ENDPOINT: endpoint,
      MAILSTEAD_S3_ACCESS_KEY_ID: accessKeyId,
      MAILSTEAD_S3_SECRET_ACCESS_KEY: secretAccessKey,
    },
    phases: [...PHASES.slice(0, 3), "upload", ...PHASES.slice(3)],
    async leftovers() {
      const { contents = [] } = await client.list({ prefix: `${prefix}/` });
      return [...contents.map(({ key }) => key), ...(await service.unfinished())];
    },
    async flip(path, at) {
      const file = client.file(`${prefix}/${path}`);
      const change = async () => {
        const bytes = Buffer.from(await file.arrayBuffer());
        bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
        await file.write(bytes);
      };
      await change();
      return change;
    },
  };
}
