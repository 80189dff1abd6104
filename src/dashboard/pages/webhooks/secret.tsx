import type { ReactNode } from "react";
import type { WebhookWithSecret } from "../../../modules/webhooks/model.ts";
import { Code } from "../../ui/code.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";
import { verifySamples } from "./samples.ts";

/** Shows the secret of a webhook, once, and code that uses it. `children` says where it belongs. */
export function Secret(props: {
  webhook: WebhookWithSecret;
  children: ReactNode;
  onCopied: () => void;
  onDone: () => void;
}) {
  const { children, webhook, ...rest } = props;
  const { secret, shape } = webhook;
  return (
    <ShownOnce {...rest} secret={secret} noun="secret" text={children}>
      <Code label="Checking the signature" samples={verifySamples("whsec_YOUR_SECRET", shape)} />
    </ShownOnce>
  );
}
