import { ShieldCheck } from "lucide-react";
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
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </Body>
  );
}

const isSigned = (signed: readonly string[], name: string) => signed.includes(name.toLowerCase());
