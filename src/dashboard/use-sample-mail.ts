/** The addresses in the samples of requests: those of this server, of the user and of the project. */

import { senderDomain, useDomains } from "./pages/domains/use-domains.ts";
import { useAppState, useProject } from "./state.ts";

export type SampleMail = {
  /** The address of the interface. */
  base: string;
  /** The user, so that the first mail goes to a known place. */
  to: string;
  /** An address of the project's domain, because the server may refuse others. */
  from: string;
};

export function useSampleMail(): SampleMail {
  const { url, user } = useAppState();
  const project = useProject();
  const { data: domains = [] } = useDomains(project?.id ?? "");
  const domain = senderDomain(domains)?.domain ?? "your-domain.example";
  return {
    base: url === "" ? window.location.origin : url,
    to: user?.email ?? "ada@example.com",
    from: `hello@${domain}`,
  };
}
