/** The ways to show a form to people: its page, plain HTML, and HTML with the script. */

import { Button } from "@mantine/core";
import { ExternalLink } from "lucide-react";
import type { Form } from "../../../modules/forms/model.ts";
import { Code } from "../../ui/code.tsx";
import { CopyText } from "../../ui/copy.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { useFormCode } from "./use-form.ts";

export function ShareTab({ form, project }: { form: Form; project: string }) {
  const code = useFormCode(project, form);
  return (
    <div className="form-share">
      <section className="card" aria-labelledby="share-page">
        <h2 id="share-page">Its page</h2>
        <p className="muted">Link to it in mails, in social networks or by a QR code.</p>
        <p>
          <CopyText value={form.url} label="Copy the address" />
        </p>
        <Button
          component="a"
          href={form.url}
          target="_blank"
          rel="noreferrer"
          variant="default"
          leftSection={<ExternalLink size={15} aria-hidden />}
        >
          Open the page
        </Button>
      </section>
      <Loaded query={code} height={320}>
        {({ html, script }) => (
          <>
            <section className="card" aria-labelledby="share-html">
              <h2 id="share-html">In the HTML of your site</h2>
              <p className="muted">
                A plain form that works without scripts and looks as your styles say. It leads to a
                page of this server, or to the page after the form that you have set.
              </p>
              <Code label="HTML of the form" samples={{ HTML: html }} />
            </section>
            <section className="card" aria-labelledby="share-script">
              <h2 id="share-script">With answers in place</h2>
              <p className="muted">
                Put this line once into a page that has the HTML above. People then stay on your
                page: the answer and the faults of fields appear in the form.
              </p>
              <Code label="Script of the form" samples={{ HTML: script }} />
            </section>
          </>
        )}
      </Loaded>
    </div>
  );
}
