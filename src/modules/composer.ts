/**
 * The composer of an application, which makes the message of each mail. It is loaded with the first
 * mail, because that takes 15 to 25 ms. The converter to text, which takes most of it, is loaded in an
 * iteration of the event loop of its own.
 */

import type { App } from "../core/app.ts";
import { createGarbage } from "../lib/garbage.ts";
import { perApp } from "../lib/per-app.ts";
import { createSlicedRun, nextIteration } from "../lib/yield.ts";
import type { Composer } from "../outbox/compose/composer.ts";
import { compiledTemplates } from "../render/template/cache.ts";
import { renderCost } from "./campaigns/render-cost.ts";
import { returnPathHost } from "./domains/domains.ts";
import { signerOf } from "./domains/keys.ts";

export const mailComposer = perApp((app: App): Composer => {
  let composer: Composer | null = null;
  let loading: Promise<Composer> | null = null;

  async function load(): Promise<Composer> {
    await import("../render/text.ts");
    await nextIteration();
    const { createComposer } = await import("../outbox/compose/composer.ts");
    const { clock, log, loopWatch, url, linkKey, trackingUrl, trackingKey } = app;
    const cost = renderCost(app);
    composer = createComposer({
      url,
      linkKey,
      trackingUrl,
      trackingKey,
      log,
      templateCache: compiledTemplates(app),
      signerOf: (...of) => signerOf(app, ...of),
      bounceHostOf: (projectSeq, domain) => returnPathHost(app, projectSeq, domain),
      noteTooSlow: cost.noteTooSlow,
      isTooCostly: cost.isStopped,
      runInSlices: createSlicedRun(),
      beginWork: (emailId) => loopWatch.begin("mail", emailId),
      clock,
      garbage: createGarbage({ clock }),
    });
    await nextIteration();
    return composer;
  }

  return {
    prepare(mail, answer) {
      if (composer !== null) return composer.prepare(mail, answer);
      loading ??= load();
      loading.then((loaded) => loaded.prepare(mail, answer)).catch(answer.reject);
    },
    release: (mail, message) => composer?.release(mail, message),
    close: () => void loading?.then(({ close }) => close()),
  };
});
