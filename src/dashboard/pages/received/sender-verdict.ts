/** One word about whether a mail is from the domain of its sender. */

import type { ReceivedMail } from "../../../modules/inbound-routes/model.ts";
import type { Tone } from "../../ui/status.tsx";

type Authentication = ReceivedMail["authentication"];

/** `details` has the results of all checks, such as "SPF pass, DKIM none, DMARC pass". */
type SenderVerdict = { tone: Tone; word: string; meaning: string; details: string };

const VERDICTS = {
  unchecked: { tone: "waiting", word: "Not checked", meaning: "" },
  verified: {
    tone: "good",
    word: "Verified",
    meaning: "The domain in the address of the sender confirms this mail.",
  },
  failsDmarc: {
    tone: "failed",
    word: "Fails DMARC",
    meaning:
      "The domain in the address of the sender does not confirm this mail. It may be forged.",
  },
  signed: {
    tone: "good",
    word: "Signed",
    meaning:
      "A domain signed this mail. The domain of the sender has no policy to compare it with.",
  },
  passesSpf: {
    tone: "good",
    word: "SPF passes",
    meaning: "The server may send for the domain of the envelope. No domain signed this mail.",
  },
  failsSpf: {
    tone: "failed",
    word: "Fails SPF",
    meaning: "The server must not send for the domain of the envelope. The mail may be forged.",
  },
  unread: {
    tone: "held",
    word: "DNS failed",
    meaning: "The records of the domain could not be read when this mail arrived.",
  },
  unverified: {
    tone: "waiting",
    word: "Not verified",
    meaning: "Nothing shows that this mail is from the domain of its sender.",
  },
} as const satisfies Record<string, Omit<SenderVerdict, "details">>;

/** DMARC decides. For a domain without a policy, a signature counts more than the server (SPF). */
export function senderVerdict(authentication: Authentication): SenderVerdict {
  if (authentication === null) return { ...VERDICTS.unchecked, details: "" };
  const { spf, dkim, dmarc } = authentication;
  const hasSignature = dkim.some(({ result }) => result === "pass");
  const signature = hasSignature ? "pass" : (dkim[0]?.result ?? "none");
  const details = `SPF ${spf.result}, DKIM ${signature}, DMARC ${dmarc.result}`;
  return { ...VERDICTS[kindOf(spf.result, hasSignature, dmarc.result)], details };
}

function kindOf(spf: string, hasSignature: boolean, dmarc: string): keyof typeof VERDICTS {
  if (dmarc === "pass") return "verified";
  if (dmarc === "fail") return "failsDmarc";
  if (hasSignature) return "signed";
  if (spf === "pass") return "passesSpf";
  if (spf === "fail") return "failsSpf";
  return dmarc === "temperror" || spf === "temperror" ? "unread" : "unverified";
}
