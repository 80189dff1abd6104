/**
 * Finds the policy of DMARC that the domain of From publishes. It needs only the fields From of a
 * message, and look-ups of its own, so nothing else in a message can prevent it.
 */

import { Readable } from "node:stream";

/** Longest fields From that are read: the package takes about a second for a MiB of addresses. */
const MAX_FROM_BYTES = 64 * 1024;

/** The addresses of From, as the package mailauth reads them. */
type Author = { headerFrom: string[]; fromFields: number };

type Resolver = (name: string, type: string) => Promise<string[] | string[][]>;

/** `unknown` if the look-up failed; `none` without a record, or without a single domain in From. */
export type DmarcPolicy = "none" | "quarantine" | "reject" | "unknown";

/** The header section of a message, without its empty line; all of the text if it has none. */
export function headerOf(head: Uint8Array): string {
  const text = Buffer.from(head).toString("latin1");
  if (/^\r?\n/.test(text)) return "";
  return text.slice(0, /\r?\n\r?\n/.exec(text)?.index);
}

function fromFieldsOf(header: string): string[] {
  return header.match(/^from[ \t]*:.*(?:\r?\n[ \t].*)*/gim) ?? [];
}

/** Whether the fields From are too long to be read. */
export function hasLongAuthor(header: string): boolean {
  return fromFieldsOf(header).reduce((sum, { length }) => sum + length, 0) > MAX_FROM_BYTES;
}

/** The package gets each field From in one line, because its time grows with the folded lines. */
export async function readAuthor(header: string): Promise<Author> {
  const { dkimVerify } = await import("mailauth/lib/dkim/verify");
  const fields = hasLongAuthor(header) ? [] : fromFieldsOf(header);
  const lines = fields.map((field) => `${field.replace(/\r?\n(?=[ \t])/g, "")}\r\n`);
  const section = Buffer.from(`${lines.join("")}\r\n`, "latin1");
  const { headerFrom, fromFields } = await dkimVerify(Readable.from([section]), {});
  return { headerFrom, fromFields };
}

/** `spfDomain`: the domain for which SPF passed, or null. */
export async function evaluateDmarc(
  author: Author,
  passed: { spfDomain: string | null; dkimDomains: readonly string[] },
  resolver: Resolver,
) {
  const { dmarc } = await import("mailauth/lib/dmarc");
  const { spfDomain, dkimDomains } = passed;
  return dmarc({
    headerFrom: author.headerFrom,
    fromFields: author.fromFields,
    spfDomains: spfDomain === null ? [] : [spfDomain],
    dkimDomains: dkimDomains.map((domain) => ({ domain })),
    resolver,
  });
}

export function policyOf(found: Awaited<ReturnType<typeof evaluateDmarc>>): DmarcPolicy {
  if (found === false) return "none";
  const { policy } = found;
  if (policy === "reject" || policy === "quarantine") return policy;
  return found.status.result === "temperror" ? "unknown" : "none";
}

/** Asks each question once: the policy and the result of DMARC need the same answers. */
export function remembering(resolver: Resolver): Resolver {
  const answers = new Map<string, ReturnType<Resolver>>();
  return (name, type) => {
    const key = `${type} ${name}`;
    const answer = answers.get(key) ?? resolver(name, type);
    answers.set(key, answer);
    return answer;
  };
}
