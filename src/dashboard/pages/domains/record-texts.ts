/** The DNS records of a domain in words for people who never set one. */

import type { Domain } from "../../../modules/domains/model.ts";

export type DnsRecord = Domain["records"][number];

/** The parts of the checklist in their order; each has one record or more. */
export const PARTS = [
  {
    purpose: "DKIM",
    title: "Sign your mail (DKIM)",
    text: "Mailstead signs each mail with a key that only this server has. With this record receivers check the signature, and see that the mail is yours and was not changed.",
  },
  {
    purpose: "SPF",
    title: "Name who may send for you (SPF)",
    text: "This record lists the servers that may send mail for your domain, so that receivers distrust others who use its name.",
  },
  {
    purpose: "DMARC",
    title: "Say what happens to forged mail (DMARC)",
    text: "This record tells receivers what to do with mail that claims to be from you and fails both checks above. Gmail and Yahoo require it of everyone who sends much mail.",
  },
  {
    purpose: "RETURN_PATH",
    title: "Get bounces back",
    text: "When a mail cannot be delivered, the receiver reports it to this host, so that Mailstead stops writing to the address.",
  },
] as const satisfies { purpose: DnsRecord["purpose"]; title: string; text: string }[];

type Verdict = { tone: "good" | "failed" | "held" | "waiting"; word: string };

/** A missing record that is not required is a recommendation, not a failure. */
export function verdictOf({ status, required }: Pick<DnsRecord, "status" | "required">): Verdict {
  if (status === "OK") return { tone: "good", word: "Found" };
  if (status === "PENDING") return { tone: "waiting", word: "Not checked yet" };
  if (status === "MISMATCH") return { tone: "failed", word: "Different value" };
  return { tone: required ? "failed" : "held", word: "Not found" };
}
