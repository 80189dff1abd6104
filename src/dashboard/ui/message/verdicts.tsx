/** The checks of the sender of a message, one line for each. */

import { Status, type Tone } from "../status.tsx";

type Verdict = { result: string; domain: string | null; info: string };
type Verdicts = { spf: Verdict; dkim: readonly Verdict[]; dmarc: Verdict; arc?: Verdict };

const TONES: Readonly<Record<string, Tone>> = {
  pass: "good",
  fail: "failed",
  permerror: "failed",
  softfail: "held",
  temperror: "held",
  policy: "held",
};

export function SenderVerdicts({ spf, dkim, dmarc, arc }: Verdicts) {
  const rows = [
    { name: "SPF", ...spf },
    ...dkim.map((each) => ({ name: "DKIM", ...each })),
    { name: "DMARC", ...dmarc },
    ...(arc === undefined ? [] : [{ name: "ARC", ...arc }]),
  ];
  return (
    <ul className="authentication">
      {rows.map(({ name, result, domain, info }, i) => (
        <li key={`${i} ${name}`}>
          <strong>{name}</strong>
          <Status tone={TONES[result] ?? "waiting"}>{result}</Status>
          <span className="muted">
            {[domain, info].filter((text) => text !== null && text !== "").join(": ")}
          </span>
        </li>
      ))}
    </ul>
  );
}
