/**
 * Finds the policy of DMARC that the domain of From publishes. It needs only the domains of the
 * author (protocols/mime/from-field.ts), and look-ups of its own, so nothing else in a message can
 * prevent it.
 */

type Resolver = (name: string, type: string) => Promise<string[] | string[][]>;

/** `none` if the domain has no record, `unknown` if the look-up failed. */
export type DmarcPolicy = "none" | "quarantine" | "reject" | "unknown";
const FROM_MILD_TO_STRICT: readonly DmarcPolicy[] = ["none", "quarantine", "unknown", "reject"];

/** The header section of a message, without its empty line; all of the text if it has none. */
export function headerOf(head: Uint8Array): string {
  const text = Buffer.from(head).toString("latin1");
  if (/^\r?\n/.test(text)) return "";
  return text.slice(0, /\r?\n\r?\n/.exec(text)?.index);
}

/** The result of DMARC for one domain; `policy` is `none` if SPF or a signature passed for it. */
export type DmarcResult = { result: string; domain: string; info: string; policy: DmarcPolicy };

/**
 * Evaluates DMARC for each of the domains and returns the result with the strictest policy, so that a
 * second address does not evade the policy of the first one; null without a domain. `spfDomain` is
 * the domain for which SPF passed, or null.
 */
export async function evaluateDmarc(
  domains: readonly string[],
  passed: { spfDomain: string | null; dkimDomains: readonly string[] },
  resolver: Resolver,
): Promise<DmarcResult | null> {
  const { dmarc } = await import("mailauth/lib/dmarc");
  const { spfDomain, dkimDomains } = passed;

  async function evaluate(domain: string): Promise<DmarcResult> {
    const found = await dmarc({
      headerFrom: [`author@${domain}`],
      fromFields: 1,
      spfDomains: spfDomain === null ? [] : [spfDomain],
      dkimDomains: dkimDomains.map((each) => ({ domain: each })),
      resolver,
    });
    if (found === false) return { result: "none", domain, info: "", policy: "none" };
    const { status, p } = found;
    const { result } = status;
    return { result, domain: found.domain, info: infoOfPolicy(p), policy: policyOf(found) };
  }

  const results = await Promise.all(domains.map(evaluate));
  const [strictest = null] = results.toSorted((a, b) => strictness(b) - strictness(a));
  return strictest;
}

/** If two results have the same policy, a result other than `pass` comes first. */
function strictness({ policy, result }: DmarcResult): number {
  return 2 * FROM_MILD_TO_STRICT.indexOf(policy) + (result === "pass" ? 0 : 1);
}

function policyOf({
  status,
  policy,
}: {
  status: { result: string };
  policy?: string;
}): DmarcPolicy {
  if (status.result === "pass") return "none";
  if (policy === "reject" || policy === "quarantine") return policy;
  return status.result === "temperror" ? "unknown" : "none";
}

/** Without a record, the package leaves the policy out, against its types. */
function infoOfPolicy(published: unknown): string {
  return typeof published === "string" && published !== "" ? `p=${published}` : "";
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
