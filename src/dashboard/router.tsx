/**
 * The routes of the dashboard. Each page is a chunk of its own, loaded when it is opened or its link
 * is hovered. The search parameters of a page are texts, parsed by the `validateSearch` of its route.
 */

import type { QueryClient } from "@tanstack/react-query";
import { createRoute, createRouter, redirect } from "@tanstack/react-router";
import { withQuery } from "./api.ts";
import { lazyPage } from "./lazy.tsx";
import { entryRoutes, rootRoute } from "./entry-routes.tsx";
import {
  accountRoute,
  serverSettingsRoute,
  startRoute,
  systemAuditRoute,
  systemRoute,
  userRoute,
  usersRoute,
} from "./user-routes.tsx";
import { readSearch } from "./pages/emails/search.ts";
import { readCampaignSearch, readCampaignsSearch } from "./pages/campaigns/search.ts";
import { readFormSearch, readFormsSearch } from "./pages/forms/search.ts";
import { readImageSearch } from "./pages/templates/images/search.ts";
import { readTemplateSearch, readTemplatesSearch } from "./pages/templates/search.ts";
import { readEventSearch } from "./pages/events/search.ts";
import { readInboxSearch } from "./pages/inbox/search.ts";
import { readReceivedSearch } from "./pages/received/search.ts";
import { readAuditSearch } from "./pages/audit/audit-search.ts";
import { readImportSearch } from "./pages/contacts/import/search.ts";
import { readContactSearch } from "./pages/contacts/search.ts";
import { readSegmentSearch } from "./pages/segments/search.ts";
import { readSuppressionSearch } from "./pages/suppressions/search.ts";
import { readWorkflowListSearch, readWorkflowSearch } from "./pages/workflows/search.ts";
import { readReportSearch } from "./pages/relay-reports/search.ts";
import { readWebhookSearch } from "./pages/webhooks/search.ts";
import { readOverviewSearch } from "./pages/overview/search.ts";
import { ProjectFrame } from "./project-frame.tsx";
import { LoadError } from "./ui/load-error.tsx";
import { NotFound } from "./ui/not-found.tsx";

const projectRoute = createRoute({
  getParentRoute: () => userRoute,
  path: "/p/$project",
  component: ProjectFrame,
});

const overviewRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/",
  validateSearch: readOverviewSearch,
  component: lazyPage(() => import("./pages/overview/overview.tsx"), "OverviewPage"),
});

const emailsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/emails",
  validateSearch: readSearch,
  component: lazyPage(() => import("./pages/emails/list-page.tsx"), "EmailsPage"),
});

const emailRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/emails/$email",
  validateSearch: readSearch,
  component: lazyPage(() => import("./pages/emails/email-page.tsx"), "EmailPage"),
});

/** Without a name it is the inbox `default`. */
const inboxRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/inboxes/{-$inbox}",
  validateSearch: readInboxSearch,
  component: lazyPage(() => import("./pages/inbox/inbox-page.tsx"), "InboxPage"),
});

const contactsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/contacts",
  validateSearch: readContactSearch,
  component: lazyPage(() => import("./pages/contacts/contacts-page.tsx"), "ContactsPage"),
});

const importRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/contacts/import",
  validateSearch: readImportSearch,
  component: lazyPage(() => import("./pages/contacts/import/import-page.tsx"), "ImportPage"),
});

const contactRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/contacts/$contact",
  component: lazyPage(() => import("./pages/contacts/contact-page.tsx"), "ContactPage"),
});

const segmentsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/segments",
  component: lazyPage(() => import("./pages/segments/segments-page.tsx"), "SegmentsPage"),
});

const newSegmentRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/segments/new",
  component: lazyPage(() => import("./pages/segments/builder/form-pages.tsx"), "NewSegmentPage"),
});

const editSegmentRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/segments/$segment/edit",
  component: lazyPage(() => import("./pages/segments/builder/form-pages.tsx"), "EditSegmentPage"),
});

const segmentRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/segments/$segment",
  validateSearch: readSegmentSearch,
  component: lazyPage(() => import("./pages/segments/segment-page.tsx"), "SegmentPage"),
});

const formsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/forms",
  validateSearch: readFormsSearch,
  component: lazyPage(() => import("./pages/forms/forms-page.tsx"), "FormsPage"),
});

const formRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/forms/$form",
  validateSearch: readFormSearch,
  component: lazyPage(() => import("./pages/forms/form-page.tsx"), "FormPage"),
});

const topicsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/topics",
  component: lazyPage(() => import("./pages/topics/topics-page.tsx"), "TopicsPage"),
});

const campaignsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/campaigns",
  validateSearch: readCampaignsSearch,
  component: lazyPage(() => import("./pages/campaigns/campaigns-page.tsx"), "CampaignsPage"),
});

const campaignRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/campaigns/$campaign",
  validateSearch: readCampaignSearch,
  component: lazyPage(() => import("./pages/campaigns/campaign-page.tsx"), "CampaignPage"),
});

const templatesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/templates",
  validateSearch: readTemplatesSearch,
  component: lazyPage(() => import("./pages/templates/templates-page.tsx"), "TemplatesPage"),
});

const newTemplateRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/templates/new",
  component: lazyPage(() => import("./pages/templates/new/new-page.tsx"), "NewTemplatePage"),
});

const layoutsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/templates/layouts",
  component: lazyPage(() => import("./pages/templates/layouts/layouts-page.tsx"), "LayoutsPage"),
});

const layoutRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/templates/layouts/$layout",
  validateSearch: readTemplateSearch,
  component: lazyPage(() => import("./pages/templates/layouts/layout-page.tsx"), "LayoutPage"),
});

const templateRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/templates/$template",
  validateSearch: readTemplateSearch,
  component: lazyPage(() => import("./pages/templates/template-page.tsx"), "TemplatePage"),
});

const receivedRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/received",
  validateSearch: readReceivedSearch,
  component: lazyPage(() => import("./pages/received/received-page.tsx"), "ReceivedPage"),
});

const inboundRoutesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/received/routes",
  component: lazyPage(() => import("./pages/received/routes-page.tsx"), "RoutesPage"),
});

const imagesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/templates/images",
  validateSearch: readImageSearch,
  component: lazyPage(() => import("./pages/templates/images/images-page.tsx"), "ImagesPage"),
});

const suppressionsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/suppressions",
  validateSearch: readSuppressionSearch,
  component: lazyPage(
    () => import("./pages/suppressions/suppressions-page.tsx"),
    "SuppressionsPage",
  ),
});

const keysRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/keys",
  component: lazyPage(() => import("./pages/keys/keys-page.tsx"), "KeysPage"),
});

const workflowsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/workflows",
  validateSearch: readWorkflowListSearch,
  component: lazyPage(() => import("./pages/workflows/workflows-page.tsx"), "WorkflowsPage"),
});

const newWorkflowRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/workflows/new",
  component: lazyPage(
    () => import("./pages/workflows/new/new-workflow-page.tsx"),
    "NewWorkflowPage",
  ),
});

const workflowRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/workflows/$workflow",
  validateSearch: readWorkflowSearch,
  component: lazyPage(() => import("./pages/workflows/workflow-page.tsx"), "WorkflowPage"),
});

const eventsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/events",
  validateSearch: readEventSearch,
  component: lazyPage(() => import("./pages/events/events-page.tsx"), "EventsPage"),
});

const domainsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/domains",
  component: lazyPage(() => import("./pages/domains/domains-page.tsx"), "DomainsPage"),
});

const domainRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/domains/$domain",
  component: lazyPage(() => import("./pages/domains/domain-page.tsx"), "DomainPage"),
});

const webhooksRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/webhooks",
  component: lazyPage(() => import("./pages/webhooks/webhooks-page.tsx"), "WebhooksPage"),
});

const webhookRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/webhooks/$webhook",
  validateSearch: readWebhookSearch,
  component: lazyPage(() => import("./pages/webhooks/webhook-page.tsx"), "WebhookPage"),
});

const relayReportsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/relay-reports",
  validateSearch: readReportSearch,
  component: lazyPage(
    () => import("./pages/relay-reports/relay-reports-page.tsx"),
    "RelayReportsPage",
  ),
});

const reportMailboxesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/relay-reports/mailboxes",
  validateSearch: readReportSearch,
  component: lazyPage(() => import("./pages/relay-reports/mailboxes-page.tsx"), "MailboxesPage"),
});

const settingsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/settings",
  beforeLoad: ({ params, location }) => {
    if (!/\/settings\/?$/.test(location.pathname)) return;
    throw redirect({ to: "/p/$project/settings/general", params });
  },
});

const generalRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/general",
  component: lazyPage(() => import("./pages/settings/general-page.tsx"), "GeneralPage"),
});

const privacyRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/privacy",
  component: lazyPage(() => import("./pages/settings/privacy-page.tsx"), "PrivacyPage"),
});

const brandingRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/branding",
  component: lazyPage(() => import("./pages/settings/branding-page.tsx"), "BrandingPage"),
});

const deliveryRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/delivery",
  component: lazyPage(() => import("./pages/settings/delivery-page.tsx"), "DeliveryPage"),
});

const teamRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/team",
  component: lazyPage(() => import("./pages/settings/team-page.tsx"), "TeamPage"),
});

const auditRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/audit",
  validateSearch: readAuditSearch,
  component: lazyPage(() => import("./pages/settings/audit-page.tsx"), "AuditPage"),
});

const routeTree = rootRoute.addChildren([
  entryRoutes,
  userRoute.addChildren([
    startRoute,
    accountRoute,
    systemRoute,
    serverSettingsRoute,
    systemAuditRoute,
    usersRoute,
    projectRoute.addChildren([
      overviewRoute,
      emailsRoute,
      emailRoute,
      inboxRoute,
      receivedRoute,
      inboundRoutesRoute,
      contactsRoute,
      importRoute,
      contactRoute,
      segmentsRoute,
      newSegmentRoute,
      segmentRoute,
      editSegmentRoute,
      formsRoute,
      formRoute,
      topicsRoute,
      campaignsRoute,
      campaignRoute,
      templatesRoute,
      newTemplateRoute,
      layoutsRoute,
      layoutRoute,
      imagesRoute,
      templateRoute,
      workflowsRoute,
      newWorkflowRoute,
      workflowRoute,
      eventsRoute,
      suppressionsRoute,
      domainsRoute,
      domainRoute,
      webhooksRoute,
      webhookRoute,
      relayReportsRoute,
      reportMailboxesRoute,
      keysRoute,
      settingsRoute.addChildren([
        generalRoute,
        brandingRoute,
        privacyRoute,
        deliveryRoute,
        teamRoute,
        auditRoute,
      ]),
    ]),
  ]),
]);

export function createDashboardRouter(client: QueryClient) {
  return createRouter({
    routeTree,
    basepath: "/app",
    context: { client },
    // In place of the page alone: the frame around it stays.
    defaultErrorComponent: LoadError,
    defaultNotFoundComponent: NotFound,
    defaultPreload: "intent",
    defaultPreloadStaleTime: 0,
    // Values stay as they are in the URL: `?q=42` is the text "42".
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search) => withQuery("", search),
    // The lists have scroll containers of their own (ui/history-position.ts).
    scrollRestoration: false,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createDashboardRouter>;
  }
}
