/** Verifies the DKIM signatures of many messages with two programs that share no code with ours. */

import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { dkimVerify } from "mailauth/lib/dkim/verify";
import { parse } from "../bench/children.ts";
import { DKIMPY, findPackage, libraryPath, run } from "../interop/packages.ts";

/** `reason` says why the verifier is missing. */
export type Verified =
  | { ok: true; verifier: string; valid: number; faults: string[] }
  | { ok: false; verifier: string; reason: string };

type Records = ReadonlyMap<string, string>;

/** The verdicts of a message with both signatures, in any order. */
const BOTH_PASS = "ed25519-sha256 pass, rsa-sha256 pass";

export async function verifyWithMailauth(
  messages: readonly Uint8Array[],
  records: Records,
): Promise<Verified> {
  const verdicts: string[][] = [];
  for (const message of messages) {
    const { results } = await dkimVerify(Buffer.from(message), {
      resolver: async (name) => {
        const record = records.get(name);
        return record === undefined ? [] : [[record]];
      },
    });
    verdicts.push(results.map(({ algo, status }) => `${algo} ${status.result}`));
  }
  return summary("mailauth", verdicts);
}

/** Fetches dkimpy into `folder` if it is not installed. */
export async function verifyWithDkimpy(
  messages: readonly Uint8Array[],
  records: Records,
  folder: string,
): Promise<Verified> {
  const verifier = "dkimpy";
  if (Bun.which("python3") === null) return { ok: false, verifier, reason: "python3 is missing" };
  const found = await findPackage(folder, DKIMPY.packages, DKIMPY.probe);
  if (!found.ok) return { ok: false, verifier, reason: found.reason };
  const packages = found.root === "" ? "" : `${found.root}/usr/lib/python3/dist-packages`;
  const asked = {
    records: Object.fromEntries(records),
    messages: messages.map((message) => Buffer.from(message).toString("base64")),
  };
  const result = await run(["python3", join(import.meta.dir, "verify.py")], {
    env: { PYTHONPATH: packages, LD_LIBRARY_PATH: libraryPath(found.root) },
    stdin: Buffer.from(JSON.stringify(asked)),
  });
  if (result.code !== 0) return { ok: false, verifier, reason: result.err };
  return summary(verifier, parse(Type.Array(Type.Array(Type.String())), JSON.parse(result.out)));
}

function summary(verifier: string, verdicts: readonly (readonly string[])[]): Verified {
  const all = verdicts.map((each) => each.toSorted().join(", "));
  const faults = all.filter((text) => text !== BOTH_PASS);
  return { ok: true, verifier, valid: all.length - faults.length, faults };
}
