import type { ReactNode } from "react";
import { Code } from "../../ui/code.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";
import { verifySamples } from "./samples.ts";

/** Shows the secret of a webhook, once, and code that uses it. `children` says where it belongs. */
export function Secret(props: {
  secret: string;
  children: ReactNode;
  onCopied: () => void;
  onDone: () => void;
}) {
  const { children, ...rest } = props;
  return (
    <ShownOnce {...rest} noun="secret" text={children}>
      <Code label="Checking the signature" samples={verifySamples("whsec_YOUR_SECRET")} />
    </ShownOnce>
  );
}
