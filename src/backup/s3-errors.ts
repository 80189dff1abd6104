/** Says what an error of the S3 client means, and what to do about it. */

import { BackupError } from "./refusal.ts";

type Place = { endpoint: string; bucket: string; region: string };

const KEY_FIX =
  "Correct --s3-access-key-id and its secret, or let this key list, read, write and delete in the bucket.";
const NETWORK_FIX = "Look at --s3-endpoint, at the network and at the state of the service.";

/** By the code of the service or of the connection. */
const ERRORS: Readonly<Record<string, (place: Place) => readonly [message: string, fix: string]>> =
  {
    NoSuchBucket: ({ endpoint, bucket }) => [
      `There is no bucket ${bucket} at ${endpoint}.`,
      "Create it, or correct the name of the bucket or --s3-endpoint.",
    ],
    NoSuchKey: ({ bucket }) => [
      `The bucket ${bucket} has no such backup.`,
      "mailstead backup list shows those that are there. If it shows none, look at --s3-endpoint as well.",
    ],
    AccessDenied: ({ bucket }) => [`Access to the bucket ${bucket} was denied.`, KEY_FIX],
    InvalidAccessKeyId: ({ endpoint }) => [`${endpoint} does not know the access key.`, KEY_FIX],
    SignatureDoesNotMatch: ({ endpoint }) => [
      `${endpoint} refuses the signature, so the secret of the access key is wrong.`,
      KEY_FIX,
    ],
    AuthorizationHeaderMalformed: ({ endpoint, region }) => [
      `${endpoint} refuses the region ${region}.`,
      "Set --s3-region to that of the bucket.",
    ],
    PermanentRedirect: ({ bucket, endpoint }) => [
      `The bucket ${bucket} is not at ${endpoint}.`,
      "Set --s3-region to that of the bucket, or correct --s3-endpoint.",
    ],
    RequestTimeTooSkewed: ({ endpoint }) => [
      `The clock of this machine differs from that of ${endpoint}.`,
      "Set the clock, for example with timedatectl set-ntp true.",
    ],
    ConnectionRefused: ({ endpoint }) => [`${endpoint} refuses connections.`, NETWORK_FIX],
    ConnectionClosed: ({ endpoint }) => [`${endpoint} closed the connection.`, NETWORK_FIX],
    ConnectionReset: ({ endpoint }) => [`${endpoint} closed the connection.`, NETWORK_FIX],
    ECONNRESET: ({ endpoint }) => [`${endpoint} closed the connection.`, NETWORK_FIX],
    DNSResolveFailed: ({ endpoint }) => [`The name in ${endpoint} has no address.`, NETWORK_FIX],
    FailedToOpenSocket: ({ endpoint }) => [`${endpoint} cannot be reached.`, NETWORK_FIX],
    Timeout: ({ endpoint }) => [`${endpoint} did not answer in time.`, NETWORK_FIX],
  };

export function explainS3Error(error: unknown, place: Place): unknown {
  if (error instanceof BackupError || !(error instanceof Error)) return error;
  const code = "code" in error ? String(error.code) : error.name;
  const [message, fix] = ERRORS[code]?.(place) ?? [
    `${place.endpoint} failed: ${error.message} (${code}).`,
    NETWORK_FIX,
  ];
  return new BackupError(message, fix, error);
}
