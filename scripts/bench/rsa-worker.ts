/** Worker thread of rsa-workers.ts: makes as many signatures as a message asks for, and answers. */

import { createPrivateKey, sign } from "node:crypto";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

const Work = Type.Object({ privateKey: Type.String(), signatures: Type.Number() });
/** Size of the signed header fields of a mail. */
const DATA = Buffer.alloc(800, "Subject: Your order\r\n");

declare const self: Worker;

self.addEventListener("message", ({ data }: MessageEvent<unknown>) => {
  const { privateKey, signatures } = Value.Parse(Work, data);
  const key = createPrivateKey(privateKey);
  for (let i = 0; i < signatures; i++) sign("sha256", DATA, key);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A worker has no origin.
  self.postMessage("done");
});
