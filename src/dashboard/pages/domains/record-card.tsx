import "./styles.ts";
import { Copy, CopyText } from "../../ui/copy.tsx";
import { Status } from "../../ui/status.tsx";
import { differenceOf } from "./difference.ts";
import { type DnsRecord, verdictOf } from "./record-texts.ts";

/** One DNS record to publish: type, host and value with buttons, and what the DNS has instead. */
export function RecordCard({ record }: { record: DnsRecord }) {
  const { type, name, host, value, note, found, status } = record;
  const { tone, word } = verdictOf(record);
  return (
    <div className="record">
      <div className="record-head">
        <Status tone={tone}>{word}</Status>
        <span className="muted small">{note}</span>
      </div>
      <dl className="record-fields">
        <div>
          <dt>Type</dt>
          <dd>
            <code>{type}</code>
          </dd>
        </div>
        <div>
          <dt>Host</dt>
          <dd>
            <CopyText value={host} label={`Copy the host ${host}`} />
            {host !== name && <span className="muted small record-name">{name}</span>}
          </dd>
        </div>
        {value !== "" && (
          <div>
            <dt>Value</dt>
            <dd className="record-value">
              <code>{value}</code>
              <Copy value={value} label={`Copy the value of ${name}`} />
            </dd>
          </div>
        )}
        {status === "MISMATCH" && (
          <div>
            <dt>Found</dt>
            <dd>
              {found.map((text) => (
                <Found key={text} text={text} expected={value} />
              ))}
              {value !== "" && (
                <p className="small record-advice">
                  Replace the record at your DNS provider by the value above; do not add a second
                  one.
                </p>
              )}
            </dd>
          </div>
        )}
      </dl>
    </div>
  );
}

/** A record in the DNS; the part that differs from the expected value is marked. */
function Found({ text, expected }: { text: string; expected: string }) {
  const { before, middle, after } = differenceOf(text, expected);
  return (
    <code className="record-found">
      {before}
      {middle === "" ? null : <mark>{middle}</mark>}
      {after}
    </code>
  );
}
