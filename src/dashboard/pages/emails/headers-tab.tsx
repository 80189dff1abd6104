import { ShieldCheck } from "lucide-react";
import { useState } from "react";
import { Body } from "./body.tsx";
import { useContent } from "./use-email.ts";

/** The header fields in their order, with a mark at those that DKIM signs. */
export function HeadersTab({ id }: { id: string }) {
  return (
    <Body query={useContent(id)}>
      {({ headers, signedHeaders }) => (
        <>
          <p className="muted small email-hint">
            {signedHeaders.length === 0
              ? "No DKIM signature: the domain of the sender has no verified key."
              : `DKIM signs the ${headers.filter(([name]) => isSigned(signedHeaders, name)).length} marked headers, so a change on the way is noticed.`}
          </p>
          <dl className="headers">
            {headers.map(([name, value], i) => (
              <div key={`${i} ${name}`} data-signed={isSigned(signedHeaders, name) || undefined}>
                <dt>
                  {name}
                  {isSigned(signedHeaders, name) && (
                    <span className="signed">
                      <ShieldCheck size={13} aria-hidden /> signed
                    </span>
                  )}
                </dt>
                <dd>
                  <Value text={value} />
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </Body>
  );
}

const isSigned = (signed: readonly string[], name: string) => signed.includes(name.toLowerCase());

/** Characters of a value that are shown at first, because signatures are long. */
const SHOWN = 160;

function Value({ text }: { text: string }) {
  const [isWhole, setIsWhole] = useState(text.length <= SHOWN);
  if (isWhole) return text;
  return (
    <>
      {text.slice(0, SHOWN)}…{" "}
      <button type="button" className="more-button" onClick={() => setIsWhole(true)}>
        Show all
      </button>
    </>
  );
}
