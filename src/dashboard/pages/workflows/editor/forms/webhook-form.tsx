/** A request to another server: its method and URL, its header fields and its body. */

import { ActionIcon, Button, Select, Textarea, TextInput } from "@mantine/core";
import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { isRecord } from "../../../../ui/is-record.ts";
import { bodyValue } from "../body-value.ts";
import { type FormProps, textAt, withMember } from "./form-props.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

export function WebhookForm(props: FormProps) {
  const { step, fault, onChange } = props;
  const { config } = step;
  return (
    <>
      <Select
        label="Method"
        data={METHODS}
        value={textAt(config, "method")}
        allowDeselect={false}
        error={fault("config.method")}
        onChange={(method) => method !== null && onChange({ ...config, method })}
      />
      <TextInput
        label="URL"
        description="It may hold Liquid, such as https://crm.example/leads/{{ id }}."
        placeholder="https://crm.example/leads"
        spellCheck={false}
        autoComplete="off"
        value={textAt(config, "url")}
        error={fault("config.url")}
        onChange={({ currentTarget }) => onChange({ ...config, url: currentTarget.value })}
      />
      <Headers {...props} />
      <Body {...props} />
      <p className="muted small">
        It may be called twice if the server stops during the call. A JSON answer is{" "}
        <code>context.webhook</code> in later steps.
      </p>
    </>
  );
}

type Header = { name: string; value: string };

function Headers({ step, fault, onChange }: FormProps) {
  const { config } = step;
  // A row without a name, or with the name of another, has no place in the settings.
  const [rows, setRows] = useState<readonly Header[]>(() =>
    Object.entries(isRecord(config["headers"]) ? config["headers"] : {}).map(([name, value]) => ({
      name,
      value: String(value),
    })),
  );
  function change(next: readonly Header[]): void {
    setRows(next);
    const named = next.filter(({ name }) => name.trim() !== "");
    const headers = Object.fromEntries(named.map(({ name, value }) => [name.trim(), value]));
    onChange(withMember(config, "headers", named.length === 0 ? undefined : headers));
  }
  const replace = (i: number, part: Partial<Header>) =>
    change(rows.map((row, k) => (k === i ? { ...row, ...part } : row)));
  return (
    <fieldset className="split-form">
      <legend>Header fields</legend>
      {rows.map(({ name, value }, i) => (
        <div key={i} className="split-row">
          <TextInput
            aria-label={`Name of header ${i + 1}`}
            placeholder="Authorization"
            className="grow"
            spellCheck={false}
            value={name}
            onChange={({ currentTarget }) => replace(i, { name: currentTarget.value })}
          />
          <TextInput
            aria-label={`Value of header ${i + 1}`}
            className="grow"
            spellCheck={false}
            autoComplete="off"
            value={value}
            onChange={({ currentTarget }) => replace(i, { value: currentTarget.value })}
          />
          <ActionIcon
            aria-label={`Remove header ${i + 1}`}
            onClick={() => change(rows.filter((_, k) => k !== i))}
          >
            <Trash2 size={15} aria-hidden />
          </ActionIcon>
        </div>
      ))}
      {fault("config.headers") !== undefined && (
        <p className="field-fault" role="alert">
          {fault("config.headers")}
        </p>
      )}
      <Button
        size="compact-sm"
        variant="subtle"
        leftSection={<Plus size={14} aria-hidden />}
        onClick={() => setRows([...rows, { name: "", value: "" }])}
      >
        Add a header field
      </Button>
    </fieldset>
  );
}

function Body({ step, fault, onChange }: FormProps) {
  const { config } = step;
  const body = config["body"] ?? null;
  const [text, setText] = useState(() =>
    body === null ? "" : typeof body === "string" ? body : JSON.stringify(body, null, 2),
  );
  function change(next: string): void {
    setText(next);
    onChange(withMember(config, "body", next.trim() === "" ? undefined : bodyValue(next)));
  }
  return (
    <Textarea
      label="Body"
      description="JSON whose strings may hold Liquid, or a text. Empty: the execution, the contact and the event."
      className="code-field"
      autosize
      minRows={3}
      maxRows={16}
      spellCheck={false}
      value={text}
      error={fault("config.body")}
      onChange={({ currentTarget }) => change(currentTarget.value)}
    />
  );
}
