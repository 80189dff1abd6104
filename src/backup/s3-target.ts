/**
 * A prefix in an S3 bucket as the place of the backups, with the client of the runtime. It streams in
 * parts with bounded memory and tries each part again. Three things it does not do are done here: it
 * waits for ever for a server that does not answer, its errors do not name the server, and it cannot
 * find uploads that a killed process has left (s3-unfinished.ts).
 */

import { S3Client, type S3ListObjectsResponse } from "bun";
import type { Clock } from "../lib/clock.ts";
import type { S3Location } from "../lib/s3-location.ts";
import { explainS3Error } from "./s3-errors.ts";
import { removeUnfinishedUploads } from "./s3-unfinished.ts";
import { BackupError } from "./refusal.ts";
import type { BackupTarget } from "./target.ts";

export type S3Access = {
  /** URL of the service; null means that of AWS. */
  endpoint: string | null;
  region: string;
  accessKeyId: string | null;
  secretAccessKey: string | null;
  clock: Clock;
};

const MIB = 1024 * 1024;
const PART_BYTES = 8 * MIB;
/** An upload has at most 10,000 parts. */
const MAX_PARTS = 9_000;
const TRIES_OF_PART = 4;
/** Longest time for one step: an answer, or a part of an upload. */
const STEP_LIMIT_MS = 5 * 60_000;
/** Pages of 1,000 names. */
const MAX_PAGES = 20;

export function s3Target(
  name: string,
  { bucket, prefix }: S3Location,
  access: S3Access,
): BackupTarget {
  const { accessKeyId, secretAccessKey, region, clock } = access;
  if (accessKeyId === null || secretAccessKey === null) {
    throw new BackupError(
      `${name} needs the access key of the bucket.`,
      "Set --s3-access-key-id, and MAILSTEAD_S3_SECRET_ACCESS_KEY or MAILSTEAD_S3_SECRET_ACCESS_KEY_FILE.",
    );
  }
  const endpoint = access.endpoint ?? `https://s3.${region}.amazonaws.com`;
  const service = { endpoint, bucket, region, accessKeyId, secretAccessKey };
  const client = new S3Client(service);
  const key = (path: string) => (prefix === "" ? path : `${prefix}/${path}`);
  const step = limitSteps(clock, service);

  return {
    name,
    folder: null,

    async list(start) {
      const objects = await listObjects(name, (token) =>
        step(client.list({ prefix: key(start), ...(token && { continuationToken: token }) })),
      );
      return objects.map((object) => ({
        path: prefix === "" ? object.key : object.key.slice(prefix.length + 1),
        bytes: object.size ?? 0,
      }));
    },

    read: (path) => readStream(client.file(key(path)).stream(), step),

    /** An error leaves an unfinished upload: the method `end` of the client would complete it. */
    async write(path, pieces, bytes) {
      const partSize = Math.max(PART_BYTES, Math.ceil(bytes / MAX_PARTS / MIB) * MIB);
      const options = { partSize, queueSize: 1, retry: TRIES_OF_PART - 1 };
      const writer = client.file(key(path)).writer(options);
      for await (const piece of pieces) {
        await step(writer.write(piece));
        await step(writer.flush());
      }
      await step(writer.end());
    },

    async remove(path) {
      await step(client.delete(key(path)));
    },

    async removeUnfinished(start) {
      await step(removeUnfinishedUploads({ ...service, now: clock.now }, key(start)));
    },
  };
}

async function* readStream(
  stream: ReadableStream<Uint8Array>,
  step: ReturnType<typeof limitSteps>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { value, done } = await step(reader.read());
      if (done) return;
      yield value;
    }
  } finally {
    // A download that ends early is closed; one that failed is closed already.
    reader.cancel().catch(() => {});
  }
}

type Place = { endpoint: string; bucket: string; region: string };

/** Waits for a step, but not for ever. An error says which server it is about, and what to do. */
function limitSteps(clock: Clock, place: Place) {
  return async <T>(work: Promise<T> | T): Promise<T> => {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const cancel = clock.after(STEP_LIMIT_MS, () => reject(lateError(place.endpoint)));
    try {
      return await Promise.race([work, late]);
    } catch (error) {
      throw explainS3Error(error, place);
    } finally {
      cancel();
    }
  };
}

async function listObjects(
  name: string,
  readPage: (token: string | undefined) => Promise<S3ListObjectsResponse>,
) {
  const objects: NonNullable<S3ListObjectsResponse["contents"]> = [];
  let token: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { contents = [], isTruncated, nextContinuationToken } = await readPage(token);
    objects.push(...contents);
    token = nextContinuationToken;
    if (isTruncated !== true || token === undefined) return objects;
  }
  throw new BackupError(
    `${name} has more than ${MAX_PAGES * 1000} objects.`,
    "Use a prefix of its own for the backups.",
  );
}

const lateError = (endpoint: string): BackupError =>
  new BackupError(
    `${endpoint} did not answer within ${STEP_LIMIT_MS / 60_000} minutes.`,
    "Look at the network and at the state of the service, and run the backup again.",
  );
