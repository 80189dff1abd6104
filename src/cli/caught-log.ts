/** Logs the messages that `mailstead dev` catches, each with the address of its page. */

import type { Server } from "../app.ts";
import { parseEnvelope } from "../modules/inboxes/envelope.ts";
import { pageUrl } from "../modules/projects.ts";
import { inboxChanges } from "../modules/inboxes/changes.ts";
import { inboxService } from "../modules/inboxes/service.ts";

/** Later messages within a second are counted in the next line. */
const MAX_PER_SECOND = 10;
const SECOND_MS = 1_000;

/** `url` is the address of the server for browsers. */
export function logCaughtMail(server: Server, url: string): void {
  const { app } = server;
  let secondBeganMs = -Infinity;
  let logged = 0;
  let notLogged = 0;

  inboxChanges(app).onMessage(({ id, inboxSeq, subject, envelope, emailId }) => {
    // Mail that was sent over HTTP has a line of its own, with the page of the email.
    if (emailId !== null) return;
    const nowMs = app.clock.elapsed();
    if (nowMs - secondBeganMs >= SECOND_MS) [secondBeganMs, logged] = [nowMs, 0];
    if (logged >= MAX_PER_SECOND) {
      notLogged++;
      return;
    }
    const inbox = inboxService(app).findBySeq(inboxSeq);
    if (inbox === null) return;
    const path = `inboxes/${encodeURIComponent(inbox.name)}?message=${id}`;
    logged++;
    app.log.info("a mail was caught", {
      to: parseEnvelope(envelope)
        .to.map(({ address }) => address)
        .join(", "),
      subject,
      see: pageUrl(app, inbox.projectSeq, path, url),
      ...(notLogged === 0 ? {} : { notLogged }),
    });
    notLogged = 0;
  });
}
