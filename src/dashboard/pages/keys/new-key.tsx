import { Code } from "../../ui/code.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";
import { useSampleMail } from "../../use-sample-mail.ts";
import type { Created } from "./create-key.tsx";
import { keySamples } from "./samples.ts";

/** Shows a new key, once, and the first requests with it. */
export function NewKey(props: { created: Created; onCopied: () => void; onDone: () => void }) {
  const { created, ...rest } = props;
  const mail = useSampleMail();
  return (
    <ShownOnce
      {...rest}
      secret={created.text}
      noun="key"
      text={
        <>
          This is the only time that the key <strong>{created.name}</strong> is shown. Copy it to a
          safe place, such as a password manager or the secrets of your server.
          {created.kind === "SMTP" &&
            " This server takes mail over SMTP if it was started with --submission or --submissions."}
        </>
      }
    >
      <Code
        label={
          created.kind === "SMTP" ? "Where the password belongs" : "The first request with the key"
        }
        samples={keySamples(created, mail)}
      />
    </ShownOnce>
  );
}
