/** One word about whether a mail is from the domain of its sender. */

import type { ReceivedMail } from "../../../modules/inbound-routes/model.ts";
import type { Tone } from "../../ui/status.tsx";

type Authentication = ReceivedMail["authentication"];

/** `details` has the results of all checks, such as "SPF pass, DKIM none, DMARC pass". */
export type SenderVerdict = { tone: Tone; word: string; details: string };

/** DMARC decides. For a domain without a policy, a signature counts more than the server (SPF). */
export function senderVerdict(authentication: Authentication): SenderVerdict {
  if (authentication === null) return { tone: "waiting", word: "Not checked", details: "" };
  const { spf, dkim, dmarc } = authentication;
  const hasSignature = dkim.some(({ result }) => result === "pass");
  const signature = hasSignature ? "pass" : (dkim[0]?.result ?? "none");
  const details = `SPF ${spf.result}, DKIM ${signature}, DMARC ${dmarc.result}`;
  if (dmarc.result === "pass") return { tone: "good", word: "Verified", details };
  if (dmarc.result === "fail") return { tone: "failed", word: "Fails DMARC", details };
  if (hasSignature) return { tone: "good", word: "Signed", details };
  if (spf.result === "pass") return { tone: "good", word: "SPF passes", details };
  if (spf.result === "fail") return { tone: "failed", word: "Fails SPF", details };
  if (dmarc.result === "temperror" || spf.result === "temperror") {
    return { tone: "held", word: "DNS failed", details };
  }
  return { tone: "waiting", word: "Not verified", details };
}
