/**
 * Helper, the baseline of `deliver-direct`: signs and does nothing else, a round for each line of its
 * input. Says `{seconds, processorMs}` after each.
 */

import { Type } from "@sinclair/typebox";
import { type SigningKey, signMessage } from "../../src/mail/dkim.ts";
import { generateDkimKeys, readPrivateKey } from "../../src/mail/dkim-keys.ts";
import { parse } from "./children.ts";
import { SENDER_DOMAIN } from "./mail.ts";
import { composeMail } from "./message.ts";

const Settings = Type.Object({ mails: Type.Number(), atOnce: Type.Number() });

const { mails, atOnce } = parse(Settings, JSON.parse(Bun.argv[2] ?? "{}"));
const pairs = await generateDkimKeys();
const keys: SigningKey[] = pairs.map(({ algorithm, privateKey }) => ({
  algorithm,
  selector: algorithm,
  privateKey: readPrivateKey(privateKey),
}));
const signer = { domain: SENDER_DOMAIN, keys };
const message = composeMail("person@example.net");
let left = 0;

async function work(): Promise<void> {
  while (left-- > 0) await signMessage(message, signer, new Date());
}

for await (const _ of console) {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  left = mails;
  await Promise.all(Array.from({ length: atOnce }, work));
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(before);
  console.log(JSON.stringify({ seconds, processorMs: (user + system) / 1000 }));
}
