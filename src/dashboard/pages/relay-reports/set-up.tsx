/**
 * The set-up of a source: the steps at the provider, the key of its signatures, the test of the URL.
 */

import { Button, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ReportSource, ReportSourceTest } from "../../../modules/relay-reports/model.ts";
import { api } from "../../api.ts";
import { Problem } from "../../ui/problem.tsx";
import { withEnd } from "../../ui/sentence.ts";
import { useApiForm } from "../../ui/use-api-form.ts";
import { GUIDES } from "./guides.tsx";

export const sourcePath = (id: string): string => `/report-sources/${encodeURIComponent(id)}`;

export function Steps({ source }: { source: ReportSource }) {
  const { name, steps, note } = GUIDES[source.provider];
  return (
    <section>
      <h3>At {name}</h3>
      <ol className="report-steps">
        {steps.map((step, i) => (
          <li key={i}>{step}</li>
        ))}
      </ol>
      {note !== null && <p className="muted small report-note">{note}</p>}
    </section>
  );
}

/** Nothing for a provider without a key. */
export function SigningKey({ source }: { source: ReportSource }) {
  const client = useQueryClient();
  const [isSet, setIsSet] = useState(false);
  const form = useApiForm({
    initial: { signingKey: "" },
    submit: (values) => api.patch<ReportSource>(sourcePath(source.id), values),
    async onDone() {
      form.form.reset();
      setIsSet(true);
      await client.invalidateQueries({ queryKey: ["report-sources"] });
    },
  });
  const { key } = GUIDES[source.provider];
  if (key === null) return null;
  const { noun, ...texts } = key;
  const isMissing = source.needsSigningKey && !isSet;
  return (
    <form onSubmit={form.onSubmit} onChange={() => setIsSet(false)}>
      <FieldWithButton
        {...texts}
        action={`${isMissing ? "Set" : "Replace"} the ${noun}`}
        isBusy={form.isBusy}
        field={form.field("signingKey")}
      />
      {form.error !== null && <Problem error={form.error} />}
      <p className="report-result" role="status">
        {isMissing && (
          <span className="muted small">Reports are refused until the {noun} is set.</span>
        )}
        {isSet && (
          <span data-tone="good">The {noun} is set. The next report is checked with it.</span>
        )}
      </p>
    </form>
  );
}

/** Tests whether the URL leads here. Without `url`, which is shown only once, it is entered. */
export function UrlTest({ source, url }: { source: ReportSource; url?: string }) {
  const [result, setResult] = useState<ReportSourceTest | null>(null);
  const form = useApiForm({
    initial: { url: url ?? "" },
    submit: (values) => api.post<ReportSourceTest>(`${sourcePath(source.id)}/test`, values),
    onDone: setResult,
  });
  return (
    <form onSubmit={form.onSubmit} onChange={() => setResult(null)}>
      {url === undefined ? (
        <FieldWithButton
          label="URL"
          description={`The one that you entered at ${GUIDES[source.provider].name}. It was shown when the source was created.`}
          placeholder="https://…/v1/relay-reports/rr_…"
          action="Test the URL"
          isBusy={form.isBusy}
          field={form.field("url")}
        />
      ) : (
        <div className="report-test">
          <Button type="submit" variant="default" loading={form.isBusy}>
            Test the URL
          </Button>
          <span className="muted small">Requests it over the internet, as the provider does.</span>
        </div>
      )}
      {form.error !== null && <Problem error={form.error} />}
      <p className="report-result" role="status">
        {result !== null && <TestResult {...result} />}
      </p>
    </form>
  );
}

function TestResult({ isReached, reason }: ReportSourceTest) {
  if (isReached) return <span data-tone="good">The URL leads to this source.</span>;
  return (
    <span data-tone="failed">
      {reason === null ? "The URL does not lead to this source." : withEnd(reason)}
    </span>
  );
}

function FieldWithButton(props: {
  label: string;
  description: string;
  placeholder: string;
  action: string;
  isBusy: boolean;
  field: object;
}) {
  const { label, description, placeholder, action, isBusy, field } = props;
  return (
    <TextInput
      label={label}
      description={description}
      placeholder={placeholder}
      required
      withAsterisk={false}
      autoComplete="off"
      spellCheck={false}
      inputContainer={(input) => (
        <div className="report-field">
          <div className="grow">{input}</div>
          <Button type="submit" variant="default" loading={isBusy}>
            {action}
          </Button>
        </div>
      )}
      {...field}
    />
  );
}
