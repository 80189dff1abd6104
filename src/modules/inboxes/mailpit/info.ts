/**
 * GET /api/v1/info            the state of the server and of the inbox
 * GET /api/v1/webui           settings that a user interface needs
 * GET /api/v1/swagger.json    leads to the description of all routes of this server
 */

import { statSync } from "node:fs";
import type { Clock } from "../../../lib/clock.ts";
import { VERSION } from "../../../lib/version.ts";
import { jsonAnswer } from "./answers.ts";
import type { MailpitMessages, MailpitRoute } from "./context.ts";
import type { MailpitCounters } from "./counters.ts";

export function mailpitInfoRoutes(deps: {
  clock: Clock;
  counters: MailpitCounters;
  databaseFile: string;
  isReleaseEnabled: () => boolean;
  messages: MailpitMessages;
}): MailpitRoute[] {
  const { clock, counters, databaseFile, isReleaseEnabled, messages } = deps;
  const startedAt = clock.elapsed();

  return [
    [
      "GET",
      "/api/v1/info",
      async ({ inbox }) => {
        await messages.caughtUp();
        const { total, unread } = await messages.counts(inbox);
        const { accepted, acceptedBytes, deleted } = counters.of(inbox.seq);
        return jsonAnswer({
          Version: VERSION,
          LatestVersion: "disabled",
          Database: databaseFile,
          DatabaseSize: statSync(databaseFile, { throwIfNoEntry: false })?.size ?? 0,
          Messages: total,
          Unread: unread,
          Tags: Object.fromEntries(await messages.tagCounts(inbox)),
          RuntimeStats: {
            Uptime: Math.floor((clock.elapsed() - startedAt) / 1000),
            Memory: process.memoryUsage.rss(),
            MessagesDeleted: deleted,
            SMTPAccepted: accepted,
            SMTPAcceptedSize: acceptedBytes,
            SMTPRejected: 0,
            SMTPIgnored: 0,
          },
        });
      },
    ],
    [
      "GET",
      "/api/v1/webui",
      () =>
        jsonAnswer({
          Label: "",
          MessageRelay: {
            Enabled: isReleaseEnabled(),
            SMTPServer: "",
            ReturnPath: "",
            AllowedRecipients: "",
            BlockedRecipients: "",
            OverrideFrom: "",
            PreserveMessageIDs: false,
            RecipientAllowlist: "",
          },
          SpamAssassin: false,
          ChaosEnabled: true,
          DuplicatesIgnored: false,
          HideDeleteAllButton: false,
        }),
    ],
    [
      "GET",
      "/api/v1/swagger.json",
      () => new Response(null, { status: 302, headers: { Location: "/openapi.json" } }),
    ],
  ];
}
