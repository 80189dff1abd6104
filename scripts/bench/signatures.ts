/**
 * Helper, the baseline of `deliver-direct`: signs messages and does nothing else. It runs one round
 * for each line of its standard input and prints `{seconds, processorMs}` after it.
 */

import { Type } from "@sinclair/typebox";
import { type SigningKey, signMessage } from "../../src/protocols/dkim/sign.ts";
import { generateDkimKeys, readPrivateKey } from "../../src/protocols/dkim/keys.ts";
import { parse } from "./children.ts";
import { SENDER_DOMAIN } from "./mail.ts";
import { composeMail } from "./message.ts";

const Settings = Type.Object({ mails: Type.Number(), concurrency: Type.Number() });

const { mails, concurrency } = parse(Settings, JSON.parse(Bun.argv[2] ?? "{}"));
const pairs = await generateDkimKeys();
const keys: SigningKey[] = pairs.map(({ algorithm, privateKey }) => ({
  algorithm,
  selector: algorithm,
  privateKey: readPrivateKey(privateKey),
}));
const signer = { domain: SENDER_DOMAIN, keys };
const message = composeMail("person@example.net");
let remaining = 0;

async function signRemaining(): Promise<void> {
  while (remaining-- > 0) await signMessage(message, signer, new Date());
}

for await (const _ of console) {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  remaining = mails;
  await Promise.all(Array.from({ length: concurrency }, signRemaining));
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(before);
  console.log(JSON.stringify({ seconds, processorMs: (user + system) / 1000 }));
}
