/** The fields of the form of a relay, and the result of its test: for the server and for a project. */

import { PasswordInput, Select, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import href from "./relay-fields.css" with { type: "file" };
import { PORTS, readPastedUrl, type RelayValues } from "./relay-values.ts";
import { sentence } from "./sentence.ts";
import { loadStyles } from "./style-sheet.ts";
import type { useApiForm } from "./use-api-form.ts";

loadStyles(href);

const SECURITIES = [
  { value: "STARTTLS", label: "STARTTLS" },
  { value: "TLS", label: "TLS from the first byte" },
  { value: "NONE", label: "None" },
] as const;
const SIGNERS = [
  { value: "AUTO", label: "Automatic" },
  { value: "RELAY", label: "The relay signs" },
  { value: "SERVER", label: "This server signs" },
] as const;
/** The descriptions are below the fields, so that the fields of a row are side by side. */
const FIELD = { inputWrapperOrder: ["label", "input", "description", "error"] } satisfies {
  inputWrapperOrder: ("label" | "input" | "description" | "error")[];
};
const TEXT = { ...FIELD, autoComplete: "off", spellCheck: false } as const;

type Form = Pick<ReturnType<typeof useApiForm<RelayValues, unknown>>, "form" | "field" | "values">;

/** `keepsPassword` is true while an empty password means the stored one. */
export function RelayFields(props: { form: Form; keepsPassword: boolean }) {
  const { form, keepsPassword } = props;
  const { values } = form;

  function setHost(text: string): void {
    form.form.setValues(readPastedUrl(text) ?? { host: text });
  }

  function setSecurity(value: string | null): void {
    const security = SECURITIES.find((each) => each.value === value)?.value ?? "STARTTLS";
    const isUsualPort = Object.values(PORTS).includes(values.port);
    form.form.setValues({ security, ...(isUsualPort && { port: PORTS[security] }) });
  }

  return (
    <div className="relay-fields">
      <div className="relay-fields-server">
        <TextInput
          label="Server"
          description="A name, or paste a whole URL: smtp://user:password@host:587"
          placeholder="smtp.example.com"
          required
          withAsterisk={false}
          {...TEXT}
          {...form.field("host")}
          onChange={({ currentTarget }) => setHost(currentTarget.value)}
        />
        <TextInput
          label="Port"
          inputMode="numeric"
          pattern="[0-9]{1,5}"
          required
          withAsterisk={false}
          {...TEXT}
          {...form.field("port")}
        />
        <Select
          label="Encryption"
          data={SECURITIES}
          allowDeselect={false}
          {...FIELD}
          {...form.field("security")}
          onChange={setSecurity}
        />
      </div>
      {values.security === "NONE" && (
        <p className="small relay-fields-plain">
          Everything can be read on the way. Use this only for a relay on this machine.
        </p>
      )}
      <div className="relay-fields-login">
        <TextInput
          label="User name"
          description="Empty if the relay wants no login"
          {...TEXT}
          {...form.field("username")}
        />
        <PasswordInput
          label="Password"
          description={
            keepsPassword ? "Empty to keep the stored one" : "Often an API key or an app password"
          }
          placeholder={keepsPassword ? "•••••" : ""}
          disabled={values.username.trim() === ""}
          {...TEXT}
          autoComplete="new-password"
          {...form.field("password")}
        />
        <Select
          label="DKIM signature"
          description="Some relays sign mail themselves"
          data={SIGNERS}
          allowDeselect={false}
          {...FIELD}
          {...form.field("signedBy")}
        />
      </div>
    </div>
  );
}

/** The result of the test of a relay; `children` is the conversation with it. */
export function RelayResult(props: {
  problem: { reason: string; fix: string | null } | null;
  /** The version of TLS; null without encryption. */
  tls: string | null;
  isAuthenticated: boolean;
  /** A sentence about the mail that was sent, if one was. */
  about?: string;
  notes?: readonly string[];
  children: ReactNode;
}) {
  const { problem, tls, isAuthenticated, about = "", notes = [], children } = props;
  const session = tls === null ? "was not encrypted" : `used ${tls}`;
  const login = isAuthenticated ? "and the login was accepted" : "without a login";
  return (
    <div className="relay-result">
      {problem === null ? (
        <p data-tone="good">
          <strong>The relay works.</strong> The session {session}, {login}. {about}
        </p>
      ) : (
        <>
          <p data-tone="failed">
            <strong>The test failed.</strong> {sentence(problem.reason)}
          </p>
          {problem.fix !== null && (
            <p>
              <strong>What to do:</strong> {sentence(problem.fix)}
            </p>
          )}
        </>
      )}
      {children}
      {problem === null && notes.length > 0 && (
        <ul className="relay-result-notes muted small">
          {notes.map((note) => (
            <li key={note}>{sentence(note)}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
