/** Checks of a message: the verdict of each, why it matters, where it is and how to fix it. */

import { CircleAlert, CircleCheck, TriangleAlert } from "lucide-react";
import type { EmailChecks } from "../../../modules/emails/content/model.ts";
import { Status } from "../status.tsx";
import { checkText, findPlaces } from "./check-texts.ts";

type Finding = EmailChecks["findings"][number];
type Verdict = Finding["status"];

const ORDER = ["ERROR", "WARNING", "OK"] as const satisfies Verdict[];
const VERDICTS = {
  ERROR: { tone: "failed", word: "Error", icon: CircleAlert },
  WARNING: { tone: "held", word: "Warning", icon: TriangleAlert },
  OK: { tone: "good", word: "Passed", icon: CircleCheck },
} as const;

export function Findings({ findings, html }: { findings: readonly Finding[]; html: string }) {
  const sorted = ORDER.flatMap((verdict) => findings.filter(({ status }) => status === verdict));
  const bad = findings.filter(({ status }) => status !== "OK").length;
  return (
    <section className="section">
      <h2 className="checks-title">Structure and headers</h2>
      <p className="muted email-hint">
        {bad === 0
          ? `All ${findings.length} checks passed.`
          : `${bad} of ${findings.length} checks need attention.`}
      </p>
      <FindingList findings={sorted} html={html} />
    </section>
  );
}

export function FindingList({ findings, html }: { findings: readonly Finding[]; html: string }) {
  return (
    <ul className="checks">
      {findings.map((finding) => (
        <FindingView key={finding.name} finding={finding} html={html} />
      ))}
    </ul>
  );
}

function FindingView({ finding, html }: { finding: Finding; html: string }) {
  const { name, status, message } = finding;
  const { title, why, where, fix } = checkText(name);
  const { tone, word, icon: Icon } = VERDICTS[status];
  const places = status === "OK" ? [] : findPlaces(name, html);
  return (
    <li className="check" data-tone={tone}>
      <Icon size={16} aria-label={word} className="check-icon" />
      <div className="check-body">
        <p>
          <strong>{title}</strong> <span className="muted">{message}</span>
        </p>
        {status !== "OK" && (
          <dl className="check-more">
            {why !== "" && <More label="Why">{why}</More>}
            <More label="Where">
              {where}
              {places.map(({ line, text }) => (
                <code key={line} className="check-place">
                  line {line}: {text}
                </code>
              ))}
            </More>
            {fix !== "" && <More label="Fix">{fix}</More>}
          </dl>
        )}
      </div>
    </li>
  );
}

function More({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Support of the HTML and CSS by mail programs. */
export function Support({ support, features }: Pick<EmailChecks, "support" | "features">) {
  return (
    <section className="section">
      <h2 className="checks-title">Support by mail programs</h2>
      <p className="muted email-hint">{supportText(support)}</p>
      {features.length > 0 && (
        <ul className="checks">
          {features.map(({ slug, title, url, uses, supported, unsupportedBy }) => (
            <li key={slug} className="check">
              <span className="feature-share figures">{percent(supported)}</span>
              <div className="check-body">
                <p>
                  <a href={url} target="_blank" rel="noreferrer">
                    {title}
                  </a>{" "}
                  <span className="muted">{uses === 1 ? "one use" : `${uses} uses`}</span>
                </p>
                {unsupportedBy.length > 0 && (
                  <p className="muted small">
                    Not in {unsupportedBy.slice(0, 6).join(", ")}
                    {unsupportedBy.length > 6 ? ` and ${unsupportedBy.length - 6} more` : ""}.
                  </p>
                )}
              </div>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** The share is a mean over the uses of features: a single program may lack several of them. */
function supportText({ supported, partial }: EmailChecks["support"]): string {
  if (supported === 100) return "All mail programs support all that this email uses.";
  return (
    `On average, a feature that this email uses is supported by ${percent(supported)} of mail programs` +
    `${partial > 0 ? `, and in part by ${percent(partial)}` : ""}. Programs that lack one are named below.`
  );
}

const percent = (share: number) => `${Math.round(share)} %`;

/** The links of a message with the answers of their servers. */
export function LinkAnswers({ links }: { links: NonNullable<EmailChecks["links"]> }) {
  return (
    <ul className="links">
      {links.map(({ url, status, error }) => (
        <li key={url}>
          <Status tone={status !== null && status < 400 ? "good" : "failed"}>
            {status ?? "No response"}
          </Status>
          <span className="link-url">{url}</span>
          {error !== null && <span className="muted small">{error}</span>}
        </li>
      ))}
    </ul>
  );
}
