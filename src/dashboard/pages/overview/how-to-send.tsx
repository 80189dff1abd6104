/** Shows how to send the first mail of a project. */

import { useAppState } from "../../state.ts";
import { Code } from "../../ui/code.tsx";
import { CopyText } from "../../ui/copy.tsx";
import { Field, Fields } from "../../ui/fields.tsx";
import { useSampleMail } from "../../use-sample-mail.ts";
import { FirstSteps } from "./first-steps.tsx";
import { sendSamples } from "./send-samples.ts";

export function HowToSend() {
  const { smtp, transport } = useAppState();
  const mail = useSampleMail();
  return (
    <>
      <section className="section">
        <FirstSteps>
          <Code label="Sending a mail" samples={sendSamples(mail)} />
        </FirstSteps>
      </section>
      <section className="section">
        <h2>This server</h2>
        <Fields>
          <Field label="Address">
            <CopyText value={mail.base} label="Copy the address" />
          </Field>
          {smtp !== null && (
            <Field label="SMTP for captured mail">
              <CopyText value={`${smtp.host}:${smtp.port}`} label="Copy the SMTP address" />
            </Field>
          )}
          <Field label="Delivery">{DELIVERY[transport] ?? transport}</Field>
          <Field label="API">
            <a href="/docs">Documentation of the API</a>
          </Field>
        </Fields>
      </section>
    </>
  );
}

const DELIVERY: Readonly<Record<string, string>> = {
  capture: "Captured: mail is stored and does not leave this server",
  relay: "Through your SMTP relay",
  direct: "Directly to the servers of the recipients",
};
