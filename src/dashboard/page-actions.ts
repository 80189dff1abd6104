/**
 * Each primary and secondary action in the head of a page, for the command palette.
 * test/dashboard/palette.test.ts compares the table with the buttons of the pages.
 */

export type PageAction = {
  label: string;
  /** The path of the page that has the action, below the project. */
  page: string;
  /** The name of its button in the head of that page; null where it is elsewhere. */
  button: string | null;
  /** The path and search that the action opens; `page` if absent. */
  path?: string;
  /** The page then opens its dialog, or exports its list. */
  state?: { isCreating?: true; dialog?: string };
  /** The least role that may do it. */
  role: "VIEWER" | "EDITOR" | "ADMIN" | "OWNER";
  /** INBOX: the server captures mail. OWNER: the user is an owner of the installation. */
  needs?: "INBOX" | "OWNER";
};

const CREATES = { state: { isCreating: true } } as const;
const EXPORTS = { button: "Export CSV", state: { dialog: "export" } } as const;

export const PAGE_ACTIONS: readonly PageAction[] = [
  {
    label: "Import contacts",
    page: "/contacts",
    button: "Import",
    path: "/contacts/import",
    role: "EDITOR",
  },
  {
    label: "Add a contact",
    page: "/contacts",
    button: "Add a contact",
    ...CREATES,
    role: "EDITOR",
  },
  {
    label: "Create a segment",
    page: "/segments",
    button: "Create a segment",
    path: "/segments/new",
    role: "EDITOR",
  },
  {
    label: "Create a form",
    page: "/forms",
    button: "Create a form",
    ...CREATES,
    role: "EDITOR",
  },
  {
    label: "Create a template",
    page: "/templates",
    button: "Create a template",
    path: "/templates/new",
    role: "EDITOR",
  },
  {
    label: "Create a layout",
    page: "/templates/layouts",
    button: "Create a layout",
    ...CREATES,
    role: "EDITOR",
  },
  {
    label: "Create a campaign",
    page: "/campaigns",
    button: "Create a campaign",
    ...CREATES,
    role: "EDITOR",
  },
  {
    label: "Create a workflow",
    page: "/workflows",
    button: "Create a workflow",
    path: "/workflows/new",
    role: "EDITOR",
  },
  {
    label: "Upload an image",
    page: "/templates/images",
    button: "Upload an image",
    ...CREATES,
    role: "EDITOR",
  },
  {
    label: "Record an event",
    page: "/events",
    button: "Record an event",
    ...CREATES,
    role: "EDITOR",
  },
  {
    label: "Import suppressions",
    page: "/suppressions",
    button: "Import",
    state: { dialog: "import" },
    role: "EDITOR",
  },
  {
    label: "Check an address",
    page: "/contacts",
    button: "Check an address",
    state: { dialog: "check" },
    role: "VIEWER",
  },
  {
    label: "Add an inbound route",
    page: "/received/routes",
    button: "Add a route",
    ...CREATES,
    role: "ADMIN",
  },
  {
    label: "Send yourself a mail",
    page: "/emails",
    // The list offers it while it is empty.
    button: null,
    ...CREATES,
    role: "EDITOR",
  },
  {
    label: "Suppress an address",
    page: "/suppressions",
    button: "Suppress an address",
    ...CREATES,
    role: "EDITOR",
  },
  {
    label: "Connect a program to the inbox",
    page: "/inboxes",
    button: "Connect",
    path: "/inboxes?panel=connect",
    role: "EDITOR",
    needs: "INBOX",
  },
  {
    label: "Failure rules of the inbox",
    page: "/inboxes",
    button: "Failure rules",
    path: "/inboxes?panel=rules",
    role: "EDITOR",
    needs: "INBOX",
  },
  {
    label: "Create an inbox",
    page: "/inboxes",
    // It is in the menu of the inboxes.
    button: null,
    ...CREATES,
    role: "EDITOR",
    needs: "INBOX",
  },
  { label: "Add a domain", page: "/domains", button: "Add a domain", ...CREATES, role: "ADMIN" },
  {
    label: "Create a webhook",
    page: "/webhooks",
    button: "Create a webhook",
    ...CREATES,
    role: "ADMIN",
  },
  {
    label: "Add a relay provider",
    page: "/relay-reports",
    button: "Add a provider",
    ...CREATES,
    role: "ADMIN",
  },
  {
    label: "Add a mailbox of reports",
    page: "/relay-reports/mailboxes",
    button: "Add a mailbox",
    ...CREATES,
    role: "ADMIN",
  },
  { label: "Create an API key", page: "/keys", button: "Create a key", ...CREATES, role: "ADMIN" },
  {
    label: "Invite a person",
    page: "/settings/team",
    button: "Invite a person",
    ...CREATES,
    role: "ADMIN",
  },
  {
    label: "Create a project",
    page: "/settings/general",
    button: "New project",
    ...CREATES,
    role: "OWNER",
    needs: "OWNER",
  },
  { label: "Export emails", page: "/emails", ...EXPORTS, role: "VIEWER" },
  { label: "Export contacts", page: "/contacts", ...EXPORTS, role: "EDITOR" },
  { label: "Export segments", page: "/segments", ...EXPORTS, role: "VIEWER" },
  { label: "Export forms", page: "/forms", ...EXPORTS, role: "VIEWER" },
  { label: "Export campaigns", page: "/campaigns", ...EXPORTS, role: "VIEWER" },
  { label: "Export workflows", page: "/workflows", ...EXPORTS, role: "VIEWER" },
  { label: "Export templates", page: "/templates", ...EXPORTS, role: "VIEWER" },
  { label: "Export events", page: "/events", ...EXPORTS, role: "VIEWER" },
  { label: "Export suppressions", page: "/suppressions", ...EXPORTS, role: "VIEWER" },
  { label: "Export webhooks", page: "/webhooks", ...EXPORTS, role: "VIEWER" },
];
