/**
 * GET  /campaigns/{id}/ab-test   the result of the A/B test
 * POST /campaigns/{id}/winner    a person chooses the winner
 */

import { BODY_LIMITS, limited } from "../../../http/body-limits.ts";
import { described, named } from "../../../http/documented.ts";
import { Envelope } from "../../../http/envelope.ts";
import { operations, read, write } from "../../../http/operations.ts";
import { Input } from "../../../http/validation.ts";
import { AppError } from "../../../lib/errors.ts";
import { Campaign } from "../model.ts";
import { campaignRunner } from "../runner.ts";
import { campaignService } from "../service.ts";
import { VariantId } from "./ab-model.ts";
import { chooseWinner } from "./ab-progress.ts";
import { AbReport } from "./ab-report-model.ts";
import { readAbReport } from "./ab-report.ts";
import { findAbTest } from "./ab-tests.ts";

const WinnerInput = named(
  "AbWinnerInput",
  described(Input({ variantId: VariantId }), { variantId: "Id of the variant that the rest gets" }),
  { description: "The variant that wins an A/B test", example: { variantId: "B" } },
);

export const abTestOperations = operations(
  "Campaigns",
  { parameters: { id: "Id of the campaign" } },
  [
    read("GET /campaigns/:id/ab-test", {
      id: "getAbTest",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "Result of the A/B test of a campaign",
      description:
        "The figures of each variant among the contacts of the test, and whether their difference is " +
        "more than chance. 409 if the campaign has no A/B test or was not sent yet.",
      answer: Envelope(AbReport),
      async run(app, { project, params }) {
        const campaign = campaignService(app).get(project.seq, params.id);
        const test = findAbTest(app, campaign.seq);
        const report = test === null ? null : await readAbReport(app, campaign, test);
        if (report !== null) return report;
        const message = test === null ? "This campaign has no A/B test." : "It was not sent yet.";
        throw new AppError(409, "INVALID_STATE", message, {
          suggestion: "Give a draft an A/B test with PATCH /campaigns/{id}, and send it.",
        });
      },
    }),
    write("POST /campaigns/:id/winner", {
      id: "chooseAbWinner",
      role: "EDITOR",
      isIdempotent: true,
      summary: "Choose the winner of an A/B test",
      description:
        "The rest of the audience gets this variant. Possible from the start of the campaign until a " +
        "winner is chosen; afterwards, another variant is refused with 409.",
      body: limited(WinnerInput, BODY_LIMITS.settings),
      answer: Envelope(Campaign),
      isWithinQuota: false,
      run(app, { project, params, body }) {
        const campaigns = campaignService(app);
        chooseWinner(app, campaigns.get(project.seq, params.id), body.variantId);
        app.writer.afterCommit(campaignRunner(app).wake);
        return campaigns.present(campaigns.get(project.seq, params.id));
      },
    }),
  ],
);
