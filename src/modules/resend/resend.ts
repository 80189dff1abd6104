/**
 * The interface of Resend below /resend, so that its clients work with another address and one of our
 * secret keys (docs/resend.md). In order:
 *
 * 1. http/admission.ts admits the request by its key. http/resend-errors.ts gives every refusal the
 *    form of Resend.
 * 2. call.ts declares a route and checks its body. A field that is not supported is refused by name.
 * 3. resend-emails.ts and the other files of this folder translate the request, call the functions of
 *    the noun, and translate the answer. literal.ts translates texts, pages.ts reads lists.
 */

import type { App } from "../../core/app.ts";
import { perApp } from "../../lib/per-app.ts";
import { admissionOf } from "../admission.ts";
import type { Module } from "../module.ts";
import { resendPlugin } from "./call.ts";
import { resendAttachmentRoutes } from "./resend-attachments.ts";
import { resendBroadcastRoutes } from "./resend-broadcasts.ts";
import { resendContactRoutes } from "./resend-contacts.ts";
import { resendDomainRoutes } from "./resend-domains.ts";
import { resendEmailRoutes } from "./resend-emails.ts";
import { resendDownloads } from "./resend-downloads.ts";
import { resendKeyRoutes } from "./resend-keys.ts";
import { resendReceivingRoutes } from "./resend-receiving.ts";
import { resendSegmentRoutes } from "./resend-segments.ts";
import { resendSuppressionRoutes } from "./resend-suppressions.ts";
import { resendTemplateRoutes } from "./resend-templates.ts";
import { resendDeliveryRoutes } from "./resend-webhook-deliveries.ts";
import { resendWebhookRoutes } from "./resend-webhooks.ts";

const ROUTES = [
  ...resendReceivingRoutes,
  ...resendEmailRoutes,
  ...resendAttachmentRoutes,
  ...resendDomainRoutes,
  ...resendKeyRoutes,
  ...resendContactRoutes,
  ...resendSegmentRoutes,
  ...resendBroadcastRoutes,
  ...resendTemplateRoutes,
  ...resendWebhookRoutes,
  ...resendDeliveryRoutes,
  ...resendSuppressionRoutes,
];

export const resendModule = perApp((app: App): Module => ({
  name: "resend",
  routes: [resendPlugin(app, admissionOf(app), ROUTES), resendDownloads(app)],
}));
