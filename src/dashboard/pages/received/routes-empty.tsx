/** The text in place of the routes of a project that has none. */

import { AtSign } from "lucide-react";
import type { ReactNode } from "react";
import { useAppState, useMay } from "../../state.ts";
import { Code } from "../../ui/code.tsx";
import { Empty } from "../../ui/empty.tsx";
import { postSamples } from "../../ui/post-samples.ts";

export function NoRoutes({ action }: { action: ReactNode }) {
  const { url } = useAppState();
  const mayAdd = useMay("ADMIN");
  const base = url === "" ? window.location.origin : url;
  return (
    <Empty
      icon={AtSign}
      title="No inbound routes yet"
      text={`A route receives the mail for an address of your domain, such as replies or a support address. Each mail becomes an event for your webhooks and workflows, and can be forwarded.${mayAdd ? "" : " An admin adds the first one."}`}
      action={action}
    >
      <Code
        label="Adding a route"
        samples={postSamples(`${base}/inbound-routes`, {
          address: "support@in.shop.example",
          action: { forward: "team@example.net" },
        })}
      />
    </Empty>
  );
}
