/**
 * The drawer of a source of reports: the reports that arrived, the steps at its provider, its key, the
 * test of its URL.
 */

import type { ReportSource } from "../../../modules/relay-reports/model.ts";
import { Field, Fields } from "../../ui/fields.tsx";
import { withEnd } from "../../ui/sentence.ts";
import { exactTime, Time } from "../../ui/time.tsx";
import { SourceStatus } from "./columns.tsx";
import { GUIDES } from "./guides.tsx";
import { SigningKey, Steps, UrlTest } from "./set-up.tsx";

const number = new Intl.NumberFormat();

export function ReportSourceView({ source }: { source: ReportSource }) {
  const { provider, received, counted, unknown, lastReceivedAt, refusedAt, refusal } = source;
  return (
    <>
      <div className="section">
        <Fields>
          <Field label="State">
            <SourceStatus {...source} />
          </Field>
          <Field label="Provider">{GUIDES[provider].name}</Field>
          <Field label="Last report">
            {lastReceivedAt === null ? "Never" : <Time at={lastReceivedAt} />}
          </Field>
          <Field label="Reports">
            {number.format(received)} received, {number.format(counted)} counted,{" "}
            {number.format(unknown)} unknown
            <div className="muted small">
              Counted reports changed something here. Unknown ones are about mail that this project
              did not send.
            </div>
          </Field>
          {refusal !== null && refusedAt !== null && (
            <Field label="Refused">
              {withEnd(refusal)}
              <div className="muted small">{exactTime(new Date(refusedAt))}</div>
            </Field>
          )}
          {source.topicArn !== null && (
            <Field label="SNS topic">
              <code>{source.topicArn}</code>
            </Field>
          )}
        </Fields>
      </div>
      <div className="section">
        <Steps source={source} />
      </div>
      {GUIDES[provider].key !== null && (
        <div className="section">
          <SigningKey source={source} />
        </div>
      )}
      <div className="section">
        <UrlTest source={source} />
      </div>
    </>
  );
}
