/** Texts of the operations on domains for the OpenAPI document. */

import { describeOperations } from "../../http/documented.ts";

export const domainOperations = describeOperations(
  { tag: "Domains", id: "Id of the domain" },
  {
    listDomains: {
      role: "VIEWER",
      summary: "List domains",
      description: "Domains that match the filter, newest first.",
    },
    addDomain: {
      role: "ADMIN",
      summary: "Add a domain for verification",
      description:
        "Creates its DKIM keys and starts a DNS check: 201. A domain that the project already has " +
        "is answered with 200; a domain that another project has verified with 409.",
      isIdempotent: true,
      links: {
        getDomain: { id: "/data/id" },
        verifyDomain: { id: "/data/id" },
        removeDomain: { id: "/data/id" },
      },
    },
    getDomain: {
      role: "VIEWER",
      summary: "Domain details",
      description: "The domain with the DNS records to publish and the result of the latest check.",
    },
    removeDomain: {
      role: "ADMIN",
      summary: "Remove a domain; 409 while a template or campaign sends from it",
      description: "The DKIM keys of the domain are deleted with it.",
    },
    verifyDomain: {
      role: "ADMIN",
      isAudited: false,
      summary: "Check the DNS records of a domain now",
      description: "Answers when the check is done, with its result.",
    },
  },
);
