import type { StatsCounts } from "../../../modules/stats/model.ts";
import { Field, Fields } from "../../ui/fields.tsx";
import { countText, mailsThatLeft, shareText } from "./figures.ts";

/** The shares of bounces and complaints, by which mail providers judge a sender. */
export function Reputation({ totals }: { totals: StatsCounts }) {
  const left = mailsThatLeft(totals);
  const { bounced, complained } = totals;
  return (
    <section className="card" aria-labelledby="reputation">
      <h2 id="reputation">Reputation</h2>
      {left === 0 ? (
        <p className="muted small">No mail left in this period, so there are no rates.</p>
      ) : (
        <>
          <Fields>
            <Field label="Bounce rate">
              <Rate count={bounced} left={left} what="bounced" />
            </Field>
            <Field label="Complaint rate">
              <Rate count={complained} left={left} what="were reported as spam" />
            </Field>
          </Fields>
          <p className="muted small">
            Mail providers judge you by these rates. A campaign is paused when one of its own rates
            is above the limit of this installation.
          </p>
        </>
      )}
    </section>
  );
}

function Rate({ count, left, what }: { count: number; left: number; what: string }) {
  return (
    <>
      <strong className="figures">{shareText(count, left)}</strong>{" "}
      <span className="muted">
        {countText(count)} of {countText(left)} mails {what}
      </span>
    </>
  );
}
